/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files of the arm64 port share.
 *
 *	trap.c		writing breakpoints and handling their hits
 *	blacklist.c	code that must not be probed
 *	prepare.c	checking an address and preparing its probe
 *	decode.c	classifying instructions, for kprobes and uprobes
 *	emulate.c	simulating instructions that cannot be copied, for both
 *	copy.c		out-of-line copies, and the return from them
 *	relocate.c	re-encoding an instruction for a detour
 *	opt.c		writing jumps and their detours
 *	detour_hit.c	handling the hits of detours, and the end of copies in slots
 *	return.c	return probes
 *	jprobe.S	calling the handler of a jprobe
 *	entry.S		the entry code of detours, of the end of copies, and of diverted returns
 */
#ifndef _ARM64_KERNEL_PROBES_COMMON_H
#define _ARM64_KERNEL_PROBES_COMMON_H

#include <linux/bitops.h>
#include <linux/kprobes_port.h>
#include <linux/percpu.h>
#include <asm/cpufeature.h>
#include <asm/daifflags.h>
#include <asm/insn.h>
#include <asm/mmu.h>
#include <asm/probes.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>
#include <asm/uaccess.h>

#include "decode-insn.h"

/* decode.c */
const char *kprobe_insn_refusal(u32 insn);
bool kprobe_insn_is_exclusive(u32 insn);
bool kprobe_insn_is_load_exclusive(u32 insn);
probes_handler_t *kprobe_find_kernel_simulation(u32 insn);
bool kprobe_insn_is_simd_literal(u32 insn);

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

/* Tell BTI that the next instruction is not the target of an indirect branch. */
static __always_inline void clear_btype(struct pt_regs *regs)
{
	regs->pstate &= ~PSR_BTYPE_MASK;
}

/* Uprobes need nothing below. */
#ifdef CONFIG_KPROBES

/* prepare.c */
bool kprobe_is_before_function(unsigned long addr);

/* copy.c */
extern long kprobe_copy_reach;

int kprobe_prepare_copy(struct kprobe *p);
void kprobe_enter_copy(struct kprobe *p, struct pt_regs *regs);
void kprobe_enter_post_copy(struct kprobe *p, struct pt_regs *regs);
void kprobe_leave_post_copy(struct pt_regs *regs);

/*
 * The second copy runs with interrupts off, so that the hit stays on its CPU. preempt_count
 * cannot serve for that: the probed instruction may store it.
 */
static __always_inline void mask_daif(struct pt_regs *regs)
{
	__this_cpu_write(kprobe_ctlblk.saved_daif, regs->pstate & DAIF_MASK);
	regs->pstate |= PSR_I_BIT | PSR_F_BIT;
}

static __always_inline void restore_daif(struct pt_regs *regs)
{
	regs->pstate &= ~DAIF_MASK;
	regs->pstate |= __this_cpu_read(kprobe_ctlblk.saved_daif);
}

/*
 * Where TTBR0 emulates PAN, the entry of an exception closes user memory to handlers, and
 * shows in PSTATE whether it was closed. Do the same here, and return whether it was open: a
 * handler that accesses user memory closes it.
 */
static __always_inline bool kprobe_close_user_memory(struct pt_regs *regs)
{
	if (!system_uses_ttbr0_pan())
		return false;

	if (!(read_sysreg(ttbr0_el1) & TTBR_ASID_MASK)) {
		regs->pstate |= PSR_PAN_BIT;
		return false;
	}

	return uaccess_ttbr0_disable();
}

static __always_inline void kprobe_reopen_user_memory(bool was_open)
{
	if (was_open)
		uaccess_ttbr0_enable();
}

/*
 * May the probed code be using vector registers? A softirq does not record that it does. Then
 * handlers run with interrupts off, as in a trap: may_use_simd() tells them not to use any.
 */
static __always_inline bool kprobe_vectors_in_use(void)
{
	return IS_ENABLED(CONFIG_KERNEL_MODE_NEON) &&
	       (test_thread_flag(TIF_KERNEL_FPSTATE) || in_serving_softirq());
}

/* entry.S */
asmlinkage void kprobe_slot_post_entry(void);

/* Instructions that restore the link register and release the room for a struct pt_regs. */
#define UNFRAME		2

#ifdef CONFIG_OPTPROBES

#define MAX_RELOCATED	4

/**
 * struct relocation - an instruction that is re-encoded for another address
 * @addr: address of the original
 * @at: address that it is encoded for
 * @insns: instructions that do the same at @at
 * @nr: number of @insns
 */
struct relocation {
	unsigned long addr;
	unsigned long at;
	u32 insns[MAX_RELOCATED];
	unsigned int nr;
};

/* relocate.c */
extern long kprobe_detour_reach;

bool kprobe_branch_reaches(unsigned long from, unsigned long to);
enum detour_obstacle kprobe_relocate_insn(struct relocation *r, u32 insn,
					  probes_handler_t *simulate);

/* entry.S */
asmlinkage void kprobe_detour_entry(void);
asmlinkage void kprobe_detour_post_entry(void);
asmlinkage void kprobe_detour_leave(void);

/* opt.c */
void kprobe_fill_unframe(__le32 *image);

/* detour_hit.c */
struct detour;

unsigned long kprobe_detour_hit(struct detour *detour, struct pt_regs *regs);
unsigned long kprobe_detour_post(struct detour *detour, struct pt_regs *regs);
unsigned long kprobe_slot_post(struct kprobe *p, struct pt_regs *regs);
bool kprobe_detour_load(struct pt_regs *regs);
void kprobe_detour_leave_copy(struct pt_regs *regs);

#else

static inline void kprobe_fill_unframe(__le32 *image)
{
}

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

/* Return the address of the instruction behind the probed one. */
static __always_inline unsigned long pc_behind(const struct kprobe *p)
{
	return (unsigned long)p->addr + AARCH64_INSN_SIZE;
}

#endif /* CONFIG_KPROBES */
#endif /* _ARM64_KERNEL_PROBES_COMMON_H */
