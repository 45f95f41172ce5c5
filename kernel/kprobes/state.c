// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states of a point and the legal steps between them. Nothing here has a side effect.
 */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/kprobes.h>

#include "internal.h"

/*
 * What there is to know about a state: its name for users, the KPROBE_FLAG_* bits that mirror it
 * for code outside of kprobes, and the states that may follow.
 */
static const struct point_row {
	const char *name;
	u8 flags;
	u8 next;
} point_rows[] = {
	/* Armed, gone with its text, or dead because the last member has left. */
	[POINT_DISARMED]   = { "disarmed", KPROBE_FLAG_DISABLED,
			       BIT(POINT_ARMED) | BIT(POINT_GONE) | BIT(POINT_DEAD) },
	/* Disarmed, or queued for a jump. */
	[POINT_ARMED]	   = { "armed", 0,
			       BIT(POINT_DISARMED) | BIT(POINT_OPTIMIZING) },
	/* Dequeued, or by the worker: region fenced, or a jump written that needs no fence. */
	[POINT_OPTIMIZING] = { "optimizing", KPROBE_FLAG_OPTIMIZED,
			       BIT(POINT_ARMED) | BIT(POINT_FENCED) | BIT(POINT_OPTIMIZED) },
	/* Fence removed, or a grace period later: jump written. */
	[POINT_FENCED]	   = { "fenced", KPROBE_FLAG_OPTIMIZED,
			       BIT(POINT_ARMED) | BIT(POINT_OPTIMIZED) },
	/* Jump removed. */
	[POINT_OPTIMIZED]  = { "optimized", KPROBE_FLAG_OPTIMIZED,
			       BIT(POINT_ARMED) },
	/* Dead because the last member has left; the text is never written again. */
	[POINT_GONE]	   = { "gone", KPROBE_FLAG_GONE,
			       BIT(POINT_DEAD) },
	[POINT_DEAD]	   = { "dead", KPROBE_FLAG_DISABLED,
			       0 },
};

static_assert(ARRAY_SIZE(point_rows) == NR_POINT_STATES);

const char *kprobe_point_state_name(enum point_state state)
{
	return state < NR_POINT_STATES ? point_rows[state].name : "invalid";
}

bool kprobe_point_edge_legal(enum point_state from, enum point_state to)
{
	return from < NR_POINT_STATES && to < NR_POINT_STATES && point_rows[from].next & BIT(to);
}

u32 kprobe_point_state_flags(enum point_state state)
{
	return point_rows[state].flags;
}
