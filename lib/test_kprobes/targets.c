// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions that the tests of kprobes' public interface probe. Most cases run on two of
 * them. One can be traced, so that its first probe is on an ftrace site if the architecture
 * has probes on ftrace. The other cannot, so that it is always probed by a breakpoint. After
 * each case the text of all functions must be the same as before the first case, and the
 * kernel must not have warned.
 */
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/uaccess.h>
#include "targets.h"

DEFINE_TARGET(u32, kprobes_test_traced, (u32 n), n * 3 + 1)
DEFINE_TARGET(u32, kprobes_test_plain, (u32 n), n * 5 + 7, notrace)

/* A pre_handler can redirect calls of the other functions to this one. */
DEFINE_TARGET(u32, kprobes_test_stand_in, (u32 n), n * 11 + 13, notrace)
DEFINE_TARGET(u32, kprobes_test_forbidden, (u32 n), n * 17, notrace)

NOKPROBE_SYMBOL(kprobes_test_forbidden);

static u32 kprobes_test_recursive(u32 depth);
u32 (*kprobes_test_recurse)(u32 depth) = kprobes_test_recursive;

static noinline u32 kprobes_test_recursive(u32 depth)
{
	u32 below = depth ? READ_ONCE(kprobes_test_recurse)(depth - 1) : 0;

	barrier();
	return below + depth;
}

/* A return address, as the address of an instruction inside a function. */
unsigned long kprobes_test_return_place;

static noinline notrace void note_middle(void)
{
	kprobes_test_return_place = _RET_IP_;
}

static noinline notrace u32 kprobes_test_middle(u32 n)
{
	note_middle();
	barrier();
	return n * 19 + 23;
}

/* Not const, so that the compiler knows nothing about the functions that are called. */
struct target kprobes_test_targets[NR_TARGETS] = {
	{ "kprobes_test_traced", kprobes_test_traced, 3, 1 },
	{ "kprobes_test_plain", kprobes_test_plain, 5, 7 },
	{ "kprobes_test_stand_in", kprobes_test_stand_in, 11, 13 },
	{ "kprobes_test_forbidden", kprobes_test_forbidden, 17, 0 },
	{ "kprobes_test_recursive", kprobes_test_recursive },
	{ "kprobes_test_middle", kprobes_test_middle, 19, 23 },
};

const struct target *kprobes_test_subject;

KUNIT_GENERATOR(kprobes_test_next_subject)
{
	const struct target *t = prev ? (const struct target *)prev + 1 : kprobes_test_targets;

	if (t == kprobes_test_targets + NR_SUBJECTS)
		return NULL;
	strscpy(desc, t->name, KUNIT_PARAM_DESC_SIZE);
	return t;
}

const struct target *kprobes_test_called_in_handler;

int kprobes_test_call_in_handler(struct kprobe *kp, struct pt_regs *regs)
{
	watch_pre(kp, regs);
	ask(kprobes_test_called_in_handler, 1);
	return 0;
}

int kprobes_test_go_to_stand_in(struct kprobe *kp, struct pt_regs *regs)
{
	watch_pre(kp, regs);
	instruction_pointer_set(regs, (unsigned long)text_of(STAND_IN));
	return 1;
}

/* Serial number of the last handler call. */
unsigned int kprobes_test_turn;

/* -- checks after each case -- */

#define TEXT_BYTES 64

static u8 text_before[NR_TARGETS][TEXT_BYTES];
static bool warned_before;

int kprobes_test_suite_init(struct kunit_suite *suite)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < NR_TARGETS && !err; i++)
		err = copy_from_kernel_nofault(text_before[i], text_of(&kprobes_test_targets[i]),
					       TEXT_BYTES);
	return err;
}

static void expect_nothing_left(void *context)
{
	struct kunit *test = context;
	const struct target *t;
	u8 text[TEXT_BYTES];
	unsigned int i;

	for (i = 0; i < NR_TARGETS; i++) {
		t = &kprobes_test_targets[i];
		KUNIT_EXPECT_EQ(test, 0, copy_from_kernel_nofault(text, text_of(t), TEXT_BYTES));
		KUNIT_EXPECT_MEMEQ_MSG(test, text, text_before[i], TEXT_BYTES, "text of %s",
				       t->name);
	}
	if (!warned_before)
		KUNIT_EXPECT_FALSE_MSG(test, test_taint(TAINT_WARN), "the kernel has warned");
}

/* The action that is added first runs last, after all probes have been removed. */
int kprobes_test_init(struct kunit *test)
{
	warned_before = test_taint(TAINT_WARN);
	kprobes_test_subject = test->param_value;
	return kunit_add_action(test, expect_nothing_left, test);
}

MODULE_DESCRIPTION("Tests of kprobes through their public interface");
MODULE_LICENSE("GPL");
