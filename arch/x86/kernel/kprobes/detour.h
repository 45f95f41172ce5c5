/* SPDX-License-Identifier: GPL-2.0-only */
/* The region that a jump covers, and the detour to which it leads. */
#ifndef _ARCH_X86_KPROBES_DETOUR_H
#define _ARCH_X86_KPROBES_DETOUR_H

#include <linux/build_bug.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include "common.h"

#define CS_PREFIX	0x2e
#define PUSH_IMM32_SIZE	5

/* The ways in which a detour executes an instruction. */
enum region_kind {
	REGION_PLAIN,		/* copied as it is */
	REGION_JCC,		/* with a wider displacement */
	REGION_JMP,
	REGION_LOOP,		/* branches over a short jump to a wide one */
	REGION_CALL,		/* pushes its return address and jumps */
	REGION_CALL_INDIRECT,
	REGION_CALL_THUNK,
	REGION_END,		/* copied, and does not go on to the next */
	REGION_END_THUNK,	/* jumps to a thunk that does it */
	REGION_REBASED,		/* copied, with an operand relative to its address */
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

/**
 * struct region - the instructions that a jump covers, and the ways into them; bit N of a
 * mask is for offset N from @addr
 * @addr: where the jump begins
 * @lead: offset of the probe
 * @end: where its function ends
 * @insns: the instructions, up to the probed one and to the end of the jump
 * @text: their original bytes, and some behind the last
 * @nr: how many there are
 * @probed: index of the probed one
 * @len: bytes of all of them
 * @heads: where they start
 * @branched: where branches and fixups may come in
 * @extable: which have an exception table entry
 * @calls: which are calls
 * @indirect: a branch may come in anywhere
 * @ended: the last one, apart from padding, does not continue with the next
 * @size: bytes of the jump
 * @traps: where it has to have a breakpoint
 * @why_at: the offset of the obstacle, if it has one
 */
struct region {
	unsigned long addr;
	unsigned long end;
	struct region_insn insns[MAX_OPTIMIZED_LENGTH];
	u8 text[MAX_OPTIMIZED_LENGTH - 1 + MAX_INSN_SIZE];
	u8 nr;
	u8 probed;
	u8 lead;
	u8 len;
	u8 heads;
	u8 branched;
	u8 extable;
	u8 calls;
	bool indirect;
	bool ended;
	u8 size;
	u8 traps;
	u8 why_at;
};

/* From the linker; no header declares them. */
extern struct exception_table_entry __start___ex_table[];
extern struct exception_table_entry __stop___ex_table[];

/**
 * struct function_map - branches in the function mapped last
 * @serial: identifies the function, see struct kprobe_function
 * @start: its first byte
 * @end: the byte behind it
 * @cold: a piece of code that it branches into and that may branch back
 * @cold_end: the byte behind that
 * @targets: bit N: offset N may be the target of a branch or of a fixup
 * @heads: bit N: at offset N an instruction starts
 * @size: bits in @targets, and in @heads
 * @indirect: a branch may lead anywhere
 * @backwards: the direction flag may be set
 * @err: 0, or why the rest is not valid
 */
struct function_map {
	unsigned long serial;
	unsigned long start;
	unsigned long end;
	unsigned long cold;
	unsigned long cold_end;
	unsigned long *targets;
	unsigned long *heads;
	unsigned long size;
	bool indirect;
	bool backwards;
	int err;
};

/* branches.c */
const struct function_map *kprobe_map_function(const struct kprobe_function *fn);
bool kprobe_is_fixed_up(unsigned long addr);

/* region.c */
enum detour_obstacle kprobe_plan_region(struct region *region, unsigned long addr);

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

/* Size of the frame and the call with which a detour begins. */
#define POST_CALL_SIZE	(DETOUR_RETURN - sizeof(long))

/* Offset in the slot to which the jump leads. */
static inline unsigned int detour_start(const struct arch_optimized_insn *optinsn)
{
	return optinsn->lead ? optinsn->copy_at[0] : offsetof(struct detour, code);
}

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

/* emit.c */
bool kprobe_detour_lay_out(struct optimized_kprobe *op, const struct region *region);
int kprobe_detour_write(struct optimized_kprobe *op, const struct region *region);

/* place.c */
kprobe_opcode_t *kprobe_detour_get_slot(const struct arch_optimized_insn *optinsn,
					const struct region *region);

#endif /* _ARCH_X86_KPROBES_DETOUR_H */
