/* SPDX-License-Identifier: GPL-2.0-only */
/* The dispatchers, which run in traps, detours and ftrace callbacks. */
#ifndef _KERNEL_KPROBES_HIT_H
#define _KERNEL_KPROBES_HIT_H

#include <linux/kprobes.h>

extern struct kprobe kprobe_called_end;
bool kprobe_hit_push(struct kprobe *p);

int kprobe_dispatch_pre(struct kprobe *p, struct pt_regs *regs);
void kprobe_dispatch_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags);

#endif /* _KERNEL_KPROBES_HIT_H */
