/* SPDX-License-Identifier: GPL-2.0-only */
/* The detour that a jump leads to, and its maps in detour.c. */
#ifndef _ARM64_KPROBES_DETOUR_H
#define _ARM64_KPROBES_DETOUR_H

#include <linux/build_bug.h>
#include <linux/kprobes.h>
#include <linux/types.h>
#include <asm/ptrace.h>

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

bool kprobe_detour_leave_copy(struct pt_regs *regs);

#else

static inline bool kprobe_detour_leave_copy(struct pt_regs *regs)
{
	return false;
}

#endif /* CONFIG_OPTPROBES */

#endif /* _ARM64_KPROBES_DETOUR_H */
