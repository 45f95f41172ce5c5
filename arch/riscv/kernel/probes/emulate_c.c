// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emulating compressed instructions.
 */
#include <linux/array_size.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <asm/insn.h>

#include "common.h"
#include "emulate.h"
#include "operands.h"

/* A field of 5 bits names any register, one of 3 bits x8 to x15. */
static __always_inline unsigned int c_rs2(u32 insn)
{
	return insn_field(insn, 2, 5);
}

static __always_inline unsigned int c_low(u32 insn)
{
	return 8 + insn_field(insn, 2, 3);
}

static __always_inline unsigned int c_high(u32 insn)
{
	return 8 + insn_field(insn, 7, 3);
}

static __always_inline long c_imm6(u32 insn)
{
	return sign_extend32(insn_field(insn, 12, 1) << 5 | insn_field(insn, 2, 5), 5);
}

static bool emulate_c_j(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	regs->epc = addr + RVC_EXTRACT_JTYPE_IMM((s32)insn);

	return true;
}

NOKPROBE_SYMBOL(emulate_c_j);

/* RV32 only: on RV64 this encoding is c.addiw. */
static bool __maybe_unused emulate_c_jal(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, 1, addr + 2);

	return emulate_c_j(insn, addr, regs);
}

NOKPROBE_SYMBOL(emulate_c_jal);

static bool emulate_c_jr(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	regs->epc = get_reg(regs, rd(insn)) & ~1UL;

	return true;
}

NOKPROBE_SYMBOL(emulate_c_jr);

static bool emulate_c_jalr(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned long target = get_reg(regs, rd(insn));

	set_reg(regs, 1, addr + 2);
	regs->epc = target & ~1UL;

	return true;
}

NOKPROBE_SYMBOL(emulate_c_jalr);

static bool emulate_c_branch(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	bool zero = !get_reg(regs, c_high(insn));
	bool on_zero = insn_field(insn, 13, 3) == RVC_FUNCT3_C_BEQZ;

	regs->epc = addr + (zero == on_zero ? RVC_EXTRACT_BTYPE_IMM((s32)insn) : 2);

	return true;
}

NOKPROBE_SYMBOL(emulate_c_branch);

/* c.addi and c.nop, a c.addi to x0 */
static bool emulate_c_addi(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), get_reg(regs, rd(insn)) + c_imm6(insn));

	return go_behind(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_addi);

static bool emulate_c_li(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), c_imm6(insn));

	return go_behind(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_li);

static bool emulate_c_addi16sp(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	regs->sp += sign_extend32(insn_field(insn, 12, 1) << 9 | insn_field(insn, 3, 2) << 7 |
				  insn_field(insn, 5, 1) << 6 | insn_field(insn, 2, 1) << 5 |
				  insn_field(insn, 6, 1) << 4, 9);

	return go_behind(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_addi16sp);

static bool emulate_c_addi4spn(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned int imm = insn_field(insn, 7, 4) << 6 | insn_field(insn, 11, 2) << 4 |
			   insn_field(insn, 5, 1) << 3 | insn_field(insn, 6, 1) << 2;

	set_reg(regs, c_low(insn), regs->sp + imm);

	return go_behind(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_addi4spn);

static bool emulate_c_mv(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), get_reg(regs, c_rs2(insn)));

	return go_behind(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_mv);

static bool emulate_c_add(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), get_reg(regs, rd(insn)) + get_reg(regs, c_rs2(insn)));

	return go_behind(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_add);

static bool __maybe_unused emulate_c_addiw(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), alu_w(ALU_ADD, false, get_reg(regs, rd(insn)), c_imm6(insn)));

	return go_behind(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_addiw);

static bool emulate_c_lui(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), c_imm6(insn) << 12);

	return go_behind(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_lui);

static bool emulate_c_slli(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), alu(ALU_SLL, false, get_reg(regs, rd(insn)), c_imm6(insn)));

	return go_behind(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_slli);

/* c.srli, c.srai and c.andi */
static bool emulate_c_op_imm(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned int kind = insn_field(insn, 10, 2), reg = c_high(insn);

	set_reg(regs, reg, alu(kind == 2 ? ALU_AND : ALU_SRL, kind == 1, get_reg(regs, reg),
			       c_imm6(insn)));

	return go_behind(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_op_imm);

/* c.sub, c.xor, c.or and c.and */
static bool emulate_c_op(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	static const u8 funct3s[] = { ALU_ADD, ALU_XOR, ALU_OR, ALU_AND };
	unsigned int reg = c_high(insn);

	set_reg(regs, reg, alu(funct3s[insn_field(insn, 5, 2)], true, get_reg(regs, reg),
			       get_reg(regs, c_low(insn))));

	return go_behind(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_op);

/* c.subw and c.addw */
static bool __maybe_unused emulate_c_op_w(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned int reg = c_high(insn);

	set_reg(regs, reg, alu_w(ALU_ADD, !insn_field(insn, 5, 1), get_reg(regs, reg),
				 get_reg(regs, c_low(insn))));

	return go_behind(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_op_w);

static bool __maybe_unused emulate_c_ldsp(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned long imm = insn_field(insn, 2, 3) << 6 | insn_field(insn, 12, 1) << 5 |
			    insn_field(insn, 5, 2) << 3;

	set_reg(regs, rd(insn), *(unsigned long *)(regs->sp + imm));

	return go_behind(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_ldsp);

static bool __maybe_unused emulate_c_sdsp(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned long imm = insn_field(insn, 7, 3) << 6 | insn_field(insn, 10, 3) << 3;

	*(unsigned long *)(regs->sp + imm) = get_reg(regs, c_rs2(insn));

	return go_behind(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_sdsp);

#define C_RD		GENMASK(11, 7)
#define C_RS2		GENMASK(6, 2)
#define C_IMM6		(BIT(12) | GENMASK(6, 2))
#define C_IMM_SPN	GENMASK(12, 5)

/* Instructions that depend on their own address. */
static const struct form forms[] = {
	{ RVC_MASK_C_J, RVC_MATCH_C_J, 0, emulate_c_j },
	{ RVC_MASK_C_BEQZ, RVC_MATCH_C_BEQZ, 0, emulate_c_branch },
	{ RVC_MASK_C_BNEZ, RVC_MATCH_C_BNEZ, 0, emulate_c_branch },
	{ RVC_MASK_C_JR, RVC_MATCH_C_JR, C_RD, emulate_c_jr },
	{ RVC_MASK_C_JALR, RVC_MATCH_C_JALR, C_RD, emulate_c_jalr },
#ifndef CONFIG_64BIT
	{ 0xe003, 0x2001, 0, emulate_c_jal },
#endif
};

/* Instructions that could be copied as well, see emulate.c. */
static const struct form kernel_forms[] = {
	{ 0xe003, 0x0000, C_IMM_SPN, emulate_c_addi4spn },
	{ 0xe003, 0x0001, 0, emulate_c_addi },
	{ 0xe003, 0x4001, 0, emulate_c_li },
	{ 0xef83, 0x6101, C_IMM6, emulate_c_addi16sp },
	{ 0xe003, 0x6001, C_IMM6, emulate_c_lui },
	{ 0xe803, 0x8001, 0, emulate_c_op_imm },	/* c.srli, c.srai */
	{ 0xec03, 0x8801, 0, emulate_c_op_imm },	/* c.andi */
	{ 0xfc03, 0x8c01, 0, emulate_c_op },
	{ 0xe003, 0x0002, 0, emulate_c_slli },
	{ 0xf003, 0x8002, C_RS2, emulate_c_mv },
	{ 0xf003, 0x9002, C_RS2, emulate_c_add },
#ifdef CONFIG_64BIT
	{ 0xe003, 0x2001, C_RD, emulate_c_addiw },
	{ 0xfc43, 0x9c01, 0, emulate_c_op_w },
	{ 0xe003, 0x6002, C_RD, emulate_c_ldsp },
	{ 0xe003, 0xe002, 0, emulate_c_sdsp },
#endif
};

/* Return the function that emulates @insn for kprobes and uprobes, or NULL. */
probes_handler_t *kprobe_find_c_emulation(u32 insn)
{
	return find_form(forms, ARRAY_SIZE(forms), insn);
}

NOKPROBE_SYMBOL(kprobe_find_c_emulation);

/* Return the function that emulates @insn for kprobes, or NULL. */
probes_handler_t *kprobe_find_kernel_c_emulation(u32 insn)
{
	return find_form(kernel_forms, ARRAY_SIZE(kernel_forms), insn) ?:
	       find_form(forms, ARRAY_SIZE(forms), insn);
}

NOKPROBE_SYMBOL(kprobe_find_kernel_c_emulation);
