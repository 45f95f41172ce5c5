// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points, tested through the interface of point.c: every edge between two states, the flags of
 * each, and how a member, a switch or the loss of its text changes the state, the flags and the
 * table entry of a point.
 */

#include "internal.h"
#include "../../lib/test_kprobes/handlers.h"

/* -- the states: the expectations are written out, not computed -- */

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

/* -- points of probes -- */

/* Two targets: one that ftrace knows, where possible, and one that it does not know. */
DEFINE_TARGET(int, traced_target, (int x), x + 1)
DEFINE_TARGET(int, plain_target, (int x), x + 2, notrace)

struct target {
	const char *name;
	int (*fn)(int x);
};

static const struct target targets[] = {
	{ "on an ftrace site", traced_target },
	{ "on a breakpoint", plain_target },
};

KUNIT_ARRAY_PARAM_DESC(target, targets, name);

static struct kprobe_point *find(struct kprobe *kp)
{
	guard(mutex)(&kprobe_mutex);

	return kprobe_point_find_member(kp);
}

static void expect_state(struct kunit *test, struct kprobe *kp, enum point_state state)
{
	struct kprobe_point *point = find(kp);

	KUNIT_ASSERT_NOT_NULL(test, point);
	KUNIT_EXPECT_STREQ(test, kprobe_point_state_name(point->state),
			   kprobe_point_state_name(state));
	KUNIT_EXPECT_EQ(test, point->op.kp.flags &
			(KPROBE_FLAG_GONE | KPROBE_FLAG_DISABLED | KPROBE_FLAG_OPTIMIZED),
			kprobe_point_state_flags(state));
}

static void expect_hits(struct kunit *test, const struct target *t, int expected)
{
	hits = 0;
	ASK(t->fn, 1);
	KUNIT_EXPECT_EQ(test, hits, expected);
}

static struct kprobe on_target(const struct target *t)
{
	return (struct kprobe){
		.addr = (kprobe_opcode_t *)t->fn,
		.pre_handler = count_hit,
	};
}

static void point_life(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct kprobe kp = on_target(t);
	unsigned long addr;

	kp.flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	addr = (unsigned long)kp.addr;
	expect_state(test, &kp, POINT_DISARMED);
	expect_hits(test, t, 0);

	KUNIT_EXPECT_EQ(test, enable_kprobe(&kp), 0);
	expect_state(test, &kp, POINT_ARMED);
	expect_hits(test, t, 1);

	KUNIT_EXPECT_EQ(test, disable_kprobe(&kp), 0);
	expect_state(test, &kp, POINT_DISARMED);
	expect_hits(test, t, 0);

	unregister_kprobe(&kp);
	scoped_guard(mutex, &kprobe_mutex)
		KUNIT_EXPECT_NULL(test, kprobe_point_find(addr));
}

/* Without fault handlers struct kprobe has no field for one. */
static_assert((offsetofend(struct kprobe, ainsn) + sizeof(long) <= sizeof(struct kprobe)) ==
	      FAULTS_WATCHED);

/* A single member is called directly, several by a walk, and none twice. */
static void point_members(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct kprobe a = on_target(t), b = on_target(t);
	struct kprobe_point *point;

	KUNIT_ASSERT_EQ(test, register_kprobe(&a), 0);
	point = find(&a);
	KUNIT_EXPECT_PTR_EQ(test, point->op.kp.handler_probe, FAULTS_WATCHED ? &point->op.kp : &a);
	expect_hits(test, t, 1);

	KUNIT_ASSERT_EQ(test, register_kprobe(&b), 0);
	KUNIT_EXPECT_PTR_EQ(test, find(&b), point);
	KUNIT_EXPECT_PTR_EQ(test, point->op.kp.handler_probe, &point->op.kp);
	KUNIT_EXPECT_EQ(test, point->enabled, 2);
	expect_hits(test, t, 2);

	unregister_kprobe(&a);
	KUNIT_EXPECT_PTR_EQ(test, point->op.kp.handler_probe, FAULTS_WATCHED ? &point->op.kp : &b);
	KUNIT_EXPECT_EQ(test, point->enabled, 1);
	expect_hits(test, t, 1);
	unregister_kprobe(&b);
}

/* Failures M1 and C5: members with a post_handler are counted, and ftrace follows. */
static void point_post_handlers(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct kprobe a = on_target(t), b = on_target(t);
	struct kprobe_point *point;

	b.post_handler = ignore_post;
	KUNIT_ASSERT_EQ(test, register_kprobe(&a), 0);
	point = find(&a);
	KUNIT_EXPECT_NULL(test, point->op.kp.post_handler);

	KUNIT_ASSERT_EQ(test, register_kprobe(&b), 0);
	KUNIT_EXPECT_EQ(test, point->post, 1);
	KUNIT_EXPECT_PTR_EQ(test, point->op.kp.post_handler, &kprobe_dispatch_post);
	KUNIT_EXPECT_FALSE(test, IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) &&
			   kprobe_ftrace_reservation_is_wrong(point));
	expect_hits(test, t, 2);

	KUNIT_EXPECT_EQ(test, disable_kprobe(&b), 0);
	KUNIT_EXPECT_EQ(test, point->post, 0);
	KUNIT_EXPECT_PTR_EQ(test, point->op.kp.post_handler,
			    POST_HANDLER_STAYS ? &kprobe_dispatch_post : NULL);
	KUNIT_EXPECT_FALSE(test, IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) &&
			   kprobe_ftrace_reservation_is_wrong(point));
	expect_hits(test, t, 1);

	KUNIT_EXPECT_EQ(test, enable_kprobe(&b), 0);
	unregister_kprobe(&a);
	expect_hits(test, t, 1);
	unregister_kprobe(&b);
	expect_hits(test, t, 0);
}

static int set_all_off(bool off)
{
	guard(mutex)(&kprobe_mutex);
	kprobe_want_all_off(off);

	return kprobe_points_reconcile_all();
}

/* Failure M2: a probe that is enabled while all are off is armed afterwards. */
static void point_all_off(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct kprobe kp = on_target(t);

	kp.flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);

	KUNIT_EXPECT_EQ(test, set_all_off(true), 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&kp), 0);
	expect_state(test, &kp, POINT_DISARMED);
	expect_hits(test, t, 0);

	KUNIT_EXPECT_EQ(test, set_all_off(false), 0);
	expect_state(test, &kp, POINT_ARMED);
	expect_hits(test, t, 1);
	unregister_kprobe(&kp);
}

static void forget(struct kprobe *kp)
{
	unsigned long addr = (unsigned long)kp->addr;

	guard(mutex)(&kprobe_mutex);
	kprobe_points_forget_text(addr, addr + 1);
}

/* Failure C4: text that may still run is restored before its point is gone. */
static void point_gone_armed(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct kprobe kp = on_target(t), again = on_target(t);

	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	expect_hits(test, t, 1);
	forget(&kp);
	expect_state(test, &kp, POINT_GONE);
	expect_hits(test, t, 0);

	KUNIT_EXPECT_EQ(test, register_kprobe(&kp), -EINVAL);
	expect_state(test, &kp, POINT_GONE);
	KUNIT_ASSERT_EQ(test, register_kprobe(&again), 0);
	expect_hits(test, t, 1);
	forget(&again);
	unregister_kprobe(&kp);
	unregister_kprobe(&again);
	expect_hits(test, t, 0);
}

/* The address of a gone point is free again. */
static void point_gone(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct kprobe kp = on_target(t), again = on_target(t);
	unsigned long addr;

	kp.flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	addr = (unsigned long)kp.addr;

	scoped_guard(mutex, &kprobe_mutex) {
		kprobe_points_forget_text(addr, addr + 1);
		KUNIT_EXPECT_NULL(test, kprobe_point_find(addr));
	}
	KUNIT_EXPECT_TRUE(test, kprobe_gone(&kp));
	expect_state(test, &kp, POINT_GONE);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&kp), -EINVAL);
	expect_hits(test, t, 0);

	KUNIT_ASSERT_EQ(test, register_kprobe(&again), 0);
	expect_hits(test, t, 1);
	unregister_kprobe(&kp);
	expect_hits(test, t, 1);
	unregister_kprobe(&again);
	expect_hits(test, t, 0);
}

#ifdef CONFIG_KPROBES_ON_FTRACE
static void keep_ip(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
}

/* The site need not be the address to which a pointer to the function points. */
static void need_ftrace_site(struct kunit *test)
{
	struct kprobe kp = on_target(&targets[0]);
	bool on_ftrace;

	kp.flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	on_ftrace = kprobe_ftrace(&kp);
	unregister_kprobe(&kp);
	if (!on_ftrace)
		kunit_skip(test, "no ftrace site there");
}

/* Enabling a probe again that could not be armed fails, but does not disable it. */
static void point_ftrace_refused(struct kunit *test)
{
	static struct ftrace_ops other = {
		.func = keep_ip,
		.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
	};
	struct kprobe kp = on_target(&targets[0]), fellow = on_target(&targets[1]);
	unsigned long site = ftrace_location((unsigned long)traced_target);

	need_ftrace_site(test);
	kp.post_handler = ignore_post;
	KUNIT_EXPECT_EQ(test, set_all_off(true), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&fellow), 0);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&other, site, 0, 0), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&other), 0);

	KUNIT_EXPECT_EQ(test, set_all_off(false), -EBUSY);
	expect_state(test, &kp, POINT_DISARMED);
	expect_hits(test, &targets[1], 1);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&kp), -EBUSY);
	KUNIT_EXPECT_FALSE(test, kp.flags & KPROBE_FLAG_DISABLED);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&other), 0);
	KUNIT_EXPECT_EQ(test, set_all_off(false), 0);
	expect_hits(test, &targets[0], 1);
	unregister_kprobe(&kp);
	unregister_kprobe(&fellow);
	ftrace_free_filter(&other);
}

/* Failures C1 and C3: a failure of ftrace is an error, not a crash. */
static void point_ftrace_killed(struct kunit *test)
{
	struct kprobe kp = on_target(&targets[0]), off = on_target(&targets[0]);

	need_ftrace_site(test);
	off.flags = KPROBE_FLAG_DISABLED;
	kprobe_ftrace_kill();
	KUNIT_EXPECT_EQ(test, register_kprobe(&kp), -ENODEV);
	KUNIT_EXPECT_TRUE(test, list_empty(&kp.list));
	KUNIT_EXPECT_EQ(test, register_kprobe(&off), 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&off), -ENODEV);
	KUNIT_EXPECT_TRUE(test, kprobe_disabled(&off));
	expect_state(test, &off, POINT_DISARMED);
	unregister_kprobe(&off);

	/* ftrace has not really shut down. */
	kprobe_ftrace_disabled = false;
	KUNIT_EXPECT_EQ(test, register_kprobe(&kp), 0);
	expect_hits(test, &targets[0], 1);
	unregister_kprobe(&kp);
}
#endif

/* Enough points to make the table grow several times, and shrink by holes. */
#define MANY	1000

static kprobe_opcode_t *fake_addr(unsigned int i)
{
	return (kprobe_opcode_t *)(0x1000UL + 8 * i);
}

static struct kprobe_point *publish_fake(struct kunit *test, kprobe_opcode_t *addr)
{
	struct kprobe_point *point = must_alloc(test, 1, sizeof(*point));

	point_init_detour(point);
	INIT_LIST_HEAD(&point->members);
	INIT_LIST_HEAD(&point->op.kp.list);
	point->op.kp.addr = addr;

	guard(mutex)(&kprobe_mutex);
	KUNIT_ASSERT_EQ(test, kprobe_points_reserve(1), 0);
	kprobe_table_add(point);

	return point;
}

static void bury_fakes(struct kprobe_point **points, unsigned int first, unsigned int step)
{
	LIST_HEAD(work);
	LIST_HEAD(dead);
	unsigned int i;

	guard(mutex)(&kprobe_mutex);
	for (i = first; i < MANY; i += step)
		point_queue(points[i], &work);
	kprobe_points_finish(&work, &dead);
}

static void expect_found(struct kunit *test, struct kprobe_point **points, unsigned int first,
			 unsigned int step, bool found)
{
	unsigned int i, wrong = 0;

	guard(preempt)();
	for (i = first; i < MANY; i += step) {
		struct kprobe *p = get_kprobe(fake_addr(i));

		wrong += p != (found ? &points[i]->op.kp : NULL);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static void point_table(struct kunit *test)
{
	struct kprobe_point **points = must_alloc(test, MANY, sizeof(*points));
	unsigned int i;

	for (i = 0; i < MANY; i++)
		points[i] = publish_fake(test, fake_addr(i));
	expect_found(test, points, 0, 1, true);

	bury_fakes(points, 0, 2);
	expect_found(test, points, 0, 2, false);
	expect_found(test, points, 1, 2, true);

	for (i = 0; i < MANY; i += 2)
		points[i] = publish_fake(test, fake_addr(i));
	expect_found(test, points, 0, 1, true);

	bury_fakes(points, 0, 1);
	expect_found(test, points, 0, 1, false);
	KUNIT_EXPECT_NULL(test, get_kprobe(NULL));

	/* Wait for readers of the points in sections like the one above. */
	synchronize_rcu();
}

/* The struct from get_kprobe() stands for all probes at the address. */
static void point_unregistered(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct kprobe a = on_target(t), b = on_target(t);
	unsigned long addr;

	KUNIT_ASSERT_EQ(test, register_kprobe(&a), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&b), 0);
	addr = (unsigned long)a.addr;
	unregister_kprobe(get_kprobe(a.addr));
	expect_hits(test, t, 0);
	scoped_guard(mutex, &kprobe_mutex)
		KUNIT_EXPECT_NULL(test, kprobe_point_find(addr));

	/* The owners do not know, and can use their probes as before. */
	unregister_kprobe(&a);
	unregister_kprobe(&b);
	KUNIT_ASSERT_EQ(test, register_kprobe(&a), 0);
	expect_hits(test, t, 1);
	unregister_kprobe(&a);
}

#ifdef ARCH_KPROBES_NATIVE
/* A task that sleeps in a fault when the breakpoint is written has not hit it. */
static void point_armed_in_fault(struct kunit *test)
{
	struct kprobe kp = on_target(&targets[1]);
	struct pt_regs regs = {};

	kp.post_handler = count_post;
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	posts = 0;
	instruction_pointer_set(&regs, (unsigned long)kp.addr);
	arch_kprobe_fixed_up(&regs, (unsigned long)kp.addr);
	unregister_kprobe(&kp);
	KUNIT_EXPECT_EQ(test, posts, 0);
}
#endif

/* A debugger asks for whatever address its user has typed. */
static void point_keeps_text(struct kunit *test)
{
	struct kprobe kp = on_target(&targets[1]);
	unsigned long back;

	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	KUNIT_EXPECT_TRUE(test, kprobe_keeps_text((unsigned long)kp.addr));
	unregister_kprobe(&kp);
	KUNIT_EXPECT_FALSE(test, kprobe_keeps_text((unsigned long)kp.addr));

	KUNIT_EXPECT_FALSE(test, kprobe_keeps_text(0));
	for (back = 0; back < 40; back++)
		KUNIT_EXPECT_FALSE(test, kprobe_keeps_text(ULONG_MAX - back));
}

static struct kunit_case point_cases[] = {
	KUNIT_CASE(state_edges),
	KUNIT_CASE(state_flags),
	KUNIT_CASE(state_names),
	KUNIT_CASE_PARAM(point_life, target_gen_params),
	KUNIT_CASE_PARAM(point_members, target_gen_params),
	KUNIT_CASE_PARAM(point_post_handlers, target_gen_params),
	KUNIT_CASE_PARAM(point_all_off, target_gen_params),
	KUNIT_CASE_PARAM(point_unregistered, target_gen_params),
	KUNIT_CASE_PARAM(point_gone, target_gen_params),
	KUNIT_CASE_PARAM(point_gone_armed, target_gen_params),
#ifdef CONFIG_KPROBES_ON_FTRACE
	KUNIT_CASE(point_ftrace_refused),
	KUNIT_CASE(point_ftrace_killed),
#endif
	KUNIT_CASE(point_table),
	KUNIT_CASE(point_keeps_text),
#ifdef ARCH_KPROBES_NATIVE
	KUNIT_CASE(point_armed_in_fault),
#endif
	{}
};

/* A worker would turn armed points into jumps sooner or later. */
static int without_jumps(struct kunit_suite *suite)
{
	if (IS_ENABLED(CONFIG_OPTPROBES))
		kprobe_optimize_set_knob(false);
	return 0;
}

static void with_jumps(struct kunit_suite *suite)
{
	if (IS_ENABLED(CONFIG_OPTPROBES))
		kprobe_optimize_set_knob(true);
}

static struct kunit_suite point_suite = {
	.name = "kprobes_point",
	.suite_init = without_jumps,
	.suite_exit = with_jumps,
	.test_cases = point_cases,
};

kunit_test_suite(point_suite);
