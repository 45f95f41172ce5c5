// SPDX-License-Identifier: GPL-2.0-only
/*
 * The map of a function: a whole function is analysed before a jump is put into it. The
 * map has its branch targets, and the registers that are free at each of its instructions.
 */
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/extable.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>
#include <asm/extable.h>
#include <asm/sections.h>

#include "common.h"
#include "window.h"

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

static struct function_map last_map;

/* -- branch targets -- */

/*
 * Branch targets are the instructions of a function that control reaches other than
 * from the instruction before.
 *
 * A branch may come from the function itself, from its part in the section of
 * cold code, and from assembly code nearby that has several symbols in one piece.
 * All text within reach of a branch is scanned, unless the function begins with an
 * ftrace site, which assembly code never has. Exception fixups may lead anywhere,
 * and so may static keys, whether or not they are branches at the moment.
 */

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

static int find_targets(struct function_map *map, const char *name)
{
	int ret;

	ret = find_others(map);
	ret = ret ?: read_function(map);
	if (!ret && !kprobe_is_ftrace_site(map->start))
		ret = find_branches_nearby(map);

	return ret ?: kprobe_each_other_part(map->start, name, find_branches_from, map);
}

/* -- free registers -- */

/*
 * A register is free, or dead, at an instruction if every path from there writes
 * it before it reads it. Between functions the calling convention is relied on: a
 * call reads the argument registers and leaves them and the temporary registers
 * undefined; a return leaves undefined all registers but the result and those
 * preserved for the caller. Where the path is not known, every register is taken
 * to be read. A compiler that let callers rely on registers that a callee happens
 * not to change would break this, as it would break ftrace: kernels with jumps are
 * compiled with -fno-ipa-ra.
 */

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
	map->err = map->err ?: find_targets(map, fn->name);
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
