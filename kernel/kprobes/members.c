// SPDX-License-Identifier: GPL-2.0-only
/*
 * The members of a point: the users' probes at its address, and which of them a
 * hit calls.
 */
#include <linux/kprobes.h>
#include <linux/rculist.h>

#include "hit.h"
#include "members.h"
#include "optimize.h"
#include "point.h"
#include "return.h"
#include "return_pool.h"

bool point_has_member(const struct kprobe_point *point, const struct kprobe *kp)
{
	const struct kprobe *member;

	list_for_each_entry(member, &point->members, list) {
		if (member == kp)
			return true;
	}

	return false;
}

/* Account @kp as enabled (@delta 1) or disabled (@delta -1). */
static void point_count_member(struct kprobe_point *point, const struct kprobe *kp, int delta)
{
	point->enabled += delta;
	if (kp->post_handler)
		point->post += delta;

	if (point->post)
		WRITE_ONCE(point->op.kp.post_handler, hit_post_handler);
	else if (!POST_HANDLER_STAYS)
		WRITE_ONCE(point->op.kp.post_handler, NULL);
}

/* Let a hit call a single callee directly, without walking the list. */
static void point_update_callee(struct kprobe_point *point)
{
	struct hlist_node *first = point->callees.first, *end = &callees_end.hlist;
	struct kprobe *callee = &point->op.kp;

	if (first != end && first->next == end)
		callee = hlist_entry(first, struct kprobe, hlist);

	/*
	 * Publish only an initialised probe; pairs with the dependent load in
	 * hit_pre_handler().
	 */
	smp_store_release(&point->op.kp.callee, callee);
}

/* Find the last callee registered before @kp. */
static struct kprobe *point_callee_before(struct kprobe_point *point, struct kprobe *kp)
{
	list_for_each_entry_continue_reverse(kp, &point->members, list) {
		if (!hlist_unhashed(&kp->hlist))
			return kp;
	}

	return NULL;
}

/* Insert @kp among the callees in order of registration. */
static void point_add_callee(struct kprobe_point *point, struct kprobe *kp)
{
	struct kprobe *before = point_callee_before(point, kp);

	if (before)
		hlist_add_behind_rcu(&kp->hlist, &before->hlist);
	else
		hlist_add_head_rcu(&kp->hlist, &point->callees);
	point_update_callee(point);
}

/*
 * A detour that calls no post_handler must not call the pre_handler that belongs to
 * one either.
 */
static void point_include(struct kprobe_point *point, struct kprobe *kp)
{
	point_count_member(point, kp, 1);
	if (!kp->pre_handler)
		return;

	if (kp->post_handler && !optimize_calls_post(point) &&
	    (point->postponed || point_has_jump(point)))
		point->postponed = true;
	else
		point_add_callee(point, kp);
}

/* A grace period after the jump has gone, so that no hit is under way through it. */
void point_include_postponed(struct kprobe_point *point)
{
	struct kprobe *kp;

	if (!point->postponed)
		return;

	point->postponed = false;
	list_for_each_entry(kp, &point->members, list) {
		if (kp->pre_handler && hlist_unhashed(&kp->hlist) &&
		    !(kp->flags & KPROBE_FLAG_DISABLED))
			point_add_callee(point, kp);
	}
}

/*
 * hlist_del_init_rcu() leaves kp->hlist.next alone: a hit that is at @kp goes on from
 * there.
 */
static void point_exclude(struct kprobe_point *point, struct kprobe *kp)
{
	if (!hlist_unhashed(&kp->hlist)) {
		hlist_del_init_rcu(&kp->hlist);
		point_update_callee(point);
	}
	/* Only now: a member that is called must have its post_handler called as well. */
	point_count_member(point, kp, -1);
}

void point_add_member(struct kprobe_point *point, struct kprobe *kp)
{
	const u32 shared = KPROBE_FLAG_ON_FUNC_ENTRY | KPROBE_FLAG_FTRACE;

	kp->addr = point->op.kp.addr;
	kp->opcode = point->op.kp.opcode;
	kp->nmissed = 0;
	kp->flags = (kp->flags & KPROBE_FLAG_DISABLED) | (point->op.kp.flags & shared);
	INIT_HLIST_NODE(&kp->hlist);

	list_add_tail_rcu(&kp->list, &point->members);
	if (!kprobe_disabled(kp))
		point_include(point, kp);
}

/* A hit may still walk over @kp until an RCU grace period has passed. */
void point_del_member(struct kprobe_point *point, struct kprobe *kp)
{
	if (!(kp->flags & KPROBE_FLAG_DISABLED))
		point_exclude(point, kp);
	list_del_rcu(&kp->list);
	if (return_is_probe(kp))
		return_pool_retire(container_of(kp, struct kretprobe, kp));
}

/* Returns whether @kp changed. */
bool point_enable_member(struct kprobe_point *point, struct kprobe *kp, bool enable)
{
	if (enable != !!(kp->flags & KPROBE_FLAG_DISABLED))
		return false;

	WRITE_ONCE(kp->flags, kp->flags ^ KPROBE_FLAG_DISABLED);
	if (enable)
		point_include(point, kp);
	else
		point_exclude(point, kp);

	return true;
}
