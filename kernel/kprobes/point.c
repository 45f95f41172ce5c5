// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points: where they are found, who their members are, and how their text is
 * made to follow.
 *
 * The table is an array of pointers, open to linear probing, with an address's
 * hash as the place to begin. It is never more than three quarters full, so a
 * look-up costs the same however many points there are, and it ends. A table
 * that gets too full is replaced by a larger one; a reader that still walks the
 * old one finds there what it has to find, for a point's text is written after
 * it was published and restored before it is taken out.
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/init.h>
#include <linux/log2.h>
#include <linux/memory.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "internal.h"

#define POINT_TABLE_BITS_MIN	6

/**
 * struct point_table - the points by address
 * @rcu: delays its freeing
 * @shift: what of the hash is not needed to number the slots
 * @last: number of the last slot, with all bits below the highest set
 * @live: slots with a point
 * @used: slots that are not NULL, the removed ones included
 * @slots: a point, point_removed, or NULL, at which a look-up ends
 */
struct point_table {
	struct rcu_head rcu;
	unsigned int shift;
	unsigned long last;
	unsigned int live;
	unsigned int used;
	struct kprobe_point __rcu *slots[];
};

/* What there is before the first probe. */
static struct point_table no_points = {
	.shift = BITS_PER_LONG - 1,
	.last = 1,
	.slots = { NULL, NULL },
};

static struct point_table __rcu *point_table = RCU_INITIALIZER(&no_points);

/* Keeps a look-up going where a point was. No instruction has this address. */
#define NOWHERE		ULONG_MAX

static struct kprobe_point point_removed = {
	.op.kp.addr = (kprobe_opcode_t *)NOWHERE,
};

/* There may be many, and they are as large as this, not as the next power of two. */
static struct kmem_cache *point_cache;

/* Points whose text was freed, out of the table, by the address they had. */
static DEFINE_HASHTABLE(points_gone, 8);

/* Debugfs "enabled" is 0. */
static bool all_off;

#define table_protected(p)	rcu_dereference_protected(p, lockdep_is_held(&kprobe_mutex))

static __always_inline unsigned long table_start(const struct point_table *table,
						 unsigned long addr)
{
	return addr * GOLDEN_RATIO_PRIME >> table->shift;
}

static __always_inline unsigned long table_after(const struct point_table *table, unsigned long i)
{
	return (i + 1) & table->last;
}

/**
 * get_kprobe() - the probe at an address
 * @addr: exactly as it was registered
 *
 * Context: Any in which RCU readers may be: preemption disabled, or kprobe_mutex
 * held.
 * Return: the probe that stands for all those registered there, or NULL.
 */
noinstr struct kprobe *get_kprobe(void *addr)
{
	const struct point_table *table = rcu_dereference_raw(point_table);
	struct kprobe_point *point;
	unsigned long i;

	for (i = table_start(table, (unsigned long)addr);; i = table_after(table, i)) {
		point = rcu_dereference_raw(table->slots[i]);
		if (!point)
			return NULL;
		if (point->op.kp.addr == addr)
			return &point->op.kp;
	}
}

/* Also for what a caller gives, which may be any address. */
struct kprobe_point *point_find(unsigned long addr)
{
	struct kprobe *p;

	lockdep_assert_held(&kprobe_mutex);
	p = addr && addr != NOWHERE ? get_kprobe((void *)addr) : NULL;

	return p ? point_of(p) : NULL;
}

bool point_has_member(const struct kprobe_point *point, const struct kprobe *kp)
{
	const struct kprobe *member;

	list_for_each_entry(member, &point->members, list) {
		if (member == kp)
			return true;
	}

	return false;
}

/* Reads no more of @kp than its address, for it may never have been registered. */
struct kprobe_point *point_find_member(struct kprobe *kp)
{
	unsigned long addr = (unsigned long)kp->addr;
	struct kprobe_point *point = point_find(addr);

	if (point && point_has_member(point, kp))
		return point;

	hash_for_each_possible(points_gone, point, op.kp.hlist, addr) {
		if (point_has_member(point, kp))
			return point;
	}

	return NULL;
}

/*
 * The point that the probe of @req is in already. Its owner may have filled in the
 * address anew, as it was at first: let the probe be found by it again.
 */
struct kprobe_point *point_find_registered(struct probe_request *req)
{
	struct kprobe_point *point = point_find(req->addr);

	if (point && point_has_member(point, req->kp)) {
		req->kp->addr = point->op.kp.addr;
		return point;
	}

	/* An offset is added to the address each time. */
	return point_find_member(req->kp);
}

static struct kprobe_point __rcu **table_free_slot(struct point_table *table, unsigned long addr)
{
	unsigned long i = table_start(table, addr);
	struct kprobe_point *point;

	for (;; i = table_after(table, i)) {
		point = table_protected(table->slots[i]);
		if (!point || point == &point_removed)
			return &table->slots[i];
	}
}

static void table_insert(struct point_table *table, struct kprobe_point *point)
{
	struct kprobe_point __rcu **slot = table_free_slot(table, point_addr(point));

	if (!rcu_access_pointer(*slot))
		table->used++;
	table->live++;
	rcu_assign_pointer(*slot, point);
}

static void table_remove(struct point_table *table, struct kprobe_point *point)
{
	unsigned long i = table_start(table, point_addr(point));

	while (rcu_access_pointer(table->slots[i]) != point)
		i = table_after(table, i);

	rcu_assign_pointer(table->slots[i], &point_removed);
	table->live--;
}

/* A table with as much again as @nr points need. */
static struct point_table *table_create(unsigned int nr)
{
	unsigned int bits = max(POINT_TABLE_BITS_MIN, order_base_2(2 * nr));
	struct point_table *table;

	table = kvzalloc(struct_size(table, slots, BIT(bits)), GFP_KERNEL);
	if (table) {
		table->shift = BITS_PER_LONG - bits;
		table->last = BIT(bits) - 1;
	}

	return table;
}

/* Make room for @nr more points. */
int points_reserve(unsigned int nr)
{
	struct point_table *old = table_protected(point_table);
	struct point_table *table;
	struct kprobe_point *point;
	unsigned long i;

	if (old->used + nr <= old->last / 4 * 3)
		return 0;

	table = table_create(old->live + nr);
	if (!table)
		return -ENOMEM;

	for (i = 0; i <= old->last; i++) {
		point = table_protected(old->slots[i]);
		if (point && point != &point_removed)
			table_insert(table, point);
	}
	rcu_assign_pointer(point_table, table);
	if (old != &no_points)
		kvfree_rcu(old, rcu);

	return 0;
}

/* The one writer of a point's state, and of the flags that mirror it. */
void point_set_state(struct kprobe_point *point, enum point_state state)
{
	const u32 mirror = KPROBE_FLAG_GONE | KPROBE_FLAG_DISABLED | KPROBE_FLAG_OPTIMIZED;
	struct kprobe *p = &point->op.kp;
	struct kprobe *kp;

	lockdep_assert_held(&kprobe_mutex);
	if (WARN_ONCE(!point_edge_legal(point->state, state), "%pS: %s -> %s\n", p->addr,
		      point_state_name(point->state), point_state_name(state)))
		return;

	point->state = state;
	WRITE_ONCE(p->flags, (p->flags & ~mirror) | point_state_flags(state));

	/* That the text is gone is for the users to see on their own probes. */
	if (state == POINT_GONE) {
		list_for_each_entry(kp, &point->members, list)
			kp->flags |= KPROBE_FLAG_GONE;
	}
}

static int point_prepare(struct kprobe *p)
{
#ifdef CONFIG_KPROBES_ON_FTRACE
	if (kprobe_ftrace(p))
		return arch_prepare_kprobe_ftrace(p);
#endif
	return arch_prepare_kprobe(p);
}

/*
 * Make a point and prepare its instruction. The caller holds what the
 * architecture needs for reading text: cpus_read_lock() and text_mutex.
 */
struct kprobe_point *point_create(unsigned long addr, bool on_entry, bool on_ftrace)
{
	struct kprobe_point *point = kmem_cache_zalloc(point_cache, GFP_KERNEL);
	int ret;

	if (!point)
		return ERR_PTR(-ENOMEM);

	point->state = POINT_NEW;
	INIT_LIST_HEAD(&point->members);
	point->callees.first = &callees_end.hlist;
	INIT_LIST_HEAD(&point->op.kp.list);
	optimize_init(point);
	point->op.kp.addr = (kprobe_opcode_t *)addr;
	point->op.kp.pre_handler = hit_pre_handlers;
	point->op.kp.callee = &point->op.kp;
	point->op.kp.flags = point_state_flags(POINT_NEW) |
			     (on_entry ? KPROBE_FLAG_ON_FUNC_ENTRY : 0) |
			     (on_ftrace ? KPROBE_FLAG_FTRACE : 0);

	ret = point_prepare(&point->op.kp);
	if (ret) {
		kmem_cache_free(point_cache, point);
		return ERR_PTR(ret);
	}

	return point;
}

static bool point_has_jump(struct kprobe_point *point)
{
	return point->state == POINT_OPTIMIZING || point->state == POINT_OPTIMIZED ||
	       point->state == POINT_UNOPTIMIZING;
}

/* The caller has made room with points_reserve(). */
void point_publish(struct kprobe_point *point)
{
	table_insert(table_protected(point_table), point);
	point_set_state(point, POINT_DISARMED);
}

/* Count @kp among those that want to be called, or no longer. */
static void point_count_member(struct kprobe_point *point, const struct kprobe *kp, int delta)
{
	point->enabled += delta;
	if (kp->post_handler)
		point->post += delta;

	if (point->post)
		WRITE_ONCE(point->op.kp.post_handler, hit_post_handler);
	else if (!POST_HANDLER_STAYS)
		WRITE_ONCE(point->op.kp.post_handler, NULL);
}

/* A hit calls the only one there is without a look at the others. */
static void point_update_callee(struct kprobe_point *point)
{
	struct hlist_node *first = point->callees.first, *end = &callees_end.hlist;
	struct kprobe *callee = &point->op.kp;

	if (first != end && first->next == end)
		callee = hlist_entry(first, struct kprobe, hlist);

	/* Who finds it finds what its owner has filled in. */
	smp_store_release(&point->op.kp.callee, callee);
}

/* Of the members before @kp, the last one that is called. */
static struct kprobe *point_callee_before(struct kprobe_point *point, struct kprobe *kp)
{
	list_for_each_entry_continue_reverse(kp, &point->members, list) {
		if (!hlist_unhashed(&kp->hlist))
			return kp;
	}

	return NULL;
}

/* Have a member called, after those registered before it. */
static void point_add_callee(struct kprobe_point *point, struct kprobe *kp)
{
	struct kprobe *before = point_callee_before(point, kp);

	if (before)
		hlist_add_behind_rcu(&kp->hlist, &before->hlist);
	else
		hlist_add_head_rcu(&kp->hlist, &point->callees);
	point_update_callee(point);
}

/*
 * A detour that calls no post_handler must not call the pre_handler that belongs to
 * one either.
 */
static void point_include(struct kprobe_point *point, struct kprobe *kp)
{
	point_count_member(point, kp, 1);
	if (!kp->pre_handler)
		return;

	if (kp->post_handler && !optimize_calls_post(point) &&
	    (point->postponed || point_has_jump(point)))
		point->postponed = true;
	else
		point_add_callee(point, kp);
}

/* A grace period after the jump has gone, so that no hit is under way through it. */
void point_include_postponed(struct kprobe_point *point)
{
	struct kprobe *kp;

	if (!point->postponed)
		return;

	point->postponed = false;
	list_for_each_entry(kp, &point->members, list) {
		if (kp->pre_handler && hlist_unhashed(&kp->hlist) &&
		    !(kp->flags & KPROBE_FLAG_DISABLED))
			point_add_callee(point, kp);
	}
}

/* A hit that has come to @kp still finds those behind it. */
static void point_exclude(struct kprobe_point *point, struct kprobe *kp)
{
	if (!hlist_unhashed(&kp->hlist)) {
		hlist_del_init_rcu(&kp->hlist);
		point_update_callee(point);
	}
	/* As long as it was called, so was its post_handler. */
	point_count_member(point, kp, -1);
}

void point_add_member(struct kprobe_point *point, struct kprobe *kp)
{
	const u32 shared = KPROBE_FLAG_ON_FUNC_ENTRY | KPROBE_FLAG_FTRACE;

	kp->addr = point->op.kp.addr;
	kp->opcode = point->op.kp.opcode;
	kp->nmissed = 0;
	kp->flags = (kp->flags & KPROBE_FLAG_DISABLED) | (point->op.kp.flags & shared);
	INIT_HLIST_NODE(&kp->hlist);

	list_add_tail_rcu(&kp->list, &point->members);
	if (!kprobe_disabled(kp))
		point_include(point, kp);
}

/* @kp may be walked by a hit until a grace period has passed. */
void point_del_member(struct kprobe_point *point, struct kprobe *kp)
{
	if (!(kp->flags & KPROBE_FLAG_DISABLED))
		point_exclude(point, kp);
	list_del_rcu(&kp->list);
	if (return_is_probe(kp))
		return_pool_retire(container_of(kp, struct kretprobe, kp));
}

/* Returns whether that changes anything. */
bool point_enable_member(struct kprobe_point *point, struct kprobe *kp, bool enable)
{
	if (enable != !!(kp->flags & KPROBE_FLAG_DISABLED))
		return false;

	WRITE_ONCE(kp->flags, kp->flags ^ KPROBE_FLAG_DISABLED);
	if (enable)
		point_include(point, kp);
	else
		point_exclude(point, kp);

	return true;
}

void point_queue(struct kprobe_point *point, struct list_head *work)
{
	if (list_empty(&point->op.kp.list))
		list_add_tail(&point->op.kp.list, work);
}

static bool point_ignores_all_off(struct kprobe_point *point)
{
	/* Some look at the text. */
	return IS_ENABLED(CONFIG_KRETPROBES) && point->state != POINT_GONE &&
	       arch_trampoline_kprobe(&point->op.kp);
}

static struct point_inputs point_inputs(struct kprobe_point *point)
{
	return (struct point_inputs){
		.enabled = point->enabled,
		.post = optimize_calls_post(point) ? 0 : point->post,
		.all_off = all_off && !point_ignores_all_off(point),
		.may_jump = optimize_allowed(),
		.detour = optimize_has_detour(point),
	};
}

/* Does the point want other text at its address than the original? */
bool point_wants_text(struct kprobe_point *point)
{
	struct point_inputs in = point_inputs(point);

	return point_wants(&in) != POINT_PLAIN;
}

static enum point_text point_wanted(struct kprobe_point *point)
{
	struct point_inputs in = point_inputs(point);
	enum point_text wanted = point_wants(&in);

	/* Whether somebody is in the way of a jump takes a search. */
	if (wanted == POINT_JUMP || wanted == POINT_BREAK_LATER) {
		in.blocked = optimize_blocked(point);
		wanted = point_wants(&in);
	}

	return wanted;
}

/* Would the point be reached by a jump if it had a detour? */
bool point_wants_detour(struct kprobe_point *point)
{
	struct point_inputs in = point_inputs(point);

	in.detour = true;

	return point->state == POINT_ARMED && !kprobe_ftrace(&point->op.kp) &&
	       !point->detour_tried && point_wants(&in) == POINT_JUMP;
}

static enum point_state point_next_state(struct kprobe_point *point)
{
	return point_next(point->state, point_wanted(point));
}

static void points_set_state(struct list_head *kps, enum point_state state)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		point_set_state(point_of(p), state);
}

/* Steps that only the optimizer's worker takes, a grace period later. */
static bool step_is_deferred(enum point_state state, enum point_text wanted)
{
	return (state == POINT_OPTIMIZING && wanted == POINT_JUMP) ||
	       (state == POINT_UNOPTIMIZING && wanted == POINT_BREAK_LATER);
}

static bool point_loses_jump(struct kprobe_point *point)
{
	enum point_text wanted = point_wanted(point);

	return point_has_jump(point) && !step_is_deferred(point->state, wanted) &&
	       point_next(point->state, wanted) == POINT_ARMED;
}

static bool point_is_armed(struct kprobe_point *point)
{
	return point->state == POINT_ARMED;
}

static bool point_has_site(struct kprobe_point *point)
{
	return point_is_armed(point) && kprobe_ftrace(&point->op.kp);
}

static bool point_is_to_disarm(struct kprobe_point *point)
{
	return point->state == POINT_ARMED && point_next_state(point) == POINT_DISARMED;
}

static bool point_is_to_arm(struct kprobe_point *point)
{
	return point->state == POINT_DISARMED && point_next_state(point) == POINT_ARMED;
}

/* Move those points of @work to @some for which @is_one answers true. */
static void points_pick(struct list_head *work, bool (*is_one)(struct kprobe_point *point),
			struct list_head *some)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, work, list) {
		if (is_one(point_of(p)))
			list_move_tail(&p->list, some);
	}
}

/* Breakpoints for the jumps, had or planned, of some of the points in @work. */
static void points_drop_jumps(struct list_head *work, bool (*is_one)(struct kprobe_point *point))
{
	LIST_HEAD(some);

	points_pick(work, is_one, &some);
	optimize_cancel(&some);
	points_set_state(&some, POINT_ARMED);
	list_splice_tail(&some, work);
}

/* The original text for the breakpoints, or sites, of some of the points in @work. */
static void points_drop_breakpoints(struct list_head *work,
				    bool (*is_one)(struct kprobe_point *point))
{
	LIST_HEAD(some);

	points_pick(work, is_one, &some);
	disarm_points(&some);
	points_set_state(&some, POINT_DISARMED);
	list_splice_tail(&some, work);
}

/* A site that is held for more than its point wants may stay so: no memory to move it. */
static int points_retarget(struct list_head *work)
{
	struct kprobe *p;
	int ret = 0, err;

	list_for_each_entry(p, work, list) {
		struct kprobe_point *point = point_of(p);

		if (!ftrace_point_misplaced(point) || point_next_state(point) != POINT_ARMED)
			continue;
		err = ftrace_retarget_point(point);
		if (point->post)
			ret = ret ?: err;
	}

	return ret;
}

/* Text as it is can stay, but may become something better. */
static void point_reconsider(struct kprobe_point *point)
{
	enum point_text wanted = point_wanted(point);
	enum point_state next = point_next(point->state, wanted);

	if (next == point->state || step_is_deferred(point->state, wanted)) {
		if (point_wants_detour(point))
			optimize_queue(point);
		return;
	}

	/* An OPTIMIZING, an UNOPTIMIZING, or one that is OPTIMIZED still. */
	point_set_state(point, next);
	if (next == POINT_OPTIMIZED)
		optimize_forget(point);
	else
		optimize_queue(point);
}

/*
 * Make the text of all points in @work what their inputs ask for, in as few
 * rounds of patching as there can be. The points stay in @work, and those whose
 * jump covers one of them join it.
 *
 * Only taking an ftrace site can fail. Then no point has been armed; who changed
 * the inputs changes them back and calls again.
 */
int points_reconcile(struct list_head *work)
{
	LIST_HEAD(some);
	struct kprobe *p;
	int ret;

	lockdep_assert_held(&kprobe_mutex);

	optimize_add_outer(work);
	ret = points_retarget(work);

	/* A jump goes before a breakpoint comes into what it covers. */
	points_drop_jumps(work, point_loses_jump);
	points_drop_breakpoints(work, point_is_to_disarm);

	points_pick(work, point_is_to_arm, &some);
	ret = ret ?: arm_points(&some);
	if (!ret)
		points_set_state(&some, POINT_ARMED);
	list_splice_tail(&some, work);

	if (!ret) {
		list_for_each_entry(p, work, list)
			point_reconsider(point_of(p));
	}

	return ret;
}

/* Does the point ask ftrace for what somebody else may have? */
static bool point_may_be_refused(struct kprobe_point *point)
{
	return kprobe_ftrace(&point->op.kp) && point->post;
}

static void points_reconcile_each(struct list_head *work)
{
	struct kprobe *p, *next;
	LIST_HEAD(done);
	LIST_HEAD(one);

	list_for_each_entry_safe(p, next, work, list) {
		list_move(&p->list, &one);
		points_reconcile(&one);
		list_splice_tail_init(&one, &done);
		cond_resched();
	}
	list_splice(&done, work);
}

/*
 * The same for inputs that nobody changes back: a point that cannot be armed holds
 * up no other, and stays as it is until it is reconciled the next time. Returns the
 * first error.
 */
int points_reconcile_most(struct list_head *work)
{
	LIST_HEAD(some);
	int ret;

	ret = points_reconcile(work);
	if (!ret)
		return 0;

	points_pick(work, point_may_be_refused, &some);
	if (points_reconcile(work))
		points_reconcile_each(work);
	points_reconcile_each(&some);
	list_splice_tail(&some, work);

	return ret;
}

static void point_unhash(struct kprobe_point *point)
{
	if (point->state == POINT_GONE)
		hash_del(&point->op.kp.hlist);
	else
		table_remove(table_protected(point_table), point);
}

/* Empty @work: points without members go to @dead, the others live on. */
void points_bury(struct list_head *work, struct list_head *dead)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, work, list) {
		struct kprobe_point *point = point_of(p);

		list_del_init(&p->list);
		if (!list_empty(&point->members))
			continue;
		point_unhash(point);
		optimize_forget(point);
		point_set_state(point, POINT_DEAD);
		list_add_tail(&p->list, dead);
	}
}

static void point_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(point_cache, container_of(rcu, struct kprobe_point, rcu));
}

/*
 * Called a grace period after points_bury(), with no lock held. A task may have
 * been preempted on its way through the detour to the handlers.
 */
void points_free(struct list_head *dead)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, dead, list) {
		struct kprobe_point *point = point_of(p);

		if (kprobe_ftrace(p)) {
			kmem_cache_free(point_cache, point);
			continue;
		}
		arch_remove_kprobe(p);
		if (optimize_has_detour(point)) {
			optimize_remove(point);
			call_rcu_tasks(&point->rcu, point_free_rcu);
		} else {
			kmem_cache_free(point_cache, point);
		}
	}
}

/* Call @fn for each point until it returns other than 0, and return that. */
int points_for_each(int (*fn)(struct kprobe_point *point, void *data), void *data)
{
	struct point_table *table = table_protected(point_table);
	struct kprobe_point *point;
	struct hlist_node *next;
	unsigned long i;
	int ret = 0;
	int bucket;

	for (i = 0; !ret && i <= table->last; i++) {
		point = table_protected(table->slots[i]);
		if (point && point != &point_removed)
			ret = fn(point, data);
	}

	hash_for_each_safe(points_gone, bucket, next, point, op.kp.hlist) {
		if (ret)
			break;
		ret = fn(point, data);
	}

	return ret;
}

struct text_range {
	unsigned long start;
	unsigned long end;
	struct list_head points;
};

static int collect_in_range(struct kprobe_point *point, void *data)
{
	struct text_range *range = data;
	unsigned long addr = point_addr(point);

	if (addr >= range->start && addr < range->end && point->state != POINT_GONE)
		point_queue(point, &range->points);

	return 0;
}

/*
 * The text in [start, end) is about to be freed. While it can be written, which is
 * until somebody may run it for the last time, it becomes what it was: a hit would
 * find no point. ftrace is to be told at any rate.
 */
void points_forget_text(unsigned long start, unsigned long end, bool can_write)
{
	struct text_range range = {
		.start = start,
		.end = end,
		.points = LIST_HEAD_INIT(range.points),
	};
	struct kprobe *p, *next;

	lockdep_assert_held(&kprobe_mutex);

	points_for_each(collect_in_range, &range);
	if (can_write)
		points_drop_jumps(&range.points, point_has_jump);
	points_drop_breakpoints(&range.points, can_write ? point_is_armed : point_has_site);

	list_for_each_entry_safe(p, next, &range.points, list) {
		list_del_init(&p->list);
		point_unhash(point_of(p));
		optimize_forget(point_of(p));
		point_set_state(point_of(p), POINT_GONE);
		hash_add(points_gone, &p->hlist, (unsigned long)p->addr);
	}
}

int __init points_init(void)
{
	point_cache = KMEM_CACHE(kprobe_point, 0);

	return point_cache ? 0 : -ENOMEM;
}

bool points_all_off(void)
{
	return all_off;
}

static int queue_point(struct kprobe_point *point, void *work)
{
	point_queue(point, work);

	return 0;
}

/* One of the switches that all points obey has changed. */
int points_reconcile_all(void)
{
	LIST_HEAD(nothing_dies);
	LIST_HEAD(work);
	int ret;

	points_for_each(queue_point, &work);
	ret = points_reconcile_most(&work);
	points_bury(&work, &nothing_dies);

	return ret;
}

/* Disarm every point whatever its members want, or let them have it again. */
int points_set_all_off(bool off)
{
	lockdep_assert_held(&kprobe_mutex);

	all_off = off;

	return points_reconcile_all();
}
