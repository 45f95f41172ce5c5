/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a jump may cover. facts.c knows an instruction; branches.c finds the branch targets of a
 * function and liveness.c its free registers, which make its map; region.c decides.
 */
#ifndef _RISCV_KPROBES_FUNCTION_MAP_H
#define _RISCV_KPROBES_FUNCTION_MAP_H

#include <linux/bits.h>
#include <linux/kconfig.h>
#include <linux/kprobes_port.h>
#include <linux/types.h>
#include <asm/extable.h>

#include "common.h"

/* -- facts.c -- */

/* A set of registers has bit N for register N, but for x0. */
#define REG_RA		BIT(1)
#define T_REGS		(GENMASK(7, 5) | GENMASK(31, 28))
#define A_REGS		GENMASK(17, 10)

/* LLVM passes the ninth argument of a static function, and those behind it, in t2 to t6. */
#define T_ARGS		(IS_ENABLED(CONFIG_CC_IS_CLANG) ? BIT(7) | GENMASK(31, 28) : 0)
#define ALL_REGS	GENMASK(31, 1)

enum insn_flow {
	FLOW_ON,		/* to the next instruction; does not use its own address */
	FLOW_ADDRESS,		/* AUIPC: to the next instruction */
	FLOW_BRANCH,		/* conditional branch */
	FLOW_JUMP,		/* unconditional jump */
	FLOW_CALL,
	FLOW_JUMP_REGISTER,	/* includes returns */
	FLOW_CALL_REGISTER,
	FLOW_UNKNOWN,
};

/**
 * struct insn_facts - properties of an instruction that moving it depends on
 * @reads: registers that it may read
 * @writes: registers that it always writes
 * @disp: distance from the instruction, or from the contents of @base if there is
 *	one, to the branch target or the computed address
 * @flow: where the CPU continues
 * @len: length in bytes
 * @link: number of the link register of a call
 * @base: number of the register that holds the target address
 */
struct insn_facts {
	u32 reads;
	u32 writes;
	s32 disp;
	enum insn_flow flow;
	u8 len;
	u8 link;
	u8 base;
};

void kprobe_get_insn_facts(u32 insn, struct insn_facts *facts);

/* -- branches.c -- */

/**
 * struct function_map - branch targets and live registers of a function
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

/* The linker script defines these; no header declares them. */
extern struct exception_table_entry __start___ex_table[];
extern struct exception_table_entry __stop___ex_table[];

int kprobe_find_targets(struct function_map *map, const char *name);

/* -- liveness.c -- */

const struct function_map *kprobe_map_function(unsigned long addr);
int kprobe_map_error(const struct function_map *map);
bool kprobe_map_is_indirect(const struct function_map *map);
bool kprobe_map_is_target(const struct function_map *map, unsigned long addr);
unsigned long kprobe_map_end(const struct function_map *map);
u32 kprobe_map_dead_regs(const struct function_map *map, unsigned long addr);

/* -- region.c -- */

/**
 * struct region_insn - one instruction that a jump covers
 * @insn: the instruction
 * @at: offset from the probe
 * @reg: number of a register that is free at the target of its branch, jump or call
 */
struct region_insn {
	u32 insn;
	u8 at;
	u8 reg;
};

/* Largest number of instructions in a region. */
#define REGION_INSNS	(MAX_OPTIMIZED_LENGTH / 2)

/**
 * struct region - the instructions that a jump covers
 * @addr: address of the probe
 * @insns: the instructions
 * @nr: number of instructions
 * @len: length in bytes
 * @in: number of the register that the jump overwrites
 * @out: number of the register that the jump back overwrites, 0 without a jump back
 * @extable: the first instruction may fault and have a fixup
 * @site: the region is an ftrace site
 * @why_at: the offset of the obstacle, if it has one
 */
struct region {
	unsigned long addr;
	struct region_insn insns[REGION_INSNS];
	u8 nr;
	u8 len;
	u8 in;
	u8 out;
	bool extable;
	bool site;
	u8 why_at;
};

enum detour_obstacle kprobe_plan_region(struct region *region, unsigned long addr);

#endif /* _RISCV_KPROBES_FUNCTION_MAP_H */
