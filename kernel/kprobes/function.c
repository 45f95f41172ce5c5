// SPDX-License-Identifier: GPL-2.0-only
/*
 * The function that an address is in. Several questions are asked about each
 * address, and mostly about several addresses of one function in a row, while a
 * look-up may search all symbols of a module: so the last answer is kept, until
 * text comes or goes.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>

#include "check.h"
#include "point.h"

static char last_name[KSYM_NAME_LEN];
static struct kprobe_function last = { .name = last_name };

/* Facts about the cached function: which are known, and which of those hold. */
static unsigned long known, found;

/**
 * kprobe_function_of() - look up the function that an address is in
 * @addr: the address
 *
 * Context: Process context, kprobe_mutex held.
 * Return: the function, valid until the next call; NULL when there is none.
 */
const struct kprobe_function *kprobe_function_of(unsigned long addr)
{
	unsigned long size, offset;
	char *module;

	lockdep_assert_held(&kprobe_mutex);
	if (addr >= last.start && addr < last.end)
		return &last;

	function_forget();
	if (!kallsyms_lookup(addr, &size, &offset, &module, last_name))
		return NULL;

	last.start = addr - offset;
	last.end = last.start + size;

	return &last;
}

/* Drop the cached function: symbols were added or removed. */
void function_forget(void)
{
	lockdep_assert_held(&kprobe_mutex);
	last.start = 0;
	last.end = 0;
	last.serial++;
	known = 0;
}

/*
 * Evaluate a per-function fact once; for most functions it is false, which saves a
 * search for each of their addresses.
 */
bool function_is(unsigned long addr, enum function_fact fact,
		 bool (*test)(const struct kprobe_function *fn))
{
	const struct kprobe_function *fn = kprobe_function_of(addr);

	if (!fn)
		return false;
	if (!__test_and_set_bit(fact, &known))
		__assign_bit(fact, &found, test(fn));

	return test_bit(fact, &found);
}
