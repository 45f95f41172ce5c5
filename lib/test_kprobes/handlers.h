/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What most KUnit tests of kprobes have in common: probes, threads and memory that go at the
 * end of a case at the latest.
 */
#ifndef _LIB_TEST_KPROBES_HANDLERS_H
#define _LIB_TEST_KPROBES_HANDLERS_H

#include <kunit/test.h>
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/kprobes_base.h>
#include <linux/kthread.h>
#include "common.h"

/* kernel/kprobes/optimize.c: switch jumps on or off. */
void kprobe_optimize_set_knob(bool on);

static inline void drop_kprobe(void *kp)
{
	unregister_kprobe(kp);
}

static inline void drop_kretprobe(void *rp)
{
	unregister_kretprobe(rp);
}

/* Register @kp, and count from zero. To remove it earlier, release the action. */
static inline void add_kprobe(struct kunit *test, struct kprobe *kp)
{
	hits = 0;
	posts = 0;
	KUNIT_ASSERT_EQ(test, register_kprobe(kp), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, drop_kprobe, kp), 0);
}

static inline void add_kretprobe(struct kunit *test, struct kretprobe *rp)
{
	KUNIT_ASSERT_EQ(test, register_kretprobe(rp), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, drop_kretprobe, rp), 0);
}

/* Disabled, so that one that is accepted does no harm. */
static inline void expect_refused(struct kunit *test, void *addr, int err)
{
	struct kprobe kp = { .addr = addr, .flags = KPROBE_FLAG_DISABLED };
	int ret = register_kprobe(&kp);

	KUNIT_EXPECT_EQ_MSG(test, ret, err, "%pS", addr);
	if (ret)
		KUNIT_EXPECT_PTR_EQ(test, kp.addr, (kprobe_opcode_t *)addr);
	else
		unregister_kprobe(&kp);
}

static inline void *must_alloc(struct kunit *test, size_t nr, size_t size)
{
	void *memory = kunit_kcalloc(test, nr, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	return memory;
}

static inline void end_thread(void *task)
{
	kthread_stop(task);
}

/* To stop it earlier, release the action. */
static inline struct task_struct *begin_thread(struct kunit *test, int (*fn)(void *data),
					       void *data)
{
	struct task_struct *task = kthread_run(fn, data, "kprobes_%ps", fn);

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, end_thread, task), 0);
	return task;
}

#endif /* _LIB_TEST_KPROBES_HANDLERS_H */
