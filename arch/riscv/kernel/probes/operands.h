/* SPDX-License-Identifier: GPL-2.0-only */
/* Operands, registers and arithmetic of emulated instructions. */
#ifndef _RISCV_KPROBES_OPERANDS_H
#define _RISCV_KPROBES_OPERANDS_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/ptrace.h>
#include <asm/insn.h>

#include "common.h"

/* struct pt_regs has the registers in order, except for epc in place of x0. */
static __always_inline unsigned long get_reg(struct pt_regs *regs, unsigned int nr)
{
	return nr ? ((unsigned long *)regs)[nr] : 0;
}

static __always_inline void set_reg(struct pt_regs *regs, unsigned int nr, unsigned long value)
{
	if (nr)
		((unsigned long *)regs)[nr] = value;
}

static __always_inline unsigned int insn_field(u32 insn, unsigned int shift, unsigned int bits)
{
	return insn >> shift & (BIT(bits) - 1);
}

static __always_inline unsigned int rd(u32 insn)
{
	return insn_field(insn, 7, 5);
}

static __always_inline unsigned int rs1(u32 insn)
{
	return insn_field(insn, 15, 5);
}

static __always_inline unsigned int rs2(u32 insn)
{
	return insn_field(insn, 20, 5);
}

static __always_inline long imm_i(u32 insn)
{
	return (s32)insn >> 20;
}

static __always_inline long imm_u(u32 insn)
{
	return (s32)(insn & GENMASK(31, 12));
}

static __always_inline bool insn_is_csr(u32 insn)
{
	return riscv_insn_is_system(insn) && (insn_field(insn, 12, 3) & 3);
}

static __always_inline bool go_behind(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	regs->epc = addr + insn_len(insn);

	return true;
}

/* funct3 of arithmetic instructions; SUB and SRA are ADD and SRL with bit 30 set. */
enum { ALU_ADD, ALU_SLL, ALU_SLT, ALU_SLTU, ALU_XOR, ALU_SRL, ALU_OR, ALU_AND };

static __always_inline unsigned long alu(unsigned int funct3, bool alt, unsigned long a,
					 unsigned long b)
{
	unsigned int shift = b & (BITS_PER_LONG - 1);

	switch (funct3) {
	case ALU_ADD:
		return alt ? a - b : a + b;
	case ALU_SLL:
		return a << shift;
	case ALU_SLT:
		return (long)a < (long)b;
	case ALU_SLTU:
		return a < b;
	case ALU_XOR:
		return a ^ b;
	case ALU_SRL:
		return alt ? (long)a >> shift : a >> shift;
	case ALU_OR:
		return a | b;
	default:
		return a & b;
	}
}

/* The 32-bit arithmetic of a 64-bit CPU sign-extends its result. */
static __always_inline long alu_w(unsigned int funct3, bool alt, u32 a, u32 b)
{
	unsigned int shift = b & 31;

	switch (funct3) {
	case ALU_ADD:
		return (s32)(alt ? a - b : a + b);
	case ALU_SLL:
		return (s32)(a << shift);
	default:
		return alt ? (s32)a >> shift : (s32)(a >> shift);
	}
}

#endif /* _RISCV_KPROBES_OPERANDS_H */
