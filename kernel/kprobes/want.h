/* SPDX-License-Identifier: GPL-2.0-only */
/* Which text a point needs. */
#ifndef _KERNEL_KPROBES_WANT_H
#define _KERNEL_KPROBES_WANT_H

#include <linux/types.h>

struct kprobe_point;

bool kprobe_point_wants_text(struct kprobe_point *point);
bool kprobe_point_wants_jump(struct kprobe_point *point);
bool kprobe_points_all_off(void);
void kprobe_want_all_off(bool off);
void kprobe_want_jumps(bool may);

#endif /* _KERNEL_KPROBES_WANT_H */
