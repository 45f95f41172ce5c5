/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The points by address.
 */
#ifndef _KERNEL_KPROBES_TABLE_H
#define _KERNEL_KPROBES_TABLE_H

struct kprobe;
struct kprobe_point;

struct kprobe_point *kprobe_point_find(unsigned long addr);
int kprobe_points_reserve(unsigned int nr);
int kprobe_points_at(unsigned long addr, int (*fn)(struct kprobe_point *point, void *data),
		     void *data);
int kprobe_points_for_each(int (*fn)(struct kprobe_point *point, void *data), void *data);
bool kprobe_table_has(const struct kprobe_point *point, unsigned long addr);
void kprobe_table_add(struct kprobe_point *point);
void kprobe_table_del(struct kprobe_point *point);
void kprobe_table_set_gone(struct kprobe_point *point);

#endif /* _KERNEL_KPROBES_TABLE_H */
