// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pool of a return probe that is not registered: how many instances it has, that it
 * grows before the last of them is used, and that none is handed out twice.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/preempt.h>

#include "internal.h"
#include "../../lib/test_kprobes/handlers.h"

#define NR_INSTANCES	8
#define NR_MORE		(4 * NR_INSTANCES)
#define NR_POOLS	80

struct pool_test {
	struct kretprobe rp;
	struct kretprobe_instance *taken[NR_MORE];
	unsigned int nr;
};

/* Like the entry of a function: take this CPU's spare first, then from the pool. */
static bool take(struct pool_test *pool)
{
	struct kretprobe_instance *ri;

	guard(preempt)();
	ri = kretprobe_pool_get(&pool->rp) ?: kretprobe_pool_pop(&pool->rp);
	if (ri)
		pool->taken[pool->nr++] = ri;

	return ri;
}

static void give_back(struct pool_test *pool)
{
	guard(preempt)();
	kretprobe_pool_keep(pool->taken[--pool->nr]);
}

static bool is_taken_twice(const struct pool_test *pool)
{
	unsigned int i, j;

	for (i = 0; i < pool->nr; i++) {
		for (j = 0; j < i; j++) {
			if (pool->taken[i] == pool->taken[j])
				return true;
		}
	}

	return false;
}

static void drop_pool(void *data)
{
	struct pool_test *pool = data;

	while (pool->nr)
		give_back(pool);
	kretprobe_pool_destroy(&pool->rp);
}

/* A pool that goes at the end of the case at the latest. */
static struct pool_test *new_pool(struct kunit *test, int nr, int maxactive)
{
	struct pool_test *pool = must_alloc(test, 1, sizeof(*pool));

	pool->rp.maxactive = maxactive;
	pool->rp.data_size = sizeof(long);
	KUNIT_ASSERT_EQ(test, kretprobe_pool_create(&pool->rp, nr), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, drop_pool, pool), 0);

	return pool;
}

static void pool_gives_all(struct kunit *test)
{
	struct pool_test *pool = new_pool(test, NR_INSTANCES, NR_INSTANCES);

	while (pool->nr < NR_INSTANCES)
		KUNIT_ASSERT_TRUE(test, take(pool));
	KUNIT_EXPECT_FALSE(test, is_taken_twice(pool));
	KUNIT_EXPECT_PTR_EQ(test, get_kretprobe(pool->taken[0]), &pool->rp);

	kunit_release_action(test, drop_pool, pool);
	KUNIT_EXPECT_NULL(test, pool->rp.rph);
}

/* Taking from the last chunk wakes the worker, which doubles the number of instances. */
static void pool_grows(struct kunit *test)
{
	struct pool_test *pool = new_pool(test, NR_INSTANCES, NR_INSTANCES);
	unsigned int tries = 0;

	while (pool->nr < NR_MORE && tries < 1000) {
		if (take(pool))
			continue;
		/* irq_work may be late on an emulated CPU. */
		msleep(20);
		kretprobe_pools_settle();
		tries++;
	}
	KUNIT_EXPECT_EQ(test, pool->nr, NR_MORE);
	KUNIT_EXPECT_FALSE(test, is_taken_twice(pool));
}

/* The newest chunk is the reserve. */
static void pool_newest_last(struct kunit *test)
{
	struct pool_test *pool = new_pool(test, 4, 4);
	struct return_chunk *newest = return_chunk_of(pool->rp.rph);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, newest->older);
	KUNIT_EXPECT_NULL(test, newest->older->older);
	for (i = 0; i < 4; i++) {
		KUNIT_ASSERT_TRUE(test, take(pool));
		KUNIT_EXPECT_PTR_EQ(test, return_chunk_of(pool->taken[i]->rph),
				    i < 2 ? newest->older : newest);
	}
}

/* However many instances are in use, the worker has more before the next call needs one. */
static void pool_grows_in_time(struct kunit *test)
{
	struct pool_test *pool = new_pool(test, 1, 1);
	unsigned int i, nr_missed = 0;

	for (i = 0; i < NR_MORE; i++) {
		nr_missed += !take(pool);
		kretprobe_pools_settle();
	}
	KUNIT_EXPECT_EQ(test, nr_missed, 0);
}

/*
 * The only instance may be the spare of another CPU. The chunks are emptied behind the
 * pool's back, so that the worker is not asked for more.
 */
static void pool_spare_of_other(struct kunit *test)
{
	struct pool_test *pool = new_pool(test, 2, 2);
	struct return_chunk *newest = return_chunk_of(pool->rp.rph);
	struct kretprobe_instance *first = objpool_pop(&newest->objects), *found;
	struct kretprobe_instance *second = objpool_pop(&newest->older->objects);
	unsigned int other;

	KUNIT_ASSERT_NOT_NULL(test, first);
	KUNIT_ASSERT_NOT_NULL(test, second);
	scoped_guard(preempt) {
		other = cpumask_any_but(cpu_possible_mask, smp_processor_id());
		if (other < nr_cpu_ids)
			*per_cpu_ptr(newest->spare, other) = first;
		found = kretprobe_pool_pop(&pool->rp);
		kretprobe_pool_put(first);
		kretprobe_pool_put(second);
	}
	KUNIT_EXPECT_PTR_EQ(test, found, other < nr_cpu_ids ? first : NULL);
}

static void pool_reuses(struct kunit *test)
{
	struct pool_test *pool = new_pool(test, 1, 1);
	struct kretprobe_instance *ri;
	bool again;

	KUNIT_ASSERT_TRUE(test, take(pool));
	ri = pool->taken[0];
	/* A CPU keeps what was given back on it. */
	scoped_guard(migrate) {
		give_back(pool);
		again = take(pool);
	}
	KUNIT_ASSERT_TRUE(test, again);
	KUNIT_EXPECT_PTR_EQ(test, pool->taken[0], ri);
}

/* Spare instances of several pools are in one block of memory, each in its place. */
static void pool_keeps_its_own(struct kunit *test)
{
	struct pool_test *pools[NR_POOLS];
	unsigned int i;

	for (i = 0; i < NR_POOLS; i++)
		pools[i] = new_pool(test, 2, 2);
	/* Places that were given back are used for other pools. */
	for (i = 0; i < NR_POOLS; i += 3) {
		kunit_release_action(test, drop_pool, pools[i]);
		pools[i] = new_pool(test, 2, 2);
	}

	for (i = 0; i < NR_POOLS; i++) {
		KUNIT_ASSERT_TRUE(test, take(pools[i]));
		give_back(pools[i]);
	}
	for (i = NR_POOLS; i--;) {
		KUNIT_ASSERT_TRUE(test, take(pools[i]));
		KUNIT_EXPECT_PTR_EQ(test, get_kretprobe(pools[i]->taken[0]), &pools[i]->rp);
	}
}

/* The next chunk would need too large a part of the memory. */
static void pool_leaves_memory(struct kunit *test)
{
	struct pool_test pool = { .rp.data_size = SZ_4K };
	int i, nr = totalram_pages() * (PAGE_SIZE / SZ_4K) / 1024 + 1, taken = 0;
	struct kretprobe_instance **ris = must_alloc(test, nr, sizeof(*ris));

	pool.rp.maxactive = nr;
	KUNIT_ASSERT_EQ(test, kretprobe_pool_create(&pool.rp, nr), 0);
	for (i = 0; i < nr; i++) {
		scoped_guard(preempt)
			ris[taken] = kretprobe_pool_pop(&pool.rp);
		taken += !!ris[taken];
	}
	KUNIT_EXPECT_EQ(test, taken, nr);
	kretprobe_pools_settle();
	scoped_guard(preempt)
		KUNIT_EXPECT_NULL(test, kretprobe_pool_pop(&pool.rp));

	while (taken--) {
		scoped_guard(preempt)
			kretprobe_pool_put(ris[taken]);
	}
	drop_pool(&pool);
}

/* A call of the entry_handler, in which it oopses, and the holders that this leaves behind. */
static struct kretprobe_instance *callee;
static struct kretprobe_holder *holder_after, *callees_holder_after;

static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	__llist_add(&callee->llist, &current->kretprobe_instances);
	kretprobe_entry_oopsed();
	holder_after = ri->rph;
	callees_holder_after = callee->rph;

	return 1;
}

/* Some ports have no frames: all calls have the frame NULL. */
static void pool_after_oops_in_entry(struct kunit *test)
{
	struct llist_node *outer = current->kretprobe_instances.first;
	struct pool_test *pool = new_pool(test, NR_INSTANCES, NR_INSTANCES);
	struct kretprobe_holder *holder, *callees_holder;
	struct kretprobe_instance *ri;

	KUNIT_ASSERT_TRUE(test, take(pool));
	KUNIT_ASSERT_TRUE(test, take(pool));
	ri = pool->taken[0];
	holder = ri->rph;
	callee = pool->taken[1];
	callee->fp = NULL;
	callees_holder = callee->rph;

	scoped_guard(preempt)
		return_call_entry_handler(&pool->rp, on_entry, ri, NULL);
	KUNIT_EXPECT_PTR_EQ(test, holder_after, holder);
	KUNIT_EXPECT_PTR_EQ(test, callees_holder_after, callees_holder);
	KUNIT_EXPECT_PTR_EQ(test, get_kretprobe(ri), &pool->rp);
	KUNIT_EXPECT_PTR_EQ(test, current->kretprobe_instances.first, outer);
}

#ifdef CONFIG_HOTPLUG_CPU
/* A dead CPU's idle task is in calls that never return. */
static void pool_after_cpu_death(struct kunit *test)
{
	struct kretprobe rp = { .kp.symbol_name = "do_idle", .handler = ignore_return };
	unsigned int cpu = cpumask_last(cpu_online_mask), i;
	struct llist_node *in_idle = NULL, *dead;
	int ret;

	if (num_online_cpus() == 1)
		kunit_skip(test, "the only CPU");
	ret = register_kretprobe(&rp);
	if (ret)
		kunit_skip(test, "do_idle() cannot be probed here: %d", ret);
	for (i = 0; i < 500 && !in_idle; i++) {
		msleep(20);
		in_idle = READ_ONCE(idle_task(cpu)->kretprobe_instances.first);
	}
	ret = remove_cpu(cpu);
	dead = idle_task(cpu)->kretprobe_instances.first;
	if (!ret)
		KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	unregister_kretprobe(&rp);

	if (ret)
		kunit_skip(test, "CPU %u stays online: %d", cpu, ret);
	KUNIT_EXPECT_NOT_NULL(test, in_idle);
	KUNIT_EXPECT_NULL(test, dead);
}
#endif

/* A call that is under way outlives its return probe. */
static void pool_retired(struct kunit *test)
{
	struct pool_test *pool = new_pool(test, NR_INSTANCES, NR_INSTANCES);

	KUNIT_ASSERT_TRUE(test, take(pool));
	kunit_remove_action(test, drop_pool, pool);
	kretprobe_pool_retire(&pool->rp);
	KUNIT_EXPECT_TRUE(test, return_is_retired(&pool->rp));
	KUNIT_EXPECT_NULL(test, get_kretprobe(pool->taken[0]));
	kretprobe_pool_destroy(&pool->rp);

	/* The last instance frees the chunk; KASAN and kmemleak check that. */
	scoped_guard(preempt)
		kretprobe_pool_put(pool->taken[0]);
}

static struct kunit_case pool_cases[] = {
	KUNIT_CASE(pool_gives_all),
	KUNIT_CASE(pool_grows),
	KUNIT_CASE(pool_newest_last),
	KUNIT_CASE(pool_grows_in_time),
	KUNIT_CASE(pool_spare_of_other),
	KUNIT_CASE(pool_reuses),
	KUNIT_CASE(pool_keeps_its_own),
	KUNIT_CASE(pool_leaves_memory),
#ifdef CONFIG_HOTPLUG_CPU
	KUNIT_CASE_SLOW(pool_after_cpu_death),
#endif
	KUNIT_CASE(pool_after_oops_in_entry),
	KUNIT_CASE(pool_retired),
	{}
};

static struct kunit_suite pool_suite = {
	.name = "kprobes_return_pool",
	.test_cases = pool_cases,
};

kunit_test_suite(pool_suite);
