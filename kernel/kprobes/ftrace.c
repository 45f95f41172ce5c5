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
 *
 * A site moves to the other ftrace_ops while it is hit, and no hit may be lost or
 * handled twice. For as long as both have the site in their filters, ftrace calls
 * both of them for each hit, one after the other with preemption disabled. Then
 * the first of the two calls decides which of them handles the hit, and records it
 * for the second:
 *
 *	ftrace_ops	calls come		handled by
 *	old		by old			old
 *	old		by old, or by both	old
 *	  all calls come by both
 *	old, moving	by both			old, and the first call records that
 *	  all first calls record
 *	new, moving	by both			what the first call has recorded
 *	  all first calls have recorded new
 *	new		by both, or by new	new
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/trace_recursion.h>

#include "ftrace.h"
#include "point.h"
#include "wait.h"

/**
 * struct ftrace_user - one of the two ftrace_ops
 * @ops: registered while @nr is not 0, for an empty filter would mean every
 *	function
 * @nr: sites in its filter
 * @registration: a number that grows with each registration; ftrace calls the ftrace_ops
 *	that was registered last first
 */
struct ftrace_user {
	struct ftrace_ops ops;
	unsigned int nr;
	unsigned int registration;
};

/* Set in a point's ftrace_ops while both users have the site in their filters. */
#define MOVING	1UL

/**
 * struct site_hit - the last hit of a moving site in one context of a CPU
 * @point: whose site it is
 * @move: number of the move
 * @holder: the ftrace_ops that handles the hit
 */
struct site_hit {
	const struct kprobe_point *point;
	unsigned long move;
	const struct ftrace_ops *holder;
};

/*
 * Indexed by interrupt_context_level(), and by whether a second call may be under way there:
 * ftrace lets one call in a call of the same level through.
 */
static DEFINE_PER_CPU(struct site_hit [4][2], ftrace_site_hits);

static __always_inline struct site_hit *this_site_hit(void)
{
	bool nested = trace_recursion_test(TRACE_LIST_START + TRACE_CTX_TRANSITION);

	return &(*this_cpu_ptr(&ftrace_site_hits))[interrupt_context_level()][nested];
}

/* Serial number of the current or last move; changes only while no site is moving. */
static unsigned long ftrace_move_nr;

static struct ftrace_ops *ops_moving(struct ftrace_ops *ops)
{
	return (struct ftrace_ops *)((unsigned long)ops | MOVING);
}

static bool notrace kprobe_ops_called_first(const struct ftrace_ops *ops);

/* Decide at the first of two calls; see the table at the top. */
static noinline notrace bool moving_site_claims(const struct kprobe_point *point,
						const struct ftrace_ops *ops,
						const struct ftrace_ops *holder)
{
	struct site_hit *hit = this_site_hit();

	if (kprobe_ops_called_first(ops))
		*hit = (struct site_hit){ point, ftrace_move_nr, holder };

	/* Without a record the first call came before the site began to move. */
	if (hit->point != point || hit->move != ftrace_move_nr)
		return holder == ops;

	return hit->holder == ops;
}

NOKPROBE_SYMBOL(moving_site_claims);

/**
 * kprobe_ftrace_claims() - is this call from ftrace the hit of a probe?
 * @p: the probe that get_kprobe() found for the site
 * @ops: the ftrace_ops that ftrace calls
 *
 * While a site moves from one ftrace_ops to another both of them call for each hit; then
 * one of the two calls claims it.
 *
 * Context: An ftrace callback, preemption disabled. Must be called once in each.
 * Return: true when @ops is the one that handles the hit.
 */
bool notrace kprobe_ftrace_claims(struct kprobe *p, struct ftrace_ops *ops)
{
	unsigned long holder = (unsigned long)READ_ONCE(point_of(p)->ftrace_ops);

	if (likely(holder == (unsigned long)ops))
		return true;

	return (holder & MOVING) &&
	       moving_site_claims(point_of(p), ops, (struct ftrace_ops *)(holder & ~MOVING));
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

static bool notrace kprobe_ops_called_first(const struct ftrace_ops *ops)
{
	if (ops == &kprobe_ftrace_plain.ops)
		return kprobe_ftrace_plain.registration > kprobe_ftrace_modify.registration;

	return kprobe_ftrace_modify.registration > kprobe_ftrace_plain.registration;
}

NOKPROBE_SYMBOL(kprobe_ops_called_first);

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

static struct ftrace_user *ftrace_user_wanted(const struct kprobe_point *point)
{
	return point->post ? &kprobe_ftrace_modify : &kprobe_ftrace_plain;
}

static int ftrace_user_try_add(struct ftrace_user *user, unsigned long *sites, unsigned int nr)
{
	static unsigned int ftrace_registrations;
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
		user->registration = ++ftrace_registrations;
		ret = register_ftrace_function(&user->ops);
		if (ret) {
			ftrace_set_filter_ips(&user->ops, sites, nr, 1, 0);
			return ret;
		}
	}
	user->nr += nr;

	return 0;
}

/* ftrace does not tell which of several sites it refuses. */
static int ftrace_user_add(struct ftrace_user *user, unsigned long *sites, unsigned int nr)
{
	int ret = ftrace_user_try_add(user, sites, nr);

	if (ret)
		pr_debug("%pS: ftrace refuses it, or one of %u others: %d\n", (void *)sites[0],
			 nr - 1, ret);

	return ret;
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

static void points_set_ops(struct list_head *kps, struct ftrace_ops *ops)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		WRITE_ONCE(point_of(p)->ftrace_ops, ops);
}

static int ftrace_user_take_points(struct ftrace_user *user, struct list_head *kps)
{
	unsigned long *sites __free(kvfree) = NULL;
	unsigned int nr = 0, max = list_count_nodes(kps);
	struct kprobe *p;

	if (!max)
		return 0;

	sites = kvmalloc_array(max, sizeof(*sites), GFP_KERNEL);
	if (!sites)
		return -ENOMEM;
	list_for_each_entry(p, kps, list)
		sites[nr++] = (unsigned long)p->addr;

	return ftrace_user_add(user, sites, nr);
}

/* Call this after the points' ftrace_ops has changed, so that @user claims no more hits. */
static void ftrace_user_forget_points(struct ftrace_user *user, struct list_head *kps)
{
	unsigned long *sites __free(kvfree) = NULL;
	unsigned int nr = 0, max = list_count_nodes(kps);
	struct kprobe *p;

	if (!max)
		return;

	sites = kvmalloc_array(max, sizeof(*sites), GFP_KERNEL);
	list_for_each_entry(p, kps, list) {
		if (sites)
			sites[nr++] = (unsigned long)p->addr;
		else
			ftrace_user_del(user, (unsigned long *)&p->addr, 1);
	}
	if (sites)
		ftrace_user_del(user, sites, nr);
}

/* Move the points that need the IPMODIFY user from @kps to @modify. */
static void points_split_off_modifying(struct list_head *kps, struct list_head *modify)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, kps, list) {
		if (ftrace_user_wanted(point_of(p)) == &kprobe_ftrace_modify)
			list_move_tail(&p->list, modify);
	}
}

static int ftrace_user_add_points(struct ftrace_user *user, struct list_head *kps)
{
	int ret = ftrace_user_take_points(user, kps);

	if (!ret)
		points_set_ops(kps, &user->ops);

	return ret;
}

static void ftrace_user_del_points(struct ftrace_user *user, struct list_head *kps)
{
	points_set_ops(kps, NULL);
	ftrace_user_forget_points(user, kps);
}

/* Take the sites of all points, or of none on failure. */
int kprobe_ftrace_arm_points(struct list_head *kps)
{
	LIST_HEAD(modify);
	int ret;

	points_split_off_modifying(kps, &modify);
	ret = ftrace_user_add_points(&kprobe_ftrace_plain, kps);
	if (!ret) {
		ret = ftrace_user_add_points(&kprobe_ftrace_modify, &modify);
		if (ret)
			ftrace_user_del_points(&kprobe_ftrace_plain, kps);
	}
	list_splice_tail(&modify, kps);

	return ret;
}

void kprobe_ftrace_disarm_points(struct list_head *kps)
{
	struct kprobe *p, *next;
	LIST_HEAD(modify);

	list_for_each_entry_safe(p, next, kps, list) {
		if (point_of(p)->ftrace_ops == &kprobe_ftrace_modify.ops)
			list_move_tail(&p->list, &modify);
	}

	ftrace_user_del_points(&kprobe_ftrace_plain, kps);
	ftrace_user_del_points(&kprobe_ftrace_modify, &modify);
	list_splice_tail(&modify, kps);
}

/* Is the site of an armed point held by the other ftrace_ops than its members need? */
bool kprobe_ftrace_point_misplaced(struct kprobe_point *point)
{
	return point->ftrace_ops && point->ftrace_ops != &ftrace_user_wanted(point)->ops;
}

/* Afterwards no CPU acts on an ftrace_ops that it read from these points before. */
static void points_switch_ops(struct list_head *kps, struct ftrace_ops *ops)
{
	points_set_ops(kps, ops);
	kprobe_wait_for_hits();
}

static int points_move(struct list_head *kps, struct ftrace_user *old, struct ftrace_user *new)
{
	int ret;

	if (list_empty(kps))
		return 0;

	ret = ftrace_user_take_points(new, kps);
	if (ret)
		return ret;

	/* A task may be preempted in a call that goes to the old ftrace_ops only. */
	synchronize_rcu_tasks();
	ftrace_move_nr++;
	points_switch_ops(kps, ops_moving(&old->ops));
	points_switch_ops(kps, ops_moving(&new->ops));
	points_switch_ops(kps, &new->ops);
	ftrace_user_forget_points(old, kps);

	return 0;
}

/*
 * Move armed points to the other ftrace_ops without losing a hit, which takes several
 * grace periods. On failure the points that need the IPMODIFY user stay with the plain
 * one. A failure in the other direction is ignored: those points may stay.
 */
int kprobe_ftrace_move_points(struct list_head *kps)
{
	LIST_HEAD(modify);
	int ret;

	points_split_off_modifying(kps, &modify);
	points_move(kps, &kprobe_ftrace_modify, &kprobe_ftrace_plain);
	ret = points_move(&modify, &kprobe_ftrace_plain, &kprobe_ftrace_modify);
	list_splice_tail(&modify, kps);

	return ret;
}
