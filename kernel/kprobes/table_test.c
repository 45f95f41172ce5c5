// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of points: no address at all finds what is left of a removed point.
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/cleanup.h>

#include "point.h"
#include "table.h"

/* As many as a table of the smallest size can take. */
static struct kprobe_point fakes[45];

/*
 * Addresses that user space has chosen, or can, and those that have only the highest
 * bits set.
 */
static const unsigned long addrs[] = {
	0,
	1,
	BIT(BITS_PER_LONG - 2),
	BIT(BITS_PER_LONG - 1),
	BIT(BITS_PER_LONG - 1) | BIT(BITS_PER_LONG - 2),
	ULONG_MAX - 1,
	ULONG_MAX,
};

/* A row of points that begins where a look-up for @addr begins. */
static void add_row(unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fakes); i++) {
		fakes[i].state = POINT_DISARMED;
		fakes[i].op.kp.addr = (kprobe_opcode_t *)addr;
		kprobe_table_add(&fakes[i]);
	}
}

static void remove_row(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fakes); i++)
		kprobe_table_del(&fakes[i]);
}

static void expect_none_found(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(addrs); i++)
		KUNIT_EXPECT_NULL_MSG(test, get_kprobe((void *)addrs[i]), "%#lx", addrs[i]);
}

/* Of each address in turn the whole way of a look-up is paved with removed points. */
static void table_tombstones(struct kunit *test)
{
	unsigned int i;

	guard(mutex)(&kprobe_mutex);
	expect_none_found(test);
	for (i = 0; i < ARRAY_SIZE(addrs); i++) {
		KUNIT_EXPECT_EQ(test, kprobe_points_reserve(ARRAY_SIZE(fakes)), 0);
		add_row(addrs[i]);
		KUNIT_EXPECT_PTR_EQ(test, get_kprobe((void *)addrs[i]), &fakes[0].op.kp);
		remove_row();
		expect_none_found(test);
	}
}

/* Points behind tombstones are found, and a new one takes the place of the first. */
static void table_behind_tombstones(struct kunit *test)
{
	struct kprobe_point *last = &fakes[ARRAY_SIZE(fakes) - 1];
	unsigned int i;

	guard(mutex)(&kprobe_mutex);
	KUNIT_EXPECT_EQ(test, kprobe_points_reserve(ARRAY_SIZE(fakes)), 0);
	add_row(ULONG_MAX);
	for (i = 0; i < ARRAY_SIZE(fakes) - 1; i++)
		kprobe_table_del(&fakes[i]);
	KUNIT_EXPECT_PTR_EQ(test, get_kprobe((void *)ULONG_MAX), &last->op.kp);
	kprobe_table_add(&fakes[0]);
	KUNIT_EXPECT_PTR_EQ(test, get_kprobe((void *)ULONG_MAX), &fakes[0].op.kp);
	kprobe_table_del(&fakes[0]);
	kprobe_table_del(last);
	expect_none_found(test);
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(table_tombstones),
	KUNIT_CASE(table_behind_tombstones),
	{}
};

static struct kunit_suite table_suite = {
	.name = "kprobes_table",
	.test_cases = table_cases,
};

kunit_test_suite(table_suite);

MODULE_DESCRIPTION("KUnit tests of the table of points");
MODULE_LICENSE("GPL");
