/* SPDX-License-Identifier: GPL-2.0-only */
/* Records whose handler is running, so that its fault handler can be asked. */
#ifndef _KERNEL_KPROBES_FAULT_H
#define _KERNEL_KPROBES_FAULT_H

#include <linux/percpu.h>

struct kprobe;

#ifdef CONFIG_KPROBES_FAULT_HANDLER

/* The dispatchers record whose handler is running, so every hit has to go through them. */
#define FAULTS_WATCHED	1

DECLARE_PER_CPU(struct kprobe *, kprobe_fault_member);

/* A handler of @kp begins. Return the member that it interrupts, for fault_unwatch(). */
static __always_inline struct kprobe *fault_watch(struct kprobe *kp)
{
	return __this_cpu_xchg(kprobe_fault_member, kp);
}

static __always_inline void fault_unwatch(struct kprobe *before)
{
	__this_cpu_write(kprobe_fault_member, before);
}

#else

#define FAULTS_WATCHED	0

static __always_inline struct kprobe *fault_watch(struct kprobe *kp)
{
	return NULL;
}

static __always_inline void fault_unwatch(struct kprobe *before)
{
}

#endif

#endif /* _KERNEL_KPROBES_FAULT_H */
