// SPDX-License-Identifier: GPL-2.0-only
/*
 * The refusals of check.c: each byte of a function is refused if its owner, asked directly,
 * says that it is reserved, and accepted otherwise. Nothing in a function is reserved for a
 * second reason, which would hide that the first is missing.
 */
#include <kunit/test.h>
#include <linux/bug.h>
#include <linux/cfi.h>
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/memory.h>
#include <linux/static_call.h>

#include "internal.h"

/* -- the functions: looked up by name, so that the compiler assumes nothing about them -- */

#define DEFINE_FUNCTION(name, result)			\
static noinline notrace __used int name(int x)		\
{							\
	barrier();					\
	return result;					\
}

DEFINE_FUNCTION(check_test_plain, x + 1)

static noinline __used int check_test_traced(int x)
{
	barrier();
	return x + 1;
}

DEFINE_FUNCTION(check_test_blacklisted, x + 2)
NOKPROBE_SYMBOL(check_test_blacklisted);

/* The compiler gives such names to what it splits off from a function. */
static int check_test_clone(int x) asm("check_test_blacklisted.part.0");
DEFINE_FUNCTION(check_test_clone, x + 3)

static DEFINE_STATIC_KEY_FALSE(check_test_key);
DEFINE_FUNCTION(check_test_keyed, static_branch_unlikely(&check_test_key) ? x * 3 : x + 4)

DEFINE_STATIC_CALL(kprobes_check_test, check_test_plain);
DEFINE_FUNCTION(check_test_calling, static_call(kprobes_check_test)(x) + 5)

static int (*check_test_pointer)(int x) = check_test_plain;
DEFINE_FUNCTION(check_test_by_pointer, READ_ONCE(check_test_pointer)(x) + 6)

DEFINE_FUNCTION(check_test_warning, WARN_ON(1) + x)
DEFINE_FUNCTION(__pfx_check_test, x + 8)

/* Where the compiler itself makes such symbols, objtool knows them. */
#if !defined(CONFIG_KPROBES_CFI) || !defined(CONFIG_X86)
DEFINE_FUNCTION(__cfi_check_test, x + 9)
#endif

/* -- what the owners of text say -- */

static int err_nowhere(unsigned long addr)
{
	return 0;
}

static int err_everywhere(unsigned long addr)
{
	return -EINVAL;
}

static int err_of_static_key(unsigned long addr)
{
	return jump_label_text_reserved((void *)addr, (void *)addr) ? -EINVAL : 0;
}

static int err_of_cfi(unsigned long addr)
{
	return is_cfi_trap(addr) ? -EINVAL : 0;
}

/* Where they are not patched they are indirect calls, with a check of the type before. */
static int err_of_static_call(unsigned long addr)
{
	return static_call_text_reserved((void *)addr, (void *)addr) ? -EINVAL : err_of_cfi(addr);
}

/* Some ports refuse traps when they decode them. */
static int err_of_bug(unsigned long addr)
{
	return !__is_defined(ARCH_KPROBES_NATIVE) && find_bug(addr) ? -EINVAL : 0;
}

#define SITES_TAKE_PROBES	\
	(IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) || __is_defined(ARCH_KPROBES_SHARE_FTRACE_SITE))

static int err_of_ftrace(unsigned long addr)
{
	unsigned long site = ftrace_location(addr);

	if (!site || addr < site)
		return 0;
	if (addr == site)
		return SITES_TAKE_PROBES ? 0 : -EINVAL;

	return SITES_TAKE_PROBES ? -EILSEQ : 0;
}

/* -- the checks -- */

static int check(struct probe_request *req)
{
	guard(mutex)(&kprobe_mutex);
	guard(cpus_read_lock)();
	guard(jump_label_lock)();
	guard(mutex)(&text_mutex);

	return kprobe_check(req);
}

/* Check all of @name. Return how many bytes of it are reserved. */
static unsigned int expect_checked(struct kunit *test, const char *name,
				   int (*err_of)(unsigned long addr))
{
	unsigned long addr, size, start = (unsigned long)kprobe_lookup_name(name, 0);
	unsigned int nr = 0;

	if (!start)
		return 0;
	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(start, &size, NULL));
	for (addr = start; addr < start + size; addr++) {
		struct probe_request req = { .addr = addr };
		int err = err_of(addr);

		KUNIT_EXPECT_EQ_MSG(test, check(&req), err, "%pS", (void *)addr);
		KUNIT_EXPECT_EQ_MSG(test, req.on_ftrace, IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) &&
				    ftrace_location(addr) == addr, "%pS", (void *)addr);
		nr += !!err;
	}

	return nr;
}

static const struct reason {
	const char *name;
	const char *function;
	int (*err_of)(unsigned long addr);
} reasons[] = {
	{ "blacklist", "check_test_blacklisted", err_everywhere },
	{ "blacklist, part of a function", "check_test_blacklisted.part.0", err_everywhere },
	{ "static key", "check_test_keyed", err_of_static_key },
	{ "static call", "check_test_calling", err_of_static_call },
	{ "static call's trampoline", "__SCT__kprobes_check_test", err_everywhere },
	{ "WARN", "check_test_warning", err_of_bug },
	{ "CFI trap", "check_test_by_pointer", err_of_cfi },
	{ "__pfx_", "__pfx_check_test", err_everywhere },
	{ "__cfi_", "__cfi_check_test", err_everywhere },
	{ "ftrace site", "check_test_traced", err_of_ftrace },
};

KUNIT_ARRAY_PARAM_DESC(reason, reasons, name);

static void check_refuses(struct kunit *test)
{
	const struct reason *reason = test->param_value;

	if (!expect_checked(test, reason->function, reason->err_of) &&
	    test->status == KUNIT_SUCCESS)
		kunit_skip(test, "this kernel has none, or the port refuses it");
}

static void check_accepts(struct kunit *test)
{
	KUNIT_ASSERT_NOT_NULL(test, kprobe_lookup_name("check_test_plain", 0));
	expect_checked(test, "check_test_plain", err_nowhere);
}

static struct kunit_case check_cases[] = {
	KUNIT_CASE_PARAM(check_refuses, reason_gen_params),
	KUNIT_CASE(check_accepts),
	{}
};

static struct kunit_suite check_suite = {
	.name = "kprobes_check",
	.test_cases = check_cases,
};

kunit_test_suite(check_suite);
