/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeping preempted tasks out of regions, see preempt.c. */
#ifndef _RISCV_KPROBES_PREEMPT_H
#define _RISCV_KPROBES_PREEMPT_H

#include <linux/kprobes.h>
#include <linux/ptrace.h>

#include "detour.h"

#ifdef CONFIG_OPTPROBES

/* While preempt.c fences the region, a hit of the breakpoint continues in the detour. */
static __always_inline bool kprobe_enter_fenced(struct kprobe *p, struct pt_regs *regs)
{
	if (!IS_ENABLED(CONFIG_PREEMPTION) || !READ_ONCE(optinsn_of(p)->fenced))
		return false;

	regs->epc = detour_copies(optinsn_of(p));

	return true;
}

#else

static inline bool kprobe_enter_fenced(struct kprobe *p, struct pt_regs *regs)
{
	return false;
}

#endif /* CONFIG_OPTPROBES */

#endif /* _RISCV_KPROBES_PREEMPT_H */
