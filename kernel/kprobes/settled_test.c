// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether what others patch in a module's text is known: not while it comes or drops its
 * init text, nor when it goes.
 */
#include <kunit/test.h>
#include <linux/kprobes_port.h>

#include "internal.h"
#include "../../lib/test_kprobes/fake_module.h"

/* Expect the answer for @offset in the text of @mod, and that @mod is its owner. */
static void expect_settled(struct kunit *test, struct module *mod, unsigned int offset,
			   bool expected)
{
	struct module *owner = NULL;

	guard(mutex)(&kprobe_mutex);
	KUNIT_EXPECT_EQ(test, kprobe_module_is_settled(text_of(mod) + offset, &owner), expected);
	KUNIT_EXPECT_PTR_EQ(test, owner, mod);
}

/* With its init text, entries may be cut from its exception table. */
static void settled_without_init(struct kunit *test)
{
	struct module *mod = add_module(test, MODULE_STATE_LIVE);

	expect_settled(test, mod, 0, false);
	expect_settled(test, mod, 0, false);
	drop_init(mod);
	expect_settled(test, mod, 0, true);
}

static void settled_coming(struct kunit *test)
{
	struct module *mod = add_module(test, MODULE_STATE_COMING);

	expect_settled(test, mod, 0, false);
	KUNIT_EXPECT_EQ(test, tell_last(mod, MODULE_STATE_COMING), NOTIFY_DONE);
	expect_settled(test, mod, 0, true);
	mod->state = MODULE_STATE_LIVE;
	expect_settled(test, mod, 0, false);
	KUNIT_EXPECT_EQ(test, tell_first(mod, MODULE_STATE_LIVE), NOTIFY_DONE);
	expect_settled(test, mod, 0, false);
}

/* The answer is for the text of the module only, whatever was asked about before. */
static void settled_by_text(struct kunit *test)
{
	struct module *mod = add_module(test, MODULE_STATE_LIVE);
	struct module *other = add_module(test, MODULE_STATE_LIVE);
	struct module *owner = mod;

	drop_init(mod);
	expect_settled(test, mod, TEXT_SIZE - 1, true);

	scoped_guard(mutex, &kprobe_mutex) {
		KUNIT_EXPECT_TRUE(test, kprobe_module_is_settled(text_of(mod) + TEXT_SIZE,
								 &owner));
		KUNIT_EXPECT_NULL(test, owner);
	}
	expect_settled(test, other, 0, false);
	expect_settled(test, mod, 0, true);
}

/* A module whose last reference is gone may have any state. */
static void settled_going(struct kunit *test)
{
	struct module *mod = add_module(test, MODULE_STATE_LIVE);

	KUNIT_EXPECT_FALSE(test, kprobe_module_is_going(mod));
	KUNIT_EXPECT_EQ(test, module_refcount(mod), 0);
	KUNIT_EXPECT_FALSE(test, kprobe_module_is_going(NULL));

	atomic_set(&mod->refcnt, 0);
	KUNIT_EXPECT_TRUE(test, kprobe_module_is_going(mod));
	atomic_set(&mod->refcnt, 1);
	mod->state = MODULE_STATE_GOING;
	KUNIT_EXPECT_TRUE(test, kprobe_module_is_going(mod));
	KUNIT_EXPECT_EQ(test, module_refcount(mod), 0);
}

static struct kunit_case settled_cases[] = {
	KUNIT_CASE(settled_without_init),
	KUNIT_CASE(settled_coming),
	KUNIT_CASE(settled_by_text),
	KUNIT_CASE(settled_going),
	{}
};

static struct kunit_suite settled_suite = {
	.name = "kprobes_settled",
	.test_cases = settled_cases,
};

kunit_test_suite(settled_suite);
