// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points on ftrace sites: armed by adding the site to the filter of an
 * ftrace_ops instead of writing a breakpoint.
 *
 * There are two ftrace_ops. One asks for IPMODIFY, which ftrace grants to one
 * user per function only and so may refuse; it holds the points with a
 * post_handler. A point's ftrace_ops says which of the two holds its site, and
 * is the only record of it: nothing is inferred from its members later, when
 * they may have changed.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/slab.h>

#include "ftrace.h"
#include "point.h"

/**
 * struct ftrace_user - one of the two ftrace_ops
 * @ops: registered while @nr is not 0, for an empty filter would mean every
 *	function
 * @nr: sites in its filter
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
 * While a site moves from one ftrace_ops to another both of them call, and a hit that
 * comes just as it does may be claimed by both, or by none.
 *
 * Context: An ftrace callback.
 * Return: true when @ops is the one that holds the site.
 */
bool notrace kprobe_ftrace_claims(struct kprobe *p, struct ftrace_ops *ops)
{
	return READ_ONCE(point_of(p)->ftrace_ops) == ops;
}

NOKPROBE_SYMBOL(kprobe_ftrace_claims);

#ifdef ARCH_KPROBES_CLAIM_SITES
#define site_called	kprobe_ftrace_handler
#else
/* For ports whose handler treats every ftrace call as a hit. */
static void notrace site_called(unsigned long ip, unsigned long parent_ip,
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

NOKPROBE_SYMBOL(site_called);
#endif

static struct ftrace_user plain_user = {
	.ops = {
		.func = site_called,
		.flags = FTRACE_OPS_FL_SAVE_REGS,
	},
};

static struct ftrace_user modify_user = {
	.ops = {
		.func = site_called,
		.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
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

static struct ftrace_user *wanted_user(const struct kprobe_point *point)
{
	return point->post ? &modify_user : &plain_user;
}

static int user_add(struct ftrace_user *user, unsigned long *sites, unsigned int nr)
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

static void user_del(struct ftrace_user *user, unsigned long *sites, unsigned int nr)
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

static void points_set_ops(struct list_head *kps, struct ftrace_ops *ops)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		WRITE_ONCE(point_of(p)->ftrace_ops, ops);
}

static int users_points_add(struct ftrace_user *user, struct list_head *kps)
{
	unsigned long *sites __free(kvfree) = NULL;
	unsigned int nr = 0, max = list_count_nodes(kps);
	struct kprobe *p;
	int ret;

	if (!max)
		return 0;

	sites = kvmalloc_array(max, sizeof(*sites), GFP_KERNEL);
	if (!sites)
		return -ENOMEM;
	list_for_each_entry(p, kps, list)
		sites[nr++] = (unsigned long)p->addr;

	ret = user_add(user, sites, nr);
	if (!ret)
		points_set_ops(kps, &user->ops);

	return ret;
}

static void users_points_del(struct ftrace_user *user, struct list_head *kps)
{
	unsigned long *sites __free(kvfree) = NULL;
	unsigned int nr = 0, max = list_count_nodes(kps);
	struct kprobe *p;

	if (!max)
		return;

	points_set_ops(kps, NULL);
	sites = kvmalloc_array(max, sizeof(*sites), GFP_KERNEL);
	list_for_each_entry(p, kps, list) {
		if (sites)
			sites[nr++] = (unsigned long)p->addr;
		else
			user_del(user, (unsigned long *)&p->addr, 1);
	}
	if (sites)
		user_del(user, sites, nr);
}

/* Take the sites of all points, or of none on failure. */
int ftrace_arm_points(struct list_head *kps)
{
	struct kprobe *p, *next;
	LIST_HEAD(modify);
	int ret;

	list_for_each_entry_safe(p, next, kps, list) {
		if (wanted_user(point_of(p)) == &modify_user)
			list_move_tail(&p->list, &modify);
	}

	ret = users_points_add(&plain_user, kps);
	if (!ret) {
		ret = users_points_add(&modify_user, &modify);
		if (ret)
			users_points_del(&plain_user, kps);
	}
	list_splice_tail(&modify, kps);

	return ret;
}

void ftrace_disarm_points(struct list_head *kps)
{
	struct kprobe *p, *next;
	LIST_HEAD(modify);

	list_for_each_entry_safe(p, next, kps, list) {
		if (point_of(p)->ftrace_ops == &modify_user.ops)
			list_move_tail(&p->list, &modify);
	}

	users_points_del(&plain_user, kps);
	users_points_del(&modify_user, &modify);
	list_splice_tail(&modify, kps);
}

/* Is an armed point held by the ftrace_ops that its members do not want? */
bool ftrace_point_misplaced(struct kprobe_point *point)
{
	return point->ftrace_ops && point->ftrace_ops != &wanted_user(point)->ops;
}

/* Move an armed point to the other ftrace_ops; on failure it stays. */
int ftrace_retarget_point(struct kprobe_point *point)
{
	struct ftrace_user *new = wanted_user(point);
	struct ftrace_user *old = new == &plain_user ? &modify_user : &plain_user;
	unsigned long site = point_addr(point);
	int ret;

	ret = user_add(new, &site, 1);
	if (ret)
		return ret;

	WRITE_ONCE(point->ftrace_ops, &new->ops);
	user_del(old, &site, 1);

	return 0;
}
