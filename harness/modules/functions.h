/* SPDX-License-Identifier: GPL-2.0-only */
/* Finding the functions of the kernel, for modules that probe all of them. */
#ifndef _KP_FUNCTIONS_H
#define _KP_FUNCTIONS_H

#include <linux/compiler.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define MAX_FUNCTIONS	100000

/* Addresses of _stext, _etext and kallsyms_on_each_symbol(), which are not exported. */
static ulong start, end, each;
module_param(start, ulong, 0444);
module_param(end, ulong, 0444);
module_param(each, ulong, 0444);

static unsigned long *functions;
static uint nr_functions;

/*
 * Add the address of a symbol if this is the first name of a function. The parts that compilers
 * split off a function are not called but jumped to.
 */
static int add_function(void *unused, const char *name, unsigned long addr)
{
	bool is_next = !nr_functions || functions[nr_functions - 1] != addr;

	if (addr >= start && addr < end && is_next && name[0] && !strstr(name, ".cold") &&
	    !str_has_prefix(name, "__pfx_") && !str_has_prefix(name, "__cfi_"))
		functions[nr_functions++] = addr;
	return nr_functions == MAX_FUNCTIONS;
}

/* Fill in functions[], which the caller frees. kCFI would compare the types of the call. */
static noinline __nocfi int find_functions(void)
{
	int (*each_symbol)(int (*fn)(void *, const char *, unsigned long), void *data) =
		(void *)each;

	nr_functions = 0;
	functions = vmalloc_array(MAX_FUNCTIONS, sizeof(*functions));
	if (!functions)
		return -ENOMEM;
	if (each)
		each_symbol(add_function, NULL);
	return nr_functions ? 0 : -ENOENT;
}

#endif /* _KP_FUNCTIONS_H */
