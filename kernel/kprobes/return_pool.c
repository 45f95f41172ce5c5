// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instances of a return probe: one for each call that is followed.
 *
 * They are allocated in chunks. From the start there are two, and together they
 * have what the user asks for. The newest chunk has half of all instances, and is the
 * reserve: when a call has to take its instance from there, a worker allocates another
 * one, with as many instances as there are already. So the calls under way must double
 * while the worker is on its way before one of them is missed.
 *
 * A chunk is a lockless pool of lib/objpool.c, which lives until the last of its
 * instances has come back. That may be long after the return probe was
 * unregistered, for the function may sleep, and it happens in a trap, where no
 * memory can be freed: from then on instances come back by way of a worker. So do
 * those that come back to a pool within the code that another one comes back by.
 *
 * Mostly a call returns on the CPU that it came to, before there is another one.
 * So each CPU keeps the instance that came back to it last.
 *
 * A hit must not search for long: it runs with interrupts off. It looks at the newest
 * %CHUNKS_TRIED chunks, which have nearly all the instances, and then at what
 * %SPARES_TRIED other CPUs keep. An instance may be left elsewhere when a call is counted
 * as missed.
 */
#include <linux/cpuhotplug.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "return.h"
#include "return_pool.h"

/*
 * What there is from the start when the user leaves it to us, unless there are more
 * CPUs than that, and from when on it is enough.
 */
#define INSTANCES_FEW	10
#define INSTANCES_MAX	32768

/* How far a hit searches: each chunk has half of what is older and its own. */
#define CHUNKS_TRIED	4
#define SPARES_TRIED	32

/* How much of a chunk for one CPU may come from the slab. */
#define SLAB_MAX	(PAGE_SIZE / 2)

/* Pools whose places for spare instances are allocated together. */
#define SPARES_TOGETHER	32

/**
 * struct spare_block - for each CPU places for spare instances, one for each pool
 * @link: in roomy_blocks, while a place is free
 * @places: of each CPU, where the first of its places is
 * @free: bit N: place N is no pool's, and NULL on each CPU
 */
struct spare_block {
	struct list_head link;
	struct kretprobe_instance * __percpu *places;
	u32 free;
};

/**
 * struct return_pool - where the instances of one return probe come from
 * @spare: of each CPU, an instance that is free, or NULL; a place in @block
 * @block: NULL as long as @spare is none
 * @chunks: all other instances, the newest chunk first; none ever leaves
 * @nr: instances in all of them
 * @nr_asked: @nr when the worker was last told that few are left
 * @data_size: bytes of each instance that are the user's
 * @low: links it in low_pools
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

static LLIST_HEAD(low_pools);
static LLIST_HEAD(late_instances);

/* Blocks with a free place, and what protects them. */
static LIST_HEAD(roomy_blocks);
static DEFINE_MUTEX(spares_mutex);

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

/* Is this CPU within objpool_push()? */
static DEFINE_PER_CPU(bool, pushing);

/*
 * Nobody may push within another push on the same CPU, whose place would be taken
 * for full. Only an NMI can try, or a hit of the pool's own code.
 */
static bool push(struct kretprobe_instance *ri, struct return_chunk *chunk)
{
	unsigned long flags;
	bool nested;

	raw_local_irq_save(flags);
	nested = __this_cpu_read(pushing);
	if (!nested) {
		__this_cpu_write(pushing, true);
		barrier();
		objpool_push(ri, &chunk->objects);
		barrier();
		__this_cpu_write(pushing, false);
	}
	raw_local_irq_restore(flags);

	return !nested;
}

NOKPROBE_SYMBOL(push);

/*
 * With preemption disabled, so that the pool is not destroyed in between. Nobody will
 * want the instance any more, if there is no return probe.
 */
static bool push_if_wanted(struct kretprobe_instance *ri)
{
	struct return_chunk *chunk = return_chunk_of(ri->rph);

	return rcu_access_pointer(chunk->holder.rp) && push(ri, chunk);
}

NOKPROBE_SYMBOL(push_if_wanted);

/*
 * The last of a retired chunk takes it along. Who prints the stacks of other tasks,
 * under RCU, may have come to one of them, and is given a grace period to leave it.
 */
static void take_late(struct work_struct *work)
{
	struct llist_node *late = llist_del_all(&late_instances);
	struct kretprobe_instance *ri, *next;
	bool pushed;

	if (!late)
		return;

	synchronize_rcu();
	llist_for_each_entry_safe(ri, next, late, llist) {
		scoped_guard(preempt)
			pushed = push_if_wanted(ri);
		if (!pushed)
			objpool_drop(ri, &return_chunk_of(ri->rph)->objects);
	}
}

static DECLARE_WORK(late_work, take_late);

static int chunk_fill_from(struct return_chunk *chunk, int nr, gfp_t gfp)
{
	size_t size = sizeof(struct kretprobe_instance) + chunk->pool->data_size;

	return objpool_init(&chunk->objects, nr, size, gfp | __GFP_NOWARN, chunk,
			    instance_init, chunk_release);
}

/*
 * Who may sleep is given whole pages by objpool, much for what is small. Who may not
 * finds nothing while memory has to be reclaimed first.
 */
static int chunk_fill(struct return_chunk *chunk, int nr)
{
	if (return_each_cpu(nr, chunk->pool->data_size) <= SLAB_MAX &&
	    !chunk_fill_from(chunk, nr, GFP_ATOMIC))
		return 0;

	return chunk_fill_from(chunk, nr, GFP_KERNEL);
}

static struct return_chunk *chunk_create(struct return_pool *pool, int nr)
{
	struct return_chunk *chunk;

	chunk = kzalloc(sizeof(*chunk), GFP_KERNEL);
	if (!chunk)
		return NULL;

	chunk->pool = pool;
	chunk->spare = pool->spare;
	if (chunk_fill(chunk, nr)) {
		kfree(chunk);
		return NULL;
	}

	return chunk;
}

/* Add @nr instances to @pool; @rp is their return probe, if this is the first chunk. */
static int pool_grow(struct return_pool *pool, struct kretprobe *rp, int nr)
{
	struct return_chunk *chunk = chunk_create(pool, nr);

	if (!chunk)
		return -ENOMEM;

	guard(mutex)(&chunks_mutex);
	chunk->older = pool->chunks;
	/* The return probe may have been retired since the worker was asked. */
	if (chunk->older)
		rp = rcu_dereference_protected(chunk->older->holder.rp, true);
	rcu_assign_pointer(chunk->holder.rp, rp);
	/* Pairs with the address dependency in take_from_chunks(). */
	smp_store_release(&pool->chunks, chunk);
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

static void queue_works(struct irq_work *work)
{
	queue_work(system_unbound_wq, &grow_work);
	queue_work(system_unbound_wq, &late_work);
}

/* A CPU on its way out runs it to the end, unless a thread would have to. */
static struct irq_work wake_work = IRQ_WORK_INIT_HARD(queue_works);

/* Later on its way the CPU may never come to it, but then cpu_changed() does. */
static void wake_workers(void)
{
	if (cpu_online(raw_smp_processor_id()))
		irq_work_queue(&wake_work);
}

NOKPROBE_SYMBOL(wake_workers);

static int cpu_changed(unsigned int cpu)
{
	queue_works(NULL);

	return 0;
}

/* Of @cpu, or NULL. To look first leaves the cache line with @cpu while it has none. */
static struct kretprobe_instance *take_spare(struct return_pool *pool, unsigned int cpu)
{
	struct kretprobe_instance **spare = per_cpu_ptr(pool->spare, cpu);

	return READ_ONCE(*spare) ? xchg(spare, NULL) : NULL;
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
 * hit. The one who has to wake the worker may still be about to, for another pool.
 */
void kretprobe_pools_settle(void)
{
	queue_work(system_unbound_wq, &grow_work);
	flush_work(&grow_work);
}

static struct spare_block *block_create(void)
{
	struct spare_block *block = kzalloc(sizeof(*block), GFP_KERNEL);

	if (!block)
		return NULL;

	block->free = GENMASK(SPARES_TOGETHER - 1, 0);
	block->places = __alloc_percpu(SPARES_TOGETHER * sizeof(*block->places),
				       sizeof(*block->places));
	if (!block->places) {
		kfree(block);
		return NULL;
	}
	list_add(&block->link, &roomy_blocks);

	return block;
}

/*
 * What searching for percpu memory costs grows with what others have there, and is much
 * for a pointer.
 */
static int pool_get_spare(struct return_pool *pool)
{
	struct spare_block *block;
	unsigned int place;

	guard(mutex)(&spares_mutex);
	block = list_first_entry_or_null(&roomy_blocks, struct spare_block, link);
	if (!block)
		block = block_create();
	if (!block)
		return -ENOMEM;

	place = __ffs(block->free);
	block->free &= ~BIT(place);
	if (!block->free)
		list_del(&block->link);
	pool->block = block;
	pool->spare = block->places + place;

	return 0;
}

/* The place is NULL again on each CPU. */
static void pool_put_spare(struct return_pool *pool)
{
	struct spare_block *block = pool->block;

	guard(mutex)(&spares_mutex);
	if (!block->free)
		list_add(&block->link, &roomy_blocks);
	block->free |= BIT(pool->spare - block->places);
	if (block->free != GENMASK(SPARES_TOGETHER - 1, 0))
		return;

	list_del(&block->link);
	free_percpu(block->places);
	kfree(block);
}

/* Without a hit since kretprobe_pools_settle(). */
static void pool_free(struct return_pool *pool)
{
	struct return_chunk *chunk, *next;

	if (pool->block) {
		put_spares_back(pool);
		pool_put_spare(pool);
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

	if (nr > OBJPOOL_NR_OBJECT_MAX)
		return -EINVAL;
	if (rp->maxactive <= 0)
		nr = min(nr, max(INSTANCES_FEW, (int)num_possible_cpus()));
	pool = kzalloc(sizeof(*pool), GFP_KERNEL);
	if (!pool)
		return -ENOMEM;

	pool->data_size = rp->data_size;
	ret = pool_get_spare(pool);
	ret = ret ?: pool_grow(pool, rp, DIV_ROUND_UP(nr, 2));
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
void kretprobe_pool_retire(struct kretprobe *rp)
{
	struct return_pool *pool = return_chunk_of(rp->rph)->pool;
	struct return_chunk *chunk;

	guard(mutex)(&chunks_mutex);
	for (chunk = pool->chunks; chunk; chunk = chunk->older)
		RCU_INIT_POINTER(chunk->holder.rp, NULL);
	put_spares_back(pool);
}

/* Called a grace period after kretprobe_pool_retire(), or when no hit can be. */
void kretprobe_pool_destroy(struct kretprobe *rp)
{
	struct return_chunk *first;

	if (!rp->rph)
		return;

	kretprobe_pool_retire(rp);
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
		wake_workers();
}

NOKPROBE_SYMBOL(ask_for_more);

static struct kretprobe_instance *take_from_chunks(struct return_pool *pool)
{
	struct return_chunk *newest = READ_ONCE(pool->chunks), *chunk = newest->older;
	struct kretprobe_instance *ri = NULL;
	unsigned int tries;

	for (tries = 1; !ri && chunk && tries < CHUNKS_TRIED; tries++) {
		ri = objpool_pop(&chunk->objects);
		chunk = chunk->older;
	}
	if (ri)
		return ri;
	ask_for_more(pool);

	return objpool_pop(&newest->objects);
}

NOKPROBE_SYMBOL(take_from_chunks);

static struct kretprobe_instance *take_from_others(struct return_pool *pool)
{
	unsigned int cpu, tries = 0, self = raw_smp_processor_id();
	struct kretprobe_instance *ri = NULL;

	for_each_cpu_wrap(cpu, cpu_possible_mask, self + 1) {
		ri = take_spare(pool, cpu);
		if (ri || ++tries == SPARES_TRIED)
			break;
	}

	return ri;
}

NOKPROBE_SYMBOL(take_from_others);

/* This CPU has none at hand: there may be one in the pool, or with another CPU. */
struct kretprobe_instance *kretprobe_pool_pop(struct kretprobe *rp)
{
	struct return_pool *pool = return_chunk_of(rp->rph)->pool;

	return take_from_chunks(pool) ?: take_from_others(pool);
}

NOKPROBE_SYMBOL(kretprobe_pool_pop);

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
	wake_workers();
	if (busy)
		kprobe_busy_end();
}

NOKPROBE_SYMBOL(take_back_late);

/* With preemption disabled. */
void kretprobe_pool_put(struct kretprobe_instance *ri)
{
	if (!push_if_wanted(ri))
		take_back_late(ri);
}

NOKPROBE_SYMBOL(kretprobe_pool_put);

/* As CPUs have come, and when they have gone. */
int __init kretprobe_pools_init(void)
{
	int ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "kprobes:online", cpu_changed, NULL);
	if (ret < 0)
		return ret;
	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "kprobes:dead", NULL, cpu_changed);

	return min(ret, 0);
}
