/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages that slots tile.
 */
#ifndef _KERNEL_KPROBES_SLOT_PAGE_H
#define _KERNEL_KPROBES_SLOT_PAGE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "slot_kind.h"

extern struct mutex kprobe_slot_mutex;

/**
 * struct slot_page - one page of slots
 * @link: in slot_kind::pages
 * @roomy: in slot_kind::roomy, while a slot is free
 * @node: in the table of all pages
 * @release: delays the freeing of this struct and of @text
 * @kind: the kind of its slots
 * @text: the page
 * @nr: slots in the page
 * @nr_free: slots in state %SLOT_FREE
 * @next: no slot before this one is free
 * @use: an enum slot_use for each slot
 */
struct slot_page {
	struct list_head link;
	struct list_head roomy;
	struct hlist_node node;
	struct rcu_work release;
	struct slot_kind *kind;
	void *text;
	unsigned int nr;
	unsigned int nr_free;
	unsigned int next;
	u8 use[];
};

static inline void *slot_at(const struct slot_kind *kind, const struct slot_page *page,
			    unsigned int i)
{
	return page->text + i * kind->size;
}

struct slot_page *kprobe_slot_page_with_room(struct slot_kind *kind);
void kprobe_slot_page_tidy(struct slot_kind *kind, struct slot_page *page);
void *kprobe_slot_use(const struct slot_kind *kind, struct slot_page *page, unsigned int i);
void kprobe_slot_vacate(struct slot_page *page, unsigned int i);
struct slot_page *kprobe_slot_page_of(struct slot_kind *kind, unsigned long addr);
bool kprobe_slot_page_holds(struct slot_kind *kind, unsigned long addr);
void *kprobe_slot_used_at(struct slot_kind *kind, unsigned long addr);
int kprobe_slot_kind_get_kallsym(struct slot_kind *kind, unsigned int *symnum,
				 unsigned long *value, char *type, char *sym);

#endif /* _KERNEL_KPROBES_SLOT_PAGE_H */
