/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What runs in traps.
 */
#ifndef _KERNEL_KPROBES_HIT_H
#define _KERNEL_KPROBES_HIT_H

#include <linux/kprobes.h>

extern struct kprobe callees_end;
bool kprobe_hit_put_aside(struct kprobe *p);

int kprobe_hit_pre_handlers(struct kprobe *p, struct pt_regs *regs);
void kprobe_hit_post_handler(struct kprobe *p, struct pt_regs *regs, unsigned long flags);

/*
 * Do detours look for post_handlers only where the pre_handler of the point is
 * kprobe_hit_all_handlers()?
 */
#ifdef arch_hit_in_detour
#define DETOUR_HAS_TO_ASK	1
int kprobe_hit_all_handlers(struct kprobe *p, struct pt_regs *regs);
#else
#define DETOUR_HAS_TO_ASK	0
#define kprobe_hit_all_handlers	kprobe_hit_pre_handlers
#endif

/* Is that of a point? */
static inline bool hit_is_dispatcher(kprobe_pre_handler_t pre_handler)
{
	return pre_handler == kprobe_hit_pre_handlers ||
	       (DETOUR_HAS_TO_ASK && pre_handler == kprobe_hit_all_handlers);
}

#endif /* _KERNEL_KPROBES_HIT_H */
