// SPDX-License-Identifier: GPL-2.0-only
/*
 * The look-ups of function.c: an index finds the addresses of its table, in order, and a symbol is
 * the same as in kallsyms. So is the function looked at last, also right after a look-up that
 * found nothing, and what is known about it is not taken for known about another.
 */
#include <kunit/test.h>
#include <linux/kallsyms.h>
#include <linux/kprobes_port.h>
#include <asm/sections.h>

#include "internal.h"
#include "../../lib/test_kprobes/common.h"

/* -- indices -- */

static const unsigned int offsets[] = { 0x300, 0x100, 0x20, 0x200, 0x100 };

static unsigned long base(void)
{
	return (unsigned long)_stext;
}

static void collect_offsets(struct kprobe_keys *list, const struct module *mod)
{
	unsigned int i;

	for (i = 0; !mod && i < ARRAY_SIZE(offsets); i++)
		kprobe_index_add(list, base() + offsets[i]);
}

static struct kprobe_index index = { .collect = collect_offsets };

static int find(unsigned int start, unsigned int end, const u64 **first)
{
	guard(mutex)(&kprobe_mutex);

	return kprobe_index_find(&index, base(), base() + start, base() + end, first);
}

static void index_finds(struct kunit *test)
{
	const u64 *first;

	KUNIT_ASSERT_EQ(test, find(0x100, 0x300, &first), 3);
	KUNIT_EXPECT_EQ(test, first[0], base() + 0x100);
	KUNIT_EXPECT_EQ(test, first[1], base() + 0x100);
	KUNIT_EXPECT_EQ(test, first[2], base() + 0x200);

	KUNIT_ASSERT_EQ(test, find(0, 0x21, &first), 1);
	KUNIT_EXPECT_EQ(test, first[0], base() + 0x20);
	KUNIT_ASSERT_EQ(test, find(0x300, 0x301, &first), 1);
	KUNIT_EXPECT_EQ(test, first[0], base() + 0x300);
}

static void index_finds_none(struct kunit *test)
{
	unsigned long stack = (unsigned long)&test;
	const u64 *first;

	KUNIT_EXPECT_EQ(test, find(0, 0x20, &first), 0);
	KUNIT_EXPECT_EQ(test, find(0x21, 0x100, &first), 0);
	KUNIT_EXPECT_EQ(test, find(0x301, 0x400, &first), 0);

	/* An address neither in the kernel's text nor in that of a module. */
	guard(mutex)(&kprobe_mutex);
	KUNIT_EXPECT_EQ(test, kprobe_index_find(&index, stack, base(), base() + 0x400, &first), 0);
}

/* -- symbols -- */

static void symbol_is_found(struct kunit *test)
{
	unsigned long size, offset, addr = (unsigned long)dereference_symbol_descriptor(sprintf);
	static char expected[KSYM_NAME_LEN];	/* too large for a stack */
	struct kprobe_function fn = {};
	char *module;

	KUNIT_ASSERT_NOT_NULL(test, kallsyms_lookup(addr + 1, &size, &offset, &module, expected));
	guard(mutex)(&kprobe_mutex);
	KUNIT_EXPECT_TRUE(test, kprobe_find_symbol(addr + 1, &fn));
	KUNIT_EXPECT_STREQ(test, fn.name, expected);
	KUNIT_EXPECT_EQ(test, fn.start, addr + 1 - offset);
	KUNIT_EXPECT_EQ(test, fn.end, fn.start + size);
	KUNIT_EXPECT_FALSE(test, kprobe_find_symbol((unsigned long)&fn, &fn));
}

static int note_addr(void *data, unsigned long addr)
{
	*(unsigned long *)data = addr;

	return 1;
}

static void symbol_is_found_by_name(struct kunit *test)
{
	unsigned long addr = (unsigned long)dereference_symbol_descriptor(sprintf), found = 0;

	guard(mutex)(&kprobe_mutex);
	KUNIT_EXPECT_EQ(test, kprobe_each_named(base(), "sprintf", note_addr, &found), 1);
	KUNIT_EXPECT_EQ(test, found, addr);
	KUNIT_EXPECT_EQ(test, kprobe_each_named(base(), "index_test_no", note_addr, &found), 0);
}

/* -- the function looked at last -- */

DEFINE_TARGET(int, function_test_target, (int x), x + 1)
DEFINE_TARGET(int, function_test_other, (int x), x - 1)

/* check_test.c has a variable of this name. */
DEFINE_TARGET(int, resolve_test_namesake, (int x), x + 2, __used)

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
	KUNIT_CASE(index_finds),
	KUNIT_CASE(index_finds_none),
	KUNIT_CASE(symbol_is_found),
	KUNIT_CASE(symbol_is_found_by_name),
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
