// SPDX-License-Identifier: GPL-2.0-only
/*
 * The symbols of a module.
 *
 * The kernel's own symbols are sorted. Those of a module are not, and kallsyms looks at
 * each of them to answer one question. When a module is asked about for the second time
 * in a row its symbols are sorted here, and searched from then on. Only one module's
 * symbols are kept, until any module comes or goes.
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

#include "check.h"
#include "point.h"

/**
 * struct sorted_symbol - a symbol of the text of a module
 * @offset: where it is
 * @index: in the symbol table
 */
struct sorted_symbol {
	u32 offset;
	u32 index;
};

/**
 * struct named_symbol - a symbol of the text of a module, found by its name
 * @hash: of the name
 * @index: in the symbol table
 */
struct named_symbol {
	u32 hash;
	u32 index;
};

/**
 * struct module_symbols - the symbols of a module's text
 * @mod: the module, NULL if no symbols are sorted
 * @kallsyms: its symbol table at the time of sorting
 * @symbols: sorted by address, then by index
 * @names: sorted by hash, NULL until the first search for a name
 * @nr: how many
 */
static struct module_symbols {
	const struct module *mod;
	const struct mod_kallsyms *kallsyms;
	struct sorted_symbol *symbols;
	struct named_symbol *names;
	unsigned int nr;
} sorted;

/* The module asked about last. Compare only: it may be gone. */
static const struct module *asked;

/* Forget the sorted symbols: their module may be about to go. */
void kprobe_symbols_forget(void)
{
	lockdep_assert_held(&kprobe_mutex);
	asked = NULL;
	sorted.mod = NULL;
	kvfree(sorted.symbols);
	sorted.symbols = NULL;
	kvfree(sorted.names);
	sorted.names = NULL;
}

static const char *symbol_name(const struct mod_kallsyms *kallsyms, unsigned int index)
{
	return kallsyms->strtab + kallsyms->symtab[index].st_name;
}

/* kallsyms_lookup() ignores the other symbols. */
static bool symbol_counts(const struct mod_kallsyms *kallsyms, unsigned int index)
{
	const char *name = symbol_name(kallsyms, index);

	return kallsyms->symtab[index].st_shndx != SHN_UNDEF && *name && !is_mapping_symbol(name);
}

/*
 * The module whose text @addr is in, if it is live. A module that is being loaded still
 * has symbols that it will lose, and the notifier does not tell when one fails to load.
 */
static struct module *settled_module(unsigned long addr)
{
	struct module *mod = __module_address(addr);

	return mod && mod->state == MODULE_STATE_LIVE &&
	       within_module_mem_type(addr, mod, MOD_TEXT) ? mod : NULL;
}

static int symbol_cmp(const void *a, const void *b)
{
	const struct sorted_symbol *l = a, *r = b;

	if (l->offset != r->offset)
		return l->offset < r->offset ? -1 : 1;

	return l->index < r->index ? -1 : 1;
}

/* List the symbols in the text of @mod, @room of them at most. */
static unsigned int list_symbols(const struct module *mod, const struct mod_kallsyms *kallsyms,
				 struct sorted_symbol *symbols, unsigned int room)
{
	unsigned long start = (unsigned long)mod->mem[MOD_TEXT].base;
	unsigned int i, nr = 0;

	/* The first entry of a symbol table is none. */
	for (i = 1; i < kallsyms->num_symtab && nr < room; i++) {
		unsigned long offset = kallsyms_symbol_value(&kallsyms->symtab[i]) - start;

		if (offset < mod->mem[MOD_TEXT].size && symbol_counts(kallsyms, i))
			symbols[nr++] = (struct sorted_symbol){ offset, i };
	}

	return nr;
}

static unsigned int count_symbols(unsigned long addr)
{
	struct module *mod;

	guard(preempt)();
	mod = settled_module(addr);

	return mod ? rcu_dereference_sched(mod->kallsyms)->num_symtab : 0;
}

/* Sort the symbols of the module that @addr is in. Without memory none are sorted. */
static void sort_symbols(unsigned long addr)
{
	unsigned int room = count_symbols(addr);
	struct sorted_symbol *symbols;
	struct module *mod;

	kprobe_symbols_forget();
	symbols = room ? kvmalloc_array(room, sizeof(*symbols), GFP_KERNEL | __GFP_NOWARN) : NULL;
	if (!symbols)
		return;

	scoped_guard(preempt) {
		mod = settled_module(addr);
		if (mod) {
			sorted.kallsyms = rcu_dereference_sched(mod->kallsyms);
			sorted.nr = list_symbols(mod, sorted.kallsyms, symbols, room);
		}
	}
	if (mod)
		sort(symbols, sorted.nr, sizeof(*symbols), symbol_cmp, NULL);
	sorted.mod = mod;
	sorted.symbols = symbols;
}

/* The number of sorted symbols that are at @offset or before. */
static unsigned int symbols_up_to(u32 offset)
{
	unsigned int low = 0, high = sorted.nr;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (sorted.symbols[mid].offset <= offset)
			low = mid + 1;
		else
			high = mid;
	}

	return low;
}

/* Search the sorted symbols for @addr. Returns false if no symbol is before it. */
static bool find_sorted(const struct module *mod, unsigned long addr, struct kprobe_function *fn,
			char *name)
{
	unsigned long start = (unsigned long)mod->mem[MOD_TEXT].base;
	unsigned int behind = symbols_up_to(addr - start), best;

	if (!behind)
		return false;

	for (best = behind - 1; best; best--) {
		if (sorted.symbols[best - 1].offset != sorted.symbols[best].offset)
			break;
	}
	fn->start = start + sorted.symbols[best].offset;
	fn->end = start + (behind < sorted.nr ? sorted.symbols[behind].offset :
						mod->mem[MOD_TEXT].size);
	strscpy(name, symbol_name(sorted.kallsyms, sorted.symbols[best].index), KSYM_NAME_LEN);

	return true;
}

/* Returns true if the question before this one was about the same module. */
static bool is_asked_again(unsigned long addr)
{
	const struct module *before = asked;

	guard(preempt)();
	asked = settled_module(addr);

	return asked && asked == before;
}

/* The module that @addr is in, if its symbols are sorted. Preemption is disabled. */
static const struct module *sorted_module(unsigned long addr)
{
	const struct module *mod = settled_module(addr);

	return mod && mod == sorted.mod &&
	       rcu_dereference_sched(mod->kallsyms) == sorted.kallsyms ? mod : NULL;
}

/* Returns false if the symbols of the module are not sorted. */
static bool ask_sorted(unsigned long addr, struct kprobe_function *fn, char *name, bool *found)
{
	const struct module *mod;

	guard(preempt)();
	mod = sorted_module(addr);
	if (mod)
		*found = find_sorted(mod, addr, fn, name);

	return mod;
}

/*
 * Look up the symbol that @addr is in. Returns false if kallsyms has to be asked, and
 * whether there is a symbol in @found otherwise.
 */
bool kprobe_symbols_find(unsigned long addr, struct kprobe_function *fn, char *name, bool *found)
{
	if (ask_sorted(addr, fn, name, found))
		return true;
	if (!is_asked_again(addr))
		return false;
	sort_symbols(addr);
	asked = sorted.mod;

	return ask_sorted(addr, fn, name, found);
}

static u32 hash_of_name(const char *name)
{
	return full_name_hash(NULL, name, strlen(name));
}

static int name_cmp(const void *a, const void *b)
{
	const struct named_symbol *l = a, *r = b;

	if (l->hash != r->hash)
		return l->hash < r->hash ? -1 : 1;

	return l->index < r->index ? -1 : 1;
}

/* Sort the names of the symbols that are sorted by address. */
static void sort_names(unsigned long addr)
{
	struct named_symbol *names;
	unsigned int i;

	names = kvmalloc_array(sorted.nr + 1, sizeof(*names), GFP_KERNEL | __GFP_NOWARN);
	if (!names)
		return;

	scoped_guard(preempt) {
		for (i = 0; i < sorted.nr && sorted_module(addr); i++) {
			names[i].index = sorted.symbols[i].index;
			names[i].hash = hash_of_name(symbol_name(sorted.kallsyms,
								 names[i].index));
		}
	}
	sort(names, i, sizeof(*names), name_cmp, NULL);
	sorted.names = names;
}

/* The first of the sorted names whose hash is not below @hash. */
static unsigned int first_named(u32 hash)
{
	unsigned int low = 0, high = sorted.nr;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (sorted.names[mid].hash < hash)
			low = mid + 1;
		else
			high = mid;
	}

	return low;
}

/* The address of symbol number @n of those called @name, 0 when there are not that many. */
static unsigned long nth_sorted(const char *name, unsigned int n)
{
	const struct mod_kallsyms *kallsyms = sorted.kallsyms;
	u32 hash = hash_of_name(name);
	unsigned int i;

	for (i = first_named(hash); i < sorted.nr && sorted.names[i].hash == hash; i++) {
		if (!strcmp(symbol_name(kallsyms, sorted.names[i].index), name) && !n--)
			return kallsyms_symbol_value(&kallsyms->symtab[sorted.names[i].index]);
	}

	return 0;
}

/* The same without sorted names. */
static unsigned long nth_unsorted(const struct mod_kallsyms *kallsyms, const char *name,
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
 * The address of symbol number @n of those called @name in the module that @addr is in,
 * 0 if there are not that many. The module must have a probe or be held.
 */
unsigned long kprobe_symbols_nth_named(unsigned long addr, const char *name, unsigned int n)
{
	const struct module *mod;
	bool is_sorted;

	scoped_guard(preempt)
		is_sorted = sorted_module(addr);
	if (is_sorted && !sorted.names)
		sort_names(addr);

	guard(preempt)();
	if (sorted_module(addr) && sorted.names)
		return nth_sorted(name, n);
	mod = __module_text_address(addr);

	return mod ? nth_unsorted(rcu_dereference_sched(mod->kallsyms), name, n) : 0;
}
