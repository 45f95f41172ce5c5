// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sites that are reserved with the second ftrace_ops, and given up again, while two tasks
 * hit them, and that this does not wait for other tasks.
 */
#include <linux/array_size.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/processor.h>
#include <linux/string.h>

#include "../../lib/test_kprobes/busy.h"

#define NR_CALLERS	2
#define ROUNDS		8

/* A task that keeps calling shared_target(). */
struct caller {
	struct task_struct *task;
	unsigned int hits;	/* of the call under way */
	unsigned int calls;
	unsigned int wrong;	/* calls that were not hit exactly once */
};

static struct caller callers[NR_CALLERS];

DEFINE_EMPTY_TARGET(shared_target)

/* Called in a call of shared_target(), which ftrace lets through once. */
DEFINE_EMPTY_TARGET(nested_target)

static int count_own_hit(struct kprobe *p, struct pt_regs *regs)
{
	struct caller *c;

	for (c = callers; c < callers + NR_CALLERS; c++) {
		/* Write only to the own one. */
		if (READ_ONCE(c->task) == current)
			c->hits++;
	}

	return 0;
}

/* Makes it likely that a site is reserved or given up while a hit is here. */
static void notrace take_time(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
	unsigned int i;

	nested_target();
	for (i = 0; i < 10000; i++)
		cpu_relax();
}

static struct ftrace_ops slow_tracer = { .func = take_time };

static struct kprobe hit_probe = {
	.addr = (kprobe_opcode_t *)shared_target,
	.pre_handler = count_own_hit,
};

static struct kprobe nested_probe = {
	.addr = (kprobe_opcode_t *)nested_target,
	.pre_handler = ignore_hit,
};

/* Makes the sites reserved. */
static struct kprobe post_probe = {
	.addr = (kprobe_opcode_t *)shared_target,
	.post_handler = ignore_post,
};

static struct kprobe nested_post_probe = {
	.addr = (kprobe_opcode_t *)nested_target,
	.post_handler = ignore_post,
};

static int keep_calling(void *data)
{
	struct caller *c = data;

	WRITE_ONCE(c->task, current);
	while (!kthread_should_stop()) {
		c->hits = 0;
		shared_target();
		c->wrong += c->hits != 1;
		c->calls++;
		cond_resched_tasks_rcu_qs();
	}

	return 0;
}

static void probe_add(struct kunit *test, struct kprobe *kp)
{
	kprobe_opcode_t *addr = kp->addr;

	*kp = (struct kprobe){
		.addr = addr,
		.pre_handler = kp->pre_handler,
		.post_handler = kp->post_handler,
	};
	add_kprobe(test, kp);
	if (!kprobe_ftrace(kp))
		kunit_skip(test, "no ftrace site there");
}

static void tracer_remove(void *unused)
{
	unregister_ftrace_function(&slow_tracer);
	ftrace_set_filter_ip(&slow_tracer, ftrace_location((unsigned long)shared_target), 1, 0);
}

static void tracer_add(struct kunit *test)
{
	unsigned long site = ftrace_location((unsigned long)shared_target);

	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&slow_tracer, site, 0, 0), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&slow_tracer), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, tracer_remove, NULL), 0);
}

static void keep_reserving(struct kunit *test)
{
	struct kprobe *kps[] = { &post_probe, &nested_post_probe };
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		KUNIT_EXPECT_EQ(test, register_kprobes(kps, ARRAY_SIZE(kps)), 0);
		usleep_range(5000, 10000);
		unregister_kprobes(kps, ARRAY_SIZE(kps));
		usleep_range(5000, 10000);
	}
}

static void ftrace_shared_site(struct kunit *test)
{
	struct caller *c;

	tracer_add(test);
	probe_add(test, &hit_probe);
	probe_add(test, &nested_probe);

	memset(callers, 0, sizeof(callers));
	for (c = callers; c < callers + NR_CALLERS; c++)
		WRITE_ONCE(c->task, begin_thread(test, keep_calling, c));
	keep_reserving(test);
	for (c = callers; c < callers + NR_CALLERS; c++) {
		kunit_release_action(test, end_thread, c->task);
		KUNIT_EXPECT_GT(test, c->calls, ROUNDS);
		KUNIT_EXPECT_EQ(test, c->wrong, 0);
	}
}

/* A post_handler that joins on a site must not keep kprobe_mutex for a grace period. */
static void ftrace_waits_for_no_task(struct kunit *test)
{
	unsigned long start;

	probe_add(test, &hit_probe);
	busy_start(test, 3 * HZ, false);
	msleep(20);

	start = jiffies;
	KUNIT_EXPECT_EQ(test, register_kprobe(&post_probe), 0);
	KUNIT_EXPECT_LT(test, jiffies_to_msecs(jiffies - start), 1000);
	unregister_kprobe(&post_probe);
}

static struct kunit_case ftrace_cases[] = {
	KUNIT_CASE(ftrace_shared_site),
	KUNIT_CASE(ftrace_waits_for_no_task),
	{}
};

static struct kunit_suite ftrace_suite = {
	.name = "kprobes_ftrace",
	.test_cases = ftrace_cases,
};

kunit_test_suite(ftrace_suite);
