// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps in place of breakpoints.
 *
 * An armed point that wants a jump is queued. A worker lets the architecture prepare a
 * detour for it, once, or again if there was no memory or the module was not ready. A jump
 * for which arch_jump_needs_no_fence() is true is written at once. For any other jump the
 * architecture fences the region: from then on tasks that come to it are led through the
 * detour. After a grace period no task is in the region, and the jump can be written. The
 * way back needs no grace period. Where all probes have been disabled, the jump stays until
 * the worker comes, for they may be enabled again before that. text.c has the lists of the
 * points on their way, and neighbours.c decides which points share a jump.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/array_size.h>
#include <linux/build_bug.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/memory.h>
#include <linux/sprintf.h>
#include <linux/sysctl.h>

#include "internal.h"

#ifdef ARCH_KPROBES_NATIVE
static const char * const obstacles[] = {
	[DETOUR_POSSIBLE]	= "-",
	[DETOUR_NO_FUNCTION]	= "not in a function",
	[DETOUR_UNDECODABLE]	= "function cannot be decoded",
	[DETOUR_TOO_SHORT]	= "too short",
	[DETOUR_NOT_RELOCATABLE] = "not relocatable",
	[DETOUR_RESERVED]	= "rewritten by others",
	[DETOUR_JUMP_INTO]	= "jump into the region",
	[DETOUR_INDIRECT_JUMP]	= "indirect jump",
	[DETOUR_RETURN_INTO]	= "call inside the region",
	[DETOUR_FAULT_INSIDE]	= "may sleep inside the region",
	[DETOUR_PREEMPTED]	= "preempted anywhere",
	[DETOUR_BACKWARDS]	= "direction flag set",
	[DETOUR_LANDING_PAD]	= "landing pad",
	[DETOUR_NO_REGISTER]	= "no register is free",
	[DETOUR_TOO_LONG]	= "copies too long",
	[DETOUR_OUT_OF_REACH]	= "out of reach",
	[DETOUR_NO_ROOM]	= "no memory in reach",
};

static_assert(ARRAY_SIZE(obstacles) == NR_DETOUR_OBSTACLES);

/**
 * kprobe_explain_obstacle() - describe why a probe has no detour
 * @op: a probe that arch_prepare_optimized_kprobe() has refused
 * @buf: buffer for the text
 * @size: bytes in @buf
 *
 * Context: Process context, kprobe_mutex held.
 * Return: bytes written.
 */
int kprobe_explain_obstacle(const struct optimized_kprobe *op, char *buf, size_t size)
{
	const struct arch_optimized_insn *optinsn = &op->optinsn;

	if (!optinsn->why_at)
		return scnprintf(buf, size, "%s", obstacles[optinsn->why]);

	return scnprintf(buf, size, "%s at +%u", obstacles[optinsn->why], optinsn->why_at);
}
#else
int kprobe_explain_obstacle(const struct optimized_kprobe *op, char *buf, size_t size)
{
	return scnprintf(buf, size, "not possible here");
}
#endif

/* The list, the switch and the delay below change only under kprobe_mutex. */

/* ARMED, to be tried again: DETOUR_TOO_EARLY or DETOUR_NO_MEMORY. */
static LIST_HEAD(optimize_postponed);

/* The sysctl debug.kprobes-optimization. */
static bool optimize_knob = true;

static void optimize_retry_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(optimize_retry, optimize_retry_work);

/* Delay before postponed points are tried again; it doubles each time that this fails. */
#define RETRY_DELAY_MIN	HZ
#define RETRY_DELAY_MAX	(512 * HZ)

static unsigned long optimize_retry_delay = RETRY_DELAY_MIN;

/* A test replaces this to make it fail. */
int (*kprobe_optimize_prepare)(struct optimized_kprobe *op, struct kprobe *orig) =
	arch_prepare_optimized_kprobe;

/* Number of points prepared before the locks are dropped. */
#define PREPARE_BATCH	64

static void optimize_ask_for_detour(struct kprobe_point *point)
{
	struct module *mod = NULL;

	if (IS_ENABLED(CONFIG_MODULES) && !kprobe_module_is_settled(point_addr(point), &mod)) {
		point->detour = DETOUR_TOO_EARLY;
		return;
	}
	if (READ_ONCE(kprobe_optimize_prepare)(&point->op, &point->op.kp) == -ENOMEM) {
		point->detour = DETOUR_NO_MEMORY;
		return;
	}
	point->detour = DETOUR_TRIED;
	if (IS_ENABLED(CONFIG_MODULES) && kprobe_module_is_going(mod)) {
		/* No copy may be written after its slot is free. */
		arch_finish_prepare_kprobes();
		point_remove_detour(point);
	}
}

static void optimize_prepare_point(struct kprobe_point *point)
{
	list_del_init(&point->op.list);
	if (!kprobe_point_wants_detour(point))
		return;

	optimize_ask_for_detour(point);
	if (point->detour == DETOUR_TRIED)
		return;

	list_add_tail(&point->op.list, &optimize_postponed);
	if (point->detour == DETOUR_TOO_EARLY)
		mod_delayed_work(system_dfl_wq, &optimize_retry, RETRY_DELAY_MIN);
	else
		queue_delayed_work(system_dfl_wq, &optimize_retry, optimize_retry_delay);
}

static void optimize_prepare_batch(struct list_head *work)
{
	struct kprobe_point *point = kprobe_jump_candidate();
	unsigned int i;

	guard(cpus_read_lock)();
	guard(jump_label_lock)();
	guard(mutex)(&text_mutex);

	for (i = 0; i < PREPARE_BATCH && point; i++) {
		optimize_prepare_point(point);
		point_queue(point, work);
		point = kprobe_jump_candidate();
	}
	arch_finish_prepare_kprobes();
}

/*
 * Prepare the detours of all candidates, so that each is queued for its jump or its
 * obstacle is known.
 */
void kprobe_optimize_prepare_queued(void)
{
	LIST_HEAD(work);
	bool more = true;

	while (more) {
		scoped_guard(mutex, &kprobe_mutex) {
			optimize_prepare_batch(&work);
			kprobe_points_sort(&work);
			kprobe_points_reconcile(&work);
			kprobe_list_unlink(&work);
			more = kprobe_jump_candidate();
		}
		cond_resched();
	}
}

/* A point that is postponed again returns to the list and waits longer. */
static void optimize_retry_work(struct work_struct *work)
{
	struct kprobe_point *point;
	LIST_HEAD(again);

	scoped_guard(mutex, &kprobe_mutex) {
		list_splice_init(&optimize_postponed, &again);
		while (!list_empty(&again)) {
			point = list_first_entry(&again, struct kprobe_point, op.list);
			point->detour = DETOUR_UNTRIED;
			kprobe_jump_queue(point);
		}
		optimize_retry_delay = umin(2 * optimize_retry_delay, RETRY_DELAY_MAX);
	}

	kprobe_optimize_prepare_queued();
	guard(mutex)(&kprobe_mutex);
	if (list_empty(&optimize_postponed))
		optimize_retry_delay = RETRY_DELAY_MIN;
}

static void optimize_work(struct work_struct *work)
{
	kprobe_optimize_prepare_queued();
	scoped_guard(mutex, &kprobe_mutex) {
		if (!kprobe_jumps_begin())
			return;
	}

	kprobe_wait_for_detours();
	guard(mutex)(&kprobe_mutex);
	kprobe_jumps_end();
}

/*
 * Describe the first obstacle to a jump, or the jump if it does not begin at the point. Return
 * whether there is none.
 */
bool kprobe_optimize_explain(struct kprobe_point *point, char *buf, size_t size)
{
	const char *why = NULL;
	struct kprobe_point *other;

	lockdep_assert_held(&kprobe_mutex);

	if (kprobe_ftrace(&point->op.kp))
		why = "ftrace site";
	else if (point->post && !point_detour_calls_post(point))
		why = "post_handler";
	else if (!optimize_knob)
		why = "knob off";
	else if (!point_has_detour(point) && point->detour < DETOUR_NO_MEMORY)
		why = "not tried yet";
	if (why) {
		strscpy(buf, why, size);
		return false;
	}
	if (!point_has_detour(point)) {
		kprobe_explain_obstacle(&point->op, buf, size);
		return false;
	}
	if (point->owner) {
		scnprintf(buf, size, "+%lu of %pS", point_addr(point) - point_addr(point->owner),
			  point->owner->op.kp.addr);
		return true;
	}
	other = kprobe_point_in_the_way(point);
	if (other) {
		scnprintf(buf, size, "neighbour at %+ld",
			  (long)(point_addr(other) - point_addr(point)));
		return false;
	}
	if (arch_jump_lead(&point->op))
		scnprintf(buf, size, "jump at -%u", arch_jump_lead(&point->op));
	else
		strscpy(buf, "-", size);

	return true;
}

/*
 * Tell in @verdict of the jump that @point has or would get. One without members, which is not in
 * the table, is given a detour for that.
 */
void kprobe_optimize_try(struct kprobe_point *point, struct kprobe_verdict *verdict)
{
	struct kprobe_point *owner = point->owner ?: point;
	unsigned long start;

	if (list_empty(&point->members) && !kprobe_ftrace(&point->op.kp))
		optimize_ask_for_detour(point);
	if (!kprobe_optimize_explain(point, verdict->why_no_jump, sizeof(verdict->why_no_jump)))
		return;

	start = point_addr(owner) - arch_jump_lead(&owner->op);
	verdict->lead = point_addr(point) - start;
	while (arch_within_optimized_kprobe(&owner->op,
					    (kprobe_opcode_t *)(start + verdict->covered)))
		verdict->covered++;
}

/**
 * wait_for_kprobe_optimizer() - wait until no probe is on its way to a jump
 *
 * Context: Process context, may sleep for several RCU-tasks grace periods.
 */
void wait_for_kprobe_optimizer(void)
{
	while (!kprobe_jumps_idle()) {
		mod_delayed_work(system_dfl_wq, &kprobe_optimizer, 0);
		flush_delayed_work(&kprobe_optimizer);
	}
}

/* Handle a write to the sysctl. A write of 0 returns when no jump is left. */
void kprobe_optimize_set_knob(bool on)
{
	int ret;

	scoped_guard(mutex, &kprobe_mutex) {
		if (on == optimize_knob)
			return;
		WRITE_ONCE(optimize_knob, on);
		kprobe_want_jumps(on);
		ret = kprobe_points_reconcile_all();
	}
	pr_info("jump optimization %s\n", on ? "allowed" : "forbidden");
	/* This includes points that failed to arm before, which were tried again. */
	if (ret)
		pr_warn("not every probe could be armed: %d\n", ret);
}

static int optimize_knob_handler(const struct ctl_table *table, int write, void *buffer,
				 size_t *lenp, loff_t *ppos)
{
	int ret, value = READ_ONCE(optimize_knob);
	const struct ctl_table copy = {
		.data = &value,
		.maxlen = sizeof(value),
		.extra1 = SYSCTL_ZERO,
		.extra2 = SYSCTL_ONE,
	};

	ret = proc_dointvec_minmax(&copy, write, buffer, lenp, ppos);
	if (ret || !write)
		return ret;

	kprobe_optimize_set_knob(value);
	return 0;
}

static struct ctl_table optimize_sysctls[] = {
	{
		.procname = "kprobes-optimization",
		.mode = 0644,
		.proc_handler = optimize_knob_handler,
	},
};

/* RCU-tasks grace periods work before the first initcall. */
static int __init optimize_start(void)
{
	INIT_DELAYED_WORK(&kprobe_optimizer, optimize_work);
	register_sysctl_init("debug", optimize_sysctls);

	guard(mutex)(&kprobe_mutex);
	kprobe_want_jumps(true);

	return kprobe_points_reconcile_all();
}
subsys_initcall(optimize_start);
