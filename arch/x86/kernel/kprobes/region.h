/* SPDX-License-Identifier: GPL-2.0-only */
/* The region that a jump covers, in region.c. */
#ifndef _X86_KPROBES_REGION_H
#define _X86_KPROBES_REGION_H

#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/types.h>
#include <asm/insn.h>

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
 * @heads: where they start
 * @branched: where branches and fixups may come in
 * @extable: which have an exception table entry
 * @calls: which are calls
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
	u16 heads;
	u16 branched;
	u16 extable;
	u16 calls;
	bool indirect;
	bool ended;
	u8 why_at;
};

enum detour_obstacle kprobe_plan_region(struct region *region, unsigned long addr);

#endif /* _X86_KPROBES_REGION_H */
