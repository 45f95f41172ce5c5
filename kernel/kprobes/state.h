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

/* Has the architecture been asked for a detour? From DETOUR_NO_MEMORY on it has. */
enum point_detour {
	DETOUR_UNTRIED,
	DETOUR_TOO_EARLY,	/* the module is not ready, to be tried again */
	DETOUR_NO_MEMORY,	/* there was no memory, to be tried again */
	DETOUR_TRIED,		/* the architecture has one, or says why there is none */
};

const char *kprobe_point_state_name(enum point_state state);
bool kprobe_point_edge_legal(enum point_state from, enum point_state to);
u32 kprobe_point_state_flags(enum point_state state);

#endif /* _KERNEL_KPROBES_STATE_H */
