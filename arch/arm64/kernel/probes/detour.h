/* SPDX-License-Identifier: GPL-2.0-only */
/* The detour that a jump leads to, and its maps in detour.c. */
#ifndef _ARM64_KPROBES_DETOUR_H
#define _ARM64_KPROBES_DETOUR_H

#include <linux/build_bug.h>
#include <linux/kprobes.h>
#include <linux/types.h>

/* Where in a slot, a copy's or a detour's, an address is. */
enum kprobe_part {
	PART_NONE,		/* in no slot */
	PART_BEFORE,		/* before the probed instruction */
	PART_COPY,		/* the instruction itself */
	PART_POST_COPY,		/* its copy with which the hit goes on, to call post_handlers */
	PART_BEHIND,		/* after it */
};

#ifdef CONFIG_OPTPROBES

#include "emit.h"
#include "relocate.h"

/**
 * struct detour - contents of a detour's slot
 * @op: the probe that it belongs to
 * @entry: makes room for the registers and calls kprobe_detour_entry()
 * @copy: restores the link register, releases the room, and executes the instruction
 * @post: like @copy, then calls kprobe_detour_post_entry()
 * @behind: restores and releases as @copy, then branches behind the original
 */
struct detour {
	struct optimized_kprobe *op;
	__le32 entry[3];
	__le32 copy[UNFRAME + MAX_RELOCATED];
	__le32 post[UNFRAME + 1 + 3];
	__le32 behind[UNFRAME + 1];
};

static_assert(sizeof(struct detour) == MAX_OPTINSN_SIZE * sizeof(kprobe_opcode_t));

static __always_inline unsigned long op_addr(const struct optimized_kprobe *op)
{
	return (unsigned long)op->kp.addr;
}

enum kprobe_part kprobe_part_of_detour(unsigned long pc, unsigned long *addr);

#else

static inline enum kprobe_part kprobe_part_of_detour(unsigned long pc, unsigned long *addr)
{
	return PART_NONE;
}

#endif /* CONFIG_OPTPROBES */

#endif /* _ARM64_KPROBES_DETOUR_H */
