/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points whose jumps cover one another's instructions.
 */
#ifndef _KERNEL_KPROBES_NEIGHBOURS_H
#define _KERNEL_KPROBES_NEIGHBOURS_H

#include <linux/types.h>

struct kprobe_point;
struct list_head;

#ifdef CONFIG_OPTPROBES
struct kprobe_point *kprobe_point_in_the_way(struct kprobe_point *point);
bool kprobe_point_is_blocked(struct kprobe_point *point);
bool kprobe_point_can_take_over(struct kprobe_point *point);
bool kprobe_point_is_taken_over(struct kprobe_point *point);
struct kprobe_point *kprobe_point_next_sharing(struct kprobe_point *owner,
					       struct kprobe_point *point);
struct kprobe_point *kprobe_point_share_next(struct kprobe_point *owner,
					     struct kprobe_point *point);
bool kprobe_points_add_outer(struct list_head *work);
bool kprobe_points_cover(unsigned long addr);
#else
static inline bool kprobe_point_is_blocked(struct kprobe_point *point)
{
	return false;
}

static inline bool kprobe_point_can_take_over(struct kprobe_point *point)
{
	return false;
}

static inline bool kprobe_point_is_taken_over(struct kprobe_point *point)
{
	return false;
}

static inline struct kprobe_point *kprobe_point_share_next(struct kprobe_point *owner,
							   struct kprobe_point *point)
{
	return NULL;
}

static inline bool kprobe_points_add_outer(struct list_head *work)
{
	return false;
}

static inline bool kprobe_points_cover(unsigned long addr)
{
	return false;
}
#endif

#endif /* _KERNEL_KPROBES_NEIGHBOURS_H */
