/* SPDX-License-Identifier: GPL-2.0-only */
/* The map of a function: branches.c fills in the branch targets, liveness.c the free registers. */
#ifndef _RISCV_KPROBES_FUNCTION_MAP_H
#define _RISCV_KPROBES_FUNCTION_MAP_H

#include <linux/bits.h>
#include <linux/types.h>

#include "common.h"
#include "facts.h"

/**
 * struct function_map - branch targets and live registers of a function
 * @serial: serial number of the function, see struct kprobe_function
 * @start: its first byte
 * @end: the byte behind it
 * @parcels: its length in parcels, units of 2 bytes
 * @room: bytes allocated for the arrays below
 * @insns: the instruction that starts at each parcel, 0 when none does
 * @live: the registers that are not free at each parcel
 * @other: for each parcel the one that a fixup or a static key may lead to from
 *	there: its number plus 1, or %ELSEWHERE, or 0
 * @targets: a bit for each parcel that is a branch target
 * @indirect: a branch may lead anywhere
 * @err: why the map could not be made, or 0
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

/* A target outside the function, where all registers may be read. */
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
 * struct walk - reading instructions one after the other
 * @addr: address of the next instruction
 * @insn: the last instruction
 * @at: address of @insn
 * @facts: properties of @insn; AUIPC and JALR in a row count as a jump or a call to
 *	the address that they compute together
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

/* Advance over @insn, which is at @walk->addr. */
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

/* Assembly code may call a part of itself, which need not keep to the calling convention. */
static inline bool calls_inside(const struct function_map *map, const struct walk *walk)
{
	unsigned long target = walk_target(walk);

	return walk->facts.flow == FLOW_CALL && map_holds(map, target) && target != map->start;
}

static inline bool is_return(const struct insn_facts *facts)
{
	return facts->flow == FLOW_JUMP_REGISTER && facts->base == 1 && !facts->disp;
}

#endif /* _RISCV_KPROBES_FUNCTION_MAP_H */
