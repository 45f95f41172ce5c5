// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emulating instructions that use the PC, set the link register, or access the
 * exception mask.
 */
#include <linux/kprobes.h>
#include <linux/sched/signal.h>
#include <asm/mmu_context.h>

#include "common.h"

static __always_inline unsigned int insn_field(u32 insn, unsigned int shift, unsigned int bits)
{
	return (insn >> shift) & (BIT(bits) - 1);
}

/* Register 31 is the zero register here. */
static __always_inline u64 get_reg(struct pt_regs *regs, unsigned int n)
{
	return n == 31 ? 0 : regs->regs[n];
}

static __always_inline void set_reg(struct pt_regs *regs, unsigned int n, u64 value)
{
	if (n != 31)
		regs->regs[n] = value;
}

/* The emulated instruction consumes BTYPE, as executing it would. */
static __always_inline void go_on(struct pt_regs *regs, long addr)
{
	clear_btype(regs);
	regs->pc = addr + AARCH64_INSN_SIZE;
}

static __always_inline void branch_if(bool taken, u32 insn, long addr, struct pt_regs *regs)
{
	clear_btype(regs);
	regs->pc = addr + (taken ? insn_branch_offset(insn) : AARCH64_INSN_SIZE);
}

void kprobe_emulate_nop(u32 insn, long addr, struct pt_regs *regs)
{
	go_on(regs, addr);
}

NOKPROBE_SYMBOL(kprobe_emulate_nop);

static noinline void use_gcs(bool call, long addr, struct pt_regs *regs)
{
	int err = 0;

	if (call)
		push_user_gcs(addr + AARCH64_INSN_SIZE, &err);
	else if (pop_user_gcs(&err) != regs->pc)
		err = -EPERM;
	if (!err)
		return;

	regs->pc = addr;
	force_sig(SIGSEGV);
}

NOKPROBE_SYMBOL(use_gcs);

/*
 * The call or return at @addr has been emulated. A program may have a guarded control stack, onto
 * which calls push the address to return to, and from which returns pop it. The program gets a
 * signal at @addr if that fails, or if it would return elsewhere.
 */
static __always_inline void follow_gcs(bool call, long addr, struct pt_regs *regs)
{
	if (unlikely(user_mode(regs) && task_gcs_el0_enabled(current)))
		use_gcs(call, addr, regs);
}

void kprobe_emulate_b_bl(u32 insn, long addr, struct pt_regs *regs)
{
	branch_if(true, insn, addr, regs);
	if (insn & BIT(31)) {
		regs->regs[30] = addr + AARCH64_INSN_SIZE;
		follow_gcs(true, addr, regs);
	}
}

NOKPROBE_SYMBOL(kprobe_emulate_b_bl);

void kprobe_emulate_b_cond(u32 insn, long addr, struct pt_regs *regs)
{
	pstate_check_t *check = aarch32_opcode_cond_checks[insn_field(insn, 0, 4)];

	branch_if(check(regs->pstate), insn, addr, regs);
}

NOKPROBE_SYMBOL(kprobe_emulate_b_cond);

void kprobe_emulate_cbz_cbnz(u32 insn, long addr, struct pt_regs *regs)
{
	u64 value = get_reg(regs, insn_field(insn, 0, 5));
	bool nonzero = insn & BIT(31) ? value : (u32)value;

	branch_if(nonzero == insn_field(insn, 24, 1), insn, addr, regs);
}

NOKPROBE_SYMBOL(kprobe_emulate_cbz_cbnz);

void kprobe_emulate_tbz_tbnz(u32 insn, long addr, struct pt_regs *regs)
{
	unsigned int bit = insn_field(insn, 31, 1) << 5 | insn_field(insn, 19, 5);
	bool set = get_reg(regs, insn_field(insn, 0, 5)) & BIT_ULL(bit);

	branch_if(set == insn_field(insn, 24, 1), insn, addr, regs);
}

NOKPROBE_SYMBOL(kprobe_emulate_tbz_tbnz);

void kprobe_emulate_adr_adrp(u32 insn, long addr, struct pt_regs *regs)
{
	set_reg(regs, insn_field(insn, 0, 5), insn_adr_value(insn, addr));
	go_on(regs, addr);
}

NOKPROBE_SYMBOL(kprobe_emulate_adr_adrp);

/* BR, BLR and RET differ in two bits. */
enum { BRANCH_BR, BRANCH_BLR, BRANCH_RET };

/* Return the BTYPE that the branch sets, by which BTI checks the target. */
static unsigned long btype_of(unsigned int kind, unsigned int n)
{
	if (!IS_ENABLED(CONFIG_ARM64_BTI_KERNEL) || !system_supports_bti_kernel())
		return PSR_BTYPE_NONE;
	if (kind == BRANCH_BLR)
		return PSR_BTYPE_C;
	if (kind == BRANCH_BR)
		return n == 16 || n == 17 ? PSR_BTYPE_JC : PSR_BTYPE_J;

	return PSR_BTYPE_NONE;
}

NOKPROBE_SYMBOL(btype_of);

static void branch_to(u64 target, u32 insn, long addr, struct pt_regs *regs)
{
	unsigned int kind = insn_field(insn, 21, 2);

	if (kind == BRANCH_BLR)
		regs->regs[30] = addr + AARCH64_INSN_SIZE;
	clear_btype(regs);
	regs->pc = target;
	if (!user_mode(regs))
		regs->pstate |= btype_of(kind, insn_field(insn, 5, 5));
	if (kind != BRANCH_BR)
		follow_gcs(kind == BRANCH_BLR, addr, regs);
}

NOKPROBE_SYMBOL(branch_to);

void kprobe_emulate_br_blr_ret(u32 insn, long addr, struct pt_regs *regs)
{
	/* Read the target first: BLR may overwrite its register. */
	branch_to(get_reg(regs, insn_field(insn, 5, 5)), insn, addr, regs);
}

NOKPROBE_SYMBOL(kprobe_emulate_br_blr_ret);

/* The probed code's keys are still loaded. A bad pointer may fault here. */
static u64 authenticate(u64 pointer, u64 modifier, bool key_b)
{
	if (!IS_ENABLED(CONFIG_ARM64_PTR_AUTH_KERNEL))
		return pointer;

	if (key_b)
		asm(ARM64_ASM_PREAMBLE "autib %0, %1" : "+r" (pointer) : "r" (modifier));
	else
		asm(ARM64_ASM_PREAMBLE "autia %0, %1" : "+r" (pointer) : "r" (modifier));

	return pointer;
}

NOKPROBE_SYMBOL(authenticate);

/* BRAA and the like take the modifier from a register, BRAAZ uses 0, RETAA the sp. */
void kprobe_emulate_br_blr_ret_auth(u32 insn, long addr, struct pt_regs *regs)
{
	bool is_ret = insn_field(insn, 21, 2) == BRANCH_RET;
	unsigned int n = insn_field(insn, 0, 5);
	u64 modifier;

	if (is_ret)
		modifier = regs->sp;
	else if (insn & BIT(24))
		modifier = n == 31 ? regs->sp : get_reg(regs, n);
	else
		modifier = 0;

	branch_to(authenticate(get_reg(regs, is_ret ? 30 : insn_field(insn, 5, 5)), modifier,
			       insn & BIT(10)), insn, addr, regs);
}

NOKPROBE_SYMBOL(kprobe_emulate_br_blr_ret_auth);

/* prepare_emulation() has checked that the literal can be read. */
void kprobe_emulate_ldr_literal(u32 insn, long addr, struct pt_regs *regs)
{
	const void *literal = (const void *)(addr + insn_literal_offset(insn));
	u64 value;

	if (insn & BIT(30))
		value = *(const u64 *)literal;
	else if (insn & BIT(31))
		value = *(const s32 *)literal;
	else
		value = *(const u32 *)literal;
	set_reg(regs, insn_field(insn, 0, 5), value);
	go_on(regs, addr);
}

NOKPROBE_SYMBOL(kprobe_emulate_ldr_literal);

/*
 * Instructions that access the exception mask are emulated, since the second copy
 * runs with another mask than the probed code.
 */
void kprobe_emulate_mrs_daif(u32 insn, long addr, struct pt_regs *regs)
{
	set_reg(regs, insn_field(insn, 0, 5), regs->pstate & DAIF_MASK);
	go_on(regs, addr);
}

NOKPROBE_SYMBOL(kprobe_emulate_mrs_daif);

void kprobe_emulate_msr_daif(u32 insn, long addr, struct pt_regs *regs)
{
	regs->pstate &= ~DAIF_MASK;
	regs->pstate |= get_reg(regs, insn_field(insn, 0, 5)) & DAIF_MASK;
	go_on(regs, addr);
}

NOKPROBE_SYMBOL(kprobe_emulate_msr_daif);

/* DAIFSet has op2 6, DAIFClr 7. */
void kprobe_emulate_msr_daif_imm(u32 insn, long addr, struct pt_regs *regs)
{
	unsigned long bits = (unsigned long)insn_field(insn, 8, 4) << 6;

	if (insn & BIT(5))
		regs->pstate &= ~bits;
	else
		regs->pstate |= bits;
	go_on(regs, addr);
}

NOKPROBE_SYMBOL(kprobe_emulate_msr_daif_imm);
