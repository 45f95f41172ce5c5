// SPDX-License-Identifier: GPL-2.0-only
/*
 * May a jump cover the text after a probe? It takes five bytes, so it mostly covers several
 * instructions, its region, and the claim to prove is this: a task that comes to one of
 * them has it executed as if it were still there. That is so because nothing leads into
 * the region but its first instruction, and so a probe costs nothing where code does not
 * pass it.
 *
 * These are the ways to come to an instruction, and how each is dealt with:
 *
 * - By running on from the one before. The jump is at the first, and its detour has
 *   copies of them all. There is a breakpoint already, the probe's, or one is written
 *   before the grace period that follows.
 * - By having been there when the jump was written: preempted or interrupted in
 *   between, or in a copy that jumps back. From the moment a jump is planned, the
 *   probe's hits continue in the detour. An RCU-tasks grace period later every task
 *   has left the region: a task can sleep in it only in the ways listed below, and no
 *   task is preempted in it for which the grace period does not wait, with the exceptions
 *   of is_preempted_anywhere().
 * - By a branch in the same function, or in the part of it that the compiler has
 *   moved to the section of cold code: all of these are decoded, see branches.c.
 *   Compiled code has no others; a jump table may lead anywhere. A static key has its
 *   branch in a table, whether it is one at the moment or not. The code that
 *   static_cpu_has() branches through is not run any more. In a module without local
 *   symbols a function may end earlier than its symbol: what follows an instruction that
 *   does not continue with the next one, and padding after it, counts as entered by a
 *   branch.
 * - By an exception fixup. The tables are searched for any that leads here.
 * - By returning from a call inside. The callee may sleep for any time.
 * - By having a fault in it resolved and returning to it. Only a fault on user memory
 *   may sleep, and every access to that has an exception table entry.
 *
 * Where one of the last four is possible there is no jump. A breakpoint inside the jump
 * could lead such tasks to the copies, but it would trap code that does not pass the probe:
 * if the target is that of a loop, once in each iteration.
 *
 * If there can be no jump at a probe, it may begin before it, at an instruction from which
 * the code runs straight to the probe. Then the probed instruction is one of the region,
 * and nothing leads to it but what comes before it.
 *
 * Text that others rewrite in place must stay where they expect it: the sites of
 * static keys, static calls, ftrace and lock prefixes, and the instructions that
 * a type check decodes after its trap.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/bitmap.h>
#include <linux/cfi.h>
#include <linux/extable.h>
#include <linux/ftrace.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <asm/alternative.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>

#include "copy.h"
#include "region.h"

/* STI and loading SS hold off interrupts for one more instruction, which must be the next. */
static bool shadows_next(struct insn *insn)
{
	unsigned int opcode = kprobe_opcode(insn);

	return opcode == 0xfb || opcode == 0x17 ||
	       (opcode == 0x8e && X86_MODRM_REG(insn->modrm.bytes[0]) == 2);
}

/* An operand on the stack has another offset once the return address is pushed. */
static bool operand_uses_sp(struct insn *insn)
{
	u8 modrm = insn->modrm.bytes[0], rex = insn->rex_prefix.bytes[0];

	if (X86_MODRM_RM(modrm) != 4)
		return false;
	if (X86_MODRM_MOD(modrm) == 3)
		return !X86_REX_B(rex);

	return X86_SIB_BASE(insn->sib.bytes[0]) == 4 && !X86_REX_B(rex);
}

static int classify_opcode(struct insn *insn)
{
	switch (kprobe_opcode(insn)) {
	case 0x70 ... 0x7f:
	case 0x0f80 ... 0x0f8f:
		return REGION_JCC;
	case 0xc2:
	case 0xc3:
		return REGION_END;
	case 0xe0 ... 0xe3:
		return REGION_LOOP;
	case 0xe8:
		return REGION_CALL;
	case 0xe9:
	case 0xeb:
		return REGION_JMP;
	case 0xff:
		if (X86_MODRM_REG(insn->modrm.bytes[0]) == 2)
			return operand_uses_sp(insn) ? -EOPNOTSUPP : REGION_CALL_INDIRECT;
		if (X86_MODRM_REG(insn->modrm.bytes[0]) == 4)
			return REGION_END;
		fallthrough;
	default:
		return insn_rip_relative(insn) ? REGION_REBASED : REGION_PLAIN;
	}
}

static bool is_call(int kind)
{
	return kind == REGION_CALL || kind == REGION_CALL_INDIRECT || kind == REGION_CALL_THUNK;
}

/* An indirect branch to this place has to find it, sealed or not. */
static bool is_landing_pad(struct insn *insn)
{
	u32 code;

	if (insn->length != sizeof(code))
		return false;
	memcpy(&code, insn->kaddr, sizeof(code));

	return __is_endbr(code);
}

/* Return an enum region_kind, or -EOPNOTSUPP if a detour cannot execute the instruction. */
static int region_classify_insn(struct insn *insn, unsigned long addr)
{
	int kind;

	if (kprobe_refusal_reason(insn) || shadows_next(insn) || kprobe_insn_waits(insn) ||
	    is_landing_pad(insn))
		return -EOPNOTSUPP;
	if (IS_ENABLED(CONFIG_KPROBES_CFI) && (kprobe_in_cfi_check(addr) || is_cfi_trap(addr)))
		return -EOPNOTSUPP;

	kind = classify_opcode(insn);
	if (kind == REGION_PLAIN || kind == REGION_REBASED)
		return kind;
	if (!kprobe_branch_is_portable(insn))
		return -EOPNOTSUPP;
	/* See the thunks of copy.c. */
	if (is_call(kind) && cpu_feature_enabled(X86_FEATURE_CALL_DEPTH))
		return -EOPNOTSUPP;

	if ((kind != REGION_END && kind != REGION_CALL_INDIRECT) || !kprobe_copy_wants_thunk(insn))
		return kind;
	if (!kprobe_copy_thunk(insn))
		return -EOPNOTSUPP;

	return kind == REGION_END ? REGION_END_THUNK : REGION_CALL_THUNK;
}

static bool ends_flow(enum region_kind kind)
{
	return kind == REGION_JMP || kind == REGION_END || kind == REGION_END_THUNK ||
	       kind == REGION_PADDING;
}

/* There may be padding after an instruction that does not continue with the next. */
static bool is_padding(const struct region *region, struct insn *insn)
{
	return region->nr && ends_flow(region->insns[region->nr - 1].kind) &&
	       insn->opcode.bytes[0] == INT3_INSN_OPCODE;
}

/*
 * In a module without local symbols the next function may belong to the symbol, and begin
 * with a move of its type's hash, which callers read.
 */
static bool is_type_hash(const struct region *region, struct insn *insn)
{
	return IS_ENABLED(CONFIG_KPROBES_CFI) && region->ended && insn->opcode.bytes[0] == 0xb8;
}

/*
 * Is this a NOP, and so padding? No compiled function starts with one unless the kernel patches
 * it.
 */
static bool is_nop(struct insn *insn)
{
	unsigned int opcode = kprobe_opcode(insn);

	return opcode == 0x0f1f || (opcode == 0x90 && !X86_REX_B(insn->rex_prefix.bytes[0]));
}

/* Add an instruction, and note where it and what comes before it let others enter. */
static void add_insn(struct region *region, struct insn *insn, int kind)
{
	struct region_insn *ri = &region->insns[region->nr++];
	bool padding = kind == REGION_PADDING || is_nop(insn);
	unsigned int at = region->len;

	*ri = (struct region_insn){ .at = at, .len = insn->length, .kind = kind };
	region->len += insn->length;

	/* Code after the end of flow must be entered somehow. */
	if (region->ended && !padding)
		region->entered |= BIT(at);
	region->ended = ends_flow(kind) || (region->ended && padding);
	if (kind == REGION_PADDING)
		return;

	if (region->indirect)
		region->entered |= BIT(at);
	if (kprobe_is_fixed_up(region->addr + at)) {
		region->entered |= BIT(at);
		region->fixed_up |= !at;
	}
	if (is_call(kind)) {
		region->calls |= BIT(at);
		region->entered |= BIT(region->len);
	}
}

/* The region has all instructions that start before this offset. */
static unsigned int region_reach(const struct region *region)
{
	return max(JMP32_INSN_SIZE, region->lead + 1U);
}

/* Add instructions until there are enough for a jump, and the probed one. */
static enum detour_obstacle fill_region(struct region *region)
{
	struct insn insn;
	int kind;

	while (region->len < region_reach(region)) {
		region->why_at = region->len;
		if (region->addr + region->len >= region->end)
			return DETOUR_TOO_SHORT;
		if (kprobe_decode_original(&insn, region->text + region->len,
					   region->addr + region->len, region->end))
			return DETOUR_UNDECODABLE;

		if (is_type_hash(region, &insn))
			return DETOUR_TOO_SHORT;
		if (is_padding(region, &insn))
			kind = REGION_PADDING;
		else
			kind = region_classify_insn(&insn, region->addr + region->len);
		if (kind < 0)
			return DETOUR_NOT_RELOCATABLE;
		add_insn(region, &insn, kind);
	}

	return DETOUR_POSSIBLE;
}

static bool others_rewrite(const struct function_map *map, unsigned long start, unsigned long end)
{
	return ftrace_text_reserved((void *)start, (void *)end - 1) ||
	       (map->rewritten &&
		(kprobe_has_jump_labels(start, end) || kprobe_has_static_calls(start, end) ||
		 alternatives_text_reserved((void *)start, (void *)end)));
}

/* Do others rewrite text that would be copied, except at the probe? Note where. */
static bool is_reserved(struct region *region, const struct function_map *map)
{
	unsigned long start = region->addr + !region->lead;
	unsigned long end = region->addr + region_reach(region);
	const struct region_insn *ri;

	if (!others_rewrite(map, start, end))
		return false;

	for (ri = region->insns; ri < region->insns + region->nr; ri++) {
		end = region->addr + ri->at + ri->len;
		region->why_at = ri->at;
		if (others_rewrite(map, start, end))
			break;
		start = end;
	}

	return true;
}

/* Is the region entered other than by its first instruction? Note where. */
static enum detour_obstacle find_entry(struct region *region)
{
	u32 entered = region->entered & GENMASK(region_reach(region) - 1, 1);

	if (!entered)
		return DETOUR_POSSIBLE;
	region->why_at = __ffs(entered);

	return region->indirect ? DETOUR_INDIRECT_JUMP : DETOUR_JUMP_INTO;
}

/*
 * A grace period need not wait for preempted tasks in a kernel without preemption. But in
 * a Xen domain that may ask for long hypercalls, each interrupt of one may end a time
 * slice, at any instruction. These functions call xen_preemptible_hcall_begin().
 */
static bool is_preempted_anywhere(const char *name)
{
	return IS_ENABLED(CONFIG_XEN_PV) && !IS_ENABLED(CONFIG_PREEMPTION) &&
	       cpu_feature_enabled(X86_FEATURE_XENPV) &&
	       (strstarts(name, "privcmd_") || strstarts(name, "irqfd_"));
}

/* Does whatever comes to the first instruction run straight to the probed one? */
static bool runs_to_probe(struct region *region)
{
	const struct region_insn *ri;

	for (ri = region->insns; ri->at + ri->len <= region->lead; ri++) {
		if (ri->kind != REGION_PLAIN && ri->kind != REGION_REBASED)
			return false;
	}
	region->probed = ri - region->insns;

	return ri->at == region->lead;
}

/* Plan for a jump that begins @lead bytes before @addr. */
static enum detour_obstacle plan_jump(struct region *region, const struct kprobe_function *fn,
				      const struct function_map *map, unsigned long addr,
				      unsigned int lead)
{
	unsigned long start = addr - lead;
	enum detour_obstacle obstacle;

	*region = (struct region){
		.addr = start,
		.lead = lead,
		.end = fn->end,
		.indirect = map->indirect,
		.entered = bitmap_read(map->targets, start - fn->start, REGION_REACH),
	};

	obstacle = fill_region(region);
	if (!obstacle)
		obstacle = find_entry(region);
	if (!obstacle && !runs_to_probe(region))
		obstacle = DETOUR_TOO_SHORT;
	if (!obstacle && is_reserved(region, map))
		obstacle = DETOUR_RESERVED;

	return obstacle;
}

/* Try the instructions before @addr. Return whether a jump can begin at one of them. */
static bool plan_earlier(struct region *region, const struct kprobe_function *fn,
			 const struct function_map *map, unsigned long addr)
{
	unsigned int lead, max = min(addr - fn->start, MAX_LEAD);

	for (lead = 1; lead <= max; lead++) {
		if (test_bit(addr - fn->start - lead, map->heads) &&
		    plan_jump(region, fn, map, addr, lead) == DETOUR_POSSIBLE)
			return true;
	}

	return false;
}

/**
 * kprobe_plan_region() - find out what a jump for a probe would cover
 * @region: filled in
 * @addr: the probe
 *
 * Context: Process context, the locks of arch_prepare_optimized_kprobe() held.
 * Return: %DETOUR_POSSIBLE, or the obstacle to a jump at the probe.
 */
enum detour_obstacle kprobe_plan_region(struct region *region, unsigned long addr)
{
	struct kprobe_function *fn = kprobe_function_of(addr);
	const struct function_map *map;
	enum detour_obstacle obstacle;
	struct region earlier;

	*region = (struct region){ .addr = addr };
	if (!fn)
		return DETOUR_NO_FUNCTION;

	map = kprobe_map_function(fn);
	if (map->err)
		return map->err == -ENOMEM ? DETOUR_NO_ROOM : DETOUR_UNDECODABLE;
	if (map->backwards)
		return DETOUR_BACKWARDS;
	if (is_preempted_anywhere(fn->name))
		return DETOUR_PREEMPTED;

	obstacle = plan_jump(region, fn, map, addr, 0);
	/* If the probed instruction cannot be copied, no start of the jump helps. */
	if (!obstacle || !region->why_at || !plan_earlier(&earlier, fn, map, addr))
		return obstacle;

	*region = earlier;
	return DETOUR_POSSIBLE;
}
