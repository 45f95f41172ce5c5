/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kprobes on RISC-V: types that the core embeds, and the hooks of traps, of
 * exception fixups and of ftrace. arch/riscv/kernel/probes/common.h lists the
 * files of the port; struct arch_specific_insn is in <asm/probes.h>, shared with
 * uprobes.
 */
#ifndef _ASM_RISCV_KPROBES_H
#define _ASM_RISCV_KPROBES_H

#include <asm-generic/kprobes.h>

/*
 * Offsets in the code of a detour, see emit.c. The code after a call goes on at the distance
 * from there that the called function returns.
 */
#define DETOUR_CALL		16	/* the end of the call of the pre_handlers */
#define DETOUR_POST		16	/* how hits with a post_handler go on: the second copy, */
#define DETOUR_POST_CALL	48	/* and the end of the call after it; */
#define DETOUR_EXIT		20	/* or what follows an emulation */
#define DETOUR_GO_ON		60	/* how other hits go on */
#define DETOUR_RELEASE		8	/* size of what releases the frame, before either copy */
#define DETOUR_COPIES		(DETOUR_GO_ON + DETOUR_RELEASE)

#ifndef __ASSEMBLY__

#include <linux/types.h>
#include <asm/kprobes_base.h>

struct pt_regs;

#ifdef CONFIG_KPROBES

#include <linux/ptrace.h>
#include <asm/probes.h>

/*
 * Written for this core: handles hits that interrupt others, see kprobe_hit_nested(), refuses to
 * probe EBREAK and its like, and a function's address is that of its symbol.
 */
#define ARCH_KPROBES_NATIVE	1

/* The core compares only the context bits of preempt_count(). */
#define arch_hit_context()	preempt_count()
#define arch_kprobe_is_emulated(p)	(!!(p)->ainsn.api.handler)

/* The exception of a breakpoint adds this to preempt_count(). */
#define KPROBE_TRAP_COUNT	KPROBE_NMI_COUNT

/* Length of the longest instruction and an ebreak after it, in kprobe_opcode_t. */
#define MAX_INSN_SIZE		2

/* struct slot: the probed address, and two copies with an ebreak after each. */
#define KPROBE_INSN_SLOT_SIZE	\
	(sizeof(long) + 2 * MAX_INSN_SIZE * sizeof(kprobe_opcode_t))

/* Alignment of instructions. */
#define KPROBE_INSN_ALIGN	(IS_ENABLED(CONFIG_RISCV_ISA_C) ? 2 : 4)

/* A jump is AUIPC and JALR. */
#define MAX_OPTIMIZED_LENGTH	8

/*
 * Size of struct detour in kprobe_opcode_t: the probe, what precedes the copies, the copies of
 * four 2-byte branches, which grow to 12 bytes each, the jump back, and the jump of a lead.
 */
#define MAX_OPTINSN_SIZE	((sizeof(long) + DETOUR_COPIES + 4 * 12 + 8 + 4) / 4)

/**
 * enum detour_post - how a hit with a post_handler executes the probed instruction and goes on
 * @POST_COPY: in a second copy, after which the detour calls again
 * @POST_GOES_ON: it is emulated, before the post_handler is called; the next one is in the detour
 * @POST_EXITS: it is emulated; wherever it led, a register is free to go there
 * @POST_TRAPS: it is emulated; a trap goes where it led
 */
enum detour_post {
	POST_COPY,
	POST_GOES_ON,
	POST_EXITS,
	POST_TRAPS,
} __packed;

/**
 * struct arch_optimized_insn - the jump and the detour of one optimized probe
 * @insn: the slot of the detour, NULL when there is none
 * @original: the instructions that the jump replaces; the second half of the last may be after it
 * @lead: offset of the probe from the jump
 * @enter: offset in the detour that the jump leads to
 * @copy_at: for each parcel of the jump, the offset in the detour of the copy of
 *	the instruction that starts there, 0 when none does
 * @reg: number of the register that the jump overwrites
 * @jump: the jump is in the text
 * @fenced: hits of the breakpoint continue in the detour
 * @extable: the probed instruction has an exception table entry, and no lead
 * @site: the probed instruction is an ftrace site
 * @post: how hits with a post_handler execute the probed instruction
 * @why: the enum detour_obstacle that prevents a detour
 * @why_at: offset of the obstacle from the probe
 */
struct arch_optimized_insn {
	kprobe_opcode_t *insn;
	u16 original[MAX_OPTIMIZED_LENGTH / sizeof(u16) + 1];
	u8 lead;
	u8 enter;
	u8 copy_at[MAX_OPTIMIZED_LENGTH / sizeof(u16)];
	u8 reg;
	bool jump;
	bool fenced;
	bool extable;
	bool site;
	enum detour_post post;
	u8 why;
	u8 why_at;
};

/* A jump is two instructions, but without preemption no task is inside: see region.c. */
#define arch_jump_needs_no_fence(optinsn)	(!IS_ENABLED(CONFIG_PREEMPTION))

#define arch_jump_lead(op)	((op)->optinsn.lead)
#define arch_jump_lead_max()	(MAX_OPTIMIZED_LENGTH - KPROBE_INSN_ALIGN)

#define arch_detour_calls_post(op)	true

/**
 * struct kprobe_ctlblk - the hit that this CPU is handling
 * @context: preempt_count() when it began
 * @saved_pie: SR_PIE of the probed code; the second copy runs with interrupts off
 */
struct kprobe_ctlblk {
	unsigned int context;
	unsigned long saved_pie;
};

bool kprobe_breakpoint_handler(struct pt_regs *regs);

#define arch_kprobe_leave_detour arch_kprobe_leave_detour
void arch_kprobe_leave_detour(struct pt_regs *regs);
#define arch_kprobe_resume arch_kprobe_resume
void arch_kprobe_resume(struct pt_regs *regs);

#else /* !CONFIG_KPROBES */

static inline bool kprobe_breakpoint_handler(struct pt_regs *regs)
{
	return false;
}

#endif /* CONFIG_KPROBES */

/* Called first, but most breakpoints are of probes: the other handler finds the end of a copy. */
static inline bool kprobe_single_step_handler(struct pt_regs *regs)
{
	return false;
}

#if defined(CONFIG_KPROBES) && defined(CONFIG_PREEMPTION)
void kprobe_rewind_jump(struct pt_regs *regs);
#else
static inline void kprobe_rewind_jump(struct pt_regs *regs)
{
}
#endif

#endif /* !__ASSEMBLY__ */
#endif /* _ASM_RISCV_KPROBES_H */
