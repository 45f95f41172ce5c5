/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KP_TOGGLE_TARGETS_H
#define _KP_TOGGLE_TARGETS_H

#include "target_function.h"

/* targets_x86_64.S */
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

/* Store @n at @to, which may be user memory. Returns 0, or -1 on a fault. */
unsigned long kp_target_store(unsigned long n, unsigned long *to);

/* Called by the others. The first one may sleep. */
unsigned long kp_target_sleeper(unsigned long n);
unsigned long kp_target_leaf(unsigned long n, unsigned long *mem);

#endif
