/* SPDX-License-Identifier: GPL-2.0-only */
/* Hits by a jump, in detour_hit.c and entry.S. */
#ifndef _X86_KPROBES_DETOUR_HIT_H
#define _X86_KPROBES_DETOUR_HIT_H

#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/ptrace.h>

/* entry.S */
asmlinkage void kprobe_detour_entry(void);
asmlinkage void kprobe_detour_pre_entry(void);
asmlinkage void kprobe_detour_post_entry(void);
asmlinkage void kprobe_detour_callee(void);
void __noreturn kprobe_detour_leave(struct pt_regs *regs);

int kprobe_detour_nested(struct kprobe *p, struct pt_regs *regs);
int kprobe_detour_nested_pre(struct kprobe *p, struct pt_regs *regs);
int kprobe_detour_call(struct kprobe *called, struct pt_regs *regs);
void kprobe_detour_call_post(struct kprobe *called, struct pt_regs *regs);
unsigned long kprobe_detour_emulate(struct pt_regs *regs, unsigned long ret);
void kprobe_detour_elsewhere(struct pt_regs *regs);
void kprobe_detour_follow(struct pt_regs *regs);
void kprobe_detour_preempt(void);
void kprobe_detour_hit(struct kprobe *p, struct pt_regs *regs);
unsigned long kprobe_detour_hit_pre(struct kprobe *p, struct pt_regs *regs);
int kprobe_detour_post(struct kprobe *p, struct pt_regs *regs);

#endif /* _X86_KPROBES_DETOUR_HIT_H */
