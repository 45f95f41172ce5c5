// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registration, seen from inside: when there can be none, and what happens to a probe
 * whose owner changes the struct while it is registered.
 */
#include <linux/init.h>

#include "internal.h"
#include "../../lib/test_kprobes/handlers.h"

DEFINE_TARGET(int, target, (int x), x + 1)
DEFINE_TARGET(int, other_target, (int x), x + 2)

static struct kprobe on_target(void)
{
	return (struct kprobe){ .addr = (kprobe_opcode_t *)target, .pre_handler = ignore_hit };
}

static struct kprobe too_early;
static int too_early_err;

/* Consoles are set up before the first initcall. */
static int __init register_too_early(void)
{
	too_early = on_target();
	too_early_err = register_kprobe(&too_early);

	return 0;
}
console_initcall(register_too_early);

static void expect_untouched(struct kunit *test, const struct kprobe *kp)
{
	struct kprobe fresh = on_target();

	KUNIT_EXPECT_PTR_EQ(test, kp->addr, fresh.addr);
	KUNIT_EXPECT_EQ(test, kp->flags, 0);
}

static void register_before_init(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, too_early_err, -EOPNOTSUPP);
	expect_untouched(test, &too_early);
}

static void make_available(void *unused)
{
	kprobes_available = true;
}

/* The state after a failed kprobes_init(). */
static void register_without_init(struct kunit *test)
{
	struct kprobe kp = on_target(), *kps[] = { &kp };

	KUNIT_ASSERT_TRUE(test, kprobes_available);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, make_available, NULL), 0);
	kprobes_available = false;
	KUNIT_EXPECT_EQ(test, register_kprobe(&kp), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, register_kprobes(kps, 1), -EOPNOTSUPP);
	expect_untouched(test, &kp);
	unregister_kprobe(&kp);
	kunit_release_action(test, make_available, NULL);

	kp = on_target();
	KUNIT_EXPECT_EQ(test, register_kprobe(&kp), 0);
	unregister_kprobe(&kp);
}

#ifdef CONFIG_KRETPROBES
static void register_return_without_init(struct kunit *test)
{
	struct kretprobe rp = { .kp.addr = (kprobe_opcode_t *)target };

	KUNIT_ASSERT_EQ(test, kunit_add_action(test, make_available, NULL), 0);
	kprobes_available = false;
	KUNIT_EXPECT_EQ(test, register_kretprobe(&rp), -EOPNOTSUPP);
	KUNIT_EXPECT_NULL(test, rp.kp.pre_handler);
	kunit_release_action(test, make_available, NULL);
	KUNIT_EXPECT_EQ(test, register_kretprobe(&rp), 0);
	unregister_kretprobe(&rp);
}
#endif

static void expect_hits(struct kunit *test, int expected)
{
	hits = 0;
	ASK(target, 1);
	KUNIT_EXPECT_EQ(test, hits, expected);
}

/* Changes that an owner may make to its own fields of a registered probe. */
static void owner_clears_addr(struct kprobe *kp)
{
	kp->addr = NULL;
}

static void owner_names_other_addr(struct kprobe *kp)
{
	kp->addr = (kprobe_opcode_t *)other_target;
	kp->offset = 1;
}

static void owner_names_symbol(struct kprobe *kp)
{
	kp->addr = NULL;
	kp->symbol_name = "vfs_read";
}

static void owner_leaves_it(struct kprobe *kp)
{
}

static const struct owner {
	const char *name;
	void (*changes)(struct kprobe *kp);
} owners[] = {
	{ "changes nothing", owner_leaves_it },
	{ "clears the address", owner_clears_addr },
	{ "names another address", owner_names_other_addr },
	{ "names a symbol", owner_names_symbol },
};

KUNIT_ARRAY_PARAM_DESC(owner, owners, name);

static void register_twice(struct kunit *test)
{
	const struct owner *owner = test->param_value;
	struct kprobe kp = on_target(), *twice[] = { &kp, &kp };
	kprobe_opcode_t *addr;

	kp.pre_handler = count_hit;
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	addr = kp.addr;
	owner->changes(&kp);
	KUNIT_EXPECT_EQ(test, register_kprobe(&kp), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, kp.addr, addr);
	owner->changes(&kp);
	KUNIT_EXPECT_EQ(test, register_kprobes(twice, 2), -EINVAL);
	expect_hits(test, 1);
	unregister_kprobe(&kp);
	expect_hits(test, 0);
}

/* Whatever its owner has changed, an unregistered probe is not called any more. */
static void unregister_changed(struct kunit *test)
{
	const struct owner *owner = test->param_value;
	struct kprobe kp = on_target(), *kps[] = { &kp, &kp };

	kp.pre_handler = count_hit;
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	owner->changes(&kp);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&kp), 0);
	expect_hits(test, 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&kp), 0);
	expect_hits(test, 1);
	unregister_kprobes(kps, 2);
	expect_hits(test, 0);
	KUNIT_EXPECT_EQ(test, kp.registration, 0);
	unregister_kprobe(&kp);
	KUNIT_EXPECT_NULL(test, kp.addr);
}

/* Structs that are not registered, with possible contents. */
static void register_odd_words(struct kunit *test)
{
	struct kprobe kp = on_target(), copy, old, other = on_target();
	unsigned long words[] = { 1, 8, ULONG_MAX, (unsigned long)&kp, (unsigned long)&copy,
				  (unsigned long)test };
	unsigned int i;

	kp.pre_handler = count_hit;
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	/* A copy of a registered probe, */
	copy = kp;
	KUNIT_EXPECT_EQ(test, disable_kprobe(&copy), -EINVAL);
	unregister_kprobe(&copy);
	KUNIT_EXPECT_NULL(test, copy.addr);
	expect_hits(test, 1);
	copy = kp;
	KUNIT_EXPECT_EQ(test, register_kprobe(&copy), 0);
	expect_hits(test, 2);
	unregister_kprobe(&copy);
	old = kp;
	unregister_kprobe(&kp);
	expect_hits(test, 0);

	/* a copy of a former one, at the same place, */
	other.addr = (kprobe_opcode_t *)other_target;
	KUNIT_EXPECT_EQ(test, register_kprobe(&other), 0);
	kp = old;
	KUNIT_EXPECT_EQ(test, disable_kprobe(&kp), -EINVAL);
	unregister_kprobe(&other);

	/* and a struct that was never initialised. */
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		kp = on_target();
		kp.registration = words[i];
		KUNIT_EXPECT_EQ(test, disable_kprobe(&kp), -EINVAL);
		KUNIT_EXPECT_EQ(test, register_kprobe(&kp), 0);
		unregister_kprobe(&kp);
	}
	expect_hits(test, 0);
}

#ifdef CONFIG_KRETPROBES
/* The instances are freed although the address was cleared. */
static void unregister_changed_return(struct kunit *test)
{
	const struct owner *owner = test->param_value;
	struct kretprobe rp = { .kp.addr = (kprobe_opcode_t *)target };

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	owner->changes(&rp.kp);
	KUNIT_EXPECT_EQ(test, register_kretprobe(&rp), -EINVAL);
	owner->changes(&rp.kp);
	unregister_kretprobe(&rp);
#ifndef CONFIG_KRETPROBE_ON_RETHOOK
	KUNIT_EXPECT_NULL(test, rp.rph);
#endif
	KUNIT_EXPECT_EQ(test, rp.kp.registration, 0);
}
#endif

static void expect_reason(struct kunit *test, const struct kprobe *kp, int err, const char *why)
{
	const char **told;

	KUNIT_ASSERT_EQ(test, err, -EINVAL);
	told = kprobe_refusal_text(kp, err);
	KUNIT_ASSERT_NOT_NULL(test, told);
	KUNIT_EXPECT_STREQ(test, *told, why);
}

static void register_tells_why(struct kunit *test)
{
	struct kprobe *none[1] = { NULL };
#ifdef CONFIG_KRETPROBES
	struct kretprobe rp = { .kp = on_target() };
	struct kretprobe *twice[] = { &rp, &rp };

	expect_reason(test, NULL, register_kretprobes(NULL, 1), "no probes");
	expect_reason(test, &rp.kp, register_kretprobes(twice, 2), "twice in one array");
#endif
	expect_reason(test, NULL, register_kprobes(NULL, 1), "no probes");
	expect_reason(test, NULL, register_kprobes(none, 0), "no probes");
	expect_reason(test, NULL, register_kprobes(none, 1), "a probe is NULL");
}

static struct kunit_case register_cases[] = {
	KUNIT_CASE(register_before_init),
	KUNIT_CASE(register_without_init),
	KUNIT_CASE_PARAM(register_twice, owner_gen_params),
	KUNIT_CASE_PARAM(unregister_changed, owner_gen_params),
	KUNIT_CASE(register_odd_words),
	KUNIT_CASE(register_tells_why),
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE(register_return_without_init),
	KUNIT_CASE_PARAM(unregister_changed_return, owner_gen_params),
#endif
	{}
};

static struct kunit_suite register_suite = {
	.name = "kprobes_register",
	.test_cases = register_cases,
};

kunit_test_suite(register_suite);
