// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel probes: the functions that the rest of the kernel calls, and the batches of probes that
 * they change. The other files are in kernel/kprobes/, and share the types of internal.h there.
 *
 * A registration is a batch of requests, one for each probe. batch_collect() finds their addresses
 * by kprobe_resolve_address() (check.c) and pins their modules by kprobe_module_hold() (module.c).
 * Under the locks that keep the text as it is, batch_join() moves each request to where the
 * architecture wants it, by kprobe_resolve_place(), which asks function.c for the function, and
 * makes the probe a member of the point there: of one in the table (table.c), or after
 * kprobe_check() (check.c, blacklist.c) of a new one (point.c), for which the architecture copies
 * the instruction to a slot (slot.c). kprobe_points_reconcile() (text.c, ftrace.c) writes all
 * breakpoints in one round, and batch_settle() lets go. What fails is undone, and the caller gets
 * the error of the first probe that failed. Later a worker (optimize.c) replaces breakpoints by
 * jumps where neighbours.c sees no conflict.
 *
 * A hit: the trap of the architecture finds the point by get_kprobe() (table.c), and
 * hit_breakpoint() in <linux/kprobes_hit.h> makes it current and calls the pre_handlers: that of a
 * single member directly, otherwise by kprobe_dispatch_pre() (hit.c). Unless one of them has set
 * another instruction pointer, the instruction is executed. Without post_handlers the hit ends
 * before that; with them, after they have been called. fault.c asks the fault_handler of a member
 * whose handler has faulted.
 *
 * A return: the pre_handler of a return probe (return_entry.c) takes an instance from the pool
 * (return_pool.c) and diverts the return address. The trampoline calls return_trampoline.c, which
 * calls the handlers of the frame and returns to the caller. return_rethook.c does the same for
 * ports that use rethook. return.c registers them.
 *
 * Calls only go down this list, also those that an inline function of a header makes for a file:
 *
 *	debugfs, try, oops
 *	jprobe, return
 *	kprobes
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
 *	function, slot, refused
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
 * None of them is held across a grace period. spares_mutex and try_mutex are taken alone, and
 * refused_lock, a raw spinlock, is innermost.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/err.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kdebug.h>
#include <linux/memory.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "kprobes/internal.h"

/* Serializes changes of points, of their members and of the global switches. */
DEFINE_MUTEX(kprobe_mutex);

bool kprobes_available __read_mostly;

/**
 * struct kprobe_batch - probes that are changed together, under one hold of kprobe_mutex
 * @reqs: the requests of a registration
 * @nr: how many there are
 * @failed: index in the caller's array of the first request known to fail; the errors of
 *	later ones do not matter
 * @err: its error
 * @work: points that the batch concerns, until their text has followed
 * @dead: those of them that have lost their last member, freed when no hit uses them
 * @seen: hits may have seen a probe that has joined, or one that has been removed
 * @misses_post: a hit under way may call a pre_handler, but not the post_handler
 */
struct kprobe_batch {
	struct probe_request *reqs;
	unsigned int nr;
	unsigned int failed;
	int err;
	struct list_head work;
	struct list_head dead;
	bool seen;
	bool misses_post;
};

/*
 * Find the address of a request and pin its module. The init text of a module may be freed in
 * between; then nothing is pinned. Look the symbol up again in that case: it is gone if its text
 * was freed, and has the same address as before if it is a symbol of data.
 */
static int request_resolve(struct probe_request *req)
{
	kprobe_opcode_t *place = NULL;
	unsigned long before;
	bool on_entry;
	int ret;

	if (!req->kp)
		return kprobe_refuse(-EINVAL, NULL, "a probe is NULL");
	if (kprobe_is_registered(req->kp))
		return -EINVAL;

	do {
		before = req->addr;
		ret = kprobe_resolve_address(req);
		if (IS_ENABLED(CONFIG_MODULES))
			ret = ret ?: kprobe_module_hold(req);
	} while (!ret && !req->module && !core_kernel_text(req->addr) && req->addr != before);
	if (ret)
		return ret;

	/*
	 * Sort a function's entry and the address after its landing pad as equal: later
	 * kprobe_resolve_place() may move the one to the other, which depends on the symbol.
	 */
	if (req->module || core_kernel_text(req->addr))
		place = arch_adjust_kprobe_addr(req->addr, 0, &on_entry);
	req->order = place ? (unsigned long)place : req->addr;

	return 0;
}

/*
 * Find the place of a return probe or jprobe that is to be set up. Refuse one that is registered:
 * hits use its handlers, and its pool.
 */
int kprobe_request_place(struct probe_request *req)
{
	int ret;

	if (kprobe_is_registered(req->kp))
		return -EINVAL;
	ret = kprobe_resolve_address(req);

	return ret ?: kprobe_resolve_place(req);
}

static int request_cmp(const void *a, const void *b)
{
	const struct probe_request *left = a, *right = b;

	if (left->order != right->order)
		return left->order < right->order ? -1 : 1;

	return left->index < right->index ? -1 : 1;
}

/*
 * Resolve before the text locks are taken, because it may take a while, up to the first request
 * that fails. Then sort by address, so that neighbours use the same look-ups; requests for one
 * place keep the caller's order.
 */
static void batch_collect(struct kprobe_batch *batch)
{
	struct probe_request *reqs = batch->reqs;
	unsigned int i;

	batch->err = kprobe_points_reserve(batch->nr);
	for (i = 0; i < batch->nr && !batch->err; i++) {
		batch->failed = i;
		batch->err = request_resolve(&reqs[i]);
		cond_resched();
	}
	if (!batch->err)
		batch->failed = batch->nr;

	for (i = 1; i < batch->failed; i++) {
		if (request_cmp(&reqs[i - 1], &reqs[i]) > 0) {
			sort(reqs, batch->failed, sizeof(*reqs), request_cmp, NULL);
			break;
		}
	}
}

/*
 * Return the point that the request is for, which is created if it has to be. One that has been
 * created has no members, and is not in the table yet.
 */
static struct kprobe_point *request_find_point(struct probe_request *req)
{
	struct kprobe_point *point;
	int ret;

	/* Check again: the array may name the probe twice. */
	if (kprobe_is_registered(req->kp))
		return ERR_PTR(-EINVAL);
	ret = kprobe_resolve_place(req);
	/* Another module may have been loaded here since register_kretprobe() checked this. */
	if (!ret && kprobe_kind(req->kp->pre_handler) == 'r' && !req->on_entry)
		ret = kprobe_refuse(-EINVAL, (void *)req->addr, "no entry of a function any more");
	if (ret)
		return ERR_PTR(ret);

	point = kprobe_point_find(req->addr);
	if (point)
		return point;

	ret = kprobe_check(req);
	if (ret)
		return ERR_PTR(ret);

	point = kprobe_point_create(req->addr, req->on_entry, req->on_ftrace);
	if (IS_ERR(point))
		return ERR_PTR(kprobe_check_refused(req, PTR_ERR(point)));

	return point;
}

static int request_join(struct kprobe_batch *batch, struct probe_request *req)
{
	struct kprobe_point *point = request_find_point(req);
	struct kprobe *kp = req->kp;

	if (IS_ERR(point))
		return PTR_ERR(point);
	/* kprobe_points_reserve() has made room. */
	if (list_empty(&point->members))
		kprobe_table_add(point);

	req->saved = *kp;
	req->point = point;
	batch->seen = true;

	kprobe_point_add_member(point, kp);
	point_queue(point, &batch->work);

	return 0;
}

/* Number of requests that join under one hold of the locks: decoding takes a while. */
#define JOIN_CHUNK	64

/*
 * Join each request to its point. All failures except those of arming happen here or before. The
 * locks keep the text, and what others have reserved of it, unchanged for a whole chunk.
 */
static void batch_join(struct kprobe_batch *batch)
{
	unsigned int i = 0, nr = batch->failed;

	while (i < nr) {
		scoped_guard(cpus_read_lock) {
			guard(jump_label_lock)();
			guard(mutex)(&text_mutex);

			for (unsigned int end = min(nr, i + JOIN_CHUNK); i < end; i++) {
				struct probe_request *req = &batch->reqs[i];
				int ret = req->index < batch->failed ? request_join(batch, req) : 0;

				if (ret) {
					batch->failed = req->index;
					batch->err = ret;
				}
			}
			arch_finish_prepare_kprobes();
		}
		cond_resched();
	}
}

/*
 * May a hit call the pre_handler of @kp but not its post_handler, because it is in a detour that
 * calls none? That is over an RCU-tasks grace period later. The state of the point does not
 * answer this, nor whether its next jump calls post_handlers: a task may be preempted in the
 * detour for long after the jump was removed, and before it calls pre_handlers.
 */
static bool member_misses_post(struct kprobe *kp, struct kprobe_point *point)
{
	/* A detour that is not told of post_handlers looks for them after the pre_handlers. */
	bool looks = !__is_defined(ARCH_DETOURS_ARE_TOLD_OF_POST) && point_detour_calls_post(point);

	return IS_ENABLED(CONFIG_OPTPROBES) && kp->hit_pre && (kp->flags & KPROBE_FLAG_POST) &&
	       !kprobe_disabled(kp) && !looks && !kprobe_detour_is_idle(point);
}

/* The text has followed: let the points and the modules go. */
static void batch_settle(struct kprobe_batch *batch)
{
	struct probe_request *req;

	kprobe_points_finish(&batch->work, &batch->dead);
	for (req = batch->reqs; req < batch->reqs + batch->nr; req++) {
		if (!batch->err && member_misses_post(req->kp, req->point))
			batch->misses_post = true;
		module_put(req->module);
	}
}

/* Restore the callers' structs as they were, unlinked. Those that did not join are unchanged. */
static void batch_restore(struct kprobe_batch *batch)
{
	struct probe_request *req;

	for (req = batch->reqs; req < batch->reqs + batch->nr; req++) {
		if (req->point) {
			*req->kp = req->saved;
			kprobe_has_left(req->kp);
		}
	}
}

/* Arming may fail for any of several probes; then only its address is known. */
static void batch_record_refusal(const struct kprobe_batch *batch)
{
	unsigned int failed = batch->nr == 1 ? 0 : batch->failed, i;
	const struct kprobe *kp = NULL;

	for (i = 0; i < batch->nr; i++) {
		if (batch->reqs[i].index == failed)
			kp = batch->reqs[i].kp;
	}
	kprobe_record_refusal(kp, kp ? kprobe_kind(kp->pre_handler) : '-', batch->err,
			      failed < batch->nr ? failed + 1 : 0, batch->nr);
}

static int requests_register(struct probe_request *reqs, unsigned int nr)
{
	struct kprobe_batch batch = {
		.reqs = reqs,
		.nr = nr,
		.work = LIST_HEAD_INIT(batch.work),
		.dead = LIST_HEAD_INIT(batch.dead),
	};
	unsigned int i;

	if (!kprobes_available)
		return kprobe_refuse_call(-EOPNOTSUPP, 'k', "before kprobes are set up");

	scoped_guard(mutex, &kprobe_mutex) {
		batch_collect(&batch);
		batch_join(&batch);
		if (!batch.err)
			batch.err = kprobe_points_reconcile(&batch.work);
		if (batch.err) {
			/* Undo batch_join(), except for what running hits may still use. */
			for (i = 0; i < nr; i++) {
				if (reqs[i].point)
					kprobe_point_del_member(reqs[i].point, reqs[i].kp);
			}
			kprobe_points_reconcile(&batch.work);
		}
		batch_settle(&batch);
	}
	if (IS_ENABLED(CONFIG_OPTPROBES) && batch.misses_post)
		kprobe_wait_for_detours();
	if (batch.err && batch.seen) {
		kprobe_wait_for_hits();
		kprobe_points_free(&batch.dead);
		batch_restore(&batch);
	}
	if (batch.err)
		batch_record_refusal(&batch);

	return batch.err;
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
 * * -%EILSEQ - not the first byte of an instruction, inside an ftrace site, in text that
 *   cannot be decoded up to there, or on arm64 a load of a constant that cannot be read
 * * -%EOPNOTSUPP - an instruction that cannot be probed, or before kprobes are set up
 *   in early_initcall(), or when that has failed
 * * -%ENOMEM - no memory for the probe or for a copy of the instruction, or on arm64 too
 *   early in the boot, before alternatives have been applied
 * * -%EBUSY - a livepatch or another user of ftrace owns the function, the sysctl
 *   kernel.ftrace_enabled keeps ftrace from calling it, or the kernel's debugger has a
 *   breakpoint at the address
 * * -%EAGAIN - a BPF program on the same ftrace site is being changed at the moment
 * * -%ENODEV - ftrace, which owns the address, has shut down
 * * -%EFAULT - a copy of the instruction could not be written, or the constant that it
 *   loads into a SIMD register could not be read
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
		return kprobe_refuse_call(-EINVAL, 'k', "no probes");

	reqs = kvcalloc(num, sizeof(*reqs), GFP_KERNEL | __GFP_NOWARN);
	if (!reqs)
		return kprobe_refuse_call(-ENOMEM, 'k', "no memory for that many probes");
	for (i = 0; i < num; i++) {
		reqs[i].kp = kps[i];
		reqs[i].index = i;
	}

	return requests_register(reqs, num);
}
EXPORT_SYMBOL_GPL(register_kprobes);

/* Decide about a request whose address is known, and tell of the point that it would join. */
static int request_try(struct probe_request *req, struct kprobe_verdict *verdict)
{
	struct kprobe_point *point;
	int ret;

	guard(cpus_read_lock)();
	guard(jump_label_lock)();
	guard(mutex)(&text_mutex);

	point = request_find_point(req);
	ret = PTR_ERR_OR_ZERO(point);
	if (!ret) {
		verdict->return_probe = IS_ENABLED(CONFIG_KRETPROBES) &&
					kprobe_return_is_possible(req);
		verdict->on_ftrace = kprobe_ftrace(&point->op.kp);
		verdict->emulated = arch_kprobe_is_emulated(&point->op.kp);
		verdict->members = list_count_nodes(&point->members);
		if (IS_ENABLED(CONFIG_OPTPROBES))
			kprobe_optimize_try(point, verdict);
	}
	/* No copy may be written after its slot is free. */
	arch_finish_prepare_kprobes();
	if (!ret && !verdict->members)
		kprobe_point_discard(point);

	return ret;
}

/**
 * kprobe_try() - decide about a probe as register_kprobe() does, but do not register it
 * @kp: a probe without handlers, not written to
 * @verdict: filled in
 *
 * Context: As register_kprobe().
 */
void kprobe_try(struct kprobe *kp, struct kprobe_verdict *verdict)
{
	struct probe_request req = { .kp = kp };

	*verdict = (struct kprobe_verdict){ .why_no_jump = NO_JUMPS };

	guard(mutex)(&kprobe_mutex);

	verdict->err = request_resolve(&req);
	if (!verdict->err)
		verdict->err = request_try(&req, verdict);
	verdict->addr = req.addr;
	if (verdict->err)
		verdict->why = kprobe_refusal_noted(verdict->err);
	module_put(req.module);
}

/* Remove a probe from its point. Return false if it is not registered. */
static bool batch_remove_probe(struct kprobe_batch *batch, struct kprobe *kp)
{
	struct kprobe_point *point = kprobe_point_find_member(kp);
	struct kprobe *member, *next;

	if (point) {
		kprobe_point_del_member(point, kp);
		point_queue(point, &batch->work);
		return true;
	}

	/* arch/sh unregisters what get_kprobe() returned: remove all members of that point. */
	point = kprobe_point_find((unsigned long)kp->addr);
	if (point && kp == &point->op.kp) {
		list_for_each_entry_safe(member, next, &point->members, list)
			kprobe_point_del_member(point, member);
		point_queue(point, &batch->work);
		return true;
	}

	/* Leaving already: named twice in the array, or removed together with its point. */
	return kprobe_is_leaving(kp);
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
	struct kprobe_batch batch = {
		.work = LIST_HEAD_INIT(batch.work),
		.dead = LIST_HEAD_INIT(batch.dead),
	};
	int i;

	if (!kps || num <= 0)
		return;

	scoped_guard(mutex, &kprobe_mutex) {
		for (i = 0; i < num; i++) {
			if (!kps[i])
				continue;
			if (batch_remove_probe(&batch, kps[i]))
				batch.seen = true;
			else
				kps[i]->addr = NULL;
		}
		kprobe_points_reconcile(&batch.work);
		batch_settle(&batch);
	}
	if (!batch.seen)
		return;

	/* When this returns, no hit walks from one of these to another member. */
	kprobe_wait_for_hits();
	for (i = 0; i < num; i++) {
		if (kps[i] && kprobe_is_leaving(kps[i]))
			kprobe_has_left(kps[i]);
	}
	kprobe_points_free(&batch.dead);
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
	struct kprobe_point *point;
	bool changes, misses_post;
	LIST_HEAD(work);
	int ret;

	if (!kp)
		return -EINVAL;

	scoped_guard(mutex, &kprobe_mutex) {
		point = kprobe_point_find_member(kp);
		if (!point || (enable && kprobe_gone(kp)))
			return kprobe_refuse(-EINVAL, NULL, "not registered, or its text is gone");

		changes = kprobe_point_enable_member(point, kp, enable);
		/* Tracers often enable a probe again soon: leave its jump to the worker. */
		if (IS_ENABLED(CONFIG_OPTPROBES) && point->state == POINT_OPTIMIZED &&
		    !point->enabled)
			kprobe_jump_queue(point);
		point_queue(point, &work);
		ret = kprobe_points_reconcile(&work);
		/* Disabling cannot fail, but arming the point for another member may. */
		if (ret && enable && changes) {
			kprobe_point_enable_member(point, kp, false);
			kprobe_points_reconcile(&work);
		}
		misses_post = enable && member_misses_post(kp, point);
		kprobe_list_unlink(&work);
	}
	/* Only now, and without @kp: another task may unregister and free it meanwhile. */
	if (IS_ENABLED(CONFIG_OPTPROBES) && misses_post)
		kprobe_wait_for_detours();

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
	int ret = set_enabled(kp, true);

	/* Without @kp: another task may have unregistered and freed it. */
	if (ret)
		kprobe_record_refusal(NULL, '-', ret, 0, 0);

	return ret;
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
	if (IS_ENABLED(CONFIG_KRETPROBES) && !IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK))
		ret = ret ?: kretprobe_pools_init();
	ret = ret ?: register_die_notifier(&exceptions_nb);
	ret = ret ?: register_die_notifier(&kprobe_oops_nb);
	if (IS_ENABLED(CONFIG_MODULES))
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
