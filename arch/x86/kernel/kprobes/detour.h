/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The region that a jump covers, and the detour that the jump leads to: its layout, its maps and
 * its hits.
 */
#ifndef _X86_KPROBES_DETOUR_H
#define _X86_KPROBES_DETOUR_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/ptrace.h>
#include <linux/stddef.h>

#include "common.h"

/**
 * struct kprobe_where - what code in a copy or a detour stands for
 * @insn: the instruction that it executes
 * @original: where the probed code would be: @insn, but kprobe_detour_callee() where that is a
 *	call which has pushed its return address
 * @frame: bytes that it has on the stack
 */
struct kprobe_where {
	unsigned long insn;
	unsigned long original;
	unsigned int frame;
};

/* detour.c, only with CONFIG_OPTPROBES */
void kprobe_detour_where(unsigned long ip, struct kprobe_where *where);
unsigned long kprobe_detour_entered_for(unsigned long ret);
unsigned long kprobe_detour_leave_copy(struct pt_regs *regs, bool any);
void kprobe_detour_undo(u8 *buf, unsigned long addr, size_t len);

#ifdef CONFIG_OPTPROBES

#define PUSH_IMM32_SIZE	5

/**
 * struct detour - contents of a detour's slot
 * @op: the probe that it belongs to
 * @code: the frame and the call, copies and jump back
 */
struct detour {
	struct optimized_kprobe *op;
	u8 code[MAX_OPTINSN_SIZE - sizeof(long)];
};

static_assert(sizeof(struct detour) == MAX_OPTINSN_SIZE);

/*
 * Size of the frame and the call after the copy in the post way. They are the same as those
 * with which a detour begins.
 */
#define POST_CALL_SIZE	(DETOUR_RETURN - sizeof(long))

/* Address in the detour of the code that calls the handlers first. */
static __always_inline unsigned long detour_entry(const struct arch_optimized_insn *optinsn)
{
	return (unsigned long)((struct detour *)optinsn->insn)->code;
}

/* Offset of the copy in the post way at @post, 0 if the detour has none. */
static __always_inline unsigned int post_copy(unsigned int post)
{
	return post && post != DETOUR_POST_RETURN ? post + DETOUR_UNFRAME : 0;
}

/* Address at which the jump of @p begins. */
static __always_inline unsigned long jump_addr(const struct kprobe *p)
{
	const struct optimized_kprobe *op = container_of(p, struct optimized_kprobe, kp);

	return (unsigned long)p->addr - op->optinsn.lead;
}

static __always_inline struct arch_optimized_insn *optinsn_of(struct kprobe *p)
{
	return &container_of(p, struct optimized_kprobe, kp)->optinsn;
}

/* Is the region of @p fenced, or its jump written? */
static __always_inline bool detour_is_fenced(struct kprobe *p)
{
	/* Either answer is right while this changes: a grace period waits for this hit. */
	return data_race(optinsn_of(p)->fenced);
}

/*
 * From the moment that the region is fenced until the original bytes are back, no hit may continue
 * at the next instruction: execute the copy in the detour instead.
 */
static __always_inline bool arch_hit_detour(struct kprobe *p, struct pt_regs *regs)
{
	const struct arch_optimized_insn *optinsn = optinsn_of(p);

	if (likely(!detour_is_fenced(p)))
		return false;
	regs->ip = (unsigned long)optinsn->insn + optinsn->copy_at[optinsn->lead];

	return true;
}

/* detour.c */
extern unsigned int kprobe_lead_max;

bool kprobe_detour_enter(unsigned long addr, struct pt_regs *regs);

/* entry.S */
asmlinkage void kprobe_detour_entry(void);
asmlinkage void kprobe_detour_pre_entry(void);
asmlinkage void kprobe_detour_post_entry(void);
asmlinkage void kprobe_detour_callee(void);
void __noreturn kprobe_detour_leave(struct pt_regs *regs);

/* called by entry.S */
int kprobe_detour_nested(struct kprobe *p, struct pt_regs *regs);
int kprobe_detour_call(struct kprobe *called, struct pt_regs *regs);
void kprobe_detour_call_post(struct kprobe *called, struct pt_regs *regs);
unsigned long kprobe_detour_emulate(struct pt_regs *regs, unsigned long ret);
void kprobe_detour_elsewhere(struct pt_regs *regs);
void kprobe_detour_follow(struct pt_regs *regs);
void kprobe_detour_preempt(void);
void kprobe_detour_hit(struct kprobe *p, struct pt_regs *regs);
unsigned long kprobe_detour_hit_pre(struct kprobe *p, struct pt_regs *regs);
int kprobe_detour_post(struct kprobe *p, struct pt_regs *regs);

/* The ways in which a detour executes an instruction. */
enum region_kind {
	REGION_PLAIN,		/* copied, with another displacement if relative to %rip */
	/* These branch to an address in the instruction. */
	REGION_JCC,		/* with a wider displacement */
	REGION_JMP,
	REGION_LOOP,		/* branches over a short jump to a wide one */
	REGION_CALL,		/* pushes its return address and jumps */
	/* These do not. */
	REGION_CALL_INDIRECT,
	REGION_END,		/* copied, or jumps to a thunk, and does not go on to the next */
	REGION_PADDING,		/* never reached */
};

/**
 * struct region_insn - one instruction that a jump covers
 * @at: offset from the start of the jump
 * @len: bytes of it
 * @kind: how it is done in a detour
 */
struct region_insn {
	u8 at;
	u8 len;
	u8 kind;
};

/* All instructions of a region start before this offset. */
#define REGION_REACH	(MAX_LEAD + 1)

/**
 * struct region - the instructions that a jump covers, and the ways into them; bit N of a
 * mask is for offset N from @addr
 * @addr: where the jump begins
 * @lead: offset of the probe
 * @end: where its function ends
 * @insns: the instructions, up to the probed one and to the end of the jump
 * @text: their original bytes, and some after the last
 * @nr: how many there are
 * @probed: index of the probed one
 * @len: bytes of all of them
 * @entered: where a CPU may come in, besides by running on from the instruction before
 * @calls: which are calls
 * @fixed_up: the first one has an exception table entry
 * @indirect: a branch may come in anywhere
 * @ended: the last one, apart from padding, does not continue with the next
 * @why_at: the offset of the obstacle, if it has one
 */
struct region {
	unsigned long addr;
	unsigned long end;
	struct region_insn insns[REGION_REACH];
	u8 text[REGION_REACH - 1 + MAX_INSN_SIZE];
	u8 nr;
	u8 probed;
	u8 lead;
	u8 len;
	u32 entered;
	u16 calls;
	bool fixed_up;
	bool indirect;
	bool ended;
	u8 why_at;
};

/* region.c */
enum detour_obstacle kprobe_plan_region(struct region *region, unsigned long addr);

/* emit.c */
enum detour_obstacle kprobe_detour_write(struct optimized_kprobe *op, const struct region *region);

#else /* !CONFIG_OPTPROBES */

static __always_inline bool arch_hit_detour(struct kprobe *p, struct pt_regs *regs)
{
	return false;
}

static __always_inline bool detour_is_fenced(struct kprobe *p)
{
	return false;
}

static inline bool kprobe_detour_enter(unsigned long addr, struct pt_regs *regs)
{
	return false;
}

#endif /* CONFIG_OPTPROBES */

#endif /* _X86_KPROBES_DETOUR_H */
