// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modules whose text is to be probed: when holding one is refused, and to whom, and whether what
 * others patch in its text is known. That probes go with their text needs a module that has code,
 * and is not tested here.
 */
#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/execmem.h>
#include <linux/kprobes_port.h>
#include <linux/minmax.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>
#include <asm/sections.h>

#include "internal.h"
#include "../module/internal.h"

/* -- a module without code, which the kernel finds by its addresses -- */

#define TEXT_SIZE	256
#define INIT_OFFSET	1024

static struct mod_kallsyms no_symbols;

static unsigned long text_of(const struct module *mod)
{
	return (unsigned long)mod->mem[MOD_TEXT].base;
}

static unsigned long init_of(const struct module *mod)
{
	return text_of(mod) + INIT_OFFSET;
}

/* Call one of the two notifiers of module.c, as for an event of @mod. */
static int tell(const char *notifier, struct module *mod, unsigned long event)
{
	notifier_fn_t call = (notifier_fn_t)kprobe_lookup_name(notifier, 0);

	return call ? call(NULL, event, mod) : NOTIFY_BAD;
}

static int tell_first(struct module *mod, unsigned long event)
{
	return tell("module_event", mod, event);
}

static int tell_last(struct module *mod, unsigned long event)
{
	return tell("module_has_come", mod, event);
}

/* The bounds stay: they are only a hint, and other modules may have come meanwhile. */
static void remove_module(void *data)
{
	struct module *mod = data;

	scoped_guard(mutex, &module_mutex)
		mod_tree_remove(mod);
	synchronize_rcu();
	tell_first(mod, MODULE_STATE_GOING);
	execmem_free(mod->mem[MOD_TEXT].base);
}

static struct module *add_module(struct kunit *test, enum module_state state)
{
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, kprobe_lookup_name("module_event", 0));
	KUNIT_ASSERT_NOT_NULL(test, mod);
	mod->state = state;
	RCU_INIT_POINTER(mod->kallsyms, &no_symbols);
	atomic_set(&mod->refcnt, 1);
	mod->mem[MOD_TEXT].base = execmem_alloc(EXECMEM_MODULE_TEXT, PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, mod->mem[MOD_TEXT].base);
	mod->mem[MOD_TEXT].size = TEXT_SIZE;
	mod->mem[MOD_INIT_TEXT].base = (void *)init_of(mod);
	mod->mem[MOD_INIT_TEXT].size = TEXT_SIZE;

	scoped_guard(mutex, &module_mutex) {
		mod_tree.addr_min = min(mod_tree.addr_min, text_of(mod));
		mod_tree.addr_max = max(mod_tree.addr_max, init_of(mod) + TEXT_SIZE);
		mod_tree_insert(mod);
	}
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remove_module, mod), 0);

	return mod;
}

/* The loader does this when a module is LIVE. */
static void drop_init(struct module *mod)
{
	guard(mutex)(&module_mutex);
	mod_tree_remove_init(mod);
	synchronize_rcu();
	mod->mem[MOD_INIT_TEXT].size = 0;
}

/* -- holding a module -- */

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

/* -- what others patch: not known while a module comes or drops its init text, or goes -- */

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

static struct kunit_case module_cases[] = {
	KUNIT_CASE(lifetime_holds),
	KUNIT_CASE(lifetime_without_module),
	KUNIT_CASE(lifetime_live),
	KUNIT_CASE(lifetime_coming),
	KUNIT_CASE(lifetime_going),
	KUNIT_CASE(settled_without_init),
	KUNIT_CASE(settled_coming),
	KUNIT_CASE(settled_by_text),
	KUNIT_CASE(settled_going),
	{}
};

static struct kunit_suite module_suite = {
	.name = "kprobes_module",
	.test_cases = module_cases,
};

kunit_test_suite(module_suite);
