/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of the RISC-V port, and what all of them share. Each has its declarations in a
 * header of its name.
 *
 * Breakpoints and return probes:
 *
 *	text.c		writing breakpoints
 *	trap.c		handling their hits
 *	blacklist.c	code that must not be probed
 *	prepare.c	checking an address and preparing its probe
 *	decode.c	expanding and refusing instructions, for kprobes and uprobes
 *	emulate.c	emulating instructions instead of copying them, for both
 *	copy.c		out-of-line copies, and the return from them
 *	where.c		the original of an address in a copy or a detour
 *	ftrace.c	sharing the ftrace site of a function
 *	return.c	return probes
 *	fault.c		addresses that fault handlers see
 *	jprobe.S	calling the handler of a jprobe
 *	entry.S		the entry code of detours and diverted returns
 *
 * Optimized probes, which have a jump in place of the breakpoint:
 *
 *	facts.c		which registers instructions use, and where they branch
 *	window.h	reading instructions as if there were no probes
 *	function_map.h	what branches.c and liveness.c find out about a function
 *	branches.c	branch targets in a function
 *	liveness.c	free registers in a function
 *	region.c	the instructions that a jump covers
 *	emit.c		generating the code that the jump leads to
 *	opt.c		planning, writing and removing jumps
 *	detour.c	maps between the probed code and a detour
 *	detour_hit.c	hits by a jump: the part that entry.S leaves to C
 *	preempt.c	keeping preempted tasks out of regions
 *
 * Files and functions with the same duty have the same name in all ports. What differs here:
 *
 *	emulate_*()			static: emulate.c has the tables of encodings, too
 *	kprobe_make_detour()		apart from kprobe_detour_write(), for the tests
 *	kprobe_map_function()		in liveness.c: a map has the free registers as well
 *	arch_fence_kprobes()		in preempt.c: only preemptible kernels fence
 *	kprobe_finish_and_follow()	not inline: hits without a post_handler stay short
 *	arch_kprobe_insn_pc()		what x86 calls ip is pc here
 */
#ifndef _RISCV_KPROBES_COMMON_H
#define _RISCV_KPROBES_COMMON_H

#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <asm/bug.h>
#include <asm/probes.h>
#include <asm/vector.h>

/* Return whether the kernel uses vector registers in this task; only exceptions save them. */
static __always_inline bool kprobe_vectors_in_use(void)
{
#ifdef CONFIG_RISCV_ISA_V_PREEMPTIVE
	return riscv_preempt_v_started(current);
#else
	return false;
#endif
}

/* return.c */
unsigned long kretprobe_trampoline_return(struct pt_regs *regs);

/* The upper half of a 2-byte instruction's u32 is zero. */
static __always_inline unsigned int insn_len(u32 insn)
{
	return GET_INSN_LENGTH(insn);
}

/*
 * The instruction to emulate, as kprobe_expand_insn() returns it. It is in a field that struct
 * arch_probe_insn has for an address, which nobody uses.
 */
static __always_inline unsigned long *emulated_insn(struct kprobe *p)
{
	return &p->ainsn.api.restore;
}

#endif /* _RISCV_KPROBES_COMMON_H */
