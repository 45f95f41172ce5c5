// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has to be known of a whole function before a jump can be in it: where it
 * is branched to, and which registers are free at each of its instructions.
 *
 * A register is free, or dead, where on every way from there it is written
 * before it is read. What functions expect of each other is the calling
 * convention: a call reads its arguments and leaves the temporary registers
 * undefined, a return leaves undefined all that the caller does not keep. Where
 * the way is not known every register is taken to be read. A compiler that had
 * callers rely on what a callee happens to leave alone would break this, as it
 * would break ftrace; GCC's -fipa-ra does no such thing on this architecture.
 *
 * A branch may come from the function itself, from the part of it that the
 * compiler has moved to the section of cold code, and from assembly code nearby
 * that has several symbols in one piece: as far as a branch reaches all is
 * looked at, unless the function begins with an ftrace site, which assembly code
 * has none of. An exception fixup may lead anywhere, and so may a static key,
 * whether it is a branch at the moment or not.
 */
#define pr_fmt(fmt) "kprobes: " fmt

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
#include <linux/uaccess.h>
#include <asm/bug.h>
#include <asm/extable.h>
#include <asm/sections.h>

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

static struct function_map last_map;

/* Out of the function, where all registers may be read. */
#define ELSEWHERE	U32_MAX

/* What compilers append to the name of a function for the part that runs rarely. */
#define COLD	".cold"

/* How far a conditional branch reaches. */
#define BRANCH_REACH	4096

static bool map_holds(const struct function_map *map, unsigned long addr)
{
	return addr >= map->start && addr < map->end;
}

static unsigned long parcel_of(const struct function_map *map, unsigned long addr)
{
	return (addr - map->start) / 2;
}

static void note_target(const struct function_map *map, unsigned long addr)
{
	if (map_holds(map, addr))
		__set_bit(parcel_of(map, addr), map->targets);
}

/*
 * The CPU may go from @from to @to although the instruction does not say so. This and
 * others below are called thousands of times for a function: a probe on each function
 * of the kernel must not find a function in them.
 */
static __always_inline void note_other(const struct function_map *map, unsigned long from,
				       unsigned long to)
{
	note_target(map, to);
	if (map_holds(map, from))
		map->other[parcel_of(map, from)] = map_holds(map, to) ? parcel_of(map, to) + 1 :
									ELSEWHERE;
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

static void join_pair(struct insn_facts *facts, const struct insn_facts *before)
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
	get_insn_facts(insn, &walk->facts);
	join_pair(&walk->facts, &before);
	walk->addr += walk->facts.len;
}

static unsigned long walk_target(const struct walk *walk)
{
	return walk->at + walk->facts.disp;
}

/* Parcels in front of an instruction at which a jump may begin that covers it. */
#define COVER		(MAX_OPTIMIZED_LENGTH / 2 - 1)

/**
 * struct window - a piece of text, for instructions that are read one after the other
 * @start: where it begins
 * @nr: how many parcels it has
 * @parcels: these
 */
struct window {
	unsigned long start;
	unsigned int nr;
	u16 parcels[64];
};

/* The instruction at @addr, in front of which there are others, or NULL. */
static __always_inline const u16 *window_at(struct window *window, unsigned long addr,
					    unsigned long end)
{
	unsigned int at = (addr - window->start) / 2;
	size_t size;

	if (window->nr && at + 1 < window->nr)
		return &window->parcels[at];

	window->start = addr - COVER * 2;
	window->nr = 0;
	size = min(sizeof(window->parcels), end - window->start);
	if (copy_from_kernel_nofault(window->parcels, (void *)window->start, size))
		return NULL;
	window->nr = size / 2;

	return window->nr > COVER + 1 ? &window->parcels[COVER] : NULL;
}

static bool may_be_probed(const u16 *parcels)
{
	unsigned int i;

	if (parcels[0] == __BUG_INSN_16 || parcels[0] == (__BUG_INSN_32 & U16_MAX))
		return true;
	for (i = 0; i <= COVER; i++) {
		if ((parcels[-(int)i] & 0x7f) == 0x17)		/* auipc */
			return true;
	}

	return false;
}

/* As read_original() does. That is slow, and most of the text is as it has always been. */
static __always_inline int read_next(u32 *insn, struct window *window, unsigned long addr,
				     unsigned long end)
{
	const u16 *parcels = window_at(window, addr, end);

	if (!parcels || may_be_probed(parcels))
		return read_original(insn, addr);

	*insn = parcels[0];
	if (insn_len(*insn) == 4)
		*insn |= (u32)parcels[1] << 16;

	return 0;
}

/* Is @insn one of those that lead elsewhere, or make the address for them? */
static bool may_branch(u32 insn)
{
	switch (insn & 3) {
	case 0:
		return false;
	case 1:			/* c.j, c.beqz, c.bnez; c.jal */
		return (insn >> 13 & 7) >= 5 || (insn >> 13 & 7) == 1;
	case 2:			/* c.jr and its like */
		return (insn >> 13 & 7) == 4;
	default:		/* beq and its like, jalr, jal, auipc */
		return (insn & 0x70) == 0x60 || (insn & 0x7f) == 0x17;
	}
}

/* Have @note called for each address that the code in [start, end) branches to. */
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

/* Note where the code in [start, end) branches to in the function. */
static int find_branches(struct function_map *map, unsigned long start, unsigned long end)
{
	return each_branch(start, end, note_branch, map);
}

/* Assembly code may call a part of its own, of which nothing is known. */
static bool calls_inside(const struct function_map *map, const struct walk *walk)
{
	unsigned long target = walk_target(walk);

	return walk->facts.flow == FLOW_CALL && map_holds(map, target) && target != map->start;
}

static bool is_return(const struct insn_facts *facts)
{
	return facts->flow == FLOW_JUMP_REGISTER && facts->base == 1 && !facts->disp;
}

/* The same for the function itself, whose instructions are kept. */
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
		/* Filling, which nobody comes to. */
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

static void find_fixups(struct function_map *map, const struct exception_table_entry *e,
			const struct exception_table_entry *end)
{
	for (; e < end; e++)
		note_other(map, (unsigned long)&e->insn + e->insn,
			   (unsigned long)&e->fixup + e->fixup);
}

#ifdef CONFIG_JUMP_LABEL
static void find_static_branches(struct function_map *map, const struct jump_entry *e,
				 const struct jump_entry *end)
{
	for (; e < end; e++)
		note_other(map, jump_entry_code(e), jump_entry_target(e));
}

static void find_kernel_static_branches(struct function_map *map)
{
	find_static_branches(map, __start___jump_table, __stop___jump_table);
}
#else
static void find_kernel_static_branches(struct function_map *map)
{
}
#endif

static int find_branches_from(void *data, unsigned long addr)
{
	unsigned long size, offset;

	if (!kallsyms_lookup_size_offset(addr, &size, &offset))
		return 0;

	return find_branches(data, addr - offset, addr - offset + size);
}

#ifdef CONFIG_MODULES
static int find_branches_from_name(struct function_map *map, const struct mod_kallsyms *kallsyms,
				   const char *name)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < kallsyms->num_symtab; i++) {
		if (kallsyms->symtab[i].st_shndx != SHN_UNDEF &&
		    !strcmp(kallsyms->strtab + kallsyms->symtab[i].st_name, name))
			ret = find_branches_from(map,
						 kallsyms_symbol_value(&kallsyms->symtab[i]));
	}

	return ret;
}

/* The same searches in the module that the function is in, if it is in one. */
static int find_in_module(struct function_map *map, const char *name)
{
	struct module *mod;

	guard(preempt)();
	mod = __module_text_address(map->start);
	if (!mod)
		return 0;

	find_fixups(map, mod->extable, mod->extable + mod->num_exentries);
#ifdef CONFIG_JUMP_LABEL
	find_static_branches(map, mod->jump_entries, mod->jump_entries + mod->num_jump_entries);
#endif

	return find_branches_from_name(map, rcu_dereference_sched(mod->kallsyms), name);
}
#else
static int find_in_module(struct function_map *map, const char *name)
{
	return 0;
}
#endif

/* NAME and NAME.cold branch into each other. Of those so called all are looked at. */
static void other_part_name(char *other, const char *name)
{
	char *suffix;

	strscpy(other, name, KSYM_NAME_LEN);
	suffix = strstr(other, COLD);
	if (suffix)
		*suffix = '\0';
	else
		strlcat(other, COLD, KSYM_NAME_LEN);
}

/**
 * struct surroundings - where the kernel's functions in a piece of text branch to
 * @start: where it begins
 * @end: where it ends, and another function begins
 * @symbol: the function that is being looked at
 * @symbol_end: its end
 * @nr: how many branches lead out of their function
 * @targets: where these lead to
 *
 * Functions are asked for in the order of their addresses, mostly.
 */
static struct surroundings {
	unsigned long start;
	unsigned long end;
	unsigned long symbol;
	unsigned long symbol_end;
	unsigned int nr;
	unsigned long targets[1024];
} surroundings;

/* Nearly all lead to the start of a function, or into their own. */
static void note_leaving(void *data, unsigned long target)
{
	struct surroundings *s = data;

	if (target >= s->symbol && target < s->symbol_end)
		return;
	if (s->nr < ARRAY_SIZE(s->targets))
		s->targets[s->nr] = target;
	s->nr++;
}

/* Look at one more function, behind the others. */
static int extend(struct surroundings *s)
{
	unsigned long size, offset;
	int ret;

	if (!kallsyms_lookup_size_offset(s->end, &size, &offset) || size <= offset)
		return -ENOENT;

	s->symbol = s->end;
	s->symbol_end = s->end - offset + size;
	ret = each_branch(s->symbol, s->symbol_end, note_leaving, s);
	s->end = s->symbol_end;

	return ret ?: s->nr > ARRAY_SIZE(s->targets) ? -E2BIG : 0;
}

static int begin_at(struct surroundings *s, unsigned long addr)
{
	unsigned long size, offset;

	if (!kallsyms_lookup_size_offset(addr, &size, &offset))
		return -ENOENT;

	s->start = addr - offset;
	s->end = s->start;
	s->nr = 0;

	return 0;
}

/* The kernel's text from @first to @last, and more of it. */
static int look_around(struct surroundings *s, unsigned long first, unsigned long last)
{
	int ret = 0;

	if (first < s->start || first > s->end || s->nr > ARRAY_SIZE(s->targets) / 2)
		ret = begin_at(s, first);
	while (!ret && s->end < last)
		ret = extend(s);
	if (ret)
		s->end = s->start;

	return ret;
}

/* Whatever is within the reach of a branch before and behind the function. */
static int find_branches_around(struct function_map *map)
{
	unsigned long size, offset, start = map->start, end = map->end;
	int ret = 0;

	while (!ret && map->start - start < BRANCH_REACH &&
	       kallsyms_lookup_size_offset(start - 1, &size, &offset)) {
		ret = find_branches(map, start - 1 - offset, start);
		start -= offset + 1;
	}
	while (!ret && end - map->end < BRANCH_REACH &&
	       kallsyms_lookup_size_offset(end, &size, &offset) && !offset && size) {
		ret = find_branches(map, end, end + size);
		end += size;
	}

	return ret;
}

/* The same from what is known of the kernel's text. */
static int find_branches_nearby(struct function_map *map)
{
	unsigned long first = max(map->start - BRANCH_REACH, (unsigned long)_stext);
	unsigned long last = min(map->end + BRANCH_REACH, (unsigned long)_etext);
	struct surroundings *s = &surroundings;
	unsigned int i;

	if (map->start < (unsigned long)_stext || map->end > (unsigned long)_etext ||
	    look_around(s, first, last))
		return find_branches_around(map);

	for (i = 0; i < s->nr; i++)
		note_target(map, s->targets[i]);

	return 0;
}

static int find_targets(struct function_map *map, const char *name)
{
	char other[KSYM_NAME_LEN];
	int ret;

	other_part_name(other, name);
	find_fixups(map, __start___ex_table, __stop___ex_table);
	find_kernel_static_branches(map);

	ret = read_function(map);
	if (!ret && !is_ftrace_site(map->start))
		ret = find_branches_nearby(map);
	ret = ret ?: kallsyms_on_each_match_symbol(find_branches_from, other, map);

	return ret ?: find_in_module(map, other);
}

/* Outside of the function there is the start of another, or anything. */
static u32 look_outside(unsigned long addr)
{
	static char name[KSYM_NAME_LEN];
	unsigned long size, offset;
	char *module;

	if (!kallsyms_lookup(addr, &size, &offset, &module, name) || offset || strstr(name, COLD))
		return ALL_REGS;

	return ALL_REGS & ~T_REGS;
}

/* What has been found out about that for the present function. It takes long. */
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

/* Registers that are not free at @addr, as far as that is known by now. */
static __always_inline u32 live_at(const struct function_map *map, unsigned long addr)
{
	if (addr == map->end)
		return ALL_REGS;

	return map_holds(map, addr) ? map->live[parcel_of(map, addr)] : live_outside(addr);
}

/* What a function keeps for its caller, and its result. */
#define LIVE_AT_RETURN	((ALL_REGS & ~(T_REGS | A_REGS | REG_RA)) | GENMASK(11, 10))

/* Registers that are not free behind the last instruction of @walk. */
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
		return (live_at(map, walk->addr) & ~(T_REGS | A_REGS)) | A_REGS;
	default:
		return is_return(&walk->facts) && !map->indirect ? LIVE_AT_RETURN : ALL_REGS;
	}
}

/* Where a fixup or a static key may lead to; with the key off the branch is a NOP. */
static u32 live_at_other(const struct function_map *map, const struct walk *walk)
{
	u32 other = map->other[parcel_of(map, walk->at)];

	if (!other)
		return 0;
	if (other == ELSEWHERE)
		return ALL_REGS;

	return map->live[other - 1] | live_at(map, walk->addr);
}

/* From the last to the first, for most have their successor behind them. */
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
			get_insn_facts(map->insns[parcel - 2], &walk.facts);
		walk_on(&walk, map->insns[parcel]);
		live = live_behind(map, &walk) & ~walk.facts.writes;
		live |= walk.facts.reads;
		live |= live_at_other(map, &walk);
		changed |= live != map->live[parcel];
		map->live[parcel] = live;
	}

	return changed;
}

/* Have room for what there is to know of the parcels, all clear. */
static int map_clear(struct function_map *map)
{
	size_t size = map->parcels * 3 * sizeof(u32) + BITS_TO_LONGS(map->parcels) * sizeof(long);

	/* What is aligned comes first. */
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
	map->serial = fn->serial;
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

/* Functions are asked for one after the other, so the last one is remembered. */
const struct function_map *map_function(unsigned long addr)
{
	const struct kprobe_function *fn = kprobe_function_of(addr);
	struct function_map *map = &last_map;

	if (!fn)
		return NULL;
	if (map->serial != fn->serial || map->start != fn->start || map->err == -ENOMEM)
		draw_map(map, fn);

	return map;
}

int map_error(const struct function_map *map)
{
	return map->err;
}

/* May a branch lead anywhere? */
bool map_is_indirect(const struct function_map *map)
{
	return map->indirect;
}

/* May @addr be branched to? */
bool map_is_target(const struct function_map *map, unsigned long addr)
{
	return map_holds(map, addr) && test_bit(parcel_of(map, addr), map->targets);
}

unsigned long map_end(const struct function_map *map)
{
	return map->end;
}

/* The registers that are free at @addr. */
u32 map_dead_regs(const struct function_map *map, unsigned long addr)
{
	return ALL_REGS & ~live_at(map, addr);
}
