// SPDX-License-Identifier: GPL-2.0-only
/*
 * The members of a point: the users' probes at its address, and which of them a
 * hit calls.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/kprobes.h>
#include <linux/rculist.h>
#include <linux/uaccess.h>

#include "internal.h"

/*
 * The private word of a user's probe. It names the point while the probe is a member, so
 * that the member is found whatever its owner has done to the other fields. A struct that
 * is not a member may hold other words: 0 if it was never registered, anything if it was
 * never initialised, and another probe's word or an old one if it is a copy. The word
 * depends on the address of its struct, which exposes most copies; and it is trusted only
 * if the point that it names is in the table and the struct is in a list.
 */
#define LEAVING		1UL	/* no member any more, but hits may still walk from here */

static unsigned long registration_of(const struct kprobe_point *point, const struct kprobe *kp)
{
	return (unsigned long)point ^ (unsigned long)kp;
}

/* Return the point that @kp is a member of, or NULL. @kp may be any struct kprobe. */
struct kprobe_point *kprobe_point_find_member(const struct kprobe *kp)
{
	unsigned long named = kp->registration ^ (unsigned long)kp;
	struct kprobe_point *point = (struct kprobe_point *)named;
	struct list_head *linked;
	kprobe_opcode_t *addr;

	lockdep_assert_held(&kprobe_mutex);
	if (!kp->registration || kp->registration == LEAVING)
		return NULL;
	if (get_kernel_nofault(addr, &point->op.kp.addr) ||
	    get_kernel_nofault(linked, &kp->list.prev->next) || linked != &kp->list)
		return NULL;

	return kprobe_table_has(point, (unsigned long)addr) ? point : NULL;
}

/* Handlers may read the address. Write it only if its owner has changed it. */
static void member_restore_addr(struct kprobe *kp, const struct kprobe_point *point)
{
	if (kp->addr != point->op.kp.addr)
		WRITE_ONCE(kp->addr, point->op.kp.addr);
}

/*
 * Called to reject a second registration. Restores the address of a registered probe, which
 * its owner may have overwritten.
 */
bool kprobe_is_registered(struct kprobe *kp)
{
	struct kprobe_point *point = kprobe_point_find_member(kp);

	if (!point)
		return false;

	member_restore_addr(kp, point);
	pr_debug("%pS: already registered, or twice in one array\n", kp->addr);

	return true;
}

bool kprobe_is_leaving(const struct kprobe *kp)
{
	return kp->registration == LEAVING;
}

/* Called a grace period after kprobe_point_del_member(): the owner may now reuse @kp. */
void kprobe_has_left(struct kprobe *kp)
{
	INIT_LIST_HEAD(&kp->list);
	INIT_HLIST_NODE(&kp->hlist);
	kp->hit_pre = NULL;
	kp->registration = 0;
}

/* Do not read @kp, which may have been freed. */
bool kprobe_point_has_member(const struct kprobe_point *point, const struct kprobe *kp)
{
	const struct kprobe *member;

	list_for_each_entry(member, &point->members, list) {
		if (member == kp)
			return true;
	}

	return false;
}

/*
 * A hit calls a single member directly, without walking the list. No other member may have a
 * post_handler then, because only that of the handler_probe is called.
 */
static void point_update_handler_probe(struct kprobe_point *point)
{
	struct hlist_node *first = point->called.first, *end = &kprobe_called_end.hlist;
	struct kprobe *handler_probe = &point->op.kp, *single;

	if (!FAULTS_WATCHED && first != end && first->next == end) {
		single = hlist_entry(first, struct kprobe, hlist);
		if (point->post == !!(single->flags & KPROBE_FLAG_POST))
			handler_probe = single;
	}

	/*
	 * Publish only an initialised probe; pairs with the dependent load in
	 * kprobe_call_pre_handler().
	 */
	smp_store_release(&point->op.kp.handler_probe, handler_probe);
}

/* Account @kp as enabled (@delta 1) or disabled (@delta -1). */
static void point_count_member(struct kprobe_point *point, const struct kprobe *kp, int delta)
{
	point->enabled += delta;
	if (kp->flags & KPROBE_FLAG_POST)
		point->post += delta;

	if (point->post)
		WRITE_ONCE(point->op.kp.post_handler, kprobe_dispatch_post);
	else if (!POST_HANDLER_STAYS)
		WRITE_ONCE(point->op.kp.post_handler, NULL);
	point_update_handler_probe(point);
}

/* Find the called member that a hit calls right before @kp: the next one registered after it. */
static struct kprobe *point_called_before(struct kprobe_point *point, struct kprobe *kp)
{
	list_for_each_entry_continue_reverse(kp, &point->members, list) {
		if (!hlist_unhashed(&kp->hlist))
			return kp;
	}

	return NULL;
}

/* Insert @kp among the called members, which are in the order of all members. */
static void point_start_calling(struct kprobe_point *point, struct kprobe *kp)
{
	struct kprobe *before = point_called_before(point, kp);

	if (before)
		hlist_add_behind_rcu(&kp->hlist, &before->hlist);
	else
		hlist_add_head_rcu(&kp->hlist, &point->called);
	point_update_handler_probe(point);
}

static void point_include(struct kprobe_point *point, struct kprobe *kp)
{
	point_count_member(point, kp, 1);
	if (kp->hit_pre)
		point_start_calling(point, kp);
}

/* hlist_del_init_rcu() keeps kp->hlist.next, so that a hit at @kp can go on from there. */
static void point_exclude(struct kprobe_point *point, struct kprobe *kp)
{
	if (!hlist_unhashed(&kp->hlist)) {
		hlist_del_init_rcu(&kp->hlist);
		point_update_handler_probe(point);
	}
	/* Count it last: a hit that begins meanwhile must call both handlers or none. */
	point_count_member(point, kp, -1);
}

void kprobe_point_add_member(struct kprobe_point *point, struct kprobe *kp)
{
	const u32 shared = KPROBE_FLAG_ON_FUNC_ENTRY | KPROBE_FLAG_FTRACE;

	kp->addr = point->op.kp.addr;
	kp->opcode = point->op.kp.opcode;
	kp->nmissed = 0;
	kp->flags = (kp->flags & KPROBE_FLAG_DISABLED) | (point->op.kp.flags & shared) |
		    (kp->post_handler ? KPROBE_FLAG_POST : 0);
	kp->hit_pre = kp->pre_handler;
	INIT_HLIST_NODE(&kp->hlist);
	kp->registration = registration_of(point, kp);

	/* Users rely on the order: the one registered last is called first. */
	list_add_rcu(&kp->list, &point->members);
	if (!kprobe_disabled(kp))
		point_include(point, kp);
}

/* A hit may still walk over @kp until an RCU grace period has passed. */
void kprobe_point_del_member(struct kprobe_point *point, struct kprobe *kp)
{
	if (!(kp->flags & KPROBE_FLAG_DISABLED))
		point_exclude(point, kp);
	list_del_rcu(&kp->list);
	kp->registration = LEAVING;
	member_restore_addr(kp, point);
	if (return_is_probe(kp))
		kretprobe_pool_retire(container_of(kp, struct kretprobe, kp));
}

/* Return whether @kp changed. */
bool kprobe_point_enable_member(struct kprobe_point *point, struct kprobe *kp, bool enable)
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
