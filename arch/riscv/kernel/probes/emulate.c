// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which instructions must not be probed, which must not or need not be run
 * elsewhere, and doing the latter. For kprobes, and without them for uprobes.
 *
 * What depends on its own address has to be emulated, branches and auipc. Some
 * of those that compilers use most are as well, because a copy costs a second
 * trap.
 */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <asm/bug.h>
#include <asm/csr.h>
#include <asm/insn.h>

#include "common.h"

/* struct pt_regs has the registers in order, with epc in the place of x0. */
static __always_inline unsigned long get_reg(struct pt_regs *regs, unsigned int nr)
{
	return nr ? ((unsigned long *)regs)[nr] : 0;
}

static __always_inline void set_reg(struct pt_regs *regs, unsigned int nr, unsigned long value)
{
	if (nr)
		((unsigned long *)regs)[nr] = value;
}

static __always_inline unsigned int field(u32 insn, unsigned int shift, unsigned int bits)
{
	return insn >> shift & (BIT(bits) - 1);
}

static __always_inline unsigned int rd(u32 insn)
{
	return field(insn, 7, 5);
}

static __always_inline unsigned int rs1(u32 insn)
{
	return field(insn, 15, 5);
}

static __always_inline unsigned int rs2(u32 insn)
{
	return field(insn, 20, 5);
}

/* Of 2 bytes: a full register, and those that only x8 to x15 fit into. */
static __always_inline unsigned int c_rs2(u32 insn)
{
	return field(insn, 2, 5);
}

static __always_inline unsigned int c_low(u32 insn)
{
	return 8 + field(insn, 2, 3);
}

static __always_inline unsigned int c_high(u32 insn)
{
	return 8 + field(insn, 7, 3);
}

static __always_inline long imm_i(u32 insn)
{
	return (s32)insn >> 20;
}

static __always_inline long imm_u(u32 insn)
{
	return (s32)(insn & GENMASK(31, 12));
}

static __always_inline long c_imm6(u32 insn)
{
	return sign_extend32(field(insn, 12, 1) << 5 | field(insn, 2, 5), 5);
}

static __always_inline bool go_on(unsigned long addr, struct pt_regs *regs, unsigned int len)
{
	regs->epc = addr + len;

	return true;
}

static bool emulate_lui(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), imm_u(insn));

	return go_on(addr, regs, 4);
}

NOKPROBE_SYMBOL(emulate_lui);

static bool emulate_auipc(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), addr + imm_u(insn));

	return go_on(addr, regs, 4);
}

NOKPROBE_SYMBOL(emulate_auipc);

static bool emulate_addi(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), get_reg(regs, rs1(insn)) + imm_i(insn));

	return go_on(addr, regs, 4);
}

NOKPROBE_SYMBOL(emulate_addi);

/* funct3 of the instructions that calculate; SUB and SRA are ADD and SRL with bit 30 set. */
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

/* On 64 bits, those that calculate with 32: the result is extended by its sign. */
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

static __always_inline bool is_alt(u32 insn)
{
	return insn & BIT(30);
}

static bool emulate_op(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), alu(field(insn, 12, 3), is_alt(insn), get_reg(regs, rs1(insn)),
				    get_reg(regs, rs2(insn))));

	return go_on(addr, regs, 4);
}

NOKPROBE_SYMBOL(emulate_op);

static bool __maybe_unused emulate_op_w(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), alu_w(field(insn, 12, 3), is_alt(insn), get_reg(regs, rs1(insn)),
				      get_reg(regs, rs2(insn))));

	return go_on(addr, regs, 4);
}

NOKPROBE_SYMBOL(emulate_op_w);

/* Of an immediate operand bit 30 is a part, unless that is the number of a shift. */
static bool emulate_op_imm(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned int funct3 = field(insn, 12, 3);

	set_reg(regs, rd(insn), alu(funct3, funct3 == ALU_SRL && is_alt(insn),
				    get_reg(regs, rs1(insn)), imm_i(insn)));

	return go_on(addr, regs, 4);
}

NOKPROBE_SYMBOL(emulate_op_imm);

static bool __maybe_unused emulate_op_imm_w(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned int funct3 = field(insn, 12, 3);

	set_reg(regs, rd(insn), alu_w(funct3, funct3 == ALU_SRL && is_alt(insn),
				      get_reg(regs, rs1(insn)), imm_i(insn)));

	return go_on(addr, regs, 4);
}

NOKPROBE_SYMBOL(emulate_op_imm_w);

static bool emulate_jal(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), addr + 4);
	regs->epc = addr + riscv_insn_extract_jtype_imm(insn);

	return true;
}

NOKPROBE_SYMBOL(emulate_jal);

/* The target is read before the link register is written: they may be the same. */
static bool emulate_jalr(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned long target = get_reg(regs, rs1(insn)) + imm_i(insn);

	set_reg(regs, rd(insn), addr + 4);
	regs->epc = target & ~1UL;

	return true;
}

NOKPROBE_SYMBOL(emulate_jalr);

/* The lowest bit of funct3 reverses the condition that the others name. */
static bool emulate_branch(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned long a = get_reg(regs, rs1(insn)), b = get_reg(regs, rs2(insn));
	unsigned int funct3 = field(insn, 12, 3);
	bool taken;

	if (funct3 < RVG_FUNCT3_BLT)
		taken = a == b;
	else if (funct3 < RVG_FUNCT3_BLTU)
		taken = (long)a < (long)b;
	else
		taken = a < b;
	if (funct3 & 1)
		taken = !taken;

	regs->epc = addr + (taken ? RV_EXTRACT_BTYPE_IMM((s32)insn) : 4);

	return true;
}

NOKPROBE_SYMBOL(emulate_branch);

static bool emulate_c_j(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	regs->epc = addr + RVC_EXTRACT_JTYPE_IMM((s32)insn);

	return true;
}

NOKPROBE_SYMBOL(emulate_c_j);

/* On 32 bits only: where there are 64, this is c.addiw. */
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
	bool on_zero = field(insn, 13, 3) == RVC_FUNCT3_C_BEQZ;

	regs->epc = addr + (zero == on_zero ? RVC_EXTRACT_BTYPE_IMM((s32)insn) : 2);

	return true;
}

NOKPROBE_SYMBOL(emulate_c_branch);

/* c.addi, and c.nop, which is a c.addi to x0. */
static bool emulate_c_addi(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), get_reg(regs, rd(insn)) + c_imm6(insn));

	return go_on(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_addi);

static bool emulate_c_li(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), c_imm6(insn));

	return go_on(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_li);

static bool emulate_c_addi16sp(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	regs->sp += sign_extend32(field(insn, 12, 1) << 9 | field(insn, 3, 2) << 7 |
				  field(insn, 5, 1) << 6 | field(insn, 2, 1) << 5 |
				  field(insn, 6, 1) << 4, 9);

	return go_on(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_addi16sp);

static bool emulate_c_addi4spn(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, c_low(insn), regs->sp + (field(insn, 7, 4) << 6 | field(insn, 11, 2) << 4 |
					       field(insn, 5, 1) << 3 | field(insn, 6, 1) << 2));

	return go_on(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_addi4spn);

static bool emulate_c_mv(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), get_reg(regs, c_rs2(insn)));

	return go_on(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_mv);

static bool emulate_c_add(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), get_reg(regs, rd(insn)) + get_reg(regs, c_rs2(insn)));

	return go_on(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_add);

static bool __maybe_unused emulate_c_addiw(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), alu_w(ALU_ADD, false, get_reg(regs, rd(insn)), c_imm6(insn)));

	return go_on(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_addiw);

static bool emulate_c_lui(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), c_imm6(insn) << 12);

	return go_on(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_lui);

static bool emulate_c_slli(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), alu(ALU_SLL, false, get_reg(regs, rd(insn)), c_imm6(insn)));

	return go_on(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_slli);

/* c.srli, c.srai and c.andi */
static bool emulate_c_op_imm(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned int kind = field(insn, 10, 2), reg = c_high(insn);

	set_reg(regs, reg, alu(kind == 2 ? ALU_AND : ALU_SRL, kind == 1, get_reg(regs, reg),
			       c_imm6(insn)));

	return go_on(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_op_imm);

/* c.sub, c.xor, c.or and c.and */
static bool emulate_c_op(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	static const u8 funct3s[] = { ALU_ADD, ALU_XOR, ALU_OR, ALU_AND };
	unsigned int reg = c_high(insn);

	set_reg(regs, reg, alu(funct3s[field(insn, 5, 2)], true, get_reg(regs, reg),
			       get_reg(regs, c_low(insn))));

	return go_on(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_op);

/* c.subw and c.addw */
static bool __maybe_unused emulate_c_op_w(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned int reg = c_high(insn);

	set_reg(regs, reg, alu_w(ALU_ADD, !field(insn, 5, 1), get_reg(regs, reg),
				 get_reg(regs, c_low(insn))));

	return go_on(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_op_w);

/*
 * For the kernel: registers to and from its stack. What is at or above the stack
 * pointer can be accessed, and is not under the registers of the trap.
 */
static bool emulate_sp_load(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), *(unsigned long *)(regs->sp + imm_i(insn)));

	return go_on(addr, regs, 4);
}

NOKPROBE_SYMBOL(emulate_sp_load);

static bool emulate_sp_store(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	long imm = (insn >> 25) << 5 | rd(insn);

	*(unsigned long *)(regs->sp + imm) = get_reg(regs, rs2(insn));

	return go_on(addr, regs, 4);
}

NOKPROBE_SYMBOL(emulate_sp_store);

static bool __maybe_unused emulate_c_ldsp(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned long imm = field(insn, 2, 3) << 6 | field(insn, 12, 1) << 5 |
			    field(insn, 5, 2) << 3;

	set_reg(regs, rd(insn), *(unsigned long *)(regs->sp + imm));

	return go_on(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_ldsp);

static bool __maybe_unused emulate_c_sdsp(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned long imm = field(insn, 7, 3) << 6 | field(insn, 10, 3) << 3;

	*(unsigned long *)(regs->sp + imm) = get_reg(regs, c_rs2(insn));

	return go_on(addr, regs, 2);
}

NOKPROBE_SYMBOL(emulate_c_sdsp);

/*
 * Access to the status register. In a copy for a post_handler it would see
 * interrupts disabled, and what it changed would be taken back. The bit that
 * enables them is SR_PIE in what a trap has saved, SR_IE to the instruction.
 */
static bool emulate_csr_status(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned int funct3 = field(insn, 12, 3);
	unsigned long old, new, arg;

	arg = funct3 & 4 ? rs1(insn) : get_reg(regs, rs1(insn));
	old = regs->status & ~SR_IE;
	if (old & SR_PIE)
		old |= SR_IE;

	switch (funct3 & 3) {
	case 1:
		new = arg;
		break;
	case 2:
		new = old | arg;
		break;
	default:
		new = old & ~arg;
		break;
	}

	regs->status = new & ~(SR_IE | SR_PIE);
	if (new & SR_IE)
		regs->status |= SR_PIE;
	regs->status |= SR_PP;
	set_reg(regs, rd(insn), old);

	return go_on(addr, regs, 4);
}

NOKPROBE_SYMBOL(emulate_csr_status);

/**
 * struct form - one form of instruction that is emulated
 * @mask: the bits that tell it
 * @value: what they are
 * @operand: bits that must not all be 0, or it is another form; 0 when there are
 *	none
 * @handler: does it
 */
struct form {
	u32 mask;
	u32 value;
	u32 operand;
	probes_handler_t *handler;
};

#define C_RD		GENMASK(11, 7)
#define C_RS2		GENMASK(6, 2)
#define C_IMM6		(BIT(12) | GENMASK(6, 2))
#define C_IMM_SPN	GENMASK(12, 5)

/* All but the registers, and the number of a shift. */
#define SHIFT_MASK	(IS_ENABLED(CONFIG_64BIT) ? 0xfc00707f : 0xfe00707f)

/* What depends on its own address. */
static const struct form forms[] = {
	{ RVG_MASK_AUIPC, RVG_MATCH_AUIPC, 0, emulate_auipc },
	{ RVG_MASK_JAL, RVG_MATCH_JAL, 0, emulate_jal },
	{ RVG_MASK_JALR, RVG_MATCH_JALR, 0, emulate_jalr },
	{ 0x0000607f, 0x00000063, 0, emulate_branch },	/* beq, bne */
	{ 0x0000407f, 0x00004063, 0, emulate_branch },	/* blt, bge, bltu, bgeu */
	{ RVC_MASK_C_J, RVC_MATCH_C_J, 0, emulate_c_j },
	{ RVC_MASK_C_BEQZ, RVC_MATCH_C_BEQZ, 0, emulate_c_branch },
	{ RVC_MASK_C_BNEZ, RVC_MATCH_C_BNEZ, 0, emulate_c_branch },
	{ RVC_MASK_C_JR, RVC_MATCH_C_JR, C_RD, emulate_c_jr },
	{ RVC_MASK_C_JALR, RVC_MATCH_C_JALR, C_RD, emulate_c_jalr },
#ifndef CONFIG_64BIT
	{ 0xe003, 0x2001, 0, emulate_c_jal },
#endif
};

/*
 * What a copy could do as well: for the kernel only. A 32-bit program calculates
 * with half of each register, and faults where it can access nothing. Of those that
 * load and store, the operands are sp and an offset that is not negative.
 */
static const struct form kernel_forms[] = {
	{ 0x0000007f, 0x00000037, 0, emulate_lui },
	{ 0x0000707f, 0x00000013, 0, emulate_addi },
	{ SHIFT_MASK, 0x00001013, 0, emulate_op_imm },	/* slli */
	{ 0x0000607f, 0x00002013, 0, emulate_op_imm },	/* slti, sltiu */
	{ 0x0000707f, 0x00004013, 0, emulate_op_imm },	/* xori */
	{ SHIFT_MASK, 0x00005013, 0, emulate_op_imm },	/* srli */
	{ SHIFT_MASK, 0x40005013, 0, emulate_op_imm },	/* srai */
	{ 0x0000607f, 0x00006013, 0, emulate_op_imm },	/* ori, andi */
	{ 0xfe00007f, 0x00000033, 0, emulate_op },
	{ 0xfe00707f, 0x40000033, 0, emulate_op },	/* sub */
	{ 0xfe00707f, 0x40005033, 0, emulate_op },	/* sra */
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
	{ 0x0000707f, 0x0000001b, 0, emulate_op_imm_w },	/* addiw */
	{ 0xfe00707f, 0x0000101b, 0, emulate_op_imm_w },	/* slliw */
	{ 0xfe00707f, 0x0000501b, 0, emulate_op_imm_w },	/* srliw */
	{ 0xfe00707f, 0x4000501b, 0, emulate_op_imm_w },	/* sraiw */
	{ 0xfe00707f, 0x0000003b, 0, emulate_op_w },		/* addw */
	{ 0xfe00707f, 0x4000003b, 0, emulate_op_w },		/* subw */
	{ 0xfe00707f, 0x0000103b, 0, emulate_op_w },		/* sllw */
	{ 0xfe00707f, 0x0000503b, 0, emulate_op_w },		/* srlw */
	{ 0xfe00707f, 0x4000503b, 0, emulate_op_w },		/* sraw */
	{ 0xe003, 0x2001, C_RD, emulate_c_addiw },
	{ 0xfc43, 0x9c01, 0, emulate_c_op_w },
	{ 0x800ff07f, 0x00013003, 0, emulate_sp_load },		/* ld */
	{ 0x800ff07f, 0x00013023, 0, emulate_sp_store },	/* sd */
	{ 0xe003, 0x6002, C_RD, emulate_c_ldsp },
	{ 0xe003, 0xe002, 0, emulate_c_sdsp },
#else
	{ 0x800ff07f, 0x00012003, 0, emulate_sp_load },		/* lw */
	{ 0x800ff07f, 0x00012023, 0, emulate_sp_store },	/* sw */
#endif
};

static __always_inline probes_handler_t *find_in(const struct form *forms, unsigned int nr,
						 u32 insn)
{
	const struct form *form;

	for (form = forms; form < forms + nr; form++) {
		if ((insn & form->mask) == form->value &&
		    (!form->operand || insn & form->operand))
			return form->handler;
	}

	return NULL;
}

/* What does @insn without running it, or NULL. */
probes_handler_t *kprobe_find_emulation(u32 insn)
{
	return find_in(forms, ARRAY_SIZE(forms), insn);
}

NOKPROBE_SYMBOL(kprobe_find_emulation);

static __always_inline bool insn_is_csr(u32 insn)
{
	return riscv_insn_is_system(insn) && (field(insn, 12, 3) & 3);
}

/* The same for the kernel, where the emulated registers are those of a trap. */
probes_handler_t *kprobe_find_kernel_emulation(u32 insn)
{
	if (insn_is_csr(insn) && insn >> 20 == CSR_STATUS)
		return emulate_csr_status;

	return find_in(kernel_forms, ARRAY_SIZE(kernel_forms), insn) ?: kprobe_find_emulation(insn);
}

NOKPROBE_SYMBOL(kprobe_find_kernel_emulation);

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

bool kprobe_insn_is_sc(u32 insn)
{
	return insn_is_amo(insn, FUNCT5_SC);
}

/* wrs.nto and wrs.sto wait for a store to what is reserved, rather than making one. */
bool kprobe_insn_is_wrs(u32 insn)
{
	return insn == 0x00d00073 || insn == 0x01d00073;
}

/* Each trap writes them, or would not come through without them. */
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

/* funct7 of the instructions without a result that order memory accesses. */
static bool insn_is_memory_fence(u32 insn)
{
	static const u8 funct7s[] = {
		0x09, 0x0b, 0x0c, 0x11, 0x13, 0x31, 0x33,	/* [sh]fence, [sh]inval */
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(funct7s); i++) {
		if (funct7s[i] == insn >> 25)
			return true;
	}

	return false;
}

#define INSN_ECALL	0x00000073
#define INSN_EBREAK	0x00100073
#define INSN_WFI	0x10500073

static const char *system_refusal_reason(u32 insn)
{
	if (insn_is_csr(insn))
		return csr_belongs_to_traps(insn >> 20) ? "accesses a register of traps" : NULL;
	if (field(insn, 12, 3) || insn_is_memory_fence(insn))
		return NULL;

	switch (insn) {
	case INSN_ECALL:
		/* The firmware may stop the CPU, or resume it elsewhere. */
		return "calls the firmware, which need not return";
	case INSN_EBREAK:
		return "traps";
	case INSN_WFI:
		/* A copy waits as well, and goes on behind itself. */
		return NULL;
	default:
		return "returns from a trap, or is unknown";
	}
}

/* Why @insn must not be probed, or NULL. */
const char *kprobe_refusal_reason(u32 insn)
{
	if ((insn & 0x1f) == 0x1f)
		return "longer than 4 bytes";
	if (!insn || riscv_insn_is_c_ebreak(insn))
		return "traps";
	if (kprobe_insn_is_lr(insn) || kprobe_insn_is_sc(insn) || kprobe_insn_is_wrs(insn))
		return "the probe would break the reservation";
	if (riscv_insn_is_system(insn))
		return system_refusal_reason(insn);

	return NULL;
}

/**
 * riscv_probe_decode_insn() - how to do an instruction of user space
 * @addr: the instruction, and what follows it
 * @asi: receives the function that emulates it
 *
 * Context: Any.
 * Return: whether that does it, or a copy, or it must not be probed.
 */
enum probe_insn riscv_probe_decode_insn(probe_opcode_t *addr, struct arch_probe_insn *asi)
{
	u32 insn = *addr;

	if (insn_len(insn) == 2)
		insn = (u16)insn;
	asi->handler = NULL;
	if (kprobe_refusal_reason(insn))
		return INSN_REJECTED;

	asi->handler = kprobe_find_emulation(insn);

	return asi->handler ? INSN_GOOD_NO_SLOT : INSN_GOOD;
}
