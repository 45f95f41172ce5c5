/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of the arm64 port, and their declarations.
 *
 *	text.c		writing breakpoints
 *	trap.c		handling their hits
 *	blacklist.c	code that must not be probed
 *	prepare.c	checking an address and preparing its probe
 *	decode.c	classifying instructions, for kprobes and uprobes
 *	emulate.c	emulating instructions that cannot be copied, for both
 *	copy.c		out-of-line copies, and the return from them
 *	where.c		the original of an address in a copy or a detour
 *	emit.c		generating the code of a detour
 *	opt.c		preparing, writing and removing jumps
 *	detour_hit.c	handling the hits of detours, and the end of copies in slots
 *	return.c	return probes
 *	jprobe.S	calling the handler of a jprobe
 *	entry.S		the entry code of detours, of the end of copies, and of diverted returns
 *
 * Files and functions with the same duty have the same name in all ports. What differs here:
 *
 *	kprobe_detour_write()		returns the obstacle: the place of the slot decides
 *	no region.c			a jump covers one instruction
 *	no kprobe_detour_enter()	for the same reason: kprobe_finish_and_follow() just ends
 */
#ifndef _ARM64_KERNEL_PROBES_COMMON_H
#define _ARM64_KERNEL_PROBES_COMMON_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/linkage.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <asm/cpufeature.h>
#include <asm/daifflags.h>
#include <asm/insn.h>
#include <asm/kprobes_base.h>
#include <asm/mmu.h>
#include <asm/probes.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>
#include <asm/uaccess.h>

/* -- operands, of instructions that depend on their address -- */

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

/* -- decode.c -- */

const char *kprobe_refusal_reason(u32 insn);
bool kprobe_insn_is_exclusive(u32 insn);
bool kprobe_insn_is_load_exclusive(u32 insn);
probes_handler_t *kprobe_find_emulation(u32 insn, bool kernel);
bool kprobe_insn_is_simd_literal(u32 insn);

/* -- emulate.c -- */

probes_handler_t kprobe_emulate_nop;
probes_handler_t kprobe_emulate_b_bl;
probes_handler_t kprobe_emulate_b_cond;
probes_handler_t kprobe_emulate_cbz_cbnz;
probes_handler_t kprobe_emulate_tbz_tbnz;
probes_handler_t kprobe_emulate_adr_adrp;
probes_handler_t kprobe_emulate_br_blr_ret;
probes_handler_t kprobe_emulate_br_blr_ret_auth;
probes_handler_t kprobe_emulate_ldr_literal;
probes_handler_t kprobe_emulate_mrs_daif;
probes_handler_t kprobe_emulate_msr_daif;
probes_handler_t kprobe_emulate_msr_daif_imm;

/* The next instruction is not the target of an indirect branch, as BTI understands it. */
static __always_inline void clear_btype(struct pt_regs *regs)
{
	regs->pstate &= ~PSR_BTYPE_MASK;
}

/* Uprobes need nothing below. Where there are kprobes, there is always CONFIG_OPTPROBES. */
#ifdef CONFIG_KPROBES

/* Return the address of the instruction after the probed one. */
static __always_inline unsigned long pc_after(const struct kprobe *p)
{
	return (unsigned long)p->addr + AARCH64_INSN_SIZE;
}

/* In TTBR0_EL1: zero while no user memory can be accessed. */
#define TTBR_ASID	GENMASK(63, 48)

/*
 * Where TTBR0 emulates PAN, the entry of an exception closes user memory to handlers, and
 * shows in PSTATE whether it was closed. Do the same here, and return whether it was open: a
 * handler that accesses user memory closes it.
 */
static __always_inline bool kprobe_close_user_memory(struct pt_regs *regs)
{
	if (!system_uses_ttbr0_pan())
		return false;

	if (!(read_sysreg(ttbr0_el1) & TTBR_ASID)) {
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
 * May the probed code be using vector registers, or changing what is known of their contents?
 * A softirq does not record that it uses them, and for the rest get_cpu_fpsimd_context() keeps
 * softirqs or preemption off. Then handlers run with interrupts off, as in a trap:
 * may_use_simd() tells them not to use any.
 *
 * To be asked while preempt_count() is that of the probed code.
 */
static __always_inline bool kprobe_vectors_in_use(void)
{
	return IS_ENABLED(CONFIG_KERNEL_MODE_NEON) &&
	       (test_thread_flag(TIF_KERNEL_FPSTATE) ||
		(IS_ENABLED(CONFIG_PREEMPT_RT) ? preempt_count() : softirq_count()));
}

/* -- return.c -- */

unsigned long kretprobe_trampoline_return(struct pt_regs *regs);

/* -- text.c, prepare.c -- */

bool kprobe_text_is_brk(unsigned long addr);
bool kprobe_is_before_function(unsigned long addr);

/* -- copy.c -- */

/* Instructions that restore the link register and release the room for a struct pt_regs. */
#define RELEASE_INSNS		2

/**
 * struct slot - contents of an instruction slot
 * @addr: address of the original instruction
 * @back: the copy, and the branch after the original or a breakpoint
 * @post: the copy, and the branch to kprobe_slot_post_entry() or a breakpoint
 * @literal: the literal of an instruction that loads one into a SIMD register
 * @after: where kprobe_slot_post_entry() returns to: restores the link register, releases
 *	the struct pt_regs on the stack, and branches to back[1]; the same in all slots, so
 *	written once per page
 */
struct slot {
	unsigned long addr;
	__le32 back[2];
	__le32 post[2];
	u8 literal[16];
	__le32 after[RELEASE_INSNS + 1];
};

static_assert(sizeof(struct slot) == KPROBE_INSN_SLOT_SIZE);

static __always_inline struct slot *slot_of(struct kprobe *p)
{
	return (struct slot *)kprobe_xol_insn(p);
}

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

extern long kprobe_copy_reach;

/* entry.S */
asmlinkage void kprobe_slot_post_entry(void);

int kprobe_prepare_copy(struct kprobe *p);
void kprobe_enter_post_copy(struct kprobe *p, struct pt_regs *regs);

/* Continue at the first copy. */
static __always_inline void kprobe_enter_copy(struct kprobe *p, struct pt_regs *regs)
{
	regs->pc = (unsigned long)slot_of(p)->back;
}

/* -- emit.c -- */

#define MAX_RELOCATED	4

/**
 * struct relocation - an instruction that is re-encoded for another address
 * @addr: address of the original
 * @at: address that it is encoded for
 * @insns: instructions that do the same at @at
 * @nr: number of @insns
 * @obstacle: why these do not do the same, or %DETOUR_POSSIBLE
 */
struct relocation {
	unsigned long addr;
	unsigned long at;
	u32 insns[MAX_RELOCATED];
	unsigned int nr;
	enum detour_obstacle obstacle;
};

extern long kprobe_detour_reach;

bool kprobe_branch_reaches(unsigned long from, unsigned long to);
enum detour_obstacle kprobe_relocate_insn(struct relocation *r, u32 insn,
					  probes_handler_t *emulate);

/**
 * struct detour - contents of a detour's slot
 * @op: the probe that it belongs to
 * @entry: makes room for the registers and calls kprobe_detour_entry()
 * @copy: restores the link register, releases the room, and executes the instruction
 * @post: like @copy, then calls kprobe_detour_post_entry()
 * @after: restores and releases as @copy, then branches after the original
 */
struct detour {
	struct optimized_kprobe *op;
	__le32 entry[3];
	__le32 copy[RELEASE_INSNS + MAX_RELOCATED];
	__le32 post[RELEASE_INSNS + 1 + 3];
	__le32 after[RELEASE_INSNS + 1];
};

static_assert(sizeof(struct detour) == MAX_OPTINSN_SIZE * sizeof(kprobe_opcode_t));

void kprobe_fill_release(__le32 *image);
enum detour_obstacle kprobe_detour_write(struct detour *d, struct optimized_kprobe *op);

/* -- detour_hit.c -- */

/* entry.S */
asmlinkage void kprobe_detour_entry(void);
asmlinkage void kprobe_detour_post_entry(void);
asmlinkage void kprobe_detour_leave(void);

unsigned long kprobe_detour_hit(struct detour *detour, struct pt_regs *regs);
unsigned long kprobe_detour_post(struct detour *detour, struct pt_regs *regs);
unsigned long kprobe_slot_post(struct kprobe *p, struct pt_regs *regs);
bool kprobe_detour_elsewhere(struct pt_regs *regs);

#endif /* CONFIG_KPROBES */
#endif /* _ARM64_KERNEL_PROBES_COMMON_H */
