/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The states of a point and the steps between them. Nothing here has a side effect. See
 * point_rows[] in state.c for the legal steps.
 */
#ifndef _KERNEL_KPROBES_STATE_H
#define _KERNEL_KPROBES_STATE_H

#include <linux/types.h>

/* OPTIMIZING to OPTIMIZED are those in which a jump is planned or written. */
enum point_state {
	POINT_DISARMED,		/* text untouched */
	POINT_ARMED,		/* breakpoint written, or ftrace site taken */
	POINT_OPTIMIZING,	/* as ARMED, and queued for its jump */
	POINT_FENCED,		/* as OPTIMIZING, its region fenced until a grace period ends */
	POINT_OPTIMIZED,	/* jump written */
	POINT_GONE,		/* text freed, never to be written again */
	POINT_DEAD,		/* no members; freed after a grace period */
	NR_POINT_STATES,
};

/* The text that is, or should be, at the probed address. */
enum point_text {
	POINT_PLAIN,		/* the original instruction */
	POINT_BREAK,		/* breakpoint or ftrace call */
	POINT_JUMP,		/* jump to a detour */
};

/* Has the architecture been asked for a detour? From DETOUR_NO_MEMORY on it has. */
enum point_detour {
	DETOUR_UNTRIED,
	DETOUR_TOO_EARLY,	/* the module is not ready, to be tried again */
	DETOUR_NO_MEMORY,	/* there was no memory, to be tried again */
	DETOUR_TRIED,		/* the architecture has one, or says why there is none */
};

/**
 * struct point_inputs - all that decides which text a point needs
 * @enabled: number of enabled members
 * @post: how many of those have a post_handler that the detour would not call
 * @all_off: debugfs "enabled" is 0 and the point obeys it
 * @may_jump: the optimizer is allowed to run
 * @detour: a detour is prepared
 * @blocked: another point is armed in the region that a jump would cover
 */
struct point_inputs {
	unsigned int enabled;
	unsigned int post;
	bool all_off;
	bool may_jump;
	bool detour;
	bool blocked;
};

const char *kprobe_point_state_name(enum point_state state);
bool kprobe_point_edge_legal(enum point_state from, enum point_state to);
enum point_text kprobe_point_wants(const struct point_inputs *in);
u32 kprobe_point_state_flags(enum point_state state);

#endif /* _KERNEL_KPROBES_STATE_H */
