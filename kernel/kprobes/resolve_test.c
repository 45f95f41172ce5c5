// SPDX-License-Identifier: GPL-2.0-only
/* The answers of kprobe_on_func_entry(), and that it needs no lock for them. */
#include <kunit/test.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>

#include "point.h"

static noinline int resolve_test_target(int x)
{
	barrier();
	return x + 1;
}

#define NAME	"resolve_test_target"

static kprobe_opcode_t *target(void)
{
	kprobe_opcode_t *addr = dereference_symbol_descriptor(resolve_test_target);

	/* A relocation to an address beside the function would not be to a landing pad. */
	OPTIMIZER_HIDE_VAR(addr);
	return addr;
}

/* perf calls it with a lock held that CPU hotplug takes, which is outside kprobe_mutex. */
static void entry_without_lock(struct kunit *test)
{
	guard(mutex)(&kprobe_mutex);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(target(), NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(NULL, NAME, 0), 0);
}

static void entry_of_probe(struct kunit *test)
{
	struct kprobe kp = { .symbol_name = NAME };

	/* The probe is behind a landing pad, where there is one. */
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(kp.addr, NULL, 0), 0);
	unregister_kprobe(&kp);
}

static void entry_is_elsewhere(struct kunit *test)
{
	unsigned long size, offset;

	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset((unsigned long)target(), &size,
							    &offset));
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(target(), NULL, size - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(NULL, NAME, size - 1), -EINVAL);
	/* Only the sum of address and offset matters. */
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry((kprobe_opcode_t *)1, NULL,
						   (unsigned long)target() - 1), 0);
}

static void entry_of_nothing(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(NULL, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(target(), NAME, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(NULL, "resolve_test_nothing", 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry((kprobe_opcode_t *)test, NULL, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(target(), NULL, ULONG_MAX), -ENOENT);
}

/* A function of this name is in function_test.c. */
static DEFINE_PER_CPU(int, resolve_test_namesake);

/* kallsyms finds the variable first: per-CPU symbols have low addresses. */
static void entry_beside_variable(struct kunit *test)
{
	struct kprobe kp = { .symbol_name = "resolve_test_namesake" };

	this_cpu_inc(resolve_test_namesake);
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	KUNIT_EXPECT_TRUE(test, is_kernel_text((unsigned long)kp.addr));
	unregister_kprobe(&kp);
}

static struct kunit_case resolve_cases[] = {
	KUNIT_CASE(entry_without_lock),
	KUNIT_CASE(entry_of_probe),
	KUNIT_CASE(entry_is_elsewhere),
	KUNIT_CASE(entry_of_nothing),
	KUNIT_CASE(entry_beside_variable),
	{}
};

static struct kunit_suite resolve_suite = {
	.name = "kprobes_resolve",
	.test_cases = resolve_cases,
};

kunit_test_suite(resolve_suite);

MODULE_DESCRIPTION("KUnit tests of the places that kprobes are asked for");
MODULE_LICENSE("GPL");
