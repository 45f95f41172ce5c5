/* SPDX-License-Identifier: GPL-2.0-only */
/* Operands of instructions that depend on their address. */
#ifndef _ARM64_KPROBES_OPERANDS_H
#define _ARM64_KPROBES_OPERANDS_H

#include <linux/bitops.h>
#include <linux/types.h>
#include <asm/insn.h>

/* Return the offset of a direct branch, 0 for any other instruction. */
static __always_inline long insn_branch_offset(u32 insn)
{
	if ((insn & 0x7c000000) == 0x14000000)
		return (long)sign_extend32(insn, 25) * 4;
	if ((insn & 0xff000000) == 0x54000000 || (insn & 0x7e000000) == 0x34000000)
		return (long)sign_extend32(insn >> 5, 18) * 4;
	if ((insn & 0x7e000000) == 0x36000000)
		return (long)sign_extend32(insn >> 5, 13) * 4;

	return 0;
}

/* Encode a B at @from to @to, which must be in its reach. */
static __always_inline u32 insn_branch(unsigned long from, unsigned long to)
{
	long distance = to - from;

	return aarch64_insn_get_b_value() | (distance >> 2 & GENMASK(25, 0));
}

/* Return the distance from a load to its literal. */
static __always_inline long insn_literal_offset(u32 insn)
{
	return (long)sign_extend32(insn >> 5, 18) * 4;
}

/* Return the address that an ADR or ADRP at @addr computes. */
static __always_inline unsigned long insn_adr_value(u32 insn, unsigned long addr)
{
	long offset = (long)sign_extend32(insn >> 5, 18) << 2 | (insn >> 29 & 3);

	/* ADRP counts in units of 4K, whatever pages the kernel has. */
	if (insn & BIT(31))
		return (addr & ~0xfffUL) + (offset << 12);

	return addr + offset;
}

#endif /* _ARM64_KPROBES_OPERANDS_H */
