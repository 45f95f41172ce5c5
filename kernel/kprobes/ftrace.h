/* SPDX-License-Identifier: GPL-2.0-only */
/* Arming and disarming many points at once on ftrace sites. */
#ifndef _KERNEL_KPROBES_FTRACE_H
#define _KERNEL_KPROBES_FTRACE_H

#include <linux/types.h>

struct kprobe_point;
struct list_head;

#ifdef CONFIG_KPROBES_ON_FTRACE
int kprobe_ftrace_arm_points(struct list_head *kps, struct list_head *refused);
void kprobe_ftrace_disarm_points(struct list_head *kps);
int kprobe_ftrace_change_reservations(struct list_head *kps);
bool kprobe_ftrace_reservation_is_wrong(struct kprobe_point *point);
#else
static inline int kprobe_ftrace_arm_points(struct list_head *kps, struct list_head *refused)
{
	return 0;
}

static inline void kprobe_ftrace_disarm_points(struct list_head *kps)
{
}

static inline int kprobe_ftrace_change_reservations(struct list_head *kps)
{
	return 0;
}

static inline bool kprobe_ftrace_reservation_is_wrong(struct kprobe_point *point)
{
	return false;
}
#endif

#endif /* _KERNEL_KPROBES_FTRACE_H */
