// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text follows: what a point wants of its text, and the steps that get it there.
 */
#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/sched.h>

#include "arm.h"
#include "ftrace.h"
#include "optimize.h"
#include "point.h"
#include "reconcile.h"
#include "state.h"
#include "table.h"

/* Debugfs "enabled" is 0. */
static bool all_off;

void point_queue(struct kprobe_point *point, struct list_head *work)
{
	if (list_empty(&point->op.kp.list))
		list_add_tail(&point->op.kp.list, work);
}

static bool point_ignores_all_off(struct kprobe_point *point)
{
	/* Some look at the text. */
	return IS_ENABLED(CONFIG_KRETPROBES) && point->state != POINT_GONE &&
	       arch_trampoline_kprobe(&point->op.kp);
}

static struct point_inputs point_inputs(struct kprobe_point *point)
{
	return (struct point_inputs){
		.enabled = point->enabled,
		.post = optimize_calls_post(point) ? 0 : point->post,
		.all_off = all_off && !point_ignores_all_off(point),
		.may_jump = optimize_allowed(),
		.detour = optimize_has_detour(point),
	};
}

/* Does the point want other text at its address than the original? */
bool point_wants_text(struct kprobe_point *point)
{
	struct point_inputs in = point_inputs(point);

	return point_wants(&in) != POINT_PLAIN;
}

static enum point_text point_wanted(struct kprobe_point *point)
{
	struct point_inputs in = point_inputs(point);
	enum point_text wanted = point_wants(&in);

	/* Whether somebody is in the way of a jump takes a search. */
	if (wanted == POINT_JUMP || wanted == POINT_BREAK_LATER) {
		in.blocked = optimize_blocked(point);
		wanted = point_wants(&in);
	}

	return wanted;
}

/* Would the point be reached by a jump if it had a detour? */
bool point_wants_detour(struct kprobe_point *point)
{
	struct point_inputs in = point_inputs(point);

	in.detour = true;

	return point->state == POINT_ARMED && !kprobe_ftrace(&point->op.kp) &&
	       !point->detour_tried && point_wants(&in) == POINT_JUMP;
}

static enum point_state point_next_state(struct kprobe_point *point)
{
	return point_next(point->state, point_wanted(point));
}

static void points_set_state(struct list_head *kps, enum point_state state)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		point_set_state(point_of(p), state);
}

/* Steps that only the optimizer's worker takes, a grace period later. */
static bool step_is_deferred(enum point_state state, enum point_text wanted)
{
	return (state == POINT_OPTIMIZING && wanted == POINT_JUMP) ||
	       (state == POINT_UNOPTIMIZING && wanted == POINT_BREAK_LATER);
}

static bool point_loses_jump(struct kprobe_point *point)
{
	enum point_text wanted = point_wanted(point);

	return point_has_jump(point) && !step_is_deferred(point->state, wanted) &&
	       point_next(point->state, wanted) == POINT_ARMED;
}

static bool point_is_armed(struct kprobe_point *point)
{
	return point->state == POINT_ARMED;
}

static bool point_has_site(struct kprobe_point *point)
{
	return point_is_armed(point) && kprobe_ftrace(&point->op.kp);
}

static bool point_is_to_disarm(struct kprobe_point *point)
{
	return point->state == POINT_ARMED && point_next_state(point) == POINT_DISARMED;
}

static bool point_is_to_arm(struct kprobe_point *point)
{
	return point->state == POINT_DISARMED && point_next_state(point) == POINT_ARMED;
}

/* Move those points of @work to @some for which @is_one answers true. */
static void points_pick(struct list_head *work, bool (*is_one)(struct kprobe_point *point),
			struct list_head *some)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, work, list) {
		if (is_one(point_of(p)))
			list_move_tail(&p->list, some);
	}
}

/* Breakpoints for the jumps, had or planned, of some of the points in @work. */
static void points_drop_jumps(struct list_head *work, bool (*is_one)(struct kprobe_point *point))
{
	LIST_HEAD(some);

	points_pick(work, is_one, &some);
	optimize_cancel(&some);
	points_set_state(&some, POINT_ARMED);
	list_splice_tail(&some, work);
}

/* The original text for the breakpoints, or sites, of some of the points in @work. */
static void points_drop_breakpoints(struct list_head *work,
				    bool (*is_one)(struct kprobe_point *point))
{
	LIST_HEAD(some);

	points_pick(work, is_one, &some);
	disarm_points(&some);
	points_set_state(&some, POINT_DISARMED);
	list_splice_tail(&some, work);
}

/* A site that is held for more than its point wants may stay so: no memory to move it. */
static int points_retarget(struct list_head *work)
{
	struct kprobe *p;
	int ret = 0, err;

	list_for_each_entry(p, work, list) {
		struct kprobe_point *point = point_of(p);

		if (!ftrace_point_misplaced(point) || point_next_state(point) != POINT_ARMED)
			continue;
		err = ftrace_retarget_point(point);
		if (point->post)
			ret = ret ?: err;
	}

	return ret;
}

/* Text as it is can stay, but may become something better. */
static void point_reconsider(struct kprobe_point *point)
{
	enum point_text wanted = point_wanted(point);
	enum point_state next = point_next(point->state, wanted);

	if (next == point->state || step_is_deferred(point->state, wanted)) {
		if (point_wants_detour(point))
			optimize_queue(point);
		return;
	}

	/* An OPTIMIZING, an UNOPTIMIZING, or one that is OPTIMIZED still. */
	point_set_state(point, next);
	if (next == POINT_OPTIMIZED)
		optimize_forget(point);
	else
		optimize_queue(point);
}

/*
 * Make the text of all points in @work what their inputs ask for, in as few
 * rounds of patching as there can be. The points stay in @work, and those whose
 * jump covers one of them join it.
 *
 * Only taking an ftrace site can fail. Then no point has been armed; who changed
 * the inputs changes them back and calls again.
 */
int points_reconcile(struct list_head *work)
{
	LIST_HEAD(some);
	struct kprobe *p;
	int ret;

	lockdep_assert_held(&kprobe_mutex);

	optimize_add_outer(work);
	ret = points_retarget(work);

	/* A jump goes before a breakpoint comes into what it covers. */
	points_drop_jumps(work, point_loses_jump);
	points_drop_breakpoints(work, point_is_to_disarm);

	points_pick(work, point_is_to_arm, &some);
	ret = ret ?: arm_points(&some);
	if (!ret)
		points_set_state(&some, POINT_ARMED);
	list_splice_tail(&some, work);

	if (!ret) {
		list_for_each_entry(p, work, list)
			point_reconsider(point_of(p));
	}

	return ret;
}

/* Does the point ask ftrace for what somebody else may have? */
static bool point_may_be_refused(struct kprobe_point *point)
{
	return kprobe_ftrace(&point->op.kp) && point->post;
}

static void points_reconcile_each(struct list_head *work)
{
	struct kprobe *p, *next;
	LIST_HEAD(done);
	LIST_HEAD(one);

	list_for_each_entry_safe(p, next, work, list) {
		list_move(&p->list, &one);
		points_reconcile(&one);
		list_splice_tail_init(&one, &done);
		cond_resched();
	}
	list_splice(&done, work);
}

/*
 * The same for inputs that nobody changes back: a point that cannot be armed holds
 * up no other, and stays as it is until it is reconciled the next time. Returns the
 * first error.
 */
int points_reconcile_most(struct list_head *work)
{
	LIST_HEAD(some);
	int ret;

	ret = points_reconcile(work);
	if (!ret)
		return 0;

	points_pick(work, point_may_be_refused, &some);
	if (points_reconcile(work))
		points_reconcile_each(work);
	points_reconcile_each(&some);
	list_splice_tail(&some, work);

	return ret;
}

/* Empty @work: points without members go to @dead, the others live on. */
void points_bury(struct list_head *work, struct list_head *dead)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, work, list) {
		struct kprobe_point *point = point_of(p);

		list_del_init(&p->list);
		if (!list_empty(&point->members))
			continue;
		table_del(point);
		optimize_forget(point);
		point_set_state(point, POINT_DEAD);
		list_add_tail(&p->list, dead);
	}
}

/* Called a grace period after points_bury(), with no lock held. */
void points_free(struct list_head *dead)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, dead, list) {
		struct kprobe_point *point = point_of(p);

		if (kprobe_ftrace(p)) {
			point_free(point);
			continue;
		}
		arch_remove_kprobe(p);
		if (optimize_has_detour(point)) {
			optimize_remove(point);
			point_free_with_detour(point);
		} else {
			point_free(point);
		}
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
 * The text in [start, end) is about to be freed. While it can be written, which is
 * until somebody may run it for the last time, it becomes what it was: a hit would
 * find no point. ftrace is to be told at any rate.
 */
void points_forget_text(unsigned long start, unsigned long end, bool can_write)
{
	struct text_range range = {
		.start = start,
		.end = end,
		.points = LIST_HEAD_INIT(range.points),
	};
	struct kprobe *p, *next;

	lockdep_assert_held(&kprobe_mutex);

	points_for_each(collect_in_range, &range);
	if (can_write)
		points_drop_jumps(&range.points, point_has_jump);
	points_drop_breakpoints(&range.points, can_write ? point_is_armed : point_has_site);

	list_for_each_entry_safe(p, next, &range.points, list) {
		list_del_init(&p->list);
		table_set_gone(point_of(p));
		optimize_forget(point_of(p));
		point_set_state(point_of(p), POINT_GONE);
	}
}

bool points_all_off(void)
{
	return all_off;
}

static int queue_point(struct kprobe_point *point, void *work)
{
	point_queue(point, work);

	return 0;
}

/* One of the switches that all points obey has changed. */
int points_reconcile_all(void)
{
	LIST_HEAD(nothing_dies);
	LIST_HEAD(work);
	int ret;

	points_for_each(queue_point, &work);
	ret = points_reconcile_most(&work);
	points_bury(&work, &nothing_dies);

	return ret;
}

/* Disarm every point whatever its members want, or let them have it again. */
int points_set_all_off(bool off)
{
	lockdep_assert_held(&kprobe_mutex);

	all_off = off;

	return points_reconcile_all();
}
