/* SPDX-License-Identifier: GPL-2.0-only */
/* The region that a jump covers: how it is found, and copied into a detour. */
#ifndef _X86_KPROBES_REGION_H
#define _X86_KPROBES_REGION_H

#include <linux/kprobes.h>

#include "common.h"

/**
 * struct function_map - branches in the function mapped last
 * @start: its first byte
 * @end: the byte after it
 * @cold: a piece of code that it branches into and that may branch back
 * @cold_end: the byte after that
 * @targets: bit N: offset N may be the target of a branch or of a fixup
 * @heads: bit N: at offset N an instruction starts
 * @size: bits in @targets, and in @heads
 * @indirect: a branch may lead anywhere
 * @backwards: the direction flag may be set
 * @rewritten: others may rewrite some of it
 * @err: 0, or why the rest is not valid
 */
struct function_map {
	unsigned long start;
	unsigned long end;
	unsigned long cold;
	unsigned long cold_end;
	unsigned long *targets;
	unsigned long *heads;
	unsigned long size;
	bool indirect;
	bool backwards;
	bool rewritten;
	int err;
};

/* branches.c */
const struct function_map *kprobe_map_function(struct kprobe_function *fn);
bool kprobe_is_fixed_up(unsigned long addr);

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

#endif /* _X86_KPROBES_REGION_H */
