/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kprobes on arm64: types that the core embeds, and the hooks of the exception
 * handlers. arch/arm64/kernel/probes/common.h lists the files of the port;
 * kprobe_opcode_t and struct arch_specific_insn are in <asm/probes.h>.
 */
#ifndef _ASM_ARM64_KPROBES_H
#define _ASM_ARM64_KPROBES_H

#include <asm-generic/kprobes.h>

/* Offsets of copy and after in struct detour; detour_hit.c asserts them. */
#define DETOUR_COPY		20
#define DETOUR_AFTER		68

/* Offset of the breakpoint from the start of kprobe_detour_leave(). */
#define DETOUR_LEAVE_BRK	8

#ifndef __ASSEMBLY__

#include <linux/ptrace.h>
#include <linux/types.h>
#include <asm/probes.h>

/* debug-monitors.c names these three in every configuration. */
int kprobe_brk_handler(struct pt_regs *regs, unsigned long esr);
int kprobe_ss_brk_handler(struct pt_regs *regs, unsigned long esr);
int kretprobe_brk_handler(struct pt_regs *regs, unsigned long esr);

#ifdef CONFIG_KPROBES

/*
 * Written for this core: handles hits that interrupt others, see kprobe_hit_nested(), refuses to
 * probe BRK and its like, and a function's address is that of its symbol.
 */
#define ARCH_KPROBES_NATIVE	1

/* The core compares only the context bits of preempt_count(). */
#define arch_hit_context()	preempt_count()
#define arch_kprobe_is_emulated(p)	(!!(p)->ainsn.api.handler)

/* The exception of a breakpoint adds no context to preempt_count(). */
#define KPROBE_TRAP_COUNT	0

/* Every instruction is one kprobe_opcode_t. */
#define MAX_INSN_SIZE		1

/* struct slot: the probed address, two copies with their exits, a literal, and @after. */
#define KPROBE_INSN_SLOT_SIZE	56

/* A jump is one instruction. */
#define MAX_OPTIMIZED_LENGTH	4

/* Size of struct detour in kprobe_opcode_t. */
#define MAX_OPTINSN_SIZE	20

/**
 * struct arch_optimized_insn - the detour of one optimized probe
 * @insn: the slot of the detour, NULL when there is none
 * @why: the enum detour_obstacle that prevents a detour
 * @why_at: always 0, as a jump covers only one instruction
 */
struct arch_optimized_insn {
	kprobe_opcode_t *insn;
	u8 why;
	u8 why_at;
};

#define arch_jump_needs_no_fence(optinsn)	true
#define arch_detour_calls_post(op)		true

/**
 * struct kprobe_ctlblk - the hit that this CPU is handling
 * @context: preempt_count() when it began
 * @saved_daif: exception mask of the probed code; the second copy runs with another
 */
struct kprobe_ctlblk {
	unsigned int context;
	unsigned long saved_daif;
};

#endif /* CONFIG_KPROBES */
#endif /* !__ASSEMBLY__ */
#endif /* _ASM_ARM64_KPROBES_H */
