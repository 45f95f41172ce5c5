// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel probes: the functions that the rest of the kernel calls.
 *
 * Each of them is a short walk through the files in kernel/kprobes/, which all build on
 * the types of its point.h.
 *
 * Calls go down only:
 *
 *	kprobes, return, jprobe, debugfs
 *	optimize
 *	lifetime, oops
 *	reconcile
 *	jumps
 *	arm, ftrace
 *	neighbours
 *	want
 *	point, members
 *	return_entry
 *	return_trampoline, return_pool, return_rethook
 *	hit
 *	fault
 *	table, state
 *	check
 *	blacklist
 *	resolve
 *	function, sites, slot
 *	symbols, index
 *
 * Lock order, outermost first. The trap side takes none of them.
 *
 *	kprobe_mutex
 *	  cpus_read_lock()
 *	    jump_label_lock()
 *	      text_mutex
 *	        slot_mutex, blacklist_mutex
 *	  the locks of ftrace (never with text_mutex held)
 *	  chunks_mutex
 *
 * No grace period is waited for with any of them held, but for the rare one of an
 * ftrace site that moves, with kprobe_mutex.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kdebug.h>
#include <linux/memory.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "kprobes/blacklist.h"
#include "kprobes/check.h"
#include "kprobes/lifetime.h"
#include "kprobes/members.h"
#include "kprobes/oops.h"
#include "kprobes/point.h"
#include "kprobes/reconcile.h"
#include "kprobes/request.h"
#include "kprobes/return.h"
#include "kprobes/table.h"

/* Serializes all that changes points, their members and the switches. */
DEFINE_MUTEX(kprobe_mutex);

bool kprobes_available __read_mostly;

/* The caller's probe becomes a member here, and not before. */
static void request_join(struct probe_request *req, struct kprobe_point *point,
			 struct list_head *work)
{
	struct kprobe *kp = req->kp;

	req->saved.addr = kp->addr;
	req->saved.opcode = kp->opcode;
	req->saved.nmissed = kp->nmissed;
	req->saved.flags = kp->flags;
	req->point = point;

	kprobe_point_add_member(point, kp);
	point_queue(point, work);
}

static int request_find_point(struct probe_request *req, struct list_head *work)
{
	struct kprobe_point *point = kprobe_point_find(req->addr);
	int ret;

	if (point) {
		request_join(req, point, work);
		return 0;
	}

	ret = kprobe_check(req);
	if (ret)
		return ret;

	point = kprobe_point_create(req->addr, req->on_entry, req->on_ftrace);
	if (IS_ERR(point))
		return kprobe_check_refused(req, PTR_ERR(point));

	kprobe_point_publish(point);
	request_join(req, point, work);

	return 0;
}

static int request_cmp(const void *a, const void *b)
{
	const struct probe_request *left = a, *right = b;

	if (left->addr != right->addr)
		return left->addr < right->addr ? -1 : 1;

	return left->index < right->index ? -1 : 1;
}

/* By address; those that name the same address stay in the caller's order. */
static void requests_sort(struct probe_request *reqs, unsigned int nr)
{
	unsigned int i;

	for (i = 1; i < nr; i++) {
		if (request_cmp(&reqs[i - 1], &reqs[i]) > 0) {
			sort(reqs, nr, sizeof(*reqs), request_cmp, NULL);
			return;
		}
	}
}

/*
 * Find the address and pin its module. The init text of a module may be freed between the
 * two: then the address is not text any more, and the symbol is gone when it is looked up
 * again. A symbol of data has the same address both times.
 */
static int request_resolve(struct probe_request *req)
{
	unsigned long before;
	int ret;

	if (!req->kp)
		return -EINVAL;
	if (kprobe_is_registered(req->kp)) {
		pr_debug("%pS: already registered\n", req->kp->addr);
		return -EINVAL;
	}

	do {
		before = req->addr;
		ret = kprobe_resolve_address(req);
		ret = ret ?: kprobe_lifetime_hold(req);
	} while (!ret && !req->module && !core_kernel_text(req->addr) && req->addr != before);

	return ret;
}

/**
 * struct first_failure - what the caller is told when requests fail
 * @index: place in the caller's array of the first request known to fail; the error of
 *	one behind it does not matter
 * @err: its error
 */
struct first_failure {
	unsigned int index;
	int err;
};

/* Before the locks of others are taken, for it may take a while. */
static struct first_failure requests_resolve(struct probe_request *reqs, unsigned int nr)
{
	struct first_failure first = {};

	for (; first.index < nr; first.index++) {
		first.err = request_resolve(&reqs[first.index]);
		if (first.err)
			break;
		cond_resched();
	}

	return first;
}

static int request_settle(struct probe_request *req, struct list_head *work)
{
	int ret;

	/* The caller may have named it twice. */
	if (kprobe_is_registered(req->kp))
		return -EINVAL;
	ret = kprobe_resolve_place(req);

	return ret ?: request_find_point(req, work);
}

/* Requests that join before others get a turn at the locks: to decode takes a while. */
#define JOIN_CHUNK	64

/* Held throughout: what keeps the text, and what others have reserved of it, as it is. */
static void requests_join_chunk(struct probe_request *reqs, unsigned int nr,
				struct first_failure *first, struct list_head *work)
{
	struct probe_request *req;
	int ret;

	guard(cpus_read_lock)();
	guard(jump_label_lock)();
	guard(mutex)(&text_mutex);

	for (req = reqs; req < reqs + nr; req++) {
		if (req->index > first->index)
			continue;
		ret = request_settle(req, work);
		if (ret)
			*first = (struct first_failure){ req->index, ret };
	}
	arch_finish_prepare_kprobes();
}

/*
 * Let each request join its point, neighbours one after the other, so that what is
 * looked up for one serves the next; all that can fail but the arming comes in here.
 */
static int requests_join(struct probe_request *reqs, unsigned int nr, struct list_head *work)
{
	struct first_failure first;
	unsigned int i, nr_resolved;
	int ret;

	ret = kprobe_points_reserve(nr);
	if (ret)
		return ret;

	first = requests_resolve(reqs, nr);
	nr_resolved = first.index;
	requests_sort(reqs, nr_resolved);
	for (i = 0; i < nr_resolved; i += JOIN_CHUNK) {
		requests_join_chunk(reqs + i, min(nr_resolved - i, JOIN_CHUNK), &first, work);
		cond_resched();
	}

	return first.err;
}

static bool requests_any_joined(struct probe_request *reqs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (reqs[i].point)
			return true;
	}

	return false;
}

/* Undo requests_join(), all but what hits may still see. */
static void requests_leave(struct probe_request *reqs, unsigned int nr, struct list_head *work)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (reqs[i].point)
			kprobe_point_del_member(reqs[i].point, reqs[i].kp);
	}

	kprobe_points_reconcile_most(work);
}

static void requests_release_modules(struct probe_request *reqs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		kprobe_lifetime_release(&reqs[i]);
}

/* Give the caller's struct back as it was, and unlinked. */
static void request_restore(struct probe_request *req)
{
	struct kprobe *kp = req->kp;

	kp->addr = req->saved.addr;
	kp->opcode = req->saved.opcode;
	kp->nmissed = req->saved.nmissed;
	kp->flags = req->saved.flags;
	kprobe_has_left(kp);
}

/* Those that have not joined have nothing to restore, and may be registered already. */
static void requests_restore(struct probe_request *reqs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (reqs[i].point)
			request_restore(&reqs[i]);
	}
}

/* Has a member with a post_handler joined where a task may be in a detour? */
static bool requests_any_postponed(struct probe_request *reqs, unsigned int nr)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (!reqs[i].point || !kprobe_member_is_postponed(reqs[i].kp))
			continue;
		reqs[i].jumps = reqs[i].point->jumps;
		any = true;
	}

	return any;
}

/* A task may have been preempted in a detour before it has disabled preemption itself. */
static void requests_include_postponed(struct probe_request *reqs, unsigned int nr)
{
	struct kprobe_point *point;
	unsigned int i;

	synchronize_rcu_tasks();

	guard(mutex)(&kprobe_mutex);
	for (i = 0; i < nr; i++) {
		point = kprobe_point_find_member(reqs[i].kp);
		if (point)
			kprobe_point_include_postponed(point, reqs[i].kp, reqs[i].jumps);
	}
}

static int requests_register(struct probe_request *reqs, unsigned int nr)
{
	bool postponed = false;
	LIST_HEAD(work);
	LIST_HEAD(dead);
	int ret;

	if (!kprobes_available)
		return -EOPNOTSUPP;

	scoped_guard(mutex, &kprobe_mutex) {
		ret = requests_join(reqs, nr, &work);
		ret = ret ?: kprobe_points_reconcile(&work);
		if (ret)
			requests_leave(reqs, nr, &work);
		else
			postponed = requests_any_postponed(reqs, nr);
		kprobe_points_bury(&work, &dead);
		requests_release_modules(reqs, nr);
	}
	if (postponed)
		requests_include_postponed(reqs, nr);
	if (!ret)
		return 0;

	/* Hits may have seen probes that had joined, and their points. */
	if (requests_any_joined(reqs, nr))
		synchronize_rcu();
	kprobe_points_free(&dead);
	requests_restore(reqs, nr);

	return ret;
}

/**
 * register_kprobe() - probe one instruction
 * @p: the probe, with either @p->addr or @p->symbol_name set, @p->offset in
 *	bytes, and the handlers to call. It belongs to kprobes until
 *	unregister_kprobe() has returned.
 *
 * With %KPROBE_FLAG_DISABLED in @p->flags the probe waits for enable_kprobe().
 *
 * Context: Process context, may sleep. Takes kprobe_mutex, cpus_read_lock(),
 * jump_label_lock(), text_mutex and, for a probe on an ftrace site, the locks of
 * ftrace.
 * Return: 0, @p->addr then holds the address probed. On failure @p is as it was, but
 * @p->addr of a probe that is registered already holds the address probed, and
 *
 * * -%EINVAL - @p is NULL, has both an address and a symbol or neither, is
 *   registered already, or names text that must not be probed
 * * -%ENOENT - no such symbol, no symbol at that address, or the text of a
 *   module that is not quite there yet, or on its way out
 * * -%EADDRNOTAVAIL - several functions of the kernel itself have that name
 * * -%EILSEQ - not the first byte of an instruction, or in text that cannot be
 *   decoded up to there
 * * -%EOPNOTSUPP - an instruction that cannot be probed, or before kprobes are set up
 *   in early_initcall(), or when that has failed
 * * -%ENOMEM - no memory for the probe or for a copy of the instruction
 * * -%EBUSY - a livepatch or another user of ftrace owns the function, or the
 *   kernel's debugger has a breakpoint at the address
 * * -%EAGAIN - a BPF program on the same ftrace site is just being changed
 * * -%ENODEV - ftrace, which owns the address, has shut down
 * * -%EFAULT - a copy of the instruction could not be written, or the constant
 *   that it loads not be read
 */
int register_kprobe(struct kprobe *p)
{
	struct probe_request req = { .kp = p };

	return requests_register(&req, 1);
}
EXPORT_SYMBOL_GPL(register_kprobe);
NOKPROBE_SYMBOL(register_kprobe);

/**
 * register_kprobes() - register an array of probes, all or none
 * @kps: the probes
 * @num: how many there are
 *
 * The text of many probes is written in one round. Of those at the same address the
 * first in the array is called first.
 *
 * Context: As register_kprobe().
 * Return: 0, -%EINVAL when @kps is NULL or @num not positive, -%ENOMEM, or the
 * error of the first probe that could not be registered; see register_kprobe().
 */
int register_kprobes(struct kprobe **kps, int num)
{
	struct probe_request *reqs __free(kvfree) = NULL;
	int i;

	if (!kps || num <= 0)
		return -EINVAL;

	reqs = kvcalloc(num, sizeof(*reqs), GFP_KERNEL | __GFP_NOWARN);
	if (!reqs)
		return -ENOMEM;
	for (i = 0; i < num; i++) {
		reqs[i].kp = kps[i];
		reqs[i].index = i;
	}

	return requests_register(reqs, num);
}
EXPORT_SYMBOL_GPL(register_kprobes);
NOKPROBE_SYMBOL(register_kprobes);

/* arch/sh unregisters what get_kprobe() returned: remove all members of that point. */
static bool point_leaves(struct kprobe *kp, struct list_head *work)
{
	struct kprobe_point *point = kprobe_point_find((unsigned long)kp->addr);
	struct kprobe *member, *next;

	if (!point || kp != &point->op.kp)
		return false;

	list_for_each_entry_safe(member, next, &point->members, list)
		kprobe_point_del_member(point, member);
	point_queue(point, work);

	return true;
}

/* Remove a probe from its point, and queue the point. */
static bool member_leaves(struct kprobe *kp, struct list_head *work)
{
	struct kprobe_point *point = kprobe_point_find_member(kp);

	if (!point)
		return false;

	kprobe_point_del_member(point, kp);
	point_queue(point, work);

	return true;
}

/* Returns whether a grace period has to be waited for. */
static bool probes_leave(struct kprobe **kps, int num, struct list_head *work)
{
	bool any = false;
	int i;

	for (i = 0; i < num; i++) {
		if (!kps[i])
			continue;

		/* The last: named twice in the array, or gone with its point. */
		if (member_leaves(kps[i], work) || point_leaves(kps[i], work) ||
		    kprobe_is_leaving(kps[i]))
			any = true;
		else
			kps[i]->addr = NULL;
	}

	return any;
}

/* A grace period later: nobody walks from one of these to others any more. */
static void probes_restore(struct kprobe **kps, int num)
{
	int i;

	for (i = 0; i < num; i++) {
		if (kps[i] && kprobe_is_leaving(kps[i]))
			kprobe_has_left(kps[i]);
	}
}

/**
 * unregister_kprobes() - unregister an array of probes
 * @kps: the probes; the address of one that is not registered is cleared
 * @num: how many there are
 *
 * All of them wait for one grace period together.
 *
 * Context: Process context, may sleep. Takes the locks of register_kprobe().
 * When it returns, no handler of these probes runs any more.
 */
void unregister_kprobes(struct kprobe **kps, int num)
{
	bool any;
	LIST_HEAD(work);
	LIST_HEAD(dead);

	if (!kps || num <= 0)
		return;

	scoped_guard(mutex, &kprobe_mutex) {
		any = probes_leave(kps, num, &work);
		kprobe_points_reconcile_most(&work);
		kprobe_points_bury(&work, &dead);
	}
	if (!any)
		return;

	synchronize_rcu();
	probes_restore(kps, num);
	kprobe_points_free(&dead);
}
EXPORT_SYMBOL_GPL(unregister_kprobes);
NOKPROBE_SYMBOL(unregister_kprobes);

/**
 * unregister_kprobe() - remove a probe
 * @p: the probe; when it is not registered its address is cleared
 *
 * Context: As unregister_kprobes().
 */
void unregister_kprobe(struct kprobe *p)
{
	unregister_kprobes(&p, 1);
}
EXPORT_SYMBOL_GPL(unregister_kprobe);
NOKPROBE_SYMBOL(unregister_kprobe);

static int set_enabled(struct kprobe *kp, bool enable)
{
	struct probe_request req = { .kp = kp };
	LIST_HEAD(nothing_dies);
	LIST_HEAD(work);
	bool changes, postponed;
	int ret;

	if (!kp)
		return -EINVAL;

	scoped_guard(mutex, &kprobe_mutex) {
		req.point = kprobe_point_find_member(kp);
		if (!req.point || (enable && kprobe_gone(kp)))
			return -EINVAL;

		changes = kprobe_point_enable_member(req.point, kp, enable);
		point_queue(req.point, &work);
		ret = kprobe_points_reconcile(&work);
		/* Disabling cannot fail, but arming another member's point may. */
		if (ret) {
			if (enable && changes)
				kprobe_point_enable_member(req.point, kp, false);
			kprobe_points_reconcile_most(&work);
		}
		kprobe_points_bury(&work, &nothing_dies);
		postponed = enable && requests_any_postponed(&req, 1);
	}
	if (postponed)
		requests_include_postponed(&req, 1);

	return enable ? ret : 0;
}

/**
 * disable_kprobe() - keep a registered probe from being called
 * @kp: the probe
 *
 * A handler that runs already is not waited for.
 *
 * Context: Process context, may sleep. Takes the locks of register_kprobe().
 * Return: 0, also when it was disabled before; -%EINVAL when @kp is NULL or not
 * registered.
 */
int disable_kprobe(struct kprobe *kp)
{
	return set_enabled(kp, false);
}
EXPORT_SYMBOL_GPL(disable_kprobe);
NOKPROBE_SYMBOL(disable_kprobe);

/**
 * enable_kprobe() - let a disabled probe be called again
 * @kp: the probe
 *
 * While debugfs "enabled" is 0 the probe stays silent until that is 1 again.
 *
 * Context: Process context, may sleep. Takes the locks of register_kprobe().
 * Return: 0, also when it was enabled before; -%EINVAL when @kp is NULL or not
 * registered or its text is gone; -%ENOMEM, -%EBUSY, -%EAGAIN or -%ENODEV when
 * ftrace does not give the site, see register_kprobe().
 */
int enable_kprobe(struct kprobe *kp)
{
	return set_enabled(kp, true);
}
EXPORT_SYMBOL_GPL(enable_kprobe);
NOKPROBE_SYMBOL(enable_kprobe);

/**
 * kprobe_exceptions_notify() - an architecture's way to hear of traps
 * @self: the notifier
 * @val: an enum die_val
 * @data: a struct die_args
 *
 * Context: A trap.
 * Return: NOTIFY_STOP when the trap was a probe's, NOTIFY_DONE otherwise.
 */
int __weak kprobe_exceptions_notify(struct notifier_block *self, unsigned long val, void *data)
{
	return NOTIFY_DONE;
}

NOKPROBE_SYMBOL(kprobe_exceptions_notify);

static struct notifier_block exceptions_nb = {
	.notifier_call = kprobe_exceptions_notify,
	.priority = INT_MAX,
};

/*
 * The notifiers come before the first probe: without them a trap may find no handler, and
 * a module may go while its text is probed. Some ports register probes in
 * arch_init_kprobes().
 */
static int __init kprobes_init(void)
{
	int ret;

	ret = kprobe_points_init();
	ret = ret ?: kprobe_blacklist_init();
	ret = ret ?: kretprobe_init();
	ret = ret ?: register_die_notifier(&exceptions_nb);
	ret = ret ?: kprobe_oops_init();
	ret = ret ?: kprobe_lifetime_init();
	kprobes_available = !ret;
	ret = ret ?: arch_init_kprobes();
	if (ret) {
		kprobes_available = false;
		pr_err("not available: %d\n", ret);
	}

	return ret;
}
early_initcall(kprobes_init);
