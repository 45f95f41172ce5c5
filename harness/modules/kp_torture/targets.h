/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KP_TORTURE_TARGETS_H
#define _KP_TORTURE_TARGETS_H

#include <linux/types.h>

/* Results and paths depend only on the lower bits of the first argument. */
#define NR_INPUTS	8

typedef unsigned long (target_code)(unsigned long n, unsigned long *mem);
typedef unsigned long (*target_fn)(unsigned long n, unsigned long *mem);

struct target_function {
	const char *name;
	target_fn fn;
	bool shared;		/* others in the table call it, too, with any argument */
};

#define MAX_TARGETS	200

extern const struct target_function many_functions[], dense_functions[];
extern const unsigned int nr_many_functions, nr_dense_functions;

/* Let some of the many functions take other paths, with the same results. */
void targets_flip(bool key, bool call);

/* Called by the others. The first one may sleep. */
unsigned long kp_target_sleeper(unsigned long n);
target_code kp_target_leaf;

/* dense_x86_64.S */
target_code kp_target_short, kp_target_branch, kp_target_callback, kp_target_load,
	    kp_target_flags, kp_target_returns, kp_target_tail, kp_target_stack;

/* Store its first argument at the second, which may be user memory. Returns 0, or -1 on a fault. */
target_code kp_target_store;

#endif
