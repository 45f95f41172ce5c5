// SPDX-License-Identifier: GPL-2.0-only
/*
 * The points by address.
 *
 * The table is an array of pointers with linear probing, which begins at the hash of an
 * address. It is never more than three quarters full, so the cost of a look-up does not
 * depend on the number of points, and every look-up ends. A table that gets too full is
 * replaced by a larger one. A reader that still walks the old one finds every point it
 * needs there, because text is written after its point was published, and restored before
 * the point is removed.
 *
 * Most questions about the surroundings of an address have the answer that no point is
 * there. So the table counts, by another hash, the points in blocks of text.
 */
#include <linux/build_bug.h>
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "internal.h"

#define POINT_TABLE_BITS_MIN	6

/**
 * struct point_table - the points by address
 * @rcu: delays its freeing
 * @shift: bits of the hash to shift out to get the number of a slot
 * @last: number of the last slot, and mask for slot numbers
 * @live: slots with a point
 * @used: slots that are not NULL, including tombstones
 * @blocks: as many counters as slots; a counter counts the points of all blocks whose
 *	hash is its number, and stays at its maximum once it has reached that
 * @slots: a point, a tombstone, or NULL, at which a look-up ends
 */
struct point_table {
	struct rcu_head rcu;
	unsigned int shift;
	unsigned long last;
	unsigned int live;
	unsigned int used;
	u8 *blocks;
	struct kprobe_point __rcu *slots[];
};

static u8 no_blocks[2];

/* The table before the first registration. */
static struct point_table no_points = {
	.shift = BITS_PER_LONG - 1,
	.last = 1,
	.blocks = no_blocks,
	.slots = { NULL, NULL },
};

static struct point_table __rcu *point_table = RCU_INITIALIZER(&no_points);

/*
 * Tombstones: a removed point leaves one in its slot, so that look-ups do not end there.
 * A look-up compares only addresses, and user space can ask for any address, because an
 * architecture looks up what a trap came with. So no address may find a tombstone, not
 * even its own.
 *
 * A look-up for the address of tombstone N begins at the N-th quarter of any table, since
 * only the two highest bits of that address are set. A slot gets the tombstone of the
 * quarter after its own. From there it is at least three quarters of the table to the
 * slot, more than are ever used, so the look-up ends at a NULL before it arrives.
 */
#define QUARTERS	4
#define QUARTER_ADDR(n)	((unsigned long)((n) * 3 % QUARTERS) << (BITS_PER_LONG - 2))

/* As 3 * 3 % QUARTERS is 1, the product of prime and QUARTER_ADDR(N) begins with N. */
static_assert(GOLDEN_RATIO_PRIME % QUARTERS == 3);

static struct kprobe_point point_tombstones[QUARTERS] = {
	{ .op.kp.addr = (kprobe_opcode_t *)QUARTER_ADDR(0) },
	{ .op.kp.addr = (kprobe_opcode_t *)QUARTER_ADDR(1) },
	{ .op.kp.addr = (kprobe_opcode_t *)QUARTER_ADDR(2) },
	{ .op.kp.addr = (kprobe_opcode_t *)QUARTER_ADDR(3) },
};

/* Points in state GONE, by the address they had. Protected by kprobe_mutex. */
static DEFINE_HASHTABLE(points_gone, 8);

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
 * @addr: exactly as it was registered; any value may be asked for
 *
 * Context: Any that allows RCU readers: preemption disabled, or kprobe_mutex held.
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

static __always_inline u8 *table_block_of(const struct point_table *table, unsigned long addr)
{
	return &table->blocks[table_start(table, addr / KPROBE_BLOCK)];
}

/**
 * kprobes_in_block() - upper limit of the number of probes around an address
 * @addr: any address
 *
 * Context: As get_kprobe().
 * Return: the number of probed addresses in the aligned KPROBE_BLOCK bytes that contain
 * @addr, or more.
 */
noinstr unsigned int kprobes_in_block(unsigned long addr)
{
	return READ_ONCE(*table_block_of(rcu_dereference_raw(point_table), addr));
}

static void table_count_block(struct point_table *table, unsigned long addr, int delta)
{
	u8 *block = table_block_of(table, addr);

	if (*block != U8_MAX)
		WRITE_ONCE(*block, *block + delta);
}

struct kprobe_point *kprobe_point_find(unsigned long addr)
{
	struct kprobe *p;

	lockdep_assert_held(&kprobe_mutex);
	p = get_kprobe((void *)addr);

	return p ? point_of(p) : NULL;
}

/*
 * Is @point the point at @addr, or one whose text at @addr is gone? @point may be any
 * pointer.
 */
bool kprobe_table_has(const struct kprobe_point *point, unsigned long addr)
{
	struct kprobe_point *gone;

	if (kprobe_point_find(addr) == point)
		return true;

	hash_for_each_possible(points_gone, gone, op.kp.hlist, addr) {
		if (gone == point)
			return true;
	}

	return false;
}

static bool table_entry_is_point(const struct kprobe_point *point)
{
	return point && (point < point_tombstones || point >= point_tombstones + QUARTERS);
}

static void table_insert(struct point_table *table, struct kprobe_point *point)
{
	unsigned long i = table_start(table, point_addr(point));

	while (table_entry_is_point(table_protected(table->slots[i])))
		i = table_after(table, i);
	if (!rcu_access_pointer(table->slots[i]))
		table->used++;
	table->live++;
	/* Count it before it can be found: lockless readers take the count for an upper limit. */
	table_count_block(table, point_addr(point), 1);
	rcu_assign_pointer(table->slots[i], point);
}

static void table_remove(struct point_table *table, struct kprobe_point *point)
{
	unsigned long i = table_start(table, point_addr(point)), quarter;

	while (rcu_access_pointer(table->slots[i]) != point)
		i = table_after(table, i);

	quarter = i / ((table->last + 1) / QUARTERS);
	rcu_assign_pointer(table->slots[i], &point_tombstones[(quarter + 1) % QUARTERS]);
	table_count_block(table, point_addr(point), -1);
	table->live--;
}

/* Allocate a table twice as large as @nr points need. */
static struct point_table *table_create(unsigned int nr)
{
	unsigned int bits = max(POINT_TABLE_BITS_MIN, order_base_2(2 * nr));
	struct point_table *table;

	table = kvzalloc(size_add(struct_size(table, slots, BIT(bits)), BIT(bits)), GFP_KERNEL);
	if (table) {
		table->blocks = (u8 *)&table->slots[BIT(bits)];
		table->shift = BITS_PER_LONG - bits;
		table->last = BIT(bits) - 1;
	}

	return table;
}

/* Make room for @nr more points. */
int kprobe_points_reserve(unsigned int nr)
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
		if (table_entry_is_point(point))
			table_insert(table, point);
	}
	rcu_assign_pointer(point_table, table);
	kprobe_wait_for_hotplug();
	if (old != &no_points)
		kvfree_rcu(old, rcu);

	return 0;
}

/* The caller has made room with kprobe_points_reserve(). */
void kprobe_table_add(struct kprobe_point *point)
{
	table_insert(table_protected(point_table), point);
}

void kprobe_table_del(struct kprobe_point *point)
{
	if (point->state == POINT_GONE)
		hash_del(&point->op.kp.hlist);
	else
		table_remove(table_protected(point_table), point);
}

/* The text is freed: hide the point from hits, but let the owners of members find it. */
void kprobe_table_set_gone(struct kprobe_point *point)
{
	table_remove(table_protected(point_table), point);
	hash_add(points_gone, &point->op.kp.hlist, point_addr(point));
}

/* Call @fn for the point at @addr, and for the points whose text at @addr is gone. */
int kprobe_points_at(unsigned long addr, int (*fn)(struct kprobe_point *point, void *data),
		     void *data)
{
	struct kprobe_point *point = kprobe_point_find(addr);
	int ret = point ? fn(point, data) : 0;

	hash_for_each_possible(points_gone, point, op.kp.hlist, addr) {
		if (ret)
			break;
		if (point_addr(point) == addr)
			ret = fn(point, data);
	}

	return ret;
}

/* Call @fn for each point until one call returns non-zero, and return that. */
int kprobe_points_for_each(int (*fn)(struct kprobe_point *point, void *data), void *data)
{
	struct point_table *table = table_protected(point_table);
	struct kprobe_point *point;
	unsigned long i;
	int ret = 0;
	int bucket;

	for (i = 0; !ret && i <= table->last; i++) {
		point = table_protected(table->slots[i]);
		if (table_entry_is_point(point))
			ret = fn(point, data);
	}

	hash_for_each(points_gone, bucket, point, op.kp.hlist) {
		if (ret)
			break;
		ret = fn(point, data);
	}

	return ret;
}
