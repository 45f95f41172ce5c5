/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes the text follow members and switches. */
#ifndef _KERNEL_KPROBES_RECONCILE_H
#define _KERNEL_KPROBES_RECONCILE_H

#include <linux/list.h>
#include <linux/types.h>

struct kprobe_point;

int kprobe_points_reconcile(struct list_head *work);
int kprobe_points_reconcile_all(void);
void kprobe_points_finish(struct list_head *work, struct list_head *dead);
void kprobe_points_free(struct list_head *dead);
void kprobe_points_forget_text(unsigned long start, unsigned long end);
bool kprobe_point_wants_detour(struct kprobe_point *point);
int kprobe_points_set_all_off(bool off);
bool kprobe_points_begin_jumps(void);
void kprobe_points_end_jumps(void);

#endif /* _KERNEL_KPROBES_RECONCILE_H */
