// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding instructions for kprobes and uprobes: what compressed ones stand for, which must
 * not be probed, which registers they use, and where control continues after them.
 */
#include <linux/array_size.h>
#include <linux/bitops.h>
#include <linux/string.h>
#include <asm/csr.h>

#include "common.h"

/* -- compressed instructions -- */

/* Encodings without operands. */
#define INSN_SLLI	0x00001013
#define INSN_SRLI	0x00005013
#define INSN_SRAI	0x40005013
#define INSN_ANDI	0x00007013
#define INSN_ADDIW	0x0000001b
#define INSN_ADD	0x00000033
#define INSN_LUI	0x00000037

#define RV64	IS_ENABLED(CONFIG_64BIT)

static u32 insn_b(u32 base, unsigned int rs1, s32 offset)
{
	return base | rs1 << 15 | (offset & GENMASK(4, 1)) << 7 | (offset & GENMASK(10, 5)) << 20 |
	       (offset & BIT(11)) >> 4 | (offset & BIT(12)) << 19;
}

/*
 * By bits 13 and 14, the load that a compressed instruction stands for; with bit 15 as well it is
 * the store, whose opcode has %STORE.
 */
static const u32 loads[] = {
	[1] = 0x00003007,				/* fld */
	[2] = 0x00002003,				/* lw */
	[3] = RV64 ? 0x00003003 : 0x00002007,		/* ld, flw */
};

#define STORE	0x20

static bool is_dword(u32 load)
{
	return load & BIT(12);
}

static bool is_float(u32 load)
{
	return load & BIT(2);
}

/* A field of 3 bits names one of x8 to x15. */
static u32 expand_c0(u32 insn)
{
	unsigned int reg = 8 + insn_field(insn, 2, 3), base = 8 + insn_field(insn, 7, 3);
	u32 word = insn_field(insn, 5, 1) << 6 | insn_field(insn, 10, 3) << 3 |
		   insn_field(insn, 6, 1) << 2;
	u32 dword = insn_field(insn, 5, 2) << 6 | insn_field(insn, 10, 3) << 3;
	u32 above_sp = insn_field(insn, 7, 4) << 6 | insn_field(insn, 11, 2) << 4 |
		       insn_field(insn, 5, 1) << 3 | insn_field(insn, 6, 1) << 2;
	u32 load = loads[insn_field(insn, 13, 2)], offset = is_dword(load) ? dword : word;
	bool stores = insn_field(insn, 15, 1);

	if (!load)
		return above_sp && !stores ? insn_i(INSN_ADDI, reg, SP, above_sp) : 0;

	return stores ? insn_s(load | STORE, base, reg, offset) : insn_i(load, reg, base, offset);
}

/* c.srli, c.srai, c.andi, and arithmetic of two registers */
static u32 expand_c_arithmetic(u32 insn, s32 imm)
{
	static const u32 ops[] = {
		0x40000033, 0x00004033, 0x00006033, 0x00007033,	/* sub, xor, or, and */
		0x4000003b, 0x0000003b,				/* subw, addw */
	};
	unsigned int reg = 8 + insn_field(insn, 7, 3), from = 8 + insn_field(insn, 2, 3);
	unsigned int op = insn_field(insn, 12, 1) << 2 | insn_field(insn, 5, 2);

	switch (insn_field(insn, 10, 2)) {
	case 0:
		return insn_i(INSN_SRLI, reg, reg, imm & 0x3f);
	case 1:
		return insn_i(INSN_SRAI, reg, reg, imm & 0x3f);
	case 2:
		return insn_i(INSN_ANDI, reg, reg, imm);
	default:
		return op < (RV64 ? 6 : 4) ? insn_i(ops[op], reg, reg, from) : 0;
	}
}

static u32 expand_c1(u32 insn)
{
	s32 imm = sign_extend32(insn_field(insn, 12, 1) << 5 | insn_field(insn, 2, 5), 5);
	s32 sp_imm = sign_extend32(insn_field(insn, 12, 1) << 9 | insn_field(insn, 3, 2) << 7 |
				   insn_field(insn, 5, 1) << 6 | insn_field(insn, 2, 1) << 5 |
				   insn_field(insn, 6, 1) << 4, 9);
	unsigned int reg = rd(insn), low = 8 + insn_field(insn, 7, 3);

	switch (insn_field(insn, 13, 3)) {
	case 0:
		return insn_i(INSN_ADDI, reg, reg, imm);
	case 1:
		if (!RV64)
			return insn_j(1, RVC_EXTRACT_JTYPE_IMM((s32)insn));
		return reg ? insn_i(INSN_ADDIW, reg, reg, imm) : 0;
	case 2:
		return insn_i(INSN_ADDI, reg, 0, imm);
	case 3:
		if (!imm)
			return 0;
		if (reg == SP)
			return insn_i(INSN_ADDI, SP, SP, sp_imm);
		return INSN_LUI | reg << 7 | imm << 12;
	case 4:
		return expand_c_arithmetic(insn, imm);
	case 5:
		return insn_j(0, RVC_EXTRACT_JTYPE_IMM((s32)insn));
	case 6:
		return insn_b(RVG_MATCH_BEQ, low, RVC_EXTRACT_BTYPE_IMM((s32)insn));
	default:
		return insn_b(RVG_MATCH_BNE, low, RVC_EXTRACT_BTYPE_IMM((s32)insn));
	}
}

/* c.jr, c.mv, c.jalr and c.add; c.ebreak does not get here */
static u32 expand_c_move(u32 insn)
{
	unsigned int reg = rd(insn), from = insn_field(insn, 2, 5);
	bool bit12 = insn_field(insn, 12, 1);

	if (!from)
		return reg ? insn_i(RVG_MATCH_JALR, bit12, reg, 0) : 0;

	return bit12 ? insn_i(INSN_ADD, reg, reg, from) : insn_i(INSN_ADDI, reg, from, 0);
}

static u32 expand_c2(u32 insn)
{
	unsigned int reg = rd(insn), from = insn_field(insn, 2, 5);
	u32 word = insn_field(insn, 2, 2) << 6 | insn_field(insn, 12, 1) << 5 |
		   insn_field(insn, 4, 3) << 2;
	u32 dword = insn_field(insn, 2, 3) << 6 | insn_field(insn, 12, 1) << 5 |
		    insn_field(insn, 5, 2) << 3;
	u32 to_word = insn_field(insn, 7, 2) << 6 | insn_field(insn, 9, 4) << 2;
	u32 to_dword = insn_field(insn, 7, 3) << 6 | insn_field(insn, 10, 3) << 3;
	u32 load = loads[insn_field(insn, 13, 2)];
	bool stores = insn_field(insn, 15, 1);

	if (!load && stores)
		return expand_c_move(insn);
	if (!load)
		return insn_i(INSN_SLLI, reg, reg, insn_field(insn, 12, 1) << 5 | from);
	if (stores) {
		/* c.fsdsp, but of Zcmp or Zcmt on processors that have these. */
		if (load == loads[1])
			return 0;
		return insn_s(load | STORE, SP, from, is_dword(load) ? to_dword : to_word);
	}

	return reg || is_float(load) ? insn_i(load, reg, SP, is_dword(load) ? dword : word) : 0;
}

/**
 * kprobe_expand_insn() - expand a compressed instruction
 * @insn: an instruction, its upper half zero if it is compressed
 *
 * Context: Any.
 * Return: the instruction of 4 bytes that does the same, except that its two lowest bits are
 * those of @insn, by which insn_len() still knows how long that is; @insn if that has 4 bytes;
 * 0 if it is not known.
 */
u32 kprobe_expand_insn(u32 insn)
{
	u32 expanded = 0;

	switch (insn & 3) {
	case 0:
		expanded = expand_c0(insn);
		break;
	case 1:
		expanded = expand_c1(insn);
		break;
	case 2:
		expanded = expand_c2(insn);
		break;
	default:
		return insn;
	}

	return expanded ? (expanded & ~3U) | (insn & 3) : 0;
}

NOKPROBE_SYMBOL(kprobe_expand_insn);

/* -- refusals -- */

#define OPCODE_AMO	0x2f
#define FUNCT5_LR	2
#define FUNCT5_SC	3

static bool insn_is_amo(u32 insn, unsigned int funct5)
{
	return (insn & RV_INSN_OPCODE_MASK) == OPCODE_AMO && insn >> 27 == funct5;
}

bool kprobe_insn_is_lr(u32 insn)
{
	return insn_is_amo(insn, FUNCT5_LR);
}

/*
 * A store-conditional, or a wait, which ends the use of a reservation as well: wrs.nto and wrs.sto
 * wait for another CPU's store to the reserved address.
 */
bool kprobe_insn_ends_reservation(u32 insn)
{
	return insn_is_amo(insn, FUNCT5_SC) || insn == 0x00d00073 || insn == 0x01d00073;
}

/* Every trap writes these CSRs, or depends on them. */
static bool csr_belongs_to_traps(unsigned int csr)
{
	static const u16 csrs[] = {
		CSR_TVEC, CSR_SCRATCH, CSR_EPC, CSR_CAUSE, CSR_TVAL, CSR_SATP,
		CSR_HSTATUS, CSR_HTVAL, CSR_HTINST,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(csrs); i++) {
		if (csrs[i] == csr)
			return true;
	}

	return false;
}

/* Fences without a result are recognized by their funct7. */
static bool insn_is_memory_fence(u32 insn)
{
	static const u8 funct7s[] = {
		0x09, 0x0b, 0x0c, 0x11, 0x13, 0x31, 0x33,	/* [sh]fence, [sh]inval */
	};

	return memchr(funct7s, insn >> 25, sizeof(funct7s));
}

#define INSN_ECALL	0x00000073
#define INSN_WFI	0x10500073

static const char *system_refusal_reason(u32 insn)
{
	if (insn_is_csr(insn))
		return csr_belongs_to_traps(insn >> 20) ? "accesses a register of traps" : NULL;
	if (insn_field(insn, 12, 3) || insn_is_memory_fence(insn))
		return NULL;

	switch (insn) {
	case INSN_ECALL:
		/* The firmware may stop the CPU or resume it elsewhere: the hit would not end. */
		return "calls the firmware, which need not return";
	case RVG_MATCH_EBREAK:
		return "traps";
	case INSN_WFI:
		/* WFI does the same in a copy. */
		return NULL;
	default:
		return "returns from a trap, or is unknown";
	}
}

/* Return why @insn must not be probed, or NULL. */
const char *kprobe_refusal_reason(u32 insn)
{
	if ((insn & 0x1f) == 0x1f)
		return "longer than 4 bytes";
	if (!insn || riscv_insn_is_c_ebreak(insn))
		return "traps";
	if (kprobe_insn_is_lr(insn) || kprobe_insn_ends_reservation(insn))
		return "the probe would break the reservation";
	if (riscv_insn_is_system(insn))
		return system_refusal_reason(insn);

	return NULL;
}

/* -- registers and flow -- */

#define RD	1
#define RS1	2
#define RS2	4

/*
 * What the instructions of each major opcode read and write, and where the CPU continues. One
 * without registers is unknown, and taken to read all of them.
 */
static const struct {
	u8 regs;
	u8 flow;
} opcodes[32] = {
	[0x03 >> 2] = { RD | RS1 },			/* loads */
	[0x07 >> 2] = { RS1 | RS2 },			/* loads of float and vector registers */
	[0x0f >> 2] = { RS1 },				/* fences, operations on cache blocks */
	[0x13 >> 2] = { RD | RS1 },			/* addi and the like */
	[0x17 >> 2] = { RD, FLOW_ADDRESS },		/* auipc */
	[0x1b >> 2] = { RD | RS1 },			/* addiw and the like */
	[0x23 >> 2] = { RS1 | RS2 },			/* stores */
	[0x27 >> 2] = { RS1 | RS2 },			/* stores of float and vector registers */
	[0x2f >> 2] = { RD | RS1 | RS2 },		/* atomic operations */
	[0x33 >> 2] = { RD | RS1 | RS2 },		/* add and the like */
	[0x37 >> 2] = { RD },				/* lui */
	[0x3b >> 2] = { RD | RS1 | RS2 },		/* addw and the like */
	[0x63 >> 2] = { RS1 | RS2, FLOW_BRANCH },
	[0x67 >> 2] = { RD | RS1, FLOW_JUMP_REGISTER },
	[0x6f >> 2] = { RD, FLOW_JUMP },
	[0x73 >> 2] = { RS1 | RS2 },			/* sfence.vma and the like, csrs */
};

#define FUNCT5_AMOCAS	5

/* Fill in @facts for any @insn, also one that must not be probed. */
void kprobe_get_insn_facts(u32 insn, struct insn_facts *facts)
{
	u32 expanded = kprobe_expand_insn(insn);
	unsigned int opcode = insn_field(expanded, 2, 5);
	unsigned int regs = expanded ? opcodes[opcode].regs : 0;

	/* In place of rs1 there is an immediate if bit 2 of funct3 is set. */
	if (insn_is_csr(expanded))
		regs = expanded & BIT(14) ? RD : RD | RS1;
	else if (riscv_insn_is_system(expanded) &&
		 (insn_field(expanded, 12, 3) || kprobe_refusal_reason(expanded)))
		regs = 0;
	else if (insn_is_amo(expanded, FUNCT5_AMOCAS))
		regs = 0;	/* compare and swap has three operands, or pairs of them */

	*facts = (struct insn_facts){ .flow = opcodes[opcode].flow, .len = insn_len(insn) };
	if (!regs) {
		facts->flow = FLOW_UNKNOWN;
		facts->reads = ALL_REGS;
		return;
	}
	if (regs & RD)
		facts->writes = BIT(rd(expanded)) & ~1U;
	if (regs & RS1)
		facts->reads |= BIT(rs1(expanded)) & ~1U;
	if (regs & RS2)
		facts->reads |= BIT(rs2(expanded)) & ~1U;

	switch (facts->flow) {
	case FLOW_ADDRESS:
		facts->disp = imm_u(expanded);
		return;
	case FLOW_BRANCH:
		facts->disp = RV_EXTRACT_BTYPE_IMM((s32)expanded);
		return;
	case FLOW_JUMP:
		facts->disp = riscv_insn_extract_jtype_imm(expanded);
		break;
	case FLOW_JUMP_REGISTER:
		facts->disp = imm_i(expanded);
		facts->base = rs1(expanded);
		break;
	default:
		return;
	}
	facts->link = rd(expanded);
	if (facts->link)
		facts->flow = facts->flow == FLOW_JUMP ? FLOW_CALL : FLOW_CALL_REGISTER;
}

NOKPROBE_SYMBOL(kprobe_get_insn_facts);
