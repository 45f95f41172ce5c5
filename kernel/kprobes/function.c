// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks up the function that contains an address. Callers ask several questions about
 * each address, and mostly about several addresses of one function in a row, while a
 * look-up may search all symbols of a module. So the last answer is kept until text comes
 * or goes.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/string.h>

#include "internal.h"

static char cached_function_name[KSYM_NAME_LEN];
static struct kprobe_function cached_function = { .name = cached_function_name };

/* Bits by enum function_fact: tested for the cached function, and true of it. */
static unsigned long facts_tested, facts_true;

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
	bool there;

	lockdep_assert_held(&kprobe_mutex);
	if (!core_kernel_text(addr) && kprobe_symbols_find(addr, fn, name, &there))
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
	unsigned int n;
	int ret = 0;

	lockdep_assert_held(&kprobe_mutex);
	if (core_kernel_text(addr))
		return kallsyms_on_each_match_symbol(fn, name, data);

	/* @fn may look up symbols of another module, so search again each time. */
	for (n = 0; !ret && (where = kprobe_symbols_nth_named(addr, name, n)); n++)
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
	kprobe_symbols_forget();
	kprobe_indexes_forget();
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
