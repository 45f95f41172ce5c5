// SPDX-License-Identifier: GPL-2.0-only
/*
 * Liveness: a whole function is analysed before a jump is put into it. branches.c
 * finds its branch targets, and this file the registers that are free at each of its
 * instructions.
 *
 * A register is free, or dead, at an instruction if every path from there writes
 * it before it reads it. Between functions the calling convention is relied on: a
 * call reads the argument registers and leaves them and the temporary registers
 * undefined; a return leaves undefined all registers but the result and those
 * preserved for the caller. Where the path is not known, every register is taken
 * to be read. A compiler that let callers rely on registers that a callee happens
 * not to change would break this, as it would break ftrace: kernels with jumps are
 * compiled with -fno-ipa-ra.
 */
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "common.h"
#include "function_map.h"

static struct function_map last_map;

/* The start of another function reads no temporary registers but arguments; other code may. */
static u32 look_outside(unsigned long addr)
{
	static char name[KSYM_NAME_LEN];
	unsigned long size, offset;
	char *module;

	if (!kallsyms_lookup(addr, &size, &offset, &module, name) || offset ||
	    kprobe_cold_suffix(name))
		return ALL_REGS;

	return ALL_REGS & ~(T_REGS & ~T_ARGS);
}

/* Cache of live_outside() for the present function, since look_outside() is slow. */
static struct {
	unsigned long addr;
	u32 live;
} outsides[64];

static u32 live_outside(unsigned long addr)
{
	unsigned int i = addr / 2 % ARRAY_SIZE(outsides);

	if (outsides[i].addr != addr) {
		outsides[i].live = look_outside(addr);
		outsides[i].addr = addr;
	}

	return outsides[i].live;
}

/* Return the registers found not to be free at @addr so far. */
static __always_inline u32 live_at(const struct function_map *map, unsigned long addr)
{
	if (addr == map->end)
		return ALL_REGS;

	return map_holds(map, addr) ? map->live[parcel_of(map, addr)] : live_outside(addr);
}

/* Registers that a function preserves for its caller, and its result. */
#define LIVE_AT_RETURN	((ALL_REGS & ~(T_REGS | A_REGS | REG_RA)) | GENMASK(11, 10))

/* Return the registers that are not free behind the last instruction of @walk. */
static u32 live_behind(const struct function_map *map, const struct walk *walk)
{
	switch (walk->facts.flow) {
	case FLOW_ON:
	case FLOW_ADDRESS:
		return live_at(map, walk->addr);
	case FLOW_BRANCH:
		return live_at(map, walk->addr) | live_at(map, walk_target(walk));
	case FLOW_JUMP:
		return live_at(map, walk_target(walk));
	case FLOW_CALL:
	case FLOW_CALL_REGISTER:
		if (walk->facts.link != 1 || calls_inside(map, walk))
			return ALL_REGS;
		return (live_at(map, walk->addr) & ~(T_REGS | A_REGS)) | A_REGS | T_ARGS;
	default:
		return is_return(&walk->facts) && !map->indirect ? LIVE_AT_RETURN : ALL_REGS;
	}
}

/* Add the target of a fixup or static key, and the next instruction for a key that is off. */
static u32 live_at_other(const struct function_map *map, const struct walk *walk)
{
	u32 other = map->other[parcel_of(map, walk->at)];

	if (!other)
		return 0;
	if (other == ELSEWHERE)
		return ALL_REGS;

	return map->live[other - 1] | live_at(map, walk->addr);
}

/* Go from last to first: most instructions are followed by their successor. */
static bool spread_liveness(struct function_map *map)
{
	unsigned long parcel = map->parcels;
	bool changed = false;

	while (parcel--) {
		struct walk walk = { .addr = map->start + 2 * parcel };
		u32 live;

		if (!map->insns[parcel])
			continue;
		if (parcel >= 2 && map->insns[parcel - 2])
			kprobe_get_insn_facts(map->insns[parcel - 2], &walk.facts);
		walk_on(&walk, map->insns[parcel]);
		live = live_behind(map, &walk) & ~walk.facts.writes;
		live |= walk.facts.reads;
		live |= live_at_other(map, &walk);
		changed |= live != map->live[parcel];
		map->live[parcel] = live;
	}

	return changed;
}

/* Allocate and zero the arrays of the map. */
static int map_clear(struct function_map *map)
{
	size_t size = map->parcels * 3 * sizeof(u32) + BITS_TO_LONGS(map->parcels) * sizeof(long);

	/* The longs come first, for alignment. */
	if (size > map->room) {
		kvfree(map->targets);
		map->room = 0;
		map->targets = kvmalloc(size, GFP_KERNEL);
		if (!map->targets)
			return -ENOMEM;
		map->room = size;
	}
	map->insns = (u32 *)(map->targets + BITS_TO_LONGS(map->parcels));
	map->live = map->insns + map->parcels;
	map->other = map->live + map->parcels;
	memset(map->targets, 0, size);

	return 0;
}

static void draw_map(struct function_map *map, const struct kprobe_function *fn)
{
	map->start = fn->start;
	map->end = fn->end;
	map->parcels = (fn->end - fn->start) / 2;
	map->indirect = false;
	memset(outsides, 0, sizeof(outsides));
	map->err = map_clear(map);
	map->err = map->err ?: kprobe_find_targets(map, fn->name);
	while (!map->err && spread_liveness(map))
		cond_resched();
}

/* Keep the map of the last function, since callers ask for addresses in order. */
const struct function_map *kprobe_map_function(unsigned long addr)
{
	struct kprobe_function *fn = kprobe_function_of(addr);

	if (!fn)
		return NULL;
	if (!fn->mapped) {
		draw_map(&last_map, fn);
		fn->mapped = last_map.err != -ENOMEM;
	}

	return &last_map;
}

int kprobe_map_error(const struct function_map *map)
{
	return map->err;
}

/* Return whether a branch of the function may lead anywhere. */
bool kprobe_map_is_indirect(const struct function_map *map)
{
	return map->indirect;
}

/* Return whether @addr may be a branch target. */
bool kprobe_map_is_target(const struct function_map *map, unsigned long addr)
{
	return map_holds(map, addr) && test_bit(parcel_of(map, addr), map->targets);
}

unsigned long kprobe_map_end(const struct function_map *map)
{
	return map->end;
}

/* Return the registers that are free at @addr. */
u32 kprobe_map_dead_regs(const struct function_map *map, unsigned long addr)
{
	return ALL_REGS & ~live_at(map, addr);
}
