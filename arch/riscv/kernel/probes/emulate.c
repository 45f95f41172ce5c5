// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emulating instructions. Those that depend on their own address, branches and
 * auipc, cannot be copied. Some others, which compilers use often, are emulated
 * because a copy costs a second trap.
 *
 * All get the instruction as kprobe_expand_insn() returns it.
 */
#include <linux/array_size.h>
#include <asm/csr.h>

#include "common.h"
#include "decode-insn.h"

/* struct pt_regs has the registers in order, except for epc in place of x0. */
static __always_inline unsigned long get_reg(struct pt_regs *regs, unsigned int nr)
{
	return nr ? ((unsigned long *)regs)[nr] : 0;
}

/* Where x0 would be is epc, to which every emulation writes after this. */
static __always_inline void set_reg(struct pt_regs *regs, unsigned int nr, unsigned long value)
{
	((unsigned long *)regs)[nr] = value;
}

static __always_inline bool go_on(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	regs->epc = addr + insn_len(insn);

	return true;
}

/* funct3 of arithmetic instructions; SUB and SRA are ADD and SRL with @alt. */
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

static bool emulate_lui(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), imm_u(insn));

	return go_on(insn, addr, regs);
}

NOKPROBE_SYMBOL(emulate_lui);

static bool emulate_auipc(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), addr + imm_u(insn));

	return go_on(insn, addr, regs);
}

NOKPROBE_SYMBOL(emulate_auipc);

static bool emulate_addi(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), get_reg(regs, rs1(insn)) + imm_i(insn));

	return go_on(insn, addr, regs);
}

NOKPROBE_SYMBOL(emulate_addi);

/* Selects SUB or SRA. */
#define ALT	BIT(30)

static bool emulate_op(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), alu(insn_field(insn, 12, 3), insn & ALT, get_reg(regs, rs1(insn)),
				    get_reg(regs, rs2(insn))));

	return go_on(insn, addr, regs);
}

NOKPROBE_SYMBOL(emulate_op);

static bool __maybe_unused emulate_op_w(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), alu_w(insn_field(insn, 12, 3), insn & ALT,
				      get_reg(regs, rs1(insn)), get_reg(regs, rs2(insn))));

	return go_on(insn, addr, regs);
}

NOKPROBE_SYMBOL(emulate_op_w);

/* Bit 30 selects SRA only for a shift; otherwise it belongs to the immediate. */
static bool emulate_op_imm(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned int funct3 = insn_field(insn, 12, 3);

	set_reg(regs, rd(insn), alu(funct3, funct3 == ALU_SRL && insn & ALT,
				    get_reg(regs, rs1(insn)), imm_i(insn)));

	return go_on(insn, addr, regs);
}

NOKPROBE_SYMBOL(emulate_op_imm);

static bool __maybe_unused emulate_op_imm_w(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned int funct3 = insn_field(insn, 12, 3);

	set_reg(regs, rd(insn), alu_w(funct3, funct3 == ALU_SRL && insn & ALT,
				      get_reg(regs, rs1(insn)), imm_i(insn)));

	return go_on(insn, addr, regs);
}

NOKPROBE_SYMBOL(emulate_op_imm_w);

static bool emulate_jal(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), addr + insn_len(insn));
	regs->epc = addr + riscv_insn_extract_jtype_imm(insn);

	return true;
}

NOKPROBE_SYMBOL(emulate_jal);

/* Read the target before writing the link register: they may be the same register. */
static bool emulate_jalr(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned long target = get_reg(regs, rs1(insn)) + imm_i(insn);

	set_reg(regs, rd(insn), addr + insn_len(insn));
	regs->epc = target & ~1UL;

	return true;
}

NOKPROBE_SYMBOL(emulate_jalr);

/* The lowest bit of funct3 negates the condition that the other bits select. */
static bool emulate_branch(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned long a = get_reg(regs, rs1(insn)), b = get_reg(regs, rs2(insn));
	unsigned int funct3 = insn_field(insn, 12, 3);
	bool taken;

	if (funct3 < RVG_FUNCT3_BLT)
		taken = a == b;
	else if (funct3 < RVG_FUNCT3_BLTU)
		taken = (long)a < (long)b;
	else
		taken = a < b;
	if (funct3 & 1)
		taken = !taken;

	regs->epc = addr + (taken ? RV_EXTRACT_BTYPE_IMM((s32)insn) : insn_len(insn));

	return true;
}

NOKPROBE_SYMBOL(emulate_branch);

/*
 * Loads and stores on the kernel stack, for kprobes only. Memory at or above the stack
 * pointer can be accessed, and does not overlap the registers that the trap saved.
 */
static bool emulate_sp_load(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	set_reg(regs, rd(insn), *(unsigned long *)(regs->sp + imm_i(insn)));

	return go_on(insn, addr, regs);
}

NOKPROBE_SYMBOL(emulate_sp_load);

static bool emulate_sp_store(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	long imm = (insn >> 25) << 5 | rd(insn);

	*(unsigned long *)(regs->sp + imm) = get_reg(regs, rs2(insn));

	return go_on(insn, addr, regs);
}

NOKPROBE_SYMBOL(emulate_sp_store);

/*
 * Access to the status register. A copy for a post_handler runs with interrupts
 * disabled: it would read that, and its change of SR_IE would be lost. The trap has
 * saved the SR_IE that the instruction accesses as SR_PIE.
 */
static bool emulate_csr_status(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	unsigned int funct3 = insn_field(insn, 12, 3);
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

	return go_on(insn, addr, regs);
}

NOKPROBE_SYMBOL(emulate_csr_status);

/**
 * struct form - an encoding that is emulated
 * @mask: bits that identify it
 * @value: value of these bits
 * @handler: emulates it
 */
struct form {
	u32 mask;
	u32 value;
	probes_handler_t *handler;
};

static __always_inline probes_handler_t *find_form(const struct form *forms, unsigned int nr,
						   u32 insn)
{
	const struct form *form;

	/* The length, in the two lowest bits, does not matter. No form is that of 0. */
	for (form = forms; form < forms + nr; form++) {
		if (((insn | 3) & form->mask) == form->value)
			return form->handler;
	}

	return NULL;
}

/* All bits except the registers and the shift amount. */
#define SHIFT_MASK	(IS_ENABLED(CONFIG_64BIT) ? 0xfc00707f : 0xfe00707f)

/* Instructions that depend on their own address. */
static const struct form forms[] = {
	{ RVG_MASK_AUIPC, RVG_MATCH_AUIPC, emulate_auipc },
	{ RVG_MASK_JAL, RVG_MATCH_JAL, emulate_jal },
	{ RVG_MASK_JALR, RVG_MATCH_JALR, emulate_jalr },
	{ 0x0000607f, 0x00000063, emulate_branch },	/* beq, bne */
	{ 0x0000407f, 0x00004063, emulate_branch },	/* blt, bge, bltu, bgeu */
};

/*
 * Instructions that could be copied as well, emulated for kprobes only: a 32-bit
 * program calculates with half of each register, and its loads and stores may fault.
 * The loads and stores are those with sp and an offset that is not negative.
 */
static const struct form kernel_forms[] = {
	{ 0x0000007f, 0x00000037, emulate_lui },
	{ 0x0000707f, 0x00000013, emulate_addi },
	{ SHIFT_MASK, 0x00001013, emulate_op_imm },	/* slli */
	{ 0x0000207f, 0x00002013, emulate_op_imm },	/* slti, sltiu, ori, andi */
	{ 0x0000707f, 0x00004013, emulate_op_imm },	/* xori */
	{ SHIFT_MASK & ~ALT, 0x00005013, emulate_op_imm },	/* srli, srai */
	{ 0xfe00007f, 0x00000033, emulate_op },
	{ 0xfe00707f, 0x40000033, emulate_op },	/* sub */
	{ 0xfe00707f, 0x40005033, emulate_op },	/* sra */
#ifdef CONFIG_64BIT
	{ 0x0000707f, 0x0000001b, emulate_op_imm_w },	/* addiw */
	{ 0xfe00707f, 0x0000101b, emulate_op_imm_w },	/* slliw */
	{ 0xfe00707f & ~ALT, 0x0000501b, emulate_op_imm_w },	/* srliw, sraiw */
	{ 0xfe00707f & ~ALT, 0x0000003b, emulate_op_w },	/* addw, subw */
	{ 0xfe00707f, 0x0000103b, emulate_op_w },		/* sllw */
	{ 0xfe00707f & ~ALT, 0x0000503b, emulate_op_w },	/* srlw, sraw */
	{ 0x800ff07f, 0x00013003, emulate_sp_load },		/* ld */
	{ 0x800ff07f, 0x00013023, emulate_sp_store },	/* sd */
#else
	{ 0x800ff07f, 0x00012003, emulate_sp_load },		/* lw */
	{ 0x800ff07f, 0x00012023, emulate_sp_store },	/* sw */
#endif
};

/* Uprobes know nothing of the expansion. */
static bool emulate_compressed(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	u32 expanded = kprobe_expand_insn((u16)insn);

	return find_form(forms, ARRAY_SIZE(forms), expanded)(expanded, addr, regs);
}

/* Return the function that emulates @expanded for kprobes, or NULL. */
probes_handler_t *kprobe_find_kernel_emulation(u32 expanded)
{
	if (insn_is_csr(expanded) && expanded >> 20 == CSR_STATUS)
		return emulate_csr_status;

	return find_form(kernel_forms, ARRAY_SIZE(kernel_forms), expanded) ?:
	       find_form(forms, ARRAY_SIZE(forms), expanded);
}

NOKPROBE_SYMBOL(kprobe_find_kernel_emulation);

/**
 * riscv_probe_decode_insn() - decide how a uprobe executes an instruction
 * @addr: the instruction, and the bytes after it
 * @asi: gets the handler that emulates it, or NULL
 *
 * Context: Any.
 * Return: whether it can be probed, and whether it is emulated.
 */
enum probe_insn riscv_probe_decode_insn(probe_opcode_t *addr, struct arch_probe_insn *asi)
{
	u32 insn = *addr;

	if (insn_len(insn) == 2)
		insn = (u16)insn;
	asi->handler = NULL;
	if (kprobe_refusal_reason(insn))
		return INSN_REJECTED;

	asi->handler = find_form(forms, ARRAY_SIZE(forms), kprobe_expand_insn(insn));
	if (!asi->handler)
		return INSN_GOOD;
	if (insn_len(insn) == 2)
		asi->handler = emulate_compressed;

	return INSN_GOOD_NO_SLOT;
}
