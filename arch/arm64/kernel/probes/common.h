/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files of the arm64 port share.
 *
 *	trap.c		breakpoints, and what a hit does
 *	blacklist.c	where no breakpoint may be
 *	prepare.c	which addresses can be probed
 *	decode.c	what kind of instruction is it? Serves uprobes too
 *	emulate.c	instructions that must not run elsewhere; uprobes too
 *	copy.c		all others: the out-of-line copy, and the way out of it
 *	relocate.c	the instruction, encoded anew for a detour
 *	opt.c		jumps written, and detours taken
 *	return.c	diverted returns
 *	entry.S		the landing places of detours and diverted returns
 */
#ifndef _ARM64_KERNEL_PROBES_COMMON_H
#define _ARM64_KERNEL_PROBES_COMMON_H

#include <linux/bitops.h>
#include <linux/kprobes_port.h>
#include <asm/probes.h>
#include <asm/ptrace.h>

#include "decode-insn.h"

/* decode.c */
const char *kprobe_insn_refusal(u32 insn);
bool kprobe_insn_is_exclusive(u32 insn);
bool kprobe_insn_is_load_exclusive(u32 insn);
probes_handler_t *kprobe_find_kernel_simulation(u32 insn);
bool kprobe_insn_is_simd_literal(u32 insn);

/* The offset that a direct branch has, 0 for any other instruction. */
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

/* How far away the literal of a load is. */
static __always_inline long insn_literal_offset(u32 insn)
{
	return (long)sign_extend32(insn >> 5, 18) * 4;
}

/* The address that an ADR or ADRP at @addr computes. */
static __always_inline unsigned long insn_adr_value(u32 insn, unsigned long addr)
{
	long offset = (long)sign_extend32(insn >> 5, 18) << 2 | (insn >> 29 & 3);

	/* ADRP counts in units of 4K, whatever pages the kernel has. */
	if (insn & BIT(31))
		return (addr & ~0xfffUL) + (offset << 12);

	return addr + offset;
}

/* emulate.c */
probes_handler_t kprobe_simulate_nop;
probes_handler_t kprobe_simulate_b_bl;
probes_handler_t kprobe_simulate_b_cond;
probes_handler_t kprobe_simulate_cbz_cbnz;
probes_handler_t kprobe_simulate_tbz_tbnz;
probes_handler_t kprobe_simulate_adr_adrp;
probes_handler_t kprobe_simulate_br_blr_ret;
probes_handler_t kprobe_simulate_br_blr_ret_auth;
probes_handler_t kprobe_simulate_ldr_literal;
probes_handler_t kprobe_simulate_ldrsw_literal;
probes_handler_t kprobe_simulate_mrs_daif;
probes_handler_t kprobe_simulate_msr_daif;
probes_handler_t kprobe_simulate_msr_daif_imm;

/* No instruction has been come to by a branch, as far as BTI is concerned. */
static __always_inline void clear_btype(struct pt_regs *regs)
{
	regs->pstate &= ~PSR_BTYPE_MASK;
}

/* The rest is for kprobes alone. */
#ifdef CONFIG_KPROBES

/* trap.c */
bool kprobe_is_armed(const struct kprobe *p);

/* prepare.c */
bool kprobe_is_before_function(unsigned long addr);

/* copy.c */
extern long copy_reach;

int kprobe_prepare_copy(struct kprobe *p);
void kprobe_remove_copy(struct kprobe *p);
void kprobe_enter_copy(struct kprobe *p, struct pt_regs *regs);
void kprobe_enter_post_copy(struct kprobe *p, struct pt_regs *regs);

#ifdef CONFIG_OPTPROBES

#define MAX_RELOCATED	4

/**
 * struct relocation - an instruction in another place
 * @addr: where it is
 * @at: where the other place is
 * @insns: what does the same there
 * @nr: how many there are
 */
struct relocation {
	unsigned long addr;
	unsigned long at;
	u32 insns[MAX_RELOCATED];
	unsigned int nr;
};

/* relocate.c */
extern long detour_reach;

bool kprobe_branch_reaches(unsigned long from, unsigned long to);
u32 kprobe_branch_insn(unsigned long from, unsigned long to);
enum detour_obstacle kprobe_relocate_insn(struct relocation *r, u32 insn,
					  probes_handler_t *simulate);

/* entry.S */
asmlinkage void kprobe_detour_entry(void);
asmlinkage void kprobe_detour_post_entry(void);
asmlinkage void kprobe_detour_leave(void);

/* opt.c */
struct detour;

unsigned long kprobe_detour_hit(struct detour *detour, struct pt_regs *regs);
unsigned long kprobe_detour_post(struct detour *detour, struct pt_regs *regs);
bool kprobe_detour_load(struct pt_regs *regs);
void kprobe_detour_leave_copy(struct pt_regs *regs);

#else

static inline bool kprobe_detour_load(struct pt_regs *regs)
{
	return false;
}

static inline void kprobe_detour_leave_copy(struct pt_regs *regs)
{
}

#endif /* CONFIG_OPTPROBES */

/* return.c */
unsigned long kretprobe_trampoline_return(struct pt_regs *regs);

/* Address of the instruction behind the probed one. */
static __always_inline unsigned long pc_behind(const struct kprobe *p)
{
	return (unsigned long)p->addr + AARCH64_INSN_SIZE;
}

#endif /* CONFIG_KPROBES */
#endif /* _ARM64_KERNEL_PROBES_COMMON_H */
