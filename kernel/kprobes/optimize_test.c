// SPDX-License-Identifier: GPL-2.0-only
/*
 * A point gets its jump and loses it again: the reasons for both, and that no hit is lost,
 * doubled or late meanwhile.
 *
 * Each look at a point compares its state, the flags that mirror it, and the text, which
 * decides what the other two have to be.
 */
#include <linux/cleanup.h>
#include <linux/delay.h>
#include <linux/kprobes_port.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "internal.h"
#include "../../lib/test_kprobes/busy.h"

/* -- the probed functions -- */

/* Several short instructions, whichever registers the compiler uses. */
#define DEFINE_FUNCTION(n)						\
static noinline notrace unsigned int target_##n(unsigned int x)		\
{									\
	barrier();							\
	x ^= (n) + 3;							\
	OPTIMIZER_HIDE_VAR(x);						\
	x += x;								\
	OPTIMIZER_HIDE_VAR(x);						\
	x ^= 5;								\
	return x;							\
}

DEFINE_FUNCTION(0)
DEFINE_FUNCTION(1)
DEFINE_FUNCTION(2)
DEFINE_FUNCTION(3)
DEFINE_FUNCTION(4)
DEFINE_FUNCTION(5)
DEFINE_FUNCTION(6)
DEFINE_FUNCTION(7)

typedef unsigned int (*target_fn)(unsigned int x);

/* Not const: the compiler must not know the functions where they are called. */
static target_fn targets[] = {
	target_0, target_1, target_2, target_3, target_4, target_5, target_6, target_7,
};

#define NR_TARGETS	ARRAY_SIZE(targets)
#define WINDOW		(2 * MAX_OPTIMIZED_LENGTH / sizeof(kprobe_opcode_t))

static unsigned int value_of(unsigned int n, unsigned int x)
{
	return (2 * (x ^ (n + 3))) ^ 5;
}

static unsigned int call_target(unsigned int n, unsigned int x)
{
	return ASK(targets[n], x);
}

DEFINE_TARGET(unsigned int, stand_in, (unsigned int x), x + 1000, notrace)

/* Functions begin with a landing pad then, which no jump may replace. */
#define LANDING_PAD	IS_ENABLED(CONFIG_ARM64_BTI_KERNEL)

static kprobe_opcode_t *text_of(unsigned int n)
{
	return (kprobe_opcode_t *)targets[n] + LANDING_PAD;
}

/* -- one watched probe -- */

struct watch {
	struct kprobe kp;
	unsigned int n;		/* in which target */
	unsigned int hits;
	unsigned int late;
	bool over;
};

static int watch_hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct watch *w = container_of(kp, struct watch, kp);

	w->hits++;
	w->late += READ_ONCE(w->over);

	return 0;
}

static void watch_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	container_of(kp, struct watch, kp)->hits++;
}

static struct watch *watch_new(struct kunit *test, unsigned int n, kprobe_pre_handler_t pre)
{
	struct watch *w = must_alloc(test, 1, sizeof(*w));

	w->n = n;
	w->kp.addr = text_of(n);
	w->kp.pre_handler = pre;

	return w;
}

static void watch_leave(void *data)
{
	struct watch *w = data;

	unregister_kprobe(&w->kp);
	WRITE_ONCE(w->over, true);
}

static void watch_register(struct kunit *test, struct watch *w)
{
	WRITE_ONCE(w->over, false);
	KUNIT_ASSERT_EQ(test, register_kprobe(&w->kp), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, watch_leave, w), 0);
}

static void watch_unregister(struct kunit *test, struct watch *w)
{
	kunit_release_action(test, watch_leave, w);
}

static struct watch *watch_add_with(struct kunit *test, unsigned int n, kprobe_pre_handler_t pre)
{
	struct watch *w = watch_new(test, n, pre);

	watch_register(test, w);

	return w;
}

static struct watch *watch_add(struct kunit *test, unsigned int n)
{
	return watch_add_with(test, n, watch_hit);
}

/* Add a probe that joins @w; with a post_handler it may keep @w from jumping. */
static struct watch *watch_join(struct kunit *test, const struct watch *w,
				kprobe_pre_handler_t pre, kprobe_post_handler_t post)
{
	struct watch *fellow = watch_new(test, w->n, pre);

	fellow->kp.addr = w->kp.addr;
	fellow->kp.post_handler = post;
	watch_register(test, fellow);

	return fellow;
}

/* The text of the targets before a probe was there. */
static kprobe_opcode_t original[NR_TARGETS][WINDOW];

static void expect_original(struct kunit *test, unsigned int n)
{
	KUNIT_EXPECT_MEMEQ(test, (void *)text_of(n), (void *)original[n], sizeof(original[n]));
}

/* -- state, flags and text of a probe -- */

/* Read from text that a probe has armed. */
static kprobe_opcode_t breakpoint;

static int learn_text(struct kunit_suite *suite)
{
	struct kprobe kp = { .addr = text_of(0), .pre_handler = NULL };
	unsigned int n;
	int ret;

	for (n = 0; n < NR_TARGETS; n++)
		memcpy(original[n], text_of(n), sizeof(original[n]));
	kprobe_optimize_set_knob(false);
	ret = register_kprobe(&kp);
	if (!ret) {
		breakpoint = *kp.addr;
		unregister_kprobe(&kp);
	}
	kprobe_optimize_set_knob(true);

	return ret ?: breakpoint == *text_of(0) ? -EINVAL : 0;
}

static struct kprobe_point *point_at(const struct watch *w)
{
	guard(mutex)(&kprobe_mutex);

	return kprobe_point_find((unsigned long)w->kp.addr);
}

struct look {
	enum point_state state;
	bool flag;
	bool at_break;
	bool plain;
};

static struct look look_at(const struct watch *w)
{
	struct kprobe_point *point;

	guard(mutex)(&kprobe_mutex);
	point = kprobe_point_find((unsigned long)w->kp.addr);
	if (!point)
		return (struct look){ .state = POINT_DEAD };

	return (struct look){
		.state = point->state,
		.flag = point->op.kp.flags & KPROBE_FLAG_OPTIMIZED,
		.at_break = *point->op.kp.addr == breakpoint,
		/* The probe may be after a landing pad with which the text starts. */
		.plain = *point->op.kp.addr == original[w->n][point->op.kp.addr - text_of(w->n)],
	};
}

/* A settled state: the flag is set for a jump, and for nothing else. */
static void expect_settled(struct kunit *test, const struct watch *w, enum point_state state)
{
	struct look look = look_at(w);

	KUNIT_EXPECT_STREQ(test, kprobe_point_state_name(look.state),
			   kprobe_point_state_name(state));
	KUNIT_EXPECT_EQ(test, look.flag, state == POINT_OPTIMIZED);
	KUNIT_EXPECT_EQ(test, look.at_break, state == POINT_ARMED);
	KUNIT_EXPECT_EQ(test, look.plain, state == POINT_DISARMED);
}

/* The flag is also set for a jump that is planned. */
static void expect_on_its_way(struct kunit *test, const struct watch *w)
{
	struct look look = look_at(w);

	if (look.state == POINT_OPTIMIZED)
		KUNIT_EXPECT_FALSE(test, look.at_break || look.plain);
	else
		KUNIT_EXPECT_TRUE(test, look.at_break);
	KUNIT_EXPECT_EQ(test, look.flag, look.state != POINT_ARMED);
}

static void expect_jump(struct kunit *test, const struct watch *w)
{
	wait_for_kprobe_optimizer();
	expect_settled(test, w, POINT_OPTIMIZED);
}

/* The state of @w while it or a fellow has a post_handler. */
static void expect_with_post(struct kunit *test, const struct watch *w)
{
	if (point_detour_calls_post(point_at(w)))
		expect_jump(test, w);
	else
		expect_settled(test, w, POINT_ARMED);
}

static void expect_explained(struct kunit *test, const struct watch *w, const char *expected)
{
	char why[64];

	scoped_guard(mutex, &kprobe_mutex)
		kprobe_optimize_explain(kprobe_point_find((unsigned long)w->kp.addr), why,
					sizeof(why));
	KUNIT_EXPECT_STREQ(test, why, expected);
}

#define CALLS	10

static void expect_hits(struct kunit *test, struct watch *w, unsigned int hits)
{
	unsigned int i, wrong = 0;

	w->hits = 0;
	for (i = 0; i < CALLS; i++)
		wrong += call_target(w->n, i) != value_of(w->n, i);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, w->hits, hits);
	KUNIT_EXPECT_EQ(test, w->kp.nmissed, 0);
}

/* The same by a jump. */
static void expect_jump_hit(struct kunit *test, struct watch *w)
{
	expect_jump(test, w);
	expect_hits(test, w, CALLS);
}

/* -- to the jump, and back to the breakpoint -- */

static void optimize_comes_and_goes(struct kunit *test)
{
	struct watch *w = watch_add(test, 0);

	expect_on_its_way(test, w);
	expect_hits(test, w, CALLS);
	expect_jump_hit(test, w);
	/* The owner does not mean to be called any more, but hits must not call NULL. */
	WRITE_ONCE(w->kp.pre_handler, NULL);
	expect_hits(test, w, CALLS);
	watch_unregister(test, w);
	expect_hits(test, w, 0);
}

/* Failure C16: the fellow has left, and with it the reason for the breakpoint. */
static void optimize_post_handler(struct kunit *test)
{
	struct watch *w = watch_add(test, 0), *fellow;

	expect_jump(test, w);
	fellow = watch_join(test, w, watch_hit, ignore_post);
	expect_with_post(test, w);
	expect_hits(test, w, CALLS);
	wait_for_kprobe_optimizer();
	expect_with_post(test, w);

	watch_unregister(test, fellow);
	expect_jump_hit(test, w);
}

static void optimize_post_handler_disabled(struct kunit *test)
{
	struct watch *w = watch_add(test, 0);
	struct watch *fellow = watch_join(test, w, watch_hit, ignore_post);

	wait_for_kprobe_optimizer();
	expect_with_post(test, w);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&fellow->kp), 0);
	expect_jump_hit(test, w);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&fellow->kp), 0);
	expect_with_post(test, w);
	watch_unregister(test, w);
}

/* The only pre_handler belongs to another member than the post_handler. */
static void optimize_post_handler_of_another(struct kunit *test)
{
	struct watch *w = watch_add(test, 0);
	struct watch *fellow = watch_join(test, w, NULL, watch_post);

	wait_for_kprobe_optimizer();
	expect_with_post(test, w);
	expect_hits(test, w, CALLS);
	KUNIT_EXPECT_EQ(test, fellow->hits, CALLS);
	watch_unregister(test, w);
	wait_for_kprobe_optimizer();
	expect_hits(test, fellow, CALLS);
}

static void optimize_several_members(struct kunit *test)
{
	struct watch *w = watch_add(test, 0), *fellow;

	expect_jump(test, w);
	fellow = watch_join(test, w, watch_hit, NULL);
	expect_jump_hit(test, w);
	expect_hits(test, fellow, CALLS);
	KUNIT_EXPECT_EQ(test, w->hits, 2 * CALLS);

	KUNIT_EXPECT_EQ(test, disable_kprobe(&w->kp), 0);
	expect_jump(test, w);
	expect_hits(test, w, 0);
	expect_hits(test, fellow, CALLS);

	watch_unregister(test, w);
	expect_jump_hit(test, fellow);
	expect_hits(test, w, 0);
}

static void optimize_disabled(struct kunit *test)
{
	struct watch *w = watch_add(test, 0);

	expect_jump(test, w);
	/* The jump stays until the worker comes. */
	disable_delayed_work_sync(&kprobe_optimizer);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&w->kp), 0);
	expect_settled(test, w, POINT_OPTIMIZED);
	expect_hits(test, w, 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&w->kp), 0);
	expect_settled(test, w, POINT_OPTIMIZED);
	expect_hits(test, w, CALLS);
	enable_delayed_work(&kprobe_optimizer);
	expect_jump_hit(test, w);

	KUNIT_EXPECT_EQ(test, disable_kprobe(&w->kp), 0);
	wait_for_kprobe_optimizer();
	expect_settled(test, w, POINT_DISARMED);
	expect_original(test, 0);
	expect_hits(test, w, 0);

	KUNIT_EXPECT_EQ(test, enable_kprobe(&w->kp), 0);
	expect_on_its_way(test, w);
	expect_hits(test, w, CALLS);
	expect_jump_hit(test, w);
}

/* -- the switches -- */

static void optimize_knob(struct kunit *test)
{
	struct watch *before = watch_add(test, 0), *meanwhile;

	expect_jump(test, before);
	kprobe_optimize_set_knob(false);
	expect_settled(test, before, POINT_ARMED);
	expect_hits(test, before, CALLS);

	meanwhile = watch_add(test, 1);
	wait_for_kprobe_optimizer();
	expect_settled(test, meanwhile, POINT_ARMED);
	expect_explained(test, meanwhile, "knob off");

	kprobe_optimize_set_knob(true);
	expect_jump_hit(test, before);
	expect_jump_hit(test, meanwhile);
}

/* What joins has waited for hits that do not call post_handlers: the next one need not. */
static void optimize_knob_waits_once(struct kunit *test)
{
	struct watch *w = watch_add(test, 0);
	struct kprobe_point *point;

	if (!__is_defined(ARCH_DETOURS_ARE_TOLD_OF_POST))
		kunit_skip(test, "nothing to wait for");
	expect_jump(test, w);
	kprobe_optimize_set_knob(false);
	point = point_at(w);
	scoped_guard(mutex, &kprobe_mutex)
		KUNIT_EXPECT_FALSE(test, kprobe_detour_is_idle(point));

	watch_join(test, w, watch_hit, ignore_post);
	scoped_guard(mutex, &kprobe_mutex)
		KUNIT_EXPECT_TRUE(test, kprobe_detour_is_idle(point));
}

/* A point that is on its way turns round. */
static void optimize_knob_turned(struct kunit *test)
{
	struct watch *w = watch_add(test, 0);
	unsigned int i;

	for (i = 0; i < 20; i++) {
		kprobe_optimize_prepare_queued();
		kprobe_optimize_set_knob(false);
		expect_settled(test, w, POINT_ARMED);
		expect_hits(test, w, CALLS);
		kprobe_optimize_set_knob(true);
		expect_on_its_way(test, w);
		expect_hits(test, w, CALLS);
		msleep(i % 8);
	}
	expect_jump(test, w);
}

static int set_all_off(bool off)
{
	guard(mutex)(&kprobe_mutex);
	kprobe_want_all_off(off);

	return kprobe_points_reconcile_all();
}

static void optimize_all_off(struct kunit *test)
{
	struct watch *w = watch_add(test, 0), *queued = watch_add(test, 1);

	expect_jump(test, w);
	watch_unregister(test, queued);
	watch_register(test, queued);
	kprobe_optimize_prepare_queued();

	KUNIT_EXPECT_EQ(test, set_all_off(true), 0);
	expect_settled(test, w, POINT_DISARMED);
	expect_settled(test, queued, POINT_DISARMED);
	expect_original(test, 0);
	expect_original(test, 1);
	expect_hits(test, w, 0);
	wait_for_kprobe_optimizer();
	expect_settled(test, w, POINT_DISARMED);

	KUNIT_EXPECT_EQ(test, set_all_off(false), 0);
	expect_on_its_way(test, w);
	expect_jump(test, w);
	expect_jump(test, queued);
	expect_hits(test, w, CALLS);

	/* That of a disabled probe does not wait for the worker either. */
	disable_delayed_work_sync(&kprobe_optimizer);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&w->kp), 0);
	KUNIT_EXPECT_EQ(test, set_all_off(true), 0);
	expect_settled(test, w, POINT_DISARMED);
	enable_delayed_work(&kprobe_optimizer);
	KUNIT_EXPECT_EQ(test, set_all_off(false), 0);
}

/* -- neighbours -- */

/* Add a disabled probe at the first instruction after that of @w. */
static struct watch *watch_add_next(struct kunit *test, struct watch *w)
{
	struct watch *next = watch_new(test, w->n, watch_hit);
	unsigned int i;
	int ret = -EINVAL;

	for (i = 1; ret && i < WINDOW; i++) {
		next->kp.addr = w->kp.addr + i;
		next->kp.flags = KPROBE_FLAG_DISABLED;
		ret = register_kprobe(&next->kp);
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, watch_leave, next), 0);

	return next;
}

static bool watch_covers(const struct watch *w, const struct watch *next)
{
	struct kprobe_point *point = point_at(w);

	guard(mutex)(&kprobe_mutex);

	return arch_within_optimized_kprobe(&point->op, next->kp.addr);
}

/* The same, if the jump of @w covers that. */
static struct watch *watch_add_inside(struct kunit *test, struct watch *w)
{
	struct watch *inner = watch_add_next(test, w);

	if (!watch_covers(w, inner))
		kunit_skip(test, "the jump covers the first instruction only");

	return inner;
}

/*
 * Where a jump can lead to several detours it also serves @inner; elsewhere @inner
 * prevents it.
 */
#define JUMPS_ARE_SHARED	IS_ENABLED(CONFIG_X86)

static void expect_neighbours(struct kunit *test, const struct watch *w,
			      const struct watch *inner)
{
	unsigned long distance = (unsigned long)inner->kp.addr - (unsigned long)w->kp.addr;
	char expected[64];

	wait_for_kprobe_optimizer();
	expect_settled(test, w, JUMPS_ARE_SHARED ? POINT_OPTIMIZED : POINT_ARMED);
	if (JUMPS_ARE_SHARED) {
		KUNIT_EXPECT_EQ(test, look_at(inner).state, POINT_OPTIMIZED);
		snprintf(expected, sizeof(expected), "+%lu of %pS", distance, w->kp.addr);
		expect_explained(test, w, "-");
		expect_explained(test, inner, expected);
	} else {
		snprintf(expected, sizeof(expected), "neighbour at +%lu", distance);
		expect_explained(test, w, expected);
	}
}

static void optimize_neighbour(struct kunit *test)
{
	struct watch *w = watch_add(test, 0), *inner;

	expect_jump(test, w);
	inner = watch_add_inside(test, w);
	expect_jump_hit(test, w);
	expect_hits(test, inner, 0);

	KUNIT_EXPECT_EQ(test, enable_kprobe(&inner->kp), 0);
	expect_on_its_way(test, w);
	expect_hits(test, w, CALLS);
	expect_hits(test, inner, CALLS);
	expect_neighbours(test, w, inner);
	expect_hits(test, w, CALLS);
	expect_hits(test, inner, CALLS);

	KUNIT_EXPECT_EQ(test, disable_kprobe(&inner->kp), 0);
	expect_jump(test, w);
	KUNIT_EXPECT_EQ(test, look_at(inner).state, POINT_DISARMED);
	expect_hits(test, w, CALLS);
	expect_hits(test, inner, 0);

	KUNIT_EXPECT_EQ(test, enable_kprobe(&inner->kp), 0);
	expect_on_its_way(test, w);
	watch_unregister(test, inner);
	expect_jump_hit(test, w);
}

/* The jump of a disabled probe makes room without waiting for the worker. */
static void optimize_neighbour_of_disabled(struct kunit *test)
{
	struct watch *w = watch_add(test, 0), *inner;

	expect_jump(test, w);
	inner = watch_add_inside(test, w);
	disable_delayed_work_sync(&kprobe_optimizer);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&w->kp), 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&inner->kp), 0);
	expect_settled(test, w, POINT_DISARMED);
	expect_hits(test, w, 0);
	expect_hits(test, inner, CALLS);

	/* Without members it does not wait either. */
	KUNIT_EXPECT_EQ(test, enable_kprobe(&w->kp), 0);
	watch_unregister(test, inner);
	enable_delayed_work(&kprobe_optimizer);
	expect_jump(test, w);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&w->kp), 0);
	watch_unregister(test, w);
	expect_original(test, 0);
}

static void optimize_neighbour_apart(struct kunit *test)
{
	struct watch *w = watch_add(test, 0), *next;

	expect_jump(test, w);
	next = watch_add_next(test, w);
	if (watch_covers(w, next))
		kunit_skip(test, "the jump covers the next instruction, too");

	KUNIT_EXPECT_EQ(test, enable_kprobe(&next->kp), 0);
	expect_settled(test, w, POINT_OPTIMIZED);
	expect_jump(test, next);
	expect_hits(test, w, CALLS);
	expect_hits(test, next, CALLS);
	KUNIT_EXPECT_EQ(test, w->hits, 2 * CALLS);
	watch_unregister(test, w);
	expect_settled(test, next, POINT_OPTIMIZED);
	expect_hits(test, next, CALLS);
}

/*
 * Failure C6: the neighbour's breakpoint is written while the point waits for a jump over
 * it.
 */
static void optimize_neighbour_while_queued(struct kunit *test)
{
	struct watch *w = watch_add(test, 0), *inner;

	expect_jump(test, w);
	inner = watch_add_inside(test, w);
	kprobe_optimize_set_knob(false);
	kprobe_optimize_set_knob(true);
	kprobe_optimize_prepare_queued();
	KUNIT_EXPECT_EQ(test, enable_kprobe(&inner->kp), 0);
	expect_neighbours(test, w, inner);
	expect_hits(test, w, CALLS);
	expect_hits(test, inner, CALLS);

	watch_unregister(test, w);
}

/* -- probes removed early -- */

/*
 * Failure C6: the probe is removed before or at any time of the grace period of the
 * worker. Where there is no grace period the worker may be faster than this task, but
 * hardly each time.
 */
static void optimize_removed_early(struct kunit *test)
{
	unsigned int i, seen[NR_POINT_STATES] = {};
	struct watch *w = watch_add(test, 0);

	for (i = 0; i < 24 || (i < 1000 && !seen[POINT_OPTIMIZING]); i++) {
		if (i)
			watch_register(test, w);
		if (i % 2)
			kprobe_optimize_prepare_queued();
		if (i / 2 % 12)
			msleep(i / 2 % 12 * 2);
		expect_hits(test, w, CALLS);
		seen[look_at(w).state == POINT_FENCED ? POINT_OPTIMIZING : look_at(w).state]++;
		watch_unregister(test, w);
		expect_original(test, 0);
		expect_hits(test, w, 0);
	}
	wait_for_kprobe_optimizer();
	expect_original(test, 0);
	KUNIT_EXPECT_GT(test, seen[POINT_OPTIMIZING], 0);
	kunit_info(test, "armed %u times, optimizing %u, optimized %u\n", seen[POINT_ARMED],
		   seen[POINT_OPTIMIZING], seen[POINT_OPTIMIZED]);
}

static void optimize_batch(struct kunit *test)
{
	struct watch *w[NR_TARGETS];
	struct kprobe *kps[NR_TARGETS];
	unsigned int n;

	for (n = 0; n < NR_TARGETS; n++) {
		w[n] = watch_new(test, n, watch_hit);
		kps[n] = &w[n]->kp;
	}
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, NR_TARGETS), 0);
	wait_for_kprobe_optimizer();
	for (n = 0; n < NR_TARGETS; n++) {
		expect_settled(test, w[n], POINT_OPTIMIZED);
		expect_hits(test, w[n], CALLS);
	}
	unregister_kprobes(kps, NR_TARGETS);
	for (n = 0; n < NR_TARGETS; n++) {
		expect_original(test, n);
		expect_hits(test, w[n], 0);
	}
}

/* -- without a grace period -- */

/* Much longer than writing a jump takes. */
#define SPIN_SECONDS	10

static void optimize_single_at_once(struct kunit *test)
{
	struct watch *w = watch_add(test, 0);
	struct busy_task *busy;

	expect_jump(test, w);
	if (!arch_jump_needs_no_fence(&point_at(w)->op.optinsn))
		kunit_skip(test, "the jump needs a grace period");

	busy = busy_start(test, SPIN_SECONDS * HZ, true);
	expect_jump(test, watch_add(test, 1));
	KUNIT_EXPECT_FALSE(test, READ_ONCE(busy->over));
	kunit_release_action(test, busy_stop, busy);
}

/* -- with a grace period -- */

#define GRACE	HZ

/* A write of 0 does not wait for a grace period, though the optimizer does. */
static void optimize_knob_at_once(struct kunit *test)
{
	struct watch *w = watch_add(test, 0);
	unsigned long start;

	if (IS_ENABLED(CONFIG_RISCV) && !preempt_model_preemptible())
		kunit_skip(test, "writing text stops all CPUs, and so waits for that one");

	expect_jump(test, w);
	busy_start(test, GRACE, false);
	/* Time enough for the optimizer to begin to wait. */
	watch_add(test, 1);
	msleep(100);

	start = jiffies;
	kprobe_optimize_set_knob(false);
	expect_settled(test, w, POINT_ARMED);
	KUNIT_EXPECT_LT(test, jiffies - start, GRACE / 2);
}

/* An interrupted task may be in a copy, or in text that a jump is going to cover. */
static void optimize_grace_waits_for_interrupted(struct kunit *test)
{
	struct busy_task *busy = busy_start(test, GRACE / 2, false);

	synchronize_rcu_tasks();
	KUNIT_EXPECT_TRUE(test, READ_ONCE(busy->over));
}

/* -- handlers that set another ip -- */

static int go_elsewhere(struct kprobe *kp, struct pt_regs *regs)
{
	watch_hit(kp, regs);
	instruction_pointer_set(regs, (unsigned long)stand_in);

	return 1;
}

/* Failure C15: a breakpoint follows the handler's ip, so a jump has to as well. */
static void optimize_handler_goes_elsewhere(struct kunit *test)
{
	struct watch *w;

	if (IS_ENABLED(CONFIG_ARM) || IS_ENABLED(CONFIG_PPC))
		kunit_skip(test, "this port's jumps go on behind the probe in any case");

	w = watch_add_with(test, 0, go_elsewhere);
	expect_jump(test, w);
	KUNIT_EXPECT_EQ(test, call_target(0, 5), 1005);
	KUNIT_EXPECT_EQ(test, w->hits, 1);
	watch_unregister(test, w);

	w = watch_add(test, 0);
	expect_jump_hit(test, w);
	expect_settled(test, w, POINT_OPTIMIZED);
}

#ifdef CONFIG_KRETPROBES
static unsigned int returns;

static int check_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	returns += regs_return_value(regs) == value_of(0, 5);
	return 0;
}

static void optimize_return_probe(struct kunit *test)
{
	struct kretprobe rp = {
		.kp.addr = (kprobe_opcode_t *)targets[0],
		.entry_handler = count_return,
		.handler = check_return,
	};
	struct kprobe *point;
	bool jump;

	hits = 0;
	returns = 0;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, call_target(0, 5), value_of(0, 5));
	wait_for_kprobe_optimizer();
	scoped_guard(mutex, &kprobe_mutex) {
		point = get_kprobe(rp.kp.addr);
		jump = point && (point->flags & KPROBE_FLAG_OPTIMIZED) &&
		       *point->addr != breakpoint;
	}
	KUNIT_EXPECT_TRUE(test, jump || LANDING_PAD);
	KUNIT_EXPECT_EQ(test, call_target(0, 5), value_of(0, 5));
	KUNIT_EXPECT_EQ(test, hits, 2);
	KUNIT_EXPECT_EQ(test, returns, 2);
	KUNIT_EXPECT_EQ(test, rp.nmissed, 0);
	unregister_kretprobe(&rp);
	KUNIT_EXPECT_EQ(test, call_target(0, 5), value_of(0, 5));
	KUNIT_EXPECT_EQ(test, returns, 2);
}
#endif

/* -- stale addresses of detours -- */

/*
 * A stale address of a detour leads to its slot, and the slot to the point. When two
 * points go one after the other, the second has to wait for another grace period, while
 * memory of points is in demand: as long as its slot is found the point must exist.
 */
static void optimize_slot_names_live_point(struct kunit *test)
{
	struct watch *w[NR_TARGETS];
	struct kprobe_point *point;
	unsigned int i, n, nr_found = 0, nr_wrong = 0;
	unsigned long slot, addr;

	for (n = 0; n < NR_TARGETS; n++) {
		w[n] = watch_add(test, n);
		if (n >= 2) {
			watch_unregister(test, w[n]);
			w[n]->kp.flags = KPROBE_FLAG_DISABLED;
		}
	}
	expect_jump(test, w[0]);
	expect_jump(test, w[1]);
	point = point_at(w[1]);
	slot = (unsigned long)point->op.optinsn.insn;
	addr = point_addr(point);
	if (kprobe_optinsn_slot_of(slot) != (kprobe_opcode_t *)slot)
		kunit_skip(test, "detours of this port are not in slots");

	watch_unregister(test, w[0]);
	watch_unregister(test, w[1]);
	for (i = 0; i < 10000 && kprobe_optinsn_slot_of(slot); i++) {
		scoped_guard(rcu) {
			if (kprobe_optinsn_slot_of(slot)) {
				nr_found++;
				nr_wrong += READ_ONCE(point->state) != POINT_DEAD ||
					    point_addr(point) != addr;
			}
		}
		for (n = 2; n < NR_TARGETS; n++)
			watch_register(test, w[n]);
		for (n = 2; n < NR_TARGETS; n++)
			watch_unregister(test, w[n]);
	}
	KUNIT_EXPECT_NULL(test, kprobe_optinsn_slot_of(slot));
	KUNIT_EXPECT_GT(test, nr_found, 0);
	KUNIT_EXPECT_EQ(test, nr_wrong, 0);
}

/* The detours of some ports emulate the instruction by what arch_remove_kprobe() frees. */
static void optimize_copy_stays_for_detour(struct kunit *test)
{
	struct watch *w = watch_add(test, 0);
	struct arch_specific_insn ainsn;
	struct kprobe_point *point;

	expect_jump(test, w);
	point = point_at(w);
	ainsn = point->op.kp.ainsn;

	watch_unregister(test, w);
	/* The point waits for RCU-tasks, which waits for this task: it must not sleep here. */
	KUNIT_EXPECT_MEMEQ(test, &point->op.kp.ainsn, &ainsn, sizeof(ainsn));
}

/* -- while another task keeps calling -- */

struct caller {
	struct task_struct *task;
	unsigned int calls;
	unsigned int wrong;
};

static int keep_calling(void *data)
{
	struct caller *c = data;

	while (!kthread_should_stop()) {
		c->wrong += call_target(0, c->calls) != value_of(0, c->calls);
		WRITE_ONCE(c->calls, c->calls + 1);
		if (!(c->calls % 64))
			cond_resched_tasks_rcu_qs();
	}

	return 0;
}

static struct caller *caller_start(struct kunit *test)
{
	struct caller *c = must_alloc(test, 1, sizeof(*c));

	c->task = begin_thread(test, keep_calling, c);

	return c;
}

/* Let the caller make a few more calls. */
static void caller_let_run(const struct caller *c)
{
	unsigned int calls = READ_ONCE(c->calls);

	while (READ_ONCE(c->calls) - calls < 100)
		usleep_range(100, 200);
}

#define ROUNDS	20

/* There is always a breakpoint or a jump, so each call is exactly one hit. */
static void optimize_counts_each_call(struct kunit *test)
{
	struct watch *w = watch_add(test, 0), *fellow, *inner;
	struct caller *c;
	unsigned int i;

	wait_for_kprobe_optimizer();
	inner = watch_add_next(test, w);
	c = caller_start(test);
	for (i = 0; i < ROUNDS; i++) {
		fellow = watch_join(test, w, watch_hit, ignore_post);
		caller_let_run(c);
		watch_unregister(test, fellow);
		if (i % 4 == 0)
			wait_for_kprobe_optimizer();
		kprobe_optimize_set_knob(false);
		caller_let_run(c);
		kprobe_optimize_set_knob(true);
		if (i % 4 == 1)
			wait_for_kprobe_optimizer();
		enable_kprobe(&inner->kp);
		caller_let_run(c);
		disable_kprobe(&inner->kp);
		msleep(i % 8);
	}
	kunit_release_action(test, end_thread, c->task);
	KUNIT_EXPECT_EQ(test, c->wrong, 0);
	KUNIT_EXPECT_EQ(test, w->hits, c->calls);
	KUNIT_EXPECT_EQ(test, w->kp.nmissed, 0);
}

static bool pair_is_open, pairs_are_due;
static unsigned int nr_pairs, nr_begun, nr_ended;

static int begin_pair(struct kprobe *kp, struct pt_regs *regs)
{
	/* Pairs with the release below: then what is open was opened after it. */
	if (smp_load_acquire(&pairs_are_due))
		nr_begun += pair_is_open;
	pair_is_open = true;

	return 0;
}

static void end_pair(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	if (pair_is_open)
		nr_pairs++;
	else
		nr_ended++;
	pair_is_open = false;
}

/* In this order: a hit on another CPU may be between the two handlers. */
static void expect_pairs_from_now_on(void)
{
	WRITE_ONCE(nr_ended, 0);
	WRITE_ONCE(pair_is_open, false);
	/* Pairs with the acquire above. */
	smp_store_release(&pairs_are_due, true);
}

/*
 * Once a member has been registered, its post_handler is called if its pre_handler is, and no
 * other.
 */
static void optimize_post_handler_joins(struct kunit *test)
{
	struct watch *w = watch_add(test, 0), *fellow;
	struct caller *c = caller_start(test);
	unsigned int i, begun = 0, ended = 0;

	nr_pairs = 0;
	for (i = 0; i < ROUNDS; i++) {
		expect_jump(test, w);
		nr_begun = 0;
		fellow = watch_join(test, w, begin_pair, end_pair);
		expect_pairs_from_now_on();
		caller_let_run(c);
		/* A hit may be under way when the counters are reset, and another below. */
		begun = max(begun, nr_begun);
		ended = max(ended, nr_ended);
		pairs_are_due = false;
		watch_unregister(test, fellow);
	}
	kunit_release_action(test, end_thread, c->task);
	KUNIT_EXPECT_GT(test, nr_pairs, 0);
	KUNIT_EXPECT_EQ(test, begun, 0);
	KUNIT_EXPECT_LE(test, ended, 1);
	KUNIT_EXPECT_EQ(test, c->wrong, 0);
}

static bool hold, held;

/* Stay here until everything that does not wait for this hit is over. */
static int hold_hit(struct kprobe *kp, struct pt_regs *regs)
{
	if (!READ_ONCE(hold))
		return 0;

	WRITE_ONCE(hold, false);
	WRITE_ONCE(held, true);
	mdelay(500);

	return 0;
}

static void drop_by_knob(struct watch *inner)
{
	kprobe_optimize_set_knob(false);
}

static void drop_by_neighbour(struct watch *inner)
{
	enable_kprobe(&inner->kp);
}

static const struct drop {
	const char *name;
	void (*drop)(struct watch *inner);
} drops[] = {
	{ "by the knob", drop_by_knob },
	{ "by a neighbour", drop_by_neighbour },
};

KUNIT_ARRAY_PARAM_DESC(drop, drops, name);

/*
 * A hit is in the detour when the jump is removed, and then a member that it has yet to call is
 * enabled, which has a post_handler.
 */
static void optimize_post_handler_enabled_late(struct kunit *test)
{
	const struct drop *drop = test->param_value;
	struct watch *w = watch_add(test, 0), *fellow, *inner;
	struct caller *c;
	unsigned int i;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	fellow = watch_join(test, w, begin_pair, end_pair);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&fellow->kp), 0);
	watch_join(test, w, hold_hit, NULL);
	expect_jump(test, w);
	inner = watch_add_inside(test, w);
	expect_jump(test, w);
	nr_begun = 0;
	pairs_are_due = false;
	held = false;
	c = caller_start(test);
	WRITE_ONCE(hold, true);
	for (i = 0; i < 10000 && !READ_ONCE(held); i++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(held));

	drop->drop(inner);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&fellow->kp), 0);
	expect_pairs_from_now_on();
	caller_let_run(c);
	kunit_release_action(test, end_thread, c->task);
	KUNIT_EXPECT_EQ(test, nr_begun, 0);
	KUNIT_EXPECT_FALSE(test, pair_is_open);
	KUNIT_EXPECT_EQ(test, c->wrong, 0);
}

static int no_memory(struct optimized_kprobe *op, struct kprobe *orig)
{
	return -ENOMEM;
}

static void want_memory(void)
{
	WRITE_ONCE(kprobe_optimize_prepare, no_memory);
}

static void want_slots(void)
{
	WRITE_ONCE(kprobe_optinsn_slots_withheld, true);
}

static void want_nothing(void)
{
	WRITE_ONCE(kprobe_optimize_prepare, arch_prepare_optimized_kprobe);
	WRITE_ONCE(kprobe_optinsn_slots_withheld, false);
}

static const struct shortage {
	const char *name;
	void (*begin)(void);
} shortages[] = {
	{ "of memory", want_memory },
	/* The architecture has to tell this from permanent obstacles. */
	{ "of slots", want_slots },
};

KUNIT_ARRAY_PARAM_DESC(shortage, shortages, name);

/* A temporary lack of memory must not keep a point from its jump for good. */
static void optimize_no_memory(struct kunit *test)
{
	const struct shortage *shortage = test->param_value;
	struct watch *w;
	unsigned int i;

	shortage->begin();
	w = watch_add(test, 0);
	wait_for_kprobe_optimizer();
	expect_settled(test, w, POINT_ARMED);
	expect_hits(test, w, CALLS);
	want_nothing();
	for (i = 0; i < 100 && look_at(w).state != POINT_OPTIMIZED; i++)
		msleep(100);
	expect_settled(test, w, POINT_OPTIMIZED);
	expect_hits(test, w, CALLS);
}

static void optimize_never_late(struct kunit *test)
{
	struct watch *w = watch_add(test, 0);
	struct caller *c = caller_start(test);
	unsigned int i, hits = 0;

	for (i = 0; i < ROUNDS; i++) {
		if (i)
			watch_register(test, w);
		if (i % 4 == 0)
			expect_jump(test, w);
		else
			msleep(i);
		caller_let_run(c);
		hits += w->hits;
		watch_unregister(test, w);
		caller_let_run(c);
		w->hits = 0;
		expect_original(test, 0);
	}
	kunit_release_action(test, end_thread, c->task);
	KUNIT_EXPECT_GT(test, hits, 0);
	KUNIT_EXPECT_EQ(test, w->late, 0);
	KUNIT_EXPECT_EQ(test, c->wrong, 0);
}

/* -- a probe registered before the optimizer can run -- */

DEFINE_FUNCTION(8)

static target_fn target_at_boot = target_8;

static struct {
	struct watch w;
	int err;
	enum point_state early;
	enum point_state late;
} at_boot;

static int __init register_at_boot(void)
{
	struct watch *w = &at_boot.w;

	w->kp.addr = (kprobe_opcode_t *)target_at_boot + LANDING_PAD;
	w->kp.pre_handler = watch_hit;
	at_boot.err = register_kprobe(&w->kp);
	if (!at_boot.err)
		at_boot.early = point_of(get_kprobe(w->kp.addr))->state;

	return 0;
}

/* Some architectures have no executable memory earlier. */
#ifdef CONFIG_ARCH_WANTS_EXECMEM_LATE
postcore_initcall(register_at_boot);
#else
early_initcall(register_at_boot);
#endif

/* Also if the cases do not run: no other test may find the probe. */
static int __init unregister_at_boot(void)
{
	struct watch *w = &at_boot.w;

	if (at_boot.err)
		return 0;
	wait_for_kprobe_optimizer();
	READ_ONCE(target_at_boot)(1);
	at_boot.late = point_of(get_kprobe(w->kp.addr))->state;
	unregister_kprobe(&w->kp);

	return 0;
}
late_initcall(unregister_at_boot);

/* Failure C9: the probe had to wait for RCU-tasks, and has become a jump since. */
static void optimize_from_boot(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, at_boot.err, 0);
	KUNIT_EXPECT_EQ(test, at_boot.early, POINT_ARMED);
	KUNIT_EXPECT_EQ(test, at_boot.late, POINT_OPTIMIZED);
	KUNIT_EXPECT_EQ(test, at_boot.w.hits, 1);
}

static void leave_as_found(void *context)
{
	struct kunit *test = context;
	unsigned int n;

	want_nothing();
	kprobe_optimize_set_knob(true);
	KUNIT_EXPECT_EQ(test, set_all_off(false), 0);
	for (n = 0; n < NR_TARGETS; n++)
		expect_original(test, n);
}

/* Actions run in reverse order, so that one runs when all probes are gone. */
static int optimize_init(struct kunit *test)
{
	return kunit_add_action(test, leave_as_found, test);
}

static struct kunit_case optimize_cases[] = {
	KUNIT_CASE(optimize_comes_and_goes),
	KUNIT_CASE(optimize_post_handler),
	KUNIT_CASE(optimize_post_handler_disabled),
	KUNIT_CASE(optimize_post_handler_of_another),
	KUNIT_CASE(optimize_several_members),
	KUNIT_CASE(optimize_disabled),
	KUNIT_CASE(optimize_knob),
	KUNIT_CASE(optimize_knob_turned),
	KUNIT_CASE(optimize_knob_waits_once),
	KUNIT_CASE(optimize_knob_at_once),
	KUNIT_CASE(optimize_grace_waits_for_interrupted),
	KUNIT_CASE(optimize_all_off),
	KUNIT_CASE(optimize_neighbour),
	KUNIT_CASE(optimize_neighbour_of_disabled),
	KUNIT_CASE(optimize_neighbour_apart),
	KUNIT_CASE(optimize_neighbour_while_queued),
	KUNIT_CASE(optimize_removed_early),
	KUNIT_CASE(optimize_batch),
	KUNIT_CASE(optimize_single_at_once),
	KUNIT_CASE(optimize_handler_goes_elsewhere),
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE(optimize_return_probe),
#endif
	KUNIT_CASE(optimize_from_boot),
	KUNIT_CASE_SLOW(optimize_slot_names_live_point),
	KUNIT_CASE(optimize_copy_stays_for_detour),
	KUNIT_CASE_SLOW(optimize_counts_each_call),
	KUNIT_CASE_SLOW(optimize_post_handler_joins),
	KUNIT_CASE_PARAM(optimize_post_handler_enabled_late, drop_gen_params),
	KUNIT_CASE_PARAM(optimize_no_memory, shortage_gen_params),
	KUNIT_CASE_SLOW(optimize_never_late),
	{}
};

static struct kunit_suite optimize_suite = {
	.name = "kprobes_optimize",
	.suite_init = learn_text,
	.init = optimize_init,
	.test_cases = optimize_cases,
};

kunit_test_suite(optimize_suite);
