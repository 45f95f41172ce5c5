// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code that runs when a probe is hit, in whatever context the probed code was: it takes
 * no lock, allocates nothing, and may not be probed or traced itself.
 *
 * The architecture's trap code finds the point with get_kprobe(), makes it current and
 * calls the pre_handler and post_handler of its struct kprobe. These are the two
 * dispatchers below, which call the members. If only one member has a pre_handler to call, and
 * no other has a post_handler, kprobe_call_pre_handler() calls it directly, except with
 * CONFIG_KPROBES_FAULT_HANDLER: then a dispatcher has to record whose handler is running.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/rculist.h>

#include "internal.h"

static_assert(offsetof(struct kprobe, addr) == KPROBE_ADDR);

/* As current_kprobe it means that handlers must not run on this CPU. */
static struct kprobe kprobe_busy;

/* Count a missed hit for every member that would have been called. Return how many there are. */
static unsigned int hit_miss(struct kprobe_point *point)
{
	unsigned int nr = 0;
	struct kprobe *kp;

	list_for_each_entry_rcu(kp, &point->members, list, true) {
		if (!kprobe_disabled(kp)) {
			count_missed(&kp->nmissed, 1);
			nr++;
		}
	}

	return nr;
}

NOKPROBE_SYMBOL(hit_miss);

#ifdef ARCH_KPROBES_NATIVE
DEFINE_PER_CPU(struct kprobe *, current_kprobe);
DEFINE_PER_CPU(struct kprobe_ctlblk, kprobe_ctlblk);

/*
 * Task, softirq and hardirq context can each have one interrupted hit; the innermost hit
 * runs in NMI context.
 */
#define INTERRUPTED_MAX	3

/**
 * struct interrupted_hit - a hit that another context has interrupted
 * @kp: the probe that was current
 * @addr: its address
 * @ctlblk: saved state of the architecture
 */
struct interrupted_hit {
	struct kprobe *kp;
	kprobe_opcode_t *addr;
	struct kprobe_ctlblk ctlblk;
};

static DEFINE_PER_CPU(struct interrupted_hit [INTERRUPTED_MAX], interrupted_hit);

/* Entries in use in interrupted_hit[]; read at the end of a hit that may have interrupted one. */
DEFINE_PER_CPU(unsigned int, kprobe_nr_interrupted);

/* Has an interrupt, softirq or NMI begun since the hit that is under way? */
static __always_inline bool hit_was_interrupted(unsigned int now)
{
	unsigned int then = __this_cpu_read(kprobe_ctlblk.context);

	if (kprobe_running() == &kprobe_busy)
		return false;

	return (now & NMI_MASK) > (then & NMI_MASK) ||
	       (now & HARDIRQ_MASK) > (then & HARDIRQ_MASK) ||
	       (now & SOFTIRQ_OFFSET) > (then & SOFTIRQ_OFFSET);
}

/*
 * Does this CPU handle a hit at the address of @p? The handlers there must not nest, as they
 * may take locks. An NMI that interrupts kprobe_hit_push() may find its entry half written,
 * but then the hit being pushed is still current.
 */
static __always_inline bool hit_is_under_way(struct kprobe *p)
{
	unsigned int i, nr = __this_cpu_read(kprobe_nr_interrupted);

	if (kprobe_running()->addr == p->addr)
		return true;

	for (i = 0; i < nr; i++) {
		if (this_cpu_ptr(interrupted_hit)[i].addr == p->addr)
			return true;
	}

	return false;
}

/*
 * Push the running hit and make @p current; kprobe_hit_pop() pops it. Fails when
 * INTERRUPTED_MAX hits are pushed already.
 */
bool kprobe_hit_push(struct kprobe *p)
{
	unsigned int nr = __this_cpu_read(kprobe_nr_interrupted);
	struct interrupted_hit *outer = this_cpu_ptr(&interrupted_hit[nr]);

	if (nr == INTERRUPTED_MAX)
		return false;

	/* Reserve the entry first, so that an NMI uses the next one. */
	__this_cpu_write(kprobe_nr_interrupted, nr + 1);
	barrier();
	outer->kp = kprobe_running();
	outer->addr = outer->kp->addr;
	outer->ctlblk = *get_kprobe_ctlblk();
	/* Only then change what is current: an NMI's hit_is_under_way() looks at both. */
	barrier();
	kprobe_hit_begin(p);

	return true;
}

NOKPROBE_SYMBOL(kprobe_hit_push);

/*
 * Push the interrupted hit and handle this one, unless both are at one address. An NMI may do
 * the same at any moment within this function.
 */
static bool hit_interrupts(struct kprobe *p, unsigned int trap_count)
{
	return hit_was_interrupted(preempt_count() - trap_count) && !hit_is_under_way(p) &&
	       kprobe_hit_push(p);
}

NOKPROBE_SYMBOL(hit_interrupts);

/**
 * kprobe_hit_nested() - begin a hit while another is under way, or count it as missed
 * @p: the probe that get_kprobe() found
 * @trap_count: what the exception that brought the hit has added to preempt_count()
 *
 * Context: A trap, or wherever a detour or an ftrace site is; preemption disabled.
 * Return: true when @p is current now; false when the hit comes from a handler, while
 * handlers of the same address run, between kprobe_busy_begin() and kprobe_busy_end(), or
 * when too many hits are interrupted already. Then the caller calls no handler and leaves
 * the state of the other hit alone: it only executes the instruction.
 */
bool kprobe_hit_nested(struct kprobe *p, unsigned int trap_count)
{
	struct kprobe_point *point = point_of(p);
	unsigned int missed;

	if (hit_interrupts(p, trap_count))
		return true;

	missed = hit_miss(point);
	if (hit_is_under_way(p))
		count_missed(&point->missed_same, missed);

	return false;
}

NOKPROBE_SYMBOL(kprobe_hit_nested);

/**
 * kprobe_hit_pop() - end a hit that has interrupted another, and continue that one
 *
 * Context: As kprobe_hit_nested().
 */
void kprobe_hit_pop(void)
{
	unsigned int nr = __this_cpu_read(kprobe_nr_interrupted) - 1;
	struct interrupted_hit *outer = this_cpu_ptr(&interrupted_hit[nr]);

	*get_kprobe_ctlblk() = outer->ctlblk;
	/* An NMI's hit_was_interrupted() compares with the context of the hit that is current. */
	barrier();
	__this_cpu_write(current_kprobe, outer->kp);
	/* Free the entry last: an NMI's kprobe_hit_push() may reuse it. */
	barrier();
	__this_cpu_write(kprobe_nr_interrupted, nr);
}

NOKPROBE_SYMBOL(kprobe_hit_pop);

/**
 * kprobe_hit_fixed_up() - end a hit whose instruction's fault was fixed up
 * @addr: address of the probe, if it is still there; the hit has ended with the fault
 * @regs: registers after the fixup
 * @trap_count: what the exception has added to preempt_count()
 *
 * Disables interrupts, as in a breakpoint's trap, or a hit of this address in one would be
 * missed. Calls nothing if this hit was itself missed.
 *
 * Context: The exception.
 */
void kprobe_hit_fixed_up(unsigned long addr, struct pt_regs *regs, unsigned int trap_count)
{
	struct kprobe *p;

	guard(preempt_notrace)();
	p = get_kprobe((kprobe_opcode_t *)addr);
	if (!p || !READ_ONCE(p->post_handler))
		return;

	guard(irqsave)();
	if (!kprobe_running())
		kprobe_hit_begin(p);
	else if (!hit_interrupts(p, trap_count))
		return;
	kprobe_hit_finish(p, regs, true);
}

NOKPROBE_SYMBOL(kprobe_hit_fixed_up);
#endif

static int end_pre_handler(struct kprobe *kp, struct pt_regs *regs)
{
	return 1;
}

NOKPROBE_SYMBOL(end_pre_handler);

/* Sentinel after the last called member of every point: its hit_pre ends the walk. */
struct kprobe kprobe_called_end = { .hit_pre = end_pre_handler };

static __always_inline int call_pre_handler(struct kprobe *kp, struct pt_regs *regs)
{
	struct kprobe *before = fault_watch(kp);
	int ret = kp->hit_pre(kp, regs);

	fault_unwatch(before);

	return ret;
}

/*
 * The pre_handler of every point. kprobe_call_pre_handler() calls that of the handler_probe: of
 * a single called member directly, otherwise of the point's own struct kprobe, which leads
 * here.
 */
int kprobe_dispatch_pre(struct kprobe *p, struct pt_regs *regs)
{
	struct hlist_node *first = READ_ONCE(point_of(p)->called.first);
	struct kprobe *kp = hlist_entry(first, struct kprobe, hlist);
	int ret;

	while (!(ret = call_pre_handler(kp, regs)))
		kp = hlist_entry(READ_ONCE(kp->hlist.next), struct kprobe, hlist);

	return kp == &kprobe_called_end ? 0 : ret;
}

NOKPROBE_SYMBOL(kprobe_dispatch_pre);

/* Walk from node to node, which saves computing each member's address twice. */
void kprobe_dispatch_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	struct list_head *members = &point_of(p)->members, *node;
	kprobe_post_handler_t post;
	struct kprobe *kp, *before;

	for (node = READ_ONCE(members->next); node != members; node = READ_ONCE(node->next)) {
		kp = list_entry(node, struct kprobe, list);
		/* Its owner may clear it at any time. */
		post = READ_ONCE(kp->post_handler);
		if (!post || kprobe_disabled(kp))
			continue;
		before = fault_watch(kp);
		post(kp, regs, flags);
		fault_unwatch(before);
	}
}

NOKPROBE_SYMBOL(kprobe_dispatch_post);

#ifdef CONFIG_OPTPROBES
/**
 * opt_pre_handler() - call the handlers from a detour that always continues after the
 * probe
 * @p: the probe that the detour belongs to, set as current
 * @regs: registers at the probed instruction
 *
 * For architectures whose detours cannot continue elsewhere: a handler that asks for
 * another instruction pointer does not get it, and the handlers after it are still
 * called.
 *
 * Context: The detour, preemption disabled.
 */
void opt_pre_handler(struct kprobe *p, struct pt_regs *regs)
{
	struct kprobe *kp;

	hlist_for_each_entry_rcu(kp, &point_of(p)->called, hlist, true)
		kp->hit_pre(kp, regs);
}

NOKPROBE_SYMBOL(opt_pre_handler);
#endif

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
	hit_miss(point_of(p));
}

NOKPROBE_SYMBOL(kprobes_inc_nmissed_count);

/**
 * dump_kprobe() - print the probe at which something went wrong
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
 * Context: Any in which no hit is under way, see kprobe_running(): that would be lost.
 * Returns with preemption disabled.
 */
void kprobe_busy_begin(void)
{
	preempt_disable();
	kprobe_hit_begin(&kprobe_busy);
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
