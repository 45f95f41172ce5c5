// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps in place of breakpoints.
 *
 * An armed point that would like a jump is queued. A worker has the architecture
 * prepare a detour for it, once. A jump that covers a single instruction is written
 * then and there. For any other the architecture guards what the jump will cover:
 * from then on nobody enters that but through the detour. A grace period later
 * nobody is inside any more, and the jump can be written. The way back needs no
 * waiting.
 *
 * A point is on at most one of the lists below, by its op.list. The worker keeps
 * no list of its own while it holds no lock, so taking a point off its list is
 * all it takes to stop it.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/rcupdate.h>
#include <linux/sysctl.h>
#include <linux/workqueue.h>

#include "arm.h"
#include "lifetime.h"
#include "optimize.h"
#include "point.h"
#include "reconcile.h"
#include "state.h"
#include "table.h"

/* ARMED, and not yet known whether there can be a detour. */
static LIST_HEAD(candidates);

/* OPTIMIZING, for the next grace period. */
static LIST_HEAD(queued);

/* OPTIMIZING, guarded, with a grace period under way. */
static LIST_HEAD(waiting);

/* UNOPTIMIZING. */
static LIST_HEAD(reverting);

/* ARMED, and there was no memory for a detour. */
static LIST_HEAD(starved);

/* The sysctl debug.kprobes-optimization. */
static bool knob = true;

/* Set once RCU-tasks grace periods work, which is late in the boot. */
static bool ready __ro_after_init;

static void optimize_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(optimizer, optimize_work);

static void retry_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(retry, retry_work);

/* When starved points get another try; longer each time that this does not help. */
#define RETRY_DELAY_MIN	HZ
#define RETRY_DELAY_MAX	(512 * HZ)

static unsigned long retry_delay = RETRY_DELAY_MIN;

/* A test has it fail. */
int (*optimize_prepare_detour)(struct optimized_kprobe *op, struct kprobe *orig) =
	arch_prepare_optimized_kprobe;

/* Delay of the worker, so that one grace period serves many points. */
#define OPTIMIZE_DELAY	2	/* jiffies */

/* Points prepared in a row before the locks are dropped. */
#define PREPARE_BATCH	64

/**
 * arch_guard_kprobes() - keep CPUs from running into what a jump will cover
 * @oplist: struct optimized_kprobe, linked by their list, to be kept so
 *
 * A grace period will follow, and then arch_optimize_kprobes(). Once that begins
 * no task may come into the middle of the instructions that the jump replaces,
 * be it from a copy of an instruction, from a branch, or from a call. It is not
 * called for jumps of which arch_jump_is_single() is true.
 *
 * Context: Process context, cpus_read_lock() and text_mutex held.
 */
void __weak arch_guard_kprobes(struct list_head *oplist)
{
}

/**
 * arch_unguard_kprobes() - undo arch_guard_kprobes()
 * @oplist: struct optimized_kprobe, guarded or not
 *
 * Context: Process context, cpus_read_lock() and text_mutex held.
 */
void __weak arch_unguard_kprobes(struct list_head *oplist)
{
}

/**
 * arch_explain_optimized_kprobe() - say why there is no detour for a probe
 * @op: a probe that arch_prepare_optimized_kprobe() has refused
 * @buf: where to
 * @size: bytes in @buf
 *
 * Context: Process context, kprobe_mutex held.
 * Return: bytes written.
 */
int __weak arch_explain_optimized_kprobe(struct optimized_kprobe *op, char *buf, size_t size)
{
	return scnprintf(buf, size, "not possible here");
}

bool optimize_allowed(void)
{
	return knob && ready;
}

bool optimize_has_detour(struct kprobe_point *point)
{
	return arch_prepared_optinsn(&point->op.optinsn);
}

/* Can the point keep its jump although it has a post_handler? */
bool optimize_calls_post(struct kprobe_point *point)
{
	return arch_detour_calls_post(&point->op.kp.ainsn);
}

void optimize_init(struct kprobe_point *point)
{
	INIT_LIST_HEAD(&point->op.list);
}

/* Instructions start at multiples of so many bytes. */
#ifndef KPROBE_INSN_ALIGN
#define KPROBE_INSN_ALIGN	sizeof(kprobe_opcode_t)
#endif

/* Find a point inside what @point's jump covers that needs text of its own. */
static struct kprobe_point *optimize_inner(struct kprobe_point *point)
{
	struct optimized_kprobe *op = &point->op;
	struct kprobe_point *inner;
	unsigned long addr;

	for (addr = point_addr(point) + KPROBE_INSN_ALIGN;
	     arch_within_optimized_kprobe(op, (kprobe_opcode_t *)addr);
	     addr += KPROBE_INSN_ALIGN) {
		inner = point_find(addr);
		if (inner && (inner->state == POINT_ARMED || point_wants_text(inner)))
			return inner;
	}

	return NULL;
}

bool optimize_blocked(struct kprobe_point *point)
{
	return optimize_inner(point) || arch_check_optimized_kprobe(&point->op) < 0;
}

/* The point @at bytes before @addr, if its jump covers @addr or may come to. */
static struct kprobe_point *outer_point(unsigned long addr, unsigned int at)
{
	struct kprobe *p = get_kprobe((void *)(addr - at));
	struct kprobe_point *point = p ? point_of(p) : NULL;

	if (point && optimize_has_detour(point) &&
	    arch_within_optimized_kprobe(&point->op, (kprobe_opcode_t *)addr))
		return point;

	return NULL;
}

/* Add to @work the points whose jump covers a point that is in it already. */
void optimize_add_outer(struct list_head *work)
{
	struct kprobe_point *outer;
	struct list_head *last = work->prev;
	struct kprobe *p;
	unsigned int at;

	if (list_empty(work))
		return;

	list_for_each_entry(p, work, list) {
		for (at = KPROBE_INSN_ALIGN; at < MAX_OPTIMIZED_LENGTH; at += KPROBE_INSN_ALIGN) {
			outer = outer_point((unsigned long)p->addr, at);
			if (outer)
				point_queue(outer, work);
		}
		if (&p->list == last)
			break;
	}
}

/* Is @addr inside a jump, written or prepared? */
bool optimize_covers(unsigned long addr)
{
	unsigned int at;

	for (at = KPROBE_INSN_ALIGN; at < MAX_OPTIMIZED_LENGTH; at += KPROBE_INSN_ALIGN) {
		if (outer_point(addr, at))
			return true;
	}

	return false;
}

/* The state of @point selects the list. */
void optimize_queue(struct kprobe_point *point)
{
	struct list_head *head = &candidates;

	lockdep_assert_held(&kprobe_mutex);

	if (point->state == POINT_OPTIMIZING)
		head = &queued;
	else if (point->state == POINT_UNOPTIMIZING)
		head = &reverting;

	list_move_tail(&point->op.list, head);
	queue_delayed_work(system_unbound_wq, &optimizer, OPTIMIZE_DELAY);
}

void optimize_forget(struct kprobe_point *point)
{
	list_del_init(&point->op.list);
}

static void empty_list(struct list_head *ops)
{
	struct optimized_kprobe *op, *next;

	list_for_each_entry_safe(op, next, ops, list)
		list_del_init(&op->list);
}

/* Replace the jumps of @ops by breakpoints, and empty the list. */
static void unoptimize(struct list_head *ops)
{
	LIST_HEAD(done);

	arch_unoptimize_kprobes(ops, &done);
	empty_list(&done);
}

static void unguard(struct list_head *ops)
{
	arch_unguard_kprobes(ops);
	empty_list(ops);
}

/* Replace jumps by breakpoints, and cancel the jumps that are pending. */
void optimize_cancel(struct list_head *kps)
{
	struct kprobe *p;
	LIST_HEAD(jumps);
	LIST_HEAD(plans);

	lockdep_assert_held(&kprobe_mutex);

	list_for_each_entry(p, kps, list) {
		struct kprobe_point *point = point_of(p);
		bool planned = point->state == POINT_OPTIMIZING;

		list_move_tail(&point->op.list, planned ? &plans : &jumps);
	}
	text_write_chunks(&jumps, unoptimize);
	text_write_chunks(&plans, unguard);
}

/* Called with the original text restored, when no new hit can find the detour. */
void optimize_remove(struct kprobe_point *point)
{
	arch_remove_optimized_kprobe(&point->op);
}

static void prepare_point(struct kprobe_point *point)
{
	list_del_init(&point->op.list);
	if (!point_wants_detour(point))
		return;

	if (optimize_prepare_detour(&point->op, &point->op.kp) == -ENOMEM) {
		point->detour = DETOUR_NO_MEMORY;
		list_add_tail(&point->op.list, &starved);
		queue_delayed_work(system_unbound_wq, &retry, retry_delay);
		return;
	}
	point->detour = DETOUR_TRIED;
	/* The module is coming or going: its reservations are unknown. */
	if (lifetime_is_going(point_addr(point)))
		optimize_remove(point);
}

static void prepare_batch(struct list_head *work)
{
	struct kprobe_point *point;
	unsigned int i;

	guard(cpus_read_lock)();
	guard(jump_label_lock)();
	guard(mutex)(&text_mutex);

	for (i = 0; i < PREPARE_BATCH && !list_empty(&candidates); i++) {
		point = list_first_entry(&candidates, struct kprobe_point, op.list);
		prepare_point(point);
		point_queue(point, work);
	}
	arch_finish_prepare_kprobes();
}

/*
 * Prepare the detours of all candidates, so that each is queued for its jump or knows
 * the obstacle.
 */
void optimize_prepare_queued(void)
{
	LIST_HEAD(nothing_dies);
	LIST_HEAD(work);
	bool more = true;

	while (more) {
		scoped_guard(mutex, &kprobe_mutex) {
			prepare_batch(&work);
			points_reconcile(&work);
			points_bury(&work, &nothing_dies);
			more = !list_empty(&candidates);
		}
		cond_resched();
	}
}

/* A point that is starved again comes back to the list, and waits longer. */
static void retry_work(struct work_struct *work)
{
	struct kprobe_point *point;
	LIST_HEAD(again);

	scoped_guard(mutex, &kprobe_mutex) {
		list_splice_init(&starved, &again);
		while (!list_empty(&again)) {
			point = list_first_entry(&again, struct kprobe_point, op.list);
			point->detour = DETOUR_UNTRIED;
			optimize_queue(point);
		}
		retry_delay = min(2 * retry_delay, (unsigned long)RETRY_DELAY_MAX);
	}

	optimize_prepare_queued();
	guard(mutex)(&kprobe_mutex);
	if (list_empty(&starved))
		retry_delay = RETRY_DELAY_MIN;
}

/* The architecture empties @ops, so remember the points in another list. */
static void list_points(struct list_head *ops, struct list_head *points)
{
	struct optimized_kprobe *op;

	list_for_each_entry(op, ops, list)
		point_queue(container_of(op, struct kprobe_point, op), points);
}

/* Record that the text of @points is what @state stands for. */
static void finish_points(struct list_head *points, enum point_state state)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, points, list) {
		list_del_init(&p->list);
		point_set_state(point_of(p), state);
	}
}

static void write_breakpoints(void)
{
	LIST_HEAD(points);

	list_points(&reverting, &points);
	text_write_chunks(&reverting, unoptimize);
	finish_points(&points, POINT_ARMED);
}

/* Replace the breakpoints of @ops by jumps, and empty the list. */
static void write_jumps(struct list_head *ops)
{
	LIST_HEAD(points);

	list_points(ops, &points);
	text_write_chunks(ops, arch_optimize_kprobes);
	finish_points(&points, POINT_OPTIMIZED);
}

/* Write those of the queued jumps that need no grace period. */
static void write_single_jumps(void)
{
	struct optimized_kprobe *op, *next;
	LIST_HEAD(single);

	list_for_each_entry_safe(op, next, &queued, list) {
		if (arch_jump_is_single(&op->optinsn))
			list_move_tail(&op->list, &single);
	}
	write_jumps(&single);
}

/* Returns whether a grace period has to be waited for. */
static bool begin_wait(void)
{
	guard(mutex)(&kprobe_mutex);

	write_breakpoints();
	write_single_jumps();
	list_splice_tail_init(&queued, &waiting);
	text_write_chunks(&waiting, arch_guard_kprobes);

	return !list_empty(&waiting);
}

static void end_wait(void)
{
	guard(mutex)(&kprobe_mutex);
	write_jumps(&waiting);

	/* A point that was queued in the meantime needs a grace period of its own. */
	if (!list_empty(&queued))
		queue_delayed_work(system_unbound_wq, &optimizer, OPTIMIZE_DELAY);
}

static void optimize_work(struct work_struct *work)
{
	optimize_prepare_queued();
	if (!begin_wait())
		return;

	/* A task that the grace period waits for may be blocked on kprobe_mutex. */
	lockdep_assert_not_held(&kprobe_mutex);
	synchronize_rcu_tasks();
	end_wait();
}

/* Describe the first obstacle to a jump. */
void optimize_explain(struct kprobe_point *point, char *buf, size_t size)
{
	struct kprobe_point *inner;

	lockdep_assert_held(&kprobe_mutex);

	if (kprobe_ftrace(&point->op.kp)) {
		strscpy(buf, "ftrace site", size);
	} else if (point->post && !optimize_calls_post(point)) {
		strscpy(buf, "post_handler", size);
	} else if (!knob) {
		strscpy(buf, "knob off", size);
	} else if (!optimize_has_detour(point)) {
		if (point->detour != DETOUR_UNTRIED)
			arch_explain_optimized_kprobe(&point->op, buf, size);
		else
			strscpy(buf, "not tried yet", size);
	} else {
		inner = optimize_inner(point);
		if (inner)
			scnprintf(buf, size, "neighbour at +%lu",
				  point_addr(inner) - point_addr(point));
		else
			strscpy(buf, "-", size);
	}
}

static bool optimizer_idle(void)
{
	guard(mutex)(&kprobe_mutex);

	return list_empty(&candidates) && list_empty(&queued) && list_empty(&waiting) &&
	       list_empty(&reverting);
}

/**
 * wait_for_kprobe_optimizer() - wait until no probe is on its way to a jump or back
 *
 * Context: Process context, may sleep for several RCU-tasks grace periods.
 */
void wait_for_kprobe_optimizer(void)
{
	while (!optimizer_idle()) {
		mod_delayed_work(system_unbound_wq, &optimizer, 0);
		flush_delayed_work(&optimizer);
	}
}

/* Handle a write to the sysctl. */
void optimize_set_knob(bool on)
{
	int ret;

	scoped_guard(mutex, &kprobe_mutex) {
		if (on == knob)
			return;
		knob = on;
		ret = points_reconcile_all();
	}
	pr_info("jump optimization %s\n", on ? "allowed" : "forbidden");
	/* Points that failed to arm before were tried again. */
	if (ret)
		pr_warn("not every probe could be armed: %d\n", ret);

	/* No jump is left when the write returns. */
	if (!on)
		wait_for_kprobe_optimizer();
}

static int knob_handler(const struct ctl_table *table, int write, void *buffer, size_t *lenp,
			loff_t *ppos)
{
	struct ctl_table copy = *table;
	int ret, value = READ_ONCE(knob);

	copy.data = &value;
	ret = proc_dointvec_minmax(&copy, write, buffer, lenp, ppos);
	if (ret || !write)
		return ret;

	optimize_set_knob(value);
	return 0;
}

static struct ctl_table optimize_sysctls[] = {
	{
		.procname = "kprobes-optimization",
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = knob_handler,
		.extra1 = SYSCTL_ZERO,
		.extra2 = SYSCTL_ONE,
	},
};

/* RCU-tasks grace periods work from core_initcall() on. */
static int __init optimize_start(void)
{
	register_sysctl_init("debug", optimize_sysctls);

	guard(mutex)(&kprobe_mutex);
	ready = true;

	return points_reconcile_all();
}
subsys_initcall(optimize_start);
