/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of the arm64 port, and what all of them share. Each has its declarations in a
 * header of its name.
 *
 *	text.c		writing breakpoints
 *	trap.c		handling their hits
 *	blacklist.c	code that must not be probed
 *	prepare.c	checking an address and preparing its probe
 *	decode.c	classifying instructions, for kprobes and uprobes
 *	emulate.c	emulating instructions that cannot be copied, for both
 *	copy.c		out-of-line copies, and the return from them
 *	where.c		the original of an address in a copy or a detour
 *	relocate.c	re-encoding an instruction for a detour
 *	emit.c		generating the code of a detour
 *	opt.c		preparing, writing and removing jumps
 *	detour.c	maps between the probed code and a detour
 *	detour_hit.c	handling the hits of detours, and the end of copies in slots
 *	return.c	return probes
 *	jprobe.S	calling the handler of a jprobe
 *	entry.S		the entry code of detours, of the end of copies, and of diverted returns
 *
 * Files and functions with the same duty have the same name in all ports. What differs here:
 *
 *	relocate.c			part of emit.c elsewhere; the tests run it by itself
 *	kprobe_detour_write()		returns the obstacle: the place of the slot decides
 *	no region.c			a jump covers one instruction
 *	no kprobe_detour_enter()	for the same reason, and so no kprobe_finish_and_follow()
 *	arch_kprobe_insn_pc()		what x86 calls ip is pc here
 */
#ifndef _ARM64_KERNEL_PROBES_COMMON_H
#define _ARM64_KERNEL_PROBES_COMMON_H

#include <linux/kprobes.h>
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

/* Uprobes need nothing below. */
#ifdef CONFIG_KPROBES

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

/* return.c */
unsigned long kretprobe_trampoline_return(struct pt_regs *regs);

/* Return the address of the instruction behind the probed one. */
static __always_inline unsigned long pc_behind(const struct kprobe *p)
{
	return (unsigned long)p->addr + AARCH64_INSN_SIZE;
}

#endif /* CONFIG_KPROBES */
#endif /* _ARM64_KERNEL_PROBES_COMMON_H */
