/* SPDX-License-Identifier: GPL-2.0-only */
/* Finding the functions of the kernel, for modules that probe all of them. */
#ifndef _KP_FUNCTIONS_H
#define _KP_FUNCTIONS_H

#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

/*
 * Is this symbol the first name of a function in [@start, @end)? For one symbol after the
 * other, as for_each_symbol() finds them. The parts that compilers split off a function are not
 * called but jumped to.
 */
static bool is_function(const char *name, unsigned long addr, unsigned long start,
			unsigned long end)
{
	static unsigned long last;

	if (addr < start || addr >= end || addr == last || !name[0] || strstr(name, ".cold") ||
	    str_has_prefix(name, "__pfx_") || str_has_prefix(name, "__cfi_"))
		return false;
	last = addr;
	return true;
}

/*
 * Call kallsyms_on_each_symbol(), which is not exported, by its address @each. kCFI would
 * compare the types.
 */
static noinline __nocfi void for_each_symbol(unsigned long each,
					     int (*fn)(void *, const char *, unsigned long))
{
	int (*each_symbol)(int (*fn)(void *, const char *, unsigned long), void *data) =
		(void *)each;

	each_symbol(fn, NULL);
}

#endif /* _KP_FUNCTIONS_H */
