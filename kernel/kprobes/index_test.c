// SPDX-License-Identifier: GPL-2.0-only
/*
 * An index finds the addresses of its table, in order, and a symbol is the same as in
 * kallsyms.
 */
#include <kunit/test.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/module.h>
#include <asm/sections.h>

#include "internal.h"

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

static struct kunit_case index_cases[] = {
	KUNIT_CASE(index_finds),
	KUNIT_CASE(index_finds_none),
	KUNIT_CASE(symbol_is_found),
	KUNIT_CASE(symbol_is_found_by_name),
	{}
};

static struct kunit_suite index_suite = {
	.name = "kprobes_index",
	.test_cases = index_cases,
};

kunit_test_suite(index_suite);
