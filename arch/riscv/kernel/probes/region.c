// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions: may a jump cover the instructions that follow a probe? A jump is AUIPC and
 * JALR, so it covers eight bytes, mostly several instructions, and overwrites a
 * register. It is safe if a CPU that comes to one of these instructions has it executed
 * as if it were still there, and does not read that register.
 *
 * A CPU can come to an instruction in these ways:
 *
 * - From the instruction before. The jump replaces the first instruction, and its
 *   detour has copies of all of them.
 * - By having been there when the jump was written, or between its two instructions
 *   when it was removed. Text is written while all CPUs are stopped; a CPU stops where
 *   a task calls the scheduler or is preempted; see below.
 * - By a branch, an exception fixup or a static key: see map.c.
 * - By returning from a call inside. The callee may sleep.
 * - By returning to an instruction that faulted. Only faults on user memory may sleep,
 *   and every access to user memory has an exception table entry.
 *
 * There is no jump if one of the last three is possible at any but the first
 * instruction.
 *
 * So a task that has called the scheduler is not inside: it would return from a call.
 * Without preemption this is all. With preemption an exception in the kernel may end in
 * the scheduler, with the interrupted task at any instruction. opt.c waits for a
 * grace period, until no task is inside, before a jump is written. No task is preempted
 * between the two instructions of a jump:
 *
 * - Interrupts and page faults, do_irq() and do_page_fault(), end in irqentry_exit(),
 *   which preempts. Both call kprobe_rewind_jump() before that, which sets the task
 *   back.
 * - All other exceptions in the kernel are entered as NMIs, which do not preempt at
 *   their end.
 * - The idle task is not preempted, and its CPU stops only after it has called the
 *   scheduler.
 *
 * An ftrace site is two instructions made to be replaced, and only ftrace writes
 * there. ftrace's call from there overwrites t0, so a jump may do so too, and its
 * callee overwrites t1.
 */
#include <linux/bits.h>
#include <linux/cfi.h>
#include <linux/extable.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>

#include "common.h"

/* In order of preference. Never sp, gp, tp or s0: an interrupt may unwind at any time. */
static const u8 jump_regs[] = {
	6, 7, 28, 29, 30, 31, 5, 17, 16, 15, 14, 13, 12, 11, 10, 1, 27, 26, 25, 24, 23, 22, 21,
	20, 19, 18, 9,
};

/* Return the number of a register of @regs that a jump can use, 0 when there is none. */
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

/* Return the registers that a detour may overwrite when it branches, jumps or calls. */
static u32 regs_for_insn(const struct function_map *map, const struct insn_facts *facts,
			 unsigned long addr)
{
	switch (facts->flow) {
	case FLOW_BRANCH:
	case FLOW_JUMP:
		return kprobe_map_dead_regs(map, addr + facts->disp);
	case FLOW_CALL:
	case FLOW_CALL_REGISTER:
		/* Callees read no temporary registers but arguments. */
		return facts->link == 1 ? T_REGS & ~T_ARGS & ~(BIT(facts->base) & ~1U) : 0;
	default:
		return ALL_REGS;
	}
}

/* Return why the instruction at @at, not the first, cannot be covered. */
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

/* Choose a register for the jump back, unless the last instruction never continues there. */
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

/* Static keys rewrite their text, and the handler of a CFI trap decodes the text before it. */
static bool is_reserved(const struct region *region)
{
	unsigned long addr, end = region->addr + region->len;

	if (kprobe_has_jump_labels(region->addr + 1, end))
		return true;
	if (!IS_ENABLED(CONFIG_KPROBES_CFI))
		return false;

	/* The handler decodes the LW, LUI, ADDIW and BEQ in front of the trap. */
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

	if (!__is_defined(ARCH_KPROBES_SHARE_FTRACE_SITE))
		return DETOUR_RESERVED;

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
 * kprobe_plan_region() - find the region of a jump, and registers for its detour
 * @region: filled in
 * @addr: address of the probe
 *
 * Context: Process context, the locks of arch_prepare_optimized_kprobe() held.
 * Return: %DETOUR_POSSIBLE, or the obstacle.
 */
enum detour_obstacle kprobe_plan_region(struct region *region, unsigned long addr)
{
	*region = (struct region){ .addr = addr };

	return kprobe_is_ftrace_site(addr) ? plan_site(region) : plan_insns(region);
}
