// SPDX-License-Identifier: GPL-2.0-only
/*
 * The symbols of a module.
 *
 * The kernel's own symbols are sorted. Those of a module are not, and kallsyms searches
 * all of them to answer one question. When a module is asked about for the second time in
 * a row, its symbols are sorted here and then searched: by address for one kind of
 * question, by name for the other. Only one module's symbols are kept, until any module
 * comes or goes.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/module.h>
#include <linux/module_symbol.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include "internal.h"

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
 * @mod: the module, NULL if none are sorted
 * @kallsyms: its symbol table at the time of sorting
 * @symbols: sorted by key, then by index
 * @nr: how many there are
 */
struct sorted_symbols {
	const struct module *mod;
	const struct mod_kallsyms *kallsyms;
	struct keyed_symbol *symbols;
	unsigned int nr;
};

/* The symbols of the text by offset, and all symbols by name. */
static struct sorted_symbols symbols_by_offset, symbols_by_name;

/* The modules asked about last. Only compare these pointers: the modules may be gone. */
static const struct module *module_asked_by_offset, *module_asked_by_name;

static void symbols_forget_sorted(struct sorted_symbols *sorted)
{
	sorted->mod = NULL;
	kvfree(sorted->symbols);
	sorted->symbols = NULL;
}

/* Forget the sorted symbols: their module may be about to go. */
void kprobe_symbols_forget(void)
{
	lockdep_assert_held(&kprobe_mutex);
	module_asked_by_offset = NULL;
	module_asked_by_name = NULL;
	symbols_forget_sorted(&symbols_by_offset);
	symbols_forget_sorted(&symbols_by_name);
}

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

static struct keyed_symbol *symbols_alloc(unsigned int room)
{
	return kvmalloc_array(room, sizeof(struct keyed_symbol), GFP_KERNEL | __GFP_NOWARN);
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

/* List the symbols in the text of @mod, @room of them at most. */
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

static unsigned int symbols_count(unsigned long addr)
{
	struct module *mod;

	guard(preempt)();
	mod = settled_module(addr);

	return mod ? rcu_dereference_sched(mod->kallsyms)->num_symtab : 0;
}

/* Sort the symbols of the module that contains @addr. Without memory none are sorted. */
static void symbols_sort(unsigned long addr)
{
	unsigned int room = symbols_count(addr);
	struct keyed_symbol *symbols;
	struct module *mod;

	symbols_forget_sorted(&symbols_by_offset);
	symbols = room ? symbols_alloc(room) : NULL;
	if (!symbols)
		return;

	scoped_guard(preempt) {
		mod = settled_module(addr);
		if (mod) {
			symbols_by_offset.kallsyms = rcu_dereference_sched(mod->kallsyms);
			symbols_by_offset.nr = symbols_list(mod, symbols_by_offset.kallsyms,
							    symbols, room);
		}
	}
	if (mod)
		sort(symbols, symbols_by_offset.nr, sizeof(*symbols), symbol_cmp, NULL);
	symbols_by_offset.mod = mod;
	symbols_by_offset.symbols = symbols;
}

/* Search the sorted symbols for @addr. Return false if none is at or before it. */
static bool symbols_find_sorted(const struct module *mod, unsigned long addr,
				struct kprobe_function *fn, char *name)
{
	unsigned long start = (unsigned long)mod->mem[MOD_TEXT].base;
	unsigned int behind = symbols_below(&symbols_by_offset, addr - start + 1), best;
	const struct keyed_symbol *symbols = symbols_by_offset.symbols;

	if (!behind)
		return false;

	for (best = behind - 1; best; best--) {
		if (symbols[best - 1].key != symbols[best].key)
			break;
	}
	fn->start = start + symbols[best].key;
	fn->end = start + (behind < symbols_by_offset.nr ? symbols[behind].key :
							   mod->mem[MOD_TEXT].size);
	strscpy(name, symbol_name(symbols_by_offset.kallsyms, symbols[best].index), KSYM_NAME_LEN);

	return true;
}

/* Was the previous question about the same module? */
static bool module_is_asked_again(unsigned long addr)
{
	const struct module *before = module_asked_by_offset;

	guard(preempt)();
	module_asked_by_offset = settled_module(addr);

	return module_asked_by_offset && module_asked_by_offset == before;
}

/*
 * Return the module whose symbols are sorted, if it contains @addr. It cannot be freed yet: it
 * was live with kprobe_mutex held, and kprobe_symbols_forget() runs before it goes. Preemption
 * is disabled.
 */
static const struct module *symbols_sorted_module(const struct sorted_symbols *sorted,
						  unsigned long addr)
{
	const struct module *mod = sorted->mod;

	return mod && within_module_mem_type(addr, mod, MOD_TEXT) &&
	       mod->state == MODULE_STATE_LIVE &&
	       rcu_dereference_sched(mod->kallsyms) == sorted->kallsyms ? mod : NULL;
}

/* Return false if the symbols of the module are not sorted. */
static bool symbols_ask_sorted(unsigned long addr, struct kprobe_function *fn, char *name,
			       bool *found)
{
	const struct module *mod;

	guard(preempt)();
	mod = symbols_sorted_module(&symbols_by_offset, addr);
	if (mod)
		*found = symbols_find_sorted(mod, addr, fn, name);

	return mod;
}

/*
 * Look up the symbol that contains @addr. Return false if kallsyms has to be asked;
 * otherwise @found tells whether there is a symbol.
 */
bool kprobe_symbols_find(unsigned long addr, struct kprobe_function *fn, char *name, bool *found)
{
	if (symbols_ask_sorted(addr, fn, name, found))
		return true;
	if (!module_is_asked_again(addr))
		return false;
	symbols_sort(addr);
	module_asked_by_offset = symbols_by_offset.mod;

	return symbols_ask_sorted(addr, fn, name, found);
}

static u32 symbol_name_hash(const char *name)
{
	return full_name_hash(NULL, name, strlen(name));
}

/* List the names of all symbols, @room of them at most. */
static unsigned int symbols_list_names(const struct mod_kallsyms *kallsyms,
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

/*
 * Sort the names of @mod, which was live a moment ago and cannot go: its notification
 * waits for kprobe_mutex. Without memory none are sorted.
 */
static void symbols_sort_names(const struct module *mod)
{
	struct keyed_symbol *symbols;
	unsigned int room;

	symbols_forget_sorted(&symbols_by_name);
	scoped_guard(preempt)
		room = rcu_dereference_sched(mod->kallsyms)->num_symtab;
	symbols = symbols_alloc(room);
	if (!symbols)
		return;

	scoped_guard(preempt) {
		symbols_by_name.kallsyms = rcu_dereference_sched(mod->kallsyms);
		symbols_by_name.nr = symbols_list_names(symbols_by_name.kallsyms, symbols, room);
	}
	sort(symbols, symbols_by_name.nr, sizeof(*symbols), symbol_cmp, NULL);
	symbols_by_name.mod = mod;
	symbols_by_name.symbols = symbols;
}

/* Are the names of @mod sorted? Preemption is disabled. */
static bool symbols_names_are_sorted(const struct module *mod)
{
	return mod && mod == symbols_by_name.mod &&
	       rcu_dereference_sched(mod->kallsyms) == symbols_by_name.kallsyms;
}

/* Should the names of @mod, which is settled or NULL, be sorted? Preemption is disabled. */
static bool symbols_should_sort_names(const struct module *mod)
{
	const struct module *before = module_asked_by_name;

	lockdep_assert_held(&kprobe_mutex);
	module_asked_by_name = mod;

	return mod && mod == before && !symbols_names_are_sorted(mod);
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
unsigned long kprobe_symbols_nth_named(unsigned long addr, const char *name, unsigned int n)
{
	const struct module *mod;
	bool wanted;

	scoped_guard(preempt) {
		mod = symbols_sorted_module(&symbols_by_name, addr) ?: settled_module(addr);
		wanted = symbols_should_sort_names(mod);
	}
	if (wanted)
		symbols_sort_names(mod);

	guard(preempt)();
	if (symbols_sorted_module(&symbols_by_name, addr))
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
unsigned long kprobe_symbols_lookup(const char *name)
{
	const struct module *mod;
	bool wanted;

	scoped_guard(preempt) {
		mod = settled_module_named(name);
		wanted = symbols_should_sort_names(mod);
	}
	if (wanted)
		symbols_sort_names(mod);

	guard(preempt)();

	return symbols_names_are_sorted(mod) ? symbols_nth_sorted(strchr(name, ':') + 1, 0) : 0;
}
