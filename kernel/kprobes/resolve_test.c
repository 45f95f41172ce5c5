// SPDX-License-Identifier: GPL-2.0-only
/* The answers of kprobe_on_func_entry(), and that it needs no lock for them. */
#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>

#include "internal.h"

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

	/* The probe is after a landing pad, where there is one. */
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

/*
 * Compilers split functions in two ways: the code of FUNC.cold is jumped to, other parts are
 * called. The checker of stacks looks for the function of each cold part.
 */
int resolve_test_split(int x);
int resolve_test_split_cold(int x) __asm__("resolve_test_split.cold");
int resolve_test_split_part(int x) __asm__("resolve_test_split.part.0");
int resolve_test_split_colder(int x) __asm__("resolve_test_split.colder.isra.0");

noinline int resolve_test_split(int x)
{
	barrier();
	return x + 1;
}

noinline int resolve_test_split_cold(int x)
{
	barrier();
	return x + 2;
}

noinline int resolve_test_split_part(int x)
{
	barrier();
	return x + 3;
}

noinline int resolve_test_split_colder(int x)
{
	barrier();
	return x + 4;
}

static void entry_of_part(struct kunit *test)
{
	static const struct {
		int (*function)(int x);
		int err;
	} parts[] = {
		{ resolve_test_split, 0 },
		{ resolve_test_split_cold, -EINVAL },
		{ resolve_test_split_part, 0 },
		{ resolve_test_split_colder, 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		kprobe_opcode_t *addr = dereference_symbol_descriptor(parts[i].function);
		struct kprobe kp = { .addr = addr };
#ifdef CONFIG_KRETPROBES
		struct kretprobe rp = { .kp.addr = addr };

		KUNIT_EXPECT_EQ_MSG(test, register_kretprobe(&rp), parts[i].err, "%ps", addr);
		unregister_kretprobe(&rp);
#endif
		KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(addr, NULL, 0), parts[i].err);
		KUNIT_EXPECT_EQ(test, register_kprobe(&kp), 0);
		KUNIT_EXPECT_EQ(test, !(kp.flags & KPROBE_FLAG_ON_FUNC_ENTRY), !!parts[i].err);
		unregister_kprobe(&kp);
	}
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
	KUNIT_CASE(entry_of_part),
	KUNIT_CASE(entry_beside_variable),
	{}
};

static struct kunit_suite resolve_suite = {
	.name = "kprobes_resolve",
	.test_cases = resolve_cases,
};

kunit_test_suite(resolve_suite);
