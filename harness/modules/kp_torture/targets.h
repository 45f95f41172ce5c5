/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KP_TORTURE_TARGETS_H
#define _KP_TORTURE_TARGETS_H

#include <linux/types.h>

/* Results and paths depend on the first argument only, which is less than this. */
#define NR_INPUTS	8

typedef unsigned long (*target_fn)(unsigned long n, unsigned long *mem);

struct target_function {
	const char *name;
	target_fn fn;
};

extern const struct target_function target_functions[];
extern const unsigned int nr_target_functions;

/* Have the functions go other ways, with the same results. */
void targets_flip(bool key, bool call);

#endif
