// SPDX-License-Identifier: GPL-2.0-only
/*
 * What runs when a probe is hit, in whatever context the probed code was: no
 * lock, no allocation, and nothing here may be probed or traced itself.
 *
 * The architecture's trap code finds the point with get_kprobe(), marks it as
 * current and calls the pre_handler and post_handler of the struct kprobe in
 * it. These are the two dispatchers below; they call the members. Where there
 * is one member to call, hit_pre_handler() does so without a detour by them.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rculist.h>

#include "internal.h"

/* Stands for "handlers are not to run here" in current_kprobe. */
static struct kprobe kprobe_busy;

static int end_pre_handler(struct kprobe *kp, struct pt_regs *regs)
{
	return 1;
}

NOKPROBE_SYMBOL(end_pre_handler);

/* Behind the last callee of every point, so that nobody has to look for the last. */
struct kprobe callees_end = { .pre_handler = end_pre_handler };

static __always_inline struct kprobe *next_callee(struct hlist_node *node)
{
	return hlist_entry(READ_ONCE(node->next), struct kprobe, hlist);
}

/*
 * Of a point: its pre_handler, and that of its callee while that is the point
 * itself because there is not exactly one member to call.
 */
int hit_pre_handlers(struct kprobe *p, struct pt_regs *regs)
{
	struct hlist_node *first = READ_ONCE(point_of(p)->callees.first);
	struct kprobe *kp = hlist_entry(first, struct kprobe, hlist);
	int ret;

	while (!(ret = kp->pre_handler(kp, regs)))
		kp = next_callee(&kp->hlist);

	return kp == &callees_end ? 0 : ret;
}

NOKPROBE_SYMBOL(hit_pre_handlers);

void hit_post_handler(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	struct kprobe *kp;

	list_for_each_entry_rcu(kp, &point_of(p)->members, list) {
		if (kp->post_handler && likely(!kprobe_disabled(kp)))
			kp->post_handler(kp, regs, flags);
	}
}

NOKPROBE_SYMBOL(hit_post_handler);

#ifdef CONFIG_OPTPROBES
/**
 * opt_pre_handler() - a detour was entered that cannot leave for elsewhere
 * @p: the probe that the detour belongs to, set as current
 * @regs: registers at the probed instruction
 *
 * For architectures whose detours always go on behind the probe: a handler that
 * asks for another instruction pointer does not get it, and does not keep those
 * after it from being called.
 *
 * Context: The detour, preemption disabled.
 */
void opt_pre_handler(struct kprobe *p, struct pt_regs *regs)
{
	struct kprobe *kp;

	hlist_for_each_entry_rcu(kp, &point_of(p)->callees, hlist)
		kp->pre_handler(kp, regs);
}

NOKPROBE_SYMBOL(opt_pre_handler);
#endif

/* Handlers miss hits on several CPUs at once, and each has to be counted. */
static __always_inline void hit_count_miss(struct kprobe *kp)
{
	unsigned long old = READ_ONCE(kp->nmissed);

	while (!try_cmpxchg_relaxed(&kp->nmissed, &old, old + 1))
		;
}

/**
 * kprobes_inc_nmissed_count() - count a hit whose handlers could not run
 * @p: the probe that get_kprobe() found
 *
 * Every member that would have been called counts the hit.
 *
 * Context: A trap, preemption disabled.
 */
void kprobes_inc_nmissed_count(struct kprobe *p)
{
	struct kprobe *kp;

	list_for_each_entry_rcu(kp, &point_of(p)->members, list) {
		if (!kprobe_disabled(kp))
			hit_count_miss(kp);
	}
}

NOKPROBE_SYMBOL(kprobes_inc_nmissed_count);

#ifdef CONFIG_KRETPROBES
static noinline int return_count_miss(struct kretprobe *rp)
{
	int old = READ_ONCE(rp->nmissed);

	while (!try_cmpxchg_relaxed(&rp->nmissed, &old, old + 1))
		;

	return 0;
}

NOKPROBE_SYMBOL(return_count_miss);

/* There is no instance at hand, or a user to be asked. */
static noinline int return_entry_slow(struct kretprobe *rp, struct kretprobe_instance *ri,
				      struct pt_regs *regs)
{
	/* It may be retired and not disarmed yet. */
	if (!ri && return_is_retired(rp))
		return 0;
	ri = ri ?: return_pool_pop(rp);
	if (!ri)
		return return_count_miss(rp);

	if (rp->entry_handler && rp->entry_handler(ri, regs))
		return_pool_put(ri);
	else
		return_divert(ri, regs, kprobe_ftrace(&rp->kp));

	return 0;
}

NOKPROBE_SYMBOL(return_entry_slow);

/* The pre_handler of every return probe. */
int return_entry_handler(struct kprobe *p, struct pt_regs *regs)
{
	struct kretprobe *rp = container_of(p, struct kretprobe, kp);
	struct kretprobe_instance *ri = return_pool_get(rp);

	if (!ri || rp->entry_handler)
		return return_entry_slow(rp, ri, regs);

	return_divert(ri, regs, kprobe_ftrace(p));

	return 0;
}

NOKPROBE_SYMBOL(return_entry_handler);
#endif

/**
 * dump_kprobe() - print which probe something went wrong at
 * @kp: the probe
 *
 * Context: Any.
 */
void dump_kprobe(struct kprobe *kp)
{
	pr_err("probe on %pS, flags %#x\n", kp->addr, kp->flags);
}

NOKPROBE_SYMBOL(dump_kprobe);

/**
 * kprobe_busy_begin() - keep handlers from running on this CPU
 *
 * A probe hit before kprobe_busy_end() counts as missed. Does not nest.
 *
 * Context: Any; returns with preemption disabled.
 */
void kprobe_busy_begin(void)
{
	preempt_disable();
	__this_cpu_write(current_kprobe, &kprobe_busy);
	get_kprobe_ctlblk()->kprobe_status = KPROBE_HIT_ACTIVE;
}

NOKPROBE_SYMBOL(kprobe_busy_begin);

/**
 * kprobe_busy_end() - let handlers run on this CPU again
 *
 * Context: As left by kprobe_busy_begin().
 */
void kprobe_busy_end(void)
{
	reset_current_kprobe();
	preempt_enable();
}

NOKPROBE_SYMBOL(kprobe_busy_end);
