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
 *   moved to the section of cold code: all of these are decoded, see find_branches().
 *   Compiled code has no others; a jump table may lead anywhere, and so may a function in
 *   more than two parts. A static key has its branch in a table, whether it is one at the
 *   moment or not. The code that static_cpu_has() branches through is not run any more.
 *   In a module without local symbols a function may end earlier than its symbol: what
 *   follows an instruction that does not continue with the next one, and padding after
 *   it, counts as entered by a branch.
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
#include <linux/bitmap.h>
#include <linux/cfi.h>
#include <linux/extable.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <asm/alternative.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>
#include <asm/sections.h>

#include "copy.h"

/* -- branches -- */

/*
 * Branches in a function: which of its instructions are reached other than by running on
 * from the instruction before.
 *
 * The branches of the function and of its cold part are decoded. An index has the targets
 * of exception fixups and of static keys. Unknown code may branch back to any
 * instruction, so a branch to such code makes all instructions targets.
 */

/**
 * struct function_map - branches in the function mapped last
 * @start: its first byte
 * @end: the byte after it
 * @cold: a piece of code that it branches into and that may branch back
 * @cold_end: the byte after that
 * @targets: bit N: offset N may be the target of a branch or of a fixup
 * @heads: bit N: at offset N an instruction starts
 * @size: bits in @targets, and in @heads
 * @indirect: a branch may lead anywhere
 * @backwards: the direction flag may be set
 * @rewritten: others may rewrite some of it
 * @err: 0, or why the rest is not valid
 */
struct function_map {
	unsigned long start;
	unsigned long end;
	unsigned long cold;
	unsigned long cold_end;
	unsigned long *targets;
	unsigned long *heads;
	unsigned long size;
	bool indirect;
	bool backwards;
	bool rewritten;
	int err;
};

/* Inlined, because for each function thousands of targets are outside of it. */
static __always_inline void note_target(struct function_map *map, unsigned long target)
{
	if (target >= map->start && target - map->start < map->size)
		__set_bit(target - map->start, map->targets);
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

/*
 * Return an enum region_kind, or -EOPNOTSUPP. In a region some instructions that are plain here are
 * refused.
 */
static int classify_opcode(struct insn *insn)
{
	switch (kprobe_opcode(insn)) {
	case 0x70 ... 0x7f:
	case 0x0f80 ... 0x0f8f:
		return REGION_JCC;
	case 0xc7:
		/* xbegin */
		return insn->modrm.bytes[0] == 0xf8 ? REGION_JCC : REGION_PLAIN;
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
		return REGION_PLAIN;
	}
}

static bool is_indirect_jmp(struct insn *insn)
{
	return kprobe_opcode(insn) == 0xff && X86_MODRM_REG(insn->modrm.bytes[0]) == 4;
}

static bool is_return_thunk(unsigned long addr)
{
	return IS_ENABLED(CONFIG_MITIGATION_RETHUNK) &&
	       (addr == (unsigned long)__x86_return_thunk ||
		addr == (unsigned long)x86_return_thunk);
}

/*
 * May this be a thunk for indirect branches? Besides these, entry code and trampolines of static
 * calls are in that part of the kernel's text, and some thunks are in none: they come and go.
 */
static bool may_be_thunk(unsigned long addr)
{
	if (is_return_thunk(addr))
		return false;

	return (addr >= (unsigned long)__softirqentry_text_end && addr < (unsigned long)_etext) ||
	       !kernel_text_address(addr);
}

/*
 * Is every target of an indirect jump in @map's function marked, see is_landing_pad()? With
 * IBT the kernel is built so. In a module there may be code that was not, and that works as
 * long as the CPU does not check it.
 */
static bool targets_are_marked(const struct function_map *map)
{
	return IS_ENABLED(CONFIG_X86_KERNEL_IBT) &&
	       (cpu_feature_enabled(X86_FEATURE_IBT) || core_kernel_text(map->start));
}

/*
 * An indirect jump is mostly a tail call, which goes to the start of a function. But it may
 * also use a jump table, in C or in assembly code. NOTRACK in front of it tells so.
 */
static bool may_be_jump_table(const struct function_map *map, struct insn *insn,
			      unsigned long target)
{
	if (is_indirect_jmp(insn) && kprobe_insn_has_prefix(insn, 0x3e))
		return true;
	if (targets_are_marked(map))
		return false;

	return is_indirect_jmp(insn) ||
	       (target && insn->opcode.bytes[0] != CALL_INSN_OPCODE && may_be_thunk(target));
}

/*
 * After STD the direction flag may be set, and after a far call, because only a 32-bit kernel
 * has one, to a BIOS. Handlers must not run with it.
 */
static bool sets_direction(struct insn *insn)
{
	unsigned int opcode = kprobe_opcode(insn);

	return opcode == 0xfd ||
	       (IS_ENABLED(CONFIG_X86_32) &&
		(opcode == 0x9a ||
		 (opcode == 0xff && X86_MODRM_REG(insn->modrm.bytes[0]) == 3)));
}

static int find_branches(struct function_map *map, unsigned long start, unsigned long end);

static bool is_outside(const struct function_map *map, unsigned long addr)
{
	return (addr < map->start || addr >= map->end) &&
	       (addr < map->cold || addr >= map->cold_end);
}

/* Propeller makes clang split functions into parts, each of which may branch to any other. */
static bool is_part(const struct kprobe_function *fn)
{
	return strstr(fn->name, ".__part.");
}

/*
 * A target inside another symbol is a cold part, in a module without local symbols, or
 * assembly code, and either may branch back.
 */
static bool may_branch_back(const struct kprobe_function *fn, unsigned long target)
{
	unsigned long offset = target - fn->start;

	if (is_part(fn))
		return true;

	return offset && !(offset == ENDBR_INSN_SIZE && IS_ENABLED(CONFIG_X86_KERNEL_IBT));
}

/*
 * A branch at @from leaves the function. Follow it into a cold part, which may be named
 * after an alias of the function, so that its name cannot be guessed.
 */
static int follow_into_cold(struct function_map *map, unsigned long from, unsigned long target)
{
	struct kprobe_function fn;

	if (from < map->start || from >= map->end || !is_outside(map, target))
		return 0;
	/* Do not look up thunks: each return may be a branch to one. */
	if (is_return_thunk(target) || may_be_thunk(target))
		return 0;
	if (!kprobe_find_symbol(target, &fn)) {
		map->indirect = true;
		return 0;
	}
	if (!kprobe_cold_suffix(fn.name)) {
		map->indirect |= may_branch_back(&fn, target);
		return 0;
	}

	map->cold = fn.start;
	map->cold_end = fn.end;

	return find_branches(map, map->cold, map->cold_end);
}

/* Note where @insn, at @addr, starts and what it does. */
static int note_insn(struct function_map *map, struct insn *insn, unsigned long addr)
{
	unsigned long target = 0;
	int kind = classify_opcode(insn);

	if (addr >= map->start && addr < map->end)
		__set_bit(addr - map->start, map->heads);
	if (kind >= REGION_JCC && kind <= REGION_CALL)
		target = addr + insn->length + insn->immediate.value;
	if (may_be_jump_table(map, insn, target))
		map->indirect = true;
	if (sets_direction(insn))
		map->backwards = true;
	if (!target)
		return 0;

	note_target(map, target);

	return kind == REGION_CALL ? 0 : follow_into_cold(map, addr, target);
}

/*
 * Note where the code in [start, end) branches to, and what else note_insn() finds. Called with
 * text_mutex held.
 */
static int find_branches(struct function_map *map, unsigned long start, unsigned long end)
{
	unsigned long addr = start;
	u8 buf[MAX_INSN_SIZE];
	struct insn insn;
	int ret = 0;

	while (!ret && addr < end) {
		ret = kprobe_decode_text(&insn, buf, addr, end);
		/*
		 * Zeros pad the last function. Two decode as an instruction, so the last of
		 * an odd number does not.
		 */
		if (ret)
			return memchr_inv((void *)addr, 0, end - addr) ? -EILSEQ : 0;
		if (insn.opcode.bytes[0] != INT3_INSN_OPCODE)
			ret = note_insn(map, &insn, addr);
		addr += insn.length;
	}

	return ret;
}

/* The same for the function that contains @addr. Others with its name are data, or freed. */
static int find_branches_from(void *data, unsigned long addr)
{
	struct kprobe_function fn;

	if (!kernel_text_address(addr) || !kprobe_find_symbol(addr, &fn))
		return 0;

	return find_branches(data, fn.start, fn.end);
}

static void list_target(void *list, unsigned long from, unsigned long to, bool fixup)
{
	kprobe_index_add(list, to);
}

static void collect_targets(struct kprobe_keys *list, const struct module *mod)
{
	kprobe_each_listed(mod, list_target, list);
}

static struct kprobe_index targets_index = { .collect = collect_targets };

/* Note the targets of fixups and of static keys. */
static int find_listed(struct function_map *map)
{
	const u64 *target;
	int nr;

	nr = kprobe_index_find(&targets_index, map->start, map->start, map->start + map->size,
			       &target);
	if (nr < 0)
		return nr;

	for (; nr; nr--)
		note_target(map, *target++);
	/* Other functions may branch into assembly code that begins at a fixup. */
	if (test_bit(0, map->targets))
		map->indirect = true;

	return 0;
}

/* Before GCC 9 the name of cold code does not tell to which function it belongs. */
#define COLD_PARTS_UNKNOWN	(CONFIG_GCC_VERSION && CONFIG_GCC_VERSION < 90100)

/* Alignment of functions in C. */
#define FUNCTION_ALIGN	16

/*
 * Assembly code may have several symbols in one function. Symbols inside it are aligned
 * only by chance, so also search the code on the other side of an unaligned border.
 */
static int find_branches_across_labels(struct function_map *map)
{
	unsigned long start = map->start, end = map->end;
	struct kprobe_function fn;
	int ret = 0;

	while (!ret && !IS_ALIGNED(start, FUNCTION_ALIGN)) {
		if (!kprobe_find_symbol(start - 1, &fn))
			return -ENOENT;
		ret = find_branches(map, fn.start, start);
		start = fn.start;
	}
	while (!ret && !IS_ALIGNED(end, FUNCTION_ALIGN)) {
		if (!kprobe_find_symbol(end, &fn))
			return -ENOENT;
		ret = find_branches(map, end, fn.end);
		end = fn.end;
	}

	return ret;
}

/* Note all targets of branches and of fixups. */
static int find_targets(struct function_map *map, const char *name)
{
	int ret;

	ret = find_listed(map);
	ret = ret ?: find_branches(map, map->start, map->end);
	if (!ret && !kprobe_cold_suffix(name))
		ret = find_branches_across_labels(map);

	return ret ?: kprobe_each_other_part(map->start, name, find_branches_from, map);
}

/* Make room for two clear bits for each byte that a jump in @fn may cover. */
static int clear_map(struct function_map *map, const struct kprobe_function *fn)
{
	unsigned long longs = BITS_TO_LONGS(fn->end - fn->start + REGION_REACH);
	unsigned long *targets = map->targets;

	if (longs > BITS_TO_LONGS(map->size)) {
		targets = kvcalloc(longs, 2 * sizeof(long), GFP_KERNEL);
		if (!targets)
			return -ENOMEM;
		kvfree(map->targets);
		map->targets = targets;
		map->heads = targets + longs;
		map->size = longs * BITS_PER_LONG;
	}
	bitmap_zero(map->targets, 2 * map->size);

	return 0;
}

/* Map @fn. Callers ask about one function at a time, under kprobe_mutex: one map is enough. */
static const struct function_map *map_function(struct kprobe_function *fn)
{
	static struct function_map map;

	if (fn->mapped)
		return &map;

	map.start = fn->start;
	map.end = fn->end;
	map.cold = 0;
	map.cold_end = 0;
	map.indirect = COLD_PARTS_UNKNOWN || is_part(fn);
	map.backwards = false;
	map.rewritten = kprobe_has_sites(fn->start, fn->end) ||
			alternatives_text_reserved((void *)fn->start, (void *)fn->end);
	map.err = clear_map(&map, fn);
	map.err = map.err ?: find_targets(&map, fn->name);
	fn->mapped = map.err != -ENOMEM;

	return &map;
}

/* -- the region of a jump -- */

/* STI and loading SS hold off interrupts for one more instruction, which must be the next. */
static bool shadows_next(struct insn *insn)
{
	unsigned int opcode = kprobe_opcode(insn);

	return opcode == 0xfb || opcode == 0x17 ||
	       (opcode == 0x8e && X86_MODRM_REG(insn->modrm.bytes[0]) == 2);
}

static bool is_call(int kind)
{
	return kind == REGION_CALL || kind == REGION_CALL_INDIRECT;
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
	if (kind == REGION_PLAIN)
		return kind;
	if (!kprobe_branch_is_portable(insn))
		return -EOPNOTSUPP;
	/* See the thunks of copy.c. */
	if (is_call(kind) && cpu_feature_enabled(X86_FEATURE_CALL_DEPTH))
		return -EOPNOTSUPP;

	if ((kind == REGION_END || kind == REGION_CALL_INDIRECT) && kprobe_copy_wants_thunk(insn) &&
	    !kprobe_copy_thunk(insn))
		return -EOPNOTSUPP;

	return kind;
}

/* Add an instruction, and note where it and what comes before it let others enter. */
static void add_insn(struct region *region, struct insn *insn, int kind)
{
	struct region_insn *ri = &region->insns[region->nr++];
	/* No compiled function starts with a NOP unless the kernel patches it. */
	bool padding = kind == REGION_PADDING || kprobe_insn_is_nop(insn);
	unsigned int at = region->len;

	*ri = (struct region_insn){ .at = at, .len = insn->length, .kind = kind };
	region->len += insn->length;

	/* Code after the end of flow is entered somehow, or is the type of the next function. */
	if (region->ended && !padding)
		region->entered |= BIT(at);
	region->ended = kind == REGION_JMP || kind == REGION_END || (region->ended && padding);
	if (kind == REGION_PADDING)
		return;

	if (region->indirect)
		region->entered |= BIT(at);
	if (search_exception_tables(region->addr + at)) {
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

		/* Padding may follow what does not continue with the next instruction. */
		if (region->ended && insn.opcode.bytes[0] == INT3_INSN_OPCODE)
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
	unsigned long start = region->addr + !region->lead, end;
	const struct region_insn *ri;

	for (ri = region->insns; ri < region->insns + region->nr; ri++) {
		end = region->addr + ri->at + ri->len;
		region->why_at = ri->at;
		if (others_rewrite(map, start, end))
			return true;
		start = end;
	}

	return false;
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
		if (ri->kind != REGION_PLAIN)
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

	map = map_function(fn);
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
