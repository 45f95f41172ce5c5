// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several probes behind one jump: a probe on every instruction of opt_chain(), which are
 * shorter than a jump. A call runs all handlers in the order of the instructions,
 * wherever it comes in and whatever has changed before.
 */
#include <linux/kprobes_port.h>
#include <linux/string.h>
#include <asm/insn.h>
#include <asm/text-patching.h>
#include "detour.h"
#include "opt_test.h"
#include "../../../../lib/test_kprobes/handlers.h"

/* The instructions from opt_chain_start on. */
static const u8 offsets[] = { 0, 2, 3, 5, 6, 8, 9, 10, 12, 13 };

#define NR_PROBES	ARRAY_SIZE(offsets)
#define CHAIN_SIZE	16

/* Number of a push. */
#define PUSH		5

/* Pre_handlers log a small letter each, from 'a' on, and post_handlers a capital one. */
static const char all[] = "abcdefghij";

/* The letters of those in front of the target of the branch. */
#define SKIPPED		"aAbBcC"

static struct kprobe probes[NR_PROBES];
static u8 text[CHAIN_SIZE];
static char calls[32];
static unsigned int nr_calls;

static u8 *chain_text(void)
{
	return inside(opt_chain, opt_chain_start);
}

static void note(char letter)
{
	if (nr_calls < sizeof(calls) - 1)
		calls[nr_calls++] = letter;
	calls[nr_calls] = '\0';
}

/* Where the second probe's pre_handler continues, if it is not NO_PROBE. */
#define NO_PROBE	NR_PROBES
static unsigned int sent_to = NO_PROBE;

static int note_pre(struct kprobe *kp, struct pt_regs *regs)
{
	note('a' + (kp - probes));
	if (kp != &probes[1] || sent_to == NO_PROBE)
		return 0;
	regs->ip = (unsigned long)chain_text() + offsets[sent_to];

	return 1;
}

static void note_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	note('A' + (kp - probes));
}

static void chain_init(unsigned int n, kprobe_post_handler_t post)
{
	probes[n] = (struct kprobe){
		.addr = chain_text() + offsets[n],
		.pre_handler = note_pre,
		.post_handler = post,
	};
}

static void chain_leave(void *unused)
{
	unsigned int n;

	for (n = 0; n < NR_PROBES; n++)
		unregister_kprobe(&probes[n]);
	memset(probes, 0, sizeof(probes));
}

static void chain_add(struct kunit *test, unsigned int n, kprobe_post_handler_t post)
{
	chain_init(n, post);
	KUNIT_ASSERT_EQ_MSG(test, register_kprobe(&probes[n]), 0, "probe %u", n);
}

static void chain_add_all(struct kunit *test, kprobe_post_handler_t post)
{
	struct kprobe *kps[NR_PROBES];
	unsigned int n;

	for (n = 0; n < NR_PROBES; n++) {
		chain_init(n, post);
		kps[n] = &probes[n];
	}
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, chain_leave, NULL), 0);
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, NR_PROBES), 0);
}

static struct optimized_kprobe *op_at(unsigned int n)
{
	struct kprobe *p = get_kprobe(chain_text() + offsets[n]);

	return p ? container_of(p, struct optimized_kprobe, kp) : NULL;
}

static bool is_optimized(unsigned int n)
{
	return op_at(n)->kp.flags & KPROBE_FLAG_OPTIMIZED;
}

static void expect_jump_at(struct kunit *test, unsigned int at)
{
	u8 *addr = chain_text() + at;

	KUNIT_EXPECT_EQ_MSG(test, *addr, JMP32_INSN_OPCODE, "at +%u", at);
}

static void expect_call(struct kunit *test, int in, const char *expected)
{
	nr_calls = 0;
	calls[0] = '\0';
	KUNIT_EXPECT_EQ(test, opt_chain(40, in), 42);
	KUNIT_EXPECT_STREQ(test, calls, expected);
}

static void expect_calls(struct kunit *test, const char *expected)
{
	expect_call(test, 0, expected);
	expect_call(test, 1, expected + strspn(expected, SKIPPED));
}

/* Three jumps lead to all probes; the second begins at the branch's target. */
static void expect_chained(struct kunit *test)
{
	unsigned int n;

	wait_for_kprobe_optimizer();
	expect_jump_at(test, 0);
	expect_jump_at(test, 5);
	expect_jump_at(test, 10);
	for (n = 0; n < NR_PROBES; n++)
		KUNIT_EXPECT_TRUE_MSG(test, is_optimized(n), "probe %u", n);
}

static void chain_all(struct kunit *test)
{
	chain_add_all(test, NULL);
	expect_calls(test, all);
	expect_chained(test);
	expect_calls(test, all);
}

/* Post_handlers run in the order of the instructions, each before the next pre_handler. */
static void chain_post(struct kunit *test)
{
	chain_add_all(test, note_post);
	expect_chained(test);
	/* A return continues elsewhere, so its probe has no post_handler then. */
	expect_calls(test, "aAbBcCdDeEfFgGhHiIjJ");
}

/* Probe @n leaves a complete chain, and comes back. */
static void expect_leaving(struct kunit *test, unsigned int n)
{
	char expected[sizeof(all)];

	expect_chained(test);
	unregister_kprobe(&probes[n]);
	snprintf(expected, sizeof(expected), "%.*s%s", n, all, all + n + 1);
	expect_calls(test, expected);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, !n || is_optimized(0));
	expect_calls(test, expected);

	chain_add(test, n, NULL);
	expect_calls(test, all);
	wait_for_kprobe_optimizer();
	expect_calls(test, all);
}

static void chain_member_leaves(struct kunit *test)
{
	unsigned int n;

	for (n = 0; n < NR_PROBES; n++) {
		chain_add_all(test, NULL);
		expect_leaving(test, n);
		kunit_release_action(test, chain_leave, NULL);
	}
}

/* The same without a point coming or going. */
static void chain_member_disabled(struct kunit *test)
{
	chain_add_all(test, NULL);
	expect_chained(test);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&probes[1]), 0);
	expect_calls(test, "acdefghij");
	wait_for_kprobe_optimizer();
	expect_jump_at(test, 0);
	expect_calls(test, "acdefghij");
	KUNIT_EXPECT_EQ(test, enable_kprobe(&probes[1]), 0);
	expect_calls(test, all);
	expect_chained(test);
}

/* An order of the probes, in steps that are coprime to their number, so that each comes once. */
static const struct order {
	const char *name;
	unsigned int first;
	unsigned int step;
} orders[] = {
	{ "in order", 0, 1 },
	{ "backwards", 9, 9 },
	{ "in steps of three", 3, 3 },
	{ "in steps of seven", 7, 7 },
};

KUNIT_ARRAY_PARAM_DESC(order, orders, name);

/* Probes come one by one: each finds jumps that it has to join, behind it or in front of it. */
static void chain_grows(struct kunit *test)
{
	const struct order *order = test->param_value;
	char expected[sizeof(all)];
	unsigned int i, n, len;

	static_assert(NR_PROBES == 10);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, chain_leave, NULL), 0);
	for (i = 0; i < NR_PROBES; i++) {
		chain_add(test, (order->first + i * order->step) % NR_PROBES, NULL);
		for (n = 0, len = 0; n < NR_PROBES; n++) {
			if (probes[n].addr)
				expected[len++] = all[n];
		}
		expected[len] = '\0';
		wait_for_kprobe_optimizer();
		expect_calls(test, expected);
	}
	expect_chained(test);
	expect_calls(test, all);
}

/* A handler jumps from the middle of a region to the middle of it, or of another. */
static void chain_redirect(struct kunit *test)
{
	char expected[sizeof(all)];

	chain_add_all(test, NULL);
	expect_chained(test);
	for (sent_to = 2; sent_to <= PUSH; sent_to++) {
		nr_calls = 0;
		opt_chain(40, 0);
		snprintf(expected, sizeof(expected), "ab%s", all + sent_to);
		KUNIT_EXPECT_STREQ_MSG(test, calls, expected, "sent to probe %u", sent_to);
	}
	sent_to = NO_PROBE;
}

/* A link stands for the instruction to which it leads. */
static void chain_originals(struct kunit *test)
{
	const struct arch_optimized_insn *optinsn;
	unsigned long link, ip;

	chain_add_all(test, NULL);
	expect_chained(test);
	optinsn = &op_at(0)->optinsn;
	KUNIT_ASSERT_EQ(test, optinsn->to, offsets[1]);
	link = (unsigned long)optinsn->insn + optinsn->copy_at[optinsn->to];
	KUNIT_EXPECT_EQ(test, *(u8 *)link, JMP32_INSN_OPCODE);
	ip = jump_target((u8 *)link);
	KUNIT_EXPECT_EQ(test, ip, detour_entry(&op_at(1)->optinsn));

	KUNIT_EXPECT_EQ(test, arch_kprobe_original_ip(link), (unsigned long)op_at(1)->kp.addr);
	KUNIT_EXPECT_EQ(test, arch_kprobe_original_ip(ip), (unsigned long)op_at(1)->kp.addr);
}

static kprobe_opcode_t *fenced[2 * NR_PROBES];
static unsigned int nr_fenced;

static int note_fenced(struct kprobe *kp, struct pt_regs *regs)
{
	if (nr_fenced < ARRAY_SIZE(fenced))
		fenced[nr_fenced++] = (kprobe_opcode_t *)regs_get_kernel_argument(regs, 0);

	return 0;
}

/* Return the number of detours that were fenced before that of probe @n. */
static unsigned int fenced_at(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < nr_fenced; i++) {
		if (fenced[i] == op_at(n)->optinsn.insn)
			break;
	}

	return i;
}

/* The owner's fence leads to the detours of the others, so it must be the last. */
static void chain_fences_owner_last(struct kunit *test)
{
	static struct kprobe watcher;
	unsigned int n;

	watcher = (struct kprobe){
		.symbol_name = "kprobe_publish_optinsn_slot",
		.pre_handler = note_fenced,
	};
	add_kprobe(test, &watcher);
	wait_for_kprobe_optimizer();
	nr_fenced = 0;
	chain_add_all(test, NULL);
	expect_chained(test);
	for (n = 1; n < NR_PROBES; n++) {
		KUNIT_EXPECT_LT(test, fenced_at(n), nr_fenced);
		if (op_at(n)->optinsn.chained)
			KUNIT_EXPECT_LT(test, fenced_at(n), fenced_at(n - 1));
	}
}

/* A fault that is resolved at once must not continue in the middle of a jump. */
static void chain_left_post_way(struct kunit *test)
{
	const struct arch_optimized_insn *optinsn;
	unsigned int copy, n;

	chain_add_all(test, note_post);
	expect_chained(test);
	for (n = 0; n < NR_PROBES; n++) {
		struct pt_regs regs = { };

		optinsn = &op_at(n)->optinsn;
		copy = post_copy(optinsn->post);
		if (!copy)
			continue;
		regs.ip = (unsigned long)optinsn->insn + copy;
		/* The fault ends the hit, and is the probed instruction's for fault handlers. */
		scoped_guard(irqsave) {
			kprobe_hit_begin(&op_at(n)->kp);
			__this_cpu_write(kprobe_ctlblk.saved_flags, X86_EFLAGS_IF);
			arch_kprobe_leave_copy(&regs);
			KUNIT_EXPECT_NULL(test, kprobe_running());
			reset_current_kprobe();
		}
		KUNIT_EXPECT_EQ(test, regs.flags, X86_EFLAGS_IF);
		KUNIT_EXPECT_EQ(test, regs.orig_ax, (unsigned long)probes[n].addr);
		KUNIT_EXPECT_EQ(test, regs.ip, optinsn->chained || optinsn->lead ?
				detour_entry(optinsn) : (unsigned long)probes[n].addr);
		kprobe_detour_leave_copy(&regs, true);
		KUNIT_EXPECT_EQ(test, regs.ip, (unsigned long)probes[n].addr);
	}
}

static void check_text(void *context)
{
	struct kunit *test = context;

	KUNIT_EXPECT_MEMEQ(test, text, chain_text(), CHAIN_SIZE);
}

/* Actions run in reverse order, so this runs when all probes are gone. */
static int chain_test_init(struct kunit *test)
{
	memcpy(text, chain_text(), CHAIN_SIZE);

	return kunit_add_action(test, check_text, test);
}

static struct kunit_case chain_test_cases[] = {
	KUNIT_CASE(chain_all),
	KUNIT_CASE(chain_post),
	KUNIT_CASE(chain_member_leaves),
	KUNIT_CASE(chain_member_disabled),
	KUNIT_CASE_PARAM(chain_grows, order_gen_params),
	KUNIT_CASE(chain_redirect),
	KUNIT_CASE(chain_originals),
	KUNIT_CASE(chain_fences_owner_last),
	KUNIT_CASE(chain_left_post_way),
	{}
};

static struct kunit_suite chain_test_suite = {
	.name = "kprobes_x86_chain",
	.init = chain_test_init,
	.test_cases = chain_test_cases,
};

kunit_test_suite(chain_test_suite);
