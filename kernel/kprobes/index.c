// SPDX-License-Identifier: GPL-2.0-only
/*
 * An index: the sorted addresses of a table that the kernel and each module have, such as
 * that of static keys. The table itself is sorted differently, or not at all. An index
 * sorts the addresses once for the kernel and once for the module that was asked about
 * last, so that each function takes only a binary search.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "internal.h"

/* Changes whenever a module comes or goes. */
static unsigned long index_generation = 1;

void kprobe_indexes_forget(void)
{
	lockdep_assert_held(&kprobe_mutex);
	index_generation++;
}

/**
 * kprobe_index_generation() - tells whether other cached facts about text are still valid
 *
 * Context: kprobe_mutex held.
 * Return: a number that is never 0, and another one when a module has come or gone.
 */
unsigned long kprobe_index_generation(void)
{
	lockdep_assert_held(&kprobe_mutex);

	return index_generation;
}

/**
 * kprobe_index_add() - add an address to an index
 * @list: the list that kprobe_index::collect was called with
 * @addr: the address
 *
 * Context: Called from kprobe_index::collect only.
 */
void kprobe_index_add(struct kprobe_addrs *list, unsigned long addr)
{
	if (list->nr < list->room)
		list->addrs[list->nr] = addr;
	list->nr++;
}

static int index_addr_cmp(const void *a, const void *b)
{
	unsigned long l = *(const unsigned long *)a, r = *(const unsigned long *)b;

	return l < r ? -1 : l > r;
}

/* Collect twice: count the addresses, then fill them in. */
static int index_list_make(struct kprobe_addrs *list, const struct kprobe_index *index,
			   const struct module *mod)
{
	struct kprobe_addrs made = {};

	index->collect(&made, mod);
	made.room = made.nr;
	made.nr = 0;
	/* Allocate even an empty list, because NULL means that there is none yet. */
	made.addrs = kvmalloc_array(made.room + 1, sizeof(*made.addrs), GFP_KERNEL | __GFP_NOWARN);
	if (!made.addrs)
		return -ENOMEM;

	index->collect(&made, mod);
	made.nr = min(made.nr, made.room);
	sort(made.addrs, made.nr, sizeof(*made.addrs), index_addr_cmp, NULL);
	kvfree(list->addrs);
	*list = made;

	return 0;
}

static const struct module *module_of_text(unsigned long addr)
{
	guard(preempt)();

	return __module_text_address(addr);
}

/* Was the list made for the module of @addr, and has no module come or gone since? */
static bool index_list_is_for(const struct kprobe_index *index, unsigned long addr)
{
	return index->mod && index->generation == index_generation &&
	       within_module_core(addr, index->mod);
}

/* Return the list for the text at @addr; NULL if it belongs to neither kernel nor a module. */
static const struct kprobe_addrs *index_list_for(struct kprobe_index *index, unsigned long addr)
{
	const struct module *mod;

	if (core_kernel_text(addr)) {
		if (!index->kernel.addrs && index_list_make(&index->kernel, index, NULL))
			return ERR_PTR(-ENOMEM);
		return &index->kernel;
	}

	if (index_list_is_for(index, addr))
		return &index->module;

	/* The module has a probe or is held, so the notifier runs before it goes. */
	mod = module_of_text(addr);
	if (!mod)
		return NULL;
	index->mod = NULL;
	if (index_list_make(&index->module, index, mod))
		return ERR_PTR(-ENOMEM);
	index->mod = mod;
	index->generation = index_generation;

	return &index->module;
}

/* Count the addresses in @list below @addr. */
static unsigned int index_list_below(const struct kprobe_addrs *list, unsigned long addr)
{
	unsigned int low = 0, high = list->nr;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (list->addrs[mid] < addr)
			low = mid + 1;
		else
			high = mid;
	}

	return low;
}

/**
 * kprobe_index_find() - find the addresses of an index that are in a piece of text
 * @index: the index
 * @text: an address in the kernel's text, or in that of the module to search
 * @start: the first byte of the piece
 * @end: the byte behind it
 * @first: set to the first of them, in ascending order
 *
 * Context: Process context, may sleep, kprobe_mutex held; the module must have a probe
 * or be held.
 * Return: the number of addresses, -%ENOMEM.
 */
int kprobe_index_find(struct kprobe_index *index, unsigned long text, unsigned long start,
		      unsigned long end, const unsigned long **first)
{
	const struct kprobe_addrs *list;
	unsigned int from;

	lockdep_assert_held(&kprobe_mutex);
	list = index_list_for(index, text);
	if (IS_ERR_OR_NULL(list))
		return PTR_ERR_OR_ZERO(list);

	from = index_list_below(list, start);
	*first = list->addrs + from;

	return index_list_below(list, end) - from;
}
