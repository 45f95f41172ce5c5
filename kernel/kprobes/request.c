// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registration of an array of probes, all or none: each is a request that joins a point.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/jump_label.h>
#include <linux/memory.h>
#include <linux/sched.h>
#include <linux/sort.h>

#include "internal.h"

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
int kprobe_requests_join(struct probe_request *reqs, unsigned int nr, struct list_head *work)
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

bool kprobe_requests_any_joined(struct probe_request *reqs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (reqs[i].point)
			return true;
	}

	return false;
}

/* Undo kprobe_requests_join(), except for what running hits may still use. */
void kprobe_requests_remove(struct probe_request *reqs, unsigned int nr, struct list_head *work)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (reqs[i].point)
			kprobe_point_del_member(reqs[i].point, reqs[i].kp);
	}

	kprobe_points_reconcile(work);
}

void kprobe_requests_release_modules(struct probe_request *reqs, unsigned int nr)
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
void kprobe_requests_restore(struct probe_request *reqs, unsigned int nr)
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
bool kprobe_requests_may_miss_post(struct probe_request *reqs, unsigned int nr)
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
