/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations shared by the tests of kprobes' public interface: the probed functions,
 * and a probe that records its hits.
 */
#ifndef _LIB_TEST_KPROBES_TARGETS_H
#define _LIB_TEST_KPROBES_TARGETS_H

#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include "handlers.h"

/* targets.c */
struct target {
	const char *name;
	u32 (*call)(u32 n);
	u32 factor;
	u32 addend;
};

#define NR_TARGETS	6

extern struct target kprobes_test_targets[NR_TARGETS];
extern const struct target *kprobes_test_subject;

/* Most cases run on the first two, of which one is the case's subject. */
#define SUBJECT		kprobes_test_subject
#define TRACED		(&kprobes_test_targets[0])
#define PLAIN		(&kprobes_test_targets[1])
#define STAND_IN	(&kprobes_test_targets[2])
#define FORBIDDEN	(&kprobes_test_targets[3])
#define RECURSIVE	(&kprobes_test_targets[4])
#define MIDDLE		(&kprobes_test_targets[5])
#define NR_SUBJECTS	2

/* Calls RECURSIVE. The other is the return address of the call that MIDDLE makes. */
extern u32 (*kprobes_test_recurse)(u32 depth);
extern unsigned long kprobes_test_return_place;

KUNIT_GENERATOR(kprobes_test_next_subject);
/* A pre_handler that calls kprobes_test_called_in_handler. */
extern const struct target *kprobes_test_called_in_handler;
int kprobes_test_call_in_handler(struct kprobe *kp, struct pt_regs *regs);
/* A pre_handler that calls STAND_IN instead of the probed function. */
int kprobes_test_go_to_stand_in(struct kprobe *kp, struct pt_regs *regs);

int kprobes_test_suite_init(struct kunit_suite *suite);
int kprobes_test_init(struct kunit *test);

/* Until the probes have their jumps, so that what follows shows another way to hit them. */
static inline void wait_for_jumps(void)
{
#ifdef MODULE
	/* That is not exported. Most jumps come within half a second; else the way is the same. */
	msleep(500);
#else
	wait_for_kprobe_optimizer();
#endif
}

static inline kprobe_opcode_t *text_of(const struct target *t)
{
	return dereference_function_descriptor(t->call);
}

static inline u32 value_of(const struct target *t, u32 n)
{
	return n * t->factor + t->addend;
}

/* All calls of targets are made here. */
static noinline notrace __maybe_unused u32 ask(const struct target *t, u32 n)
{
	u32 (*function)(u32 n) = READ_ONCE(t->call);

	n = function(n);
	barrier();
	return n;
}

static inline void call(struct kunit *test, const struct target *t, unsigned int times)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < times; i++)
		wrong += ask(t, i) != value_of(t, i);
	KUNIT_EXPECT_EQ_MSG(test, wrong, 0, "results of %s", t->name);
}

/* -- a probe that records its hits -- */

/* On s390 the function that reads arguments is not exported to modules. */
#if defined(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API) && !(defined(MODULE) && defined(CONFIG_S390))
#define TELLS_ARGUMENTS	1
#else
#define TELLS_ARGUMENTS	0
#endif

struct watch {
	struct kprobe kp;
	unsigned int pre;
	unsigned int post;
	unsigned int pre_turn;	/* serial number of the last call of pre_handler */
	unsigned int post_turn;
	unsigned long pre_ip;
	unsigned long arg;
	unsigned long post_flags;
	bool preemptible;
	bool user;
};

extern unsigned int kprobes_test_turn;

static inline int watch_pre(struct kprobe *kp, struct pt_regs *regs)
{
	struct watch *w = container_of(kp, struct watch, kp);

	w->pre++;
	w->pre_turn = ++kprobes_test_turn;
	w->pre_ip = instruction_pointer(regs);
	w->preemptible |= preemptible();
	w->user |= user_mode(regs);
#if TELLS_ARGUMENTS
	w->arg = regs_get_kernel_argument(regs, 0);
#endif
	return 0;
}

static inline void watch_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	struct watch *w = container_of(kp, struct watch, kp);

	w->post++;
	w->post_turn = ++kprobes_test_turn;
	w->preemptible |= preemptible();
	w->post_flags |= flags;
}

/* Like tracers, which tell by these links whether a probe is registered. */
static inline void init_links(struct kprobe *kp)
{
	INIT_HLIST_NODE(&kp->hlist);
	INIT_LIST_HEAD(&kp->list);
}

static inline bool linked(struct kprobe *kp)
{
	return !list_empty(&kp->list) || !hlist_unhashed(&kp->hlist);
}

static inline struct watch *new_watch(struct kunit *test, const struct target *t, bool post)
{
	struct watch *w = must_alloc(test, 1, sizeof(*w));

	init_links(&w->kp);
	w->kp.addr = text_of(t);
	w->kp.pre_handler = watch_pre;
	w->kp.post_handler = post ? watch_post : NULL;
	return w;
}

/* Register @w, to be unregistered at the end of the case at the latest. */
static inline int add(struct kunit *test, struct watch *w)
{
	int err = register_kprobe(&w->kp);

	if (!err)
		err = kunit_add_action_or_reset(test, drop_kprobe, &w->kp);
	return err;
}

static inline void must_add(struct kunit *test, struct watch *w)
{
	KUNIT_ASSERT_EQ(test, 0, add(test, w));
}

static inline void drop(struct kunit *test, struct watch *w)
{
	kunit_release_action(test, drop_kprobe, &w->kp);
}

static inline struct watch *added_watch(struct kunit *test, const struct target *t, bool post)
{
	struct watch *w = new_watch(test, t, post);

	must_add(test, w);
	return w;
}

/* Call once, and expect this many calls of each handler. */
static inline void expect_hits(struct kunit *test, const struct target *t, struct watch *w,
			       unsigned int pre, unsigned int post, unsigned int line)
{
	pre += w->pre;
	post += w->post;
	call(test, t, 1);
	KUNIT_EXPECT_EQ_MSG(test, w->pre, pre, "in line %u", line);
	KUNIT_EXPECT_EQ_MSG(test, w->post, post, "in line %u", line);
}

#define expect_call(test, t, w, pre, post)	expect_hits(test, t, w, pre, post, __LINE__)

/* A refused struct must be unchanged, so that it can be used again. */
static inline void expect_clean(struct kunit *test, struct kprobe *kp, const struct kprobe *before)
{
	KUNIT_EXPECT_FALSE(test, linked(kp));
	KUNIT_EXPECT_PTR_EQ(test, kp->addr, before->addr);
	KUNIT_EXPECT_PTR_EQ(test, kp->symbol_name, before->symbol_name);
	KUNIT_EXPECT_EQ(test, kp->offset, before->offset);
	KUNIT_EXPECT_TRUE(test, kp->pre_handler == before->pre_handler);
	KUNIT_EXPECT_TRUE(test, kp->post_handler == before->post_handler);
}

#endif /* _LIB_TEST_KPROBES_TARGETS_H */
