/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points on their way to a jump.
 */
#ifndef _KERNEL_KPROBES_JUMPS_H
#define _KERNEL_KPROBES_JUMPS_H

#include <linux/types.h>

struct delayed_work;
struct kprobe_point;
struct list_head;

#ifdef CONFIG_OPTPROBES
extern struct delayed_work kprobe_optimizer;

struct kprobe_point *kprobe_jump_candidate(void);
void kprobe_jump_queue(struct kprobe_point *point);
void kprobe_jump_forget(struct kprobe_point *point);
void kprobe_jumps_cancel(struct list_head *kps);
void kprobe_jumps_write_single(struct list_head *points);
bool kprobe_jumps_fence(struct list_head *points);
void kprobe_jumps_write_fenced(struct list_head *points);
bool kprobe_jumps_idle(void);
bool kprobe_detour_is_idle(const struct kprobe_point *point);
#else
static inline void kprobe_jump_queue(struct kprobe_point *point)
{
}

static inline void kprobe_jump_forget(struct kprobe_point *point)
{
}

static inline void kprobe_jumps_cancel(struct list_head *kps)
{
}

static inline bool kprobe_detour_is_idle(const struct kprobe_point *point)
{
	return true;
}
#endif

#endif /* _KERNEL_KPROBES_JUMPS_H */
