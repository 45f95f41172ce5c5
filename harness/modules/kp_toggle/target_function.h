/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KP_TOGGLE_TARGET_FUNCTION_H
#define _KP_TOGGLE_TARGET_FUNCTION_H

/* Results and paths depend only on the lower bits of the first argument. */
#define NR_INPUTS	8

typedef unsigned long (*target_fn)(unsigned long n, unsigned long *mem);

struct target_function {
	const char *name;
	target_fn fn;
};

extern const struct target_function target_functions[];
extern const unsigned int nr_target_functions;

#endif
