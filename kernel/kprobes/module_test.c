// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holding the module whose text is to be probed: when that is refused, and to whom. That
 * probes go with their text needs a module that has code, and is not tested here.
 */
#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/kprobes_port.h>
#include <linux/workqueue.h>
#include <asm/sections.h>

#include "internal.h"
#include "../../lib/test_kprobes/fake_module.h"

/* An attempt to hold a module, by the task that loads it or by another one. */
struct attempt {
	struct work_struct work;
	struct probe_request req;
	int err;
};

static void hold_and_release(struct work_struct *work)
{
	struct attempt *a = container_of(work, struct attempt, work);

	a->err = kprobe_module_hold(&a->req);
	module_put(a->req.module);
}

static int err_at(unsigned long addr)
{
	struct attempt a = { .req.addr = addr };

	hold_and_release(&a.work);

	return a.err;
}

static int err_elsewhere(unsigned long addr)
{
	struct attempt a = { .req.addr = addr };

	INIT_WORK_ONSTACK(&a.work, hold_and_release);
	schedule_work(&a.work);
	flush_work(&a.work);
	destroy_work_on_stack(&a.work);

	return a.err;
}

static void lifetime_holds(struct kunit *test)
{
	struct module *mod = add_module(test, MODULE_STATE_LIVE);
	struct probe_request first = { .addr = text_of(mod) };
	struct probe_request last = { .addr = text_of(mod) + TEXT_SIZE - 1 };

	KUNIT_EXPECT_EQ(test, kprobe_module_hold(&first), 0);
	KUNIT_EXPECT_PTR_EQ(test, first.module, mod);
	KUNIT_EXPECT_EQ(test, kprobe_module_hold(&last), 0);
	KUNIT_EXPECT_PTR_EQ(test, last.module, mod);
	KUNIT_EXPECT_EQ(test, module_refcount(mod), 2);

	module_put(first.module);
	KUNIT_EXPECT_EQ(test, module_refcount(mod), 1);
	module_put(last.module);
	KUNIT_EXPECT_EQ(test, module_refcount(mod), 0);
}

static void lifetime_without_module(struct kunit *test)
{
	struct module *mod = add_module(test, MODULE_STATE_LIVE);
	unsigned long addrs[] = {
		(unsigned long)_stext, (unsigned long)_sinittext, (unsigned long)test,
		text_of(mod) + TEXT_SIZE,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(addrs); i++) {
		struct probe_request req = { .addr = addrs[i] };
		struct module *owner = mod;

		KUNIT_EXPECT_EQ(test, kprobe_module_hold(&req), 0);
		KUNIT_EXPECT_NULL(test, req.module);
		guard(mutex)(&kprobe_mutex);
		KUNIT_EXPECT_TRUE(test, kprobe_module_is_settled(addrs[i], &owner));
		KUNIT_EXPECT_NULL(test, owner);
	}
	KUNIT_EXPECT_EQ(test, module_refcount(mod), 0);
}

/* Its init text may be freed at any time then. */
static void lifetime_live(struct kunit *test)
{
	struct module *mod = add_module(test, MODULE_STATE_LIVE);

	KUNIT_EXPECT_EQ(test, err_at(text_of(mod)), 0);
	KUNIT_EXPECT_EQ(test, err_at(init_of(mod)), -ENOENT);
	KUNIT_EXPECT_EQ(test, module_refcount(mod), 0);
	drop_init(mod);
	KUNIT_EXPECT_EQ(test, err_at(text_of(mod)), 0);
	KUNIT_EXPECT_EQ(test, err_at(init_of(mod)), 0);
}

static void lifetime_coming(struct kunit *test)
{
	struct module *mod = add_module(test, MODULE_STATE_COMING);

	/* Its blacklist is not known before the first notifier has run. */
	KUNIT_EXPECT_EQ(test, err_at(text_of(mod)), -ENOENT);
	KUNIT_EXPECT_EQ(test, tell_first(mod, MODULE_STATE_COMING), NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, err_at(text_of(mod)), 0);
	KUNIT_EXPECT_EQ(test, err_at(init_of(mod)), 0);
	KUNIT_EXPECT_EQ(test, err_elsewhere(text_of(mod)), -ENOENT);

	/* All others have run. */
	KUNIT_EXPECT_EQ(test, tell_last(mod, MODULE_STATE_COMING), NOTIFY_DONE);
	KUNIT_EXPECT_EQ(test, err_at(text_of(mod)), 0);
	KUNIT_EXPECT_EQ(test, err_elsewhere(text_of(mod)), 0);
	KUNIT_EXPECT_EQ(test, err_elsewhere(init_of(mod)), 0);

	/* Nothing of that is left for the next module at this address. */
	KUNIT_EXPECT_EQ(test, tell_first(mod, MODULE_STATE_LIVE), NOTIFY_DONE);
	KUNIT_EXPECT_EQ(test, tell_last(mod, MODULE_STATE_LIVE), NOTIFY_DONE);
	KUNIT_EXPECT_EQ(test, err_at(text_of(mod)), -ENOENT);
	KUNIT_EXPECT_EQ(test, module_refcount(mod), 0);
}

static void lifetime_going(struct kunit *test)
{
	struct module *mod = add_module(test, MODULE_STATE_COMING);

	/* It has failed to load. */
	KUNIT_EXPECT_EQ(test, tell_first(mod, MODULE_STATE_COMING), NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, tell_first(mod, MODULE_STATE_GOING), NOTIFY_DONE);
	KUNIT_EXPECT_EQ(test, err_at(text_of(mod)), -ENOENT);

	mod->state = MODULE_STATE_LIVE;
	KUNIT_EXPECT_EQ(test, err_at(text_of(mod)), 0);
	mod->state = MODULE_STATE_GOING;
	KUNIT_EXPECT_EQ(test, err_at(text_of(mod)), -ENOENT);
	KUNIT_EXPECT_EQ(test, module_refcount(mod), 0);
}

static struct kunit_case lifetime_cases[] = {
	KUNIT_CASE(lifetime_holds),
	KUNIT_CASE(lifetime_without_module),
	KUNIT_CASE(lifetime_live),
	KUNIT_CASE(lifetime_coming),
	KUNIT_CASE(lifetime_going),
	{}
};

static struct kunit_suite lifetime_suite = {
	.name = "kprobes_lifetime",
	.test_cases = lifetime_cases,
};

kunit_test_suite(lifetime_suite);
