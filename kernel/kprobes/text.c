// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the text follow members and switches: which steps lead from the text that a point has
 * to the one that it wants, and the writing of breakpoints and jumps, many in one round.
 */
#include <linux/memory.h>

#include "internal.h"

/*
 * Writing and removing breakpoints, many in one round of text patching. Points on ftrace
 * sites go to ftrace instead, in a round of its own.
 *
 * The weak functions serve architectures that do not write text in batches.
 */

/**
 * arch_finish_prepare_kprobes() - all probes of a batch have been prepared
 *
 * An architecture may collect what arch_prepare_kprobe() and
 * arch_prepare_optimized_kprobe() have to write, and write it here for many probes at
 * once.
 *
 * Context: Process context, with the locks held that were held for preparing.
 */
void __weak arch_finish_prepare_kprobes(void)
{
}

#ifndef ARCH_KPROBES_NATIVE
/**
 * arch_arm_kprobes() - write the breakpoints of several probes
 * @kps: struct kprobe, linked by their list
 *
 * An architecture that can synchronise its CPUs once for all of them overrides
 * this. One that defines ARCH_KPROBES_NATIVE must define it: it has no default there.
 *
 * Context: Process context, cpus_read_lock() and text_mutex held.
 */
void __weak arch_arm_kprobes(struct list_head *kps)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		arch_arm_kprobe(p);
}

/**
 * arch_disarm_kprobes() - write the original instructions of several probes
 * @kps: struct kprobe, linked by their list
 *
 * Context: Process context, cpus_read_lock() and text_mutex held.
 */
void __weak arch_disarm_kprobes(struct list_head *kps)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		arch_disarm_kprobe(p);
}
#endif

/*
 * Maximum number of points whose text is written in one round. Each round synchronises all
 * CPUs, and some architectures stop them for as long as it takes.
 */
#define WRITE_CHUNK	256

static void text_write(struct list_head *items, void (*write)(struct list_head *items))
{
	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);

	write(items);
}

/*
 * Call @write with some of @items at a time, under the locks for writing text. @write may
 * take items off the list that it gets, and off @items; the others stay there, in their order.
 */
static void text_write_chunks(struct list_head *items, void (*write)(struct list_head *items))
{
	struct list_head *last;
	LIST_HEAD(written);
	LIST_HEAD(chunk);
	unsigned int nr;

	if (list_empty(items))
		return;

	for (;;) {
		last = items->next;
		for (nr = 1; nr < WRITE_CHUNK && !list_is_last(last, items); nr++)
			last = last->next;
		/* Nothing has to be moved for the last chunk, which mostly is the only one. */
		if (list_is_last(last, items))
			break;
		list_cut_position(&chunk, items, last);
		text_write(&chunk, write);
		list_splice_tail_init(&chunk, &written);
		cond_resched();
	}
	text_write(items, write);
	list_splice(&written, items);
}

static void points_set_state(struct list_head *kps, enum point_state state)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		kprobe_point_set_state(point_of(p), state);
}

/* Empty a list of points, or of optimized probes. */
void kprobe_list_unlink(struct list_head *list)
{
	while (!list_empty(list))
		list_del_init(list->next);
}

#ifdef CONFIG_OPTPROBES
/*
 * Points on their way to a jump, and the text that is written there and back.
 *
 * A point is on at most one of the lists below or on optimize_postponed, linked by its
 * op.list. kprobe_mutex protects the lists, and the numbers of grace periods. The worker
 * keeps no list of its own while it holds no lock, so taking a point off its list is enough
 * to stop it.
 *
 * Points that share a jump change their state together. Their detours are chained before
 * the region is fenced. Chaining changes code in a detour, so no task may be in it: after
 * a jump is removed, its detours may be in use for another grace period.
 */

/*
 * ARMED, to be tried for a detour, or to take over the jump of a neighbour; or OPTIMIZED, to lose
 * the jump if all its probes are still disabled.
 */
static LIST_HEAD(candidates);

/* OPTIMIZING, until a grace period begins and no task is in their detours. */
static LIST_HEAD(queued);

/* On their way from there to @fenced, within kprobe_jumps_begin(). */
static LIST_HEAD(chained);

/* FENCED, while a grace period is under way. */
static LIST_HEAD(fenced);

/* Runs after a point has been queued. optimize.c sets it up before a point may want a jump. */
struct delayed_work kprobe_optimizer;

/* Numbers of the grace period that began last, and of the last one that has ended. */
static unsigned int grace_begun;
static unsigned int grace_over;

/* Delay of the worker, so that one grace period serves many points. */
#define OPTIMIZE_DELAY	2	/* jiffies */

/**
 * arch_fence_kprobes() - keep CPUs out of text that a jump will cover
 * @oplist: struct optimized_kprobe, linked by their list, whose jumps are planned
 *
 * A grace period follows, and then arch_optimize_kprobes(). From the start of the grace
 * period no task may enter the middle of the instructions that the jump replaces, neither
 * from a copy of an instruction nor by a branch or a call. Not called for jumps for which
 * arch_jump_needs_no_fence() is true.
 *
 * Context: Process context, cpus_read_lock() and text_mutex held.
 */
void __weak arch_fence_kprobes(struct list_head *oplist)
{
}

/**
 * arch_unfence_kprobes() - undo arch_fence_kprobes()
 * @oplist: struct optimized_kprobe, fenced or not
 *
 * Context: Process context, cpus_read_lock() and text_mutex held.
 */
void __weak arch_unfence_kprobes(struct list_head *oplist)
{
}

/**
 * arch_chain_detour() - set the detour in which a detour continues
 * @op: a probe with a prepared detour, and no jump
 * @owner: whose jump leads to it: @op itself, or a probe before it
 * @next: the next probe after @op that this jump covers, or NULL
 * @post: the jump has to lead to code that calls post_handlers
 * @unused: no task is in the detour, so it may be changed
 *
 * Called before each arch_fence_kprobes(), first for the owner.
 *
 * Context: Process context, cpus_read_lock() and text_mutex held.
 * Return: false if the detour has to be changed but must not be.
 */
bool __weak arch_chain_detour(struct optimized_kprobe *op, struct optimized_kprobe *owner,
			      struct optimized_kprobe *next, bool post, bool unused)
{
	return true;
}

static void jumps_kick_worker(void)
{
	queue_delayed_work(system_dfl_wq, &kprobe_optimizer, OPTIMIZE_DELAY);
}

/* Return the first point for which the worker has to decide, or NULL. */
struct kprobe_point *kprobe_jump_candidate(void)
{
	return list_first_entry_or_null(&candidates, struct kprobe_point, op.list);
}

/* Put @point on the list of its state. */
void kprobe_jump_queue(struct kprobe_point *point)
{
	lockdep_assert_held(&kprobe_mutex);

	list_move_tail(&point->op.list, point->state == POINT_OPTIMIZING ? &queued : &candidates);
	jumps_kick_worker();
}

static void jump_forget(struct kprobe_point *point)
{
	list_del_init(&point->op.list);
}

/* Replace the jumps of @ops by breakpoints, and empty the list. */
static void jumps_remove(struct list_head *ops)
{
	LIST_HEAD(done);

	arch_unoptimize_kprobes(ops, &done);
	kprobe_list_unlink(&done);
}

static void jumps_unfence(struct list_head *ops)
{
	arch_unfence_kprobes(ops);
	kprobe_list_unlink(ops);
}

/* Is no task in the detour of @point, unless a jump leads there now? */
bool kprobe_detour_is_idle(const struct kprobe_point *point)
{
	return (int)(grace_over - point->quiet_after) >= 0;
}

/*
 * Wait until no task is in a detour to which no jump leads by now. It may take as long as a task
 * computes, and others want the mutex.
 */
void kprobe_wait_for_detours(void)
{
	unsigned int nr;

	lockdep_assert_not_held(&kprobe_mutex);
	scoped_guard(mutex, &kprobe_mutex)
		nr = ++grace_begun;
	synchronize_rcu_tasks();

	guard(mutex)(&kprobe_mutex);
	/* One that began later may have ended before. */
	if ((int)(nr - grace_over) > 0)
		grace_over = nr;
}

/*
 * Replace jumps by breakpoints, and cancel pending jumps. A point that shares a jump has
 * none of its own to replace: hits reach its detour until the owner's jump is gone.
 */
static void points_drop_jumps(struct list_head *kps)
{
	struct kprobe *p;
	LIST_HEAD(jumps);
	LIST_HEAD(plans);

	lockdep_assert_held(&kprobe_mutex);

	list_for_each_entry(p, kps, list) {
		struct kprobe_point *point = point_of(p);
		bool planned = point->state == POINT_OPTIMIZING ||
			       point->state == POINT_FENCED || point->owner;

		/* In @plans owners come first: their fences lead to the detours of the others. */
		if (planned && !point->owner)
			list_move(&point->op.list, &plans);
		else
			list_move_tail(&point->op.list, planned ? &plans : &jumps);
		/* New hits do not enter the detour any more, but tasks may still be in it. */
		point->quiet_after = grace_begun + 1;
	}
	text_write_chunks(&jumps, jumps_remove);
	text_write_chunks(&plans, jumps_unfence);
	points_set_state(kps, POINT_ARMED);
}

/*
 * Replace the breakpoints of @ops by jumps, and empty the list. The kernel's own ports empty it
 * themselves, so link the points.
 */
static void jumps_write(struct list_head *ops)
{
	struct optimized_kprobe *op;
	LIST_HEAD(points);

	list_for_each_entry(op, ops, list)
		point_queue(container_of(op, struct kprobe_point, op), &points);
	text_write_chunks(ops, arch_optimize_kprobes);
	kprobe_list_unlink(ops);
	points_set_state(&points, POINT_OPTIMIZED);
	kprobe_list_unlink(&points);
}

/* Return false if a task may be in one of the detours that have to be changed. */
static bool jumps_chain_sharing(struct kprobe_point *owner)
{
	struct kprobe_point *point, *next;
	bool done = true;

	for (point = owner; point; point = next) {
		next = kprobe_jump_next_sharer(owner, point);
		if (!arch_chain_detour(&point->op, &owner->op, next ? &next->op : NULL,
				       point->calls_post, kprobe_detour_is_idle(point)))
			done = false;
	}

	return done;
}

/*
 * Chain the detours of @ops and of points that share their jumps, and move them to @chained.
 * They are fenced in that order, in chunks: the owner last, because from then on hits reach
 * the detours of all others.
 */
static void jumps_chain(struct list_head *ops)
{
	struct kprobe_point *point, *owner;
	LIST_HEAD(group);
	LIST_HEAD(later);
	bool done;

	while (!list_empty(ops)) {
		point = list_first_entry(ops, struct kprobe_point, op.list);
		owner = point->owner ?: point;
		done = jumps_chain_sharing(owner);
		for (point = owner; point; point = kprobe_jump_next_sharer(owner, point))
			list_move(&point->op.list, &group);
		list_splice_tail_init(&group, done ? &chained : &later);
	}
	list_splice(&later, ops);
	arch_finish_prepare_kprobes();
}

/*
 * Write the queued jumps that need no grace period, and fence the regions of the others.
 * Return whether kprobe_jumps_end() has to be called, after kprobe_wait_for_detours().
 */
bool kprobe_jumps_begin(void)
{
	struct optimized_kprobe *op, *next;
	LIST_HEAD(single);

	lockdep_assert_held(&kprobe_mutex);

	list_for_each_entry_safe(op, next, &queued, list) {
		if (arch_jump_needs_no_fence(&op->optinsn))
			list_move_tail(&op->list, &single);
	}
	jumps_write(&single);

	text_write_chunks(&queued, jumps_chain);
	text_write_chunks(&chained, arch_fence_kprobes);
	list_for_each_entry(op, &chained, list)
		kprobe_point_set_state(container_of(op, struct kprobe_point, op), POINT_FENCED);
	list_splice_tail_init(&chained, &fenced);

	return !list_empty(&fenced) || !list_empty(&queued);
}

/* Called a grace period after kprobe_jumps_begin(). */
void kprobe_jumps_end(void)
{
	lockdep_assert_held(&kprobe_mutex);

	jumps_write(&fenced);

	/*
	 * A point that was queued meanwhile, or whose detour was still in use, needs
	 * another grace period.
	 */
	if (!list_empty(&queued))
		jumps_kick_worker();
}

bool kprobe_jumps_idle(void)
{
	guard(mutex)(&kprobe_mutex);

	return list_empty(&candidates) && list_empty(&queued) && list_empty(&fenced);
}
#else
static void jump_forget(struct kprobe_point *point) { }
static void points_drop_jumps(struct list_head *kps) { }
#endif /* CONFIG_OPTPROBES */

/* Would the point get a jump if it had a detour? */
bool kprobe_point_wants_detour(struct kprobe_point *point)
{
	return point->state == POINT_ARMED && !kprobe_ftrace(&point->op.kp) &&
	       point->detour == DETOUR_UNTRIED && kprobe_point_wants_jump(point);
}

/* The next step from the text that a point has to the text that it wants. */
enum text_step {
	STEP_NONE,
	STEP_RESERVATION,	/* reserve the ftrace site, or end that */
	STEP_DROP_JUMP,
	STEP_LEAVE_SITE,	/* of ftrace */
	STEP_DISARM,
	STEP_TAKE_SITE,
	STEP_ARM,
	NR_STEPS
};

/* Only a jump needs the search for neighbours. @forget: the text is about to be freed. */
static enum text_step point_next_step(struct kprobe_point *point, bool forget)
{
	bool wants_text = !forget && kprobe_point_wants_text(point);
	bool on_site = IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) && kprobe_ftrace(&point->op.kp);

	if (IS_ENABLED(CONFIG_OPTPROBES) && point_in_jump_state(point))
		return forget || !kprobe_point_gets_jump(point) ||
		       kprobe_point_is_taken_over(point) ? STEP_DROP_JUMP : STEP_NONE;
	if (on_site && wants_text && kprobe_ftrace_reservation_is_wrong(point))
		return STEP_RESERVATION;
	if (point->state == POINT_ARMED && !wants_text)
		return on_site ? STEP_LEAVE_SITE : STEP_DISARM;
	if (point->state == POINT_DISARMED && wants_text)
		return on_site ? STEP_TAKE_SITE : STEP_ARM;

	return STEP_NONE;
}

/* The breakpoint that the point needs is in place: queue what the worker has to do. */
static void point_reconsider(struct kprobe_point *point)
{
	struct kprobe_point *other = point;

	if (!IS_ENABLED(CONFIG_OPTPROBES) || point->state != POINT_ARMED)
		return;
	if (kprobe_point_gets_jump(point)) {
		/*
		 * The points that the jump covers become OPTIMIZING with it. Where
		 * arch_chain_detour() does not tell a detour whether there are post_handlers, the
		 * detour always looks for them.
		 */
		do {
			other->calls_post = point_detour_calls_post(other) &&
				(other->post || !__is_defined(ARCH_DETOURS_ARE_TOLD_OF_POST));
			kprobe_point_set_state(other, POINT_OPTIMIZING);
			kprobe_jump_queue(other);
			other = kprobe_jump_add_sharer(point, other);
		} while (other);
	} else if (kprobe_point_wants_detour(point) || kprobe_point_can_take_over(point)) {
		kprobe_jump_queue(point);
	}
}

/* Points by their next step, for points_take_steps(), under kprobe_mutex. */
static struct list_head todo[NR_STEPS];

/* Move each point in @work that has a next step to the list of that. Return a bit for each list. */
static unsigned int points_deal(struct list_head *work, bool forget)
{
	struct kprobe *p, *next;
	unsigned int steps = 0;
	enum text_step step;

	list_for_each_entry_safe(p, next, work, list) {
		step = point_next_step(point_of(p), forget);
		if (step == STEP_NONE)
			continue;
		if (!(steps & BIT(step)))
			INIT_LIST_HEAD(&todo[step]);
		steps |= BIT(step);
		list_move_tail(&p->list, &todo[step]);
	}

	return steps;
}

/* Move all points back to @work. */
static void points_collect(unsigned int steps, struct list_head *work)
{
	for (; steps; steps &= steps - 1)
		list_splice_tail(&todo[__ffs(steps)], work);
}

/*
 * Take all steps that the points in @work have before them, each for many points at once.
 * @again: add to @work again when jumps have been dropped, see kprobe_points_add_outer()
 * @forget: the text is about to be freed
 */
static int points_take_steps(struct list_head *work, bool again, bool forget)
{
	const bool sites = IS_ENABLED(CONFIG_KPROBES_ON_FTRACE);
	unsigned int steps;
	int ret = 0, error;

	lockdep_assert_held(&kprobe_mutex);

	for (;;) {
		steps = points_deal(work, forget);
		if (sites && steps & BIT(STEP_RESERVATION))
			ret = kprobe_ftrace_change_reservations(&todo[STEP_RESERVATION]);
		/* Remove a jump before a breakpoint is written into its region. */
		if (!(steps & BIT(STEP_DROP_JUMP)))
			break;
		points_drop_jumps(&todo[STEP_DROP_JUMP]);
		points_collect(steps, work);
		if (again)
			kprobe_points_add_outer(work);
	}
	if (sites && steps & BIT(STEP_LEAVE_SITE)) {
		kprobe_ftrace_disarm_points(&todo[STEP_LEAVE_SITE]);
		points_set_state(&todo[STEP_LEAVE_SITE], POINT_DISARMED);
	}
	if (steps & BIT(STEP_DISARM)) {
		text_write_chunks(&todo[STEP_DISARM], arch_disarm_kprobes);
		points_set_state(&todo[STEP_DISARM], POINT_DISARMED);
	}
	if (sites && steps & BIT(STEP_TAKE_SITE)) {
		error = kprobe_ftrace_arm_points(&todo[STEP_TAKE_SITE], work);
		ret = ret ?: error;
		points_set_state(&todo[STEP_TAKE_SITE], POINT_ARMED);
	}
	if (steps & BIT(STEP_ARM)) {
		text_write_chunks(&todo[STEP_ARM], arch_arm_kprobes);
		points_set_state(&todo[STEP_ARM], POINT_ARMED);
	}
	points_collect(steps, work);

	return ret;
}

/*
 * Give all points in @work the text that members and switches ask for, in as few rounds of
 * patching as possible. The points stay in @work, and points whose jump covers one of
 * them join it.
 *
 * Only ftrace can refuse. Then the other points have their text all the same, and the result is
 * the first error; the next call for a point that is not armed tries again.
 */
int kprobe_points_reconcile(struct list_head *work)
{
	bool again = IS_ENABLED(CONFIG_OPTPROBES) && kprobe_points_add_outer(work);
	int ret = points_take_steps(work, again, false);
	struct kprobe *p;

	list_for_each_entry(p, work, list)
		point_reconsider(point_of(p));

	return ret;
}

/* Empty @work, and move the points without members to @dead. */
void kprobe_points_finish(struct list_head *work, struct list_head *dead)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, work, list) {
		struct kprobe_point *point = point_of(p);

		list_del_init(&p->list);
		if (!list_empty(&point->members))
			continue;
		kprobe_table_del(point);
		jump_forget(point);
		kprobe_point_set_state(point, POINT_DEAD);
		list_add_tail(&p->list, dead);
	}
}

struct text_range {
	unsigned long start;
	unsigned long end;
	struct list_head points;
};

static int collect_in_range(struct kprobe_point *point, void *data)
{
	struct text_range *range = data;
	unsigned long addr = point_addr(point);

	if (addr >= range->start && addr < range->end && point->state != POINT_GONE)
		point_queue(point, &range->points);

	return 0;
}

/*
 * The text in [start, end) is about to be freed. Restore it, because a late hit would find
 * no point.
 */
void kprobe_points_forget_text(unsigned long start, unsigned long end)
{
	struct text_range range = {
		.start = start,
		.end = end,
		.points = LIST_HEAD_INIT(range.points),
	};
	struct kprobe *p, *next;

	kprobe_points_for_each(collect_in_range, &range);
	points_take_steps(&range.points, false, true);

	list_for_each_entry_safe(p, next, &range.points, list) {
		list_del_init(&p->list);
		kprobe_table_set_gone(point_of(p));
		jump_forget(point_of(p));
		kprobe_point_set_state(point_of(p), POINT_GONE);
	}
}

/**
 * kprobe_keeps_text() - do probes control the text at an address?
 * @addr: an address of kernel text
 *
 * Code that writes text without taking part in kprobes' locking, such as a debugger while
 * all other CPUs are stopped, must not write there if so: its change or the probe's would
 * be lost.
 *
 * Context: Any that allows RCU readers, including a debugger that has stopped the kernel.
 * Return: true when a probe is there, armed or not, or when a jump covers the address.
 */
bool kprobe_keeps_text(unsigned long addr)
{
	return get_kprobe((void *)addr) ||
	       (IS_ENABLED(CONFIG_OPTPROBES) && kprobe_points_cover(addr));
}

static int queue_point(struct kprobe_point *point, void *work)
{
	point_queue(point, work);

	return 0;
}

/* Reconcile every point after a global switch has changed. */
int kprobe_points_reconcile_all(void)
{
	LIST_HEAD(work);
	int ret;

	kprobe_points_for_each(queue_point, &work);
	kprobe_points_sort(&work);
	ret = kprobe_points_reconcile(&work);
	kprobe_list_unlink(&work);

	return ret;
}
