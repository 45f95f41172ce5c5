// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a point, from its creation until it is freed, and the only writer of its
 * state.
 */
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/list_sort.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "internal.h"

/* A separate cache: kmalloc() would round each point up to the next size class. */
static struct kmem_cache *point_cache;

/* Stop sharing: without a jump, a point neither owns nor uses a shared one. */
static void point_disown(struct kprobe_point *point)
{
	point->owner = NULL;
	point->shared = false;
}

/* The only writer of a point's state, and of the flags that mirror it. */
void kprobe_point_set_state(struct kprobe_point *point, enum point_state state)
{
	const u32 mirror = KPROBE_FLAG_GONE | KPROBE_FLAG_DISABLED | KPROBE_FLAG_OPTIMIZED;
	struct kprobe *p = &point->op.kp;
	struct kprobe *kp;

	lockdep_assert_held(&kprobe_mutex);
	if (WARN_ONCE(!kprobe_point_edge_legal(point->state, state), "%pS: %s -> %s\n", p->addr,
		      kprobe_point_state_name(point->state), kprobe_point_state_name(state)))
		return;

	point->state = state;
	if (state == POINT_OPTIMIZING)
		point->calls_post = point_jump_is_to_call_post(point);
	if (!point_in_jump_state(point))
		point_disown(point);
	WRITE_ONCE(p->flags, (p->flags & ~mirror) | kprobe_point_state_flags(state));

	/* Mirror GONE to the members; users read it there. */
	if (state == POINT_GONE) {
		list_for_each_entry(kp, &point->members, list)
			WRITE_ONCE(kp->flags, kp->flags | KPROBE_FLAG_GONE);
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
 * Allocate a point and prepare its instruction. The caller holds cpus_read_lock() and
 * text_mutex, so that the architecture can read the text.
 */
struct kprobe_point *kprobe_point_create(unsigned long addr, bool on_entry, bool on_ftrace)
{
	struct kprobe_point *point = kmem_cache_zalloc(point_cache, GFP_KERNEL);
	int ret;

	if (!point)
		return ERR_PTR(-ENOMEM);

	point->state = POINT_DISARMED;
	INIT_LIST_HEAD(&point->members);
	point->called.first = &kprobe_called_end.hlist;
	INIT_LIST_HEAD(&point->op.kp.list);
	point_init_detour(point);
	point->op.kp.addr = (kprobe_opcode_t *)addr;
	point->op.kp.pre_handler = kprobe_dispatch_pre;
	point->op.kp.hit_pre = kprobe_dispatch_pre;
	point->op.kp.handler_probe = &point->op.kp;
	point->op.kp.flags = kprobe_point_state_flags(POINT_DISARMED) |
			     (on_entry ? KPROBE_FLAG_ON_FUNC_ENTRY : 0) |
			     (on_ftrace ? KPROBE_FLAG_FTRACE : 0);

	ret = point_prepare(&point->op.kp);
	if (ret) {
		kmem_cache_free(point_cache, point);
		return ERR_PTR(ret);
	}

	return point;
}

void kprobe_point_free(struct kprobe_point *point)
{
	kmem_cache_free(point_cache, point);
}

static int point_cmp(void *unused, const struct list_head *a, const struct list_head *b)
{
	const struct kprobe *l = list_entry(a, struct kprobe, list);
	const struct kprobe *r = list_entry(b, struct kprobe, list);

	return l->addr > r->addr;
}

/* Sort by address, which keeps the points of one function and of one page of text together. */
void kprobe_points_sort(struct list_head *work)
{
	list_sort(NULL, work, point_cmp);
}

/* Dead points whose copies and detours no task can be in, for free_left_points(). */
static LLIST_HEAD(left_points);

static void free_left_points(struct work_struct *work)
{
	struct llist_node *left = llist_del_all(&left_points);
	struct kprobe_point *point, *next;

	llist_for_each_entry(point, left, left)
		point_hide_detour(point);
	/* A look-up by a stale address may have found a detour before, and through it the point. */
	synchronize_rcu();
	llist_for_each_entry_safe(point, next, left, left) {
		arch_remove_kprobe(&point->op.kp);
		point_remove_detour(point);
		kprobe_point_free(point);
	}
}

static DECLARE_WORK(left_work, free_left_points);

static void point_left_rcu(struct rcu_head *rcu)
{
	struct kprobe_point *point = container_of(rcu, struct kprobe_point, rcu);

	if (llist_add(&point->left, &left_points))
		schedule_work(&left_work);
}

/*
 * Wait for RCU-tasks: a task may be preempted in the copy of the instruction, or in the detour,
 * even before it has reached the handlers.
 */
void kprobe_point_free_when_left(struct kprobe_point *point)
{
	call_rcu_tasks(&point->rcu, point_left_rcu);
}

int __init kprobe_points_init(void)
{
	point_cache = KMEM_CACHE(kprobe_point, 0);

	return point_cache ? 0 : -ENOMEM;
}
