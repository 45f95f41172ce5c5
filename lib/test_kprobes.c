// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of kprobes through the public interface: they use only functions and fields that any
 * module can use, and hold on every architecture unless they say otherwise. This file tests
 * hits of probes, the files in test_kprobes/ the rest: returns.c return probes, stacks.c stack
 * traces through followed calls, refused.c refusals, and sites.c ftrace sites with other users.
 */
#include "test_kprobes/targets.h"

/* -- one probe -- */

static void kprobe_by_address(struct kunit *test)
{
	struct watch *w = added_watch(test, SUBJECT, true);

	KUNIT_EXPECT_TRUE(test, linked(&w->kp));
	expect_call(test, SUBJECT, w, 1, 1);
	KUNIT_EXPECT_LT(test, w->pre_turn, w->post_turn);
	drop(test, w);
	expect_call(test, SUBJECT, w, 0, 0);
}

/* Failure R9: the entry may be an ftrace site. */
static void kprobe_by_symbol(struct kunit *test)
{
	struct watch *w = new_watch(test, SUBJECT, true);

	w->kp.addr = NULL;
	w->kp.symbol_name = SUBJECT->name;
	must_add(test, w);
	/* Failure X5: if the entry begins with a landing pad, the probe is behind it. */
	KUNIT_EXPECT_GE(test, (unsigned long)w->kp.addr, (unsigned long)text_of(SUBJECT));
	KUNIT_EXPECT_LE(test, (unsigned long)w->kp.addr, (unsigned long)text_of(SUBJECT) + 16);
	expect_call(test, SUBJECT, w, 1, 1);
	drop(test, w);
	expect_call(test, SUBJECT, w, 0, 0);
}

static void kprobe_with_offset(struct kunit *test)
{
	struct watch *by_addr = new_watch(test, MIDDLE, true);
	struct watch *by_symbol = new_watch(test, MIDDLE, true);
	unsigned int offset;

	ask(MIDDLE, 0);
	offset = kprobes_test_return_place - (unsigned long)text_of(MIDDLE);
	by_addr->kp.offset = offset;
	by_symbol->kp.offset = offset;
	by_symbol->kp.addr = NULL;
	by_symbol->kp.symbol_name = MIDDLE->name;
	must_add(test, by_addr);
	must_add(test, by_symbol);
	KUNIT_EXPECT_EQ(test, (unsigned long)by_addr->kp.addr, kprobes_test_return_place);
	KUNIT_EXPECT_EQ(test, (unsigned long)by_symbol->kp.addr, kprobes_test_return_place);

	KUNIT_EXPECT_EQ(test, ask(MIDDLE, 5), value_of(MIDDLE, 5));
	KUNIT_EXPECT_EQ(test, by_addr->pre + by_symbol->pre, 2);
	KUNIT_EXPECT_EQ(test, by_addr->post + by_symbol->post, 2);
}

static void kprobe_handler_context(struct kunit *test)
{
	struct watch *w = added_watch(test, SUBJECT, true);
	unsigned long ip = (unsigned long)w->kp.addr;

	KUNIT_EXPECT_EQ(test, ask(SUBJECT, 1234), value_of(SUBJECT, 1234));
	KUNIT_EXPECT_FALSE(test, w->preemptible);
	KUNIT_EXPECT_FALSE(test, w->user);
	KUNIT_EXPECT_EQ(test, w->post_flags, 0);
	/* On some architectures the ip is behind the breakpoint. */
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
	struct watch *both = added_watch(test, SUBJECT, true);
	struct watch *pre = added_watch(test, SUBJECT, false);

	call(test, SUBJECT, 1000);
	drop(test, both);
	call(test, SUBJECT, 1000);
	KUNIT_EXPECT_EQ(test, both->pre, 1000);
	KUNIT_EXPECT_EQ(test, both->post, 1000);
	KUNIT_EXPECT_EQ(test, pre->pre, 2000);
	KUNIT_EXPECT_EQ(test, both->kp.nmissed + pre->kp.nmissed, 0);
}

static void kprobe_without_handlers(struct kunit *test)
{
	struct watch *none = new_watch(test, SUBJECT, false);
	struct watch *post = new_watch(test, SUBJECT, true);

	none->kp.pre_handler = NULL;
	post->kp.pre_handler = NULL;
	must_add(test, none);
	expect_call(test, SUBJECT, none, 0, 0);
	must_add(test, post);
	expect_call(test, SUBJECT, post, 0, 1);
}

/* Modules have been seen to clear the handlers of a probe before they unregister it. */
static void kprobe_owner_clears_handlers(struct kunit *test)
{
	struct watch *w = added_watch(test, SUBJECT, true), *fellow;

	WRITE_ONCE(w->kp.pre_handler, NULL);
	WRITE_ONCE(w->kp.post_handler, NULL);
	expect_call(test, SUBJECT, w, 1, 0);

	fellow = added_watch(test, SUBJECT, true);
	expect_call(test, SUBJECT, w, 1, 0);
	expect_call(test, SUBJECT, fellow, 1, 1);
	drop(test, fellow);
	expect_call(test, SUBJECT, w, 1, 0);

	KUNIT_EXPECT_EQ(test, disable_kprobe(&w->kp), 0);
	expect_call(test, SUBJECT, w, 0, 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&w->kp), 0);
	expect_call(test, SUBJECT, w, 1, 0);
	drop(test, w);
	expect_call(test, SUBJECT, w, 0, 0);

	w->kp.post_handler = watch_post;
	must_add(test, w);
	expect_call(test, SUBJECT, w, 0, 1);
}

static void kprobe_registered_again(struct kunit *test)
{
	struct watch *w = new_watch(test, SUBJECT, true);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		w->kp.addr = NULL;
		w->kp.symbol_name = SUBJECT->name;
		w->kp.flags = 0;
		w->kp.nmissed = 77;
		must_add(test, w);
		KUNIT_EXPECT_EQ(test, w->kp.nmissed, 0);
		expect_call(test, SUBJECT, w, 1, 1);
		drop(test, w);
		expect_call(test, SUBJECT, w, 0, 0);
	}
}

/* Registration must ignore all flags of the caller but KPROBE_FLAG_DISABLED. */
static void kprobe_caller_flags(struct kunit *test)
{
	struct watch *w = new_watch(test, SUBJECT, true);

	w->kp.flags = ~KPROBE_FLAG_DISABLED;
	must_add(test, w);
	KUNIT_EXPECT_FALSE(test, kprobe_gone(&w->kp));
	KUNIT_EXPECT_FALSE(test, kprobe_disabled(&w->kp));
	expect_call(test, SUBJECT, w, 1, 1);
}

/* Without a post_handler, and with one. */
static void kprobe_changes_way(struct kunit *test)
{
	unsigned int post;

	for (post = 0; post < 2; post++) {
		struct watch *w = new_watch(test, SUBJECT, post);

		w->kp.pre_handler = kprobes_test_go_to_stand_in;
		must_add(test, w);
		KUNIT_EXPECT_EQ_MSG(test, ask(SUBJECT, 100), value_of(STAND_IN, 100), "post %u",
				    post);
		KUNIT_EXPECT_EQ_MSG(test, w->pre, 1, "post %u", post);
		KUNIT_EXPECT_EQ(test, w->post, 0);
		drop(test, w);
		expect_call(test, SUBJECT, w, 0, 0);
	}
}

/* -- enabled or not -- */

/* It is registered disabled. */
static void kprobe_enable_disable(struct kunit *test)
{
	struct watch *w = new_watch(test, SUBJECT, true);
	unsigned int i;

	w->kp.flags = KPROBE_FLAG_DISABLED;
	must_add(test, w);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_TRUE(test, kprobe_disabled(&w->kp));
		expect_call(test, SUBJECT, w, 0, 0);
		KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&w->kp));
		KUNIT_EXPECT_FALSE(test, kprobe_disabled(&w->kp));
		KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&w->kp));
		expect_call(test, SUBJECT, w, 1, 1);
		KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&w->kp));
		KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&w->kp));
	}
	drop(test, w);
	expect_call(test, SUBJECT, w, 0, 0);
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
		w[i] = added_watch(test, SUBJECT, true);
}

/* The one registered last is called first, whether a jump or a trap leads to them. */
static void fellows_run_in_order(struct kunit *test)
{
	struct watch *w[NR_FELLOWS];
	unsigned int i, times;

	add_fellows(test, w);
	for (times = 1; times <= 2; times++) {
		call(test, SUBJECT, 1);
		for (i = 0; i < NR_FELLOWS; i++) {
			KUNIT_EXPECT_TRUE(test, linked(&w[i]->kp));
			KUNIT_EXPECT_EQ(test, w[i]->pre, times);
			KUNIT_EXPECT_EQ(test, w[i]->post, times);
		}
		for (i = 1; i < NR_FELLOWS; i++) {
			KUNIT_EXPECT_EQ(test, w[i - 1]->pre_turn, w[i]->pre_turn + 1);
			KUNIT_EXPECT_EQ(test, w[i - 1]->post_turn, w[i]->post_turn + 1);
		}
		wait_for_jumps();
	}
}

/* A probe that is enabled again has its old place. */
static void fellow_keeps_its_place(struct kunit *test)
{
	struct watch *w[NR_FELLOWS];
	unsigned int i, j;

	add_fellows(test, w);
	for (i = 0; i < NR_FELLOWS; i++) {
		KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&w[i]->kp));
		KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&w[i]->kp));
		call(test, SUBJECT, 1);
		for (j = 1; j < NR_FELLOWS; j++)
			KUNIT_EXPECT_EQ(test, w[j - 1]->pre_turn, w[j]->pre_turn + 1);
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
		call(test, SUBJECT, 1);
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
		call(test, SUBJECT, 1);
		for (j = 0; j < NR_FELLOWS; j++)
			KUNIT_EXPECT_EQ(test, w[j]->post, min(i + 1, j));
	}
	for (i = 0; i < NR_FELLOWS; i++)
		KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&w[i]->kp));
	call(test, SUBJECT, 1);
	for (j = 0; j < NR_FELLOWS; j++)
		KUNIT_EXPECT_EQ(test, w[j]->post, j + 1);
}

/* The second member joins disabled, and the first leaves before it is enabled. */
static void fellow_joins_disabled(struct kunit *test)
{
	struct watch *first = added_watch(test, SUBJECT, false);
	struct watch *second = new_watch(test, SUBJECT, true);

	second->kp.flags = KPROBE_FLAG_DISABLED;
	must_add(test, second);
	expect_call(test, SUBJECT, first, 1, 0);
	KUNIT_EXPECT_EQ(test, second->pre, 0);
	drop(test, first);
	expect_call(test, SUBJECT, second, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&second->kp));
	expect_call(test, SUBJECT, second, 1, 1);
}

/*
 * A post_handler may require another kind of probe at the address. Try all orders in
 * which it can come and go: bit 0, it is registered first; bit 1, it leaves first; bit
 * 2, it is disabled before that.
 */
static void post_handler_comes_and_goes(struct kunit *test)
{
	struct watch *w[2], *post;
	unsigned int way, i;

	for (way = 0; way < 8; way++) {
		w[0] = new_watch(test, SUBJECT, way & 1);
		w[1] = new_watch(test, SUBJECT, !(way & 1));
		post = way & 1 ? w[0] : w[1];
		must_add(test, w[0]);
		expect_call(test, SUBJECT, w[0], 1, way & 1);
		must_add(test, w[1]);
		expect_call(test, SUBJECT, w[0], 1, way & 1);
		expect_call(test, SUBJECT, w[1], 1, !(way & 1));

		if (way & 4)
			KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&post->kp));
		i = (w[1] == post) == !!(way & 2);
		drop(test, w[i]);
		expect_call(test, SUBJECT, w[i], 0, 0);
		if (w[!i] != post || !(way & 4))
			expect_call(test, SUBJECT, w[!i], 1, w[!i] == post);
		else
			expect_call(test, SUBJECT, w[!i], 0, 0);
		drop(test, w[!i]);
		expect_call(test, SUBJECT, w[0], 0, 0);
		expect_call(test, SUBJECT, w[1], 0, 0);
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

/*
 * Called in the reverse order of the array. A function's entry and the address after its
 * landing pad, if it has one, are one place.
 */
static void kprobe_batch_in_order(struct kunit *test)
{
	struct watch *entry = added_watch(test, SUBJECT, false);
	kprobe_opcode_t *behind = entry->kp.addr;
	struct kprobe *kps[3];
	struct watch *w[3];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		w[i] = new_watch(test, SUBJECT, false);
		w[i]->kp.symbol_name = NULL;
		w[i]->kp.addr = i == 1 ? text_of(SUBJECT) : behind;
		kps[i] = &w[i]->kp;
	}
	drop(test, entry);
	KUNIT_ASSERT_EQ(test, 0, register_kprobes(kps, 3));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, drop_batch, kps));
	call(test, SUBJECT, 1);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_PTR_EQ(test, w[i]->kp.addr, behind);
		KUNIT_EXPECT_EQ(test, w[i]->pre_turn, w[2]->pre_turn + 2 - i);
	}
	kunit_release_action(test, drop_batch, kps);
}

/* Entries that cannot be unregistered must not prevent the others from being so. */
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

static void call_in_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	watch_post(kp, regs, flags);
	ask(kprobes_test_called_in_handler, 1);
}

static void expect_missed(struct kunit *test, kprobe_pre_handler_t pre,
			  kprobe_post_handler_t post)
{
	const struct target *inner = test->param_value;
	const struct target *outer = inner == TRACED ? PLAIN : TRACED;
	struct watch *w = new_watch(test, outer, true);
	struct watch *missed[2];
	unsigned int i;

	kprobes_test_called_in_handler = inner;
	w->kp.pre_handler = pre;
	w->kp.post_handler = post;
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

	/* The inner hit must not have ended the outer one. */
	call(test, inner, 1);
	KUNIT_EXPECT_EQ(test, missed[0]->pre, 1);
	KUNIT_EXPECT_EQ(test, missed[1]->post, 1);
}

static void kprobe_missed(struct kunit *test)
{
	expect_missed(test, kprobes_test_call_in_handler, watch_post);
}

static void kprobe_missed_in_post(struct kunit *test)
{
	expect_missed(test, watch_pre, call_in_post);
}

/* -- probes that come and go while the function is called -- */

#define NR_CALLERS	3
#define NR_ROUNDS	160

static atomic_t callers_wrong, late_hits, round_hits;

static int call_until_stopped(void *unused)
{
	u32 n = 0;

	while (!kthread_should_stop()) {
		const struct target *t = &kprobes_test_targets[++n % NR_SUBJECTS];

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
	struct kretprobe rp;
	bool live;
};

static void round_hit(struct round *r)
{
	atomic_inc(&round_hits);
	if (!READ_ONCE(r->live))
		atomic_inc(&late_hits);
}

static int round_pre(struct kprobe *kp, struct pt_regs *regs)
{
	round_hit(container_of(kp, struct round, kp));
	return 0;
}

static void round_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	round_hit(container_of(kp, struct round, kp));
}

static int round_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	if (rp)
		round_hit(container_of(rp, struct round, rp));
	return 0;
}

/* Free the memory after each round, as when a module is unloaded. */
static int one_round(unsigned int i)
{
	struct round *r = kzalloc(sizeof(*r), GFP_KERNEL);
	/* Changing an ftrace site takes many times as long as a breakpoint. */
	const struct target *t = i % 8 ? PLAIN : TRACED;
	int err;

	if (!r)
		return -ENOMEM;

	r->live = true;
	r->kp.addr = text_of(t);
	r->kp.pre_handler = round_pre;
	r->kp.post_handler = i % 3 ? round_post : NULL;
	r->rp.kp.addr = text_of(t);
	r->rp.handler = round_return;
	err = register_kprobe(&r->kp);
	if (!err && IS_ENABLED(CONFIG_KRETPROBES))
		err = register_kretprobe(&r->rp);
	if (!err && i % 5 == 0) {
		err = disable_kprobe(&r->kp);
		err = err ?: enable_kprobe(&r->kp);
	}
	usleep_range(50, 200);
	unregister_kretprobe(&r->rp);
	unregister_kprobe(&r->kp);
	WRITE_ONCE(r->live, false);
	cpu_relax();
	memset(r, 0x6b, sizeof(*r));
	kfree(r);
	return err;
}

static void probes_come_and_go(struct kunit *test)
{
	unsigned int i;

	atomic_set(&callers_wrong, 0);
	atomic_set(&late_hits, 0);
	atomic_set(&round_hits, 0);
	for (i = 0; i < NR_CALLERS; i++)
		begin_thread(test, call_until_stopped, NULL);
	for (i = 0; i < NR_ROUNDS; i++)
		KUNIT_ASSERT_EQ(test, 0, one_round(i));
	KUNIT_EXPECT_EQ(test, atomic_read(&callers_wrong), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&late_hits), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&round_hits), NR_ROUNDS);
}

/* -- probes on the functions that change probes -- */

static void change_kprobes(struct kunit *test)
{
	struct watch *w = new_watch(test, PLAIN, true);
	struct kprobe *kps[] = { &w->kp };

	KUNIT_EXPECT_EQ(test, register_kprobe(&w->kp), 0);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&w->kp), 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&w->kp), 0);
	expect_call(test, PLAIN, w, 1, 1);
	unregister_kprobe(&w->kp);
	KUNIT_EXPECT_EQ(test, register_kprobes(kps, 1), 0);
	unregister_kprobes(kps, 1);
	expect_call(test, PLAIN, w, 0, 0);
}

/* Failure M9: a probe in the code that has to remove it. */
static void kprobe_on_kprobes(struct kunit *test)
{
	void *functions[] = {
		register_kprobe, unregister_kprobe, register_kprobes, unregister_kprobes,
		enable_kprobe, disable_kprobe,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		struct watch *w = new_watch(test, PLAIN, i % 2);

		w->kp.addr = dereference_function_descriptor(functions[i]);
		w->kp.pre_handler = count_hit;
		must_add(test, w);
	}
	/* They become jumps, too. */
	for (i = 0; i < 2; i++) {
		hits = 0;
		change_kprobes(test);
		KUNIT_EXPECT_GE(test, hits, ARRAY_SIZE(functions));
		msleep(200);
	}
}

#ifdef CONFIG_KRETPROBES
static void kretprobe_on_kprobes(struct kunit *test)
{
	static struct kretprobe rps[10];
	void *functions[] = {
		register_kprobe, unregister_kprobe, register_kprobes, unregister_kprobes,
		enable_kprobe, disable_kprobe, register_kretprobe, unregister_kretprobe,
		register_kretprobes, unregister_kretprobes,
	};
	struct kretprobe *one[1], rp = { .kp.addr = text_of(PLAIN), .handler = count_return };
	unsigned int i;

	static_assert(ARRAY_SIZE(rps) == ARRAY_SIZE(functions));
	for (i = 0; i < ARRAY_SIZE(rps); i++) {
		rps[i] = (struct kretprobe){
			.kp.addr = dereference_function_descriptor(functions[i]),
			.handler = count_return,
		};
		add_kretprobe(test, &rps[i]);
	}
	hits = 0;
	change_kprobes(test);
	KUNIT_EXPECT_EQ(test, register_kretprobe(&rp), 0);
	unregister_kretprobe(&rp);
	one[0] = &rp;
	KUNIT_EXPECT_EQ(test, register_kretprobes(one, 1), 0);
	unregister_kretprobes(one, 1);
	KUNIT_EXPECT_GE(test, hits, ARRAY_SIZE(rps));
}
#endif

static struct kunit_case hits_cases[] = {
	KUNIT_CASE_PARAM(kprobe_by_address, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kprobe_by_symbol, kprobes_test_next_subject),
	KUNIT_CASE(kprobe_with_offset),
	KUNIT_CASE_PARAM(kprobe_handler_context, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kprobe_counts_each_hit, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kprobe_without_handlers, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kprobe_owner_clears_handlers, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kprobe_registered_again, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kprobe_caller_flags, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kprobe_changes_way, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kprobe_enable_disable, kprobes_test_next_subject),
	KUNIT_CASE(kprobe_enable_unregistered),
	KUNIT_CASE_PARAM(fellows_run_in_order, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(fellow_keeps_its_place, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(fellows_leave, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(fellows_disabled_one_by_one, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(fellow_joins_disabled, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(post_handler_comes_and_goes, kprobes_test_next_subject),
	KUNIT_CASE(kprobe_batch),
	KUNIT_CASE_PARAM(kprobe_batch_in_order, kprobes_test_next_subject),
	KUNIT_CASE(kprobe_batch_with_strangers),
	KUNIT_CASE_PARAM(kprobe_missed, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kprobe_missed_in_post, kprobes_test_next_subject),
	KUNIT_CASE(kprobe_on_kprobes),
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE(kretprobe_on_kprobes),
#endif
	KUNIT_CASE_SLOW(probes_come_and_go),
	{}
};

static struct kunit_suite hits_suite = {
	.name = "kprobes_test",
	.suite_init = kprobes_test_suite_init,
	.init = kprobes_test_init,
	.test_cases = hits_cases,
};

kunit_test_suite(hits_suite);
