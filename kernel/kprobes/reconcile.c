// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the text follow members and switches: which text a point needs, and the steps
 * that lead there.
 */
#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/sched.h>

#include "internal.h"

/* Can the point have the jump that it wants? Searches for neighbours only if it wants one. */
static bool point_gets_jump(struct kprobe_point *point)
{
	return point_has_detour(point) && kprobe_point_wants_jump(point) &&
	       !kprobe_point_is_blocked(point);
}

/* Would the point get a jump if it had a detour? */
bool kprobe_point_wants_detour(struct kprobe_point *point)
{
	return point->state == POINT_ARMED && !kprobe_ftrace(&point->op.kp) &&
	       point->detour == DETOUR_UNTRIED && kprobe_point_wants_jump(point);
}

static void points_set_state(struct list_head *kps, enum point_state state)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		kprobe_point_set_state(point_of(p), state);
}

/* Most points have no jump, and need no search for a neighbour. */
static bool point_loses_jump(struct kprobe_point *point)
{
	return point_in_jump_state(point) &&
	       (!point_gets_jump(point) || kprobe_point_is_taken_over(point));
}

static bool point_is_armed(struct kprobe_point *point)
{
	return point->state == POINT_ARMED;
}

/* Skip the search for neighbours: they decide only between breakpoint and jump. */
static bool point_is_to_disarm(struct kprobe_point *point)
{
	return point->state == POINT_ARMED && !kprobe_point_wants_text(point);
}

static bool point_is_to_arm(struct kprobe_point *point)
{
	return point->state == POINT_DISARMED && kprobe_point_wants_text(point);
}

static bool point_reservation_is_wrong(struct kprobe_point *point)
{
	return kprobe_ftrace_reservation_is_wrong(point) && kprobe_point_wants_text(point);
}

/* Move the points for which @is_one() is true from @work to @some. */
static void points_pick(struct list_head *work, bool (*is_one)(struct kprobe_point *point),
			struct list_head *some)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, work, list) {
		if (is_one(point_of(p)))
			list_move_tail(&p->list, some);
	}
}

/* Replace the jumps, written or pending, of selected points in @work by breakpoints. */
static void points_drop_jumps(struct list_head *work, bool (*is_one)(struct kprobe_point *point))
{
	LIST_HEAD(some);

	points_pick(work, is_one, &some);
	kprobe_jumps_cancel(&some);
	points_set_state(&some, POINT_ARMED);
	list_splice_tail(&some, work);
}

/* Disarm selected points in @work. */
static void points_drop_breakpoints(struct list_head *work,
				    bool (*is_one)(struct kprobe_point *point))
{
	LIST_HEAD(some);

	points_pick(work, is_one, &some);
	kprobe_disarm_points(&some);
	points_set_state(&some, POINT_DISARMED);
	list_splice_tail(&some, work);
}

/* The points that the jump of @owner covers become OPTIMIZING with it. */
static void point_share_jump(struct kprobe_point *owner)
{
	struct kprobe_point *point = owner;

	while ((point = kprobe_point_share_next(owner, point))) {
		kprobe_point_set_state(point, POINT_OPTIMIZING);
		kprobe_jump_queue(point);
	}
}

/* The breakpoint that the point needs is in place: queue what the worker has to do. */
static void point_reconsider(struct kprobe_point *point)
{
	if (point->state != POINT_ARMED)
		return;
	if (point_gets_jump(point)) {
		kprobe_point_set_state(point, POINT_OPTIMIZING);
		kprobe_jump_queue(point);
		point_share_jump(point);
	} else if (kprobe_point_wants_detour(point) || kprobe_point_can_take_over(point)) {
		kprobe_jump_queue(point);
	}
}

/*
 * Give all points in @work the text that their inputs ask for, in as few rounds of
 * patching as possible. The points stay in @work, and points whose jump covers one of
 * them join it.
 *
 * Only ftrace can refuse. Then the other points have their text all the same, and the result is
 * the first error; the next call for a point that is not armed tries again.
 */
int kprobe_points_reconcile(struct list_head *work)
{
	LIST_HEAD(refused);
	LIST_HEAD(some);
	struct kprobe *p;
	int ret, error;
	bool again;

	lockdep_assert_held(&kprobe_mutex);

	again = kprobe_points_add_outer(work);
	points_pick(work, point_reservation_is_wrong, &some);
	ret = kprobe_ftrace_change_reservations(&some);
	list_splice_tail_init(&some, work);

	/* Remove a jump before a breakpoint is written into its region. */
	points_drop_jumps(work, point_loses_jump);
	if (again)
		kprobe_points_add_outer(work);
	points_drop_breakpoints(work, point_is_to_disarm);

	points_pick(work, point_is_to_arm, &some);
	error = kprobe_arm_points(&some, &refused);
	points_set_state(&some, POINT_ARMED);
	list_splice_tail(&some, work);
	list_splice_tail(&refused, work);

	list_for_each_entry(p, work, list)
		point_reconsider(point_of(p));

	return ret ?: error;
}

/* Empty @work, and move the points without members to @dead, NULL if there are none. */
void kprobe_points_finish(struct list_head *work, struct list_head *dead)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, work, list) {
		struct kprobe_point *point = point_of(p);

		list_del_init(&p->list);
		if (!list_empty(&point->members) || WARN_ON_ONCE(!dead))
			continue;
		kprobe_table_del(point);
		kprobe_jump_forget(point);
		kprobe_point_set_state(point, POINT_DEAD);
		list_add_tail(&p->list, dead);
	}
}

/* Called a grace period after kprobe_points_finish(), with no lock held. */
void kprobe_points_free(struct list_head *dead)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, dead, list) {
		struct kprobe_point *point = point_of(p);

		if (kprobe_ftrace(p))
			kprobe_point_free(point);
		else
			kprobe_point_free_when_left(point);
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

	lockdep_assert_held(&kprobe_mutex);

	kprobe_points_for_each(collect_in_range, &range);
	points_drop_jumps(&range.points, point_in_jump_state);
	points_drop_breakpoints(&range.points, point_is_armed);

	list_for_each_entry_safe(p, next, &range.points, list) {
		list_del_init(&p->list);
		kprobe_table_set_gone(point_of(p));
		kprobe_jump_forget(point_of(p));
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
	return get_kprobe((void *)addr) || kprobe_points_cover(addr);
}

static int queue_point(struct kprobe_point *point, void *work)
{
	point_queue(point, work);

	return 0;
}

#ifdef CONFIG_OPTPROBES
/* Empty @points, whose text is now that of @state. */
static void points_finish_step(struct list_head *points, enum point_state state)
{
	struct kprobe *p, *next;

	points_set_state(points, state);
	list_for_each_entry_safe(p, next, points, list)
		list_del_init(&p->list);
}

/*
 * Write the queued jumps that need no grace period, and fence the regions of the others.
 * Return whether the caller has to wait for a grace period.
 */
bool kprobe_points_begin_jumps(void)
{
	LIST_HEAD(points);
	bool wait;

	lockdep_assert_held(&kprobe_mutex);

	kprobe_jumps_write_single(&points);
	points_finish_step(&points, POINT_OPTIMIZED);
	wait = kprobe_jumps_fence(&points);
	points_finish_step(&points, POINT_FENCED);

	return wait;
}

/* Called a grace period after kprobe_points_begin_jumps(). */
void kprobe_points_end_jumps(void)
{
	LIST_HEAD(points);

	lockdep_assert_held(&kprobe_mutex);

	kprobe_jumps_write_fenced(&points);
	points_finish_step(&points, POINT_OPTIMIZED);
}
#endif

/* Reconcile every point after a global switch has changed. */
int kprobe_points_reconcile_all(void)
{
	LIST_HEAD(work);
	int ret;

	kprobe_points_for_each(queue_point, &work);
	kprobe_points_sort(&work);
	ret = kprobe_points_reconcile(&work);
	kprobe_points_finish(&work, NULL);

	return ret;
}

/* Disarm every point regardless of its members, or end that. */
int kprobe_points_set_all_off(bool off)
{
	kprobe_want_all_off(off);

	return kprobe_points_reconcile_all();
}
