// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel probes: the functions that the rest of the kernel calls.
 *
 * Each of them calls down into the files in kernel/kprobes/, which share the types of
 * internal.h there.
 *
 * Calls only go down this list, also those that an inline function of a header makes for a file:
 *
 *	kprobes, return, jprobe, debugfs, oops
 *	request
 *	optimize
 *	module
 *	text
 *	ftrace
 *	neighbours
 *	point
 *	return_entry
 *	return_trampoline, return_pool, return_rethook
 *	hit
 *	fault
 *	table
 *	check
 *	blacklist
 *	function, slot
 *
 * Lock order, outermost first. The trap side takes none of them.
 *
 *	kprobe_mutex
 *	  cpus_read_lock()
 *	    jump_label_lock()
 *	      text_mutex
 *	        slot_mutex
 *	  the locks of ftrace (never with text_mutex held)
 *	  chunks_mutex
 *
 * None of them is held across a grace period.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/export.h>
#include <linux/init.h>
#include <linux/kdebug.h>
#include <linux/slab.h>

#include "kprobes/internal.h"

/* Serializes changes of points, of their members and of the global switches. */
DEFINE_MUTEX(kprobe_mutex);

bool kprobes_available __read_mostly;

static int requests_register(struct probe_request *reqs, unsigned int nr)
{
	bool wait = false;
	LIST_HEAD(work);
	LIST_HEAD(dead);
	int ret;

	if (!kprobes_available)
		return -EOPNOTSUPP;

	scoped_guard(mutex, &kprobe_mutex) {
		ret = kprobe_requests_join(reqs, nr, &work);
		ret = ret ?: kprobe_points_reconcile(&work);
		if (ret)
			kprobe_requests_remove(reqs, nr, &work);
		else
			wait = kprobe_requests_may_miss_post(reqs, nr);
		kprobe_points_finish(&work, &dead);
		kprobe_requests_release_modules(reqs, nr);
	}
	if (wait)
		synchronize_rcu_tasks();
	if (!ret)
		return 0;

	/* Running hits may have seen the probes that had joined, and their points. */
	if (kprobe_requests_any_joined(reqs, nr))
		kprobe_wait_for_hits();
	kprobe_points_free(&dead);
	kprobe_requests_restore(reqs, nr);

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
 * Return: 0, and @p->addr holds the probed address. On failure @p is unchanged, except that
 * @p->addr of a probe that is registered already is set to its probed address; the error is
 *
 * * -%EINVAL - @p is NULL, has both an address and a symbol or neither, is
 *   registered already, or names text that must not be probed
 * * -%ENOENT - no such symbol, no symbol at that address, or the text of a
 *   module that is not loaded far enough yet, or is being unloaded
 * * -%EADDRNOTAVAIL - several functions of the kernel itself have that name
 * * -%EILSEQ - not the first byte of an instruction, or in text that cannot be
 *   decoded up to there
 * * -%EOPNOTSUPP - an instruction that cannot be probed, or before kprobes are set up
 *   in early_initcall(), or when that has failed
 * * -%ENOMEM - no memory for the probe or for a copy of the instruction
 * * -%EBUSY - a livepatch or another user of ftrace owns the function, the sysctl
 *   kernel.ftrace_enabled keeps ftrace from calling it, or the kernel's debugger has a
 *   breakpoint at the address
 * * -%EAGAIN - a BPF program on the same ftrace site is being changed at the moment
 * * -%ENODEV - ftrace, which owns the address, has shut down
 * * -%EFAULT - a copy of the instruction could not be written, or the constant that it
 *   loads could not be read
 */
int register_kprobe(struct kprobe *p)
{
	struct probe_request req = { .kp = p };

	return requests_register(&req, 1);
}
EXPORT_SYMBOL_GPL(register_kprobe);

/**
 * register_kprobes() - register an array of probes, all or none
 * @kps: the probes
 * @num: how many there are
 *
 * The text of many probes is written in one round. Of those at the same address the
 * last in the array is called first.
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

/* arch/sh unregisters what get_kprobe() returned: remove all members of that point. */
static bool point_remove_members(struct kprobe *kp, struct list_head *work)
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
static bool member_remove(struct kprobe *kp, struct list_head *work)
{
	struct kprobe_point *point = kprobe_point_find_member(kp);

	if (!point)
		return false;

	kprobe_point_del_member(point, kp);
	point_queue(point, work);

	return true;
}

/* Return whether the caller has to wait for a grace period. */
static bool probes_remove(struct kprobe **kps, int num, struct list_head *work)
{
	bool any = false;
	int i;

	for (i = 0; i < num; i++) {
		if (!kps[i])
			continue;

		/*
		 * Leaving already: named twice in the array, or removed together with its
		 * point.
		 */
		if (member_remove(kps[i], work) || point_remove_members(kps[i], work) ||
		    kprobe_is_leaving(kps[i]))
			any = true;
		else
			kps[i]->addr = NULL;
	}

	return any;
}

/* Called a grace period later: no hit walks from one of these to another member any more. */
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
		any = probes_remove(kps, num, &work);
		kprobe_points_reconcile(&work);
		kprobe_points_finish(&work, &dead);
	}
	if (!any)
		return;

	kprobe_wait_for_hits();
	probes_restore(kps, num);
	kprobe_points_free(&dead);
}
EXPORT_SYMBOL_GPL(unregister_kprobes);

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

static int set_enabled(struct kprobe *kp, bool enable)
{
	struct probe_request req = { .kp = kp };
	LIST_HEAD(work);
	bool changes, wait;
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
		/* Disabling cannot fail, but arming the point for another member may. */
		if (ret && enable && changes) {
			kprobe_point_enable_member(req.point, kp, false);
			kprobe_points_reconcile(&work);
		}
		kprobe_points_finish(&work, NULL);
		wait = enable && kprobe_requests_may_miss_post(&req, 1);
	}
	/* Only now, and without @kp: another task may unregister and free it meanwhile. */
	if (wait)
		synchronize_rcu_tasks();

	return enable ? ret : 0;
}

/**
 * disable_kprobe() - keep a registered probe from being called
 * @kp: the probe
 *
 * Does not wait for handlers that are running already.
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

/**
 * enable_kprobe() - let a disabled probe be called again
 * @kp: the probe
 *
 * While debugfs "enabled" is 0, the probe is not called until that is 1 again.
 *
 * Context: Process context, may sleep. Takes the locks of register_kprobe().
 * Return: 0, also when it was enabled before; -%EINVAL when @kp is NULL or not
 * registered or its text is gone; -%ENOMEM, -%EBUSY, -%EAGAIN or -%ENODEV when
 * ftrace refuses the site, see register_kprobe().
 */
int enable_kprobe(struct kprobe *kp)
{
	return set_enabled(kp, true);
}
EXPORT_SYMBOL_GPL(enable_kprobe);

/**
 * kprobe_exceptions_notify() - the architecture's die notifier
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

int __weak __init arch_init_kprobes(void)
{
	return 0;
}

/*
 * Register the notifiers before the first probe: without them a trap may find no handler,
 * and a module may go while its text is probed. Some ports register probes in
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
	ret = ret ?: kprobe_module_init();
	kprobes_available = !ret;
	ret = ret ?: arch_init_kprobes();
	if (ret) {
		kprobes_available = false;
		pr_err("not available: %d\n", ret);
	}

	return ret;
}
early_initcall(kprobes_init);
