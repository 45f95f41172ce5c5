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
#include "function_map.h"
#include "operands.h"

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
	switch ((insn | 3) & 0x7f) {
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

/* @insn is expanded, so its two lowest bits say only how long it was. */
static void get_expanded_facts(u32 insn, struct insn_facts *facts)
{
	switch ((insn | 3) & 0x7f) {
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

/* Fill in @facts for any @insn, also one that must not be probed. */
void kprobe_get_insn_facts(u32 insn, struct insn_facts *facts)
{
	u32 expanded = kprobe_expand_insn(insn);

	*facts = (struct insn_facts){ .flow = FLOW_ON };
	if (expanded)
		get_expanded_facts(expanded, facts);
	else
		set_unknown(facts);
	facts->len = insn_len(insn);
}

NOKPROBE_SYMBOL(kprobe_get_insn_facts);
