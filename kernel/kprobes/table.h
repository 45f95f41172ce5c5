/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The points by address.
 */
#ifndef _KERNEL_KPROBES_TABLE_H
#define _KERNEL_KPROBES_TABLE_H

struct kprobe;
struct kprobe_point;

struct kprobe_point *point_find(unsigned long addr);
int points_reserve(unsigned int nr);
int points_at(unsigned long addr, int (*fn)(struct kprobe_point *point, void *data), void *data);
int points_for_each(int (*fn)(struct kprobe_point *point, void *data), void *data);
bool table_has(const struct kprobe_point *point, unsigned long addr);
void table_add(struct kprobe_point *point);
void table_del(struct kprobe_point *point);
void table_set_gone(struct kprobe_point *point);

#endif /* _KERNEL_KPROBES_TABLE_H */
