/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of opt_snippets.S, and the instruction that opt_test.c probes in each.
 */
#ifndef _ARM64_KERNEL_PROBES_OPT_TEST_H
#define _ARM64_KERNEL_PROBES_OPT_TEST_H

#include <linux/linkage.h>
#include <linux/types.h>

asmlinkage unsigned long opt_daif(void);
asmlinkage unsigned long opt_branch(unsigned long x);
asmlinkage unsigned long opt_add(unsigned long x);
asmlinkage void opt_store(u32 *at);
asmlinkage void opt_frame(void);

extern u32 opt_daif_at[];
extern u32 opt_branch_at[];
extern u32 opt_add_at[];
extern u32 opt_add_elsewhere[];
extern u32 opt_store_at[];
extern u32 opt_frame_at[];

#endif /* _ARM64_KERNEL_PROBES_OPT_TEST_H */
