/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A return probe that records its calls.
 */
#ifndef _LIB_TEST_KPROBES_RETURN_WATCH_H
#define _LIB_TEST_KPROBES_RETURN_WATCH_H

#include "targets.h"

#define TAG 0x7a67d00dUL

struct call_data {
	unsigned long tag;
	u32 arg;
	unsigned long serial;
	unsigned long sp;
};

struct return_watch {
	struct kretprobe rp;
	unsigned int entered;
	unsigned int returned;
	unsigned int entry_turn;	/* serial number of the last call of entry_handler */
	unsigned int return_turn;
	unsigned int wrong;	/* number of failed checks in the return handler */
	unsigned long serial;
	unsigned long value;
	unsigned long ret_addr;
	bool preemptible;
	bool refuse;
};

static inline int watch_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct return_watch *w = container_of(get_kretprobe(ri), struct return_watch, rp);
	struct call_data *data = (struct call_data *)ri->data;

	w->entered++;
	w->entry_turn = ++kprobes_test_turn;
	w->preemptible |= preemptible();
	data->tag = TAG;
	data->serial = ++w->serial;
	data->sp = kernel_stack_pointer(regs);
	return w->refuse;
}

/* Failure R6: check the stack pointer where it is known how a return changes it. */
static inline bool sp_is_wrong(unsigned long sp, unsigned long sp_at_entry)
{
	if (IS_ENABLED(CONFIG_X86))
		return sp != sp_at_entry + sizeof(long);

	return (IS_ENABLED(CONFIG_ARM64) || IS_ENABLED(CONFIG_RISCV)) && sp != sp_at_entry;
}

/* Each return must get the data of its own entry, the latest that has not returned. */
static inline int watch_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct return_watch *w = container_of(get_kretprobe(ri), struct return_watch, rp);
	struct call_data *data = (struct call_data *)ri->data;

	w->returned++;
	w->return_turn = ++kprobes_test_turn;
	w->preemptible |= preemptible();
	w->value = regs_return_value(regs);
	w->ret_addr = get_kretprobe_retaddr(ri);
	w->wrong += !IS_ALIGNED((unsigned long)ri->data, sizeof(void *));
	w->wrong += data->tag != TAG;
	w->wrong += data->serial != w->serial--;
	w->wrong += sp_is_wrong(kernel_stack_pointer(regs), data->sp);
	data->tag = 0;
	return 0;
}

static inline struct return_watch *new_return_watch(struct kunit *test, const struct target *t)
{
	struct return_watch *w = must_alloc(test, 1, sizeof(*w));

	init_links(&w->rp.kp);
	w->rp.kp.addr = text_of(t);
	w->rp.entry_handler = watch_entry;
	w->rp.handler = watch_return;
	w->rp.data_size = sizeof(struct call_data);
	return w;
}

static inline int add_return(struct kunit *test, struct return_watch *w)
{
	int err = register_kretprobe(&w->rp);

	if (!err)
		err = kunit_add_action_or_reset(test, drop_kretprobe, &w->rp);
	return err;
}

static inline void must_add_return(struct kunit *test, struct return_watch *w)
{
	KUNIT_ASSERT_EQ(test, 0, add_return(test, w));
}

static inline void drop_return(struct kunit *test, struct return_watch *w)
{
	kunit_release_action(test, drop_kretprobe, &w->rp);
}

static inline struct return_watch *added_return_watch(struct kunit *test, const struct target *t)
{
	struct return_watch *w = new_return_watch(test, t);

	must_add_return(test, w);
	return w;
}

static inline void expect_return_hits(struct kunit *test, const struct target *t,
				      struct return_watch *w, unsigned int returned,
				      unsigned int line)
{
	returned += w->returned;
	call(test, t, 1);
	KUNIT_EXPECT_EQ_MSG(test, w->returned, returned, "in line %u", line);
	KUNIT_EXPECT_EQ_MSG(test, w->wrong, 0, "in line %u", line);
}

#define expect_returns(test, t, w, runs)	expect_return_hits(test, t, w, runs, __LINE__)

#endif /* _LIB_TEST_KPROBES_RETURN_WATCH_H */
