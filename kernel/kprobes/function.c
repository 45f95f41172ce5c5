// SPDX-License-Identifier: GPL-2.0-only
/*
 * The function that an address is in, its symbol, and the tables about its text that other
 * subsystems have.
 */
#include <linux/err.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/module_symbol.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include "internal.h"

#ifdef CONFIG_MODULES
/*
 * The symbols of a module.
 *
 * The kernel's own symbols are sorted. Those of a module are not, and kallsyms searches
 * all of them to answer one question. When a module is asked about for the second time in
 * a row, its symbols are sorted here and then searched: by address for one kind of
 * question, by name for the other. Only one module's symbols are kept, until any module
 * comes or goes.
 */

/**
 * struct keyed_symbol - a symbol of a module
 * @key: what it is searched by: its offset in the text, or the hash of its name
 * @index: its index in the symbol table
 */
struct keyed_symbol {
	u32 key;
	u32 index;
};

/**
 * struct sorted_symbols - symbols of a module
 * @list: lists the symbols to sort, with their keys; at most @room of them
 * @asked: the module asked about last. Only compare this pointer: the module may be gone.
 * @mod: the module, NULL if none are sorted
 * @kallsyms: its symbol table at the time of sorting
 * @symbols: sorted by key, then by index
 * @nr: how many there are
 */
struct sorted_symbols {
	unsigned int (*list)(const struct module *mod, const struct mod_kallsyms *kallsyms,
			     struct keyed_symbol *symbols, unsigned int room);
	const struct module *asked;
	const struct module *mod;
	const struct mod_kallsyms *kallsyms;
	struct keyed_symbol *symbols;
	unsigned int nr;
};

static const char *symbol_name(const struct mod_kallsyms *kallsyms, unsigned int index)
{
	return kallsyms->strtab + kallsyms->symtab[index].st_name;
}

/* Does kallsyms_lookup() consider this symbol? */
static bool symbol_is_considered(const struct mod_kallsyms *kallsyms, unsigned int index)
{
	const char *name = symbol_name(kallsyms, index);

	return kallsyms->symtab[index].st_shndx != SHN_UNDEF && *name && !is_mapping_symbol(name);
}

static int symbol_cmp(const void *a, const void *b)
{
	const struct keyed_symbol *l = a, *r = b;

	if (l->key != r->key)
		return l->key < r->key ? -1 : 1;

	return l->index < r->index ? -1 : 1;
}

/* Return the number of symbols whose keys are below @key. */
static unsigned int symbols_below(const struct sorted_symbols *sorted, u32 key)
{
	unsigned int low = 0, high = sorted->nr;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (sorted->symbols[mid].key < key)
			low = mid + 1;
		else
			high = mid;
	}

	return low;
}

static unsigned int symbols_list(const struct module *mod, const struct mod_kallsyms *kallsyms,
				 struct keyed_symbol *symbols, unsigned int room)
{
	unsigned long start = (unsigned long)mod->mem[MOD_TEXT].base;
	unsigned int i, nr = 0;

	/* The first entry of a symbol table is not a symbol. */
	for (i = 1; i < kallsyms->num_symtab && nr < room; i++) {
		unsigned long offset = kallsyms_symbol_value(&kallsyms->symtab[i]) - start;

		if (offset < mod->mem[MOD_TEXT].size && symbol_is_considered(kallsyms, i))
			symbols[nr++] = (struct keyed_symbol){ offset, i };
	}

	return nr;
}

/* The symbols of the text by offset. */
static struct sorted_symbols symbols_by_offset = { .list = symbols_list };

static u32 symbol_name_hash(const char *name)
{
	return full_name_hash(NULL, name, strlen(name));
}

static unsigned int symbols_list_names(const struct module *mod,
				       const struct mod_kallsyms *kallsyms,
				       struct keyed_symbol *symbols, unsigned int room)
{
	unsigned int i, nr = 0;

	for (i = 1; i < kallsyms->num_symtab && nr < room; i++) {
		if (kallsyms->symtab[i].st_shndx != SHN_UNDEF)
			symbols[nr++] = (struct keyed_symbol){
				symbol_name_hash(symbol_name(kallsyms, i)), i };
	}

	return nr;
}

/* All symbols by name. */
static struct sorted_symbols symbols_by_name = { .list = symbols_list_names };

static void symbols_forget_sorted(struct sorted_symbols *sorted)
{
	sorted->mod = NULL;
	kvfree(sorted->symbols);
	sorted->symbols = NULL;
}

/* Forget the sorted symbols: their module may be about to go. */
static void symbols_forget(void)
{
	symbols_by_offset.asked = NULL;
	symbols_by_name.asked = NULL;
	symbols_forget_sorted(&symbols_by_offset);
	symbols_forget_sorted(&symbols_by_name);
}

static bool symbols_are_sorted(const struct sorted_symbols *sorted, const struct module *mod)
{
	return mod && mod == sorted->mod && rcu_access_pointer(mod->kallsyms) == sorted->kallsyms;
}

/*
 * A question is about @mod, NULL if that is not live: sort its symbols if the previous question
 * was about it as well. Without memory none are sorted. @mod cannot be freed yet: it was live
 * with kprobe_mutex held, and its notification waits for that.
 */
static void symbols_prepare(struct sorted_symbols *sorted, const struct module *mod)
{
	bool again = mod && mod == sorted->asked;
	struct keyed_symbol *symbols;
	unsigned int room;

	lockdep_assert_held(&kprobe_mutex);
	sorted->asked = mod;
	if (!again || symbols_are_sorted(sorted, mod))
		return;

	symbols_forget_sorted(sorted);
	scoped_guard(preempt)
		room = rcu_dereference_sched(mod->kallsyms)->num_symtab;
	symbols = kvmalloc_array(room, sizeof(*symbols), GFP_KERNEL | __GFP_NOWARN);
	if (!symbols)
		return;

	scoped_guard(preempt) {
		sorted->kallsyms = rcu_dereference_sched(mod->kallsyms);
		sorted->nr = sorted->list(mod, sorted->kallsyms, symbols, room);
	}
	sort(symbols, sorted->nr, sizeof(*symbols), symbol_cmp, NULL);
	sorted->mod = mod;
	sorted->symbols = symbols;
}

/*
 * Return the module whose text contains @addr, if it is live: until then it has symbols that
 * it will lose.
 */
static struct module *settled_module(unsigned long addr)
{
	struct module *mod = __module_address(addr);

	return mod && mod->state == MODULE_STATE_LIVE &&
	       within_module_mem_type(addr, mod, MOD_TEXT) ? mod : NULL;
}

/* Look up the symbol that contains @addr. Return 1, 0 if there is none, -1 to ask kallsyms. */
static int symbols_find(unsigned long addr, struct kprobe_function *fn, char *name)
{
	const struct sorted_symbols *sorted = &symbols_by_offset;
	unsigned int after, best;
	const struct module *mod;
	unsigned long start;

	scoped_guard(preempt)
		mod = settled_module(addr);
	symbols_prepare(&symbols_by_offset, mod);

	guard(preempt)();
	if (!symbols_are_sorted(sorted, mod))
		return -1;

	start = (unsigned long)mod->mem[MOD_TEXT].base;
	after = symbols_below(sorted, addr - start + 1);
	if (!after)
		return 0;

	for (best = after - 1; best; best--) {
		if (sorted->symbols[best - 1].key != sorted->symbols[best].key)
			break;
	}
	fn->start = start + sorted->symbols[best].key;
	fn->end = start + (after < sorted->nr ? sorted->symbols[after].key :
						mod->mem[MOD_TEXT].size);
	strscpy(name, symbol_name(sorted->kallsyms, sorted->symbols[best].index), KSYM_NAME_LEN);

	return 1;
}

/* Return the address of symbol number @n with the name @name, 0 if there are fewer. */
static unsigned long symbols_nth_sorted(const char *name, unsigned int n)
{
	const struct mod_kallsyms *kallsyms = symbols_by_name.kallsyms;
	const struct keyed_symbol *symbols = symbols_by_name.symbols;
	unsigned int i, nr = symbols_by_name.nr;
	u32 hash = symbol_name_hash(name);

	for (i = symbols_below(&symbols_by_name, hash); i < nr && symbols[i].key == hash; i++) {
		if (!strcmp(symbol_name(kallsyms, symbols[i].index), name) && !n--)
			return kallsyms_symbol_value(&kallsyms->symtab[symbols[i].index]);
	}

	return 0;
}

/* The same in a symbol table that is not sorted. */
static unsigned long symbols_nth_unsorted(const struct mod_kallsyms *kallsyms, const char *name,
					  unsigned int n)
{
	unsigned int i;

	for (i = 1; i < kallsyms->num_symtab; i++) {
		if (kallsyms->symtab[i].st_shndx != SHN_UNDEF &&
		    !strcmp(symbol_name(kallsyms, i), name) && !n--)
			return kallsyms_symbol_value(&kallsyms->symtab[i]);
	}

	return 0;
}

/*
 * Return the address of symbol number @n with the name @name in the module that contains
 * @addr, 0 if there are fewer. The module must have a probe or be held.
 */
static unsigned long symbols_nth_named(unsigned long addr, const char *name, int n)
{
	const struct module *mod;

	scoped_guard(preempt)
		mod = settled_module(addr);
	symbols_prepare(&symbols_by_name, mod);

	guard(preempt)();
	if (symbols_are_sorted(&symbols_by_name, mod))
		return symbols_nth_sorted(name, n);
	mod = __module_text_address(addr);

	return mod ? symbols_nth_unsorted(rcu_dereference_sched(mod->kallsyms), name, n) : 0;
}

/* Return the module of @name, "module:symbol", if it is live. Preemption is disabled. */
static const struct module *settled_module_named(const char *name)
{
	const char *colon = strnchr(name, MODULE_NAME_LEN, ':');
	char buf[MODULE_NAME_LEN];
	const struct module *mod;

	if (!colon)
		return NULL;

	strscpy(buf, name, colon - name + 1);
	mod = find_module(buf);

	return mod && mod->state == MODULE_STATE_LIVE ? mod : NULL;
}

/*
 * Return the address of @name, "module:symbol", if the names of the module are sorted.
 * Finds what module_kallsyms_lookup_name() finds; ask that if this returns 0.
 */
unsigned long kprobe_module_symbol(const char *name)
{
	const struct module *mod;

	scoped_guard(preempt)
		mod = settled_module_named(name);
	symbols_prepare(&symbols_by_name, mod);

	guard(preempt)();
	if (!symbols_are_sorted(&symbols_by_name, mod))
		return 0;

	return symbols_nth_sorted(strchr(name, ':') + 1, 0);
}
#else
static void symbols_forget(void) { }
static int symbols_find(unsigned long addr, struct kprobe_function *fn, char *name) { return -1; }
static unsigned long symbols_nth_named(unsigned long addr, const char *name, int n) { return 0; }
#endif /* CONFIG_MODULES */

/*
 * An index: the sorted addresses of a table that the kernel and each module have, such as
 * that of static keys. The table itself is sorted differently, or not at all. An index
 * sorts the addresses once for the kernel and once for the module that was asked about
 * last, so that each function takes only a binary search.
 */

/* Changes whenever a module comes or goes. */
static unsigned long index_generation = 1;

static void indexes_forget(void)
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
 * @end: the byte after it
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

/*
 * Looks up the function that contains an address. Callers ask several questions about
 * each address, and mostly about several addresses of one function in a row, while a
 * look-up may search all symbols of a module. So the last answer is kept until text comes
 * or goes.
 */

static char cached_function_name[KSYM_NAME_LEN];
static struct kprobe_function cached_function = { .name = cached_function_name };

/* Bits by enum function_fact: tested for the cached function, and true of it. */
static unsigned long facts_tested, facts_true;

/**
 * kprobe_lookup_name() - find the text of a symbol
 * @name: the symbol, "module:symbol" for one of a module
 * @offset: bytes that the caller is going to add, for architectures with more
 *	than one entry to a function
 *
 * Context: Process context, may sleep.
 * Return: the address, NULL when there is no such symbol.
 */
kprobe_opcode_t * __weak kprobe_lookup_name(const char *name, unsigned int offset)
{
	/* No symbol of the kernel itself has a colon, so do not search those. */
	if (strchr(name, ':'))
		return (kprobe_opcode_t *)module_kallsyms_lookup_name(name);

	return (kprobe_opcode_t *)kallsyms_lookup_name(name);
}

/**
 * kprobe_find_symbol() - look up the symbol that an address is in
 * @addr: the address
 * @fn: start and end are filled in
 * @name: buffer of %KSYM_NAME_LEN bytes for the name
 *
 * Does what kallsyms_lookup() does, but does not search all symbols of a module for
 * each address.
 *
 * Context: Process context, may sleep, kprobe_mutex held.
 * Return: true if there is one.
 */
bool kprobe_find_symbol(unsigned long addr, struct kprobe_function *fn, char *name)
{
	unsigned long size, offset;
	char *module;
	int there = core_kernel_text(addr) ? -1 : symbols_find(addr, fn, name);

	lockdep_assert_held(&kprobe_mutex);
	if (there >= 0)
		return there;
	if (!kallsyms_lookup(addr, &size, &offset, &module, name))
		return false;

	fn->start = addr - offset;
	fn->end = fn->start + size;

	return true;
}

/**
 * kprobe_each_named() - call a function for each symbol that has a given name
 * @addr: an address in the kernel's text, or in that of the module to search
 * @name: the name
 * @fn: called with @data and the address of each
 * @data: for @fn
 *
 * Context: Process context, may sleep, kprobe_mutex held; the module must have a probe
 * or be held.
 * Return: the first value other than 0 that @fn returned, or 0.
 */
int kprobe_each_named(unsigned long addr, const char *name,
		      int (*fn)(void *data, unsigned long addr), void *data)
{
	unsigned long where;
	int n;
	int ret = 0;

	lockdep_assert_held(&kprobe_mutex);
	if (core_kernel_text(addr))
		return kallsyms_on_each_match_symbol(fn, name, data);

	/* @fn may look up symbols of another module, so search again each time. */
	for (n = 0; !ret && (where = symbols_nth_named(addr, name, n)); n++)
		ret = fn(data, where);

	return ret;
}

/**
 * kprobe_each_other_part() - call a function for the other part of a function
 * @addr: an address in the kernel's text, or in that of the module to search
 * @name: name of the part that is known, NAME or NAME.cold
 * @fn: called with @data and the address of each that may be the other part
 * @data: for @fn
 *
 * The compiler moves rarely executed code to a separate part, and the two parts branch
 * into each other. Any function that has the other part's name may be the other part.
 *
 * Context: as for kprobe_each_named().
 * Return: the first value other than 0 that @fn returned, or 0.
 */
int kprobe_each_other_part(unsigned long addr, const char *name,
			   int (*fn)(void *data, unsigned long addr), void *data)
{
	char other[KSYM_NAME_LEN];
	char *suffix;

	strscpy(other, name, sizeof(other));
	suffix = kprobe_cold_suffix(other);
	if (suffix)
		*suffix = '\0';
	else
		strlcat(other, KPROBE_COLD, sizeof(other));

	return kprobe_each_named(addr, other, fn, data);
}

static void function_cache_clear(void)
{
	cached_function.start = 0;
	cached_function.end = 0;
	cached_function.serial++;
	facts_tested = 0;
}

/**
 * kprobe_function_of() - look up the function that an address is in
 * @addr: the address
 *
 * Context: Process context, kprobe_mutex held.
 * Return: the function, valid until the next call; NULL when there is none.
 */
const struct kprobe_function *kprobe_function_of(unsigned long addr)
{
	lockdep_assert_held(&kprobe_mutex);
	if (addr >= cached_function.start && addr < cached_function.end)
		return &cached_function;

	function_cache_clear();

	if (!kprobe_find_symbol(addr, &cached_function, cached_function_name))
		return NULL;

	return &cached_function;
}

/* Drop the cached function: symbols were added or removed. */
void kprobe_function_forget(void)
{
	lockdep_assert_held(&kprobe_mutex);
	function_cache_clear();
	symbols_forget();
	indexes_forget();
}

/*
 * Evaluate a per-function fact once; for most functions it is false, which saves a
 * search for each of their addresses.
 */
bool kprobe_function_is(unsigned long addr, enum function_fact fact,
			bool (*test)(const struct kprobe_function *fn))
{
	const struct kprobe_function *fn = kprobe_function_of(addr);

	if (!fn)
		return false;
	if (!__test_and_set_bit(fact, &facts_tested))
		__assign_bit(fact, &facts_true, test(fn));

	return test_bit(fact, &facts_true);
}

/*
 * Text that static keys and static calls rewrite in place. The predicates of jump labels and
 * of static calls scan whole tables, so call them only if the index has a site nearby.
 */

static void collect_sites(struct kprobe_addrs *list, const struct module *mod)
{
#ifdef CONFIG_JUMP_LABEL
	const struct jump_entry *e, *last;

	e = kprobe_index_of(mod, mod->jump_entries, __start___jump_table);
	last = kprobe_index_of(mod, e + mod->num_jump_entries, __stop___jump_table);
	for (; e < last; e++)
		kprobe_index_add(list, jump_entry_code(e));
#endif
#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
	const struct static_call_site *site, *end;

	site = kprobe_index_of(mod, mod->static_call_sites, __start_static_call_sites);
	end = kprobe_index_of(mod, site + mod->num_static_call_sites, __stop_static_call_sites);
	for (; site < end; site++)
		kprobe_index_add(list, (unsigned long)&site->addr + site->addr);
#endif
}

static struct kprobe_index site_index = { .collect = collect_sites };

/**
 * kprobe_has_sites() - may static keys or static calls rewrite part of a piece of text?
 * @start: its first byte
 * @end: the byte after it
 *
 * Context: Process context, kprobe_mutex held.
 * Return: false if they do not.
 */
bool kprobe_has_sites(unsigned long start, unsigned long end)
{
	const unsigned long reach = MAX_INSN_SIZE * sizeof(kprobe_opcode_t);
	const unsigned long *first;

	/* An error counts as true: then the predicates of both subsystems decide. */
	return kprobe_index_find(&site_index, start, start - reach + 1, end, &first);
}

/**
 * kprobe_has_jump_labels() - does a static key rewrite anything in a piece of text?
 * @start: its first byte
 * @end: the byte after it
 *
 * Does what jump_label_text_reserved() does, but does not scan the table to say no.
 *
 * Context: Process context, kprobe_mutex and jump_label_lock() held.
 * Return: true if it does.
 */
bool kprobe_has_jump_labels(unsigned long start, unsigned long end)
{
	return kprobe_has_sites(start, end) &&
	       jump_label_text_reserved((void *)start, (void *)end - 1);
}

/**
 * kprobe_has_static_calls() - does a static call rewrite anything in a piece of text?
 * @start: its first byte
 * @end: the byte after it
 *
 * Does what static_call_text_reserved() does, but does not scan the table to say no.
 *
 * Context: Process context, kprobe_mutex held.
 * Return: true if it does.
 */
bool kprobe_has_static_calls(unsigned long start, unsigned long end)
{
	return kprobe_has_sites(start, end) &&
	       static_call_text_reserved((void *)start, (void *)end - 1);
}
