// SPDX-License-Identifier: GPL-2.0-only
/*
 * The function that an address is in, its symbol, and the tables about its text that other
 * subsystems have.
 *
 * Two things are remembered from one batch to the next, under kprobe_mutex: the function looked at
 * last, with what is known about it, and sorted tables. There is one way out of both:
 * kprobe_function_forget(), whenever text comes or goes.
 */
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/module_symbol.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/static_call.h>
#include <linux/stringhash.h>

#include "internal.h"

/*
 * An index: a table that the kernel and each module have, such as that of static keys, sorted by
 * keys, so that a question takes only a binary search. The table itself is sorted differently, or
 * not at all. The kernel's are sorted once, at the first question, and those of the module that
 * was asked about last until text comes or goes.
 */

/* All indexes that have been asked about a module. */
static HLIST_HEAD(indexes);

/**
 * kprobe_index_add() - add a key to an index
 * @list: the list that the collecting function was called with
 * @key: the key
 *
 * Context: Called from kprobe_index::collect, or what else kprobe_keys_make() calls.
 */
void kprobe_index_add(struct kprobe_keys *list, u64 key)
{
	if (list->nr < list->room)
		list->keys[list->nr] = key;
	list->nr++;
}

static int key_cmp(const void *a, const void *b)
{
	const u64 *l = a, *r = b;

	return *l < *r ? -1 : *l > *r;
}

/* Make @list of what @collect adds for @mod. Collect twice: count the keys, then fill them in. */
int kprobe_keys_make(struct kprobe_keys *list,
		     void (*collect)(struct kprobe_keys *list, const struct module *mod),
		     const struct module *mod)
{
	struct kprobe_keys made = {};

	collect(&made, mod);
	made.room = made.nr;
	made.nr = 0;
	/* Allocate even an empty list, because NULL means that there is none yet. */
	made.keys = kvmalloc_array(made.room + 1, sizeof(*made.keys), GFP_KERNEL | __GFP_NOWARN);
	if (!made.keys)
		return -ENOMEM;

	collect(&made, mod);
	made.nr = min(made.nr, made.room);
	sort(made.keys, made.nr, sizeof(*made.keys), key_cmp, NULL);
	*list = made;

	return 0;
}

static void index_forget_module(struct kprobe_index *index)
{
	kvfree(index->module.keys);
	index->module.keys = NULL;
	index->mod = NULL;
}

/* @mod cannot be freed meanwhile: kprobe_mutex keeps the notifier from returning. */
static const struct kprobe_keys *index_of_module(struct kprobe_index *index,
						 const struct module *mod)
{
	bool again = mod == index->mod;

	if (again && index->module.keys)
		return &index->module;

	index_forget_module(index);
	index->mod = mod;
	if (hlist_unhashed(&index->link))
		hlist_add_head(&index->link, &indexes);
	if (index->second && !again)
		return ERR_PTR(-EAGAIN);
	if (kprobe_keys_make(&index->module, index->collect, mod))
		return ERR_PTR(-ENOMEM);

	return &index->module;
}

static const struct module *module_of_text(unsigned long addr)
{
	guard(preempt)();

	return __module_text_address(addr);
}

/* Count the keys below @key. */
static unsigned int keys_below(const struct kprobe_keys *list, u64 key)
{
	unsigned int low = 0, high = list->nr;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (list->keys[mid] < key)
			low = mid + 1;
		else
			high = mid;
	}

	return low;
}

/**
 * kprobe_index_find() - find the addresses of an index that are in a piece of text
 * @index: the index, whose keys are addresses
 * @text: an address in the kernel's text, or in that of the module to search
 * @start: the first byte of the piece
 * @end: the byte after it
 * @first: set to the first of them, in ascending order
 *
 * Context: Process context, may sleep, kprobe_mutex held; the module must have a probe
 * or be held.
 * Return: the number of addresses, -%ENOMEM, or -%EAGAIN at the first question about a
 * module if kprobe_index::second is set.
 */
int kprobe_index_find(struct kprobe_index *index, unsigned long text, unsigned long start,
		      unsigned long end, const u64 **first)
{
	const struct kprobe_keys *list = &index->kernel;
	const struct module *mod = index->mod;
	unsigned int from;

	lockdep_assert_held(&kprobe_mutex);
	if (core_kernel_text(text)) {
		if (!list->keys && kprobe_keys_make(&index->kernel, index->collect, NULL))
			return -ENOMEM;
	} else {
		if (!mod || !within_module(text, mod))
			mod = module_of_text(text);
		if (!mod)
			return 0;
		list = index_of_module(index, mod);
		if (IS_ERR(list))
			return PTR_ERR(list);
	}

	from = keys_below(list, start);
	*first = list->keys + from;

	return keys_below(list, end) - from;
}

#if defined(CONFIG_OPTPROBES) && defined(ARCH_HAS_RELATIVE_EXTABLE)
/**
 * kprobe_each_listed() - call a function for each static key and each exception fixup
 * @mod: whose they are, NULL for the kernel's own
 * @note: called with @data: control may come from @from to @to, by a fixup or by a static key,
 *	whether that is a branch at the moment or not
 * @data: for @note
 *
 * Context: Process context, kprobe_mutex held.
 */
void kprobe_each_listed(const struct module *mod, kprobe_listed_t *note, void *data)
{
	const struct exception_table_entry *e, *last;
#ifdef CONFIG_JUMP_LABEL
	const struct jump_entry *key, *end;

	key = kprobe_index_of(mod, mod->jump_entries, __start___jump_table);
	end = kprobe_index_of(mod, key + mod->num_jump_entries, __stop___jump_table);
	for (; key < end; key++)
		note(data, jump_entry_code(key), jump_entry_target(key), false);
#endif
	e = kprobe_index_of(mod, mod->extable, __start___ex_table);
	last = kprobe_index_of(mod, e + mod->num_exentries, __stop___ex_table);
	for (; e < last; e++)
		note(data, (unsigned long)&e->insn + e->insn,
		     (unsigned long)&e->fixup + e->fixup, true);
}
#endif

#ifdef CONFIG_MODULES
/*
 * The symbols of a module. The kernel's own are sorted, but kallsyms searches all of a module to
 * answer one question. So there are two indexes of them, for modules that are live: the symbols
 * that a module has only until then are not in core_kallsyms. The upper half of a key is what is
 * searched for, the lower the number of the symbol. They are sorted at the second question in a
 * row about one module.
 */

static const char *symbol_name(const struct mod_kallsyms *kallsyms, unsigned int number)
{
	return kallsyms->strtab + kallsyms->symtab[number].st_name;
}

/* The symbols of the text by offset: those that kallsyms_lookup() considers. */
static void collect_symbols(struct kprobe_keys *list, const struct module *mod)
{
	const struct mod_kallsyms *kallsyms = &mod->core_kallsyms;
	unsigned long start = (unsigned long)mod->mem[MOD_TEXT].base;
	unsigned int i;

	/* The first entry of a symbol table is not a symbol. */
	for (i = 1; i < kallsyms->num_symtab; i++) {
		unsigned long offset = kallsyms_symbol_value(&kallsyms->symtab[i]) - start;
		const char *name = symbol_name(kallsyms, i);

		if (offset < mod->mem[MOD_TEXT].size &&
		    kallsyms->symtab[i].st_shndx != SHN_UNDEF && *name && !is_mapping_symbol(name))
			kprobe_index_add(list, (u64)offset << 32 | i);
	}
}

static struct kprobe_index symbol_index = { .collect = collect_symbols, .second = true };

static u64 symbol_name_key(const char *name)
{
	return (u64)full_name_hash(NULL, name, strlen(name)) << 32;
}

static void collect_names(struct kprobe_keys *list, const struct module *mod)
{
	const struct mod_kallsyms *kallsyms = &mod->core_kallsyms;
	unsigned int i;

	for (i = 1; i < kallsyms->num_symtab; i++) {
		if (kallsyms->symtab[i].st_shndx != SHN_UNDEF)
			kprobe_index_add(list, symbol_name_key(symbol_name(kallsyms, i)) | i);
	}
}

static struct kprobe_index name_index = { .collect = collect_names, .second = true };

/* Look up the symbol at @addr. Return 1, 0 if there is none, or an error: then ask kallsyms. */
static int symbols_find(unsigned long addr, struct kprobe_function *fn, char *name)
{
	const struct kprobe_keys *list;
	const struct module *mod;
	unsigned int after, best;
	unsigned long start;

	/* Nobody need hold the module. If it is live, kprobe_mutex keeps it from being freed. */
	scoped_guard(preempt) {
		mod = __module_text_address(addr);
		if (mod && mod->state != MODULE_STATE_LIVE)
			mod = NULL;
	}
	if (!mod || !within_module_mem_type(addr, mod, MOD_TEXT))
		return -EAGAIN;
	list = index_of_module(&symbol_index, mod);
	if (IS_ERR(list))
		return PTR_ERR(list);

	start = (unsigned long)mod->mem[MOD_TEXT].base;
	after = keys_below(list, (u64)(addr - start + 1) << 32);
	if (!after)
		return 0;

	/* Of several symbols there, take the first. */
	best = keys_below(list, list->keys[after - 1] & ~(u64)U32_MAX);
	fn->start = start + (list->keys[best] >> 32);
	fn->end = start + (after < list->nr ? list->keys[after] >> 32 : mod->mem[MOD_TEXT].size);
	strscpy(name, symbol_name(&mod->core_kallsyms, (u32)list->keys[best]), KSYM_NAME_LEN);

	return 1;
}

/* Return the address of symbol number @n with the name @name in @mod, 0 if there are fewer. */
static unsigned long symbols_nth_named(const struct module *mod, const char *name, unsigned int n)
{
	const struct mod_kallsyms *kallsyms = &mod->core_kallsyms;
	const struct kprobe_keys *list = ERR_PTR(-EAGAIN);
	u64 key = symbol_name_key(name);
	unsigned int i;

	if (mod->state == MODULE_STATE_LIVE)
		list = index_of_module(&name_index, mod);
	if (!IS_ERR(list)) {
		for (i = keys_below(list, key); i < list->nr; i++) {
			unsigned int number = (u32)list->keys[i];

			if (list->keys[i] - number != key)
				break;
			if (!strcmp(symbol_name(kallsyms, number), name) && !n--)
				return kallsyms_symbol_value(&kallsyms->symtab[number]);
		}
		return 0;
	}

	guard(preempt)();
	kallsyms = rcu_dereference_sched(mod->kallsyms);
	for (i = 1; i < kallsyms->num_symtab; i++) {
		if (kallsyms->symtab[i].st_shndx != SHN_UNDEF &&
		    !strcmp(symbol_name(kallsyms, i), name) && !n--)
			return kallsyms_symbol_value(&kallsyms->symtab[i]);
	}

	return 0;
}

/*
 * Return the address of @name, "module:symbol", if that module is live; 0 if the symbol is not
 * found. Finds what module_kallsyms_lookup_name() finds.
 */
unsigned long kprobe_module_symbol(const char *name)
{
	const char *colon = strnchr(name, MODULE_NAME_LEN, ':');
	char buf[MODULE_NAME_LEN];
	const struct module *mod;

	if (!colon)
		return 0;

	strscpy(buf, name, colon - name + 1);
	scoped_guard(preempt) {
		mod = find_module(buf);
		if (mod && mod->state != MODULE_STATE_LIVE)
			mod = NULL;
	}

	return mod ? symbols_nth_named(mod, colon + 1, 0) : 0;
}
#else
static int symbols_find(unsigned long addr, struct kprobe_function *fn, char *name)
{
	return -EAGAIN;
}

static unsigned long symbols_nth_named(const struct module *mod, const char *name, unsigned int n)
{
	return 0;
}
#endif /* CONFIG_MODULES */

/*
 * The function looked at last. Callers ask several questions about each address, and mostly about
 * several addresses of one function in a row.
 */
static char function_name[KSYM_NAME_LEN];
static struct kprobe_function function;

/**
 * kprobe_lookup_name() - find the text of a symbol
 * @name: the symbol, "module:symbol" for one of a module
 * @offset: bytes that the caller is going to add, for architectures with more
 *	than one entry to a function
 *
 * Context: Any, as of within_kprobe_blacklist(). Takes no lock.
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
 * @fn: start, end and name are filled in; the name is valid until the next call
 *
 * Does what kallsyms_lookup() does, but does not search all symbols of a module for
 * each address.
 *
 * Context: Process context, may sleep, kprobe_mutex held.
 * Return: true if there is one.
 */
bool kprobe_find_symbol(unsigned long addr, struct kprobe_function *fn)
{
	static char name[KSYM_NAME_LEN];
	unsigned long size, offset;
	char *module;
	int there;

	lockdep_assert_held(&kprobe_mutex);
	fn->name = name;
	there = core_kernel_text(addr) ? -EAGAIN : symbols_find(addr, fn, name);
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
	const struct module *mod;
	unsigned long where;
	int n, ret = 0;

	lockdep_assert_held(&kprobe_mutex);
	if (core_kernel_text(addr))
		return kallsyms_on_each_match_symbol(fn, name, data);

	mod = module_of_text(addr);
	/* @fn may look up symbols of another module, so search again each time. */
	for (n = 0; mod && !ret && (where = symbols_nth_named(mod, name, n)); n++)
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

/*
 * Text that static keys and static calls rewrite in place. The predicates of jump labels and
 * of static calls scan whole tables, so call them only if the index has a site nearby.
 */

static void collect_sites(struct kprobe_keys *list, const struct module *mod)
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
	const u64 *first;

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

/**
 * kprobe_function_of() - look up the function that an address is in
 * @addr: the address
 *
 * Context: Process context, kprobe_mutex held.
 * Return: the function, valid until the next call; NULL when there is none.
 */
struct kprobe_function *kprobe_function_of(unsigned long addr)
{
	lockdep_assert_held(&kprobe_mutex);
	if (addr >= function.start && addr < function.end)
		return &function;

	function = (struct kprobe_function){};
	if (!kprobe_find_symbol(addr, &function))
		return NULL;
	strscpy(function_name, function.name);
	function.name = function_name;
	function.decoded = function.start;
	function.has_sites = -1;
	function.is_blacklisted_clone = -1;

	return &function;
}

/* Text comes or goes: forget all that is not the kernel's own, and the function looked at last. */
void kprobe_function_forget(void)
{
	struct kprobe_index *index;

	lockdep_assert_held(&kprobe_mutex);
	function = (struct kprobe_function){};
	hlist_for_each_entry(index, &indexes, link)
		index_forget_module(index);
}
