// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stack traces from hits at instructions of one byte, where the ip that handlers see is
 * that of the next instruction: an unwinder that takes the stack of that one skips a
 * frame.
 */
#include <linux/hw_breakpoint.h>
#include <linux/kallsyms.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>
#include <asm/debugreg.h>
#include <asm/insn.h>

#include "common.h"
#include "copy.h"
#include "detour.h"
#include "insn_test.h"
#include "../../../../lib/test_kprobes/handlers.h"

/* Removed after the test, so it cannot be on the test's stack. */
static struct kprobe kp;

/* -- the functions -- */

DEFINE_EMPTY_TARGET(leaf, notrace)

static void (*leaf_called)(void) = leaf;

/* Has to save and restore a register, by instructions of one byte. */
static noinline notrace long pushing(long n)
{
	READ_ONCE(leaf_called)();

	return n + 1;
}

static noinline notrace long caller(long n)
{
	return pushing(n) * 2;
}

/* Find the next instruction of one byte from @addr on with @opcode, ignoring its register. */
static u8 *find_short(u8 *addr, u8 opcode)
{
	struct insn insn;
	unsigned int i;

	for (i = 0; i < 32; i++, addr += insn.length) {
		if (insn_decode_kernel(&insn, addr) || *addr == RET_INSN_OPCODE)
			return NULL;
		if (insn.length == 1 && (*addr & 0xf8) == opcode)
			return addr;
	}

	return NULL;
}

#define PUSH	0x50

static const struct short_insn {
	const char *name;
	u8 opcode;
} short_insns[] = {
	{ "push", PUSH },
	{ "pop", 0x58 },
};

KUNIT_ARRAY_PARAM_DESC(short_insn, short_insns, name);

static u8 *find_param(struct kunit *test)
{
	return find_short((u8 *)pushing, ((const struct short_insn *)test->param_value)->opcode);
}

#define NR_FRAMES	32

static unsigned long here[NR_FRAMES], from_regs[NR_FRAMES];
static unsigned int nr_here, nr_from_regs;

static void take_traces(struct pt_regs *regs)
{
	nr_here = stack_trace_save(here, NR_FRAMES, 0);
	nr_from_regs = stack_trace_save_regs(regs, from_regs, NR_FRAMES, 0);
}

static int trace_pre(struct kprobe *kp, struct pt_regs *regs)
{
	hits++;
	take_traces(regs);

	return 0;
}

static void trace_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	hits++;
	take_traces(regs);
}

static bool has(const unsigned long *frames, unsigned int nr, const void *fn)
{
	unsigned long size, offset;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (kallsyms_lookup_size_offset(frames[i], &size, &offset) &&
		    frames[i] - offset == (unsigned long)fn)
			return true;
	}

	return false;
}

static void expect_traces(struct kunit *test, const char *what)
{
	KUNIT_EXPECT_EQ(test, caller(20), 42);
	KUNIT_EXPECT_TRUE_MSG(test, has(here, nr_here, pushing), "%s: itself", what);
	KUNIT_EXPECT_TRUE_MSG(test, has(here, nr_here, caller), "%s: caller", what);
	KUNIT_EXPECT_TRUE_MSG(test, has(from_regs, nr_from_regs, caller), "%s: caller by regs",
			      what);
}

static void unwind_here(struct kunit *test)
{
	kp = (struct kprobe){ .addr = find_param(test), .pre_handler = trace_pre };
	if (!IS_ENABLED(CONFIG_UNWINDER_ORC) || !kp.addr)
		kunit_skip(test, "no tables, or no such instruction");

	add_kprobe(test, &kp);
	expect_traces(test, "breakpoint");
	wait_for_kprobe_optimizer();
	expect_traces(test, *kp.addr == INT3_INSN_OPCODE ? "breakpoint" : "jump");
	KUNIT_EXPECT_EQ(test, hits, 2);
	kunit_release_action(test, drop_kprobe, &kp);

	/* After the instruction the ip is the same, and belongs to the next instruction. */
	kp = (struct kprobe){ .addr = kp.addr, .post_handler = trace_post };
	add_kprobe(test, &kp);
	expect_traces(test, "post_handler");
	wait_for_kprobe_optimizer();
	expect_traces(test, *kp.addr == INT3_INSN_OPCODE ? "post_handler" : "post_handler, jump");
	KUNIT_EXPECT_EQ(test, hits, 2);
	kunit_release_action(test, drop_kprobe, &kp);
}

/* Long enough for a jump, but without a frame. */
#define ADDED	0x12345678

DEFINE_TARGET(long, frameless, (long n), n + ADDED, notrace)

static noinline notrace long frameless_caller(long n)
{
	return frameless(n) + 1;
}

/* The caller has no frame yet that could be found, except by ORC. */
static void unwind_without_frame(struct kunit *test)
{
	kp = (struct kprobe){ .addr = (kprobe_opcode_t *)frameless, .pre_handler = trace_pre };
	add_kprobe(test, &kp);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, *kp.addr, JMP32_INSN_OPCODE);

	KUNIT_EXPECT_EQ(test, frameless_caller(5), ADDED + 6);
	KUNIT_EXPECT_TRUE(test, has(here, nr_here, unwind_without_frame));
	if (IS_ENABLED(CONFIG_UNWINDER_ORC)) {
		KUNIT_EXPECT_TRUE(test, has(here, nr_here, frameless));
		KUNIT_EXPECT_TRUE(test, has(here, nr_here, frameless_caller));
	}
}

#ifdef CONFIG_UNWINDER_ORC
static int check_regs_ip(struct kprobe *kp, struct pt_regs *regs)
{
	struct pt_regs other = *regs;

	hits += arch_kprobe_regs_ip(regs) == (unsigned long)kp->addr;
	/* Not where the exception has saved them. */
	hits += arch_kprobe_regs_ip(&other) == regs->ip;
	/* A hit whose instruction was executed, by a branch to where a probe may be as well. */
	regs->ip++;
	hits += arch_kprobe_regs_ip(regs) == regs->ip;
	regs->ip--;
	/* The same for POPF. */
	regs->sp += sizeof(long);
	hits += arch_kprobe_regs_ip(regs) == regs->ip;
	regs->sp -= sizeof(long);

	return 0;
}

static void unwind_regs(struct kunit *test)
{
	kp = (struct kprobe){ .addr = (kprobe_opcode_t *)leaf, .pre_handler = check_regs_ip };
	add_kprobe(test, &kp);
	leaf_called();
	KUNIT_EXPECT_EQ(test, hits, 4);
}

static unsigned long detour_frame_ip, detour_frame_ret;

static int keep_detour_frame(struct kprobe *kp, struct pt_regs *regs)
{
	detour_frame_ip = regs->ip;
	detour_frame_ret = regs->orig_ax;

	return 0;
}

/* A task that was preempted in a detour is not current when it is unwound. */
static void unwind_preempted_detour(struct kunit *test)
{
	struct pt_regs regs = { };

	kp = (struct kprobe){
		.addr = find_short((u8 *)pushing, PUSH),
		.pre_handler = keep_detour_frame,
	};
	if (!kp.addr)
		kunit_skip(test, "no such instruction");
	add_kprobe(test, &kp);
	wait_for_kprobe_optimizer();
	if (*kp.addr == INT3_INSN_OPCODE)
		kunit_skip(test, "no jump");

	KUNIT_EXPECT_EQ(test, caller(20), 42);
	regs.ip = detour_frame_ip;
	regs.orig_ax = detour_frame_ret;
	KUNIT_EXPECT_EQ(test, regs.ip, (unsigned long)kp.addr + 1);
	KUNIT_EXPECT_EQ(test, arch_kprobe_regs_ip(&regs), (unsigned long)kp.addr);
}

/* -- from each instruction on the way of a hit -- */

static struct perf_event *sampler;
static unsigned int samples;
static unsigned long bad_sample;

static bool is_in(unsigned long ip, const void *fn)
{
	return has(&ip, 1, fn);
}

static noinline notrace void call_sampled(void *at);

/* Called by the exception of a debug register, which nothing can hold off. */
static void take_sample(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	unsigned long frames[NR_FRAMES];
	unsigned int i = 0, nr = stack_trace_save_regs(regs, frames, NR_FRAMES, 0);

	samples++;
	/* The first entry is the ip itself, which may be in a copy or a detour. */
	frames[0] = arch_kprobe_insn_ip(frames[0]);
	while (i < nr && !is_in(frames[i], pushing))
		i++;
	if (i + 2 >= nr || !is_in(frames[i + 1], caller) || !is_in(frames[i + 2], call_sampled))
		bad_sample = bad_sample ?: regs->ip;
}

/* Move the debug register of @sampler, for one call. The kernel would not let it be there. */
static noinline notrace void call_sampled(void *at)
{
	unsigned long there;
	unsigned int i;

	for (i = 0; i < HBP_NUM; i++) {
		get_debugreg(there, i);
		if (there == (unsigned long)leaf)
			break;
	}
	if (i == HBP_NUM)
		return;
	set_debugreg((unsigned long)at, i);
	caller(20);
	set_debugreg((unsigned long)leaf, i);
}

/*
 * Does error_entry() return here? The tables of the unwinder say that the stack is as before
 * that call, but error_entry() has pushed registers. This holds for any exception.
 */
static bool has_wrong_table(const u8 *at)
{
	static const u8 mov_rax_rsp[] = { 0x48, 0x89, 0xc4 };

	return !memcmp(at, mov_rax_rsp, sizeof(mov_rax_rsp));
}

static void sample_code(struct kunit *test, const u8 *code, unsigned long size, const char *what)
{
	const u8 *at = code;
	struct insn insn;

	for (; at < code + size && *at != INT3_INSN_OPCODE; at += insn.length) {
		if (insn_decode_kernel(&insn, at))
			break;
		if (has_wrong_table(at))
			continue;
		bad_sample = 0;
		smp_call_function_single(0, call_sampled, (void *)at, 1);
		if (bad_sample)
			KUNIT_FAIL(test, "%s: from %pS", what, at);
	}
}

/* Not what the exception of a debug register returns by as well: that would never end. */
static void sample_functions(struct kunit *test, const char *what)
{
	static const char * const names[] = {
		"asm_exc_int3", "error_entry", "exc_int3", "irqentry_nmi_enter",
		"kprobe_int3_handler", "irqentry_nmi_exit", "kprobe_detour_entry",
	};
	unsigned long addr, size;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		addr = kallsyms_lookup_name(names[i]);
		if (addr && kallsyms_lookup_size_offset(addr, &size, NULL))
			sample_code(test, (const u8 *)addr, size, what);
	}
}

static void drop_sampler(void *unused)
{
	perf_event_release_kernel(sampler);
}

/* Failing, this skips the caller or invents one. */
static void unwind_from_way(struct kunit *test)
{
	struct perf_event_attr attr;
	unsigned long post;
	struct kprobe *p;

	kp = (struct kprobe){ .addr = find_param(test), .pre_handler = count_hit };
	if (!kp.addr)
		kunit_skip(test, "no such instruction");

	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)leaf;
	attr.bp_len = sizeof(long);
	attr.bp_type = HW_BREAKPOINT_X;
	attr.sample_period = 1;
	sampler = perf_event_create_kernel_counter(&attr, 0, NULL, take_sample, NULL);
	if (IS_ERR(sampler))
		kunit_skip(test, "no debug register");
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, drop_sampler, NULL));

	kprobe_optimize_set_knob(false);
	add_kprobe(test, &kp);
	samples = 0;
	p = get_kprobe(kp.addr);
	sample_functions(test, "breakpoint");
	sample_code(test, p->ainsn.insn, 1 + JMP32_INSN_SIZE, "copy");
	post = (unsigned long)slot_of_copy(p->ainsn.insn)->post;
	KUNIT_EXPECT_EQ(test, arch_kprobe_original_ip(post + 1), (unsigned long)kp.addr + 1);
	KUNIT_EXPECT_GT(test, samples, 100);

	kprobe_optimize_set_knob(true);
	wait_for_kprobe_optimizer();
	samples = 0;
	if (*kp.addr == JMP32_INSN_OPCODE) {
		sample_functions(test, "jump");
		sample_code(test, optinsn_of(p)->insn + sizeof(long), DETOUR_SIZE - sizeof(long),
			    "detour");
		KUNIT_EXPECT_GT(test, samples, 50);
	}
}
#endif

static struct kunit_case unwind_test_cases[] = {
	KUNIT_CASE_PARAM(unwind_here, short_insn_gen_params),
	KUNIT_CASE(unwind_without_frame),
#ifdef CONFIG_UNWINDER_ORC
	KUNIT_CASE(unwind_regs),
	KUNIT_CASE(unwind_preempted_detour),
	KUNIT_CASE_PARAM(unwind_from_way, short_insn_gen_params),
#endif
	{}
};

static struct kunit_suite unwind_test_suite = {
	.name = "kprobes_x86_unwind",
	.test_cases = unwind_test_cases,
};

kunit_test_suite(unwind_test_suite);
