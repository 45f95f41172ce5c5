/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KP_TOGGLE_TARGETS_H
#define _KP_TOGGLE_TARGETS_H

/* Results and paths depend on the lower bits of the first argument only. */
#define NR_INPUTS	8

typedef unsigned long (*target_fn)(unsigned long n, unsigned long *mem);

struct target_function {
	const char *name;
	target_fn fn;
};

extern const struct target_function target_functions[];
extern const unsigned int nr_target_functions;

/* In assembly. */
#ifdef CONFIG_X86_64
unsigned long kp_target_short(unsigned long n, unsigned long *mem);
unsigned long kp_target_branch(unsigned long n, unsigned long *mem);
unsigned long kp_target_callback(unsigned long n, unsigned long *mem);
unsigned long kp_target_load(unsigned long n, unsigned long *mem);
unsigned long kp_target_flags(unsigned long n, unsigned long *mem);
unsigned long kp_target_returns(unsigned long n, unsigned long *mem);
unsigned long kp_target_tail(unsigned long n, unsigned long *mem);
unsigned long kp_target_stack(unsigned long n, unsigned long *mem);
#endif

/* Store @n at @to, which may be user memory: 0, or -1 where that cannot be. */
unsigned long kp_target_store(unsigned long n, unsigned long *to);

/* Called by the others. The first one may sleep. */
unsigned long kp_target_sleeper(unsigned long n);
unsigned long kp_target_leaf(unsigned long n, unsigned long *mem);

#endif
