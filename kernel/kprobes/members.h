/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The members of a point, and which of them a hit calls.
 */
#ifndef _KERNEL_KPROBES_MEMBERS_H
#define _KERNEL_KPROBES_MEMBERS_H

#include <linux/types.h>

struct kprobe;
struct kprobe_point;

/*
 * The traps of the kernel's own ports look at the post_handler of a point twice in a
 * hit, and call what they find the second time: there it stays when the last member
 * that has one leaves, and calls nobody.
 */
#ifdef ARCH_KPROBES_TELL_CONTEXTS
#define POST_HANDLER_STAYS	0
#else
#define POST_HANDLER_STAYS	1
#endif

bool point_has_member(const struct kprobe_point *point, const struct kprobe *kp);
void point_add_member(struct kprobe_point *point, struct kprobe *kp);
void point_del_member(struct kprobe_point *point, struct kprobe *kp);
bool point_enable_member(struct kprobe_point *point, struct kprobe *kp, bool enable);
void point_include_postponed(struct kprobe_point *point);

#endif /* _KERNEL_KPROBES_MEMBERS_H */
