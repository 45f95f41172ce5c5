// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every state of a point with every text that may be wanted, and every edge between two
 * states. The expectations are written out, not computed.
 */
#include <kunit/test.h>

#include <linux/kprobes.h>

#include "state.h"

/* Row: from; column: to, in the order of enum point_state. 1 is a legal step. */
static const bool legal[NR_POINT_STATES][NR_POINT_STATES] = {
	/*                       NEW DIS ARM OPG FEN OPD UNO GON DEA */
	[POINT_NEW]          = { 0,  1,  0,  0,  0,  0,  0,  0,  1 },
	[POINT_DISARMED]     = { 0,  0,  1,  0,  0,  0,  0,  1,  1 },
	[POINT_ARMED]        = { 0,  1,  0,  1,  0,  0,  0,  1,  0 },
	[POINT_OPTIMIZING]   = { 0,  0,  1,  0,  1,  1,  0,  1,  0 },
	[POINT_FENCED]       = { 0,  0,  1,  0,  0,  1,  0,  1,  0 },
	[POINT_OPTIMIZED]    = { 0,  0,  1,  0,  0,  0,  1,  1,  0 },
	[POINT_UNOPTIMIZING] = { 0,  0,  1,  0,  0,  1,  0,  1,  0 },
	[POINT_GONE]         = { 0,  0,  0,  0,  0,  0,  0,  0,  1 },
	[POINT_DEAD]         = { 0,  0,  0,  0,  0,  0,  0,  0,  0 },
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

struct step_case {
	enum point_state state;
	enum point_text wanted;
	enum point_state next;
	/* Number of states on the whole way, and its end. */
	unsigned int steps;
	enum point_state last;
};

static const struct step_case step_cases[] = {
	{ POINT_NEW, POINT_PLAIN, POINT_DISARMED, 1, POINT_DISARMED },
	{ POINT_NEW, POINT_BREAK, POINT_DISARMED, 2, POINT_ARMED },
	{ POINT_NEW, POINT_BREAK_LAZY, POINT_DISARMED, 2, POINT_ARMED },
	{ POINT_NEW, POINT_JUMP, POINT_DISARMED, 4, POINT_OPTIMIZED },
	{ POINT_DISARMED, POINT_PLAIN, POINT_DISARMED, 0, POINT_DISARMED },
	{ POINT_DISARMED, POINT_BREAK, POINT_ARMED, 1, POINT_ARMED },
	{ POINT_DISARMED, POINT_BREAK_LAZY, POINT_ARMED, 1, POINT_ARMED },
	{ POINT_DISARMED, POINT_JUMP, POINT_ARMED, 3, POINT_OPTIMIZED },
	{ POINT_ARMED, POINT_PLAIN, POINT_DISARMED, 1, POINT_DISARMED },
	{ POINT_ARMED, POINT_BREAK, POINT_ARMED, 0, POINT_ARMED },
	{ POINT_ARMED, POINT_BREAK_LAZY, POINT_ARMED, 0, POINT_ARMED },
	{ POINT_ARMED, POINT_JUMP, POINT_OPTIMIZING, 2, POINT_OPTIMIZED },
	{ POINT_OPTIMIZING, POINT_PLAIN, POINT_ARMED, 2, POINT_DISARMED },
	{ POINT_OPTIMIZING, POINT_BREAK, POINT_ARMED, 1, POINT_ARMED },
	{ POINT_OPTIMIZING, POINT_BREAK_LAZY, POINT_ARMED, 1, POINT_ARMED },
	{ POINT_OPTIMIZING, POINT_JUMP, POINT_OPTIMIZED, 1, POINT_OPTIMIZED },
	{ POINT_FENCED, POINT_PLAIN, POINT_ARMED, 2, POINT_DISARMED },
	{ POINT_FENCED, POINT_BREAK, POINT_ARMED, 1, POINT_ARMED },
	{ POINT_FENCED, POINT_BREAK_LAZY, POINT_ARMED, 1, POINT_ARMED },
	{ POINT_FENCED, POINT_JUMP, POINT_OPTIMIZED, 1, POINT_OPTIMIZED },
	{ POINT_OPTIMIZED, POINT_PLAIN, POINT_ARMED, 2, POINT_DISARMED },
	{ POINT_OPTIMIZED, POINT_BREAK, POINT_ARMED, 1, POINT_ARMED },
	{ POINT_OPTIMIZED, POINT_BREAK_LAZY, POINT_UNOPTIMIZING, 2, POINT_ARMED },
	{ POINT_OPTIMIZED, POINT_JUMP, POINT_OPTIMIZED, 0, POINT_OPTIMIZED },
	{ POINT_UNOPTIMIZING, POINT_PLAIN, POINT_ARMED, 2, POINT_DISARMED },
	{ POINT_UNOPTIMIZING, POINT_BREAK, POINT_ARMED, 1, POINT_ARMED },
	{ POINT_UNOPTIMIZING, POINT_BREAK_LAZY, POINT_ARMED, 1, POINT_ARMED },
	{ POINT_UNOPTIMIZING, POINT_JUMP, POINT_OPTIMIZED, 1, POINT_OPTIMIZED },
	{ POINT_GONE, POINT_PLAIN, POINT_GONE, 0, POINT_GONE },
	{ POINT_GONE, POINT_BREAK, POINT_GONE, 0, POINT_GONE },
	{ POINT_GONE, POINT_BREAK_LAZY, POINT_GONE, 0, POINT_GONE },
	{ POINT_GONE, POINT_JUMP, POINT_GONE, 0, POINT_GONE },
	{ POINT_DEAD, POINT_PLAIN, POINT_DEAD, 0, POINT_DEAD },
	{ POINT_DEAD, POINT_BREAK, POINT_DEAD, 0, POINT_DEAD },
	{ POINT_DEAD, POINT_BREAK_LAZY, POINT_DEAD, 0, POINT_DEAD },
	{ POINT_DEAD, POINT_JUMP, POINT_DEAD, 0, POINT_DEAD },
};

static_assert(ARRAY_SIZE(step_cases) == NR_POINT_STATES * NR_POINT_TEXTS);

static void step_case_describe(const struct step_case *c, char *desc)
{
	static const char * const texts[] = { "plain", "breakpoint", "breakpoint later",
					    "jump" };

	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s wants %s", kprobe_point_state_name(c->state),
		 texts[c->wanted]);
}

KUNIT_ARRAY_PARAM(step, step_cases, step_case_describe);

/* A single step is the expected one, and all steps are legal and come to an end. */
static void state_steps(struct kunit *test)
{
	const struct step_case *c = test->param_value;
	enum point_state state = c->state;
	unsigned int steps;

	KUNIT_EXPECT_EQ(test, kprobe_point_next(state, c->wanted), c->next);

	for (steps = 0; steps <= NR_POINT_STATES; steps++) {
		enum point_state next = kprobe_point_next(state, c->wanted);

		if (next == state)
			break;
		KUNIT_EXPECT_TRUE_MSG(test, legal[state][next], "%s -> %s",
				      kprobe_point_state_name(state),
				      kprobe_point_state_name(next));
		state = next;
	}
	KUNIT_EXPECT_EQ(test, steps, c->steps);
	KUNIT_EXPECT_EQ(test, state, c->last);
}

/* All inputs: whether members can be called, and what prevents a jump. */
static void state_wants(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < BIT(6); i++) {
		const struct point_inputs in = {
			.enabled = i & BIT(0) ? 3 : 0,
			.post = i & BIT(1) ? 1 : 0,
			.all_off = i & BIT(2),
			.may_jump = i & BIT(3),
			.detour = i & BIT(4),
			.blocked = i & BIT(5),
		};
		enum point_text expected = POINT_BREAK;

		if (!(i & BIT(0)) || i & BIT(2))
			expected = POINT_PLAIN;
		else if (i == (BIT(0) | BIT(3) | BIT(4)))
			expected = POINT_JUMP;
		else if (i == (BIT(0) | BIT(4)))
			expected = POINT_BREAK_LAZY;

		KUNIT_EXPECT_EQ_MSG(test, kprobe_point_wants(&in), expected, "inputs %#x", i);
	}
}

static void state_flags(struct kunit *test)
{
	static const u32 expected[] = {
		[POINT_NEW] = KPROBE_FLAG_DISABLED,
		[POINT_DISARMED] = KPROBE_FLAG_DISABLED,
		[POINT_ARMED] = 0,
		[POINT_OPTIMIZING] = KPROBE_FLAG_OPTIMIZED,
		[POINT_FENCED] = KPROBE_FLAG_OPTIMIZED,
		[POINT_OPTIMIZED] = KPROBE_FLAG_OPTIMIZED,
		[POINT_UNOPTIMIZING] = KPROBE_FLAG_OPTIMIZED,
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
	KUNIT_CASE_PARAM(state_steps, step_gen_params),
	KUNIT_CASE(state_wants),
	KUNIT_CASE(state_flags),
	KUNIT_CASE(state_names),
	{}
};

static struct kunit_suite state_suite = {
	.name = "kprobes_state",
	.test_cases = state_cases,
};

kunit_test_suite(state_suite);

MODULE_DESCRIPTION("KUnit tests of the states of a point");
MODULE_LICENSE("GPL");
