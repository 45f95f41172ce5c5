// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points: their states, their members, the text that they want, and their life from creation
 * until they are freed.
 */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/list_sort.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "internal.h"

/*
 * The states of a point and the legal steps between them. Nothing here has a side effect.
 */

/*
 * What there is to know about a state: its name for users, the KPROBE_FLAG_* bits that mirror it
 * for code outside of kprobes, and the states that may follow.
 */
static const struct point_row {
	const char *name;
	u8 flags;
	u8 next;
} point_rows[] = {
	/* Armed, gone with its text, or dead because the last member has left. */
	[POINT_DISARMED]   = { "disarmed", KPROBE_FLAG_DISABLED,
			       BIT(POINT_ARMED) | BIT(POINT_GONE) | BIT(POINT_DEAD) },
	/* Disarmed, or queued for a jump. */
	[POINT_ARMED]	   = { "armed", 0,
			       BIT(POINT_DISARMED) | BIT(POINT_OPTIMIZING) },
	/* Dequeued, or by the worker: region fenced, or a jump written that needs no fence. */
	[POINT_OPTIMIZING] = { "optimizing", KPROBE_FLAG_OPTIMIZED,
			       BIT(POINT_ARMED) | BIT(POINT_FENCED) | BIT(POINT_OPTIMIZED) },
	/* Fence removed, or a grace period later: jump written. */
	[POINT_FENCED]	   = { "fenced", KPROBE_FLAG_OPTIMIZED,
			       BIT(POINT_ARMED) | BIT(POINT_OPTIMIZED) },
	/* Jump removed. */
	[POINT_OPTIMIZED]  = { "optimized", KPROBE_FLAG_OPTIMIZED,
			       BIT(POINT_ARMED) },
	/* Dead because the last member has left; the text is never written again. */
	[POINT_GONE]	   = { "gone", KPROBE_FLAG_GONE,
			       BIT(POINT_DEAD) },
	[POINT_DEAD]	   = { "dead", KPROBE_FLAG_DISABLED,
			       0 },
};

static_assert(ARRAY_SIZE(point_rows) == NR_POINT_STATES);

const char *kprobe_point_state_name(enum point_state state)
{
	return state < NR_POINT_STATES ? point_rows[state].name : "invalid";
}

bool kprobe_point_edge_legal(enum point_state from, enum point_state to)
{
	return from < NR_POINT_STATES && to < NR_POINT_STATES && point_rows[from].next & BIT(to);
}

u32 kprobe_point_state_flags(enum point_state state)
{
	return point_rows[state].flags;
}

/*
 * The members of a point: the users' probes at its address, and which of them a
 * hit calls.
 */

/*
 * The private word of a user's probe. It names the point while the probe is a member, so
 * that the member is found whatever its owner has done to the other fields. A struct that
 * is not a member may hold other words: 0 if it was never registered, anything if it was
 * never initialised, and another probe's word or an old one if it is a copy. The word
 * depends on the address of its struct, which exposes most copies; and it is trusted only
 * if the point that it names is in the table and the struct is in a list.
 */
#define LEAVING		1UL	/* no member any more, but hits may still walk from here */

/* Return the point that @kp is a member of, or NULL. @kp may be any struct kprobe. */
struct kprobe_point *kprobe_point_find_member(const struct kprobe *kp)
{
	unsigned long named = kp->registration ^ (unsigned long)kp;
	struct kprobe_point *point = (struct kprobe_point *)named;
	struct list_head *linked;
	kprobe_opcode_t *addr;

	lockdep_assert_held(&kprobe_mutex);
	if (!point || !kp->registration || kp->registration == LEAVING)
		return NULL;

	/* Mostly the owner has left the address as it was, and the point has no other member. */
	if (kprobe_point_find((unsigned long)kp->addr) != point &&
	    (get_kernel_nofault(addr, &point->op.kp.addr) ||
	     !kprobe_table_has(point, (unsigned long)addr)))
		return NULL;
	if (point->members.next != &kp->list &&
	    (get_kernel_nofault(linked, &kp->list.prev->next) || linked != &kp->list))
		return NULL;

	return point;
}

/* Handlers may read the address. Write it only if its owner has changed it. */
static void member_restore_addr(struct kprobe *kp, const struct kprobe_point *point)
{
	if (kp->addr != point->op.kp.addr)
		WRITE_ONCE(kp->addr, point->op.kp.addr);
}

/*
 * Called to reject a second registration: if @kp is registered, notes that it is refused, and
 * restores its address, which its owner may have overwritten.
 */
bool kprobe_is_registered(struct kprobe *kp)
{
	struct kprobe_point *point = kprobe_point_find_member(kp);

	if (!point)
		return false;

	member_restore_addr(kp, point);
	kprobe_refuse(-EINVAL, kp->addr, "already registered, or twice in one array");

	return true;
}

bool kprobe_is_leaving(const struct kprobe *kp)
{
	return kp->registration == LEAVING;
}

/* Called a grace period after kprobe_point_del_member(): the owner may now reuse @kp. */
void kprobe_has_left(struct kprobe *kp)
{
	INIT_LIST_HEAD(&kp->list);
	INIT_HLIST_NODE(&kp->hlist);
	kp->hit_pre = NULL;
	kp->registration = 0;
}

/*
 * A hit calls a single member directly, without walking the list. No other member may have a
 * post_handler then, because only that of the handler_probe is called.
 */
static void point_update_handler_probe(struct kprobe_point *point)
{
	struct hlist_node *first = point->called.first, *end = &kprobe_called_end.hlist;
	struct kprobe *handler_probe = &point->op.kp, *single;

	if (!FAULTS_WATCHED && first != end && first->next == end) {
		single = hlist_entry(first, struct kprobe, hlist);
		if (point->post == !!(single->flags & KPROBE_FLAG_POST))
			handler_probe = single;
	}

	/*
	 * Publish only an initialised probe; pairs with the dependent load in
	 * kprobe_call_pre_handler().
	 */
	smp_store_release(&point->op.kp.handler_probe, handler_probe);
}

/* Account @kp as enabled (@delta 1) or disabled (@delta -1). */
static void point_count_member(struct kprobe_point *point, const struct kprobe *kp, int delta)
{
	point->enabled += delta;
	if (kp->flags & KPROBE_FLAG_POST)
		point->post += delta;

	if (point->post)
		WRITE_ONCE(point->op.kp.post_handler, kprobe_dispatch_post);
	else if (!POST_HANDLER_STAYS)
		WRITE_ONCE(point->op.kp.post_handler, NULL);
	point_update_handler_probe(point);
}

/* Count @kp, and insert it among the called members, which are in the order of all members. */
static void point_include(struct kprobe_point *point, struct kprobe *kp)
{
	struct kprobe *before = kp;

	point_count_member(point, kp, 1);
	if (!kp->hit_pre)
		return;

	/* The one registered last is called first: insert @kp after those registered later. */
	list_for_each_entry_continue_reverse(before, &point->members, list) {
		if (!hlist_unhashed(&before->hlist)) {
			hlist_add_behind_rcu(&kp->hlist, &before->hlist);
			break;
		}
	}
	if (list_entry_is_head(before, &point->members, list))
		hlist_add_head_rcu(&kp->hlist, &point->called);
	point_update_handler_probe(point);
}

/* hlist_del_init_rcu() keeps kp->hlist.next, so that a hit at @kp can go on from there. */
static void point_exclude(struct kprobe_point *point, struct kprobe *kp)
{
	if (!hlist_unhashed(&kp->hlist)) {
		hlist_del_init_rcu(&kp->hlist);
		point_update_handler_probe(point);
	}
	/* Count it last: a hit that begins meanwhile must call both handlers or none. */
	point_count_member(point, kp, -1);
}

void kprobe_point_add_member(struct kprobe_point *point, struct kprobe *kp)
{
	const u32 shared = KPROBE_FLAG_ON_FUNC_ENTRY | KPROBE_FLAG_FTRACE;

	kp->addr = point->op.kp.addr;
	kp->opcode = point->op.kp.opcode;
	kp->nmissed = 0;
	kp->flags = (kp->flags & KPROBE_FLAG_DISABLED) | (point->op.kp.flags & shared) |
		    (kp->post_handler ? KPROBE_FLAG_POST : 0);
	kp->hit_pre = kp->pre_handler;
	INIT_HLIST_NODE(&kp->hlist);
	kp->registration = (unsigned long)point ^ (unsigned long)kp;

	/* Users rely on the order: the one registered last is called first. */
	list_add_rcu(&kp->list, &point->members);
	if (!kprobe_disabled(kp))
		point_include(point, kp);
}

/* A hit may still walk over @kp until an RCU grace period has passed. */
void kprobe_point_del_member(struct kprobe_point *point, struct kprobe *kp)
{
	if (!(kp->flags & KPROBE_FLAG_DISABLED))
		point_exclude(point, kp);
	list_del_rcu(&kp->list);
	kp->registration = LEAVING;
	member_restore_addr(kp, point);
	if (return_is_probe(kp))
		kretprobe_pool_retire(container_of(kp, struct kretprobe, kp));
}

/* Return whether @kp changed. */
bool kprobe_point_enable_member(struct kprobe_point *point, struct kprobe *kp, bool enable)
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

/* Which text a point needs: its members, its detour and the global switches decide. */

/* Debugfs "enabled" is 0. */
static bool all_off;

/* Jumps can be written, and the sysctl debug.kprobes-optimization allows them. */
static bool may_jump;

bool kprobe_points_all_off(void)
{
	return READ_ONCE(all_off);
}

/* Disarm every point regardless of its members, or end that. The caller must reconcile all. */
void kprobe_want_all_off(bool off)
{
	lockdep_assert_held(&kprobe_mutex);

	WRITE_ONCE(all_off, off);
}

/* The caller must reconcile all points. */
void kprobe_want_jumps(bool may)
{
	lockdep_assert_held(&kprobe_mutex);

	may_jump = may;
}

/* Only some of the kernel's own ports have a probe on the trampoline. */
int __weak arch_trampoline_kprobe(struct kprobe *p)
{
	return 0;
}

/* Does the point need anything but the original text at its address? */
bool kprobe_point_wants_text(struct kprobe_point *point)
{
	if (!point->enabled || !all_off)
		return point->enabled;

	/* Some ports read the probed text here, so do not ask when that is gone. */
	return IS_ENABLED(CONFIG_KRETPROBES) && point->state != POINT_GONE &&
	       arch_trampoline_kprobe(&point->op.kp);
}

/* Does the point need a jump, if it has a detour and no neighbour is in the way? */
bool kprobe_point_wants_jump(struct kprobe_point *point)
{
	bool lingers = point_jump_lingers(point) && !list_empty(&point->members) && !all_off;

	if (!may_jump || !(lingers || kprobe_point_wants_text(point)))
		return false;

	/* A jump planned before the first post_handler came leads to code that calls none. */
	return !point->post ||
	       (point_in_jump_state(point) ? point->calls_post : point_detour_calls_post(point));
}

/* A separate cache: kmalloc() would round each point up to the next size class. */
static struct kmem_cache *point_cache;

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
	/* Without a jump, a point neither owns nor uses a shared one. */
	if (!point_in_jump_state(point)) {
		point->owner = NULL;
		point->shared = false;
	}
	WRITE_ONCE(p->flags, (p->flags & ~mirror) | kprobe_point_state_flags(state));

	/* Mirror GONE to the members; users read it there. */
	if (state == POINT_GONE) {
		list_for_each_entry(kp, &point->members, list)
			WRITE_ONCE(kp->flags, kp->flags | KPROBE_FLAG_GONE);
	}
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

	if (IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) && on_ftrace)
		ret = arch_prepare_kprobe_ftrace(&point->op.kp);
	else
		ret = arch_prepare_kprobe(&point->op.kp);
	if (ret) {
		kmem_cache_free(point_cache, point);
		return ERR_PTR(ret);
	}

	return point;
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

/*
 * A port without slots has nothing to free, and arch/arc writes the original instruction instead:
 * over the breakpoint of a new point, or to text that has been freed.
 */
static void point_remove_copy(struct kprobe_point *point)
{
#if defined(ARCH_KPROBES_NATIVE) || defined(__ARCH_WANT_KPROBES_INSN_SLOT)
	arch_remove_kprobe(&point->op.kp);
#endif
}

/* Dead points whose copies and detours no task can be in, for free_left_points(). */
static LLIST_HEAD(left_points);

static void free_left_points(struct work_struct *work)
{
	struct llist_node *left = llist_del_all(&left_points);
	struct kprobe_point *point, *next;

	if (IS_ENABLED(CONFIG_OPTPROBES)) {
		llist_for_each_entry(point, left, left)
			kprobe_hide_detour(&point->op.kp);
	}
	/* A look-up by a stale address may have found a detour before, and through it the point. */
	synchronize_rcu();
	llist_for_each_entry_safe(point, next, left, left) {
		point_remove_copy(point);
		point_remove_detour(point);
		kmem_cache_free(point_cache, point);
	}
}

static DECLARE_WORK(left_work, free_left_points);

/* Free a point that no task can be at: it was never in the table, or has left it long ago. */
void kprobe_point_discard(struct kprobe_point *point)
{
	if (kprobe_ftrace(&point->op.kp))
		kmem_cache_free(point_cache, point);
	else if (llist_add(&point->left, &left_points))
		schedule_work(&left_work);
}

static void point_left_rcu(struct rcu_head *rcu)
{
	kprobe_point_discard(container_of(rcu, struct kprobe_point, rcu));
}

/* Called a grace period after kprobe_points_finish(), with no lock held. */
void kprobe_points_free(struct list_head *dead)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, dead, list) {
		struct kprobe_point *point = point_of(p);

		/*
		 * Wait for RCU-tasks: a task may be preempted in the copy of the instruction, or in
		 * the detour, even before it has reached the handlers.
		 */
		if (kprobe_ftrace(p))
			kmem_cache_free(point_cache, point);
		else
			call_rcu_tasks(&point->rcu, point_left_rcu);
	}
}

int __init kprobe_points_init(void)
{
	point_cache = KMEM_CACHE(kprobe_point, 0);

	return point_cache ? 0 : -ENOMEM;
}
