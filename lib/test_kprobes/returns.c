// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of return probes through the public interface: the calls that they follow, how many
 * at a time, and tasks that are inside a followed call when the probe is removed.
 */
#include <linux/completion.h>
#include <linux/irqflags.h>
#include <linux/sched/task.h>
#include <linux/uaccess.h>
#include "return_watch.h"

static void expect_told_caller(struct kunit *test, struct return_watch *w)
{
	char caller[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(caller, w->ret_addr);
	KUNIT_EXPECT_TRUE_MSG(test, str_has_prefix(caller, "ask"), "%s", caller);
}

static void kretprobe_sees_value(struct kunit *test)
{
	struct return_watch *w = added_return_watch(test, SUBJECT);

	KUNIT_EXPECT_TRUE(test, linked(&w->rp.kp));
	KUNIT_EXPECT_EQ(test, ask(SUBJECT, 4321), value_of(SUBJECT, 4321));
	KUNIT_EXPECT_EQ(test, (u32)w->value, value_of(SUBJECT, 4321));
	KUNIT_EXPECT_EQ(test, w->entered, 1);
	KUNIT_EXPECT_EQ(test, w->returned, 1);
	KUNIT_EXPECT_EQ(test, w->wrong, 0);
	KUNIT_EXPECT_FALSE(test, w->preemptible);
	expect_told_caller(test, w);
	drop_return(test, w);
	expect_returns(test, SUBJECT, w, 0);
}

static void kretprobe_by_symbol(struct kunit *test)
{
	struct return_watch *behind = new_return_watch(test, SUBJECT);
	struct return_watch *w = new_return_watch(test, SUBJECT);

	w->rp.kp.addr = NULL;
	w->rp.kp.symbol_name = SUBJECT->name;
	must_add_return(test, w);
	expect_returns(test, SUBJECT, w, 1);

	/* Failure X5: the address behind a landing pad counts as the entry as well. */
	behind->rp.kp.addr = NULL;
	behind->rp.kp.symbol_name = SUBJECT->name;
	behind->rp.kp.offset = (void *)w->rp.kp.addr - (void *)text_of(SUBJECT);
	must_add_return(test, behind);
	KUNIT_EXPECT_PTR_EQ(test, behind->rp.kp.addr, w->rp.kp.addr);
	expect_returns(test, SUBJECT, behind, 1);
	drop_return(test, w);
	expect_returns(test, SUBJECT, w, 0);
}

static void kretprobe_counts_each_call(struct kunit *test)
{
	struct return_watch *w = added_return_watch(test, SUBJECT);

	call(test, SUBJECT, 1000);
	KUNIT_EXPECT_EQ(test, w->entered, 1000);
	KUNIT_EXPECT_EQ(test, w->returned, 1000);
	KUNIT_EXPECT_EQ(test, w->wrong, 0);
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, 0);
}

/* As kprobe_owner_clears_handlers(). */
static void kretprobe_owner_clears_handlers(struct kunit *test)
{
	struct return_watch *w = added_return_watch(test, SUBJECT);

	WRITE_ONCE(w->rp.kp.pre_handler, NULL);
	expect_returns(test, SUBJECT, w, 1);
	WRITE_ONCE(w->rp.entry_handler, NULL);
	call(test, SUBJECT, 3);
	KUNIT_EXPECT_EQ(test, w->entered, 1);
	KUNIT_EXPECT_EQ(test, w->returned, 4);
	WRITE_ONCE(w->rp.handler, NULL);
	call(test, SUBJECT, 3);
	KUNIT_EXPECT_EQ(test, w->returned, 4);
	drop_return(test, w);
	call(test, SUBJECT, 3);
	KUNIT_EXPECT_EQ(test, w->returned, 4);
}

static void kretprobe_entry_refuses(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, SUBJECT);
	unsigned int i;

	w->rp.maxactive = 1;
	w->refuse = true;
	must_add_return(test, w);
	/* If a refused call kept its instance, the second would be missed. */
	for (i = 0; i < 3; i++)
		expect_returns(test, SUBJECT, w, 0);
	KUNIT_EXPECT_EQ(test, w->entered, 3);
	w->refuse = false;
	w->serial = 0;
	expect_returns(test, SUBJECT, w, 1);
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, 0);
}

static void kretprobe_few_handlers(struct kunit *test)
{
	struct return_watch *entry_only = new_return_watch(test, SUBJECT);
	struct return_watch *plain = new_return_watch(test, SUBJECT);

	entry_only->rp.handler = NULL;
	plain->rp.entry_handler = NULL;
	plain->rp.data_size = 0;
	plain->rp.handler = NULL;
	must_add_return(test, plain);
	must_add_return(test, entry_only);
	call(test, SUBJECT, 3);
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
	KUNIT_EXPECT_EQ(test, READ_ONCE(kprobes_test_recurse)(7), 28);
	KUNIT_EXPECT_EQ(test, w->entered, 8);
	KUNIT_EXPECT_EQ(test, w->returned, 8);
	KUNIT_EXPECT_EQ(test, w->wrong, 0);
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, 0);
	KUNIT_EXPECT_EQ(test, (u32)w->value, 28);
}

/* Interrupts off: an interrupt and a worker would add instances meanwhile. */
static u32 recurse_uninterrupted(u32 depth)
{
	unsigned long flags;
	u32 result;

	local_irq_save(flags);
	result = READ_ONCE(kprobes_test_recurse)(depth);
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
		/* The outermost call was followed, and returned last. */
		KUNIT_EXPECT_EQ(test, (u32)w->value, 28);
		if (i == 1)
			KUNIT_EXPECT_EQ(test, w->rp.nmissed, 5);
	}
	KUNIT_EXPECT_EQ(test, w->wrong, 0);
}

/* Instances must be added until 128 calls at a time are followed. */
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
	for (i = 2; i < 1000; i++) {
		msleep(20);
		missed = w->rp.nmissed;
		KUNIT_EXPECT_EQ(test, recurse_uninterrupted(127), 127 * 64);
		if (w->rp.nmissed == missed)
			break;
	}
	KUNIT_EXPECT_LT(test, i, 1000);
	KUNIT_EXPECT_EQ(test, w->entered, 128 * i - w->rp.nmissed);
	KUNIT_EXPECT_EQ(test, w->returned, w->entered);
	KUNIT_EXPECT_EQ(test, w->wrong, 0);
}

static void kretprobes_share_function(struct kunit *test)
{
	struct return_watch *w[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		w[i] = added_return_watch(test, SUBJECT);
	call(test, SUBJECT, 10);
	drop_return(test, w[1]);
	call(test, SUBJECT, 10);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, w[i]->returned, i == 1 ? 10 : 20);
		KUNIT_EXPECT_EQ(test, w[i]->wrong, 0);
		KUNIT_EXPECT_EQ(test, (u32)w[i]->value, value_of(SUBJECT, 9));
		/* With rethook, all probes but one get the trampoline as the return address. */
		if (!IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK))
			expect_told_caller(test, w[i]);
	}
}

/* As calls nest, the one that is entered last returns first. */
static void kretprobes_run_in_order(struct kunit *test)
{
	struct return_watch *w[3];
	unsigned int i, times;

	for (i = 0; i < 3; i++)
		w[i] = added_return_watch(test, SUBJECT);
	for (times = 1; times <= 2; times++) {
		call(test, SUBJECT, 1);
		for (i = 1; i < 3; i++) {
			KUNIT_EXPECT_EQ(test, w[i - 1]->entry_turn, w[i]->entry_turn + 1);
			KUNIT_EXPECT_EQ(test, w[i - 1]->return_turn, w[i]->return_turn - 1);
		}
		wait_for_jumps();
	}
}

/* Like a BPF program that overrides the function, attached before the return probe. */
static void kretprobe_follows_override(struct kunit *test)
{
	struct watch *override = new_watch(test, SUBJECT, false);
	struct return_watch *w;
	unsigned int times;

	if (IS_ENABLED(CONFIG_ARM) || IS_ENABLED(CONFIG_PPC))
		kunit_skip(test, "this port's jumps go on behind the probe in any case");
	override->kp.pre_handler = kprobes_test_go_to_stand_in;
	must_add(test, override);
	w = added_return_watch(test, SUBJECT);
	for (times = 1; times <= 2; times++) {
		KUNIT_EXPECT_EQ(test, ask(SUBJECT, 100), value_of(STAND_IN, 100));
		KUNIT_EXPECT_EQ(test, override->pre, times);
		KUNIT_EXPECT_EQ(test, w->returned, times);
		KUNIT_EXPECT_EQ(test, (u32)w->value, value_of(STAND_IN, 100));
		wait_for_jumps();
	}
}

static void kretprobe_beside_kprobes(struct kunit *test)
{
	struct watch *before = added_watch(test, SUBJECT, true);
	struct return_watch *w = added_return_watch(test, SUBJECT);
	struct watch *after = added_watch(test, SUBJECT, false);

	expect_call(test, SUBJECT, before, 1, 1);
	expect_call(test, SUBJECT, after, 1, 0);
	KUNIT_EXPECT_EQ(test, w->returned, 2);
	drop(test, before);
	expect_returns(test, SUBJECT, w, 1);
	drop_return(test, w);
	expect_call(test, SUBJECT, after, 1, 0);
	KUNIT_EXPECT_EQ(test, w->returned, 3);
	KUNIT_EXPECT_EQ(test, w->wrong, 0);
}

static void kretprobe_enable_disable_again(struct kunit *test)
{
	struct return_watch *w = new_return_watch(test, SUBJECT);

	w->rp.kp.flags = KPROBE_FLAG_DISABLED;
	must_add_return(test, w);
	expect_returns(test, SUBJECT, w, 0);
	KUNIT_EXPECT_EQ(test, 0, enable_kretprobe(&w->rp));
	expect_returns(test, SUBJECT, w, 1);
	KUNIT_EXPECT_EQ(test, 0, disable_kretprobe(&w->rp));
	expect_returns(test, SUBJECT, w, 0);
	drop_return(test, w);

	w->rp.kp.flags = 0;
	must_add_return(test, w);
	expect_returns(test, SUBJECT, w, 1);
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

/* A return probe whose entry is a nested hit does not follow the call. */
static void kretprobe_missed(struct kunit *test)
{
	const struct target *inner = test->param_value;
	const struct target *outer = inner == TRACED ? PLAIN : TRACED;
	struct watch *around = new_watch(test, outer, false);
	struct return_watch *w;

	kprobes_test_called_in_handler = inner;
	around->kp.pre_handler = kprobes_test_call_in_handler;
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
	ask(kprobes_test_called_in_handler, 1);
	return watch_return(ri, regs);
}

static void kprobe_missed_in_return(struct kunit *test)
{
	const struct target *inner = test->param_value;
	const struct target *outer = inner == TRACED ? PLAIN : TRACED;
	struct return_watch *w = new_return_watch(test, outer);
	struct watch *missed = added_watch(test, inner, true);

	kprobes_test_called_in_handler = inner;
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

/* A fault in a handler must find the handler's own fixup. */
static void handlers_read_badly(struct kunit *test)
{
	struct return_watch *rw = new_return_watch(test, SUBJECT);
	struct watch *w = new_watch(test, SUBJECT, true);

	w->kp.pre_handler = reading_pre;
	w->kp.post_handler = reading_post;
	rw->rp.entry_handler = reading_return;
	rw->rp.handler = reading_return;
	must_add(test, w);
	must_add_return(test, rw);
	bad_reads = 0;
	wrong_reads = 0;
	call(test, SUBJECT, 3);
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

/* Called by address: on some architectures a direct call enters at another address. */
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

/* Returns when the guest is inside. */
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
	/* The removed probe's memory must not be used any more. */
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

/* get_kretprobe() must not return NULL in a handler that runs while the probe is removed. */
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

/* No guest must be missed, as long as they do not enter too fast. */
static void kretprobe_follows_many_guests(struct kunit *test)
{
	struct return_watch *w = guest_watch(test);
	struct guest *guests = must_alloc(test, 64, sizeof(*guests));
	unsigned int i;

	if (IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK))
		kunit_skip(test, "there are as many instances as at registration");

	for (i = 0; i < 64; i++) {
		guest_enters(test, &guests[i]);
		msleep(i < 16 ? 100 : 20);
	}
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, guest_leaves(&guests[i]), GUEST_VALUE);
	KUNIT_EXPECT_EQ(test, w->returned, 64);
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, 0);
}

/* Calls that began before the probe was added must not be followed. */
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

/* The instance of a task that exits inside must be freed some time later. */
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

/* -- return probes that must be refused -- */

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

	w->rp.data_size = KRETPROBE_MAX_DATA_SIZE;
	w->rp.maxactive = INT_MAX;
	KUNIT_EXPECT_EQ(test, -EINVAL, add_return(test, w));
	KUNIT_EXPECT_FALSE(test, linked(&w->rp.kp));
	/* The largest number that objpool takes, whose size in bytes overflows. */
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

	ask(MIDDLE, 0);
	w->rp.kp.addr = (kprobe_opcode_t *)kprobes_test_return_place;
	KUNIT_EXPECT_EQ(test, -EINVAL, add_return(test, w));
	KUNIT_EXPECT_FALSE(test, linked(&w->rp.kp));
	KUNIT_EXPECT_PTR_EQ(test, w->rp.kp.addr, (kprobe_opcode_t *)kprobes_test_return_place);
}

static const struct elsewhere {
	const char *symbol;
	bool here;
} elsewheres[] = {
	/* Failure M7: returns in another task than the one that called it. */
	{ "__switch_to", IS_ENABLED(CONFIG_X86) || IS_ENABLED(CONFIG_RISCV) },
	/* Is not called but returned to, with the new task's registers on its stack. */
	{ "ret_from_fork_asm", IS_ENABLED(CONFIG_X86) },
};

KUNIT_ARRAY_PARAM_DESC(elsewhere, elsewheres, symbol);

static void kretprobe_returns_elsewhere(struct kunit *test)
{
	const struct elsewhere *e = test->param_value;
	struct return_watch *w = new_return_watch(test, PLAIN);

	if (!e->here)
		kunit_skip(test, "another architecture's rule");
	w->rp.kp.addr = NULL;
	w->rp.kp.symbol_name = e->symbol;
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

/* Its owner may use the struct for something else. */
static void kretprobe_leaves_plain_probe(struct kunit *test)
{
	struct return_watch *w = added_return_watch(test, PLAIN);
	struct kprobe *kp = &w->rp.kp;

	unregister_kretprobe(&w->rp);
	KUNIT_EXPECT_NULL(test, kp->pre_handler);

	hits = 0;
	kp->pre_handler = count_hit;
	KUNIT_ASSERT_EQ(test, register_kprobe(kp), 0);
	expect_returns(test, PLAIN, w, 0);
	unregister_kprobe(kp);
	KUNIT_EXPECT_GT(test, hits, 0);
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

/* One bad entry, at any position, must undo the registration of all. */
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

static struct kunit_case returns_cases[] = {
	KUNIT_CASE_PARAM(kretprobe_sees_value, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kretprobe_by_symbol, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kretprobe_counts_each_call, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kretprobe_owner_clears_handlers, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kretprobe_entry_refuses, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kretprobe_few_handlers, kprobes_test_next_subject),
	KUNIT_CASE(kretprobe_default_maxactive),
	KUNIT_CASE(kretprobe_follows_recursion),
	KUNIT_CASE(kretprobe_too_few_instances),
	KUNIT_CASE(kretprobe_instances_grow),
	KUNIT_CASE_PARAM(kretprobes_share_function, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kretprobes_run_in_order, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kretprobe_follows_override, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kretprobe_beside_kprobes, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kretprobe_enable_disable_again, kprobes_test_next_subject),
	KUNIT_CASE(kretprobe_batch),
	KUNIT_CASE_PARAM(handlers_read_badly, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kretprobe_missed, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(kprobe_missed_in_return, kprobes_test_next_subject),
	KUNIT_CASE(kretprobe_dropped_while_inside),
	KUNIT_CASE(kretprobe_dropped_at_entry),
	KUNIT_CASE(kretprobe_stays_while_fellow_goes),
	KUNIT_CASE(kretprobe_added_while_inside),
	KUNIT_CASE(kretprobe_follows_many_guests),
	KUNIT_CASE(kretprobe_task_exits_inside),
	KUNIT_CASE(kretprobe_too_much_data),
	KUNIT_CASE(kretprobe_too_many_instances),
	KUNIT_CASE(kretprobe_not_at_entry),
	KUNIT_CASE_PARAM(kretprobe_returns_elsewhere, elsewhere_gen_params),
	KUNIT_CASE(kretprobe_twice),
	KUNIT_CASE(kretprobe_leaves_plain_probe),
	KUNIT_CASE(kretprobe_never_registered),
	KUNIT_CASE(kretprobe_batch_rolled_back),
	{}
};

static struct kunit_suite returns_suite = {
	.name = "kprobes_test_returns",
	.suite_init = kprobes_test_suite_init,
	.init = kprobes_test_init,
	.test_cases = returns_cases,
};

kunit_test_suite(returns_suite);
