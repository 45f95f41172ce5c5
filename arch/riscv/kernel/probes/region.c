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
 * - By a branch, an exception fixup or a static key: see below.
 * - By returning from a call inside. The callee may sleep.
 * - By returning to an instruction that faulted. Only faults on user memory may sleep,
 *   and every access to user memory has an exception table entry.
 *
 * There is no jump if one of the last three is possible at any but the first
 * instruction. If there can be no jump at the probe, it may begin at an earlier instruction.
 *
 * So a task that has called the scheduler is not inside: it would return from a call.
 * Without preemption this is all. With preemption an exception in the kernel may end in
 * the scheduler, with the interrupted task at any instruction. Then opt.c fences the
 * region, and the core lets a grace period pass, until no task is inside, before the jump
 * is written. No task is preempted between the two instructions of a jump:
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
#include <linux/bug.h>
#include <linux/cfi.h>
#include <linux/extable.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <asm/asm-extable.h>
#include <asm/sections.h>

#include "common.h"

/**
 * struct map_insn - what is known of a parcel of a function, 2 bytes of code
 * @facts: properties of the instruction that starts there, its length 0 when none does. AUIPC
 *	and JALR in a row count as a jump or a call to the address that they compute together
 * @live: the registers that are not free there
 * @listed: the parcel that a fixup or a static key may lead to from there: its number plus
 *	1, or %ELSEWHERE, or 0
 * @target: it is a branch target
 * @tabled: a jump table may lead there
 */
struct map_insn {
	struct insn_facts facts;
	u32 live;
	u32 listed;
	bool target;
	bool tabled;
};

/* A target outside the function, where all registers may be read. */
#define ELSEWHERE	U32_MAX

/**
 * struct function_map - branch targets and live registers of a function
 * @start: its first byte
 * @end: the byte after it
 * @room: number of parcels that @insns has room for
 * @insns: its parcels
 * @indirect: a branch may lead anywhere
 * @has_tables: it jumps to addresses in registers, by jump tables unless @indirect
 * @live_in_tables: the registers that are not free where these jumps lead, which may also be the
 *	start of another function
 * @without_bugs: BUG() and WARN() are taken to read no registers
 * @err: why the map could not be made, or 0
 */
struct function_map {
	unsigned long start;
	unsigned long end;
	unsigned long room;
	struct map_insn *insns;
	bool indirect;
	bool has_tables;
	u32 live_in_tables;
	bool without_bugs;
	int err;
};

static bool map_holds(const struct function_map *map, unsigned long addr)
{
	return addr >= map->start && addr < map->end;
}

static struct map_insn *map_insn_at(const struct function_map *map, unsigned long addr)
{
	return &map->insns[(addr - map->start) / 2];
}

/* Replace the @facts of one instruction by those of the next one, @insn. */
static void next_facts(struct insn_facts *facts, u32 insn)
{
	struct insn_facts before = *facts;

	kprobe_get_insn_facts(insn, facts);
	if (before.flow != FLOW_ADDRESS || before.writes != (BIT(facts->base) & ~1U))
		return;

	if (facts->flow == FLOW_JUMP_REGISTER)
		facts->flow = FLOW_JUMP;
	else if (facts->flow == FLOW_CALL_REGISTER)
		facts->flow = FLOW_CALL;
	else
		return;
	facts->disp += before.disp - (s32)sizeof(u32);
}

/* Assembly code may call a part of itself, which need not keep to the calling convention. */
static bool calls_inside(const struct function_map *map, const struct insn_facts *facts,
			 unsigned long addr)
{
	unsigned long target = addr + facts->disp;

	return facts->flow == FLOW_CALL && map_holds(map, target) && target != map->start;
}

static bool is_return(const struct insn_facts *facts)
{
	return facts->flow == FLOW_JUMP_REGISTER && facts->base == 1 && !facts->disp;
}

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

static void note_target(void *data, unsigned long addr)
{
	const struct function_map *map = data;

	if (map_holds(map, addr))
		map_insn_at(map, addr)->target = true;
}

/* The fixup of such a load reads a register with the address, which the load itself may not. */
static bool fixup_reads_regs(unsigned long addr)
{
	const struct exception_table_entry *ex = search_exception_tables(addr);

	return ex && ex->type == EX_TYPE_LOAD_UNALIGNED_ZEROPAD;
}

static void note_listed(void *data, unsigned long from, unsigned long to, bool fixup)
{
	const struct function_map *map = data;

	note_target(data, to);
	if (!map_holds(map, from))
		return;

	if (map_holds(map, to) && !(fixup && fixup_reads_regs(from)))
		map_insn_at(map, from)->listed = (to - map->start) / 2 + 1;
	else
		map_insn_at(map, from)->listed = ELSEWHERE;
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

/* Call @note for each address that the code in [start, end) branches to: 0 if a register has it. */
static int each_branch(unsigned long start, unsigned long end,
		       void (*note)(void *data, unsigned long target), void *data)
{
	struct insn_facts facts = {};
	unsigned long addr;
	u32 insn;

	for (addr = start; addr < end; addr += facts.len) {
		int ret = kprobe_read_text(&insn, addr, start, end);

		if (ret)
			return ret;
		if (!may_branch(insn)) {
			facts.flow = FLOW_ON;
			facts.len = insn_len(insn);
			continue;
		}
		next_facts(&facts, insn);
		if (facts.flow == FLOW_BRANCH || facts.flow == FLOW_JUMP || facts.flow == FLOW_CALL)
			note(data, addr + facts.disp);
		else if (facts.flow == FLOW_JUMP_REGISTER && !is_return(&facts))
			note(data, 0);
	}

	return 0;
}

/*
 * BUG() and WARN() read all registers, but only to print them. BUG() goes nowhere: take it for an
 * endless loop.
 */
static void forget_bug(struct insn_facts *facts, unsigned long addr)
{
#ifdef CONFIG_GENERIC_BUG
	const struct bug_entry *bug = find_bug(addr);

	if (bug)
		*facts = (struct insn_facts){
			.flow = is_warning_bug(bug) ? FLOW_ON : FLOW_JUMP,
			.len = facts->len,
		};
#endif
}

/* Note the branches of the function itself, and keep the properties of its instructions. */
static int read_function(struct function_map *map)
{
	struct insn_facts facts = {};
	unsigned long addr;
	u32 insn;
	int ret;

	for (addr = map->start; addr < map->end; addr += facts.len) {
		ret = kprobe_read_text(&insn, addr, map->start, map->end);
		if (ret)
			return ret;
		/* Half of the word with the type of the next function, which is never executed. */
		if (addr + insn_len(insn) > map->end) {
			map_insn_at(map, addr)->live = ALL_REGS;
			break;
		}
		next_facts(&facts, insn);
		if (map->without_bugs && facts.flow == FLOW_UNKNOWN)
			forget_bug(&facts, addr);
		map_insn_at(map, addr)->facts = facts;
		if (facts.flow == FLOW_BRANCH || facts.flow == FLOW_JUMP)
			note_target(map, addr + facts.disp);
		if (facts.flow == FLOW_JUMP_REGISTER && !is_return(&facts))
			map->has_tables = true;
		if (calls_inside(map, &facts, addr))
			map->indirect = true;
	}

	return 0;
}

static void list_both(void *list, unsigned long from, unsigned long to, bool fixup)
{
	kprobe_index_add(list, from);
	kprobe_index_add(list, to);
}

static void collect_listed(struct kprobe_keys *list, const struct module *mod)
{
	kprobe_each_listed(mod, list_both, list);
}

/* An index of the addresses and the targets of fixups and static keys. */
static struct kprobe_index listed_index = { .collect = collect_listed };

/* Use the index first: few functions have fixups or static keys. */
static int find_listed(struct function_map *map)
{
	const u64 *first;
	int nr = kprobe_index_find(&listed_index, map->start, map->start, map->end, &first);

	if (nr > 0)
		kprobe_each_listed(core_kernel_text(map->start) ? NULL : listed_index.mod,
				   note_listed, map);

	return min(nr, 0);
}

/* The other part of a function may have a jump table as well. */
static void note_from_other_part(void *data, unsigned long target)
{
	struct function_map *map = data;

	map->indirect |= !target;
	note_target(map, target);
}

static int find_branches_from(void *data, unsigned long addr)
{
	struct kprobe_function fn;

	return kprobe_find_symbol(addr, &fn) ?
	       each_branch(fn.start, fn.end, note_from_other_part, data) : 0;
}

/**
 * struct surroundings - branches that leave their function in a range of the kernel's text
 * @start: start of the range
 * @end: end of the range; another function begins there
 * @symbol_end: end of that function, while it is being scanned
 * @nr: number of branches that lead out of their function
 * @targets: targets of these branches
 *
 * Kept between calls, since callers mostly ask for functions in the order of
 * their addresses. Protected by kprobe_mutex. It is never invalid: the functions of
 * this text never change.
 */
static struct surroundings {
	unsigned long start;
	unsigned long end;
	unsigned long symbol_end;
	unsigned int nr;
	unsigned long targets[1024];
} surroundings;

/* Skip branches within their own function: these are nearly all. */
static void note_leaving(void *data, unsigned long target)
{
	struct surroundings *s = data;

	if (!target || (target >= s->end && target < s->symbol_end))
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

	if (!kprobe_find_symbol(s->end, &fn) || fn.end <= s->end)
		return -ENOENT;

	s->symbol_end = fn.end;
	ret = each_branch(s->end, fn.end, note_leaving, s);
	s->end = fn.end;

	return ret ?: s->nr > ARRAY_SIZE(s->targets) ? -E2BIG : 0;
}

/* Make the range cover at least [first, last). */
static int surroundings_cover(struct surroundings *s, unsigned long first, unsigned long last)
{
	struct kprobe_function fn;
	int ret = 0;

	if (first < s->start || first > s->end || s->nr > ARRAY_SIZE(s->targets) / 2) {
		if (!kprobe_find_symbol(first, &fn))
			return -ENOENT;
		s->start = fn.start;
		s->end = fn.start;
		s->nr = 0;
	}
	while (!ret && s->end < last)
		ret = surroundings_extend(s);
	if (ret)
		s->end = s->start;

	return ret;
}

/* Scan all functions within the reach of a branch before and after the function. */
static int find_branches_around(struct function_map *map)
{
	unsigned long start = map->start, end = map->end;
	struct kprobe_function fn;
	int ret = 0;

	while (!ret && map->start - start < BRANCH_REACH && kprobe_find_symbol(start - 1, &fn)) {
		ret = each_branch(fn.start, start, note_target, map);
		start = fn.start;
	}
	while (!ret && end - map->end < BRANCH_REACH && kprobe_find_symbol(end, &fn) &&
	       fn.start == end && fn.end > end) {
		ret = each_branch(end, fn.end, note_target, map);
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

/*
 * Jump tables. For a switch, AUIPC and ADDI compute the address of a table, LW loads an entry,
 * ADD adds the two, and a jump leads to the sum: an entry is the distance from its table to a
 * target. Which table a jump uses is not followed. All addresses that the function computes by
 * AUIPC and ADDI are taken for tables, which end where an entry leads out of the function; in
 * other data this finds targets that are none, which does no harm.
 *
 * A jump may lead anywhere if LW and ADD do not precede it, if the use of an AUIPC does not follow
 * it in straight code, or if the function computes an address of its own code, or of no table.
 */

#define IS_ADDI(insn)	(((insn) & 0x707f) == 0x0013)
#define IS_LW(insn)	(((insn) & 0x707f) == 0x2003)
#define IS_ADD(insn)	(((insn) & 0xfe00707f) == 0x0033)

/* Loads and stores, also of float and vector registers. */
#define IS_ACCESS(insn)	(((insn) & 0x5b) == 0x03)

/**
 * struct table_scan - what registers hold in straight code
 * @upper: registers that hold what AUIPC has computed
 * @unused: those that nothing has used yet
 * @entries: registers that hold what LW has loaded
 * @sums: registers that hold the sum of that and another
 * @addr: by the number of the register, what AUIPC has computed
 * @found: there is a table
 */
struct table_scan {
	u32 upper;
	u32 unused;
	u32 entries;
	u32 sums;
	unsigned long addr[32];
	bool found;
};

static int part_holds(void *target, unsigned long addr)
{
	struct kprobe_function fn;

	return kprobe_find_symbol(addr, &fn) &&
	       *(unsigned long *)target - fn.start <= fn.end - fn.start;
}

/* The end of a function may be the target of an entry that is never used. */
static bool note_table(struct table_scan *scan, struct function_map *map, const char *name,
		       unsigned long table)
{
	const s32 *entry = (s32 *)table;
	unsigned long target;
	s32 distance;
	int ret;

	if (map_holds(map, table))
		return false;

	for (; !(table % sizeof(s32)) && !get_kernel_nofault(distance, entry); entry++) {
		target = table + distance;
		if (map_holds(map, target)) {
			map_insn_at(map, target)->target = true;
			map_insn_at(map, target)->tabled = true;
			scan->found = true;
		} else if (target != map->end) {
			ret = kprobe_each_other_part(map->start, name, part_holds, &target);
			if (ret <= 0)
				return !ret;
			map->live_in_tables = ALL_REGS;
		}
	}

	return true;
}

/* Note where the tables that @insn may use lead; return false if it may jump anywhere. */
static bool scan_for_tables(struct table_scan *scan, struct function_map *map, const char *name,
			    unsigned long addr, u32 insn)
{
	const struct insn_facts *facts = &map_insn_at(map, addr)->facts;
	u32 base = BIT(rs1(insn)) & ~1U, used = facts->reads & scan->unused;
	bool loads = IS_LW(insn), adds = IS_ADD(insn) && facts->reads & scan->entries;

	if (facts->flow == FLOW_JUMP_REGISTER && !is_return(facts) &&
	    (!(scan->sums & BIT(facts->base)) || facts->disp))
		return false;
	if (IS_ADDI(insn) && base & scan->upper &&
	    !note_table(scan, map, name, scan->addr[rs1(insn)] + imm_i(insn)))
		return false;
	/* The lower part is in an ADDI, in a load or store, or in a jump or call. */
	if (used & ~base ||
	    (used && !IS_ADDI(insn) && !IS_ACCESS(insn) && facts->flow <= FLOW_BRANCH))
		return false;

	scan->unused &= ~used;
	if (scan->unused && (facts->writes & scan->unused || facts->flow > FLOW_ADDRESS))
		return false;

	scan->upper &= ~facts->writes;
	scan->entries &= ~facts->writes;
	scan->sums &= ~facts->writes;
	if (facts->flow == FLOW_ADDRESS) {
		scan->upper |= facts->writes;
		scan->unused |= facts->writes;
		scan->addr[rd(insn)] = addr + facts->disp;
	} else if (facts->flow != FLOW_ON) {
		scan->entries = 0;
		scan->sums = 0;
	} else if (loads) {
		scan->entries |= facts->writes;
	} else if (adds) {
		scan->sums |= facts->writes;
	}

	return true;
}

static int find_tables(struct function_map *map, const char *name)
{
	struct table_scan scan = {};
	unsigned long addr;
	u32 insn;
	int ret;

	for (addr = map->start; addr < map->end; addr += insn_len(insn)) {
		ret = kprobe_read_text(&insn, addr, map->start, map->end);
		if (ret)
			return ret;
		if (!scan_for_tables(&scan, map, name, addr, kprobe_expand_insn(insn) | 3)) {
			map->indirect = true;
			return 0;
		}
	}
	map->indirect = !scan.found;

	return 0;
}

static int find_targets(struct function_map *map, const char *name)
{
	int ret;

	ret = find_listed(map);
	ret = ret ?: read_function(map);
	if (!ret && map->has_tables && !map->indirect)
		ret = find_tables(map, name);
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

/* At the start of a function */
#define LIVE_AT_ENTRY	(ALL_REGS & ~(T_REGS & ~T_ARGS))

/* The start of another function reads no temporary registers but arguments; other code may. */
static u32 live_outside(unsigned long addr)
{
	struct kprobe_function fn;

	if (!kprobe_find_symbol(addr, &fn) || addr != fn.start || kprobe_cold_suffix(fn.name))
		return ALL_REGS;

	return LIVE_AT_ENTRY;
}

/* Return the registers found not to be free at @addr so far. */
static u32 live_at(const struct function_map *map, unsigned long addr)
{
	if (addr == map->end)
		return ALL_REGS;

	return map_holds(map, addr) ? map_insn_at(map, addr)->live : live_outside(addr);
}

/* Registers that a function preserves for its caller, and its result. */
#define LIVE_AT_RETURN	((ALL_REGS & ~(T_REGS | A_REGS | REG_RA)) | GENMASK(11, 10))

/* Return the registers that are not free after the instruction at @addr. */
static u32 live_after(const struct function_map *map, const struct insn_facts *facts,
		      unsigned long addr)
{
	unsigned long next = addr + facts->len, target = addr + facts->disp;

	switch (facts->flow) {
	case FLOW_ON:
	case FLOW_ADDRESS:
		return live_at(map, next);
	case FLOW_BRANCH:
		return live_at(map, next) | live_at(map, target);
	case FLOW_JUMP:
		return live_at(map, target);
	case FLOW_CALL:
	case FLOW_CALL_REGISTER:
		if (facts->link != 1 || calls_inside(map, facts, addr))
			return ALL_REGS;
		return (live_at(map, next) & ~(T_REGS | A_REGS)) | A_REGS | T_ARGS;
	case FLOW_JUMP_REGISTER:
		if (!map->indirect)
			return is_return(facts) ? LIVE_AT_RETURN : map->live_in_tables;
		fallthrough;
	default:
		return ALL_REGS;
	}
}

/* Go from last to first: most instructions are followed by their successor. */
static bool spread_liveness(struct function_map *map)
{
	bool changed = false;
	unsigned long addr;

	for (addr = map->end; addr > map->start;) {
		struct map_insn *mi = map_insn_at(map, addr -= 2);
		u32 live;

		if (!mi->facts.len)
			continue;
		live = (live_after(map, &mi->facts, addr) & ~mi->facts.writes) | mi->facts.reads;
		/* A static key that is off goes on to the next instruction. */
		if (mi->listed == ELSEWHERE)
			live = ALL_REGS;
		else if (mi->listed)
			live |= map->insns[mi->listed - 1].live |
				live_at(map, addr + mi->facts.len);
		changed |= live != mi->live;
		mi->live = live;
		if (mi->tabled)
			map->live_in_tables |= live;
	}

	return changed;
}

static int draw_map(struct function_map *map, const char *name)
{
	unsigned long parcels = (map->end - map->start) / 2;
	int ret;

	map->indirect = false;
	map->has_tables = false;
	map->live_in_tables = LIVE_AT_ENTRY;
	if (parcels > map->room) {
		kvfree(map->insns);
		map->insns = kvmalloc_array(parcels, sizeof(*map->insns), GFP_KERNEL);
		map->room = map->insns ? parcels : 0;
		if (!map->insns)
			return -ENOMEM;
	}
	memset(map->insns, 0, parcels * sizeof(*map->insns));

	ret = find_targets(map, name);
	while (!ret && spread_liveness(map))
		cond_resched();

	return ret;
}

/* Keep both maps of the last function, since callers, under kprobe_mutex, ask in order. */
static const struct function_map *map_function(unsigned long addr, bool without_bugs)
{
	struct kprobe_function *fn = kprobe_function_of(addr);
	static struct function_map maps[2];
	struct function_map *map = &maps[without_bugs];

	if (!fn)
		return NULL;
	if (!(fn->mapped & BIT(without_bugs))) {
		map->without_bugs = without_bugs;
		map->start = fn->start;
		map->end = kprobe_code_end(fn);
		map->err = draw_map(map, fn->name);
		if (map->err != -ENOMEM)
			fn->mapped |= BIT(without_bugs);
	}

	return map;
}

/**
 * kprobe_free_regs() - find registers whose contents do not matter
 * @addr: address of an instruction
 *
 * Context: Process context, the locks of arch_prepare_optimized_kprobe() held.
 * Return: the registers that are free at @addr.
 */
u32 kprobe_free_regs(unsigned long addr)
{
	const struct function_map *map = map_function(addr, false);

	return map && !map->err ? ALL_REGS & ~live_at(map, addr) : 0;
}

/* -- the region of a jump -- */

/*
 * In order of preference. Never sp, gp, tp or s0: an interrupt may unwind at any time. Nor t6:
 * routines that copy to and from user memory keep ra there while they call each other.
 */
static const u8 jump_regs[] = {
	6, 7, 28, 29, 30, 5, 17, 16, 15, 14, 13, 12, 11, 10, 1, 27, 26, 25, 24, 23, 22, 21,
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

static bool is_call(const struct insn_facts *facts)
{
	return facts->flow == FLOW_CALL || facts->flow == FLOW_CALL_REGISTER;
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
		return ALL_REGS & ~live_at(map, addr + facts->disp);
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
	const struct insn_facts *before = &region->insns[region->nr - 1].facts;
	unsigned long addr = region->addr + at;

	if (ends_flow(before))
		return DETOUR_TOO_SHORT;
	if (is_call(before))
		return DETOUR_RETURN_INTO;
	if (map->indirect)
		return DETOUR_INDIRECT_JUMP;
	if (map_insn_at(map, addr)->target)
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

	region->optinsn.why_at = region->len;
	if (addr >= map->end)
		return DETOUR_TOO_SHORT;
	if (kprobe_read_original(&ri->insn, addr))
		return DETOUR_UNDECODABLE;
	if (region->nr) {
		obstacle = inner_obstacle(region, map, region->len);
		if (obstacle)
			return obstacle;
	}

	kprobe_get_insn_facts(ri->insn, &ri->facts);
	if (kprobe_refusal_reason(ri->insn) || ri->facts.flow == FLOW_UNKNOWN)
		return DETOUR_NOT_RELOCATABLE;
	ri->at = region->len;
	ri->reg = choose_reg(regs_for_insn(map, &ri->facts, addr));
	if (!ri->reg)
		return DETOUR_NO_REGISTER;
	region->len += ri->facts.len;
	region->nr++;

	return DETOUR_POSSIBLE;
}

/* Static keys rewrite their text, and the handler of a CFI trap decodes the text before it. */
static bool is_reserved(const struct region *region)
{
	unsigned long addr, end = region->addr + region->len;

	if (kprobe_has_jump_labels(region->addr + !region->optinsn.lead, end))
		return true;

	/* The handler decodes the LW, LUI, ADDIW and BEQ before the trap. */
	for (addr = region->addr; addr < end + 4 * sizeof(u32); addr += 2) {
		if (is_cfi_trap(addr))
			return true;
	}

	return false;
}

/*
 * May the jump begin at the first instruction? Code that does not come to the probe must not
 * pass it.
 */
static bool leads_to_probe(const struct region *region, const struct function_map *map)
{
	const struct region_insn *ri, *probed = probed_insn(region);

	if (probed->at != region->optinsn.lead || search_exception_tables(region->addr))
		return false;
	for (ri = region->insns; ri < probed; ri++) {
		if (ri->facts.flow != FLOW_ON && ri->facts.flow != FLOW_ADDRESS)
			return false;
	}

	return region->addr >= map->start + MAX_OPTIMIZED_LENGTH ||
	       !kprobe_is_ftrace_site(map->start);
}

/*
 * If the probed instruction branches there is no place after it in the detour from which a
 * post_handler could be called. What has an emulation is emulated, which saves a second call,
 * unless it writes a register that only a trap could load then.
 */
static enum detour_post plan_post(const struct region *region)
{
	const struct region_insn *ri = probed_insn(region);

	if (ri->facts.flow != FLOW_ON && ri->facts.flow != FLOW_ADDRESS)
		return region->exit ? POST_EXITS : POST_TRAPS;
	if (!(ri->facts.writes & GENMASK(4, 2)) &&
	    kprobe_find_kernel_emulation(kprobe_expand_insn(ri->insn)))
		return POST_GOES_ON;

	return POST_COPY;
}

static enum detour_obstacle plan_insns(struct region *region, const struct function_map *map)
{
	const struct region_insn *last, *probed;
	enum detour_obstacle obstacle;

	while (region->len < MAX_OPTIMIZED_LENGTH) {
		obstacle = add_insn(region, map);
		if (obstacle)
			return obstacle;
	}
	region->optinsn.why_at = 0;
	if (is_reserved(region))
		return DETOUR_RESERVED;
	if (region->optinsn.lead && !leads_to_probe(region, map))
		return DETOUR_TOO_SHORT;

	region->optinsn.extable = search_exception_tables(region->addr);
	region->optinsn.reg = choose_reg(ALL_REGS & ~live_at(map, region->addr));
	if (!region->optinsn.reg)
		return DETOUR_NO_REGISTER;

	probed = probed_insn(region);
	if (is_call(&probed->facts))
		region->exit = probed->reg;
	else
		region->exit = choose_reg(ALL_REGS & ~live_after(map, &probed->facts,
								 region->addr + probed->at));
	region->optinsn.post = plan_post(region);

	/* A register for the jump back, unless the last instruction never continues there. */
	last = &region->insns[region->nr - 1];
	if (is_call(&last->facts) || ends_flow(&last->facts))
		return DETOUR_POSSIBLE;
	region->out = choose_reg(ALL_REGS & ~live_at(map, region->addr + region->len));
	region->optinsn.why_at = region->len;

	return region->out ? DETOUR_POSSIBLE : DETOUR_NO_REGISTER;
}

/* Try the instructions before @addr. Return whether a jump can begin at one of them. */
static bool plan_earlier(struct region *region, const struct function_map *map, unsigned long addr)
{
	unsigned int lead, max = min(addr - map->start, arch_jump_lead_max());

	for (lead = 2; lead <= max; lead += 2) {
		if (!map_insn_at(map, addr - lead)->facts.len)
			continue;
		*region = (struct region){ .addr = addr - lead, .optinsn.lead = lead };
		if (plan_insns(region, map) == DETOUR_POSSIBLE)
			return true;
	}

	return false;
}

static enum detour_obstacle plan_site(struct region *region)
{
	unsigned int i;

	if (!__is_defined(ARCH_KPROBES_SHARE_FTRACE_SITE))
		return DETOUR_RESERVED;

	region->optinsn.site = true;
	region->optinsn.reg = 5;
	region->exit = 6;
	region->optinsn.post = POST_EXITS;
	for (i = 0; i < 2; i++) {
		region->insns[i].at = i * sizeof(u32);
		if (kprobe_read_original(&region->insns[i].insn, region->addr + i * sizeof(u32)))
			return DETOUR_UNDECODABLE;
	}
	region->nr = 2;
	region->len = 2 * sizeof(u32);

	return DETOUR_POSSIBLE;
}

static enum detour_obstacle plan_at(struct region *region, unsigned long addr, bool without_bugs)
{
	const struct function_map *map = map_function(addr, without_bugs);
	enum detour_obstacle obstacle;
	struct region earlier;

	if (!map)
		return DETOUR_NO_FUNCTION;
	if (map->err)
		return map->err == -ENOMEM ? DETOUR_NO_ROOM : DETOUR_UNDECODABLE;

	*region = (struct region){ .addr = addr };
	obstacle = plan_insns(region, map);
	if (obstacle && plan_earlier(&earlier, map, addr)) {
		*region = earlier;
		return DETOUR_POSSIBLE;
	}

	return obstacle;
}

/**
 * kprobe_plan_region() - find the region of a jump, and registers for its detour
 * @region: filled in
 * @addr: address of the probe
 *
 * Context: Process context, the locks of arch_prepare_optimized_kprobe() held.
 * Return: %DETOUR_POSSIBLE, or the obstacle to a jump at the probe.
 */
enum detour_obstacle kprobe_plan_region(struct region *region, unsigned long addr)
{
	enum detour_obstacle obstacle;

	*region = (struct region){ .addr = addr };
	if (kprobe_is_ftrace_site(addr))
		return plan_site(region);

	obstacle = plan_at(region, addr, false);
	/* Better a register that only the log of a BUG() or WARN() would show than none. */
	if (obstacle == DETOUR_NO_REGISTER)
		obstacle = plan_at(region, addr, true);

	return obstacle;
}
