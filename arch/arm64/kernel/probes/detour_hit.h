/* SPDX-License-Identifier: GPL-2.0-only */
/* Hits by a jump, in detour_hit.c and entry.S. */
#ifndef _ARM64_KPROBES_DETOUR_HIT_H
#define _ARM64_KPROBES_DETOUR_HIT_H

#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <asm/ptrace.h>

#ifdef CONFIG_OPTPROBES

struct detour;

/* entry.S */
asmlinkage void kprobe_detour_entry(void);
asmlinkage void kprobe_detour_post_entry(void);
asmlinkage void kprobe_detour_leave(void);

unsigned long kprobe_detour_hit(struct detour *detour, struct pt_regs *regs);
unsigned long kprobe_detour_post(struct detour *detour, struct pt_regs *regs);
unsigned long kprobe_slot_post(struct kprobe *p, struct pt_regs *regs);
bool kprobe_detour_elsewhere(struct pt_regs *regs);

#else

static inline bool kprobe_detour_elsewhere(struct pt_regs *regs)
{
	return false;
}

#endif /* CONFIG_OPTPROBES */

#endif /* _ARM64_KPROBES_DETOUR_HIT_H */
