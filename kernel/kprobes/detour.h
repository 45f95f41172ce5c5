/* SPDX-License-Identifier: GPL-2.0-only */
/* The detour of a point, prepared by the architecture. */
#ifndef _KERNEL_KPROBES_DETOUR_H
#define _KERNEL_KPROBES_DETOUR_H

#include <linux/kprobes.h>
#include <linux/list.h>

#include "point.h"
#include "slot.h"

#ifdef CONFIG_OPTPROBES
static inline void point_init_detour(struct kprobe_point *point)
{
	INIT_LIST_HEAD(&point->op.list);
}

static inline bool point_has_detour(struct kprobe_point *point)
{
	return arch_prepared_optinsn(&point->op.optinsn);
}

/* Can the detour call post_handlers? */
static inline bool point_detour_calls_post(struct kprobe_point *point)
{
	return arch_detour_calls_post(&point->op);
}

/*
 * Must the planned jump lead to code that calls post_handlers? Where arch_chain_detour()
 * does not tell the detour whether there are any, it always looks for them.
 */
static inline bool point_jump_is_to_call_post(struct kprobe_point *point)
{
	return point_detour_calls_post(point) &&
	       (point->post || !__is_defined(ARCH_DETOURS_ARE_TOLD_OF_POST));
}

/* Keep look-ups by address from finding the detour, which no task is in. */
static inline void point_hide_detour(struct kprobe_point *point)
{
	if (point->op.optinsn.insn)
		kprobe_hide_optinsn_slot(point->op.optinsn.insn);
}

/* A grace period has passed since then. */
static inline void point_remove_detour(struct kprobe_point *point)
{
	arch_remove_optimized_kprobe(&point->op);
}
#else
static inline void point_init_detour(struct kprobe_point *point)
{
}

static inline bool point_has_detour(struct kprobe_point *point)
{
	return false;
}

static inline bool point_detour_calls_post(struct kprobe_point *point)
{
	return false;
}

static inline bool point_jump_is_to_call_post(struct kprobe_point *point)
{
	return false;
}

static inline void point_hide_detour(struct kprobe_point *point)
{
}

static inline void point_remove_detour(struct kprobe_point *point)
{
}
#endif

#endif /* _KERNEL_KPROBES_DETOUR_H */
