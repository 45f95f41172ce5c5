// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of ftrace sites with other users: sites that probes share with them, and sites that
 * another user holds exclusively.
 */
#include <linux/ftrace.h>
#include "targets.h"

static void drop_ops(void *ops)
{
	unregister_ftrace_function(ops);
	ftrace_set_filter_ip(ops, (unsigned long)text_of(TRACED), 1, 0);
}

static int add_ops(struct kunit *test, struct ftrace_ops *ops)
{
	int err = ftrace_set_filter_ip(ops, (unsigned long)text_of(TRACED), 0, 1);

	if (!err)
		err = register_ftrace_function(ops);
	return err ?: kunit_add_action_or_reset(test, drop_ops, ops);
}

static unsigned int nr_traced;

static void notrace count_traced(unsigned long ip, unsigned long parent_ip,
				 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	nr_traced++;
}

/* -- ftrace sites that another user holds -- */

#ifdef CONFIG_KPROBES_ON_FTRACE

/* Like a live patch: only one user at a time may have IPMODIFY. */
static struct ftrace_ops rival = {
	.func = count_traced,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};

/* On some architectures a probe by symbol is not on the ftrace site. */
static void need_site(struct kunit *test)
{
	struct watch *w = added_watch(test, TRACED, false);
	bool on_site = w->kp.flags & KPROBE_FLAG_FTRACE;

	drop(test, w);
	if (!on_site)
		kunit_skip(test, "no ftrace site there");
}

static void rival_was_first(struct kunit *test)
{
	struct watch *pre = new_watch(test, TRACED, false);
	struct watch *post = new_watch(test, TRACED, true);
	struct kprobe before = post->kp;
	struct kprobe *kps[] = { &pre->kp, &post->kp };

	need_site(test);
	KUNIT_ASSERT_EQ(test, 0, add_ops(test, &rival));
	KUNIT_EXPECT_EQ(test, -EBUSY, add(test, post));
	expect_clean(test, &post->kp, &before);
	expect_call(test, TRACED, post, 0, 0);

	KUNIT_EXPECT_EQ(test, -EBUSY, register_kprobes(kps, 2));
	KUNIT_EXPECT_FALSE(test, linked(&pre->kp));
	expect_call(test, TRACED, pre, 0, 0);

	must_add(test, pre);
	expect_call(test, TRACED, pre, 1, 0);
	KUNIT_EXPECT_EQ(test, -EBUSY, add(test, post));
	expect_clean(test, &post->kp, &before);
	expect_call(test, TRACED, pre, 1, 0);
	KUNIT_EXPECT_EQ(test, post->pre, 0);

	kunit_release_action(test, drop_ops, &rival);
	must_add(test, post);
	expect_call(test, TRACED, post, 1, 1);
	drop(test, post);
	expect_call(test, TRACED, pre, 1, 0);
}

static void rival_while_disabled(struct kunit *test)
{
	struct watch *post;

	need_site(test);
	post = added_watch(test, TRACED, true);
	KUNIT_EXPECT_EQ(test, -EBUSY, add_ops(test, &rival));
	expect_call(test, TRACED, post, 1, 1);
	KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&post->kp));
	KUNIT_ASSERT_EQ(test, 0, add_ops(test, &rival));
	KUNIT_EXPECT_EQ(test, -EBUSY, enable_kprobe(&post->kp));
	KUNIT_EXPECT_TRUE(test, kprobe_disabled(&post->kp));
	expect_call(test, TRACED, post, 0, 0);
	kunit_release_action(test, drop_ops, &rival);
	KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&post->kp));
	expect_call(test, TRACED, post, 1, 1);
}

#endif /* CONFIG_KPROBES_ON_FTRACE */

/* -- ftrace sites that probes share with a tracer -- */

static struct ftrace_ops tracer = {
	.func = count_traced,
};

static void add_tracer(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, add_ops(test, &tracer));
}

static void expect_at_site(struct kunit *test, struct watch *w, bool probed, bool traced)
{
	unsigned int before = nr_traced;

	expect_call(test, TRACED, w, probed, probed);
	KUNIT_EXPECT_EQ(test, nr_traced - before, traced);
}

/* Test one order in which the probe and the tracer come and leave. */
static void share_site(struct kunit *test, bool probe_comes, bool probe_leaves)
{
	struct watch *w = new_watch(test, TRACED, true);

	if (probe_comes)
		must_add(test, w);
	else
		add_tracer(test);
	expect_at_site(test, w, probe_comes, !probe_comes);
	if (probe_comes)
		add_tracer(test);
	else
		must_add(test, w);
	expect_at_site(test, w, true, true);

	if (probe_leaves)
		drop(test, w);
	else
		kunit_release_action(test, drop_ops, &tracer);
	expect_at_site(test, w, !probe_leaves, probe_leaves);
	if (probe_leaves)
		kunit_release_action(test, drop_ops, &tracer);
	else
		drop(test, w);
	expect_at_site(test, w, false, false);
}

static void site_shared(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		share_site(test, i & 1, i & 2);
}

/* Disabling and enabling the probe changes the text while the tracer stays. */
static void site_shared_disabled(struct kunit *test)
{
	struct watch *w = added_watch(test, TRACED, true);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&w->kp));
		expect_at_site(test, w, false, false);
		add_tracer(test);
		expect_at_site(test, w, false, true);
		KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&w->kp));
		expect_at_site(test, w, true, true);
		kunit_release_action(test, drop_ops, &tracer);
		expect_at_site(test, w, true, false);
	}
}

static struct kunit_case sites_cases[] = {
#ifdef CONFIG_KPROBES_ON_FTRACE
	KUNIT_CASE(rival_was_first),
	KUNIT_CASE(rival_while_disabled),
#endif
	KUNIT_CASE(site_shared),
	KUNIT_CASE(site_shared_disabled),
	{}
};

static struct kunit_suite sites_suite = {
	.name = "kprobes_test_sites",
	.suite_init = kprobes_test_suite_init,
	.init = kprobes_test_init,
	.test_cases = sites_cases,
};

kunit_test_suite(sites_suite);
