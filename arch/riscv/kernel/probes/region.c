// SPDX-License-Identifier: GPL-2.0-only
/*
 * May a jump cover what follows a probe? It is AUIPC and JALR, so it takes eight
 * bytes, mostly several instructions, and a register. The claim to prove is this:
 * a CPU that comes to one of them finds it done as if it were still there, and
 * finds in the register nothing that it would have read.
 *
 * There are these ways to come to an instruction, and what is done about each:
 *
 * - By running on from the one before. The jump is at the first, its detour has
 *   copies of them all.
 * - By having been there when the jump was written, or between its two parts when
 *   it was removed. Text is written while all CPUs stand still, and they come to do so
 *   from where a task calls the scheduler, or is preempted; see below.
 * - By a branch, an exception fixup or a static key: see liveness.c.
 * - By returning from a call inside. The callee may sleep.
 * - By having a fault in it resolved and returning to it. Only user memory is
 *   worth sleeping for, and all who access it have an exception table entry.
 *
 * Where one of the last three is possible at any but the first, there is no jump.
 *
 * So a task that has called the scheduler is not there: it would return from a call.
 * Without preemption this is all. With it an exception in the kernel may end in the
 * scheduler, and the task that it has interrupted is anywhere. preempt.c has a grace
 * period wait for those who are inside before a jump is written. Between the two parts of
 * a jump nobody is preempted at all:
 *
 * - Interrupts and page faults, do_irq() and do_page_fault(), end in irqentry_exit(),
 *   which preempts. Both have kprobe_rewind_jump() set the task back before that.
 * - All other exceptions in the kernel are entered as NMIs, so that nothing is preempted
 *   at their end.
 * - The idle task is not preempted, and no CPU stands still before it has called the
 *   scheduler.
 *
 * An ftrace site is two instructions made for just this, and nobody but ftrace
 * writes there. ftrace overwrites t0 when it calls from there, so a jump may, and
 * what it calls overwrites t1.
 */
#include <linux/bits.h>
#include <linux/cfi.h>
#include <linux/extable.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>

#include "common.h"

/* In order of preference. Not sp, gp and tp, nor s0: who unwinds may come at any time. */
static const u8 jump_regs[] = {
	6, 7, 28, 29, 30, 31, 5, 17, 16, 15, 14, 13, 12, 11, 10, 1, 27, 26, 25, 24, 23, 22, 21,
	20, 19, 18, 9,
};

/* The number of a register of @regs that a jump can use, 0 when there is none. */
static unsigned int choose_reg(u32 regs)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(jump_regs); i++) {
		if (regs & BIT(jump_regs[i]))
			return jump_regs[i];
	}

	return 0;
}

static bool ends_flow(const struct insn_facts *facts)
{
	return facts->flow == FLOW_JUMP || facts->flow == FLOW_JUMP_REGISTER;
}

/* A call is the only one that does not itself go to where it says. */
static u32 regs_for_insn(const struct function_map *map, const struct insn_facts *facts,
			 unsigned long addr)
{
	switch (facts->flow) {
	case FLOW_BRANCH:
	case FLOW_JUMP:
		return kprobe_map_dead_regs(map, addr + facts->disp);
	case FLOW_CALL:
	case FLOW_CALL_REGISTER:
		/* Functions find nothing in a temporary register. */
		return facts->link == 1 ? T_REGS & ~(BIT(facts->base) & ~1U) : 0;
	default:
		return ALL_REGS;
	}
}

/* What keeps an instruction at @at, not the first, from being covered. */
static enum detour_obstacle inner_obstacle(const struct region *region,
					   const struct function_map *map, unsigned int at)
{
	unsigned long addr = region->addr + at;
	struct insn_facts before;

	kprobe_get_insn_facts(region->insns[region->nr - 1].insn, &before);
	if (ends_flow(&before))
		return DETOUR_TOO_SHORT;
	if (before.flow == FLOW_CALL || before.flow == FLOW_CALL_REGISTER)
		return DETOUR_RETURN_INTO;
	if (kprobe_map_is_indirect(map))
		return DETOUR_INDIRECT_JUMP;
	if (kprobe_map_is_target(map, addr))
		return DETOUR_JUMP_INTO;
	if (search_exception_tables(addr))
		return DETOUR_FAULT_INSIDE;
	if (kprobe_is_ftrace_site(addr))
		return DETOUR_RESERVED;

	return DETOUR_POSSIBLE;
}

static enum detour_obstacle add_insn(struct region *region, const struct function_map *map)
{
	unsigned long addr = region->addr + region->len;
	struct region_insn *ri = &region->insns[region->nr];
	enum detour_obstacle obstacle;
	struct insn_facts facts;

	region->why_at = region->len;
	if (addr >= kprobe_map_end(map))
		return DETOUR_TOO_SHORT;
	if (kprobe_read_original(&ri->insn, addr))
		return DETOUR_UNDECODABLE;
	if (region->nr) {
		obstacle = inner_obstacle(region, map, region->len);
		if (obstacle)
			return obstacle;
	}

	kprobe_get_insn_facts(ri->insn, &facts);
	if (kprobe_refusal_reason(ri->insn) || facts.flow == FLOW_UNKNOWN)
		return DETOUR_NOT_RELOCATABLE;
	ri->at = region->len;
	ri->reg = choose_reg(regs_for_insn(map, &facts, addr));
	if (!ri->reg)
		return DETOUR_NO_REGISTER;
	region->len += facts.len;
	region->nr++;

	return DETOUR_POSSIBLE;
}

/* Behind the last one, unless nobody comes there. */
static enum detour_obstacle plan_way_back(struct region *region, const struct function_map *map)
{
	unsigned long addr = region->addr + region->len;
	struct insn_facts last;

	kprobe_get_insn_facts(region->insns[region->nr - 1].insn, &last);
	if (last.flow == FLOW_CALL || last.flow == FLOW_CALL_REGISTER || ends_flow(&last))
		return DETOUR_POSSIBLE;

	region->out = choose_reg(kprobe_map_dead_regs(map, addr));
	region->why_at = region->len;

	return region->out ? DETOUR_POSSIBLE : DETOUR_NO_REGISTER;
}

/* Others rewrite it, or decode it when they trap behind it. */
static bool is_reserved(const struct region *region)
{
	unsigned long addr, end = region->addr + region->len;

	if (kprobe_has_jump_labels(region->addr + 1, end))
		return true;
	if (!IS_ENABLED(CONFIG_CFI_CLANG))
		return false;

	/* LW, LUI, ADDIW and BEQ in front of the trap are what it is about. */
	for (addr = region->addr; addr < end + 4 * sizeof(u32); addr += 2) {
		if (is_cfi_trap(addr))
			return true;
	}

	return false;
}

static enum detour_obstacle plan_insns(struct region *region)
{
	const struct function_map *map = kprobe_map_function(region->addr);
	enum detour_obstacle obstacle;

	if (!map)
		return DETOUR_NO_FUNCTION;
	if (kprobe_map_error(map))
		return kprobe_map_error(map) == -ENOMEM ? DETOUR_NO_ROOM : DETOUR_UNDECODABLE;

	while (region->len < MAX_OPTIMIZED_LENGTH) {
		obstacle = add_insn(region, map);
		if (obstacle)
			return obstacle;
	}
	region->why_at = 0;
	if (is_reserved(region))
		return DETOUR_RESERVED;

	region->extable = search_exception_tables(region->addr);
	region->in = choose_reg(kprobe_map_dead_regs(map, region->addr));

	return region->in ? plan_way_back(region, map) : DETOUR_NO_REGISTER;
}

static enum detour_obstacle plan_site(struct region *region)
{
	unsigned int i;

	region->site = true;
	region->in = 5;
	for (i = 0; i < 2; i++) {
		region->insns[i].at = i * sizeof(u32);
		if (kprobe_read_original(&region->insns[i].insn, region->addr + i * sizeof(u32)))
			return DETOUR_UNDECODABLE;
	}
	region->nr = 2;
	region->len = 2 * sizeof(u32);

	return DETOUR_POSSIBLE;
}

/**
 * kprobe_plan_region() - find out what a jump at a probe would cover, and how
 * @region: filled in
 * @addr: the probe
 *
 * Context: Process context, the locks of arch_prepare_optimized_kprobe() held.
 * Return: %DETOUR_POSSIBLE, or what is in the way.
 */
enum detour_obstacle kprobe_plan_region(struct region *region, unsigned long addr)
{
	*region = (struct region){ .addr = addr };

	return kprobe_is_ftrace_site(addr) ? plan_site(region) : plan_insns(region);
}
