/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A task that keeps grace periods of RCU-tasks from ending: a task that is only ever preempted
 * or interrupted has not left the code it was in. Without preemption it does so to RCU as well.
 */
#ifndef _LIB_TEST_KPROBES_BUSY_H
#define _LIB_TEST_KPROBES_BUSY_H

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include "handlers.h"

struct busy_task {
	struct task_struct *task;
	struct completion begun;
	unsigned long time;	/* for so many jiffies */
	bool yields;		/* to other tasks on its CPU */
	bool over;		/* the time has passed */
};

/* Preemption stays enabled: some ports stop all CPUs to write text. */
static inline int be_busy(void *data)
{
	struct busy_task *busy = data;
	unsigned long end = jiffies + busy->time;

	complete(&busy->begun);
	while (!kthread_should_stop() && time_before(jiffies, end)) {
		if (busy->yields)
			cond_resched();
		cpu_relax();
	}
	WRITE_ONCE(busy->over, !kthread_should_stop());
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);

	return 0;
}

static inline void busy_stop(void *data)
{
	struct busy_task *busy = data;

	kthread_stop(busy->task);
}

/* Returns when the task is busy, on another CPU if it does not yield. */
static inline struct busy_task *busy_start(struct kunit *test, unsigned long time, bool yields)
{
	struct busy_task *busy = must_alloc(test, 1, sizeof(*busy));

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs a CPU for a task that is busy");
	init_completion(&busy->begun);
	busy->time = time;
	busy->yields = yields;
	busy->task = kthread_run_on_cpu(be_busy, busy, cpumask_last(cpu_online_mask),
					"kprobes_busy");
	KUNIT_ASSERT_FALSE(test, IS_ERR(busy->task));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, busy_stop, busy), 0);
	wait_for_completion(&busy->begun);

	return busy;
}

#endif /* _LIB_TEST_KPROBES_BUSY_H */
