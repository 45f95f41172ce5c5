// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends the hit and disables the probe of a handler that has oopsed.
 *
 * The task that ran the handler dies, so it never ends the hit. The hit is forgotten
 * here, or the next one on this CPU would count as nested. The probe would oops again at
 * its next hit, so it is disabled, which takes kprobe_mutex and thus a work item. A flag
 * tells that which probes are to be disabled. It looks for them among all members, since a
 * probe may be unregistered and its memory freed before it runs.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/kdebug.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/stacktrace.h>

#include "internal.h"

/* Disable the members of @point that are to be disabled. */
static int point_disable_culprits(struct kprobe_point *point, void *work)
{
	struct kprobe *kp;

	list_for_each_entry(kp, &point->members, list) {
		if (!(kp->flags & KPROBE_FLAG_OOPSED))
			continue;
		WRITE_ONCE(kp->flags, kp->flags & ~KPROBE_FLAG_OOPSED);
		if (kprobe_point_enable_member(point, kp, false)) {
			point_queue(point, work);
			pr_warn("probe on %pS disabled: its handler has faulted\n", kp->addr);
		}
	}

	return 0;
}

static void culprits_disable(struct work_struct *unused)
{
	LIST_HEAD(work);

	guard(mutex)(&kprobe_mutex);
	kprobe_points_for_each(point_disable_culprits, &work);
	kprobe_points_reconcile(&work);
	kprobe_list_unlink(&work);
}

static DECLARE_WORK(culprits_work, culprits_disable);

static void culprits_schedule(struct irq_work *unused)
{
	schedule_work(&culprits_work);
}

/* An irq_work, because the handler may have interrupted the holder of a workqueue lock. */
static DEFINE_IRQ_WORK(culprits_irq_work, culprits_schedule);

/* Who holds kprobe_mutex may overwrite the flag with old ones: then the next oops sets it again. */
static void culprit_note(struct kprobe *kp)
{
	u32 flags = READ_ONCE(kp->flags);

	while (!try_cmpxchg(&kp->flags, &flags, flags | KPROBE_FLAG_OOPSED))
		;
	irq_work_queue(&culprits_irq_work);
}

NOKPROBE_SYMBOL(culprit_note);

/* The functions that the oops came from, innermost first. */
struct oops_trace {
	unsigned long starts[16];
	unsigned int nr;
};

static void oops_trace_save(struct oops_trace *trace, struct pt_regs *regs)
{
	unsigned long size, offset;
	unsigned int i;

#if defined(CONFIG_STACKTRACE) && defined(CONFIG_ARCH_STACKWALK)
	trace->nr = stack_trace_save_regs(regs, trace->starts, ARRAY_SIZE(trace->starts), 0);
#else
	trace->starts[0] = instruction_pointer(regs);
	trace->nr = 1;
#endif
	for (i = 0; i < trace->nr; i++) {
		if (kallsyms_lookup_size_offset(trace->starts[i], &size, &offset))
			trace->starts[i] -= offset;
	}
}

NOKPROBE_SYMBOL(oops_trace_save);

static bool oops_trace_has(const struct oops_trace *trace, void *function)
{
	unsigned long start = (unsigned long)dereference_symbol_descriptor(function);
	unsigned int i;

	for (i = 0; i < trace->nr; i++) {
		if (function && trace->starts[i] == start)
			return true;
	}

	return false;
}

NOKPROBE_SYMBOL(oops_trace_has);

static bool oops_is_of(const struct oops_trace *trace, struct kprobe *kp)
{
	if (return_is_probe(kp))
		return oops_trace_has(trace, container_of(kp, struct kretprobe, kp)->entry_handler);
	/* All jprobes share a pre_handler. */
	if (kprobe_kind(kp->hit_pre) == 'j')
		return oops_trace_has(trace, container_of(kp, struct jprobe, kp)->entry);

	return oops_trace_has(trace, kp->hit_pre) || oops_trace_has(trace, kp->post_handler);
}

NOKPROBE_SYMBOL(oops_is_of);

/*
 * Note which members of a point are to blame: a hit does not record whose handler it
 * calls. Take the members whose handlers are in the backtrace. Take all if there are
 * none, because a handler has jumped to the function that faulted.
 */
static void culprits_note(struct kprobe_point *point, struct pt_regs *regs)
{
	struct oops_trace trace;
	struct kprobe *kp;
	bool found = false;

	oops_trace_save(&trace, regs);
	list_for_each_entry_rcu(kp, &point->members, list, true) {
		if (oops_is_of(&trace, kp)) {
			culprit_note(kp);
			found = true;
		}
	}
	if (found)
		return;

	list_for_each_entry_rcu(kp, &point->members, list, true)
		culprit_note(kp);
}

NOKPROBE_SYMBOL(culprits_note);

static int oops_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	struct die_args *args = data;
	struct kprobe *kp;

	/* A hit runs with preemption disabled, so a preemptible task is in none. */
	if (event != DIE_OOPS || preemptible())
		return NOTIFY_DONE;
	kp = kprobe_running();
	if (!kp)
		return NOTIFY_DONE;

	/* When a function returns, the return probe itself is current, not its point. */
	if (kp->hit_pre == kprobe_dispatch_pre)
		culprits_note(point_of(kp), args->regs);
	else if (return_is_probe(kp))
		culprit_note(kp);

	if (kp->addr)
		pr_emerg("in a handler of the probe on %pS\n", kp->addr);
	/* rethook has no list of nodes that are taken, but not hooked: the instance is lost. */
	if (IS_ENABLED(CONFIG_KRETPROBES) && !IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK))
		kretprobe_entry_oopsed();
	reset_current_kprobe();
	if (__is_defined(ARCH_KPROBES_NATIVE))
		__this_cpu_write(kprobe_nr_interrupted, 0);
	fault_unwatch(NULL);

	return NOTIFY_DONE;
}

NOKPROBE_SYMBOL(oops_notify);

struct notifier_block kprobe_oops_nb = {
	.notifier_call = oops_notify,
};
