/* SPDX-License-Identifier: GPL-2.0-only */
/* Hits by a jump, in detour_hit.c and entry.S. */
#ifndef _RISCV_KPROBES_DETOUR_HIT_H
#define _RISCV_KPROBES_DETOUR_HIT_H

#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/ptrace.h>

#ifdef CONFIG_OPTPROBES

bool kprobe_detour_elsewhere(struct pt_regs *regs);
asmlinkage void kprobe_detour_entry(void);
asmlinkage void kprobe_detour_trap(void);
int kprobe_detour_hit(struct kprobe *p, struct pt_regs *regs);

#else

static inline bool kprobe_detour_elsewhere(struct pt_regs *regs)
{
	return false;
}

#endif /* CONFIG_OPTPROBES */

#endif /* _RISCV_KPROBES_DETOUR_HIT_H */
