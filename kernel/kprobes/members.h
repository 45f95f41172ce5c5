/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The members of a point, and which of them a hit calls.
 */
#ifndef _KERNEL_KPROBES_MEMBERS_H
#define _KERNEL_KPROBES_MEMBERS_H

#include <linux/kconfig.h>
#include <linux/kprobes.h>
#include <linux/types.h>

struct kprobe_point;

/*
 * The traps of the kernel's own ports read a point's post_handler twice during a hit and
 * call the second value. Leave the dispatcher in place there when the last member with a
 * post_handler leaves; it calls no member then.
 */
#define POST_HANDLER_STAYS	(!__is_defined(ARCH_KPROBES_TELL_CONTEXTS))

bool kprobe_point_has_member(const struct kprobe_point *point, const struct kprobe *kp);
struct kprobe_point *kprobe_point_find_member(const struct kprobe *kp);
bool kprobe_is_registered(struct kprobe *kp);
bool kprobe_is_leaving(const struct kprobe *kp);
void kprobe_has_left(struct kprobe *kp);
void kprobe_point_add_member(struct kprobe_point *point, struct kprobe *kp);
void kprobe_point_del_member(struct kprobe_point *point, struct kprobe *kp);
bool kprobe_point_enable_member(struct kprobe_point *point, struct kprobe *kp, bool enable);

#endif /* _KERNEL_KPROBES_MEMBERS_H */
