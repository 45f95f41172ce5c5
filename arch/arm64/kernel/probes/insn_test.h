/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations shared by insn_test.c and insn_snippets.S. insn_snippets.S has the
 * rules for writing a snippet.
 */
#ifndef _ARM64_KERNEL_PROBES_INSN_TEST_H
#define _ARM64_KERNEL_PROBES_INSN_TEST_H

/* By how many bytes the ip in a pre_handler is behind the probe. */
#define INSN_TEST_BREAK		0

/* Bytes of the stack that a snippet starts with. */
#define INSN_TEST_STACK		256

/* The last one is the stack pointer. */
#define INSN_TEST_GPRS		32

/* Number of instructions in the last snippet, which a test overwrites. */
#define INSN_TEST_ROOM		16

/* Offsets in struct machine. */
#define MACHINE_SP		248
#define MACHINE_FLAGS		256
#define MACHINE_VREG		272
#define MACHINE_STACK		336

/* Properties of a snippet, and CPU features that it needs. */
#define SNIPPET_VOLATILE	0x01	/* leaves values that differ from run to run */
#define SNIPPET_SETS_DAIF	0x02	/* must not run where interrupts have to stay off */
#define SNIPPET_FAULTS		0x04	/* takes an exception on purpose */
#define SNIPPET_LSE		0x08	/* CPU features */
#define SNIPPET_PAUTH		0x10

#ifndef __ASSEMBLY__

#include <linux/types.h>

struct snippet {
	u32 *start;
	unsigned long size;
	const char *name;
	unsigned long needs;
	unsigned long refused;		/* bit N: instruction N must not be probed */
};

/* Everything that a snippet can read or write, except the global memory. */
struct machine {
	unsigned long gpr[INSN_TEST_GPRS];
	unsigned long flags;
	unsigned long unused;
	u8 vreg[4][16];
	u8 stack[INSN_TEST_STACK];
};

extern struct snippet insn_snippets[], insn_snippets_end[];
extern u64 insn_test_mem[];

asmlinkage void insn_test_run(struct machine *m);
extern u32 insn_test_exit[];

#endif /* __ASSEMBLY__ */
#endif /* _ARM64_KERNEL_PROBES_INSN_TEST_H */
