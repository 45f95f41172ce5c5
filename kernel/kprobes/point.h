/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A point: one probed address.
 *
 * Every probed address has one struct kprobe_point. The struct kprobe inside it
 * is the one that architectures see; a user's struct kprobe is a member of it.
 * A change to a member, or to one of the global switches, changes which text the point
 * needs, and kprobe_points_reconcile() writes that text.
 */
#ifndef _KERNEL_KPROBES_POINT_H
#define _KERNEL_KPROBES_POINT_H

#include <linux/cleanup.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>

#include "state.h"

/**
 * struct kprobe_point - one probed address
 * @op: what architectures see; its pre_handler and post_handler dispatch to the
 *	members, its list links the point in the caller's work list
 * @called: the members that are enabled and have a pre_handler, linked by their hlist in
 *	the order of @members, and kprobe_called_end after them
 * @members: the users' probes at this address, the one registered last first
 * @ftrace_ops: the ftrace_ops that holds the site, NULL when none does
 * @enabled: members not disabled
 * @post: members not disabled that have a post_handler
 * @state: written by kprobe_point_set_state() only
 * @detour: what is known about a detour, see optimize.c
 * @owner: the point whose jump leads through this one's detour, NULL when this one has
 *	its own; see neighbours.c
 * @shared: other points have this one as their owner
 * @reserved: another ftrace_ops has the site as well, to keep users of IPMODIFY away
 * @calls_post: the jump, planned or written, leads to code that calls post_handlers
 * @quiet_after: number of the grace period after which no task is in the detour, see jumps.c
 * @rcu: delays the freeing of a dead point
 * @left: links such a point when no task is in its detour any more
 */
struct kprobe_point {
#ifdef CONFIG_OPTPROBES
	struct optimized_kprobe op;
#else
	struct {
		struct kprobe kp;
	} op;
#endif
	struct hlist_head called;
	struct list_head members;
	union {
		struct {
#ifdef CONFIG_KPROBES_ON_FTRACE
			struct ftrace_ops *ftrace_ops;
#endif
			unsigned int enabled;
			unsigned int post;
		};
		struct rcu_head rcu;
		struct llist_node left;
	};
	enum point_state state;
	enum point_detour detour;
	struct kprobe_point *owner;
	bool shared;
	bool reserved;
	bool calls_post;
	unsigned int quiet_after;
};

static __always_inline struct kprobe_point *point_of(struct kprobe *kp)
{
	return container_of(kp, struct kprobe_point, op.kp);
}

static inline unsigned long point_addr(const struct kprobe_point *point)
{
	return (unsigned long)point->op.kp.addr;
}

/* kprobes.c: set once everything is set up that probes need to be registered */
extern bool kprobes_available;

/* Is a jump planned or written, whether at the point or at the owner of a shared one? */
static inline bool point_in_jump_state(struct kprobe_point *point)
{
	return point->state >= POINT_OPTIMIZING && point->state <= POINT_OPTIMIZED;
}

/* The same, at the point itself. */
static inline bool point_owns_jump(struct kprobe_point *point)
{
	return point_in_jump_state(point) && !point->owner;
}

static inline void point_queue(struct kprobe_point *point, struct list_head *work)
{
	if (list_empty(&point->op.kp.list))
		list_add_tail(&point->op.kp.list, work);
}

int kprobe_points_init(void);
struct kprobe_point *kprobe_point_create(unsigned long addr, bool on_entry, bool on_ftrace);
void kprobe_point_set_state(struct kprobe_point *point, enum point_state state);
void kprobe_points_sort(struct list_head *work);
void kprobe_point_free(struct kprobe_point *point);
void kprobe_point_free_when_left(struct kprobe_point *point);

#endif /* _KERNEL_KPROBES_POINT_H */
