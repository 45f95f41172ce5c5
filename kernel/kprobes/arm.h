/* SPDX-License-Identifier: GPL-2.0-only */
/* Arming and disarming many points at once. */
#ifndef _KERNEL_KPROBES_ARM_H
#define _KERNEL_KPROBES_ARM_H

struct list_head;

void kprobe_text_write_chunks(struct list_head *items, void (*write)(struct list_head *items));
int kprobe_arm_points(struct list_head *kps, struct list_head *refused);
void kprobe_disarm_points(struct list_head *kps);

#endif /* _KERNEL_KPROBES_ARM_H */
