// SPDX-License-Identifier: GPL-2.0-only
/*
 * kprobes from outside: everything here goes through the functions and fields
 * that any module can use, and holds on every architecture unless it says so.
 *
 * Most cases run on two functions. One can be traced, so that its first probe
 * sits on an ftrace site where the architecture has probes on ftrace; the other
 * cannot, so that it is always probed through a breakpoint. After each case the
 * text of all probed functions must be what it was before the first, and the
 * kernel must not have warned.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/filter.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/ptrace.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

/* -- the probed functions -- */

static noinline u32 kprobes_test_traced(u32 n)
{
	barrier();
	return n * 3 + 1;
}

static noinline notrace u32 kprobes_test_plain(u32 n)
{
	barrier();
	return n * 5 + 7;
}

/* Where a pre_handler can send the callers of the others. */
static noinline notrace u32 kprobes_test_stand_in(u32 n)
{
	barrier();
	return n * 11 + 13;
}

static noinline notrace u32 kprobes_test_forbidden(u32 n)
{
	barrier();
	return n * 17;
}

NOKPROBE_SYMBOL(kprobes_test_forbidden);

static u32 kprobes_test_recursive(u32 depth);
static u32 (*recurse)(u32 depth) = kprobes_test_recursive;

static noinline u32 kprobes_test_recursive(u32 depth)
{
	u32 below = depth ? READ_ONCE(recurse)(depth - 1) : 0;

	barrier();
	return below + depth;
}

/* The address after a call: an instruction, and not the first of a function. */
static unsigned long middle;

static noinline notrace void note_middle(void)
{
	middle = _RET_IP_;
}

static noinline notrace u32 kprobes_test_middle(u32 n)
{
	note_middle();
	barrier();
	return n * 19 + 23;
}

struct target {
	const char *name;
	u32 (*call)(u32 n);
	u32 factor;
	u32 addend;
};

/* Not const: nothing may be known of the functions where they are called. */
static struct target targets[] = {
	{ "kprobes_test_traced", kprobes_test_traced, 3, 1 },
	{ "kprobes_test_plain", kprobes_test_plain, 5, 7 },
	{ "kprobes_test_stand_in", kprobes_test_stand_in, 11, 13 },
	{ "kprobes_test_forbidden", kprobes_test_forbidden, 17, 0 },
	{ "kprobes_test_recursive", kprobes_test_recursive },
	{ "kprobes_test_middle", kprobes_test_middle, 19, 23 },
};

/* Of these, the ones that most cases are about. */
#define TRACED		(&targets[0])
#define PLAIN		(&targets[1])
#define STAND_IN	(&targets[2])
#define FORBIDDEN	(&targets[3])
#define RECURSIVE	(&targets[4])
#define MIDDLE		(&targets[5])
#define NR_SUBJECTS	2

static const void *next_subject(const void *prev, char *desc)
{
	const struct target *t = prev ? (const struct target *)prev + 1 : targets;

	if (t == targets + NR_SUBJECTS)
		return NULL;
	strscpy(desc, t->name, KUNIT_PARAM_DESC_SIZE);
	return t;
}

static kprobe_opcode_t *text_of(const struct target *t)
{
	return dereference_function_descriptor(t->call);
}

static u32 value_of(const struct target *t, u32 n)
{
	return n * t->factor + t->addend;
}

/* All calls come from here. */
static noinline notrace u32 ask(const struct target *t, u32 n)
{
	u32 (*function)(u32 n) = READ_ONCE(t->call);

	n = function(n);
	barrier();
	return n;
}

static void call(struct kunit *test, const struct target *t, unsigned int times)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < times; i++)
		wrong += ask(t, i) != value_of(t, i);
	KUNIT_EXPECT_EQ_MSG(test, wrong, 0, "results of %s", t->name);
}

/* -- a probe that writes down what happens to it -- */

/* On s390 what has them is not there for modules. */
#if defined(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API) && !(defined(MODULE) && defined(CONFIG_S390))
#define TELLS_ARGUMENTS	1
#else
#define TELLS_ARGUMENTS	0
#endif

struct watch {
	struct kprobe kp;
	unsigned int pre;
	unsigned int post;
	unsigned int pre_turn;	/* its place among all handler calls */
	unsigned int post_turn;
	unsigned long pre_ip;
	unsigned long arg;
	unsigned long post_flags;
	bool preemptible;
	bool user;
};

static unsigned int turn;

static int watch_pre(struct kprobe *kp, struct pt_regs *regs)
{
	struct watch *w = container_of(kp, struct watch, kp);

	w->pre++;
	w->pre_turn = ++turn;
	w->pre_ip = instruction_pointer(regs);
	w->preemptible |= preemptible();
	w->user |= user_mode(regs);
#if TELLS_ARGUMENTS
	w->arg = regs_get_kernel_argument(regs, 0);
#endif
	return 0;
}

static void watch_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	struct watch *w = container_of(kp, struct watch, kp);

	w->post++;
	w->post_turn = ++turn;
	w->preemptible |= preemptible();
	w->post_flags |= flags;
}

/* As a tracer does it, who asks later by these links whether it is registered. */
static void init_links(struct kprobe *kp)
{
	INIT_HLIST_NODE(&kp->hlist);
	INIT_LIST_HEAD(&kp->list);
}

static bool linked(struct kprobe *kp)
{
	return !list_empty(&kp->list) || !hlist_unhashed(&kp->hlist);
}

static struct watch *new_watch(struct kunit *test, const struct target *t, bool post)
{
	struct watch *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	init_links(&w->kp);
	w->kp.addr = text_of(t);
	w->kp.pre_handler = watch_pre;
	w->kp.post_handler = post ? watch_post : NULL;
	return w;
}

static void drop_kprobe(void *kp)
{
	unregister_kprobe(kp);
}

/* Unregistered at the end of the case if it does not come to that before. */
static int add(struct kunit *test, struct watch *w)
{
	int err = register_kprobe(&w->kp);

	if (!err)
		err = kunit_add_action_or_reset(test, drop_kprobe, &w->kp);
	return err;
}

static void must_add(struct kunit *test, struct watch *w)
{
	KUNIT_ASSERT_EQ(test, 0, add(test, w));
}

static void drop(struct kunit *test, struct watch *w)
{
	kunit_release_action(test, drop_kprobe, &w->kp);
}

static struct watch *added_watch(struct kunit *test, const struct target *t, bool post)
{
	struct watch *w = new_watch(test, t, post);

	must_add(test, w);
	return w;
}

/* One more call: which of the handlers run? */
static void expect_hits(struct kunit *test, const struct target *t, struct watch *w,
			unsigned int pre, unsigned int post, unsigned int line)
{
	pre += w->pre;
	post += w->post;
	call(test, t, 1);
	KUNIT_EXPECT_EQ_MSG(test, w->pre, pre, "in line %u", line);
	KUNIT_EXPECT_EQ_MSG(test, w->post, post, "in line %u", line);
}

#define expect_call(test, t, w, pre, post)	expect_hits(test, t, w, pre, post, __LINE__)

/* -- one probe -- */

static void kprobe_by_address(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *w = added_watch(test, t, true);

	KUNIT_EXPECT_TRUE(test, linked(&w->kp));
	expect_call(test, t, w, 1, 1);
	KUNIT_EXPECT_LT(test, w->pre_turn, w->post_turn);
	drop(test, w);
	expect_call(test, t, w, 0, 0);
}

/* Failure R9: the entry may be an ftrace site. */
static void kprobe_by_symbol(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *w = new_watch(test, t, true);

	w->kp.addr = NULL;
	w->kp.symbol_name = t->name;
	must_add(test, w);
	/* Failure X5: some entries begin with a landing pad, which the probe comes after. */
	KUNIT_EXPECT_GE(test, (unsigned long)w->kp.addr, (unsigned long)text_of(t));
	KUNIT_EXPECT_LE(test, (unsigned long)w->kp.addr, (unsigned long)text_of(t) + 16);
	expect_call(test, t, w, 1, 1);
	drop(test, w);
	expect_call(test, t, w, 0, 0);
}

static void kprobe_with_offset(struct kunit *test)
{
	struct watch *by_addr = new_watch(test, MIDDLE, true);
	struct watch *by_symbol = new_watch(test, MIDDLE, true);
	unsigned int offset;

	kprobes_test_middle(0);
	offset = middle - (unsigned long)text_of(MIDDLE);
	by_addr->kp.offset = offset;
	by_symbol->kp.offset = offset;
	by_symbol->kp.addr = NULL;
	by_symbol->kp.symbol_name = MIDDLE->name;
	must_add(test, by_addr);
	must_add(test, by_symbol);
	KUNIT_EXPECT_EQ(test, (unsigned long)by_addr->kp.addr, middle);
	KUNIT_EXPECT_EQ(test, (unsigned long)by_symbol->kp.addr, middle);

	KUNIT_EXPECT_EQ(test, ask(MIDDLE, 5), value_of(MIDDLE, 5));
	KUNIT_EXPECT_EQ(test, by_addr->pre + by_symbol->pre, 2);
	KUNIT_EXPECT_EQ(test, by_addr->post + by_symbol->post, 2);
}

static void kprobe_handler_context(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *w = added_watch(test, t, true);
	unsigned long ip = (unsigned long)w->kp.addr;

	KUNIT_EXPECT_EQ(test, ask(t, 1234), value_of(t, 1234));
	KUNIT_EXPECT_FALSE(test, w->preemptible);
	KUNIT_EXPECT_FALSE(test, w->user);
	KUNIT_EXPECT_EQ(test, w->post_flags, 0);
	/* On some it is behind the bytes that a breakpoint has. */
	if (IS_ENABLED(CONFIG_X86))
		ip++;
	else if (IS_ENABLED(CONFIG_S390) && !(w->kp.flags & KPROBE_FLAG_FTRACE))
		ip += 2;
	KUNIT_EXPECT_EQ(test, w->pre_ip, ip);
	if (TELLS_ARGUMENTS)
		KUNIT_EXPECT_EQ(test, (u32)w->arg, 1234);
}

static void kprobe_counts_each_hit(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *both = added_watch(test, t, true);
	struct watch *pre = added_watch(test, t, false);

	call(test, t, 1000);
	drop(test, both);
	call(test, t, 1000);
	KUNIT_EXPECT_EQ(test, both->pre, 1000);
	KUNIT_EXPECT_EQ(test, both->post, 1000);
	KUNIT_EXPECT_EQ(test, pre->pre, 2000);
	KUNIT_EXPECT_EQ(test, both->kp.nmissed + pre->kp.nmissed, 0);
}

static void kprobe_without_handlers(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *none = new_watch(test, t, false);
	struct watch *post = new_watch(test, t, true);

	none->kp.pre_handler = NULL;
	post->kp.pre_handler = NULL;
	must_add(test, none);
	expect_call(test, t, none, 0, 0);
	must_add(test, post);
	expect_call(test, t, post, 0, 1);
}

static void kprobe_registered_again(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *w = new_watch(test, t, true);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		w->kp.addr = NULL;
		w->kp.symbol_name = t->name;
		w->kp.flags = 0;
		w->kp.nmissed = 77;
		must_add(test, w);
		KUNIT_EXPECT_EQ(test, w->kp.nmissed, 0);
		expect_call(test, t, w, 1, 1);
		drop(test, w);
		expect_call(test, t, w, 0, 0);
	}
}

/* Of the caller's flags only one is a question to us. */
static void kprobe_caller_flags(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *w = new_watch(test, t, true);

	w->kp.flags = ~KPROBE_FLAG_DISABLED;
	must_add(test, w);
	KUNIT_EXPECT_FALSE(test, kprobe_gone(&w->kp));
	KUNIT_EXPECT_FALSE(test, kprobe_disabled(&w->kp));
	expect_call(test, t, w, 1, 1);
}

static int go_to_stand_in(struct kprobe *kp, struct pt_regs *regs)
{
	watch_pre(kp, regs);
	instruction_pointer_set(regs, (unsigned long)text_of(STAND_IN));
	return 1;
}

static void redirect(struct kunit *test, bool post)
{
	const struct target *t = test->param_value;
	struct watch *w = new_watch(test, t, post);

	w->kp.pre_handler = go_to_stand_in;
	must_add(test, w);
	KUNIT_EXPECT_EQ(test, ask(t, 100), value_of(STAND_IN, 100));
	KUNIT_EXPECT_EQ(test, w->pre, 1);
	KUNIT_EXPECT_EQ(test, w->post, 0);
	drop(test, w);
	expect_call(test, t, w, 0, 0);
}

static void kprobe_changes_way(struct kunit *test)
{
	redirect(test, false);
}

static void kprobe_changes_way_with_post(struct kunit *test)
{
	redirect(test, true);
}

/* -- enabled or not -- */

static void kprobe_registered_disabled(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *w = new_watch(test, t, true);

	w->kp.flags = KPROBE_FLAG_DISABLED;
	must_add(test, w);
	KUNIT_EXPECT_TRUE(test, kprobe_disabled(&w->kp));
	expect_call(test, t, w, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&w->kp));
	expect_call(test, t, w, 1, 1);
}

static void kprobe_enable_disable(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *w = added_watch(test, t, true);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&w->kp));
		KUNIT_EXPECT_TRUE(test, kprobe_disabled(&w->kp));
		KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&w->kp));
		expect_call(test, t, w, 0, 0);
		KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&w->kp));
		KUNIT_EXPECT_FALSE(test, kprobe_disabled(&w->kp));
		KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&w->kp));
		expect_call(test, t, w, 1, 1);
	}
	KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&w->kp));
	drop(test, w);
	expect_call(test, t, w, 0, 0);
}

static void kprobe_enable_unregistered(struct kunit *test)
{
	struct watch *w = new_watch(test, PLAIN, true);

	KUNIT_EXPECT_EQ(test, -EINVAL, enable_kprobe(&w->kp));
	KUNIT_EXPECT_EQ(test, -EINVAL, disable_kprobe(&w->kp));
	must_add(test, w);
	drop(test, w);
	KUNIT_EXPECT_EQ(test, -EINVAL, enable_kprobe(&w->kp));
	KUNIT_EXPECT_EQ(test, -EINVAL, disable_kprobe(&w->kp));
}

/* -- several probes at one address -- */

#define NR_FELLOWS 4

static void add_fellows(struct kunit *test, struct watch *w[NR_FELLOWS])
{
	unsigned int i;

	for (i = 0; i < NR_FELLOWS; i++)
		w[i] = added_watch(test, test->param_value, true);
}

static void fellows_run_in_order(struct kunit *test)
{
	struct watch *w[NR_FELLOWS];
	unsigned int i;

	add_fellows(test, w);
	call(test, test->param_value, 1);
	for (i = 0; i < NR_FELLOWS; i++) {
		KUNIT_EXPECT_TRUE(test, linked(&w[i]->kp));
		KUNIT_EXPECT_EQ(test, w[i]->pre, 1);
		KUNIT_EXPECT_EQ(test, w[i]->post, 1);
	}
	for (i = 1; i < NR_FELLOWS; i++) {
		KUNIT_EXPECT_EQ(test, w[i]->pre_turn, w[i - 1]->pre_turn + 1);
		KUNIT_EXPECT_EQ(test, w[i]->post_turn, w[i - 1]->post_turn + 1);
	}
}

static void fellows_leave(struct kunit *test)
{
	static const unsigned int order[NR_FELLOWS] = { 1, 3, 0, 2 };
	struct watch *w[NR_FELLOWS];
	unsigned int i, j;

	add_fellows(test, w);
	for (i = 0; i < NR_FELLOWS; i++) {
		drop(test, w[order[i]]);
		call(test, test->param_value, 1);
		for (j = 0; j < NR_FELLOWS; j++)
			KUNIT_EXPECT_EQ(test, w[order[j]]->pre, min(i + 1, j));
	}
}

static void fellows_disabled_one_by_one(struct kunit *test)
{
	struct watch *w[NR_FELLOWS];
	unsigned int i, j;

	add_fellows(test, w);
	for (i = 0; i < NR_FELLOWS; i++) {
		KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&w[i]->kp));
		call(test, test->param_value, 1);
		for (j = 0; j < NR_FELLOWS; j++)
			KUNIT_EXPECT_EQ(test, w[j]->post, min(i + 1, j));
	}
	for (i = 0; i < NR_FELLOWS; i++)
		KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&w[i]->kp));
	call(test, test->param_value, 1);
	for (j = 0; j < NR_FELLOWS; j++)
		KUNIT_EXPECT_EQ(test, w[j]->post, j + 1);
}

/* One joins disabled, and the other leaves before it is ever enabled. */
static void fellow_joins_disabled(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *first = added_watch(test, t, false);
	struct watch *second = new_watch(test, t, true);

	second->kp.flags = KPROBE_FLAG_DISABLED;
	must_add(test, second);
	expect_call(test, t, first, 1, 0);
	KUNIT_EXPECT_EQ(test, second->pre, 0);
	drop(test, first);
	expect_call(test, t, second, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&second->kp));
	expect_call(test, t, second, 1, 1);
}

/*
 * A post_handler may need the address to be probed in another way. All orders
 * in which it can come and go: bit 0, it is the first to be registered; bit 1,
 * the first to leave; bit 2, disabled before that.
 */
static void post_handler_comes_and_goes(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *w[2], *post;
	unsigned int way, i;

	for (way = 0; way < 8; way++) {
		w[0] = new_watch(test, t, way & 1);
		w[1] = new_watch(test, t, !(way & 1));
		post = way & 1 ? w[0] : w[1];
		must_add(test, w[0]);
		expect_call(test, t, w[0], 1, way & 1);
		must_add(test, w[1]);
		expect_call(test, t, w[0], 1, way & 1);
		expect_call(test, t, w[1], 1, !(way & 1));

		if (way & 4)
			KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&post->kp));
		i = (w[1] == post) == !!(way & 2);
		drop(test, w[i]);
		expect_call(test, t, w[i], 0, 0);
		if (w[!i] != post || !(way & 4))
			expect_call(test, t, w[!i], 1, w[!i] == post);
		else
			expect_call(test, t, w[!i], 0, 0);
		drop(test, w[!i]);
		expect_call(test, t, w[0], 0, 0);
		expect_call(test, t, w[1], 0, 0);
	}
}

/* -- batches -- */

static void drop_batch(void *context)
{
	struct kprobe **kps = context;

	unregister_kprobes(kps, 3);
}

static void kprobe_batch(struct kunit *test)
{
	struct watch *w[3] = {
		new_watch(test, PLAIN, true),
		new_watch(test, TRACED, false),
		new_watch(test, PLAIN, false),
	};
	struct kprobe *kps[3] = { &w[0]->kp, &w[1]->kp, &w[2]->kp };

	KUNIT_ASSERT_EQ(test, 0, register_kprobes(kps, 3));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, drop_batch, kps));
	expect_call(test, PLAIN, w[0], 1, 1);
	expect_call(test, TRACED, w[1], 1, 0);
	KUNIT_EXPECT_EQ(test, w[2]->pre, 1);
	kunit_release_action(test, drop_batch, kps);
	expect_call(test, PLAIN, w[0], 0, 0);
	expect_call(test, TRACED, w[1], 0, 0);
	expect_call(test, PLAIN, w[2], 0, 0);
}

/* What cannot be unregistered does not keep the others from it. */
static void kprobe_batch_with_strangers(struct kunit *test)
{
	struct watch *w = added_watch(test, PLAIN, true);
	struct watch *never = new_watch(test, PLAIN, true);
	struct kprobe *kps[] = { &never->kp, NULL, &w->kp, &w->kp };

	unregister_kprobes(kps, ARRAY_SIZE(kps));
	expect_call(test, PLAIN, w, 0, 0);
	KUNIT_EXPECT_NULL(test, never->kp.addr);
}

/* -- hits within hits -- */

static const struct target *called_in_handler;

static int call_in_handler(struct kprobe *kp, struct pt_regs *regs)
{
	watch_pre(kp, regs);
	ask(called_in_handler, 1);
	return 0;
}

static void call_in_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	watch_post(kp, regs, flags);
	ask(called_in_handler, 1);
}

static void kprobe_missed(struct kunit *test)
{
	const struct target *inner = test->param_value;
	const struct target *outer = inner == TRACED ? PLAIN : TRACED;
	struct watch *w = new_watch(test, outer, true);
	struct watch *missed[2];
	unsigned int i;

	called_in_handler = inner;
	w->kp.pre_handler = call_in_handler;
	must_add(test, w);
	for (i = 0; i < 2; i++)
		missed[i] = added_watch(test, inner, i);

	expect_call(test, outer, w, 1, 1);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, missed[i]->pre, 0);
		KUNIT_EXPECT_EQ(test, missed[i]->post, 0);
		KUNIT_EXPECT_EQ(test, missed[i]->kp.nmissed, 1);
	}
	KUNIT_EXPECT_EQ(test, w->kp.nmissed, 0);

	/* The one inside must not have ended the one outside. */
	call(test, inner, 1);
	KUNIT_EXPECT_EQ(test, missed[0]->pre, 1);
	KUNIT_EXPECT_EQ(test, missed[1]->post, 1);
}

static void kprobe_missed_in_post(struct kunit *test)
{
	const struct target *inner = test->param_value;
	const struct target *outer = inner == TRACED ? PLAIN : TRACED;
	struct watch *w = new_watch(test, outer, true);
	struct watch *missed;

	called_in_handler = inner;
	w->kp.post_handler = call_in_post;
	must_add(test, w);
	missed = added_watch(test, inner, true);
	expect_call(test, outer, w, 1, 1);
	KUNIT_EXPECT_EQ(test, missed->pre, 0);
	KUNIT_EXPECT_EQ(test, missed->kp.nmissed, 1);
	expect_call(test, inner, missed, 1, 1);
}

/* -- return probes -- */

#ifdef CONFIG_KRETPROBES

#define TAG 0x7a67d00dUL

struct call_data {
	unsigned long tag;
	u32 arg;
	unsigned long serial;
	unsigned long sp;
};

struct return_watch {
	struct kretprobe rp;
	unsigned int entered;
	unsigned int returned;
	unsigned int wrong;	/* what the return handler did not find as it should */
	unsigned long serial;
	unsigned long value;
	unsigned long ret_addr;
	bool preemptible;
	bool refuse;
};

static int watch_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct return_watch *w = container_of(get_kretprobe(ri), struct return_watch, rp);
	struct call_data *data = (struct call_data *)ri->data;

	w->entered++;
	w->preemptible |= preemptible();
	data->tag = TAG;
	data->serial = ++w->serial;
	data->sp = kernel_stack_pointer(regs);
	return w->refuse;
}

/* Failure R6: of the architectures of which it is known what a return does to it. */
static bool sp_is_wrong(unsigned long sp, unsigned long sp_at_entry)
{
	if (IS_ENABLED(CONFIG_X86))
		return sp != sp_at_entry + sizeof(long);

	return (IS_ENABLED(CONFIG_ARM64) || IS_ENABLED(CONFIG_RISCV)) && sp != sp_at_entry;
}

/* Each return must find the data of its own entry: the latest not yet returned. */
static int watch_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct return_watch *w = container_of(get_kretprobe(ri), struct return_watch, rp);
	struct call_data *data = (struct call_data *)ri->data;

	w->returned++;
	w->preemptible |= preemptible();
	w->value = regs_return_value(regs);
	w->ret_addr = get_kretprobe_retaddr(ri);
	w->wrong += !IS_ALIGNED((unsigned long)ri->data, sizeof(void *));
	w->wrong += data->tag != TAG;
	w->wrong += data->serial != w->serial--;
	w->wrong += sp_is_wrong(kernel_stack_pointer(regs), data->sp);
	data->tag = 0;
	return 0;
}

static struct return_watch *new_return_watch(struct kunit *test, const struct target *t)
{
	struct return_watch *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	init_links(&w->rp.kp);
	w->rp.kp.addr = text_of(t);
	w->rp.entry_handler = watch_entry;
	w->rp.handler = watch_return;
	w->rp.data_size = sizeof(struct call_data);
	return w;
}

static void drop_kretprobe(void *rp)
{
	unregister_kretprobe(rp);
}

static int add_return(struct kunit *test, struct return_watch *w)
{
	int err = register_kretprobe(&w->rp);

	if (!err)
		err = kunit_add_action_or_reset(test, drop_kretprobe, &w->rp);
	return err;
}

static void must_add_return(struct kunit *test, struct return_watch *w)
{
	KUNIT_ASSERT_EQ(test, 0, add_return(test, w));
}

static void drop_return(struct kunit *test, struct return_watch *w)
{
	kunit_release_action(test, drop_kretprobe, &w->rp);
}

static struct return_watch *added_return_watch(struct kunit *test, const struct target *t)
{
	struct return_watch *w = new_return_watch(test, t);

	must_add_return(test, w);
	return w;
}

static void expect_return_hits(struct kunit *test, const struct target *t,
			       struct return_watch *w, unsigned int returned, unsigned int line)
{
	returned += w->returned;
	call(test, t, 1);
	KUNIT_EXPECT_EQ_MSG(test, w->returned, returned, "in line %u", line);
	KUNIT_EXPECT_EQ_MSG(test, w->wrong, 0, "in line %u", line);
}

#define expect_returns(test, t, w, runs)	expect_return_hits(test, t, w, runs, __LINE__)

static void expect_told_caller(struct kunit *test, struct return_watch *w)
{
	char caller[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(caller, w->ret_addr);
	KUNIT_EXPECT_TRUE_MSG(test, str_has_prefix(caller, "ask"), "%s", caller);
}

static void kretprobe_sees_value(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct return_watch *w = added_return_watch(test, t);

	KUNIT_EXPECT_TRUE(test, linked(&w->rp.kp));
	KUNIT_EXPECT_EQ(test, ask(t, 4321), value_of(t, 4321));
	KUNIT_EXPECT_EQ(test, (u32)w->value, value_of(t, 4321));
	KUNIT_EXPECT_EQ(test, w->entered, 1);
	KUNIT_EXPECT_EQ(test, w->returned, 1);
	KUNIT_EXPECT_EQ(test, w->wrong, 0);
	KUNIT_EXPECT_FALSE(test, w->preemptible);
	expect_told_caller(test, w);
	drop_return(test, w);
	expect_returns(test, t, w, 0);
}

static void kretprobe_by_symbol(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct return_watch *w = new_return_watch(test, t), *behind = new_return_watch(test, t);

	w->rp.kp.addr = NULL;
	w->rp.kp.symbol_name = t->name;
	must_add_return(test, w);
	expect_returns(test, t, w, 1);

	/* Failure X5: the address behind a landing pad is that of the entry as well. */
	behind->rp.kp.addr = NULL;
	behind->rp.kp.symbol_name = t->name;
	behind->rp.kp.offset = (void *)w->rp.kp.addr - (void *)text_of(t);
	must_add_return(test, behind);
	KUNIT_EXPECT_PTR_EQ(test, behind->rp.kp.addr, w->rp.kp.addr);
	expect_returns(test, t, behind, 1);
	drop_return(test, w);
	expect_returns(test, t, w, 0);
}

static void kretprobe_counts_each_call(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct return_watch *w = added_return_watch(test, t);

	call(test, t, 1000);
	KUNIT_EXPECT_EQ(test, w->entered, 1000);
	KUNIT_EXPECT_EQ(test, w->returned, 1000);
	KUNIT_EXPECT_EQ(test, w->wrong, 0);
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, 0);
}

static void kretprobe_entry_refuses(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct return_watch *w = new_return_watch(test, t);
	unsigned int i;

	w->rp.maxactive = 1;
	w->refuse = true;
	must_add_return(test, w);
	/* Were the refused call still held, the second would be missed. */
	for (i = 0; i < 3; i++)
		expect_returns(test, t, w, 0);
	KUNIT_EXPECT_EQ(test, w->entered, 3);
	w->refuse = false;
	w->serial = 0;
	expect_returns(test, t, w, 1);
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, 0);
}

static void kretprobe_few_handlers(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct return_watch *entry_only = new_return_watch(test, t);
	struct return_watch *plain = new_return_watch(test, t);

	entry_only->rp.handler = NULL;
	plain->rp.entry_handler = NULL;
	plain->rp.data_size = 0;
	plain->rp.handler = NULL;
	must_add_return(test, plain);
	must_add_return(test, entry_only);
	call(test, t, 3);
	KUNIT_EXPECT_EQ(test, entry_only->entered, 3);
}

static void kretprobe_default_maxactive(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, PLAIN);

	w->rp.maxactive = -1;
	w->rp.nmissed = 77;
	must_add_return(test, w);
	KUNIT_EXPECT_EQ(test, w->rp.maxactive, max(10, 2 * (int)num_possible_cpus()));
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, 0);
}

static void kretprobe_follows_recursion(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, RECURSIVE);

	w->rp.maxactive = 8;
	must_add_return(test, w);
	KUNIT_EXPECT_EQ(test, READ_ONCE(recurse)(7), 28);
	KUNIT_EXPECT_EQ(test, w->entered, 8);
	KUNIT_EXPECT_EQ(test, w->returned, 8);
	KUNIT_EXPECT_EQ(test, w->wrong, 0);
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, 0);
	KUNIT_EXPECT_EQ(test, (u32)w->value, 28);
}

/* More instances are on their way to interrupts and a worker, so keep these away. */
static u32 recurse_uninterrupted(u32 depth)
{
	unsigned long flags;
	u32 result;

	local_irq_save(flags);
	result = READ_ONCE(recurse)(depth);
	local_irq_restore(flags);

	return result;
}

static void kretprobe_too_few_instances(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, RECURSIVE);
	unsigned int i, followed;

	w->rp.maxactive = 3;
	must_add_return(test, w);
	for (i = 1; i <= 3; i++) {
		KUNIT_EXPECT_EQ(test, recurse_uninterrupted(7), 28);
		followed = 8 * i - w->rp.nmissed;
		KUNIT_EXPECT_GE(test, followed, 3 * i);
		KUNIT_EXPECT_EQ(test, w->entered, followed);
		KUNIT_EXPECT_EQ(test, w->returned, followed);
		/* The outermost was followed, and was the last to return. */
		KUNIT_EXPECT_EQ(test, (u32)w->value, 28);
		if (i == 1)
			KUNIT_EXPECT_EQ(test, w->rp.nmissed, 5);
	}
	KUNIT_EXPECT_EQ(test, w->wrong, 0);
}

/* Does there come to be room for 128 calls at one time? */
static void kretprobe_instances_grow(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, RECURSIVE);
	unsigned int i;
	int missed;

	if (IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK))
		kunit_skip(test, "there are as many as at registration");

	must_add_return(test, w);
	KUNIT_EXPECT_EQ(test, recurse_uninterrupted(127), 127 * 64);
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, 128 - 10);
	for (i = 2; i < 100; i++) {
		msleep(20);
		missed = w->rp.nmissed;
		KUNIT_EXPECT_EQ(test, recurse_uninterrupted(127), 127 * 64);
		if (w->rp.nmissed == missed)
			break;
	}
	KUNIT_EXPECT_LT(test, i, 100);
	KUNIT_EXPECT_EQ(test, w->entered, 128 * i - w->rp.nmissed);
	KUNIT_EXPECT_EQ(test, w->returned, w->entered);
	KUNIT_EXPECT_EQ(test, w->wrong, 0);
}

static void kretprobes_share_function(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct return_watch *w[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		w[i] = added_return_watch(test, t);
	call(test, t, 10);
	drop_return(test, w[1]);
	call(test, t, 10);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, w[i]->returned, i == 1 ? 10 : 20);
		KUNIT_EXPECT_EQ(test, w[i]->wrong, 0);
		KUNIT_EXPECT_EQ(test, (u32)w[i]->value, value_of(t, 9));
		/* rethook tells all but one that the trampoline is. */
		if (!IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK))
			expect_told_caller(test, w[i]);
	}
}

static void kretprobe_beside_kprobes(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *before = added_watch(test, t, true);
	struct return_watch *w = added_return_watch(test, t);
	struct watch *after = added_watch(test, t, false);

	expect_call(test, t, before, 1, 1);
	expect_call(test, t, after, 1, 0);
	KUNIT_EXPECT_EQ(test, w->returned, 2);
	drop(test, before);
	expect_returns(test, t, w, 1);
	drop_return(test, w);
	expect_call(test, t, after, 1, 0);
	KUNIT_EXPECT_EQ(test, w->returned, 3);
	KUNIT_EXPECT_EQ(test, w->wrong, 0);
}

static void kretprobe_enable_disable_again(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct return_watch *w = new_return_watch(test, t);

	w->rp.kp.flags = KPROBE_FLAG_DISABLED;
	must_add_return(test, w);
	expect_returns(test, t, w, 0);
	KUNIT_EXPECT_EQ(test, 0, enable_kretprobe(&w->rp));
	expect_returns(test, t, w, 1);
	KUNIT_EXPECT_EQ(test, 0, disable_kretprobe(&w->rp));
	expect_returns(test, t, w, 0);
	drop_return(test, w);

	w->rp.kp.flags = 0;
	must_add_return(test, w);
	expect_returns(test, t, w, 1);
}

static void drop_return_batch(void *context)
{
	unregister_kretprobes(context, 3);
}

static void kretprobe_batch(struct kunit *test)
{
	struct return_watch *w[3] = {
		new_return_watch(test, PLAIN),
		new_return_watch(test, TRACED),
		new_return_watch(test, PLAIN),
	};
	struct kretprobe *rps[3] = { &w[0]->rp, &w[1]->rp, &w[2]->rp };

	KUNIT_ASSERT_EQ(test, 0, register_kretprobes(rps, 3));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, drop_return_batch, rps));
	expect_returns(test, PLAIN, w[0], 1);
	expect_returns(test, TRACED, w[1], 1);
	expect_returns(test, PLAIN, w[2], 1);
	kunit_release_action(test, drop_return_batch, rps);
	expect_returns(test, PLAIN, w[0], 0);
	expect_returns(test, TRACED, w[1], 0);
}

/* A hit that is missed is a call that is not followed. */
static void kretprobe_missed(struct kunit *test)
{
	const struct target *inner = test->param_value;
	const struct target *outer = inner == TRACED ? PLAIN : TRACED;
	struct watch *around = new_watch(test, outer, false);
	struct return_watch *w;

	called_in_handler = inner;
	around->kp.pre_handler = call_in_handler;
	must_add(test, around);
	w = added_return_watch(test, inner);
	expect_call(test, outer, around, 1, 0);
	KUNIT_EXPECT_EQ(test, w->entered, 0);
	KUNIT_EXPECT_EQ(test, w->returned, 0);
	KUNIT_EXPECT_EQ(test, w->rp.kp.nmissed + w->rp.nmissed, 1);
	expect_returns(test, inner, w, 1);
}

static int call_in_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	ask(called_in_handler, 1);
	return watch_return(ri, regs);
}

static void kprobe_missed_in_return(struct kunit *test)
{
	const struct target *inner = test->param_value;
	const struct target *outer = inner == TRACED ? PLAIN : TRACED;
	struct return_watch *w = new_return_watch(test, outer);
	struct watch *missed = added_watch(test, inner, true);

	called_in_handler = inner;
	w->rp.handler = call_in_return;
	must_add_return(test, w);
	expect_returns(test, outer, w, 1);
	KUNIT_EXPECT_EQ(test, missed->pre, 0);
	KUNIT_EXPECT_EQ(test, missed->kp.nmissed, 1);
	expect_call(test, inner, missed, 1, 1);
}

/* -- handlers that fault, and have a fixup -- */

static unsigned int bad_reads, wrong_reads;

static void read_badly(void)
{
	u32 value, __user *user = (u32 __user *)8;
	const void *kernel = (const void *)-4096L;

	pagefault_disable();
	wrong_reads += get_user(value, user) != -EFAULT;
	pagefault_enable();
	wrong_reads += copy_from_kernel_nofault(&value, kernel, sizeof(value)) == 0;
	bad_reads++;
}

static int reading_pre(struct kprobe *kp, struct pt_regs *regs)
{
	read_badly();
	return 0;
}

static void reading_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	read_badly();
}

static int reading_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	read_badly();
	return 0;
}

/* The fault is the handler's own, and its fixup is found. */
static void handlers_read_badly(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct return_watch *rw = new_return_watch(test, t);
	struct watch *w = new_watch(test, t, true);

	w->kp.pre_handler = reading_pre;
	w->kp.post_handler = reading_post;
	rw->rp.entry_handler = reading_return;
	rw->rp.handler = reading_return;
	must_add(test, w);
	must_add_return(test, rw);
	bad_reads = 0;
	wrong_reads = 0;
	call(test, t, 3);
	KUNIT_EXPECT_EQ(test, bad_reads, 3 * 4);
	KUNIT_EXPECT_EQ(test, wrong_reads, 0);
	KUNIT_EXPECT_EQ(test, w->kp.nmissed, 0);
}

/* -- return probes and tasks that stay inside -- */

struct guest {
	struct completion inside;
	struct completion leave;
	struct task_struct *task;
	bool exits;
};

#define GUEST_VALUE 4711

static noinline int kprobes_test_guest(struct guest *guest)
{
	complete(&guest->inside);
	wait_for_completion(&guest->leave);
	if (READ_ONCE(guest->exits))
		kthread_exit(GUEST_VALUE);
	return GUEST_VALUE;
}

/* By its address, which is not where all architectures go to with a direct call. */
static int (*call_guest)(struct guest *guest) = kprobes_test_guest;

static int guest_thread(void *guest)
{
	return READ_ONCE(call_guest)(guest);
}

static struct return_watch *guest_watch(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, PLAIN);

	w->rp.kp.addr = dereference_function_descriptor(kprobes_test_guest);
	must_add_return(test, w);
	return w;
}

static void guest_comes(struct kunit *test, struct guest *guest)
{
	init_completion(&guest->inside);
	init_completion(&guest->leave);
	guest->task = kthread_run(guest_thread, guest, "kprobes_test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(guest->task));
	get_task_struct(guest->task);
}

/* The guest is inside when this returns. */
static void guest_enters(struct kunit *test, struct guest *guest)
{
	guest_comes(test, guest);
	wait_for_completion(&guest->inside);
}

static int guest_leaves(struct guest *guest)
{
	int result;

	complete(&guest->leave);
	result = kthread_stop(guest->task);
	put_task_struct(guest->task);
	return result;
}

static void kretprobe_dropped_while_inside(struct kunit *test)
{
	struct return_watch *w = guest_watch(test);
	struct guest guest = {};

	guest_enters(test, &guest);
	KUNIT_EXPECT_EQ(test, w->entered, 1);
	drop_return(test, w);
	/* Nothing of it may be used any more. */
	memset(w, 0x6b, sizeof(*w));
	KUNIT_EXPECT_EQ(test, guest_leaves(&guest), GUEST_VALUE);
	KUNIT_EXPECT_EQ(test, w->returned, 0x6b6b6b6b);
}

static bool slow_entry_runs, slow_entry_is_told;

static int slow_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	WRITE_ONCE(slow_entry_runs, true);
	mdelay(50);
	slow_entry_is_told = rp && get_kretprobe(ri) == rp;
	return 0;
}

/* Who is asked meanwhile need not reckon with NULL. */
static void kretprobe_dropped_at_entry(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, PLAIN);
	struct guest guest = {};

	slow_entry_runs = false;
	w->rp.kp.addr = dereference_function_descriptor(kprobes_test_guest);
	w->rp.entry_handler = slow_entry;
	must_add_return(test, w);
	guest_comes(test, &guest);
	while (!READ_ONCE(slow_entry_runs))
		usleep_range(10, 20);
	drop_return(test, w);
	KUNIT_EXPECT_TRUE(test, slow_entry_is_told);
	wait_for_completion(&guest.inside);
	KUNIT_EXPECT_EQ(test, guest_leaves(&guest), GUEST_VALUE);
	KUNIT_EXPECT_EQ(test, w->returned, 0);
}

static void kretprobe_stays_while_fellow_goes(struct kunit *test)
{
	struct return_watch *first = guest_watch(test);
	struct return_watch *second = guest_watch(test);
	struct return_watch *third = guest_watch(test);
	struct guest guest[2] = {};

	guest_enters(test, &guest[0]);
	guest_enters(test, &guest[1]);
	drop_return(test, first);
	drop_return(test, third);
	KUNIT_EXPECT_EQ(test, guest_leaves(&guest[0]), GUEST_VALUE);
	KUNIT_EXPECT_EQ(test, guest_leaves(&guest[1]), GUEST_VALUE);
	KUNIT_EXPECT_EQ(test, first->returned, 0);
	KUNIT_EXPECT_EQ(test, second->returned, 2);
	KUNIT_EXPECT_EQ(test, third->returned, 0);
	KUNIT_EXPECT_EQ(test, second->value, GUEST_VALUE);
}

/* Of those who stay inside none is missed, as long as they do not come too fast. */
static void kretprobe_follows_many_guests(struct kunit *test)
{
	struct return_watch *w = guest_watch(test);
	struct guest *guests = kunit_kcalloc(test, 64, sizeof(*guests), GFP_KERNEL);
	unsigned int i;

	if (IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK))
		kunit_skip(test, "there are as many instances as at registration");

	KUNIT_ASSERT_NOT_NULL(test, guests);
	for (i = 0; i < 64; i++) {
		guest_enters(test, &guests[i]);
		msleep(i < 16 ? 100 : 20);
	}
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, guest_leaves(&guests[i]), GUEST_VALUE);
	KUNIT_EXPECT_EQ(test, w->returned, 64);
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, 0);
}

/* Calls that began before the probe did are none of its business. */
static void kretprobe_added_while_inside(struct kunit *test)
{
	struct guest guest = {};
	struct return_watch *w;

	guest_enters(test, &guest);
	w = guest_watch(test);
	KUNIT_EXPECT_EQ(test, guest_leaves(&guest), GUEST_VALUE);
	KUNIT_EXPECT_EQ(test, w->entered, 0);
	KUNIT_EXPECT_EQ(test, w->returned, 0);
}

/* A task that dies inside gives back what followed it, some time later. */
static void kretprobe_task_exits_inside(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, PLAIN);
	struct guest guest = { .exits = true };
	unsigned int i;

	w->rp.kp.addr = dereference_function_descriptor(kprobes_test_guest);
	w->rp.maxactive = 1;
	must_add_return(test, w);
	guest_enters(test, &guest);
	KUNIT_EXPECT_EQ(test, guest_leaves(&guest), GUEST_VALUE);
	KUNIT_EXPECT_EQ(test, w->returned, 0);

	guest.exits = false;
	for (i = 0; i < 50 && !w->returned; i++) {
		rcu_barrier();
		w->serial = 0;
		guest_enters(test, &guest);
		KUNIT_EXPECT_EQ(test, guest_leaves(&guest), GUEST_VALUE);
		msleep(20);
	}
	KUNIT_EXPECT_EQ(test, w->returned, 1);
	KUNIT_EXPECT_EQ(test, w->wrong, 0);
}

/* -- return probes that must not be -- */

static void kretprobe_too_much_data(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, PLAIN);

	w->rp.data_size = KRETPROBE_MAX_DATA_SIZE + 1;
	KUNIT_EXPECT_EQ(test, -E2BIG, add_return(test, w));
	w->rp.data_size = SIZE_MAX;
	KUNIT_EXPECT_EQ(test, -E2BIG, add_return(test, w));
	KUNIT_EXPECT_FALSE(test, linked(&w->rp.kp));
	w->rp.data_size = KRETPROBE_MAX_DATA_SIZE;
	must_add_return(test, w);
	expect_returns(test, PLAIN, w, 1);
}

static void kretprobe_too_many_instances(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, PLAIN);
	int err;

	w->rp.data_size = KRETPROBE_MAX_DATA_SIZE;
	w->rp.maxactive = INT_MAX;
	err = add_return(test, w);
	KUNIT_EXPECT_TRUE_MSG(test, err == -ENOMEM || err == -EINVAL, "error %d", err);
	KUNIT_EXPECT_FALSE(test, linked(&w->rp.kp));
	/* As many as objpool takes, and more bytes than it can count. */
	w->rp.maxactive = OBJPOOL_NR_OBJECT_MAX;
	KUNIT_EXPECT_EQ(test, -ENOMEM, add_return(test, w));
	KUNIT_EXPECT_FALSE(test, linked(&w->rp.kp));
	w->rp.maxactive = 1;
	must_add_return(test, w);
	expect_returns(test, PLAIN, w, 1);
}

static void kretprobe_not_at_entry(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, PLAIN);

	kprobes_test_middle(0);
	w->rp.kp.addr = (kprobe_opcode_t *)middle;
	KUNIT_EXPECT_EQ(test, -EINVAL, add_return(test, w));
	KUNIT_EXPECT_FALSE(test, linked(&w->rp.kp));
	KUNIT_EXPECT_PTR_EQ(test, w->rp.kp.addr, (kprobe_opcode_t *)middle);
}

/* Failure M7: it returns as another task than it was called by. */
static void kretprobe_on_switch_to(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, PLAIN);

	if (!IS_ENABLED(CONFIG_X86) && !IS_ENABLED(CONFIG_RISCV))
		kunit_skip(test, "another architecture's rule");
	w->rp.kp.addr = NULL;
	w->rp.kp.symbol_name = "__switch_to";
	KUNIT_EXPECT_EQ(test, -EINVAL, add_return(test, w));
	KUNIT_EXPECT_NULL(test, w->rp.kp.addr);
}

/* It is not called but returned to, and has the registers of the new task on its stack. */
static void kretprobe_on_ret_from_fork(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, PLAIN);

	if (!IS_ENABLED(CONFIG_X86))
		kunit_skip(test, "another architecture's rule");
	w->rp.kp.addr = NULL;
	w->rp.kp.symbol_name = "ret_from_fork_asm";
	KUNIT_EXPECT_EQ(test, -EINVAL, add_return(test, w));
	KUNIT_EXPECT_NULL(test, w->rp.kp.addr);
}

static void kretprobe_twice(struct kunit *test)
{
	struct return_watch *w = added_return_watch(test, PLAIN);

	KUNIT_EXPECT_EQ(test, -EINVAL, register_kretprobe(&w->rp));
	expect_returns(test, PLAIN, w, 1);
	w->rp.kp.addr = NULL;
	w->rp.kp.symbol_name = PLAIN->name;
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kretprobe(&w->rp));
	w->rp.kp.symbol_name = NULL;
	expect_returns(test, PLAIN, w, 1);
	unregister_kretprobe(&w->rp);
	expect_returns(test, PLAIN, w, 0);
	unregister_kretprobe(&w->rp);
	unregister_kretprobe(&w->rp);
}

/* Failure M8 */
static void kretprobe_never_registered(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, PLAIN);
	struct return_watch *good = added_return_watch(test, PLAIN);
	struct kretprobe *rps[] = { &w->rp, NULL, &good->rp };

	unregister_kretprobe(&w->rp);
	KUNIT_EXPECT_NULL(test, w->rp.kp.addr);
	w->rp.kp.addr = text_of(PLAIN);
	unregister_kretprobes(rps, 3);
	KUNIT_EXPECT_NULL(test, w->rp.kp.addr);
	expect_returns(test, PLAIN, good, 0);
}

static void kretprobe_null(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, PLAIN);
	struct kretprobe *rps[] = { &w->rp, NULL };

	KUNIT_EXPECT_EQ(test, -EINVAL, register_kretprobe(NULL));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kretprobes(NULL, 2));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kretprobes(rps, 2));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kretprobes(rps, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kretprobes(rps, -1));
	unregister_kretprobe(NULL);
	unregister_kretprobes(NULL, 2);
	unregister_kretprobes(rps, 0);
	unregister_kretprobes(rps, -1);
	KUNIT_EXPECT_FALSE(test, linked(&w->rp.kp));
	expect_returns(test, PLAIN, w, 0);
}

/* One bad entry, wherever it is: none of them stays. */
static void kretprobe_batch_rolled_back(struct kunit *test)
{
	struct return_watch *w[3];
	struct kretprobe *rps[3];
	unsigned int bad, i;

	for (bad = 0; bad < 3; bad++) {
		for (i = 0; i < 3; i++) {
			w[i] = new_return_watch(test, i & 1 ? TRACED : PLAIN);
			rps[i] = &w[i]->rp;
		}
		w[bad]->rp.kp.symbol_name = "and an address";
		KUNIT_EXPECT_EQ(test, -EINVAL, register_kretprobes(rps, 3));
		for (i = 0; i < 3; i++) {
			KUNIT_EXPECT_FALSE(test, linked(&rps[i]->kp));
			expect_returns(test, i & 1 ? TRACED : PLAIN, w[i], 0);
		}
	}
}

#endif /* CONFIG_KRETPROBES */

/* -- stack traces through return probes -- */

/* An unwinder's inner functions are not for modules. */
#if defined(CONFIG_ARCH_CORRECT_STACKTRACE_ON_KRETPROBE) && !defined(MODULE)

#define NR_FRAMES	3
#define MAX_TRACE	64

/* Where the frames return to, innermost first: noted when nothing is probed. */
static unsigned long frames[NR_FRAMES];
static bool note_frames;

struct trace {
	unsigned int nr;
	unsigned long entries[MAX_TRACE];
};

/* Taken by each of the return handlers, and in the body of the innermost. */
static struct trace regs_trace[NR_FRAMES], own_trace[NR_FRAMES], body_trace;

static void note_frame(unsigned int i, unsigned long ret_addr)
{
	if (note_frames)
		frames[i] = ret_addr;
}

static noinline u32 kprobes_test_inner(u32 n)
{
	note_frame(0, _RET_IP_);
	body_trace.nr = stack_trace_save(body_trace.entries, MAX_TRACE, 0);
	barrier();
	return n + 1;
}

static u32 (*inner_function)(u32 n) = kprobes_test_inner;

static noinline u32 kprobes_test_between(u32 n)
{
	note_frame(1, _RET_IP_);
	n = READ_ONCE(inner_function)(n);
	barrier();
	return n + 1;
}

static u32 (*between_function)(u32 n) = kprobes_test_between;

static noinline u32 kprobes_test_outer(u32 n)
{
	note_frame(2, _RET_IP_);
	n = READ_ONCE(between_function)(n);
	barrier();
	return n + 1;
}

static u32 (*outer_function)(u32 n) = kprobes_test_outer;

/* The one call that the outermost frame returns to. */
static noinline u32 call_frames(u32 n)
{
	n = READ_ONCE(outer_function)(n);
	barrier();
	return n + 1;
}

struct frame_probe {
	struct kretprobe rp;
	unsigned int frame;
	unsigned int returned;
};

static int take_traces(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct frame_probe *fp = container_of(get_kretprobe(ri), struct frame_probe, rp);
	struct trace *trace = &regs_trace[fp->frame];

	fp->returned++;
	trace->nr = stack_trace_save_regs(regs, trace->entries, MAX_TRACE, 0);
	trace = &own_trace[fp->frame];
	trace->nr = stack_trace_save(trace->entries, MAX_TRACE, 0);
	return 0;
}

static struct frame_probe frame_probes[NR_FRAMES];

static void drop_frame_probe(void *context)
{
	struct frame_probe *fp = context;

	unregister_kretprobe(&fp->rp);
}

static void probe_frame(struct kunit *test, unsigned int frame)
{
	void *functions[NR_FRAMES] = { inner_function, between_function, outer_function };
	struct frame_probe *fp = &frame_probes[frame];

	*fp = (struct frame_probe) {
		.rp.kp.addr = dereference_function_descriptor(functions[frame]),
		.rp.handler = take_traces,
		.frame = frame,
	};
	KUNIT_ASSERT_EQ(test, 0, register_kretprobe(&fp->rp));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, drop_frame_probe, fp));
}

static void learn_frames(struct kunit *test)
{
	note_frames = true;
	KUNIT_EXPECT_EQ(test, call_frames(0), 4);
	note_frames = false;
	memset(regs_trace, 0, sizeof(regs_trace));
	memset(own_trace, 0, sizeof(own_trace));
}

/* The frames from @first on, in this order; others may stand between them. */
static bool shows_frames(const struct trace *trace, unsigned int first)
{
	unsigned int i;

	for (i = 0; i < trace->nr && first < NR_FRAMES; i++)
		if (trace->entries[i] == frames[first])
			first++;
	return first == NR_FRAMES;
}

static bool shows_trampoline(const struct trace *trace)
{
	unsigned int i;

	for (i = 0; i < trace->nr; i++)
		if (is_kretprobe_trampoline(trace->entries[i]))
			return true;
	return false;
}

static void expect_traces(struct kunit *test, unsigned int first)
{
	unsigned int i;

	for (i = first; i < NR_FRAMES; i++) {
		KUNIT_EXPECT_EQ(test, regs_trace[i].entries[0], frames[i]);
		KUNIT_EXPECT_TRUE_MSG(test, shows_frames(&regs_trace[i], i), "by regs, %u", i);
		KUNIT_EXPECT_TRUE_MSG(test, shows_frames(&own_trace[i], i), "its own, %u", i);
		KUNIT_EXPECT_FALSE(test, shows_trampoline(&regs_trace[i]));
	}
	KUNIT_EXPECT_TRUE(test, shows_frames(&body_trace, 0));
	KUNIT_EXPECT_FALSE(test, shows_trampoline(&body_trace));
}

static void stacktrace_in_return_handler(struct kunit *test)
{
	learn_frames(test);
	probe_frame(test, 2);
	KUNIT_EXPECT_EQ(test, call_frames(1), 5);
	KUNIT_EXPECT_EQ(test, frame_probes[2].returned, 1);
	expect_traces(test, 2);
}

static void stacktrace_nested(struct kunit *test)
{
	unsigned int i;

	learn_frames(test);
	for (i = 0; i < NR_FRAMES; i++)
		probe_frame(test, i);
	KUNIT_EXPECT_EQ(test, call_frames(1), 5);
	expect_traces(test, 0);
}

static void stacktrace_shared_function(struct kunit *test)
{
	struct return_watch *before = new_return_watch(test, PLAIN);
	struct return_watch *after = new_return_watch(test, PLAIN);

	learn_frames(test);
	before->rp.kp.addr = dereference_function_descriptor(inner_function);
	after->rp.kp.addr = dereference_function_descriptor(inner_function);
	must_add_return(test, before);
	probe_frame(test, 0);
	probe_frame(test, 1);
	probe_frame(test, 2);
	must_add_return(test, after);
	KUNIT_EXPECT_EQ(test, call_frames(1), 5);
	KUNIT_EXPECT_EQ(test, before->returned, 1);
	KUNIT_EXPECT_EQ(test, after->returned, 1);
	expect_traces(test, 0);
}

#ifdef CONFIG_FPROBE

static unsigned int fprobe_exits;

static void count_fprobe_exit(struct fprobe *fp, unsigned long entry_ip, unsigned long ret_ip,
			      struct pt_regs *regs, void *entry_data)
{
	fprobe_exits++;
}

static void drop_frame_fprobe(void *fp)
{
	unregister_fprobe(fp);
}

/* It diverts the same returns with a trampoline of its own. */
static void add_frame_fprobe(struct kunit *test)
{
	unsigned long sites[] = {
		ftrace_location((unsigned long)inner_function),
		ftrace_location((unsigned long)outer_function),
	};
	struct fprobe *fp = kunit_kzalloc(test, sizeof(*fp), GFP_KERNEL);

	/* ftrace goes on listing one that is not in allocated memory. */
	KUNIT_ASSERT_NOT_NULL(test, fp);
	fp->exit_handler = count_fprobe_exit;
	KUNIT_ASSERT_EQ(test, 0, register_fprobe_ips(fp, sites, 2));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, drop_frame_fprobe, fp));
	fprobe_exits = 0;
}

static void trace_with_fprobe(struct kunit *test, bool fprobe_first)
{
	unsigned int i;

	learn_frames(test);
	if (fprobe_first)
		add_frame_fprobe(test);
	for (i = 0; i < NR_FRAMES; i++)
		probe_frame(test, i);
	if (!fprobe_first)
		add_frame_fprobe(test);
	KUNIT_EXPECT_EQ(test, call_frames(1), 5);
	KUNIT_EXPECT_EQ(test, fprobe_exits, 2);
	for (i = 0; i < NR_FRAMES; i++)
		KUNIT_EXPECT_EQ(test, frame_probes[i].returned, 1);
	expect_traces(test, 0);
}

static void stacktrace_fprobe_first(struct kunit *test)
{
	trace_with_fprobe(test, true);
}

static void stacktrace_fprobe_last(struct kunit *test)
{
	trace_with_fprobe(test, false);
}

#endif /* CONFIG_FPROBE */
#endif /* CONFIG_ARCH_CORRECT_STACKTRACE_ON_KRETPROBE */

/* -- what must be refused -- */

struct bad_input {
	const char *what;
	void (*fill)(struct kunit *test, struct kprobe *kp);
	int err;
	int or_err;	/* where it depends on the kernel's configuration */
};

static void fill_both(struct kunit *test, struct kprobe *kp)
{
	kp->symbol_name = PLAIN->name;
}

static void fill_neither(struct kunit *test, struct kprobe *kp)
{
	kp->addr = NULL;
}

static void fill_symbol(struct kprobe *kp, const char *name, unsigned int offset)
{
	kp->addr = NULL;
	kp->symbol_name = name;
	kp->offset = offset;
}

static void fill_unknown(struct kunit *test, struct kprobe *kp)
{
	fill_symbol(kp, "there is no such symbol", 0);
}

static void fill_empty(struct kunit *test, struct kprobe *kp)
{
	fill_symbol(kp, "", 0);
}

static void fill_unknown_module(struct kunit *test, struct kprobe *kp)
{
	fill_symbol(kp, "no_such_module:kprobes_test_plain", 0);
}

static void fill_far(struct kunit *test, struct kprobe *kp)
{
	fill_symbol(kp, PLAIN->name, SZ_1G);
}

static void fill_overflow(struct kunit *test, struct kprobe *kp)
{
	fill_symbol(kp, PLAIN->name, UINT_MAX);
}

static void fill_addr_overflow(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (kprobe_opcode_t *)(ULONG_MAX - 15);
	kp->offset = 64;
}

static void fill_user(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (kprobe_opcode_t *)SZ_4M;
}

static void fill_offset_from_null(struct kunit *test, struct kprobe *kp)
{
	kp->addr = NULL;
	kp->offset = SZ_4M;
}

static void fill_high(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (kprobe_opcode_t *)(ULONG_MAX - 4095);
}

static void fill_highest(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (kprobe_opcode_t *)ULONG_MAX;
}

static void fill_data(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (kprobe_opcode_t *)targets;
}

static void fill_rodata(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (kprobe_opcode_t *)PLAIN->name;
}

static void fill_stack(struct kunit *test, struct kprobe *kp)
{
	kp->addr = task_stack_page(current) + THREAD_SIZE / 2;
}

static void fill_heap(struct kunit *test, struct kprobe *kp)
{
	kp->addr = kunit_kzalloc(test, 64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, kp->addr);
}

static void free_page_of_vmalloc(void *page)
{
	vfree(page);
}

static void fill_vmalloc(struct kunit *test, struct kprobe *kp)
{
	kp->addr = vzalloc(PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, kp->addr);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_page_of_vmalloc, kp->addr));
}

static void fill_forbidden(struct kunit *test, struct kprobe *kp)
{
	kp->addr = text_of(FORBIDDEN);
}

static void fill_forbidden_symbol(struct kunit *test, struct kprobe *kp)
{
	fill_symbol(kp, FORBIDDEN->name, 0);
}

/* What compilers put in front of a function has names like these. */
static noinline notrace void __used __pfx_kprobes_test(void)
{
	barrier();
}

/* That of a type's hash is there on x86 only. */
#if defined(CONFIG_CFI_CLANG) && defined(CONFIG_X86)
#define CFI_SYMBOL	"__cfi_kprobes_test_plain"
#else
#define CFI_SYMBOL	"__cfi_kprobes_test"
static noinline notrace void __used __cfi_kprobes_test(void)
{
	barrier();
}
#endif

static void fill_pfx(struct kunit *test, struct kprobe *kp)
{
	fill_symbol(kp, "__pfx_kprobes_test", 0);
}

static void fill_cfi(struct kunit *test, struct kprobe *kp)
{
	fill_symbol(kp, CFI_SYMBOL, 0);
}

static void fill_trampoline(struct kunit *test, struct kprobe *kp)
{
	/* On these it is a probe that makes it a trampoline. */
	if (IS_ENABLED(CONFIG_PPC) || IS_ENABLED(CONFIG_MIPS))
		fill_symbol(kp, IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK) ?
			    "rethook_trampoline_handler" : "__kretprobe_trampoline_handler", 0);
	else
		fill_symbol(kp, IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK) ?
			    "arch_rethook_trampoline" : "__kretprobe_trampoline", 0);
}

#if IS_ENABLED(CONFIG_BPF_JIT) && IS_ENABLED(CONFIG_NET)
static void free_filter(void *filter)
{
	bpf_prog_destroy(filter);
}

static void fill_bpf(struct kunit *test, struct kprobe *kp)
{
	struct sock_filter insn = BPF_STMT(BPF_RET | BPF_K, 1);
	struct sock_fprog_kern program = { .len = 1, .filter = &insn };
	struct bpf_prog *filter;

	KUNIT_ASSERT_EQ(test, 0, bpf_prog_create(&filter, &program));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_filter, filter));
	if (!filter->jited)
		kunit_skip(test, "it is interpreted");
	kp->addr = (kprobe_opcode_t *)filter->bpf_func;
}
#endif

/* An instruction of more than two bytes, and how to tell where it is. */
#if defined(CONFIG_X86)
#define LONG_INSN	"1:	movl $0x12345678, %0\n"	\
			"	mov $1b, %1\n"
#define MID_SITE	((IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 4 : 0) + 2)
#elif defined(CONFIG_RISCV)
#define LONG_INSN	"	.option push\n"		\
			"	.option norvc\n"		\
			"1:	lui %0, 0x12345\n"		\
			"	.option pop\n"			\
			"	la %1, 1b\n"
#define MID_SITE	4
#endif

#ifdef LONG_INSN

static unsigned long long_insn;

static noinline notrace u32 kprobes_test_long_insn(void)
{
	unsigned long at;
	u32 value;

	asm volatile(LONG_INSN : "=&r" (value), "=r" (at));
	long_insn = at;
	return value;
}

static void fill_mid_insn(struct kunit *test, struct kprobe *kp)
{
	kprobes_test_long_insn();
	kp->addr = (kprobe_opcode_t *)(long_insn + 2);
}

static void fill_mid_insn_symbol(struct kunit *test, struct kprobe *kp)
{
	kprobes_test_long_insn();
	fill_symbol(kp, "kprobes_test_long_insn",
		    long_insn + 2 - (unsigned long)kprobes_test_long_insn);
}

static void __maybe_unused fill_mid_site(struct kunit *test, struct kprobe *kp)
{
	fill_symbol(kp, TRACED->name, MID_SITE);
}

#endif

static const struct bad_input bad_inputs[] = {
	{ "symbol and address", fill_both, -EINVAL },
	{ "neither symbol nor address", fill_neither, -EINVAL },
	{ "offset alone", fill_offset_from_null, -EINVAL },
	{ "unknown symbol", fill_unknown, -ENOENT },
	{ "empty symbol", fill_empty, -ENOENT, -EINVAL },
	{ "unknown module", fill_unknown_module, -ENOENT },
	{ "offset far beyond", fill_far, -EINVAL, -ENOENT },
	{ "offset overflows", fill_overflow, -EINVAL, -ENOENT },
	{ "address overflows", fill_addr_overflow, -EINVAL, -ENOENT },
	/* Failure C12, and those behind */
	{ "user address", fill_user, -EINVAL, -ENOENT },
	{ "end of the address space", fill_high, -EINVAL, -ENOENT },
	{ "the last address", fill_highest, -EINVAL, -ENOENT },
	{ "data", fill_data, -EINVAL, -ENOENT },
	{ "read-only data", fill_rodata, -EINVAL, -ENOENT },
	{ "stack", fill_stack, -EINVAL, -ENOENT },
	{ "heap", fill_heap, -EINVAL, -ENOENT },
	{ "vmalloc", fill_vmalloc, -EINVAL, -ENOENT },
	{ "blacklisted address", fill_forbidden, -EINVAL },
	{ "blacklisted symbol", fill_forbidden_symbol, -EINVAL },
	/* Failure C10 */
	{ "in front of a function, __pfx_", fill_pfx, -EINVAL },
	{ "in front of a function, __cfi_", fill_cfi, -EINVAL },
	{ "return trampoline", fill_trampoline, -EINVAL },
#if IS_ENABLED(CONFIG_BPF_JIT) && IS_ENABLED(CONFIG_NET)
	{ "BPF program", fill_bpf, -EINVAL, -ENOENT },
#endif
#ifdef LONG_INSN
	{ "within an instruction", fill_mid_insn, -EILSEQ },
	{ "symbol, within an instruction", fill_mid_insn_symbol, -EILSEQ },
#ifdef CONFIG_FUNCTION_TRACER
	{ "within an ftrace site", fill_mid_site, -EILSEQ },
#endif
#endif
};

static const void *next_bad_input(const void *prev, char *desc)
{
	const struct bad_input *bad = prev ? (const struct bad_input *)prev + 1 : bad_inputs;

	if (bad == bad_inputs + ARRAY_SIZE(bad_inputs))
		return NULL;
	strscpy(desc, bad->what, KUNIT_PARAM_DESC_SIZE);
	return bad;
}

/* A struct that was refused can be used as if nobody had ever seen it. */
static void expect_clean(struct kunit *test, struct kprobe *kp, const struct kprobe *before)
{
	KUNIT_EXPECT_FALSE(test, linked(kp));
	KUNIT_EXPECT_PTR_EQ(test, kp->addr, before->addr);
	KUNIT_EXPECT_PTR_EQ(test, kp->symbol_name, before->symbol_name);
	KUNIT_EXPECT_EQ(test, kp->offset, before->offset);
	KUNIT_EXPECT_TRUE(test, kp->pre_handler == before->pre_handler);
	KUNIT_EXPECT_TRUE(test, kp->post_handler == before->post_handler);
}

static void expect_error(struct kunit *test, const struct bad_input *bad, int err)
{
	KUNIT_EXPECT_TRUE_MSG(test, err == bad->err || (bad->or_err && err == bad->or_err),
			      "%s: error %d", bad->what, err);
}

static void bad_input_kprobe(struct kunit *test)
{
	const struct bad_input *bad = test->param_value;
	struct watch *w = new_watch(test, PLAIN, true);
	struct kprobe before;
	unsigned int i;

	bad->fill(test, &w->kp);
	before = w->kp;
	for (i = 0; i < 2; i++) {
		expect_error(test, bad, add(test, w));
		expect_clean(test, &w->kp, &before);
	}

	/* It can be mended, and used. */
	w->kp.addr = text_of(PLAIN);
	w->kp.symbol_name = NULL;
	w->kp.offset = 0;
	must_add(test, w);
	expect_call(test, PLAIN, w, 1, 1);
}

static void bad_input_batch(struct kunit *test)
{
	const struct bad_input *bad = test->param_value;
	struct watch *w[3] = {
		new_watch(test, PLAIN, true),
		new_watch(test, PLAIN, true),
		new_watch(test, TRACED, true),
	};
	struct kprobe *kps[3] = { &w[0]->kp, &w[1]->kp, &w[2]->kp };
	struct kprobe before;

	bad->fill(test, kps[1]);
	before = *kps[1];
	expect_error(test, bad, register_kprobes(kps, 3));
	expect_clean(test, kps[1], &before);
	KUNIT_EXPECT_FALSE(test, linked(kps[0]));
	KUNIT_EXPECT_FALSE(test, linked(kps[2]));
	KUNIT_EXPECT_PTR_EQ(test, kps[2]->addr, text_of(TRACED));
	expect_call(test, PLAIN, w[0], 0, 0);
	expect_call(test, TRACED, w[2], 0, 0);
}

#ifdef CONFIG_KRETPROBES
static void bad_input_kretprobe(struct kunit *test)
{
	const struct bad_input *bad = test->param_value;
	struct return_watch *w = new_return_watch(test, PLAIN);
	struct kprobe before;
	int err;

	bad->fill(test, &w->rp.kp);
	before = w->rp.kp;
	err = add_return(test, w);
	/* What is not an instruction is no function's entry either. */
	if (err != -EINVAL)
		expect_error(test, bad, err);
	KUNIT_EXPECT_FALSE(test, linked(&w->rp.kp));
	KUNIT_EXPECT_PTR_EQ(test, w->rp.kp.addr, before.addr);
	KUNIT_EXPECT_PTR_EQ(test, w->rp.kp.symbol_name, before.symbol_name);
	unregister_kretprobe(&w->rp);
}
#endif

/* Failure M8 */
static void bad_input_null(struct kunit *test)
{
	struct watch *w = new_watch(test, PLAIN, true);
	struct kprobe *kps[] = { &w->kp, NULL, &w->kp };

	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobe(NULL));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobes(NULL, 2));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobes(kps, 3));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobes(kps, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobes(kps, -1));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobes(kps, INT_MIN));
	KUNIT_EXPECT_EQ(test, -EINVAL, enable_kprobe(NULL));
	KUNIT_EXPECT_EQ(test, -EINVAL, disable_kprobe(NULL));
	unregister_kprobe(NULL);
	unregister_kprobes(NULL, 2);
	unregister_kprobes(kps, 0);
	unregister_kprobes(kps, -1);
	KUNIT_EXPECT_FALSE(test, linked(&w->kp));
	expect_call(test, PLAIN, w, 0, 0);
}

/* The probe that is there goes on working. */
static void bad_input_registered_twice(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *w = added_watch(test, t, true);
	struct kprobe *kps[] = { &w->kp, &w->kp };
	struct watch *fellow;

	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobe(&w->kp));
	expect_call(test, t, w, 1, 1);
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobes(kps, 2));
	expect_call(test, t, w, 1, 1);
	fellow = added_watch(test, t, false);
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobe(&w->kp));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobe(&fellow->kp));
	KUNIT_EXPECT_TRUE(test, linked(&w->kp));
	expect_call(test, t, w, 1, 1);
	expect_call(test, t, fellow, 1, 0);
	drop(test, w);
	expect_call(test, t, fellow, 1, 0);
	KUNIT_EXPECT_EQ(test, w->pre, 4);
}

/* Filled in again, as its owner had it before the address was found. */
static void bad_input_registered_anew(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *w = added_watch(test, t, true), *fellow = added_watch(test, t, true);
	struct kprobe *kps[] = { &w->kp, NULL };

	w->kp.addr = text_of(t);
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobe(&w->kp));
	expect_call(test, t, w, 1, 1);
	w->kp.addr = NULL;
	w->kp.symbol_name = t->name;
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobes(kps, 2));
	w->kp.symbol_name = NULL;
	expect_call(test, t, w, 1, 1);
	expect_call(test, t, fellow, 1, 1);
	drop(test, w);
	expect_call(test, t, w, 0, 0);
	expect_call(test, t, fellow, 1, 1);
}

/* An offset leads elsewhere the second time, where there may be an instruction, too. */
static void bad_input_registered_elsewhere(struct kunit *test)
{
	bool in_order = text_of(PLAIN) < text_of(TRACED);
	const struct target *low = in_order ? PLAIN : TRACED, *high = in_order ? TRACED : PLAIN;
	struct watch *w = new_watch(test, low, true), *twice = new_watch(test, low, true);
	struct kprobe *kps[] = { &twice->kp, &twice->kp };
	struct watch *fellow = added_watch(test, high, true);
	unsigned int offset = (char *)text_of(high) - (char *)text_of(low);

	w->kp.addr = (kprobe_opcode_t *)((char *)text_of(low) - offset);
	w->kp.offset = offset;
	must_add(test, w);
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobe(&w->kp));
	twice->kp.addr = (kprobe_opcode_t *)((char *)text_of(low) - offset);
	twice->kp.offset = offset;
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobes(kps, 2));
	KUNIT_EXPECT_FALSE(test, linked(&twice->kp));
	expect_call(test, low, w, 1, 1);
	expect_call(test, high, fellow, 1, 1);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
	drop(test, w);
	expect_call(test, high, fellow, 1, 1);
}

static void bad_input_twice_in_batch(struct kunit *test)
{
	struct watch *w = new_watch(test, test->param_value, true);
	struct kprobe *kps[] = { &w->kp, &w->kp };

	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobes(kps, 2));
	KUNIT_EXPECT_FALSE(test, linked(&w->kp));
	expect_call(test, test->param_value, w, 0, 0);
	must_add(test, w);
	expect_call(test, test->param_value, w, 1, 1);
}

static void bad_input_unregistered_twice(struct kunit *test)
{
	const struct target *t = test->param_value;
	struct watch *w = new_watch(test, t, true);
	struct watch *fellow = added_watch(test, t, true);

	unregister_kprobe(&w->kp);
	KUNIT_EXPECT_NULL(test, w->kp.addr);
	w->kp.addr = text_of(t);
	must_add(test, w);
	drop(test, w);
	unregister_kprobe(&w->kp);
	unregister_kprobe(&w->kp);
	KUNIT_EXPECT_NULL(test, w->kp.addr);
	expect_call(test, t, fellow, 1, 1);
	expect_call(test, t, w, 0, 0);
}

/* Failure M9: a probe in the code that it would have to be removed by. */
static void bad_input_kprobes_itself(struct kunit *test)
{
	void *functions[] = {
		register_kprobe, unregister_kprobe, register_kprobes, unregister_kprobes,
		enable_kprobe, disable_kprobe,
#ifdef CONFIG_KRETPROBES
		register_kretprobe, unregister_kretprobe, register_kretprobes,
		unregister_kretprobes,
#endif
	};
	struct watch *w = new_watch(test, PLAIN, false);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		w->kp.addr = dereference_function_descriptor(functions[i]);
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, add(test, w), "%pS", functions[i]);
	}
}

/* -- ftrace sites that another user holds -- */

#ifdef CONFIG_KPROBES_ON_FTRACE

static void change_nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			   struct ftrace_regs *fregs)
{
}

/* As a live patch: only one at a time may change where a function goes on. */
static struct ftrace_ops rival = {
	.func = change_nothing,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};

static void drop_rival(void *unused)
{
	unregister_ftrace_function(&rival);
	ftrace_set_filter_ip(&rival, (unsigned long)text_of(TRACED), 1, 0);
}

static int add_rival(struct kunit *test)
{
	int err = ftrace_set_filter_ip(&rival, (unsigned long)text_of(TRACED), 0, 1);

	if (!err)
		err = register_ftrace_function(&rival);
	return err ?: kunit_add_action_or_reset(test, drop_rival, NULL);
}

/* On some architectures what a symbol leads to is not its site. */
static void need_site(struct kunit *test)
{
	struct watch *w = added_watch(test, TRACED, false);
	bool on_site = w->kp.flags & KPROBE_FLAG_FTRACE;

	drop(test, w);
	if (!on_site)
		kunit_skip(test, "no ftrace site there");
}

static void rival_was_first(struct kunit *test)
{
	struct watch *pre = new_watch(test, TRACED, false);
	struct watch *post = new_watch(test, TRACED, true);
	struct kprobe before = post->kp;
	struct kprobe *kps[] = { &pre->kp, &post->kp };

	need_site(test);
	KUNIT_ASSERT_EQ(test, 0, add_rival(test));
	KUNIT_EXPECT_EQ(test, -EBUSY, add(test, post));
	expect_clean(test, &post->kp, &before);
	expect_call(test, TRACED, post, 0, 0);

	KUNIT_EXPECT_EQ(test, -EBUSY, register_kprobes(kps, 2));
	KUNIT_EXPECT_FALSE(test, linked(&pre->kp));
	expect_call(test, TRACED, pre, 0, 0);

	must_add(test, pre);
	expect_call(test, TRACED, pre, 1, 0);
	KUNIT_EXPECT_EQ(test, -EBUSY, add(test, post));
	expect_clean(test, &post->kp, &before);
	expect_call(test, TRACED, pre, 1, 0);
	KUNIT_EXPECT_EQ(test, post->pre, 0);

	kunit_release_action(test, drop_rival, NULL);
	must_add(test, post);
	expect_call(test, TRACED, post, 1, 1);
	drop(test, post);
	expect_call(test, TRACED, pre, 1, 0);
}

static void rival_while_disabled(struct kunit *test)
{
	struct watch *post;

	need_site(test);
	post = added_watch(test, TRACED, true);
	KUNIT_EXPECT_EQ(test, -EBUSY, add_rival(test));
	expect_call(test, TRACED, post, 1, 1);
	KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&post->kp));
	KUNIT_ASSERT_EQ(test, 0, add_rival(test));
	KUNIT_EXPECT_EQ(test, -EBUSY, enable_kprobe(&post->kp));
	KUNIT_EXPECT_TRUE(test, kprobe_disabled(&post->kp));
	expect_call(test, TRACED, post, 0, 0);
	kunit_release_action(test, drop_rival, NULL);
	KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&post->kp));
	expect_call(test, TRACED, post, 1, 1);
}

#endif /* CONFIG_KPROBES_ON_FTRACE */

/* -- ftrace sites that a tracer is on as well -- */

#ifdef CONFIG_DYNAMIC_FTRACE

static unsigned int nr_traced;

static void notrace count_traced(unsigned long ip, unsigned long parent_ip,
				 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	nr_traced++;
}

static struct ftrace_ops tracer = {
	.func = count_traced,
};

static void drop_tracer(void *unused)
{
	unregister_ftrace_function(&tracer);
	ftrace_set_filter_ip(&tracer, (unsigned long)text_of(TRACED), 1, 0);
}

static void add_tracer(struct kunit *test)
{
	unsigned long ip = (unsigned long)text_of(TRACED);

	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&tracer, ip, 0, 1));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&tracer));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, drop_tracer, NULL));
}

static void expect_at_site(struct kunit *test, struct watch *w, bool probed, bool traced)
{
	unsigned int before = nr_traced;

	expect_call(test, TRACED, w, probed, probed);
	KUNIT_EXPECT_EQ(test, nr_traced - before, traced);
}

/* Who comes first, and who leaves first? */
static void share_site(struct kunit *test, bool probe_comes, bool probe_leaves)
{
	struct watch *w = new_watch(test, TRACED, true);

	if (probe_comes)
		must_add(test, w);
	else
		add_tracer(test);
	expect_at_site(test, w, probe_comes, !probe_comes);
	if (probe_comes)
		add_tracer(test);
	else
		must_add(test, w);
	expect_at_site(test, w, true, true);

	if (probe_leaves)
		drop(test, w);
	else
		kunit_release_action(test, drop_tracer, NULL);
	expect_at_site(test, w, !probe_leaves, probe_leaves);
	if (probe_leaves)
		kunit_release_action(test, drop_tracer, NULL);
	else
		drop(test, w);
	expect_at_site(test, w, false, false);
}

static void site_shared(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		share_site(test, i & 1, i & 2);
}

/* The probe's text is written and restored while the tracer stays. */
static void site_shared_disabled(struct kunit *test)
{
	struct watch *w = added_watch(test, TRACED, true);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&w->kp));
		expect_at_site(test, w, false, false);
		add_tracer(test);
		expect_at_site(test, w, false, true);
		KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&w->kp));
		expect_at_site(test, w, true, true);
		kunit_release_action(test, drop_tracer, NULL);
		expect_at_site(test, w, true, false);
	}
}

#endif /* CONFIG_DYNAMIC_FTRACE */

/* -- probes that come and go under those who call -- */

#define NR_CALLERS	3
#define NR_ROUNDS	160

static atomic_t callers_wrong, late_hits, hits;

static int call_until_stopped(void *unused)
{
	u32 n = 0;

	while (!kthread_should_stop()) {
		const struct target *t = &targets[++n % NR_SUBJECTS];

		if (ask(t, n) != value_of(t, n))
			atomic_inc(&callers_wrong);
		if (n % 64 == 0)
			usleep_range(20, 50);
		cond_resched();
	}
	return 0;
}

struct round {
	struct kprobe kp;
#ifdef CONFIG_KRETPROBES
	struct kretprobe rp;
#endif
	bool live;
};

static void count_hit(struct round *r)
{
	atomic_inc(&hits);
	if (!READ_ONCE(r->live))
		atomic_inc(&late_hits);
}

static int round_pre(struct kprobe *kp, struct pt_regs *regs)
{
	count_hit(container_of(kp, struct round, kp));
	return 0;
}

static void round_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	count_hit(container_of(kp, struct round, kp));
}

#ifdef CONFIG_KRETPROBES

static int round_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	if (rp)
		count_hit(container_of(rp, struct round, rp));
	return 0;
}

static int register_round_return(struct round *r, const struct target *t)
{
	r->rp.kp.addr = text_of(t);
	r->rp.handler = round_return;
	return register_kretprobe(&r->rp);
}

static void unregister_round_return(struct round *r)
{
	unregister_kretprobe(&r->rp);
}

#else

static int register_round_return(struct round *r, const struct target *t)
{
	return 0;
}

static void unregister_round_return(struct round *r)
{
}

#endif

/* The memory is gone after each round, as it is when a module is unloaded. */
static int one_round(unsigned int i)
{
	struct round *r = kzalloc(sizeof(*r), GFP_KERNEL);
	/* Sites of ftrace cost many times what breakpoints do. */
	const struct target *t = i % 8 ? PLAIN : TRACED;
	int err;

	if (!r)
		return -ENOMEM;

	r->live = true;
	r->kp.addr = text_of(t);
	r->kp.pre_handler = round_pre;
	r->kp.post_handler = i % 3 ? round_post : NULL;
	err = register_kprobe(&r->kp);
	if (!err)
		err = register_round_return(r, t);
	if (!err && i % 5 == 0) {
		err = disable_kprobe(&r->kp);
		err = err ?: enable_kprobe(&r->kp);
	}
	usleep_range(50, 200);
	unregister_round_return(r);
	unregister_kprobe(&r->kp);
	WRITE_ONCE(r->live, false);
	cpu_relax();
	memset(r, 0x6b, sizeof(*r));
	kfree(r);
	return err;
}

static void stop_caller(void *task)
{
	kthread_stop(task);
}

static void start_callers(struct kunit *test)
{
	struct task_struct *task;
	unsigned int i;

	for (i = 0; i < NR_CALLERS; i++) {
		task = kthread_run(call_until_stopped, NULL, "kprobes_test/%u", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop_caller, task));
	}
}

static void probes_come_and_go(struct kunit *test)
{
	unsigned int i;

	atomic_set(&callers_wrong, 0);
	atomic_set(&late_hits, 0);
	atomic_set(&hits, 0);
	start_callers(test);
	for (i = 0; i < NR_ROUNDS; i++)
		KUNIT_ASSERT_EQ(test, 0, one_round(i));
	KUNIT_EXPECT_EQ(test, atomic_read(&callers_wrong), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&late_hits), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&hits), NR_ROUNDS);
}

/* -- after each case: no trace of it -- */

#define TEXT_BYTES 64

static u8 text_before[ARRAY_SIZE(targets)][TEXT_BYTES];
static bool warned_before;

static int kprobes_suite_init(struct kunit_suite *suite)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(targets) && !err; i++)
		err = copy_from_kernel_nofault(text_before[i], text_of(&targets[i]), TEXT_BYTES);
	return err;
}

static void expect_nothing_left(void *context)
{
	struct kunit *test = context;
	u8 text[TEXT_BYTES];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		KUNIT_EXPECT_EQ(test, 0, copy_from_kernel_nofault(text, text_of(&targets[i]),
								  TEXT_BYTES));
		KUNIT_EXPECT_MEMEQ_MSG(test, text, text_before[i], TEXT_BYTES, "text of %s",
				       targets[i].name);
	}
	if (!warned_before)
		KUNIT_EXPECT_FALSE_MSG(test, test_taint(TAINT_WARN), "the kernel has warned");
}

/* The action that is added first runs last, when all probes are gone. */
static int kprobes_test_init(struct kunit *test)
{
	turn = 0;
	warned_before = test_taint(TAINT_WARN);
	return kunit_add_action(test, expect_nothing_left, test);
}

static struct kunit_case kprobes_test_cases[] = {
	KUNIT_CASE_PARAM(kprobe_by_address, next_subject),
	KUNIT_CASE_PARAM(kprobe_by_symbol, next_subject),
	KUNIT_CASE(kprobe_with_offset),
	KUNIT_CASE_PARAM(kprobe_handler_context, next_subject),
	KUNIT_CASE_PARAM(kprobe_counts_each_hit, next_subject),
	KUNIT_CASE_PARAM(kprobe_without_handlers, next_subject),
	KUNIT_CASE_PARAM(kprobe_registered_again, next_subject),
	KUNIT_CASE_PARAM(kprobe_caller_flags, next_subject),
	KUNIT_CASE_PARAM(kprobe_changes_way, next_subject),
	KUNIT_CASE_PARAM(kprobe_changes_way_with_post, next_subject),
	KUNIT_CASE_PARAM(kprobe_registered_disabled, next_subject),
	KUNIT_CASE_PARAM(kprobe_enable_disable, next_subject),
	KUNIT_CASE(kprobe_enable_unregistered),
	KUNIT_CASE_PARAM(fellows_run_in_order, next_subject),
	KUNIT_CASE_PARAM(fellows_leave, next_subject),
	KUNIT_CASE_PARAM(fellows_disabled_one_by_one, next_subject),
	KUNIT_CASE_PARAM(fellow_joins_disabled, next_subject),
	KUNIT_CASE_PARAM(post_handler_comes_and_goes, next_subject),
	KUNIT_CASE(kprobe_batch),
	KUNIT_CASE(kprobe_batch_with_strangers),
	KUNIT_CASE_PARAM(kprobe_missed, next_subject),
	KUNIT_CASE_PARAM(kprobe_missed_in_post, next_subject),
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE_PARAM(kretprobe_sees_value, next_subject),
	KUNIT_CASE_PARAM(kretprobe_by_symbol, next_subject),
	KUNIT_CASE_PARAM(kretprobe_counts_each_call, next_subject),
	KUNIT_CASE_PARAM(kretprobe_entry_refuses, next_subject),
	KUNIT_CASE_PARAM(kretprobe_few_handlers, next_subject),
	KUNIT_CASE(kretprobe_default_maxactive),
	KUNIT_CASE(kretprobe_follows_recursion),
	KUNIT_CASE(kretprobe_too_few_instances),
	KUNIT_CASE(kretprobe_instances_grow),
	KUNIT_CASE_PARAM(kretprobes_share_function, next_subject),
	KUNIT_CASE_PARAM(kretprobe_beside_kprobes, next_subject),
	KUNIT_CASE_PARAM(kretprobe_enable_disable_again, next_subject),
	KUNIT_CASE(kretprobe_batch),
	KUNIT_CASE_PARAM(handlers_read_badly, next_subject),
	KUNIT_CASE_PARAM(kretprobe_missed, next_subject),
	KUNIT_CASE_PARAM(kprobe_missed_in_return, next_subject),
	KUNIT_CASE(kretprobe_dropped_while_inside),
	KUNIT_CASE(kretprobe_dropped_at_entry),
	KUNIT_CASE(kretprobe_stays_while_fellow_goes),
	KUNIT_CASE(kretprobe_added_while_inside),
	KUNIT_CASE(kretprobe_follows_many_guests),
	KUNIT_CASE(kretprobe_task_exits_inside),
	KUNIT_CASE(kretprobe_too_much_data),
	KUNIT_CASE(kretprobe_too_many_instances),
	KUNIT_CASE(kretprobe_not_at_entry),
	KUNIT_CASE(kretprobe_on_switch_to),
	KUNIT_CASE(kretprobe_on_ret_from_fork),
	KUNIT_CASE(kretprobe_twice),
	KUNIT_CASE(kretprobe_never_registered),
	KUNIT_CASE(kretprobe_null),
	KUNIT_CASE(kretprobe_batch_rolled_back),
	KUNIT_CASE_PARAM(bad_input_kretprobe, next_bad_input),
#endif
#if defined(CONFIG_ARCH_CORRECT_STACKTRACE_ON_KRETPROBE) && !defined(MODULE)
	KUNIT_CASE(stacktrace_in_return_handler),
	KUNIT_CASE(stacktrace_nested),
	KUNIT_CASE(stacktrace_shared_function),
#ifdef CONFIG_FPROBE
	KUNIT_CASE(stacktrace_fprobe_first),
	KUNIT_CASE(stacktrace_fprobe_last),
#endif
#endif
	KUNIT_CASE_PARAM(bad_input_kprobe, next_bad_input),
	KUNIT_CASE_PARAM(bad_input_batch, next_bad_input),
	KUNIT_CASE(bad_input_null),
	KUNIT_CASE_PARAM(bad_input_registered_twice, next_subject),
	KUNIT_CASE_PARAM(bad_input_registered_anew, next_subject),
	KUNIT_CASE(bad_input_registered_elsewhere),
	KUNIT_CASE_PARAM(bad_input_twice_in_batch, next_subject),
	KUNIT_CASE_PARAM(bad_input_unregistered_twice, next_subject),
	KUNIT_CASE(bad_input_kprobes_itself),
#ifdef CONFIG_KPROBES_ON_FTRACE
	KUNIT_CASE(rival_was_first),
	KUNIT_CASE(rival_while_disabled),
#endif
#ifdef CONFIG_DYNAMIC_FTRACE
	KUNIT_CASE(site_shared),
	KUNIT_CASE(site_shared_disabled),
#endif
	KUNIT_CASE_SLOW(probes_come_and_go),
	{}
};

static struct kunit_suite kprobes_test_suite = {
	.name = "kprobes_test",
	.suite_init = kprobes_suite_init,
	.init = kprobes_test_init,
	.test_cases = kprobes_test_cases,
};

kunit_test_suite(kprobes_test_suite);

MODULE_DESCRIPTION("Tests of kprobes through their public interface");
MODULE_LICENSE("GPL");
