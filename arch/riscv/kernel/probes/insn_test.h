/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations shared by insn_test.c and insn_snippets.S. insn_snippets.S has the
 * rules for writing a snippet.
 */
#ifndef _RISCV_PROBES_INSN_TEST_H
#define _RISCV_PROBES_INSN_TEST_H

#include <asm/asm.h>

#define INSN_TEST_GPRS		32

/* By how many bytes the ip in a pre_handler is behind the probe. */
#define INSN_TEST_BREAK		0

/* Bytes of the stack that a snippet starts with. */
#define INSN_TEST_STACK		256

/* Number of places, each for an instruction that the test picks and a jump out. */
#define INSN_TEST_PLACES	32

/* Offset in struct machine. */
#define MACHINE_STACK		(INSN_TEST_GPRS * __SIZEOF_POINTER__)

/* Properties of a snippet. */
#define SNIPPET_FAULTS		0x01	/* takes an exception on purpose */
#define SNIPPET_SETS_IE		0x02	/* enables and disables interrupts */
#define SNIPPET_GAPS		0x04	/* has instructions that must not be probed */
#define SNIPPET_VOLATILE	0x08	/* leaves values that differ from run to run */

#ifndef __ASSEMBLY__

#include <linux/types.h>

struct snippet {
	void *start;
	unsigned long size;
	const char *name;
	unsigned long needs;
};

/* An address that must not be probed. */
struct refused_insn {
	void *addr;
	long err;
	const char *name;
};

/* Everything that a snippet can read or write, except the global memory. */
struct machine {
	unsigned long gpr[INSN_TEST_GPRS];	/* by register number, x0 is not used */
	u8 stack[INSN_TEST_STACK];
	unsigned long flags;			/* 1 if interrupts are off */
};

extern struct snippet insn_snippets[], insn_snippets_end[];
extern struct refused_insn insn_refused[], insn_refused_end[];
extern u64 insn_test_mem[];

void insn_test_run(struct machine *m, void *code);
extern u8 insn_test_exit[];
extern u32 insn_places[INSN_TEST_PLACES][2];

#endif /* __ASSEMBLY__ */
#endif /* _RISCV_PROBES_INSN_TEST_H */
