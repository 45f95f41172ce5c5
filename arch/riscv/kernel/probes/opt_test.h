/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations shared by opt_test.c and opt_snippets.S.
 */
#ifndef _RISCV_PROBES_OPT_TEST_H
#define _RISCV_PROBES_OPT_TEST_H

#ifndef __ASSEMBLY__

#include <linux/jump_label.h>

/* A place for a probe, and the expected obstacle to a jump, if any. */
struct rule {
	void *addr;
	const char *name;
	const char *why;
};

/* A place, and the registers that are free there. */
struct freedom {
	void *addr;
	unsigned long dead;
};

extern struct rule opt_rules[], opt_rules_end[];
extern struct freedom opt_freedoms[], opt_freedoms_end[];

/* Always on. */
DECLARE_STATIC_KEY_TRUE(opt_key);

#endif /* __ASSEMBLY__ */
#endif /* _RISCV_PROBES_OPT_TEST_H */
