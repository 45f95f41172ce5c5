// SPDX-License-Identifier: GPL-2.0-only
/*
 * The function looked at last: the answer is that of the symbol table, also right after a look-up
 * that found nothing, and what is known about it is not taken for known about another.
 */
#include <kunit/test.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>

#include "internal.h"

static noinline int function_test_target(int x)
{
	barrier();
	return x + 1;
}

static noinline int function_test_other(int x)
{
	barrier();
	return x - 1;
}

/* resolve_test.c has a variable of this name. */
static noinline __used int resolve_test_namesake(int x)
{
	barrier();
	return x + 2;
}

static unsigned long start_of(int (*fn)(int))
{
	unsigned long start = (unsigned long)dereference_symbol_descriptor(fn);

	/* A relocation to an address beside the function would not be to a landing pad. */
	OPTIMIZER_HIDE_VAR(start);
	return start;
}

static void function_is_found(struct kunit *test)
{
	unsigned long start = start_of(function_test_target), size = 0;
	const struct kprobe_function *fn;

	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(start, &size, NULL));

	/* The guard also releases the lock when an assertion fails. */
	guard(mutex)(&kprobe_mutex);
	fn = kprobe_function_of(start + size - 1);
	KUNIT_EXPECT_NOT_NULL(test, fn);
	if (!fn)
		return;
	KUNIT_EXPECT_EQ(test, fn->start, start);
	KUNIT_EXPECT_EQ(test, fn->end, start + size);
	KUNIT_EXPECT_STREQ(test, fn->name, "function_test_target");

	/* The byte after the function belongs to another one. */
	fn = kprobe_function_of(start + size);
	KUNIT_EXPECT_TRUE(test, !fn || fn->start != start);
}

static void function_is_none(struct kunit *test)
{
	const struct kprobe_function *fn;

	guard(mutex)(&kprobe_mutex);
	KUNIT_EXPECT_NULL(test, kprobe_function_of((unsigned long)test));
	fn = kprobe_function_of(start_of(function_test_target));
	KUNIT_EXPECT_NOT_NULL(test, fn);
	if (fn)
		KUNIT_EXPECT_STREQ(test, fn->name, "function_test_target");
	KUNIT_EXPECT_NULL(test, kprobe_function_of(0));
}

/* What is known about a function is forgotten with it. */
static void function_forgets(struct kunit *test)
{
	unsigned long target = start_of(function_test_target);

	guard(mutex)(&kprobe_mutex);
	kprobe_function_of(start_of(function_test_other));
	KUNIT_ASSERT_FALSE(test, kprobe_function_of(target)->mapped);
	KUNIT_EXPECT_EQ(test, kprobe_function_of(target)->decoded, target);
	kprobe_function_of(target)->mapped = true;
	kprobe_function_of(target)->decoded = target + 1;
	KUNIT_EXPECT_TRUE(test, kprobe_function_of(target + 1)->mapped);
	KUNIT_EXPECT_EQ(test, kprobe_function_of(target + 1)->decoded, target + 1);

	KUNIT_EXPECT_FALSE(test, kprobe_function_of(start_of(function_test_other))->mapped);
	KUNIT_EXPECT_FALSE(test, kprobe_function_of(target)->mapped);
	KUNIT_EXPECT_EQ(test, kprobe_function_of(target)->decoded, target);

	kprobe_function_of(target)->mapped = true;
	kprobe_function_forget();
	KUNIT_EXPECT_FALSE(test, kprobe_function_of(target)->mapped);
	KUNIT_EXPECT_LT(test, kprobe_function_of(target)->has_sites, 0);
}

static struct kunit_case function_cases[] = {
	KUNIT_CASE(function_is_found),
	KUNIT_CASE(function_is_none),
	KUNIT_CASE(function_forgets),
	{}
};

static struct kunit_suite function_suite = {
	.name = "kprobes_function",
	.test_cases = function_cases,
};

kunit_test_suite(function_suite);
