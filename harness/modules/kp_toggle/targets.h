/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KP_TOGGLE_TARGETS_H
#define _KP_TOGGLE_TARGETS_H

#include "target_function.h"

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
