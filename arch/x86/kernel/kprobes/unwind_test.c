// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stack traces from hits at instructions of one byte, where the ip that handlers see is
 * that of the next instruction: an unwinder that takes the stack of that one skips a
 * frame.
 */
#include <kunit/test.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/sched/task.h>
#include <linux/stacktrace.h>
#include <asm/insn.h>

#include "common.h"
#include "../../../../lib/test_kprobes/handlers.h"

/* Removed after the test, so it cannot be on the test's stack. */
static struct kprobe kp;

/* -- the functions -- */

static noinline notrace void leaf(void)
{
	barrier();
}

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
#define POP	0x58

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

static void expect_traces_at(struct kunit *test, u8 opcode)
{
	kp = (struct kprobe){ .addr = find_short((u8 *)pushing, opcode), .pre_handler = trace_pre };
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

static void unwind_push(struct kunit *test)
{
	expect_traces_at(test, PUSH);
}

static void unwind_pop(struct kunit *test)
{
	expect_traces_at(test, POP);
}

static int check_regs_ip(struct kprobe *kp, struct pt_regs *regs)
{
	struct pt_regs other = *regs;
	unsigned long addr = (unsigned long)kp->addr;

	hits += arch_kprobe_regs_ip(current, regs) == addr;
	/* Registers of an interrupt, or of a hit whose instruction was executed. */
	other.orig_ax = 0;
	hits += arch_kprobe_regs_ip(current, &other) == regs->ip;
	/* Another task's, so not in the hit. */
	other.orig_ax = -1;
	hits += arch_kprobe_regs_ip(&init_task, &other) == regs->ip;

	return 0;
}

static void unwind_regs(struct kunit *test)
{
	kp = (struct kprobe){ .addr = (kprobe_opcode_t *)leaf, .pre_handler = check_regs_ip };
	add_kprobe(test, &kp);
	leaf_called();
	KUNIT_EXPECT_EQ(test, hits, 3);
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
	KUNIT_EXPECT_EQ(test, arch_kprobe_regs_ip(&init_task, &regs), (unsigned long)kp.addr);
}

static struct kunit_case unwind_test_cases[] = {
	KUNIT_CASE(unwind_push),
	KUNIT_CASE(unwind_pop),
	KUNIT_CASE(unwind_regs),
	KUNIT_CASE(unwind_preempted_detour),
	{}
};

static struct kunit_suite unwind_test_suite = {
	.name = "kprobes_x86_unwind",
	.test_cases = unwind_test_cases,
};

kunit_test_suite(unwind_test_suite);
