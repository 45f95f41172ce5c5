/* SPDX-License-Identifier: GPL-2.0-only */
/* Finding the functions of the kernel, for modules that probe all of them. */
#ifndef _KP_FUNCTIONS_H
#define _KP_FUNCTIONS_H

#include <linux/kallsyms.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define MAX_FUNCTIONS	100000

/* Addresses of _stext and _etext, which are not exported. */
static ulong start, end;
module_param(start, ulong, 0444);
module_param(end, ulong, 0444);

static unsigned long *functions;
static uint nr_functions;

/* The parts that compilers split off a function are not called but jumped to. */
static bool is_function(const char *name)
{
	return !strstr(name, ".cold") && !str_has_prefix(name, "__pfx_") &&
	       !str_has_prefix(name, "__cfi_");
}

/* Fill in functions[], which the caller frees, from one symbol to the next. */
static int find_functions(void)
{
	char name[KSYM_SYMBOL_LEN];
	unsigned long addr, size;

	nr_functions = 0;
	functions = vmalloc_array(MAX_FUNCTIONS, sizeof(*functions));
	if (!functions)
		return -ENOMEM;
	for (addr = start; addr < end && nr_functions < MAX_FUNCTIONS; addr += size) {
		sprint_symbol(name, addr);
		if (sscanf(strrchr(name, '/') ?: "", "/%lx", &size) != 1 || !size)
			return -ENOENT;
		if (is_function(name))
			functions[nr_functions++] = addr;
	}

	return nr_functions ? 0 : -ENOENT;
}

#endif /* _KP_FUNCTIONS_H */
