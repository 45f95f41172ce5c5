// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instruction properties: the registers read and written, and the flow of control.
 *
 * An unknown instruction is taken to read every register. In a set of registers,
 * bit N stands for register N; x0 is in no set.
 */
#include <linux/bits.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <asm/insn.h>

#include "common.h"
#include "decode.h"
#include "facts.h"

static u32 insn_field(u32 insn, unsigned int shift, unsigned int bits)
{
	return insn >> shift & (BIT(bits) - 1);
}

/* Return the set of the register whose number is in the field at @shift. */
static u32 reg_at(u32 insn, unsigned int shift)
{
	return BIT(insn_field(insn, shift, 5)) & ~1U;
}

static u32 rd_of(u32 insn)
{
	return reg_at(insn, 7);
}

static u32 rs1_of(u32 insn)
{
	return reg_at(insn, 15);
}

static u32 rs2_of(u32 insn)
{
	return reg_at(insn, 20);
}

/* A field of 3 bits names one of x8 to x15. */
static u32 low_reg_at(u32 insn, unsigned int shift)
{
	return BIT(8 + insn_field(insn, shift, 3));
}

#define SP	BIT(2)

static void set_unknown(struct insn_facts *facts)
{
	*facts = (struct insn_facts){ .flow = FLOW_UNKNOWN, .reads = ALL_REGS };
}

static void set_jump(struct insn_facts *facts, unsigned int link, long disp)
{
	facts->flow = link ? FLOW_CALL : FLOW_JUMP;
	facts->writes = BIT(link) & ~1U;
	facts->link = link;
	facts->disp = disp;
}

static void set_jump_register(struct insn_facts *facts, unsigned int link, unsigned int base,
			      long disp)
{
	facts->flow = link ? FLOW_CALL_REGISTER : FLOW_JUMP_REGISTER;
	facts->reads = BIT(base) & ~1U;
	facts->writes = BIT(link) & ~1U;
	facts->link = link;
	facts->base = base;
	facts->disp = disp;
}

static void set_branch(struct insn_facts *facts, u32 reads, long disp)
{
	facts->flow = FLOW_BRANCH;
	facts->reads = reads;
	facts->disp = disp;
}

/* CSR instructions read rs1, or have an immediate there if bit 2 of funct3 is set. */
static void get_system_facts(u32 insn, struct insn_facts *facts)
{
	unsigned int funct3 = insn_field(insn, 12, 3);

	if (funct3 & 3) {
		facts->reads = funct3 & 4 ? 0 : rs1_of(insn);
		facts->writes = rd_of(insn);
	} else if (funct3 || kprobe_refusal_reason(insn)) {
		set_unknown(facts);
	} else {
		facts->reads = rs1_of(insn) | rs2_of(insn);
	}
}

#define FUNCT5_AMOCAS	5

/* Compare and swap is not decoded: it has three operands, or pairs of them. */
static void get_amo_facts(u32 insn, struct insn_facts *facts)
{
	if (insn >> 27 == FUNCT5_AMOCAS) {
		set_unknown(facts);
		return;
	}
	facts->reads = rs1_of(insn) | rs2_of(insn);
	facts->writes = rd_of(insn);
}

/* Major opcodes that only compute or access memory. */
static void get_operand_facts(u32 insn, struct insn_facts *facts)
{
	switch (insn & 0x7f) {
	case 0x17:		/* auipc */
		facts->flow = FLOW_ADDRESS;
		facts->disp = (s32)(insn & GENMASK(31, 12));
		fallthrough;
	case 0x37:		/* lui */
		facts->writes = rd_of(insn);
		break;
	case 0x03:		/* loads */
	case 0x13:		/* addi and the like */
	case 0x1b:
		facts->reads = rs1_of(insn);
		facts->writes = rd_of(insn);
		break;
	case 0x33:		/* add and the like */
	case 0x3b:
		facts->reads = rs1_of(insn) | rs2_of(insn);
		facts->writes = rd_of(insn);
		break;
	case 0x23:		/* stores, then loads and stores of float and vector registers */
	case 0x07:
	case 0x27:
		facts->reads = rs1_of(insn) | rs2_of(insn);
		break;
	case 0x0f:		/* fences, and operations on cache blocks */
		facts->reads = rs1_of(insn);
		break;
	default:
		set_unknown(facts);
	}
}

static void get_4_byte_facts(u32 insn, struct insn_facts *facts)
{
	switch (insn & 0x7f) {
	case 0x6f:		/* jal */
		set_jump(facts, insn_field(insn, 7, 5), riscv_insn_extract_jtype_imm(insn));
		break;
	case 0x67:		/* jalr */
		set_jump_register(facts, insn_field(insn, 7, 5), insn_field(insn, 15, 5),
				  (s32)insn >> 20);
		break;
	case 0x63:		/* beq and the like */
		set_branch(facts, rs1_of(insn) | rs2_of(insn), RV_EXTRACT_BTYPE_IMM((s32)insn));
		break;
	case 0x2f:
		get_amo_facts(insn, facts);
		break;
	case 0x73:
		get_system_facts(insn, facts);
		break;
	default:
		get_operand_facts(insn, facts);
	}
}

/* Width 3 is c.ld or c.sd on RV64, but c.flw or c.fsw on RV32. */
static bool c_is_float(unsigned int funct3)
{
	unsigned int width = funct3 & 3;

	return width == 1 || (width == 3 && !IS_ENABLED(CONFIG_64BIT));
}

static void get_c0_facts(u32 insn, struct insn_facts *facts)
{
	unsigned int funct3 = insn_field(insn, 13, 3);

	if (!insn || funct3 == 4) {
		set_unknown(facts);
	} else if (!funct3) {
		facts->reads = SP;
		facts->writes = low_reg_at(insn, 2);
	} else {
		facts->reads = low_reg_at(insn, 7);
		if (funct3 & 4)
			facts->reads |= low_reg_at(insn, 2);
		else if (!c_is_float(funct3))
			facts->writes = low_reg_at(insn, 2);
	}
}

static void get_c_arithmetic_facts(u32 insn, struct insn_facts *facts)
{
	u32 rd = low_reg_at(insn, 7);

	facts->reads = rd;
	facts->writes = rd;
	if (insn_field(insn, 10, 2) < 3)
		return;
	facts->reads |= low_reg_at(insn, 2);
	if (insn_field(insn, 12, 1) && insn_field(insn, 5, 2) > 1)
		set_unknown(facts);
}

static void get_c1_facts(u32 insn, struct insn_facts *facts)
{
	unsigned int funct3 = insn_field(insn, 13, 3);

	switch (funct3) {
	case 1:
		if (!IS_ENABLED(CONFIG_64BIT)) {
			set_jump(facts, 1, RVC_EXTRACT_JTYPE_IMM((s32)insn));
			break;
		}
		fallthrough;
	case 0:
		facts->reads = rd_of(insn);
		fallthrough;
	case 2:
		facts->writes = rd_of(insn);
		break;
	case 3:
		facts->writes = rd_of(insn);
		facts->reads = facts->writes & SP;
		if (!(insn & (BIT(12) | GENMASK(6, 2))))
			set_unknown(facts);
		break;
	case 4:
		get_c_arithmetic_facts(insn, facts);
		break;
	case 5:
		set_jump(facts, 0, RVC_EXTRACT_JTYPE_IMM((s32)insn));
		break;
	default:
		set_branch(facts, low_reg_at(insn, 7), RVC_EXTRACT_BTYPE_IMM((s32)insn));
	}
}

/* c.jr, c.mv, c.ebreak, c.jalr and c.add */
static void get_c_move_facts(u32 insn, struct insn_facts *facts)
{
	bool bit12 = insn_field(insn, 12, 1);

	if (reg_at(insn, 2)) {
		facts->writes = rd_of(insn);
		facts->reads = reg_at(insn, 2) | (bit12 ? rd_of(insn) : 0);
	} else if (rd_of(insn)) {
		set_jump_register(facts, bit12, insn_field(insn, 7, 5), 0);
	} else {
		set_unknown(facts);
	}
}

static void get_c2_facts(u32 insn, struct insn_facts *facts)
{
	unsigned int funct3 = insn_field(insn, 13, 3);

	if (!funct3) {
		facts->reads = rd_of(insn);
		facts->writes = rd_of(insn);
	} else if (funct3 == 4) {
		get_c_move_facts(insn, facts);
	} else {
		facts->reads = SP;
		if (c_is_float(funct3))
			return;
		if (funct3 & 4)
			facts->reads |= reg_at(insn, 2);
		else
			facts->writes = rd_of(insn);
	}
}

/* Fill in @facts for any @insn, also one that must not be probed. */
void kprobe_get_insn_facts(u32 insn, struct insn_facts *facts)
{
	*facts = (struct insn_facts){ .flow = FLOW_ON };

	switch (insn & 3) {
	case 0:
		get_c0_facts(insn, facts);
		break;
	case 1:
		get_c1_facts(insn, facts);
		break;
	case 2:
		get_c2_facts(insn, facts);
		break;
	default:
		get_4_byte_facts(insn, facts);
	}
	facts->len = insn_len(insn);
}

NOKPROBE_SYMBOL(kprobe_get_insn_facts);
