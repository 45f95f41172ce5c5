/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KP_TORTURE_TARGETS_H
#define _KP_TORTURE_TARGETS_H

#include <linux/types.h>

/* Results and paths depend only on the lower bits of the first argument. */
#define NR_INPUTS	8

typedef unsigned long (*target_fn)(unsigned long n, unsigned long *mem);

struct target_function {
	const char *name;
	target_fn fn;
	bool shared;		/* others in the table call it, too, with any argument */
};

extern const struct target_function many_functions[], dense_functions[];
extern const unsigned int nr_many_functions, nr_dense_functions;

/* Let some of the many functions take other paths, with the same results. */
void targets_flip(bool key, bool call);

/* Called by the others. The first one may sleep. */
unsigned long kp_target_sleeper(unsigned long n);
unsigned long kp_target_leaf(unsigned long n, unsigned long *mem);

/* dense_x86_64.S */
#ifdef CONFIG_X86_64
unsigned long kp_target_short(unsigned long n, unsigned long *mem);
unsigned long kp_target_branch(unsigned long n, unsigned long *mem);
unsigned long kp_target_callback(unsigned long n, unsigned long *mem);
unsigned long kp_target_load(unsigned long n, unsigned long *mem);
unsigned long kp_target_flags(unsigned long n, unsigned long *mem);
unsigned long kp_target_returns(unsigned long n, unsigned long *mem);
unsigned long kp_target_tail(unsigned long n, unsigned long *mem);
unsigned long kp_target_stack(unsigned long n, unsigned long *mem);

/* Store @n at @to, which may be user memory. Returns 0, or -1 on a fault. */
unsigned long kp_target_store(unsigned long n, unsigned long *to);
#endif

#endif
