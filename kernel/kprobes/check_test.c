// SPDX-License-Identifier: GPL-2.0-only
/*
 * The refusals of check.c: each byte of a function is refused if its owner, asked directly,
 * says that it is reserved, and accepted otherwise. Nothing in a function is reserved for a
 * second reason, which would hide that the first is missing.
 *
 * Other refusals depend on more than the function: what is no text at all, or for a while only,
 * and a debugger's breakpoint; and the errno of one for a trap depends on who refuses.
 *
 * Also the answers of kprobe_on_func_entry(), and that it needs no lock for them.
 */
#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/bug.h>
#include <linux/cfi.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/kgdb.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/static_call.h>
#include <linux/stop_machine.h>
#ifdef CONFIG_X86_64
#include <asm/vsyscall.h>
#else
#define VSYSCALL_ADDR	0UL
#endif

#include "../debug/debug_core.h"
#include "internal.h"
#include "../../lib/test_kprobes/common.h"

/* -- the functions: looked up by name, so that the compiler assumes nothing about them -- */

#define DEFINE_FUNCTION(name, result, ...)	\
	DEFINE_TARGET(int, name, (int x), result, notrace __used __VA_ARGS__)

DEFINE_FUNCTION(check_test_plain, x + 1)
DEFINE_FUNCTION(check_test_init, x + 10, __init)

DEFINE_TARGET(int, check_test_traced, (int x), x + 1, __used)

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

static unsigned long start_of(const char *name)
{
	return (unsigned long)kprobe_lookup_name(name, 0);
}

/* Check all of @name. Return how many bytes of it are reserved. */
static unsigned int expect_checked(struct kunit *test, const char *name,
				   int (*err_of)(unsigned long addr))
{
	unsigned long addr, size, start = start_of(name);
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
	KUNIT_ASSERT_NE(test, start_of("check_test_plain"), 0);
	expect_checked(test, "check_test_plain", err_nowhere);
}

/* -- what depends on more than the function -- */

static int check_at(unsigned long addr, struct module *mod)
{
	struct probe_request req = { .addr = addr, .module = mod };

	return check(&req);
}

/* Whether the address is text of a module is known from the module that is held. */
static void check_data(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, check_at((unsigned long)test, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_at((unsigned long)test, (struct module *)test), 0);
}

static void check_init_text(struct kunit *test)
{
	int err = system_state < SYSTEM_FREEING_INITMEM ? 0 : -EINVAL;

	KUNIT_ASSERT_NE(test, start_of("check_test_init"), 0);
	KUNIT_EXPECT_EQ(test, check_at(start_of("check_test_init"), NULL), err);
}

/* The module only keeps the address from being refused for another reason. */
static void check_gate_area(struct kunit *test)
{
	unsigned long gate = VSYSCALL_ADDR;

	if (!in_gate_area_no_mm(gate))
		kunit_skip(test, "this kernel has none, or it is switched off");
	KUNIT_EXPECT_EQ(test, check_at(gate, (struct module *)test), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_at(gate + PAGE_SIZE - 1, (struct module *)test), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_at(gate + PAGE_SIZE, (struct module *)test), 0);
}

/* For the caller it makes no difference whether the trap or its decoding is refused. */
static void check_trap_errno(struct kunit *test)
{
	unsigned long addr, size, start = start_of("check_test_warning");
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
	ret = check_at(addr, NULL);
	kgdb_io_module_registered = before;

	return ret;
}

static void check_breakpoint(struct kunit *test)
{
	unsigned long addr = start_of("check_test_plain");
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

/* -- entries of functions -- */

DEFINE_TARGET(int, resolve_test_target, (int x), x + 1)

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
static int resolve_test_split_cold(int x) __asm__("resolve_test_split.cold");
static int resolve_test_split_part(int x) __asm__("resolve_test_split.part.0");
static int resolve_test_split_colder(int x) __asm__("resolve_test_split.colder.isra.0");

DEFINE_TARGET(int, resolve_test_split, (int x), x + 1)
DEFINE_TARGET(int, resolve_test_split_cold, (int x), x + 2)
DEFINE_TARGET(int, resolve_test_split_part, (int x), x + 3)
DEFINE_TARGET(int, resolve_test_split_colder, (int x), x + 4)

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

static struct kunit_case check_cases[] = {
	KUNIT_CASE_PARAM(check_refuses, reason_gen_params),
	KUNIT_CASE(check_accepts),
	KUNIT_CASE(check_data),
	KUNIT_CASE(check_init_text),
	KUNIT_CASE(check_gate_area),
	KUNIT_CASE(check_trap_errno),
	KUNIT_CASE(check_breakpoint),
	KUNIT_CASE(entry_without_lock),
	KUNIT_CASE(entry_of_probe),
	KUNIT_CASE(entry_is_elsewhere),
	KUNIT_CASE(entry_of_nothing),
	KUNIT_CASE(entry_of_part),
	KUNIT_CASE(entry_beside_variable),
	{}
};

static struct kunit_suite check_suite = {
	.name = "kprobes_check",
	.test_cases = check_cases,
};

kunit_test_suite(check_suite);
