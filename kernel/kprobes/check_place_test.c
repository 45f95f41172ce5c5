// SPDX-License-Identifier: GPL-2.0-only
/*
 * The refusals of check.c that depend on more than the function: what is no text at all, or
 * for a while only, a debugger's breakpoint, and the errno for a trap.
 */
#include <kunit/test.h>
#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kgdb.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/stop_machine.h>
#ifdef CONFIG_X86_64
#include <asm/vsyscall.h>
#else
#define VSYSCALL_ADDR	0UL
#endif

#include "../debug/debug_core.h"
#include "internal.h"

/* Found by their names, so that the compiler assumes nothing about them. */
static noinline notrace __used int check_place_text(int x)
{
	barrier();
	return x + 1;
}

static noinline notrace __used int check_place_trap(int x)
{
	WARN_ON(1);
	return x + 2;
}

static noinline notrace __used __init int check_place_init(int x)
{
	barrier();
	return x + 3;
}

static unsigned long start_of(const char *name)
{
	return (unsigned long)kprobe_lookup_name(name, 0);
}

static int check(unsigned long addr, struct module *mod)
{
	struct probe_request req = { .addr = addr, .module = mod };

	guard(mutex)(&kprobe_mutex);
	guard(cpus_read_lock)();
	guard(jump_label_lock)();
	guard(mutex)(&text_mutex);

	return kprobe_check(&req);
}

/* Whether the address is text of a module is known from the module that is held. */
static void check_data(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, check((unsigned long)test, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, check((unsigned long)test, (struct module *)test), 0);
}

static void check_init_text(struct kunit *test)
{
	int err = system_state < SYSTEM_FREEING_INITMEM ? 0 : -EINVAL;

	KUNIT_ASSERT_NE(test, start_of("check_place_init"), 0);
	KUNIT_EXPECT_EQ(test, check(start_of("check_place_init"), NULL), err);
}

/* The module only keeps the address from being refused for another reason. */
static void check_gate_area(struct kunit *test)
{
	unsigned long gate = VSYSCALL_ADDR;

	if (!in_gate_area_no_mm(gate))
		kunit_skip(test, "this kernel has none, or it is switched off");
	KUNIT_EXPECT_EQ(test, check(gate, (struct module *)test), -EINVAL);
	KUNIT_EXPECT_EQ(test, check(gate + PAGE_SIZE - 1, (struct module *)test), -EINVAL);
	KUNIT_EXPECT_EQ(test, check(gate + PAGE_SIZE, (struct module *)test), 0);
}

/* For the caller it makes no difference whether the trap or its decoding is refused. */
static void check_trap_errno(struct kunit *test)
{
	unsigned long addr, size, start = start_of("check_place_trap");
	unsigned int nr = 0;

	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(start, &size, NULL));
	for (addr = start; addr < start + size; addr++) {
		struct probe_request req = { .addr = addr };
		bool bug = find_bug(addr);

		KUNIT_EXPECT_EQ_MSG(test, kprobe_check_refused(&req, -EILSEQ),
				    bug ? -EINVAL : -EILSEQ, "%pS", (void *)addr);
		nr += bug;
	}
	/* Elsewhere, as on ARM, WARN_ON() is a call. */
#if defined(CONFIG_GENERIC_BUG) && defined(__WARN_FLAGS)
	KUNIT_EXPECT_EQ(test, nr, 1);
#endif
}

/* On other architectures a debugger's CPU needs the others to write a breakpoint. */
#if defined(CONFIG_KGDB) && defined(CONFIG_X86)
static int set_break(void *addr)
{
	return dbg_set_sw_break((unsigned long)addr) ?: dbg_activate_sw_breakpoints();
}

static int clear_break(void *addr)
{
	return dbg_deactivate_sw_breakpoints() ?: dbg_remove_sw_break((unsigned long)addr);
}

/* Pretend that the debugger has a keyboard. */
static int check_with_debugger(unsigned long addr, bool present)
{
	int ret, before = kgdb_io_module_registered;

	kgdb_io_module_registered = present;
	ret = check(addr, NULL);
	kgdb_io_module_registered = before;

	return ret;
}

static void check_breakpoint(struct kunit *test)
{
	unsigned long addr = start_of("check_place_text");
	int err;

	KUNIT_ASSERT_NE(test, addr, 0);
	err = stop_machine(set_break, (void *)addr, NULL);
	if (err == -EBUSY)
		kunit_skip(test, "others are changing the text");
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, check_with_debugger(addr, true), -EBUSY);
	KUNIT_EXPECT_EQ(test, check_with_debugger(addr + 1, true), 0);
	/* Without one the breakpoint is left over, and never hit. */
	KUNIT_EXPECT_EQ(test, check_with_debugger(addr, false), 0);

	KUNIT_EXPECT_EQ(test, stop_machine(clear_break, (void *)addr, NULL), 0);
	KUNIT_EXPECT_EQ(test, check_with_debugger(addr, true), 0);
}
#else
static void check_breakpoint(struct kunit *test)
{
	kunit_skip(test, "this kernel has no debugger, or writes its breakpoints differently");
}
#endif

static struct kunit_case check_place_cases[] = {
	KUNIT_CASE(check_data),
	KUNIT_CASE(check_init_text),
	KUNIT_CASE(check_gate_area),
	KUNIT_CASE(check_trap_errno),
	KUNIT_CASE(check_breakpoint),
	{}
};

static struct kunit_suite check_place_suite = {
	.name = "kprobes_check_place",
	.test_cases = check_place_cases,
};

kunit_test_suite(check_place_suite);
