// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blacklist: functions that no probe may enter, because a trap there would recurse,
 * or would come where the kernel cannot handle one.
 *
 * It is one array, sorted by start, of ranges that do not overlap, so a look-up
 * is a binary search at any time, in any context. A change builds a new array
 * and swaps it in.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <asm/sections.h>

#include "blacklist.h"

struct blacklist_range {
	unsigned long start;
	unsigned long end;
};

struct blacklist {
	struct rcu_head rcu;
	unsigned int nr;
	struct blacklist_range ranges[] __counted_by(nr);
};

static struct blacklist __rcu *blacklist;
static DEFINE_MUTEX(blacklist_mutex);

/* Ranges to be merged into the array, protected by blacklist_mutex. */
static struct blacklist_range *blacklist_staged;
static unsigned int blacklist_nr_staged, blacklist_max_staged;

static int blacklist_range_cmp(const void *a, const void *b)
{
	const struct blacklist_range *l = a, *r = b;

	return l->start < r->start ? -1 : l->start > r->start;
}

static int blacklist_stage_range(unsigned long start, unsigned long end)
{
	lockdep_assert_held(&blacklist_mutex);

	if (blacklist_nr_staged == blacklist_max_staged) {
		unsigned int max = blacklist_max_staged ? 2 * blacklist_max_staged : 64;
		void *more = kvrealloc(blacklist_staged, max * sizeof(*blacklist_staged),
				       GFP_KERNEL);

		if (!more)
			return -ENOMEM;
		blacklist_staged = more;
		blacklist_max_staged = max;
	}
	blacklist_staged[blacklist_nr_staged++] = (struct blacklist_range){ start, end };

	return 0;
}

static void blacklist_drop_stage(void)
{
	kvfree(blacklist_staged);
	blacklist_staged = NULL;
	blacklist_nr_staged = 0;
	blacklist_max_staged = 0;
}

/* Aliases, and functions listed twice, become one range. */
static void blacklist_merge_ranges(struct blacklist *list)
{
	unsigned int i, kept = 0;

	sort(list->ranges, list->nr, sizeof(list->ranges[0]), blacklist_range_cmp, NULL);

	for (i = 1; i < list->nr; i++) {
		struct blacklist_range *last = &list->ranges[kept];

		if (list->ranges[i].start == last->start)
			last->end = max(last->end, list->ranges[i].end);
		else if (list->ranges[i].start >= last->end)
			list->ranges[++kept] = list->ranges[i];
		else if (list->ranges[i].end > last->end)
			list->ranges[++kept] = (struct blacklist_range){
				last->end, list->ranges[i].end };
	}
	list->nr = min(list->nr, kept + 1);
}

/* Publish the staged ranges together with the present ones outside [from, to). */
static int blacklist_publish_stage(unsigned long from, unsigned long to)
{
	struct blacklist *old = rcu_dereference_protected(blacklist,
							  lockdep_is_held(&blacklist_mutex));
	unsigned int room = blacklist_nr_staged + (old ? old->nr : 0);
	struct blacklist *list;
	unsigned int i;

	list = kvmalloc(struct_size(list, ranges, room), GFP_KERNEL);
	if (!list)
		return -ENOMEM;

	list->nr = room;
	if (blacklist_nr_staged)
		memcpy(list->ranges, blacklist_staged,
		       blacklist_nr_staged * sizeof(blacklist_staged[0]));
	room = blacklist_nr_staged;
	for (i = 0; old && i < old->nr; i++) {
		if (old->ranges[i].start < from || old->ranges[i].start >= to)
			list->ranges[room++] = old->ranges[i];
	}
	list->nr = room;
	blacklist_merge_ranges(list);

	rcu_assign_pointer(blacklist, list);
	if (old)
		kvfree_rcu(old, rcu);

	return 0;
}

/* Stage the symbol at @entry; returns its size in bytes. */
static int blacklist_stage_symbol(unsigned long entry, unsigned long limit)
{
	unsigned long size = 0, offset = 0;
	int ret;

	if (!kernel_text_address(entry) ||
	    !kallsyms_lookup_size_offset(entry, &size, &offset) || size <= offset)
		return -EINVAL;

	/* kallsyms lets the last symbol of a section extend up to the next section. */
	size = min(size - offset, limit - entry);
	ret = blacklist_stage_range(entry, entry + size);

	return ret ?: size;
}

static int blacklist_stage_area(unsigned long start, unsigned long end)
{
	unsigned long entry = start;
	int size;

	if (end < start)
		return -EINVAL;

	while (entry < end) {
		size = blacklist_stage_symbol(entry, end);
		/* No symbol covers the rest of the area: add it as a single range. */
		if (size == -EINVAL)
			return blacklist_stage_range(entry, end);
		if (size < 0)
			return size;
		entry += size;
	}

	return 0;
}

/**
 * kprobe_add_ksym_blacklist() - keep probes out of a function
 * @entry: address of its first instruction
 *
 * Context: Process context, may sleep.
 * Return: the size of the function in bytes, -%EINVAL when @entry is not in the
 * text of a symbol, -%ENOMEM.
 */
int kprobe_add_ksym_blacklist(unsigned long entry)
{
	int size, ret = 0;

	guard(mutex)(&blacklist_mutex);
	size = blacklist_stage_symbol(entry, ULONG_MAX);
	if (size > 0)
		ret = blacklist_publish_stage(0, 0);
	blacklist_drop_stage();

	return ret ?: size;
}

static int blacklist_add_areas(const struct kprobe_area *areas, unsigned int nr)
{
	unsigned int i;
	int ret = 0;

	guard(mutex)(&blacklist_mutex);
	for (i = 0; i < nr && !ret; i++)
		ret = blacklist_stage_area((unsigned long)areas[i].start,
					   (unsigned long)areas[i].end);
	if (!ret)
		ret = blacklist_publish_stage(0, 0);
	blacklist_drop_stage();

	return ret;
}

/**
 * kprobe_add_area_blacklist() - keep probes out of a piece of text
 * @start: its first byte
 * @end: the first byte after it
 *
 * Context: Process context, may sleep.
 * Return: 0, -%EINVAL when @end lies before @start, -%ENOMEM.
 */
int kprobe_add_area_blacklist(unsigned long start, unsigned long end)
{
	struct kprobe_area area = { (void *)start, (void *)end };

	return blacklist_add_areas(&area, 1);
}

/**
 * kprobe_add_areas_blacklist() - keep probes out of pieces of the kernel's text
 * @areas: the pieces
 * @nr: how many
 *
 * For architectures, in arch_populate_kprobe_blacklist().
 *
 * Context: Process context, may sleep; while booting.
 * Return: 0, -%EINVAL when one ends before it starts, -%ENOMEM.
 */
int __init kprobe_add_areas_blacklist(const struct kprobe_area *areas, unsigned int nr)
{
	return blacklist_add_areas(areas, nr);
}

/*
 * The names that were added. Of some functions there are only clones, made by the compiler:
 * kprobe_blacklist_holds_origin() looks for their names here.
 */
static struct {
	const char * const *names;
	unsigned int nr;
} blacklist_named[4] __ro_after_init;

static void __init blacklist_keep_names(const char * const *names, unsigned int nr)
{
	static unsigned int nr_named __initdata;

	if (WARN_ON(nr_named == ARRAY_SIZE(blacklist_named)))
		return;
	blacklist_named[nr_named].names = names;
	blacklist_named[nr_named++].nr = nr;
}

static int __init blacklist_stage_namesake(void *data, unsigned long addr)
{
	int *ret = data;

	*ret = blacklist_stage_symbol(addr, ULONG_MAX);

	return *ret == -ENOMEM;
}

/**
 * kprobe_add_names_blacklist() - keep probes out of functions given by name
 * @names: their symbols; each may match several functions, such as the copies of an
 *	inline function, or none; must not be freed
 * @nr: how many
 *
 * For architectures: a function can be named here without a declaration.
 *
 * Context: Process context, may sleep; while booting.
 * Return: 0 or -%ENOMEM.
 */
int __init kprobe_add_names_blacklist(const char * const *names, unsigned int nr)
{
	unsigned int i;
	int ret = 0;

	guard(mutex)(&blacklist_mutex);
	blacklist_keep_names(names, nr);
	for (i = 0; i < nr && ret != -ENOMEM; i++)
		kallsyms_on_each_match_symbol(blacklist_stage_namesake, names[i], &ret);
	if (ret != -ENOMEM)
		ret = blacklist_publish_stage(0, 0);
	blacklist_drop_stage();

	return min(ret, 0);
}

static bool blacklist_has(const struct blacklist *list, unsigned long addr)
{
	unsigned int low = 0, high = list->nr;

	/*
	 * Invariant: ranges before @low start at or before @addr, ranges from @high on
	 * after it.
	 */
	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (list->ranges[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}

	return low && addr < list->ranges[low - 1].end;
}

bool kprobe_blacklist_holds(unsigned long addr)
{
	const struct blacklist *list;

	guard(rcu)();
	list = rcu_dereference(blacklist);

	return list && blacklist_has(list, addr);
}

static bool blacklist_is_named(const char *name)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(blacklist_named); i++) {
		for (j = 0; j < blacklist_named[i].nr; j++) {
			if (!strcmp(blacklist_named[i].names[j], name))
				return true;
		}
	}

	return false;
}

/* Is the function named by the first @len bytes of @name blacklisted? Rarely called. */
static noinline bool blacklist_holds_name(const char *name, size_t len)
{
	char origin[KSYM_NAME_LEN];
	unsigned long addr;

	strscpy(origin, name, len + 1);
	addr = (unsigned long)kprobe_lookup_name(origin, 0);

	return addr ? kprobe_blacklist_holds(addr) : blacklist_is_named(origin);
}

/* A clone made by the compiler, foo.isra.0, is blacklisted with its origin. */
bool kprobe_blacklist_holds_origin(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot && blacklist_holds_name(name, dot - name);
}

/**
 * arch_within_kprobe_blacklist() - is this text that the architecture reserves?
 * @addr: an address
 *
 * Context: Any.
 * Return: true when no probe may be there.
 */
bool __weak arch_within_kprobe_blacklist(unsigned long addr)
{
	return addr >= (unsigned long)__kprobes_text_start &&
	       addr < (unsigned long)__kprobes_text_end;
}

/**
 * within_kprobe_blacklist() - is this text that must not be probed?
 * @addr: an address
 *
 * Context: Any.
 * Return: true when no probe may be there.
 */
bool within_kprobe_blacklist(unsigned long addr)
{
	char name[KSYM_NAME_LEN];

	return arch_within_kprobe_blacklist(addr) || kprobe_blacklist_holds(addr) ||
	       (!lookup_symbol_name(addr, name) && kprobe_blacklist_holds_origin(name));
}

/* The entries are pointers to functions, descriptors on some architectures. */
static int blacklist_stage_entries(const unsigned long *entry, const unsigned long *end)
{
	int ret;

	for (; entry < end; entry++) {
		unsigned long addr = (unsigned long)dereference_symbol_descriptor((void *)*entry);

		ret = blacklist_stage_symbol(addr, ULONG_MAX);
		if (ret == -EINVAL)
			pr_err("no function at %pS to blacklist\n", (void *)addr);
		else if (ret < 0)
			return ret;
	}

	return 0;
}

int __weak __init arch_populate_kprobe_blacklist(void)
{
	return 0;
}

static int __init blacklist_stage_kernel(void)
{
	int ret;

	ret = blacklist_stage_entries(__start_kprobe_blacklist, __stop_kprobe_blacklist);
	if (ret)
		return ret;

	ret = blacklist_stage_area((unsigned long)__kprobes_text_start,
				   (unsigned long)__kprobes_text_end);
	if (ret)
		return ret;

	return blacklist_stage_area((unsigned long)__noinstr_text_start,
				    (unsigned long)__noinstr_text_end);
}

int __init kprobe_blacklist_add_kernel(void)
{
	int ret;

	guard(mutex)(&blacklist_mutex);
	ret = blacklist_stage_kernel();
	if (!ret)
		ret = blacklist_publish_stage(0, 0);
	blacklist_drop_stage();

	return ret;
}

#ifdef CONFIG_MODULES

static int blacklist_stage_module(struct module *mod)
{
	unsigned long start;
	int ret;

	ret = blacklist_stage_entries(mod->kprobe_blacklist,
				      mod->kprobe_blacklist + mod->num_kprobe_blacklist);
	if (ret)
		return ret;

	start = (unsigned long)mod->kprobes_text_start;
	ret = blacklist_stage_area(start, start + mod->kprobes_text_size);
	if (ret)
		return ret;

	start = (unsigned long)mod->noinstr_text_start;

	return blacklist_stage_area(start, start + mod->noinstr_text_size);
}

int kprobe_blacklist_add_module(struct module *mod)
{
	int ret;

	guard(mutex)(&blacklist_mutex);
	ret = blacklist_stage_module(mod);
	if (!ret && blacklist_nr_staged)
		ret = blacklist_publish_stage(0, 0);
	blacklist_drop_stage();

	return ret;
}

static bool blacklist_holds_any_of(unsigned long from, unsigned long to)
{
	const struct blacklist *list;
	unsigned int i;

	list = rcu_dereference_protected(blacklist, lockdep_is_held(&blacklist_mutex));
	for (i = 0; list && i < list->nr; i++) {
		if (list->ranges[i].start >= from && list->ranges[i].start < to)
			return true;
	}

	return false;
}

void kprobe_blacklist_forget_module(struct module *mod, enum mod_mem_type type)
{
	unsigned long base = (unsigned long)mod->mem[type].base;
	unsigned long end = base + mod->mem[type].size;

	guard(mutex)(&blacklist_mutex);
	/* Without memory keep the stale ranges: they only refuse too many probes. */
	if (blacklist_holds_any_of(base, end))
		blacklist_publish_stage(base, end);
}

#endif /* CONFIG_MODULES */

/* Print debugfs "blacklist"; perf parses this format. */
int kprobe_blacklist_show(struct seq_file *m, bool show_addr)
{
	const struct blacklist *list;
	unsigned int i;

	guard(mutex)(&blacklist_mutex);
	list = rcu_dereference_protected(blacklist, lockdep_is_held(&blacklist_mutex));

	for (i = 0; list && i < list->nr; i++) {
		const struct blacklist_range *range = &list->ranges[i];
		void *start = (void *)range->start, *end = (void *)range->end;

		seq_printf(m, "0x%px-0x%px\t%ps\n", show_addr ? start : NULL,
			   show_addr ? end : NULL, start);
	}

	return 0;
}
