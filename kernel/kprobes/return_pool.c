// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instances of a return probe: one for each call that is followed.
 *
 * They come from a lockless pool of lib/objpool.c, which lives until the last
 * instance has come back. That may be long after the return probe was
 * unregistered, for the function may sleep, and it happens in a trap, where no
 * memory can be freed: from then on instances come back by way of an irq_work.
 */
#include <linux/irq_work.h>
#include <linux/llist.h>
#include <linux/objpool.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * struct return_pool - where the instances of one return probe come from
 * @holder: tells the instances their return probe
 * @objects: the instances
 * @late: those that came back after the return probe was unregistered
 * @work: takes them out of the pool
 * @rcu: delays freeing until @work has ended
 */
struct return_pool {
	struct kretprobe_holder holder;
	struct objpool_head objects;
	struct llist_head late;
	struct irq_work work;
	struct rcu_head rcu;
};

static __always_inline struct return_pool *pool_of(struct kretprobe_holder *holder)
{
	return container_of(holder, struct return_pool, holder);
}

static int instance_init(void *obj, void *context)
{
	struct kretprobe_instance *ri = obj;
	struct return_pool *pool = context;

	ri->rph = &pool->holder;

	return 0;
}

static int pool_release(struct objpool_head *objects, void *context)
{
	struct return_pool *pool = context;

	kfree_rcu(pool, rcu);

	return 0;
}

/* The last of them takes the pool along, which then frees itself. */
static void drop_late(struct irq_work *work)
{
	struct return_pool *pool = container_of(work, struct return_pool, work);
	struct kretprobe_instance *ri, *next;

	llist_for_each_entry_safe(ri, next, llist_del_all(&pool->late), llist)
		objpool_drop(ri, &pool->objects);
}

int return_pool_create(struct kretprobe *rp, int maxactive)
{
	struct return_pool *pool = kzalloc(sizeof(*pool), GFP_KERNEL);
	int ret;

	if (!pool)
		return -ENOMEM;

	init_irq_work(&pool->work, drop_late);
	ret = objpool_init(&pool->objects, maxactive,
			   sizeof(struct kretprobe_instance) + rp->data_size,
			   GFP_KERNEL | __GFP_NOWARN, pool, instance_init, pool_release);
	if (ret) {
		kfree(pool);
		return ret;
	}
	rcu_assign_pointer(pool->holder.rp, rp);
	rp->rph = &pool->holder;

	return 0;
}

/* Instances that come back from now on are not needed again. */
void return_pool_retire(struct kretprobe *rp)
{
	RCU_INIT_POINTER(rp->rph->rp, NULL);
}

/* Called a grace period after return_pool_retire(), or when no hit can be. */
void return_pool_destroy(struct kretprobe *rp)
{
	struct kretprobe_holder *holder = rp->rph;

	if (!holder)
		return;

	RCU_INIT_POINTER(holder->rp, NULL);
	rp->rph = NULL;
	objpool_fini(&pool_of(holder)->objects);
}

struct kretprobe_instance *return_pool_get(struct kretprobe *rp)
{
	return objpool_pop(&pool_of(rp->rph)->objects);
}

NOKPROBE_SYMBOL(return_pool_get);

void return_pool_put(struct kretprobe_instance *ri)
{
	struct return_pool *pool = pool_of(ri->rph);

	if (likely(rcu_access_pointer(pool->holder.rp)))
		objpool_push(ri, &pool->objects);
	else if (llist_add(&ri->llist, &pool->late))
		irq_work_queue(&pool->work);
}

NOKPROBE_SYMBOL(return_pool_put);
