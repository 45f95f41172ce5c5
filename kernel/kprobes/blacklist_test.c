// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blacklist: which text is on it and which is not, and that no range is longer than
 * the symbol or the area from which it was made.
 */
#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/kallsyms.h>

#include "internal.h"
#include "../../lib/test_kprobes/common.h"

DEFINE_EMPTY_TARGET(may_be_probed)
DEFINE_EMPTY_TARGET(must_not_be_probed)

NOKPROBE_SYMBOL(must_not_be_probed);

DEFINE_EMPTY_TARGET(added_later)

/*
 * Hide the function from the compiler, which could otherwise assume things about
 * addresses in it.
 */
static unsigned long address_of(void (*fn)(void))
{
	OPTIMIZER_HIDE_VAR(fn);

	return (unsigned long)fn;
}

static void blacklist_symbols(struct kunit *test)
{
	unsigned long size, offset, addr = address_of(must_not_be_probed);

	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(addr, &size, &offset));
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist(addr));
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist(addr + size - 1));
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist((unsigned long)get_kprobe));
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist((unsigned long)may_be_probed));
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist(0));
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist(ULONG_MAX - 1));
}

/*
 * Code that runs before a hit is recognized as one. Some of these are symbols inside of a
 * function, which ends there for kallsyms.
 */
static void blacklist_entries(struct kunit *test)
{
	static const char * const names[] = {
		"kprobe_post_entry",
		"kprobe_detour_entry",
		"kprobe_detour_pre_entry",
		"kprobe_detour_post_entry",
		"kprobe_detour_callee",
		"kprobe_detour_leave",
		"kprobe_detour_trap",
		"kprobe_slot_post_entry",
		"__kretprobe_trampoline",
		"__swpan_entry_el1",
		"__swpan_entry_el0",
		"_skip_scs",
		"riscv_preempt_v_started",
		"asm_exc_int3",
		"error_entry",
		"startup_64_load_idt",
		"swsusp_save",
#ifndef CONFIG_ARM64
		"swsusp_arch_suspend",
#endif
		"__pi_startup_64_load_idt",
#ifdef CONFIG_RCU_TRACE
		"__traceiter_rcu_watching",
		"perf_trace_rcu_watching",
		"perf_swevent_get_recursion_context",
		"__bpf_trace_rcu_watching",
#endif
#ifdef CONFIG_PROVE_LOCKING
		"rcu_is_watching",
		"lockdep_hardirqs_on_prepare",
		"trace_irq_enable",
		"trace_event_raw_event_preemptirq_template",
#endif
	};
	unsigned long addr, size, offset;
	unsigned int i, found = 0;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		addr = (unsigned long)kprobe_lookup_name(names[i], 0);
		if (!addr || !kallsyms_lookup_size_offset(addr, &size, &offset))
			continue;
		found++;
		KUNIT_EXPECT_TRUE_MSG(test, within_kprobe_blacklist(addr), "%s", names[i]);
		KUNIT_EXPECT_TRUE_MSG(test, within_kprobe_blacklist(addr + size - 1), "%s",
				      names[i]);
	}
	if (!found)
		kunit_skip(test, "this kernel has none of them");
}

static void blacklist_add(struct kunit *test)
{
	unsigned long size, offset, addr = address_of(added_later);

	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(addr, &size, &offset));
	KUNIT_EXPECT_EQ(test, kprobe_add_ksym_blacklist(addr), size);
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist(addr));
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist(addr + size - 1));

	/* Adding it again changes nothing, and no other entry has gone. */
	KUNIT_EXPECT_EQ(test, kprobe_add_ksym_blacklist(addr), size);
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist((unsigned long)must_not_be_probed));
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist((unsigned long)may_be_probed));
}

/* Failure C11: an area ends where its caller says, whatever the symbols are. */
static void blacklist_bounds(struct kunit *test)
{
	unsigned long addr = address_of(may_be_probed);

	KUNIT_EXPECT_EQ(test, kprobe_add_area_blacklist(addr, addr), 0);
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist(addr));
	KUNIT_EXPECT_EQ(test, kprobe_add_area_blacklist(addr, addr - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, kprobe_add_ksym_blacklist(0), -EINVAL);
	KUNIT_EXPECT_EQ(test, kprobe_add_ksym_blacklist((unsigned long)test), -EINVAL);

	KUNIT_EXPECT_EQ(test, kprobe_add_area_blacklist(addr, addr + 1), 0);
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist(addr));
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist(addr + 1));
}

/* The compiler may have left a clone of a function only, whose origin has no symbol. */
static void blacklist_clones(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, kprobe_blacklist_holds_origin("__sanitizer_cov_trace_pc.part.0"));
	KUNIT_EXPECT_FALSE(test, kprobe_blacklist_holds_origin("__sanitizer_cov_trace_p.part.0"));
	KUNIT_EXPECT_FALSE(test, kprobe_blacklist_holds_origin("__sanitizer_cov_trace_pc"));
}

static struct kunit_case blacklist_cases[] = {
	KUNIT_CASE(blacklist_symbols),
	KUNIT_CASE(blacklist_entries),
	KUNIT_CASE(blacklist_add),
	KUNIT_CASE(blacklist_bounds),
	KUNIT_CASE(blacklist_clones),
	{}
};

static struct kunit_suite blacklist_suite = {
	.name = "kprobes_blacklist",
	.test_cases = blacklist_cases,
};

kunit_test_suite(blacklist_suite);
