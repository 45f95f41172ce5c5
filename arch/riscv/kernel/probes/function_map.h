/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of a function, and how its instructions are read one after the other:
 * branches.c fills in where it is branched to, liveness.c which registers are free.
 */
#ifndef _RISCV_KPROBES_FUNCTION_MAP_H
#define _RISCV_KPROBES_FUNCTION_MAP_H

#include <linux/bits.h>
#include <linux/types.h>

#include "common.h"

/**
 * struct function_map - what has been found out about the last function
 * @serial: which one that is, see struct kprobe_function
 * @start: its first byte
 * @end: the byte behind it
 * @parcels: how many units of 2 bytes it has
 * @room: bytes that there are for the following
 * @insns: the instruction that starts at each parcel, 0 when none does
 * @live: the registers that are not free at each parcel
 * @other: for each parcel the one that a fixup or a static key may lead to from
 *	there: its number plus 1, or %ELSEWHERE, or 0
 * @targets: a bit for each parcel that is branched to
 * @indirect: a branch may lead anywhere
 * @err: that it could not be found out
 */
struct function_map {
	unsigned long serial;
	unsigned long start;
	unsigned long end;
	unsigned long parcels;
	unsigned long room;
	u32 *insns;
	u32 *live;
	u32 *other;
	unsigned long *targets;
	bool indirect;
	int err;
};

/* Out of the function, where all registers may be read. */
#define ELSEWHERE	U32_MAX

static inline bool map_holds(const struct function_map *map, unsigned long addr)
{
	return addr >= map->start && addr < map->end;
}

static inline unsigned long parcel_of(const struct function_map *map, unsigned long addr)
{
	return (addr - map->start) / 2;
}

/**
 * struct walk - instructions one after the other
 * @addr: the next one
 * @insn: the last one
 * @at: where that is
 * @facts: what is known of it; a jump to an address that the instruction before has
 *	made, as is made where a jump alone does not reach, is one to that address
 */
struct walk {
	unsigned long addr;
	u32 insn;
	unsigned long at;
	struct insn_facts facts;
};

static inline void join_pair(struct insn_facts *facts, const struct insn_facts *before)
{
	if (before->flow != FLOW_ADDRESS || before->writes != (BIT(facts->base) & ~1U))
		return;

	if (facts->flow == FLOW_JUMP_REGISTER)
		facts->flow = FLOW_JUMP;
	else if (facts->flow == FLOW_CALL_REGISTER)
		facts->flow = FLOW_CALL;
	else
		return;
	facts->disp += before->disp - (s32)sizeof(u32);
}

/* @insn is the one at @walk->addr. */
static __always_inline void walk_on(struct walk *walk, u32 insn)
{
	struct insn_facts before = walk->facts;

	walk->insn = insn;
	walk->at = walk->addr;
	kprobe_get_insn_facts(insn, &walk->facts);
	join_pair(&walk->facts, &before);
	walk->addr += walk->facts.len;
}

static inline unsigned long walk_target(const struct walk *walk)
{
	return walk->at + walk->facts.disp;
}

/* Assembly code may call a part of its own, of which nothing is known. */
static inline bool calls_inside(const struct function_map *map, const struct walk *walk)
{
	unsigned long target = walk_target(walk);

	return walk->facts.flow == FLOW_CALL && map_holds(map, target) && target != map->start;
}

static inline bool is_return(const struct insn_facts *facts)
{
	return facts->flow == FLOW_JUMP_REGISTER && facts->base == 1 && !facts->disp;
}

/* branches.c */
int kprobe_find_targets(struct function_map *map, const char *name);

#endif /* _RISCV_KPROBES_FUNCTION_MAP_H */
