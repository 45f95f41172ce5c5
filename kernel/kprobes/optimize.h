/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jumps in place of breakpoints.
 */
#ifndef _KERNEL_KPROBES_OPTIMIZE_H
#define _KERNEL_KPROBES_OPTIMIZE_H

#include <linux/string.h>
#include <linux/types.h>

struct kprobe;
struct kprobe_point;
struct list_head;
struct optimized_kprobe;

#ifdef CONFIG_OPTPROBES
extern int (*optimize_prepare_detour)(struct optimized_kprobe *op, struct kprobe *orig);

bool optimize_allowed(void);
bool optimize_has_detour(struct kprobe_point *point);
bool optimize_calls_post(struct kprobe_point *point);
bool optimize_blocked(struct kprobe_point *point);
void optimize_init(struct kprobe_point *point);
void optimize_queue(struct kprobe_point *point);
void optimize_forget(struct kprobe_point *point);
void optimize_cancel(struct list_head *kps);
void optimize_add_outer(struct list_head *work);
bool optimize_covers(unsigned long addr);
void optimize_remove(struct kprobe_point *point);
void optimize_prepare_queued(void);
void optimize_explain(struct kprobe_point *point, char *buf, size_t size);
void optimize_set_knob(bool on);
#else
static inline bool optimize_allowed(void)
{
	return false;
}

static inline bool optimize_has_detour(struct kprobe_point *point)
{
	return false;
}

static inline bool optimize_calls_post(struct kprobe_point *point)
{
	return false;
}

static inline bool optimize_blocked(struct kprobe_point *point)
{
	return false;
}

static inline void optimize_init(struct kprobe_point *point)
{
}

static inline void optimize_queue(struct kprobe_point *point)
{
}

static inline void optimize_forget(struct kprobe_point *point)
{
}

static inline void optimize_cancel(struct list_head *kps)
{
}

static inline void optimize_add_outer(struct list_head *work)
{
}

static inline bool optimize_covers(unsigned long addr)
{
	return false;
}

static inline void optimize_remove(struct kprobe_point *point)
{
}

static inline void optimize_prepare_queued(void)
{
}

static inline void optimize_explain(struct kprobe_point *point, char *buf, size_t size)
{
	strscpy(buf, "no jumps in this kernel", size);
}
#endif

#endif /* _KERNEL_KPROBES_OPTIMIZE_H */
