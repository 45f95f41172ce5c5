// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instances of a return probe: one for each call that is followed.
 *
 * They come from a lockless pool of lib/objpool.c, which lives until the last
 * instance has come back. That may be long after the return probe was
 * unregistered, for the function may sleep, and it happens in a trap, where no
 * memory can be freed: from then on instances come back by way of an irq_work.
 *
 * Mostly a call returns on the CPU that it came to, before there is another one.
 * So each CPU keeps the instance that came back to it last.
 */
#include <linux/slab.h>

#include "internal.h"

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

static struct kretprobe_instance *spare_take_from(struct return_pool *pool, unsigned int cpu)
{
	return xchg(per_cpu_ptr(pool->spare, cpu), NULL);
}

NOKPROBE_SYMBOL(spare_take_from);

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

	pool->spare = alloc_percpu(struct kretprobe_instance *);
	if (!pool->spare) {
		kfree(pool);
		return -ENOMEM;
	}
	init_irq_work(&pool->work, drop_late);
	ret = objpool_init(&pool->objects, maxactive,
			   sizeof(struct kretprobe_instance) + rp->data_size,
			   GFP_KERNEL | __GFP_NOWARN, pool, instance_init, pool_release);
	if (ret) {
		free_percpu(pool->spare);
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
	struct kretprobe_instance *ri;
	struct return_pool *pool;
	unsigned int cpu;

	if (!holder)
		return;

	RCU_INIT_POINTER(holder->rp, NULL);
	rp->rph = NULL;

	/* Nobody keeps one any more. */
	pool = return_pool_of(holder);
	for_each_possible_cpu(cpu) {
		ri = spare_take_from(pool, cpu);
		if (ri)
			objpool_push(ri, &pool->objects);
	}
	free_percpu(pool->spare);
	objpool_fini(&pool->objects);
}

/* This CPU has none at hand: there may be one in the pool, or with another CPU. */
struct kretprobe_instance *return_pool_pop(struct return_pool *pool)
{
	struct kretprobe_instance *ri = objpool_pop(&pool->objects);
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (ri)
			break;
		ri = spare_take_from(pool, cpu);
	}

	return ri;
}

NOKPROBE_SYMBOL(return_pool_pop);

/* This CPU has one at hand already, or nobody will want it any more. */
void return_pool_push(struct return_pool *pool, struct kretprobe_instance *ri)
{
	if (rcu_access_pointer(pool->holder.rp))
		objpool_push(ri, &pool->objects);
	else if (llist_add(&ri->llist, &pool->late))
		irq_work_queue(&pool->work);
}

NOKPROBE_SYMBOL(return_pool_push);
