// SPDX-License-Identifier: GPL-2.0-only
/* The table of points: no address finds the tombstone of a removed point. */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/kprobes_port.h>
#include <linux/limits.h>
#include <linux/minmax.h>

#include "internal.h"

/* As many as a table of the smallest size can take. */
static struct kprobe_point fakes[45];

/*
 * Addresses that user space has chosen, or can choose, and those that have only the
 * highest bits set.
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

/* Add a row of points that begins where a look-up for @addr begins. */
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

/* For each address, the whole way of a look-up leads over removed points. */
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

/* Points after tombstones are found, and a new one replaces the first tombstone. */
static void table_after_tombstones(struct kunit *test)
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

/* One more than a counter can count. */
#define CROWD	(U8_MAX + 1U)

static struct kprobe_point *crowd_alloc(struct kunit *test, unsigned long addr)
{
	struct kprobe_point *crowd = kunit_kcalloc(test, CROWD, sizeof(*crowd), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, crowd);
	for (i = 0; i < CROWD; i++) {
		crowd[i].state = POINT_DISARMED;
		crowd[i].op.kp.addr = (kprobe_opcode_t *)(addr + i % KPROBE_BLOCK);
	}

	return crowd;
}

/* Add @nr of @crowd, and remove all but @left of them. */
static void expect_counted(struct kunit *test, struct kprobe_point *crowd, unsigned int nr,
			   unsigned int left)
{
	unsigned long addr = point_addr(crowd);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		kprobe_table_add(&crowd[i]);
		KUNIT_EXPECT_GE(test, kprobes_in_block(addr), min(i + 1U, (unsigned int)U8_MAX));
		KUNIT_EXPECT_GE(test, kprobes_near(addr - 1, addr), 1);
	}
	while (nr-- > left)
		kprobe_table_del(&crowd[nr]);
	KUNIT_EXPECT_GE(test, kprobes_in_block(addr), left);
}

static void table_counts_blocks(struct kunit *test)
{
	unsigned long addr = ALIGN((unsigned long)fakes, KPROBE_BLOCK);
	struct kprobe_point *crowd = crowd_alloc(test, addr);
	unsigned int before;

	guard(mutex)(&kprobe_mutex);
	KUNIT_ASSERT_EQ(test, kprobe_points_reserve(CROWD), 0);
	before = kprobes_in_block(addr);
	expect_counted(test, crowd, KPROBE_BLOCK, 0);
	KUNIT_EXPECT_EQ(test, kprobes_in_block(addr), before);

	/* From now on the counter does not change, and says that there may be points. */
	expect_counted(test, crowd, CROWD, 1);
	kprobe_table_del(&crowd[0]);
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(table_tombstones),
	KUNIT_CASE(table_after_tombstones),
	KUNIT_CASE(table_counts_blocks),
	{}
};

static struct kunit_suite table_suite = {
	.name = "kprobes_table",
	.test_cases = table_cases,
};

kunit_test_suite(table_suite);
