/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What most tests of kprobes have in common: handlers that count or do nothing, and probes
 * that go at the end of a case at the latest. Each file has counters of its own.
 */
#ifndef _LIB_TEST_KPROBES_HANDLERS_H
#define _LIB_TEST_KPROBES_HANDLERS_H

#include <kunit/test.h>
#include <linux/kprobes.h>
#include <linux/kprobes_base.h>

static unsigned int hits, posts;

static inline int count_hit(struct kprobe *kp, struct pt_regs *regs)
{
	hits++;
	return 0;
}

static inline void count_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	posts++;
}

static inline int ignore_hit(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

static inline void ignore_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

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

#endif /* _LIB_TEST_KPROBES_HANDLERS_H */
