/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kind of slots: what all slots of one size have in common.
 */
#ifndef _KERNEL_KPROBES_SLOT_KIND_H
#define _KERNEL_KPROBES_SLOT_KIND_H

#include <linux/types.h>

/*
 * kprobe_optinsn_slot_of() finds a slot only while it is SLOT_USED. Before and after that it may
 * hold the remains of a former one.
 */
enum slot_use { SLOT_FREE, SLOT_FRESH, SLOT_USED };

/**
 * struct slot_kind - slots of one size
 * @name: name of its pages in /proc/kallsyms and perf
 * @alloc: gets a page, NULL when there is none
 * @release: gives a page back
 * @pages: struct slot_page
 * @roomy: pages with a free slot
 * @low: no page lies below
 * @high: no page lies at or above; the two only ever move apart
 * @size: bytes of a slot, 0 before the first request
 * @nr_pages: pages in @pages
 */
struct slot_kind {
	const char *name;
	void *(*alloc)(void);
	void (*release)(void *page);
	struct list_head pages;
	struct list_head roomy;
	unsigned long low;
	unsigned long high;
	size_t size;
	unsigned int nr_pages;
};

#endif /* _KERNEL_KPROBES_SLOT_KIND_H */
