/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux 6.12 under the names of Linux 7.3, as far as kprobes use them. */
#ifndef _LINUX_KPROBES_BASE_H
#define _LINUX_KPROBES_BASE_H

#include <linux/cleanup.h>
#include <linux/jump_label.h>

DEFINE_LOCK_GUARD_0(jump_label_lock, jump_label_lock(), jump_label_unlock())

#define system_dfl_wq		system_unbound_wq
#define system_percpu_wq	system_wq

/* What an exception that counts as an NMI adds to preempt_count(). */
#define KPROBE_NMI_COUNT		(NMI_OFFSET + HARDIRQ_OFFSET)
#define __preempt_count_nmi_enter()	__preempt_count_add(KPROBE_NMI_COUNT)
#define __preempt_count_nmi_exit()	__preempt_count_sub(KPROBE_NMI_COUNT)

/* A function that returns the parameter of a KUnit case after @prev, and describes it. */
#define KUNIT_GENERATOR(name)	const void *name(const void *prev, char *desc)

/* What the exit handler of an fprobe gets. */
#define fprobe_exit_regs	pt_regs

#endif /* _LINUX_KPROBES_BASE_H */
