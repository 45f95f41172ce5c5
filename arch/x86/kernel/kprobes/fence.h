/* SPDX-License-Identifier: GPL-2.0-only */
/* Does a jump cover the text, or will it, and which copies run then? Set by opt.c. */
#ifndef _X86_KPROBES_FENCE_H
#define _X86_KPROBES_FENCE_H

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/kprobes.h>

#ifdef CONFIG_OPTPROBES

static __always_inline struct arch_optimized_insn *optinsn_of(struct kprobe *p)
{
	return &container_of(p, struct optimized_kprobe, kp)->optinsn;
}

/*
 * Return the copy that runs for the instruction at offset @at of the region, 0 when the
 * original may run. From the moment that a jump is planned until the original bytes are
 * back, no hit may continue at the next instruction.
 */
static __always_inline unsigned long detour_copy(struct kprobe *p, unsigned int at)
{
	const struct arch_optimized_insn *optinsn = optinsn_of(p);

	/* A plain load of a byte cannot tear; WRITE_ONCE() stores it. */
	if (likely(!data_race(optinsn->fenced)) || !optinsn->copy_at[at])
		return 0;

	return (unsigned long)optinsn->insn + optinsn->copy_at[at];
}

/* The same for the probed instruction. */
static __always_inline unsigned long detour_copy_probed(struct kprobe *p)
{
	return detour_copy(p, optinsn_of(p)->lead);
}

/* Does a jump cover the text behind @p, or is one planned to? */
static __always_inline bool detour_is_fenced(struct kprobe *p)
{
	/* Either answer is right while this changes: a grace period waits for this hit. */
	return data_race(optinsn_of(p)->fenced);
}

#else

static __always_inline unsigned long detour_copy_probed(struct kprobe *p)
{
	return 0;
}

static __always_inline bool detour_is_fenced(struct kprobe *p)
{
	return false;
}

#endif /* CONFIG_OPTPROBES */

#endif /* _X86_KPROBES_FENCE_H */
