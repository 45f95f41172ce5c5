// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points on their way to a jump, and the text that is written there and back.
 *
 * A point is on at most one of the lists below, linked by its op.list. The worker keeps
 * no list of its own while it holds no lock, so taking a point off its list is enough to
 * stop it. Only reconcile.c sets states: functions that write text hand it the points.
 *
 * Points that share a jump change their state together. Their detours are chained before
 * the region is fenced. Chaining changes code in a detour, so no task may be in it: after
 * a jump is removed, its detours may be in use for another grace period.
 */
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/list.h>
#include <linux/workqueue.h>

#include "internal.h"

/* ARMED, to be tried for a detour, or to take over the jump of a neighbour. */
static LIST_HEAD(candidates);

/* OPTIMIZING, until a grace period begins and no task is in their detours. */
static LIST_HEAD(queued);

/* On their way from there to @fenced, within kprobe_jumps_fence(). */
static LIST_HEAD(chained);

/* FENCED, while a grace period is under way. */
static LIST_HEAD(fenced);

/* Runs after a point has been queued. optimize.c sets it up before a point may want a jump. */
struct delayed_work kprobe_optimizer;

/* Numbers of the grace period that began last, and of the one that ended last. */
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
 * arch_jump_is_single() is true.
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
 * @next: the next probe behind @op that this jump covers, or NULL
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

/* Return the first candidate for a detour or a shared jump, or NULL. */
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

void kprobe_jump_forget(struct kprobe_point *point)
{
	list_del_init(&point->op.list);
}

static void jumps_unlink(struct list_head *ops)
{
	struct optimized_kprobe *op, *next;

	list_for_each_entry_safe(op, next, ops, list)
		list_del_init(&op->list);
}

/* Replace the jumps of @ops by breakpoints, and empty the list. */
static void jumps_remove(struct list_head *ops)
{
	LIST_HEAD(done);

	arch_unoptimize_kprobes(ops, &done);
	jumps_unlink(&done);
}

static void jumps_unfence(struct list_head *ops)
{
	arch_unfence_kprobes(ops);
	jumps_unlink(ops);
}

/* New hits do not enter the detour any more, but tasks may still be in it. */
static void detour_note_removal(struct kprobe_point *point)
{
	point->quiet_after = grace_begun + 1;
}

/* Is no task in the detour of @point, unless a jump leads there now? */
bool kprobe_detour_is_idle(const struct kprobe_point *point)
{
	return (int)(grace_over - point->quiet_after) >= 0;
}

/*
 * Replace jumps by breakpoints, and cancel pending jumps. A point that shares a jump has
 * none of its own to replace: hits reach its detour until the owner's jump is gone.
 */
void kprobe_jumps_cancel(struct list_head *kps)
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
		detour_note_removal(point);
	}
	kprobe_text_write_chunks(&jumps, jumps_remove);
	kprobe_text_write_chunks(&plans, jumps_unfence);
}

/* The architecture empties @ops, so link the points in @points as well. */
static void jumps_list_points(struct list_head *ops, struct list_head *points)
{
	struct optimized_kprobe *op;

	list_for_each_entry(op, ops, list)
		point_queue(container_of(op, struct kprobe_point, op), points);
}

/* Replace the breakpoints of @ops by jumps, and move their points to @points. */
static void jumps_write(struct list_head *ops, struct list_head *points)
{
	jumps_list_points(ops, points);
	kprobe_text_write_chunks(ops, arch_optimize_kprobes);
}

/* Write the queued jumps that need no grace period, and move their points to @points. */
void kprobe_jumps_write_single(struct list_head *points)
{
	struct optimized_kprobe *op, *next;
	LIST_HEAD(single);

	lockdep_assert_held(&kprobe_mutex);

	list_for_each_entry_safe(op, next, &queued, list) {
		if (arch_jump_is_single(&op->optinsn))
			list_move_tail(&op->list, &single);
	}
	jumps_write(&single, points);
}

/* Return false if a task may be in one of the detours that have to be changed. */
static bool jumps_chain_sharing(struct kprobe_point *owner)
{
	struct kprobe_point *point, *next;
	bool done = true;

	for (point = owner; point; point = next) {
		next = kprobe_point_next_sharing(owner, point);
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
		for (point = owner; point; point = kprobe_point_next_sharing(owner, point))
			list_move(&point->op.list, &group);
		list_splice_tail_init(&group, done ? &chained : &later);
	}
	list_splice(&later, ops);
	arch_finish_prepare_kprobes();
}

/*
 * Fence the regions of the queued jumps, and add their points to @points. Return whether the
 * caller has to wait for a grace period.
 */
bool kprobe_jumps_fence(struct list_head *points)
{
	lockdep_assert_held(&kprobe_mutex);

	kprobe_text_write_chunks(&queued, jumps_chain);
	kprobe_text_write_chunks(&chained, arch_fence_kprobes);
	jumps_list_points(&chained, points);
	list_splice_tail_init(&chained, &fenced);
	if (list_empty(&fenced) && list_empty(&queued))
		return false;
	grace_begun++;

	return true;
}

/* A grace period after kprobe_jumps_fence(), write the jumps, and move their points to @points. */
void kprobe_jumps_write_fenced(struct list_head *points)
{
	lockdep_assert_held(&kprobe_mutex);

	grace_over = grace_begun;
	jumps_write(&fenced, points);

	/*
	 * A point that was queued meanwhile, or whose detour was still in use, needs
	 * another grace period.
	 */
	if (!list_empty(&queued))
		jumps_kick_worker();
}

bool kprobe_jumps_idle(void)
{
	lockdep_assert_held(&kprobe_mutex);

	return list_empty(&candidates) && list_empty(&queued) && list_empty(&fenced);
}
