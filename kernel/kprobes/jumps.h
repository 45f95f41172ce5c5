/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points on their way to a jump or back.
 */
#ifndef _KERNEL_KPROBES_JUMPS_H
#define _KERNEL_KPROBES_JUMPS_H

#include <linux/types.h>

struct delayed_work;
struct kprobe_point;
struct list_head;

#ifdef CONFIG_OPTPROBES
/* optimize.c: the worker, which is run when a point has been queued */
extern struct delayed_work kprobe_optimizer;

struct kprobe_point *jump_candidate(void);
void jump_queue(struct kprobe_point *point);
void jump_forget(struct kprobe_point *point);
void jumps_cancel(struct list_head *kps);
bool jumps_begin(void);
void jumps_end(void);
bool jumps_idle(void);
#else
static inline void jump_queue(struct kprobe_point *point)
{
}

static inline void jump_forget(struct kprobe_point *point)
{
}

static inline void jumps_cancel(struct list_head *kps)
{
}
#endif

#endif /* _KERNEL_KPROBES_JUMPS_H */
