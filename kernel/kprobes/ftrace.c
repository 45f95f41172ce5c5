// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points on ftrace sites: armed by adding the site to the filter of an
 * ftrace_ops instead of writing a breakpoint.
 *
 * There are two ftrace_ops. One asks for IPMODIFY, which ftrace grants to one
 * user per function only and so may refuse; points with a post_handler need it. A
 * point's ftrace_ops says which of the two was asked when the point was armed. That
 * one handles its hits until the point is disarmed: no grace period is needed to
 * hand over hits that are under way.
 *
 * When the first post_handler joins a point that the plain ftrace_ops holds, the
 * site is added to the other's filter as well, only to reserve it: its calls for the
 * site are ignored. When the last post_handler leaves, the reservation ends. A point that
 * was armed with a post_handler keeps IPMODIFY until it is disarmed.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/ftrace.h>
#include <linux/preempt.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * struct ftrace_user - one of the two ftrace_ops
 * @ops: registered while @nr is not 0, for an empty filter would mean every
 *	function
 * @nr: sites in its filter; changes, as the filter does, under kprobe_mutex only
 */
struct ftrace_user {
	struct ftrace_ops ops;
	unsigned int nr;
};

/**
 * kprobe_ftrace_claims() - is this call from ftrace the hit of a probe?
 * @p: the probe that get_kprobe() found for the site
 * @ops: the ftrace_ops that ftrace calls
 *
 * A site may be in the filters of two ftrace_ops, and ftrace calls both.
 *
 * Context: An ftrace callback, preemption disabled.
 * Return: true when @ops is the one that handles the hit.
 */
bool notrace kprobe_ftrace_claims(struct kprobe *p, struct ftrace_ops *ops)
{
	return READ_ONCE(point_of(p)->ftrace_ops) == ops;
}

NOKPROBE_SYMBOL(kprobe_ftrace_claims);

#ifdef ARCH_KPROBES_CLAIM_SITES
#define kprobe_ftrace_called	kprobe_ftrace_handler
#else
/* For ports whose handler treats every ftrace call as a hit. */
static void notrace kprobe_ftrace_called(unsigned long ip, unsigned long parent_ip,
					 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	scoped_guard(preempt_notrace) {
		struct kprobe *p = get_kprobe((kprobe_opcode_t *)ip);

		/*
		 * A NULL result proves nothing: csky looks the probe up at another
		 * address.
		 */
		if (p && !kprobe_ftrace_claims(p, ops))
			return;
	}
	kprobe_ftrace_handler(ip, parent_ip, ops, fregs);
}

NOKPROBE_SYMBOL(kprobe_ftrace_called);
#endif

/* An armed probe must be hit, so kernel.ftrace_enabled must not become 0. */
#define USER_FLAGS	(FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_PERMANENT)

static struct ftrace_user kprobe_ftrace_plain = {
	.ops = {
		.func = kprobe_ftrace_called,
		.flags = USER_FLAGS,
	},
};

static struct ftrace_user kprobe_ftrace_modify = {
	.ops = {
		.func = kprobe_ftrace_called,
		.flags = USER_FLAGS | FTRACE_OPS_FL_IPMODIFY,
	},
};

/* Set once ftrace has shut itself down; read by architectures. */
bool kprobe_ftrace_disabled __read_mostly;

/**
 * kprobe_ftrace_kill() - ftrace is shutting down, leave its sites alone
 *
 * Context: Any, a panic included.
 */
void kprobe_ftrace_kill(void)
{
	WRITE_ONCE(kprobe_ftrace_disabled, true);
}

static int ftrace_user_add(struct ftrace_user *user, unsigned long *sites, unsigned int nr)
{
	int ret;

	if (READ_ONCE(kprobe_ftrace_disabled))
		return -ENODEV;

	/*
	 * Reset the filter when it should be empty: a failed removal would leave stale
	 * sites.
	 */
	ret = ftrace_set_filter_ips(&user->ops, sites, nr, 0, !user->nr);
	if (ret)
		return ret;

	if (!user->nr) {
		ret = register_ftrace_function(&user->ops);
		if (ret) {
			ftrace_set_filter_ips(&user->ops, sites, nr, 1, 0);
			return ret;
		}
	}
	user->nr += nr;

	return 0;
}

static void ftrace_user_del(struct ftrace_user *user, unsigned long *sites, unsigned int nr)
{
	int ret = 0;

	user->nr -= nr;
	if (READ_ONCE(kprobe_ftrace_disabled))
		return;

	if (!user->nr)
		ret = unregister_ftrace_function(&user->ops);
	if (!ret)
		ret = ftrace_set_filter_ips(&user->ops, sites, nr, 1, 0);

	/* A stale site is harmless: kprobe_ftrace_claims() rejects its calls. */
	if (ret && !READ_ONCE(kprobe_ftrace_disabled))
		pr_warn("ftrace does not give back %pS and %u more: %d\n",
			(void *)sites[0], nr - 1, ret);
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

static void points_set_ops(struct list_head *kps, struct ftrace_ops *ops)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		WRITE_ONCE(point_of(p)->ftrace_ops, ops);
}

/* Return an array of the sites of @kps, to be freed, or NULL. Set @nr to their number. */
static unsigned long *points_sites(struct list_head *kps, unsigned int *nr)
{
	unsigned long *sites;
	struct kprobe *p;

	*nr = 0;
	sites = kvmalloc_array(list_count_nodes(kps), sizeof(*sites), GFP_KERNEL);
	if (sites) {
		list_for_each_entry(p, kps, list)
			sites[(*nr)++] = (unsigned long)p->addr;
	}

	return sites;
}

/*
 * Add the sites that ftrace grants to the filter, and move the points of the others to @refused.
 * Return the first error. ftrace does not tell which of several sites it refuses, so then try
 * them one by one.
 */
static int ftrace_user_take_points(struct ftrace_user *user, struct list_head *kps,
				   struct list_head *refused)
{
	unsigned long *sites __free(kvfree) = NULL;
	struct kprobe *p, *next;
	int error, ret = 0;
	unsigned int nr;

	if (!list_empty(kps) && !list_is_singular(kps))
		sites = points_sites(kps, &nr);
	if (sites && !ftrace_user_add(user, sites, nr))
		return 0;

	list_for_each_entry_safe(p, next, kps, list) {
		error = ftrace_user_add(user, (unsigned long *)&p->addr, 1);
		if (error) {
			kprobe_refuse(error, p->addr, "ftrace refuses it");
			list_move_tail(&p->list, refused);
			ret = ret ?: error;
		}
		cond_resched();
	}

	return ret;
}

/* Call this after the points' ftrace_ops has changed, so that @user claims no more hits. */
static void ftrace_user_forget_points(struct ftrace_user *user, struct list_head *kps)
{
	unsigned long *sites __free(kvfree) = NULL;
	struct kprobe *p;
	unsigned int nr;

	if (list_empty(kps))
		return;

	sites = points_sites(kps, &nr);
	if (sites) {
		ftrace_user_del(user, sites, nr);
		return;
	}
	list_for_each_entry(p, kps, list)
		ftrace_user_del(user, (unsigned long *)&p->addr, 1);
}

static bool point_is_to_modify(struct kprobe_point *point)
{
	return point->post;
}

static bool point_modifies(struct kprobe_point *point)
{
	return point->ftrace_ops == &kprobe_ftrace_modify.ops;
}

static bool point_is_reserved(struct kprobe_point *point)
{
	return point->reserved;
}

static void ftrace_user_del_points(struct ftrace_user *user, struct list_head *kps)
{
	points_set_ops(kps, NULL);
	ftrace_user_forget_points(user, kps);
}

/* Take the sites that ftrace grants, and move the points of the others to @refused. */
int kprobe_ftrace_arm_points(struct list_head *kps, struct list_head *refused)
{
	LIST_HEAD(modify);
	int ret, error;

	points_pick(kps, point_is_to_modify, &modify);
	ret = ftrace_user_take_points(&kprobe_ftrace_plain, kps, refused);
	points_set_ops(kps, &kprobe_ftrace_plain.ops);
	error = ftrace_user_take_points(&kprobe_ftrace_modify, &modify, refused);
	points_set_ops(&modify, &kprobe_ftrace_modify.ops);
	list_splice_tail(&modify, kps);

	return ret ?: error;
}

/* Give up the reservations of @kps. */
static void points_unreserve(struct list_head *kps)
{
	struct kprobe *p;

	ftrace_user_forget_points(&kprobe_ftrace_modify, kps);
	list_for_each_entry(p, kps, list)
		point_of(p)->reserved = false;
}

void kprobe_ftrace_disarm_points(struct list_head *kps)
{
	LIST_HEAD(modify);

	points_pick(kps, point_is_reserved, &modify);
	points_unreserve(&modify);
	list_splice_tail_init(&modify, kps);

	points_pick(kps, point_modifies, &modify);
	ftrace_user_del_points(&kprobe_ftrace_plain, kps);
	ftrace_user_del_points(&kprobe_ftrace_modify, &modify);
	list_splice_tail(&modify, kps);
}

/* Does an armed point need IPMODIFY and not have it, or have a reservation that it needs not? */
bool kprobe_ftrace_reservation_is_wrong(struct kprobe_point *point)
{
	return point->ftrace_ops == &kprobe_ftrace_plain.ops && point->reserved != !!point->post;
}

/* End the reservations that points in @kps have, and reserve the sites of the others. */
int kprobe_ftrace_change_reservations(struct list_head *kps)
{
	LIST_HEAD(reserved);
	LIST_HEAD(refused);
	struct kprobe *p;
	int ret;

	points_pick(kps, point_is_reserved, &reserved);
	points_unreserve(&reserved);
	ret = ftrace_user_take_points(&kprobe_ftrace_modify, kps, &refused);
	list_for_each_entry(p, kps, list)
		point_of(p)->reserved = true;
	list_splice_tail(&reserved, kps);
	list_splice_tail(&refused, kps);

	return ret;
}
