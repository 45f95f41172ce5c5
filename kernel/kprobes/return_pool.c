// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instances of a return probe: one for each call that is followed.
 *
 * They are allocated in chunks. From the start there are two, and together they
 * have what the user asks for. When a call has to take its instance from the last
 * chunk, a worker allocates another one, with as many instances as there are
 * already. So the calls under way must double while the worker is on its way
 * before one of them is missed.
 *
 * A chunk is a lockless pool of lib/objpool.c, which lives until the last of its
 * instances has come back. That may be long after the return probe was
 * unregistered, for the function may sleep, and it happens in a trap, where no
 * memory can be freed: from then on instances come back by way of an irq_work.
 *
 * Mostly a call returns on the CPU that it came to, before there is another one.
 * So each CPU keeps the instance that came back to it last.
 */
#include <linux/irq_work.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "internal.h"

/* What there is from the start when the user leaves it to us, and from when on it is enough. */
#define INSTANCES_FEW	10
#define INSTANCES_MAX	32768

/* How much of a chunk for one CPU may come from the slab. */
#define SLAB_MAX	(PAGE_SIZE / 2)

/**
 * struct return_pool - where the instances of one return probe come from
 * @spare: of each CPU, an instance that is free, or NULL
 * @chunks: all other instances, the first chunk first; none ever leaves
 * @nr: instances in all of them
 * @nr_asked: @nr when the worker was last told that few are left
 * @data_size: bytes of each instance that are the user's
 * @low: links it in low_pools
 */
struct return_pool {
	struct kretprobe_instance * __percpu *spare;
	struct return_chunk *chunks;
	int nr;
	int nr_asked;
	size_t data_size;
	struct llist_node low;
};

static LLIST_HEAD(low_pools);
static LLIST_HEAD(late_instances);

/* Held while chunks are added to a pool, and while all of them are retired. */
static DEFINE_MUTEX(chunks_mutex);

static int instance_init(void *obj, void *context)
{
	struct kretprobe_instance *ri = obj;
	struct return_chunk *chunk = context;

	ri->rph = &chunk->holder;

	return 0;
}

static int chunk_release(struct objpool_head *objects, void *context)
{
	kfree(context);

	return 0;
}

/* The last of a chunk takes it along. */
static void drop_late(struct irq_work *work)
{
	struct kretprobe_instance *ri, *next;

	llist_for_each_entry_safe(ri, next, llist_del_all(&late_instances), llist)
		objpool_drop(ri, &return_chunk_of(ri->rph)->objects);
}

static DEFINE_IRQ_WORK(late_work, drop_late);

/* Who may sleep is given whole pages by objpool. */
static gfp_t chunk_gfp(int nr, size_t data_size)
{
	return (return_each_cpu(nr, data_size) > SLAB_MAX ? GFP_KERNEL : GFP_ATOMIC) | __GFP_NOWARN;
}

static struct return_chunk *chunk_create(struct return_pool *pool, int nr)
{
	size_t size = sizeof(struct kretprobe_instance) + pool->data_size;
	struct return_chunk *chunk;

	chunk = kzalloc(sizeof(*chunk), GFP_KERNEL);
	if (!chunk)
		return NULL;

	chunk->pool = pool;
	chunk->spare = pool->spare;
	if (objpool_init(&chunk->objects, nr, size, chunk_gfp(nr, pool->data_size), chunk,
			 instance_init, chunk_release)) {
		kfree(chunk);
		return NULL;
	}

	return chunk;
}

/* Add @nr instances to @pool; @rp is their return probe, if this is the first chunk. */
static int pool_grow(struct return_pool *pool, struct kretprobe *rp, int nr)
{
	struct return_chunk *chunk = chunk_create(pool, nr), **last;

	if (!chunk)
		return -ENOMEM;

	guard(mutex)(&chunks_mutex);
	/* It may be on its way out. */
	for (last = &pool->chunks; *last; last = &(*last)->next)
		rp = rcu_dereference_protected((*last)->holder.rp, true);
	rcu_assign_pointer(chunk->holder.rp, rp);
	/* Pairs with the dependency on the address in those who take instances. */
	smp_store_release(last, chunk);
	WRITE_ONCE(pool->nr, pool->nr + nr);

	return 0;
}

static void grow_pools(struct work_struct *work)
{
	struct return_pool *pool, *next;

	llist_for_each_entry_safe(pool, next, llist_del_all(&low_pools), low) {
		/* If there is no memory now there may be when the next call asks. */
		if (pool->nr < INSTANCES_MAX && pool_grow(pool, NULL, pool->nr))
			WRITE_ONCE(pool->nr_asked, 0);
	}
}

static DECLARE_WORK(grow_work, grow_pools);

static void wake_worker(struct irq_work *work)
{
	queue_work(system_unbound_wq, &grow_work);
}

static DEFINE_IRQ_WORK(low_work, wake_worker);

/* Of @cpu, or NULL. */
static struct kretprobe_instance *take_spare(struct return_pool *pool, unsigned int cpu)
{
	return xchg(per_cpu_ptr(pool->spare, cpu), NULL);
}

NOKPROBE_SYMBOL(take_spare);

static void put_spares_back(struct return_pool *pool)
{
	struct kretprobe_instance *ri;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		ri = take_spare(pool, cpu);
		if (ri)
			objpool_push(ri, &return_chunk_of(ri->rph)->objects);
	}
}

/*
 * Have whoever has asked for more be done with that, a grace period after the last
 * hit. Only one task may wait for an irq_work.
 */
void return_pools_settle(void)
{
	scoped_guard(mutex, &chunks_mutex)
		irq_work_sync(&low_work);
	flush_work(&grow_work);
}

/* Without a hit since return_pools_settle(). */
static void pool_free(struct return_pool *pool)
{
	struct return_chunk *chunk, *next;

	if (pool->spare)
		put_spares_back(pool);
	free_percpu(pool->spare);
	for (chunk = pool->chunks; chunk; chunk = next) {
		next = chunk->next;
		objpool_fini(&chunk->objects);
	}
	kfree(pool);
}

int return_pool_create(struct kretprobe *rp, int nr)
{
	struct return_pool *pool;
	int ret;

	if (nr > OBJPOOL_NR_OBJECT_MAX)
		return -EINVAL;
	if (rp->maxactive <= 0)
		nr = min(nr, INSTANCES_FEW);
	pool = kzalloc(sizeof(*pool), GFP_KERNEL);
	if (!pool)
		return -ENOMEM;

	pool->data_size = rp->data_size;
	pool->spare = alloc_percpu(struct kretprobe_instance *);
	ret = pool->spare ? pool_grow(pool, rp, DIV_ROUND_UP(nr, 2)) : -ENOMEM;
	if (!ret && nr > 1)
		ret = pool_grow(pool, rp, nr / 2);
	if (ret) {
		pool_free(pool);
		return ret;
	}
	rp->rph = &pool->chunks->holder;

	return 0;
}

/*
 * Instances that come back from now on are not needed again. No call takes one
 * either, for with none at hand it looks whether the return probe is retired.
 */
void return_pool_retire(struct kretprobe *rp)
{
	struct return_pool *pool = return_chunk_of(rp->rph)->pool;
	struct return_chunk *chunk;

	guard(mutex)(&chunks_mutex);
	for (chunk = pool->chunks; chunk; chunk = chunk->next)
		RCU_INIT_POINTER(chunk->holder.rp, NULL);
	put_spares_back(pool);
}

/* Called a grace period after return_pool_retire(), or when no hit can be. */
void return_pool_destroy(struct kretprobe *rp)
{
	struct return_chunk *first;

	if (!rp->rph)
		return;

	return_pool_retire(rp);
	first = return_chunk_of(rp->rph);
	rp->rph = NULL;
	pool_free(first->pool);
}

/* Once until there are more: the worker, or the way to it, may hit the probe. */
static void ask_for_more(struct return_pool *pool)
{
	int nr = READ_ONCE(pool->nr), asked = READ_ONCE(pool->nr_asked);

	if (asked != nr && try_cmpxchg(&pool->nr_asked, &asked, nr) &&
	    llist_add(&pool->low, &low_pools))
		irq_work_queue(&low_work);
}

NOKPROBE_SYMBOL(ask_for_more);

static struct kretprobe_instance *take_from_chunks(struct return_pool *pool)
{
	struct return_chunk *chunk, *next;
	struct kretprobe_instance *ri = NULL;

	for (chunk = pool->chunks; chunk && !ri; chunk = next) {
		next = READ_ONCE(chunk->next);
		if (!next)
			ask_for_more(pool);
		ri = objpool_pop(&chunk->objects);
	}

	return ri;
}

NOKPROBE_SYMBOL(take_from_chunks);

/* This CPU has none at hand: there may be one in the pool, or with another CPU. */
struct kretprobe_instance *return_pool_pop(struct kretprobe *rp)
{
	struct return_pool *pool = return_chunk_of(rp->rph)->pool;
	struct kretprobe_instance *ri = take_from_chunks(pool);
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (ri)
			break;
		ri = take_spare(pool, cpu);
	}

	return ri;
}

NOKPROBE_SYMBOL(return_pool_pop);

/*
 * A call from here that was followed would end here as well, and so on: none is.
 * Its return probe may be among those that are being unregistered.
 */
static void take_back_late(struct kretprobe_instance *ri)
{
	bool busy = !kprobe_running();

	if (!llist_add(&ri->llist, &late_instances))
		return;

	if (busy)
		kprobe_busy_begin();
	irq_work_queue(&late_work);
	if (busy)
		kprobe_busy_end();
}

NOKPROBE_SYMBOL(take_back_late);

/* With preemption disabled, so that the pool is not destroyed in between. */
void return_pool_put(struct kretprobe_instance *ri)
{
	struct return_chunk *chunk = return_chunk_of(ri->rph);

	/* Nobody will want it any more, if there is no return probe. */
	if (rcu_access_pointer(chunk->holder.rp))
		objpool_push(ri, &chunk->objects);
	else
		take_back_late(ri);
}

NOKPROBE_SYMBOL(return_pool_put);
