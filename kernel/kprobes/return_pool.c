// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instances of a return probe: one for each call that is followed.
 *
 * They are allocated in chunks. A return probe starts with two, which together have as
 * many instances as the user asks for. The newest chunk has half of all instances, and is
 * the reserve: when a call has to take its instance from there, a worker allocates
 * another chunk, with as many instances as there are already. So no call is missed unless
 * the calls under way double before the worker is done.
 *
 * A chunk is a lockless pool of lib/objpool.c, which lives until the last of its
 * instances has come back. That may be long after the return probe was unregistered,
 * because the function may sleep, and it happens in the context of the function, where
 * memory may not be freed. So after unregistration a worker takes the instances back. It
 * also takes back those that return while this CPU is taking back another one.
 *
 * Most calls return on the CPU on which they were entered, before the next call. So each
 * CPU keeps the instance that came back to it last.
 *
 * A hit must not search for long, because it runs with interrupts off. It looks at the
 * newest %CHUNKS_TRIED chunks, which have nearly all the instances, and then at the spare
 * instances of %SPARES_TRIED other CPUs, or of all CPUs if there are fewer instances than
 * that. So a call may be counted as missed although an instance is left somewhere; but in a
 * small pool no spare instance is overlooked.
 */
#include <linux/cpuhotplug.h>
#include <linux/irq_work.h>
#include <linux/kprobes_base.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "internal.h"

/*
 * Number of instances from the start if the user does not choose it, unless there are
 * more CPUs; and the part of all memory up to which a pool may take a new chunk.
 */
#define INSTANCES_FEW	10
#define GROW_PART	1024

/* How far a hit searches. Each chunk has as many instances as all older ones together. */
#define CHUNKS_TRIED	4
#define SPARES_TRIED	32

/* Bytes of a chunk for each CPU up to which it may come from the slab. */
#define SLAB_MAX	(PAGE_SIZE / 2)

/* Number of pools whose places for spare instances are allocated together. */
#define SPARES_TOGETHER	32

/**
 * struct spare_block - places for the spare instances of several pools
 * @link: in roomy_spare_blocks, while a place is free
 * @places: the array of places of each CPU
 * @free: bit N is set while no pool has place N, which is NULL on each CPU then
 */
struct spare_block {
	struct list_head link;
	struct kretprobe_instance * __percpu *places;
	u32 free;
};

/**
 * struct return_pool - the instances of one return probe
 * @spare: each CPU's free instance, or NULL; a place in @block
 * @block: the block of @spare, NULL before there is one
 * @chunks: all other instances, the newest chunk first; no chunk is ever removed
 * @nr: instances in all of them
 * @nr_asked: @nr when the worker was last asked for more, 0 if it need not try again
 * @data_size: size of the user's data in each instance
 * @low: links it in pools_low
 */
struct return_pool {
	struct kretprobe_instance * __percpu *spare;
	struct spare_block *block;
	struct return_chunk *chunks;
	int nr;
	int nr_asked;
	size_t data_size;
	struct llist_node low;
};

static LLIST_HEAD(pools_low);
static LLIST_HEAD(pools_late_instances);

/* Blocks with a free place, protected by spares_mutex. */
static LIST_HEAD(roomy_spare_blocks);
static DEFINE_MUTEX(spares_mutex);

/* Held while chunks are added to a pool, and while all of them are retired. */
static DEFINE_MUTEX(chunks_mutex);

static int chunk_init_instance(void *obj, void *context)
{
	struct kretprobe_instance *ri = obj;
	struct return_chunk *chunk = context;

	/* KMSAN does not see the stores of this file. */
	kmsan_unpoison_memory(ri, sizeof(*ri));
	ri->rph = &chunk->holder;

	return 0;
}

static int chunk_release(struct objpool_head *objects, void *context)
{
	kfree(context);

	return 0;
}

/* Is this CPU within objpool_push()? */
static DEFINE_PER_CPU(bool, pool_pushing);

/*
 * Return @ri to its chunk, unless its return probe is retired. Preemption is disabled, which keeps
 * the pool from being destroyed.
 *
 * A push must not nest in another on the same CPU: it would publish the entry that the outer
 * one has reserved but not written. Only an NMI could nest, or a hit in the pool's own code.
 * Then return false as well.
 */
static bool pool_return_instance(struct kretprobe_instance *ri)
{
	struct return_chunk *chunk = return_chunk_of(ri->rph);
	unsigned long flags;
	bool nested;

	if (!rcu_access_pointer(chunk->holder.rp))
		return false;

	raw_local_irq_save(flags);
	nested = __this_cpu_read(pool_pushing);
	if (!nested) {
		__this_cpu_write(pool_pushing, true);
		barrier();
		objpool_push(ri, &chunk->objects);
		barrier();
		__this_cpu_write(pool_pushing, false);
	}
	raw_local_irq_restore(flags);

	return !nested;
}

NOKPROBE_SYMBOL(pool_return_instance);

/*
 * Dropping the last instance of a retired chunk frees the chunk. An unwinder on another
 * task's stack, under RCU, may be at one of the instances: wait a grace period first.
 */
static void pools_reclaim_late(struct work_struct *work)
{
	struct llist_node *late = llist_del_all(&pools_late_instances);
	struct kretprobe_instance *ri, *next;
	bool pushed;

	if (!late)
		return;

	synchronize_rcu();
	llist_for_each_entry_safe(ri, next, late, llist) {
		scoped_guard(preempt)
			pushed = pool_return_instance(ri);
		if (!pushed)
			objpool_drop(ri, &return_chunk_of(ri->rph)->objects);
	}
}

static DECLARE_WORK(pools_late_work, pools_reclaim_late);

static int chunk_fill(struct return_chunk *chunk, int nr, gfp_t gfp)
{
	size_t size = sizeof(struct kretprobe_instance) + chunk->pool->data_size;

	return objpool_init(&chunk->objects, nr, size, gfp | __GFP_NOWARN, chunk,
			    chunk_init_instance, chunk_release);
}

/* Add @nr instances to @pool; @rp is their return probe, if this is the first chunk. */
static int pool_grow(struct return_pool *pool, struct kretprobe *rp, int nr, gfp_t gfp)
{
	struct return_chunk *chunk = kzalloc(sizeof(*chunk), gfp);
	int ret = -ENOMEM;

	if (!chunk)
		return ret;

	chunk->pool = pool;
	chunk->spare = pool->spare;
	/*
	 * With GFP_KERNEL objpool allocates whole pages, which wastes memory in a small chunk.
	 * With GFP_ATOMIC it does not, but fails while memory has to be reclaimed first.
	 */
	if (return_each_cpu(nr, pool->data_size) <= SLAB_MAX)
		ret = chunk_fill(chunk, nr, GFP_ATOMIC);
	if (ret)
		ret = chunk_fill(chunk, nr, gfp);
	if (ret) {
		kfree(chunk);
		return -ENOMEM;
	}

	guard(mutex)(&chunks_mutex);
	chunk->older = pool->chunks;
	/* The return probe may have been retired since the worker was asked. */
	if (chunk->older)
		rp = rcu_dereference_protected(chunk->older->holder.rp, true);
	rcu_assign_pointer(chunk->holder.rp, rp);
	/* Pairs with the address dependency in pool_take_from_chunks(). */
	smp_store_release(&pool->chunks, chunk);
	WRITE_ONCE(pool->nr, pool->nr + nr);

	return 0;
}

/* The next chunk has as many instances as there are already. */
static bool pool_may_grow(const struct return_pool *pool)
{
	size_t size = size_mul(return_each_cpu(pool->nr, pool->data_size), num_possible_cpus());

	/* objpool computes sizes in an int. */
	return pool->nr <= OBJPOOL_NR_OBJECT_MAX / 2 && size < SZ_1G &&
	       size / PAGE_SIZE < totalram_pages() / GROW_PART;
}

static void pools_grow_low(struct work_struct *work);
static DECLARE_DELAYED_WORK(pools_grow_work, pools_grow_low);

/*
 * A missed call is better than a task killed for lack of memory: do not insist, but try again
 * after a while. Until then requests for other pools wait, as the list is not empty.
 */
static void pools_grow_low(struct work_struct *work)
{
	struct return_pool *pool, *next;

	llist_for_each_entry_safe(pool, next, llist_del_all(&pools_low), low) {
		if (pool_may_grow(pool) &&
		    pool_grow(pool, NULL, pool->nr, GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN) &&
		    READ_ONCE(pool->nr_asked)) {
			llist_add(&pool->low, &pools_low);
			queue_delayed_work(system_dfl_wq, &pools_grow_work, HZ);
		}
	}
}

static void pools_queue_works(struct irq_work *work)
{
	queue_delayed_work(system_dfl_wq, &pools_grow_work, 0);
	queue_work(system_dfl_wq, &pools_late_work);
}

/* Hard: if the CPU where it is queued goes offline, that still runs it, as it needs no thread. */
static struct irq_work pools_irq_work = IRQ_WORK_INIT_HARD(pools_queue_works);

/*
 * A CPU that is offline already, but still executes code, may never run what it queues.
 * pools_cpu_dead() queues the works when it is gone.
 */
static void pools_wake_workers(void)
{
	if (cpu_online(raw_smp_processor_id()))
		irq_work_queue(&pools_irq_work);
}

NOKPROBE_SYMBOL(pools_wake_workers);

/* pools_wake_workers() does nothing on a CPU that is not online yet: make up for that. */
static int pools_cpu_online(unsigned int cpu)
{
	pools_queue_works(NULL);

	return 0;
}

/* When the CPU comes back, its idle task begins anew: the calls that it is in never return. */
static int pools_cpu_dead(unsigned int cpu)
{
	struct llist_node *node = __llist_del_all(&idle_task(cpu)->kretprobe_instances);
	struct llist_node *next;

	llist_for_each_safe(node, next, node)
		llist_add(node, &pools_late_instances);
	pools_queue_works(NULL);

	return 0;
}

/*
 * Take the spare of @cpu, or NULL. Look first: xchg() would take the cache line from @cpu even
 * if it has none.
 */
static struct kretprobe_instance *pool_take_spare(struct return_pool *pool, unsigned int cpu)
{
	struct kretprobe_instance **spare = per_cpu_ptr(pool->spare, cpu);

	return READ_ONCE(*spare) ? xchg(spare, NULL) : NULL;
}

NOKPROBE_SYMBOL(pool_take_spare);

static void pool_put_spares_back(struct return_pool *pool)
{
	struct kretprobe_instance *ri;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		ri = pool_take_spare(pool, cpu);
		if (ri)
			objpool_push(ri, &return_chunk_of(ri->rph)->objects);
	}
}

/*
 * Wait until all requests for more instances are served. Called a grace period after the last
 * hit. Queue the work here: only the first request, perhaps for another pool, wakes the
 * worker, and its CPU may not have done so yet.
 */
void kretprobe_pools_settle(void)
{
	mod_delayed_work(system_dfl_wq, &pools_grow_work, 0);
	flush_delayed_work(&pools_grow_work);
}

/*
 * Share blocks: the cost of allocating percpu memory grows with what others have
 * allocated there, and is high for a single pointer.
 */
static int pool_get_place(struct return_pool *pool)
{
	struct spare_block *block;
	unsigned int place;

	guard(mutex)(&spares_mutex);
	block = list_first_entry_or_null(&roomy_spare_blocks, struct spare_block, link);
	if (!block) {
		block = kzalloc(sizeof(*block), GFP_KERNEL);
		if (!block)
			return -ENOMEM;
		block->free = GENMASK(SPARES_TOGETHER - 1, 0);
		block->places = __alloc_percpu(SPARES_TOGETHER * sizeof(*block->places),
					       sizeof(*block->places));
		if (!block->places) {
			kfree(block);
			return -ENOMEM;
		}
		list_add(&block->link, &roomy_spare_blocks);
	}

	place = __ffs(block->free);
	block->free &= ~BIT(place);
	if (!block->free)
		list_del(&block->link);
	pool->block = block;
	pool->spare = block->places + place;

	return 0;
}

/* The place must be NULL on each CPU again. */
static void pool_put_place(struct return_pool *pool)
{
	struct spare_block *block = pool->block;

	guard(mutex)(&spares_mutex);
	if (!block->free)
		list_add(&block->link, &roomy_spare_blocks);
	block->free |= BIT(pool->spare - block->places);
	if (block->free != GENMASK(SPARES_TOGETHER - 1, 0))
		return;

	list_del(&block->link);
	free_percpu(block->places);
	kfree(block);
}

/* Called a grace period after the last hit. */
static void pool_free(struct return_pool *pool)
{
	struct return_chunk *chunk, *next;

	if (xchg(&pool->nr_asked, 0))
		kretprobe_pools_settle();
	if (pool->block) {
		pool_put_spares_back(pool);
		pool_put_place(pool);
	}
	for (chunk = pool->chunks; chunk; chunk = next) {
		next = chunk->older;
		objpool_fini(&chunk->objects);
	}
	kfree(pool);
}

int kretprobe_pool_create(struct kretprobe *rp, int nr)
{
	struct return_pool *pool;
	int ret;

	if (rp->maxactive <= 0)
		nr = min(nr, max(INSTANCES_FEW, (int)num_possible_cpus()));
	pool = kzalloc(sizeof(*pool), GFP_KERNEL);
	if (!pool)
		return -ENOMEM;

	pool->data_size = rp->data_size;
	ret = pool_get_place(pool);
	ret = ret ?: pool_grow(pool, rp, DIV_ROUND_UP(nr, 2), GFP_KERNEL);
	if (!ret && nr > 1)
		ret = pool_grow(pool, rp, nr / 2, GFP_KERNEL);
	if (ret) {
		pool_free(pool);
		return ret;
	}
	rp->rph = &pool->chunks->holder;

	return 0;
}

/*
 * Instances that come back from now on are not needed again. No call takes one either: a
 * call that finds no spare checks whether the return probe is retired.
 */
void kretprobe_pool_retire(struct kretprobe *rp)
{
	struct return_pool *pool = return_chunk_of(rp->rph)->pool;
	struct return_chunk *chunk;

	guard(mutex)(&chunks_mutex);
	for (chunk = pool->chunks; chunk; chunk = chunk->older)
		RCU_INIT_POINTER(chunk->holder.rp, NULL);
	pool_put_spares_back(pool);
}

/* Called while @rp is registered. */
int kretprobe_pool_size(const struct kretprobe *rp)
{
	return READ_ONCE(return_chunk_of(rp->rph)->pool->nr);
}

/* Called a grace period after kretprobe_pool_retire(), or when there can be no hit. */
void kretprobe_pool_destroy(struct kretprobe *rp)
{
	struct return_chunk *first;

	if (!rp->rph)
		return;

	first = return_chunk_of(rp->rph);
	rp->rph = NULL;
	pool_free(first->pool);
}

/* Ask once until the pool has grown: the worker, or waking it, may hit the probe. */
static void pool_request_growth(struct return_pool *pool)
{
	/*
	 * Pairs with the cmpxchg below on other CPUs: @nr is at least what they have stored in
	 * @nr_asked. If that is unchanged at the cmpxchg here, @nr was read after the pool last
	 * grew, and the pool is on no list.
	 */
	int asked = smp_load_acquire(&pool->nr_asked), nr = READ_ONCE(pool->nr);

	if (asked != nr && try_cmpxchg(&pool->nr_asked, &asked, nr) &&
	    llist_add(&pool->low, &pools_low))
		pools_wake_workers();
}

NOKPROBE_SYMBOL(pool_request_growth);

static struct kretprobe_instance *pool_take_from_chunks(struct return_pool *pool)
{
	/* Address dependency: pairs with the release in pool_grow(). */
	struct return_chunk *newest = READ_ONCE(pool->chunks), *chunk = newest->older;
	struct kretprobe_instance *ri = NULL;
	unsigned int tries;

	for (tries = 1; !ri && chunk && tries < CHUNKS_TRIED; tries++) {
		ri = objpool_pop(&chunk->objects);
		chunk = chunk->older;
	}
	if (ri)
		return ri;
	pool_request_growth(pool);

	return objpool_pop(&newest->objects);
}

NOKPROBE_SYMBOL(pool_take_from_chunks);

/* This CPU has no spare: look in the chunks, then at other CPUs. */
struct kretprobe_instance *kretprobe_pool_pop(struct kretprobe *rp)
{
	struct return_pool *pool = return_chunk_of(rp->rph)->pool;
	struct kretprobe_instance *ri = pool_take_from_chunks(pool);
	unsigned int cpu, self, limit, tries = 0;

	if (ri)
		return ri;

	self = raw_smp_processor_id();
	limit = READ_ONCE(pool->nr) < SPARES_TRIED ? nr_cpu_ids : SPARES_TRIED;
	for_each_cpu_wrap(cpu, cpu_possible_mask, self + 1) {
		ri = pool_take_spare(pool, cpu);
		if (ri || ++tries == limit)
			break;
	}

	return ri;
}

NOKPROBE_SYMBOL(kretprobe_pool_pop);

/* Called with preemption disabled. */
void kretprobe_pool_put(struct kretprobe_instance *ri)
{
	bool busy;

	if (pool_return_instance(ri) || !llist_add(&ri->llist, &pools_late_instances))
		return;

	/*
	 * Block handlers in pools_wake_workers(): the return of a call in it that is followed could
	 * lead here again, without end.
	 */
	busy = !kprobe_running();
	if (busy)
		kprobe_busy_begin();
	pools_wake_workers();
	if (busy)
		kprobe_busy_end();
}

NOKPROBE_SYMBOL(kretprobe_pool_put);

/*
 * This task dies in a handler. An instance whose entry_handler it is in has a holder on the
 * stack, see return_call_entry_handler(). Give it its own holder again, for kprobe_flush_task().
 */
void kretprobe_entry_oopsed(void)
{
	struct kretprobe_instance *ri;

	llist_for_each_entry(ri, current->kretprobe_instances.first, llist) {
		if (ri->fp == ri)
			ri->rph = (struct kretprobe_holder *)ri->ret_addr;
	}
}

NOKPROBE_SYMBOL(kretprobe_entry_oopsed);

int __init kretprobe_pools_init(void)
{
	int ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "kprobes:online",
					pools_cpu_online, NULL);
	if (ret < 0)
		return ret;
	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "kprobes:dead", NULL,
					pools_cpu_dead);

	return min(ret, 0);
}
