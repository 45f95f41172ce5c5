// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states of a point, the legal steps between them, and the step that a point's
 * inputs ask for. Nothing here has a side effect.
 */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/kprobes.h>

#include "state.h"

static const char * const point_state_names[] = {
	[POINT_NEW]		= "new",
	[POINT_DISARMED]	= "disarmed",
	[POINT_ARMED]		= "armed",
	[POINT_OPTIMIZING]	= "optimizing",
	[POINT_FENCED]		= "fenced",
	[POINT_OPTIMIZED]	= "optimized",
	[POINT_UNOPTIMIZING]	= "unoptimizing",
	[POINT_GONE]		= "gone",
	[POINT_DEAD]		= "dead",
};

static_assert(ARRAY_SIZE(point_state_names) == NR_POINT_STATES);

/*
 * The legal steps:
 *
 *   NEW          -> DISARMED      published in the table, text untouched
 *   NEW          -> DEAD          given up before it was published
 *   DISARMED     -> ARMED         breakpoint written, or ftrace site taken
 *   ARMED        -> DISARMED      original text back
 *   ARMED        -> OPTIMIZING    queued for a jump
 *   OPTIMIZING   -> ARMED         dequeued
 *   OPTIMIZING   -> FENCED        region fenced by the worker, which waits for a grace period
 *   OPTIMIZING   -> OPTIMIZED     jump that needs no grace period written by the worker
 *   FENCED       -> ARMED         fence removed before the jump was written
 *   FENCED       -> OPTIMIZED     jump written by the worker
 *   OPTIMIZED    -> UNOPTIMIZING  queued to lose its jump, not urgent
 *   OPTIMIZED    -> ARMED         forced back at once
 *   UNOPTIMIZING -> OPTIMIZED     dequeued, the jump is still there
 *   UNOPTIMIZING -> ARMED         breakpoint written by the worker, or forced
 *   any of these but NEW -> GONE  text freed, it is never written again
 *   DISARMED     -> DEAD          last member left
 *   GONE         -> DEAD          last member left
 */
static const u16 point_edges[] = {
	[POINT_NEW]		= BIT(POINT_DISARMED) | BIT(POINT_DEAD),
	[POINT_DISARMED]	= BIT(POINT_ARMED) | BIT(POINT_GONE) | BIT(POINT_DEAD),
	[POINT_ARMED]		= BIT(POINT_DISARMED) | BIT(POINT_OPTIMIZING) | BIT(POINT_GONE),
	[POINT_OPTIMIZING]	= BIT(POINT_ARMED) | BIT(POINT_FENCED) | BIT(POINT_OPTIMIZED) |
				  BIT(POINT_GONE),
	[POINT_FENCED]		= BIT(POINT_ARMED) | BIT(POINT_OPTIMIZED) | BIT(POINT_GONE),
	[POINT_OPTIMIZED]	= BIT(POINT_UNOPTIMIZING) | BIT(POINT_ARMED) | BIT(POINT_GONE),
	[POINT_UNOPTIMIZING]	= BIT(POINT_OPTIMIZED) | BIT(POINT_ARMED) | BIT(POINT_GONE),
	[POINT_GONE]		= BIT(POINT_DEAD),
	[POINT_DEAD]		= 0,
};

static_assert(ARRAY_SIZE(point_edges) == NR_POINT_STATES);

/* The next step from each state towards each text; the same state means there is none. */
static const u8 point_steps[NR_POINT_STATES][NR_POINT_TEXTS] = {
	/*			  PLAIN	BREAK BREAK_LATER JUMP */
	[POINT_NEW] = { POINT_DISARMED, POINT_DISARMED, POINT_DISARMED, POINT_DISARMED },
	[POINT_DISARMED] = { POINT_DISARMED, POINT_ARMED, POINT_ARMED, POINT_ARMED },
	[POINT_ARMED] = { POINT_DISARMED, POINT_ARMED, POINT_ARMED, POINT_OPTIMIZING },
	[POINT_OPTIMIZING] = { POINT_ARMED, POINT_ARMED, POINT_ARMED, POINT_OPTIMIZED },
	[POINT_FENCED] = { POINT_ARMED, POINT_ARMED, POINT_ARMED, POINT_OPTIMIZED },
	[POINT_OPTIMIZED] = { POINT_ARMED, POINT_ARMED, POINT_UNOPTIMIZING, POINT_OPTIMIZED },
	[POINT_UNOPTIMIZING] = { POINT_ARMED, POINT_ARMED, POINT_ARMED, POINT_OPTIMIZED },
	[POINT_GONE] = { POINT_GONE, POINT_GONE, POINT_GONE, POINT_GONE },
	[POINT_DEAD] = { POINT_DEAD, POINT_DEAD, POINT_DEAD, POINT_DEAD },
};

const char *kprobe_point_state_name(enum point_state state)
{
	return state < NR_POINT_STATES ? point_state_names[state] : "invalid";
}

bool kprobe_point_edge_legal(enum point_state from, enum point_state to)
{
	return from < NR_POINT_STATES && to < NR_POINT_STATES && point_edges[from] & BIT(to);
}

enum point_text kprobe_point_wants(const struct point_inputs *in)
{
	if (!in->enabled || in->all_off)
		return POINT_PLAIN;

	if (in->post || in->blocked || !in->detour)
		return POINT_BREAK;

	return in->may_jump ? POINT_JUMP : POINT_BREAK_LAZY;
}

enum point_state kprobe_point_next(enum point_state state, enum point_text wanted)
{
	return point_steps[state][wanted];
}

/* The KPROBE_FLAG_* bits that mirror a state for code outside kprobes. */
u32 kprobe_point_state_flags(enum point_state state)
{
	switch (state) {
	case POINT_NEW:
	case POINT_DISARMED:
	case POINT_DEAD:
		return KPROBE_FLAG_DISABLED;
	case POINT_OPTIMIZING:
	case POINT_FENCED:
	case POINT_OPTIMIZED:
	case POINT_UNOPTIMIZING:
		return KPROBE_FLAG_OPTIMIZED;
	case POINT_GONE:
		return KPROBE_FLAG_GONE;
	default:
		return 0;
	}
}
