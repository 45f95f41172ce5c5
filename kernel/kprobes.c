// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel probes: the functions that the rest of the kernel calls, and the requests that an
 * array of probes is while it is registered. The other files are in kernel/kprobes/, and share
 * the types of internal.h there.
 *
 * A registration: each probe is a request. kprobe_resolve_address() (check.c) finds its address,
 * and kprobe_module_hold() (module.c) pins the module there. Under the locks that keep the text
 * as it is, kprobe_resolve_place() moves the request to where the architecture wants it, asking
 * function.c, and joins it to the point there: to the one of the table (table.c), or after
 * kprobe_check() (check.c, blacklist.c) to a new one (point.c), for which the architecture
 * copies the instruction to a slot (slot.c). Then kprobe_points_reconcile() (text.c, ftrace.c)
 * writes the breakpoints of all of them in one round. What fails is undone, and the caller gets
 * the error of the first probe that failed. A worker (optimize.c) replaces breakpoints by jumps
 * where neighbours.c sees no conflict.
 *
 * A hit: the trap of the architecture finds the point by get_kprobe() (table.c), and
 * hit_breakpoint() in <linux/kprobes_hit.h> makes it current, calls the members' pre_handlers by
 * kprobe_dispatch_pre() (hit.c), executes the instruction, calls the post_handlers, and ends the
 * hit. fault.c asks the fault_handler of a member whose handler has faulted.
 *
 * A return: the pre_handler of a return probe (return_entry.c) takes an instance from the pool
 * (return_pool.c) and diverts the return address. The trampoline calls return_trampoline.c, which
 * calls the handlers of the frame and returns to the caller. return_rethook.c does the same for
 * ports that use rethook. return.c registers them.
 *
 * Calls only go down this list, also those that an inline function of a header makes for a file:
 *
 *	kprobes, return, jprobe, debugfs, oops
 *	optimize
 *	module
 *	text
 *	ftrace, neighbours
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

#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kdebug.h>
#include <linux/memory.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "kprobes/internal.h"

/* Serializes changes of points, of their members and of the global switches. */
DEFINE_MUTEX(kprobe_mutex);

bool kprobes_available __read_mostly;

/* Save what request_restore() puts back, and make the caller's probe a member. */
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

	/* kprobe_points_reserve() has made room. */
	kprobe_table_add(point);
	request_join(req, point, work);

	return 0;
}

static int request_cmp(const void *a, const void *b)
{
	const struct probe_request *left = a, *right = b;

	if (left->order != right->order)
		return left->order < right->order ? -1 : 1;

	return left->index < right->index ? -1 : 1;
}

/* Sort by address; requests for one place keep the caller's order. */
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
 * Sort a function's entry and the address behind its landing pad as equal: later
 * kprobe_resolve_place() may move the one to the other, which depends on the symbol.
 */
static void request_set_order(struct probe_request *req)
{
	kprobe_opcode_t *place = NULL;
	bool on_entry;

	if (req->module || core_kernel_text(req->addr))
		place = arch_adjust_kprobe_addr(req->addr, 0, &on_entry);
	req->order = place ? (unsigned long)place : req->addr;
}

/*
 * Find the address and pin its module. The init text of a module may be freed in between;
 * then nothing is pinned. Look the symbol up again in that case: it is gone if its text was
 * freed, and has the same address as before if it is a symbol of data.
 */
static int request_resolve(struct probe_request *req)
{
	unsigned long before;
	int ret;

	if (!req->kp) {
		pr_debug("a probe is NULL\n");
		return -EINVAL;
	}
	if (kprobe_is_registered(req->kp))
		return -EINVAL;

	do {
		before = req->addr;
		ret = kprobe_resolve_address(req);
		ret = ret ?: kprobe_module_hold(req);
	} while (!ret && !req->module && !core_kernel_text(req->addr) && req->addr != before);
	if (!ret)
		request_set_order(req);

	return ret;
}

/**
 * struct first_failure - the failure that the caller gets
 * @index: index in the caller's array of the first request known to fail; errors of later
 *	requests do not matter
 * @err: its error
 */
struct first_failure {
	unsigned int index;
	int err;
};

/* Resolve before the text locks are taken, because it may take a while. */
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

	/* Check again: the array may name the probe twice. */
	if (kprobe_is_registered(req->kp))
		return -EINVAL;
	ret = kprobe_resolve_place(req);
	/* Another module may have been loaded here since register_kretprobe() checked this. */
	if (!ret && return_is_request(req->kp) && !req->on_entry)
		ret = -EINVAL;

	return ret ?: request_find_point(req, work);
}

/* Number of requests that join under one hold of the locks: decoding takes a while. */
#define JOIN_CHUNK	64

/*
 * The locks keep the text, and what others have reserved of it, unchanged for the whole
 * chunk.
 */
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
 * Join each request to its point, in the order of addresses, so that neighbours use the same
 * look-ups. All failures except those of arming happen here.
 */
static int kprobe_requests_join(struct probe_request *reqs, unsigned int nr, struct list_head *work)
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

static bool kprobe_requests_any_joined(struct probe_request *reqs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (reqs[i].point)
			return true;
	}

	return false;
}

/* Undo kprobe_requests_join(), except for what running hits may still use. */
static void kprobe_requests_remove(struct probe_request *reqs, unsigned int nr,
				   struct list_head *work)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (reqs[i].point)
			kprobe_point_del_member(reqs[i].point, reqs[i].kp);
	}

	kprobe_points_reconcile(work);
}

static void kprobe_requests_release_modules(struct probe_request *reqs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		kprobe_module_release(&reqs[i]);
}

/* Restore the caller's struct as it was, unlinked. */
static void request_restore(struct probe_request *req)
{
	struct kprobe *kp = req->kp;

	kp->addr = req->saved.addr;
	kp->opcode = req->saved.opcode;
	kp->nmissed = req->saved.nmissed;
	kp->flags = req->saved.flags;
	kprobe_has_left(kp);
}

/* A request that did not join has nothing to restore; its probe may be registered already. */
static void kprobe_requests_restore(struct probe_request *reqs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (reqs[i].point)
			request_restore(&reqs[i]);
	}
}

/*
 * May a hit call the pre_handler of one of these but not its post_handler, because it is in a
 * detour that calls none? That is over an RCU-tasks grace period later. The states of the points
 * do not answer this, nor whether their next jumps call post_handlers: a task may be preempted
 * in the detour for long after the jump was removed, and before it calls pre_handlers.
 */
static bool kprobe_requests_may_miss_post(struct probe_request *reqs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct kprobe_point *point = reqs[i].point;
		struct kprobe *kp = reqs[i].kp;

		if (point && kp->hit_pre && (kp->flags & KPROBE_FLAG_POST) &&
		    !kprobe_disabled(kp) && !kprobe_detour_is_idle(point))
			return true;
	}

	return false;
}

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
