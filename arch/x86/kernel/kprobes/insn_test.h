/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Definitions that insn_test.c and insn_snippets.S share. insn_snippets.S describes how a
 * snippet is written and what it may use.
 */
#ifndef _ARCH_X86_KERNEL_KPROBES_INSN_TEST_H
#define _ARCH_X86_KERNEL_KPROBES_INSN_TEST_H

/* By how many bytes the ip in a pre_handler is behind the probe. */
#define INSN_TEST_BREAK		1

/* Bytes of stack with which a snippet starts. */
#define INSN_TEST_STACK		256

/* Words of per-CPU memory. */
#define INSN_TEST_PERCPU	8

#ifdef CONFIG_X86_64
#define INSN_TEST_GPRS		16
#define INSN_TEST_WORD		8
#else
#define INSN_TEST_GPRS		8
#define INSN_TEST_WORD		4
#endif

/* Offsets in struct machine. */
#define MACHINE_GPR		0
#define MACHINE_FLAGS		(INSN_TEST_GPRS * INSN_TEST_WORD)
#define MACHINE_XMM		(MACHINE_FLAGS + 2 * INSN_TEST_WORD)
#define MACHINE_STACK		(MACHINE_XMM + 4 * 16)

/* Properties and requirements of a snippet. */
#define SNIPPET_VOLATILE	0x01	/* leaves values that differ from run to run */
#define SNIPPET_SETS_IF		0x02	/* may not run where interrupts must stay off */
#define SNIPPET_FAULTS		0x04	/* takes an exception on purpose */
#define SNIPPET_CX16		0x08	/* CPU features */
#define SNIPPET_AVX		0x10
#define SNIPPET_UNDEFINED	0x20	/* has flags undefined for a while */
#define SNIPPET_COMPUTED	0x40	/* continues where no branch and no fixup leads */
#define SNIPPET_BACKWARDS	0x80	/* sets the direction flag */

#ifndef __ASSEMBLY__

#include <linux/types.h>

struct snippet {
	u8 *start;
	unsigned long size;
	const char *name;
	unsigned long needs;
};

/* Everything that a snippet can read or write, except the global memory. */
struct machine {
	unsigned long gpr[INSN_TEST_GPRS];	/* by register number */
	unsigned long flags;
	unsigned long unused;
	u8 xmm[4][16];
	u8 stack[INSN_TEST_STACK];
	u64 percpu[INSN_TEST_PERCPU];
};

extern struct snippet insn_snippets[], insn_snippets_end[];
extern struct snippet insn_refused[], insn_refused_end[];
extern u64 insn_test_mem[];

void insn_test_run(struct machine *m, void *code);
extern u8 insn_test_exit[];

#endif /* __ASSEMBLY__ */
#endif /* _ARCH_X86_KERNEL_KPROBES_INSN_TEST_H */
