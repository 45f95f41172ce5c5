// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch targets: the instructions of a function that control reaches other than
 * from the instruction before.
 *
 * A branch may come from the function itself, from its part in the section of
 * cold code, and from assembly code nearby that has several symbols in one piece.
 * All text within reach of a branch is scanned, unless the function begins with an
 * ftrace site, which assembly code never has. Exception fixups may lead anywhere,
 * and so may static keys, whether or not they are branches at the moment.
 */
#include <linux/bitmap.h>
#include <linux/extable.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/module.h>
#include <asm/extable.h>
#include <asm/sections.h>

#include "common.h"
#include "function_map.h"
#include "window.h"

/* Reach of a conditional branch in bytes. */
#define BRANCH_REACH	4096

/* Find the symbol of @addr. The name is only a buffer that the lookup needs. */
static bool find_symbol(unsigned long addr, struct kprobe_function *fn)
{
	static char name[KSYM_NAME_LEN];

	return kprobe_find_symbol(addr, fn, name);
}

/* Return NULL for the kernel. Disabled preemption keeps the module loaded. */
static const struct module *module_of(unsigned long addr)
{
	return core_kernel_text(addr) ? NULL : __module_text_address(addr);
}

static void note_target(const struct function_map *map, unsigned long addr)
{
	if (map_holds(map, addr))
		__set_bit(parcel_of(map, addr), map->targets);
}

/* A fixup or a static key may lead from @from to @to. */
static void note_other(void *data, unsigned long from, unsigned long to)
{
	const struct function_map *map = data;

	note_target(map, to);
	if (map_holds(map, from))
		map->other[parcel_of(map, from)] = map_holds(map, to) ? parcel_of(map, to) + 1 :
									ELSEWHERE;
}

/* Return whether @insn may branch, or compute the address for a branch. */
static bool may_branch(u32 insn)
{
	switch (insn & 3) {
	case 0:
		return false;
	case 1:			/* c.j, c.beqz, c.bnez; c.jal */
		return (insn >> 13 & 7) >= 5 || (insn >> 13 & 7) == 1;
	case 2:			/* c.jr and the like */
		return (insn >> 13 & 7) == 4;
	default:		/* beq and the like, jalr, jal, auipc */
		return (insn & 0x70) == 0x60 || (insn & 0x7f) == 0x17;
	}
}

/* Call @note for each address that the code in [start, end) branches to. */
static int each_branch(unsigned long start, unsigned long end,
		       void (*note)(void *data, unsigned long target), void *data)
{
	struct walk walk = { .addr = start };
	struct window window = {};
	u32 insn;

	while (walk.addr < end) {
		int ret = read_next(&insn, &window, walk.addr, end);

		if (ret)
			return ret;
		if (!may_branch(insn)) {
			walk.facts.flow = FLOW_ON;
			walk.addr += insn_len(insn);
			continue;
		}
		walk_on(&walk, insn);
		if (walk.facts.flow == FLOW_BRANCH || walk.facts.flow == FLOW_JUMP ||
		    walk.facts.flow == FLOW_CALL)
			note(data, walk_target(&walk));
	}

	return 0;
}

static void note_branch(void *map, unsigned long target)
{
	note_target(map, target);
}

/* Note branches from [start, end) into the function. */
static int find_branches(struct function_map *map, unsigned long start, unsigned long end)
{
	return each_branch(start, end, note_branch, map);
}

/* Note the branches of the function itself, and keep its instructions. */
static int read_function(struct function_map *map)
{
	struct walk walk = { .addr = map->start };
	struct window window = {};
	u32 insn;
	int ret;

	while (walk.addr < map->end) {
		ret = read_next(&insn, &window, walk.addr, map->end);
		if (ret)
			return ret;
		if (walk.addr + insn_len(insn) > map->end)
			return -EILSEQ;
		map->insns[parcel_of(map, walk.addr)] = insn;
		/* Padding is never executed. */
		if (!insn)
			map->live[parcel_of(map, walk.addr)] = ALL_REGS;
		walk_on(&walk, insn);
		if (walk.facts.flow == FLOW_BRANCH || walk.facts.flow == FLOW_JUMP)
			note_target(map, walk_target(&walk));
		if ((walk.facts.flow == FLOW_JUMP_REGISTER && !is_return(&walk.facts)) ||
		    calls_inside(map, &walk))
			map->indirect = true;
	}

	return 0;
}

/* Call @note for each fixup and static key of @mod, or of the kernel. */
static void each_other(const struct module *mod,
		       void (*note)(void *data, unsigned long from, unsigned long to), void *data)
{
	const struct exception_table_entry *e, *last;
#ifdef CONFIG_JUMP_LABEL
	const struct jump_entry *key, *end;

	key = kprobe_index_of(mod, mod->jump_entries, __start___jump_table);
	end = kprobe_index_of(mod, key + mod->num_jump_entries, __stop___jump_table);
	for (; key < end; key++)
		note(data, jump_entry_code(key), jump_entry_target(key));
#endif
	e = kprobe_index_of(mod, mod->extable, __start___ex_table);
	last = kprobe_index_of(mod, e + mod->num_exentries, __stop___ex_table);
	for (; e < last; e++)
		note(data, (unsigned long)&e->insn + e->insn,
		     (unsigned long)&e->fixup + e->fixup);
}

static void list_other(void *list, unsigned long from, unsigned long to)
{
	kprobe_index_add(list, from);
	kprobe_index_add(list, to);
}

static void collect_others(struct kprobe_keys *list, const struct module *mod)
{
	each_other(mod, list_other, list);
}

/* An index of the addresses and the targets of fixups and static keys. */
static struct kprobe_index others_index = { .collect = collect_others };

/* Use the index first: few functions have fixups or static keys. */
static int find_others(struct function_map *map)
{
	const u64 *first;
	int nr = kprobe_index_find(&others_index, map->start, map->start, map->end, &first);

	if (nr <= 0)
		return nr;
	guard(preempt)();
	each_other(module_of(map->start), note_other, map);

	return 0;
}

static int find_branches_from(void *data, unsigned long addr)
{
	struct kprobe_function fn;

	return find_symbol(addr, &fn) ? find_branches(data, fn.start, fn.end) : 0;
}

/**
 * struct surroundings - branches that leave their function in a range of the kernel's text
 * @start: start of the range
 * @end: end of the range; another function begins there
 * @symbol: start of the function that is being scanned
 * @symbol_end: end of that function
 * @nr: number of branches that lead out of their function
 * @targets: targets of these branches
 *
 * Kept between calls, since callers mostly ask for functions in the order of
 * their addresses. It is never invalid: the functions of this text never change.
 */
static struct surroundings {
	unsigned long start;
	unsigned long end;
	unsigned long symbol;
	unsigned long symbol_end;
	unsigned int nr;
	unsigned long targets[1024];
} surroundings;

/* Skip branches within their own function: these are nearly all. */
static void note_leaving(void *data, unsigned long target)
{
	struct surroundings *s = data;

	if (target >= s->symbol && target < s->symbol_end)
		return;
	if (s->nr < ARRAY_SIZE(s->targets))
		s->targets[s->nr] = target;
	s->nr++;
}

/* Scan the function at the end of the range. */
static int surroundings_extend(struct surroundings *s)
{
	struct kprobe_function fn;
	int ret;

	if (!find_symbol(s->end, &fn) || fn.end <= s->end)
		return -ENOENT;

	s->symbol = s->end;
	s->symbol_end = fn.end;
	ret = each_branch(s->symbol, s->symbol_end, note_leaving, s);
	s->end = s->symbol_end;

	return ret ?: s->nr > ARRAY_SIZE(s->targets) ? -E2BIG : 0;
}

static int surroundings_begin_at(struct surroundings *s, unsigned long addr)
{
	struct kprobe_function fn;

	if (!find_symbol(addr, &fn))
		return -ENOENT;

	s->start = fn.start;
	s->end = s->start;
	s->nr = 0;

	return 0;
}

/* Make the range cover at least [first, last). */
static int surroundings_cover(struct surroundings *s, unsigned long first, unsigned long last)
{
	int ret = 0;

	if (first < s->start || first > s->end || s->nr > ARRAY_SIZE(s->targets) / 2)
		ret = surroundings_begin_at(s, first);
	while (!ret && s->end < last)
		ret = surroundings_extend(s);
	if (ret)
		s->end = s->start;

	return ret;
}

/* Scan all functions within the reach of a branch before and behind the function. */
static int find_branches_around(struct function_map *map)
{
	unsigned long start = map->start, end = map->end;
	struct kprobe_function fn;
	int ret = 0;

	while (!ret && map->start - start < BRANCH_REACH && find_symbol(start - 1, &fn)) {
		ret = find_branches(map, fn.start, start);
		start = fn.start;
	}
	while (!ret && end - map->end < BRANCH_REACH && find_symbol(end, &fn) &&
	       fn.start == end && fn.end > end) {
		ret = find_branches(map, end, fn.end);
		end = fn.end;
	}

	return ret;
}

/* Do as find_branches_around(), if possible with the range that was scanned last. */
static int find_branches_nearby(struct function_map *map)
{
	unsigned long first = (unsigned long)_stext, last = (unsigned long)_etext;
	struct surroundings *s = &surroundings;
	unsigned int i;

	if (map->start < first || map->end > last ||
	    surroundings_cover(s, max(map->start - BRANCH_REACH, first),
			       min(map->end + BRANCH_REACH, last)))
		return find_branches_around(map);

	for (i = 0; i < s->nr; i++)
		note_target(map, s->targets[i]);

	return 0;
}

int kprobe_find_targets(struct function_map *map, const char *name)
{
	int ret;

	ret = find_others(map);
	ret = ret ?: read_function(map);
	if (!ret && !kprobe_is_ftrace_site(map->start))
		ret = find_branches_nearby(map);

	return ret ?: kprobe_each_other_part(map->start, name, find_branches_from, map);
}
