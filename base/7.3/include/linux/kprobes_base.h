/* SPDX-License-Identifier: GPL-2.0-only */
/* What kprobes call otherwise in Linux 7.3 than in others. */
#ifndef _LINUX_KPROBES_BASE_H
#define _LINUX_KPROBES_BASE_H

#include <linux/hardirq.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

/*
 * What an exception that counts as an NMI adds to preempt_count(). With one bit for NMIs only
 * the outermost sets it.
 */
#ifdef CONFIG_HAS_SEPARATE_PREEMPT_RESCHED_BITS
#define KPROBE_NMI_COUNT	(NMI_OFFSET + HARDIRQ_OFFSET)
#else
#define KPROBE_NMI_COUNT	\
	((__this_cpu_read(nmi_nesting) == 1 ? NMI_OFFSET : 0) + HARDIRQ_OFFSET)
#endif

/* A function that returns the parameter of a KUnit case after @prev, and describes it. */
#define KUNIT_GENERATOR(name)	const void *name(struct kunit *test, const void *prev, char *desc)

/* What the exit handler of an fprobe gets. */
#define fprobe_exit_regs	ftrace_regs

#endif /* _LINUX_KPROBES_BASE_H */
