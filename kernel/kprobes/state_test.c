// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every edge between two states of a point, and the flags of each. The expectations are
 * written out, not computed.
 */
#include <kunit/test.h>

#include <linux/kprobes.h>

#include "internal.h"

/* Row: from; column: to, in the order of enum point_state. 1 is a legal step. */
static const bool legal[NR_POINT_STATES][NR_POINT_STATES] = {
	/*                     DIS ARM OPG FEN OPD GON DEA */
	[POINT_DISARMED]   = { 0,  1,  0,  0,  0,  1,  1 },
	[POINT_ARMED]      = { 1,  0,  1,  0,  0,  0,  0 },
	[POINT_OPTIMIZING] = { 0,  1,  0,  1,  1,  0,  0 },
	[POINT_FENCED]     = { 0,  1,  0,  0,  1,  0,  0 },
	[POINT_OPTIMIZED]  = { 0,  1,  0,  0,  0,  0,  0 },
	[POINT_GONE]       = { 0,  0,  0,  0,  0,  0,  1 },
	[POINT_DEAD]       = { 0,  0,  0,  0,  0,  0,  0 },
};

static void state_edges(struct kunit *test)
{
	unsigned int from, to;

	for (from = 0; from < NR_POINT_STATES; from++) {
		for (to = 0; to < NR_POINT_STATES; to++)
			KUNIT_EXPECT_EQ_MSG(test, kprobe_point_edge_legal(from, to),
					    legal[from][to], "%s -> %s",
					    kprobe_point_state_name(from),
					    kprobe_point_state_name(to));
		KUNIT_EXPECT_FALSE(test, kprobe_point_edge_legal(from, NR_POINT_STATES));
		KUNIT_EXPECT_FALSE(test, kprobe_point_edge_legal(NR_POINT_STATES, from));
	}
}

static void state_flags(struct kunit *test)
{
	static const u32 expected[] = {
		[POINT_DISARMED] = KPROBE_FLAG_DISABLED,
		[POINT_ARMED] = 0,
		[POINT_OPTIMIZING] = KPROBE_FLAG_OPTIMIZED,
		[POINT_FENCED] = KPROBE_FLAG_OPTIMIZED,
		[POINT_OPTIMIZED] = KPROBE_FLAG_OPTIMIZED,
		[POINT_GONE] = KPROBE_FLAG_GONE,
		[POINT_DEAD] = KPROBE_FLAG_DISABLED,
	};
	unsigned int state;

	for (state = 0; state < NR_POINT_STATES; state++)
		KUNIT_EXPECT_EQ_MSG(test, kprobe_point_state_flags(state), expected[state], "%s",
				    kprobe_point_state_name(state));
}

static void state_names(struct kunit *test)
{
	unsigned int a, b;

	for (a = 0; a < NR_POINT_STATES; a++) {
		for (b = 0; b < a; b++)
			KUNIT_EXPECT_STRNEQ(test, kprobe_point_state_name(a),
					    kprobe_point_state_name(b));
	}
	KUNIT_EXPECT_STREQ(test, kprobe_point_state_name(NR_POINT_STATES), "invalid");
}

static struct kunit_case state_cases[] = {
	KUNIT_CASE(state_edges),
	KUNIT_CASE(state_flags),
	KUNIT_CASE(state_names),
	{}
};

static struct kunit_suite state_suite = {
	.name = "kprobes_state",
	.test_cases = state_cases,
};

kunit_test_suite(state_suite);
