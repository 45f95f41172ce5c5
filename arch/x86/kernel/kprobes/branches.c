// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branches in a function: which of its instructions are reached other than by running on
 * from the instruction before.
 *
 * The branches of the function and of its cold part are decoded. An index has the targets
 * of exception fixups and of static keys. Unknown code may branch back to any
 * instruction, so a branch to such code makes all instructions targets.
 */
#include <linux/bitmap.h>
#include <linux/extable.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>
#include <asm/alternative.h>
#include <asm/nospec-branch.h>
#include <asm/sections.h>

#include "copy.h"
#include "region.h"

/* Inlined, because for each function thousands of targets are outside of it. */
static __always_inline void note_target(struct function_map *map, unsigned long target)
{
	if (target >= map->start && target - map->start < map->size)
		__set_bit(target - map->start, map->targets);
}

/* Is @insn, at @addr, a direct branch? Set @target to where it leads. */
static bool branch_target(struct insn *insn, unsigned long addr, unsigned long *target)
{
	*target = addr + insn->length + insn->immediate.value;

	switch (kprobe_opcode(insn)) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
	case 0xe8:
	case 0xe9:
	case 0xeb:
	case 0x0f80 ... 0x0f8f:
		return true;
	case 0xc7:
		return insn->modrm.bytes[0] == 0xf8;	/* xbegin */
	default:
		return false;
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

/*
 * A target inside another symbol is a cold part, in a module without local symbols, or
 * assembly code, and either may branch back.
 */
static bool may_branch_back(const struct kprobe_function *fn, unsigned long target)
{
	unsigned long offset = target - fn->start;

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
	unsigned long target;

	if (addr >= map->start && addr < map->end)
		__set_bit(addr - map->start, map->heads);
	if (!branch_target(insn, addr, &target))
		target = 0;
	if (may_be_jump_table(map, insn, target))
		map->indirect = true;
	if (sets_direction(insn))
		map->backwards = true;
	if (!target)
		return 0;

	note_target(map, target);

	return insn->opcode.bytes[0] == CALL_INSN_OPCODE ? 0 : follow_into_cold(map, addr, target);
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
		/* Breakpoints of nobody pad functions. */
		if (*(u8 *)addr == INT3_INSN_OPCODE && !kprobe_may_have_written(addr) &&
		    !kprobe_on_debuggers_breakpoint(addr)) {
			addr++;
			continue;
		}
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

/* The same for the function that contains @addr. */
static int find_branches_from(void *data, unsigned long addr)
{
	struct kprobe_function fn;

	return kprobe_find_symbol(addr, &fn) ? find_branches(data, fn.start, fn.end) : 0;
}

static void list_faulting(void *list, unsigned long from, unsigned long to, bool fixup)
{
	if (fixup)
		kprobe_index_add(list, from);
}

static void collect_faulting(struct kprobe_keys *list, const struct module *mod)
{
	kprobe_each_listed(mod, list_faulting, list);
}

static struct kprobe_index faulting_index = { .collect = collect_faulting };

/* Is a fault of the instruction at @addr fixed up? Agrees with search_exception_tables(). */
bool kprobe_is_fixed_up(unsigned long addr)
{
	const u64 *first;
	int nr = kprobe_index_find(&faulting_index, addr, addr, addr + 1, &first);

	if (nr < 0)
		return search_exception_tables(addr);

	return nr;
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

/**
 * kprobe_map_function() - find the targets of the branches in a function
 * @fn: the function
 *
 * Callers ask about one function after the other, so there is only one map.
 *
 * Context: Process context, the locks of arch_prepare_optimized_kprobe() held.
 * Return: the map; the rest of it is valid only if its @err is 0.
 */
const struct function_map *kprobe_map_function(struct kprobe_function *fn)
{
	static struct function_map map;

	if (fn->mapped)
		return &map;

	map.start = fn->start;
	map.end = fn->end;
	map.cold = 0;
	map.cold_end = 0;
	map.indirect = COLD_PARTS_UNKNOWN;
	map.backwards = false;
	map.rewritten = kprobe_has_sites(fn->start, fn->end) ||
			alternatives_text_reserved((void *)fn->start, (void *)fn->end);
	map.err = clear_map(&map, fn);
	map.err = map.err ?: find_targets(&map, fn->name);
	fn->mapped = map.err != -ENOMEM;

	return &map;
}
