/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kind of slots: what all slots of one size have in common.
 */
#ifndef _KERNEL_KPROBES_SLOT_KIND_H
#define _KERNEL_KPROBES_SLOT_KIND_H

#include <linux/types.h>
#include <linux/workqueue.h>

/*
 * kprobe_optinsn_slot_of() ignores a fresh slot, which may still hold its former contents.
 * There are two dirty states, so that the slots in one of them can wait for a grace period
 * and need not be changed one by one when it begins.
 */
enum slot_use { SLOT_FREE, SLOT_FRESH, SLOT_USED, SLOT_DIRTY, SLOT_DIRTY_OTHER };

/**
 * struct slot_kind - slots of one size
 * @name: name of its pages in /proc/kallsyms and perf
 * @alloc: gets a page, NULL when there is none
 * @release: gives a page back
 * @pages: struct slot_page
 * @roomy: pages with a free slot
 * @unclean: pages with a dirty slot
 * @low: no page lies below
 * @high: no page lies at or above; the two only ever move apart
 * @size: bytes of a slot, 0 before the first request
 * @nr_pages: pages in @pages
 * @dirty: state of a slot that becomes dirty now
 * @nr_dirty: slots in that state
 * @waiting: a grace period is under way for the dirty slots in the other state
 * @rcu: that grace period
 * @reclaim: work that runs after it
 */
struct slot_kind {
	const char *name;
	void *(*alloc)(void);
	void (*release)(void *page);
	struct list_head pages;
	struct list_head roomy;
	struct list_head unclean;
	unsigned long low;
	unsigned long high;
	size_t size;
	unsigned int nr_pages;
	enum slot_use dirty;
	unsigned int nr_dirty;
	bool waiting;
	struct rcu_head rcu;
	struct work_struct reclaim;
};

#endif /* _KERNEL_KPROBES_SLOT_KIND_H */
