// SPDX-License-Identifier: GPL-2.0-only
/*
 * May a jump cover what follows a probe? It takes five bytes or more, so mostly
 * several instructions, and the claim to prove is this: whoever comes to one of
 * them finds it done as if it were still there.
 *
 * There are these ways to come to an instruction, and what is done about each:
 *
 * - By running on from the one before. The jump is at the first, its detour has
 *   copies of them all.
 * - By having been there when the jump was written: preempted or interrupted in
 *   between, or in a copy that jumps back. From the moment a jump is planned the
 *   probe's hits go on in the detour; an RCU-tasks grace period later whoever was
 *   inside has left, since there is nothing in it to sleep in but what follows.
 * - By a branch in the same function, or in the part of it that the compiler has
 *   moved to the section of cold code: all of these are decoded, see
 *   find_targets(). Compiled code has no others; a jump table may lead anywhere.
 *   A static key has its branch in a table, whether it is one at the moment or not.
 *   The code that static_cpu_has() branches through is not run any more.
 * - By an exception fixup. The tables are searched for any that leads here.
 * - By returning from a call inside. The callee may sleep for any time.
 * - By having a fault in it resolved and returning to it. Only user memory is
 *   worth sleeping for, and all who access it have an exception table entry.
 *
 * At an offset where one of the last four is possible a breakpoint is put before
 * the grace period and stays: the jump's displacement has to contain it. The trap
 * goes on at the copy. Where the detour can be decides the lower three bytes of
 * the displacement, and a prefix moves it behind an offset that falls on the
 * fourth. Offsets that can only be run to need nothing.
 *
 * What others rewrite in place must stay where they expect it: the sites of
 * static keys, static calls, ftrace and lock prefixes, and the instructions that
 * a type check decodes after its trap.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/cfi.h>
#include <linux/extable.h>
#include <linux/ftrace.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <asm/alternative.h>
#include <asm/extable.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>
#include <asm/sections.h>

#include "common.h"

/**
 * struct function_map - what has been found out about the last function
 * @serial: which one that is, see struct kprobe_function
 * @start: its first byte
 * @end: the byte behind it
 * @cold: a piece of code that it branches into and that may branch back
 * @cold_end: the byte behind that
 * @targets: bit N: offset N may be branched to, be it by a fixup
 * @size: bits in @targets
 * @indirect: a branch may lead anywhere
 * @backwards: the direction flag may be set
 * @rewritten: others rewrite something in it
 * @err: that it could not be found out
 */
struct function_map {
	unsigned long serial;
	unsigned long start;
	unsigned long end;
	unsigned long cold;
	unsigned long cold_end;
	unsigned long *targets;
	unsigned long size;
	bool indirect;
	bool backwards;
	bool rewritten;
	int err;
};

/* What compilers append to the name of a function for the part that runs rarely. */
#define COLD	".cold"

/* For each function thousands are looked at that are not in it. */
static __always_inline void note_target(struct function_map *map, unsigned long target)
{
	if (target >= map->start && target - map->start < map->size)
		__set_bit(target - map->start, map->targets);
}

/* Is @insn, at @addr, a direct branch, and where to? */
static bool branch_target(struct insn *insn, unsigned long addr, unsigned long *target)
{
	u8 opcode = insn->opcode.bytes[0];
	bool branch;

	if (insn_is_avx(insn))
		return false;

	switch (opcode) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
	case 0xe8:
	case 0xe9:
	case 0xeb:
		branch = true;
		break;
	case 0xc7:
		branch = insn->modrm.bytes[0] == 0xf8;	/* xbegin */
		break;
	case 0x0f:
		branch = insn->opcode.nbytes == 2 && (insn->opcode.bytes[1] & 0xf0) == 0x80;
		break;
	default:
		return false;
	}
	*target = addr + insn->length + insn->immediate.value;

	return branch;
}

static bool is_indirect_jmp(struct insn *insn)
{
	return !insn_is_avx(insn) && insn->opcode.bytes[0] == 0xff &&
	       X86_MODRM_REG(insn->modrm.bytes[0]) == 4;
}

#ifdef CONFIG_MITIGATION_RETHUNK
static bool is_return_thunk(unsigned long addr)
{
	return addr == (unsigned long)__x86_return_thunk || addr == (unsigned long)x86_return_thunk;
}
#else
static bool is_return_thunk(unsigned long addr)
{
	return false;
}
#endif

/* Indirect branches may be made through one of these, some of which come and go. */
static bool is_thunk(unsigned long addr)
{
	if (is_return_thunk(addr))
		return false;

	return (addr >= (unsigned long)__softirqentry_text_end && addr < (unsigned long)_etext) ||
	       !kernel_text_address(addr);
}

/*
 * Mostly this is a call in tail position, and goes to the start of a function. But
 * there may be a jump table behind it, be it that of assembly code. With IBT all
 * that it leads to is marked, see is_landing_pad().
 */
static bool may_be_jump_table(struct insn *insn, unsigned long target)
{
	if (IS_ENABLED(CONFIG_X86_KERNEL_IBT))
		return false;

	return is_indirect_jmp(insn) ||
	       (target && insn->opcode.bytes[0] != CALL_INSN_OPCODE && is_thunk(target));
}

/* The direction flag may be set behind STD, and handlers must not find it so. */
static bool sets_direction(struct insn *insn)
{
	return !insn_is_avx(insn) && insn->opcode.bytes[0] == 0xfd;
}

static int find_branches(struct function_map *map, unsigned long start, unsigned long end);

/*
 * A branch at @from leaves the function. The cold part of one may have the name of
 * an alias, which nobody can guess.
 */
static int follow_into_cold(struct function_map *map, unsigned long from, unsigned long target)
{
	static char name[KSYM_NAME_LEN];
	unsigned long size, offset;
	char *module;

	if (from < map->start || from >= map->end || (target >= map->start && target < map->end) ||
	    (target >= map->cold && target < map->cold_end))
		return 0;
	/* Each return may be a branch to one, so do not look these up. */
	if (is_return_thunk(target) || is_thunk(target))
		return 0;
	if (!kallsyms_lookup(target, &size, &offset, &module, name) || !strstr(name, COLD))
		return 0;

	map->cold = target - offset;
	map->cold_end = map->cold + size;

	return find_branches(map, map->cold, map->cold_end);
}

/* Note where the code in [start, end) branches to, and what else there is. */
static int find_branches(struct function_map *map, unsigned long start, unsigned long end)
{
	u8 buf[MAX_INSN_SIZE];
	unsigned long target;
	struct insn insn;

	for (; start < end; start += insn.length) {
		int ret = decode_original(&insn, buf, start, end);

		/* The linker puts zeros behind the last function, of which the last may be odd. */
		if (ret)
			return memchr_inv((void *)start, 0, end - start) ? ret : 0;
		if (!branch_target(&insn, start, &target))
			target = 0;
		if (may_be_jump_table(&insn, target))
			map->indirect = true;
		if (sets_direction(&insn))
			map->backwards = true;
		note_target(map, target);
		if (target && insn.opcode.bytes[0] != CALL_INSN_OPCODE)
			ret = follow_into_cold(map, start, target);
		if (ret)
			return ret;
	}

	return 0;
}

/* The same for the function that @addr is in. */
static int find_branches_from(void *data, unsigned long addr)
{
	unsigned long size, offset;

	if (!kallsyms_lookup_size_offset(addr, &size, &offset))
		return 0;

	return find_branches(data, addr - offset, addr - offset + size);
}

static void find_fixups(struct function_map *map, const struct exception_table_entry *e,
			const struct exception_table_entry *end)
{
	for (; e < end; e++)
		note_target(map, (unsigned long)&e->fixup + e->fixup);

	/* Assembly code whose start is a fixup may share its inside with other functions. */
	if (test_bit(0, map->targets))
		map->indirect = true;
}

#ifdef CONFIG_JUMP_LABEL

/* What is no branch now may be one the next moment. */
static void find_static_branches(struct function_map *map, const struct jump_entry *e,
				 const struct jump_entry *end)
{
	for (; e < end; e++)
		note_target(map, jump_entry_target(e));
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

/* Before GCC 9 nothing tells which function a piece of cold code belongs to. */
#define COLD_PARTS_UNKNOWN	(CONFIG_GCC_VERSION && CONFIG_GCC_VERSION < 90100)

/*
 * A function may be in two parts, NAME and NAME.cold, which branch into each
 * other. Of the functions that have the other part's name all are looked at.
 * Returns whether @name is that of the cold part.
 */
static bool other_part_name(char *other, const char *name)
{
	char *suffix;

	strscpy(other, name, KSYM_NAME_LEN);
	suffix = strstr(other, COLD);
	if (suffix)
		*suffix = '\0';
	else
		strlcat(other, COLD, KSYM_NAME_LEN);

	return suffix;
}

/* What functions in C are aligned to. */
#define FUNCTION_ALIGN	16

/*
 * Assembly code may have several symbols in one function. Those inside are not
 * aligned, but by chance, so look at what is on the other side of such a border.
 */
static int find_branches_across_labels(struct function_map *map)
{
	unsigned long size, offset, start = map->start, end = map->end;
	int ret = 0;

	while (!ret && !IS_ALIGNED(start, FUNCTION_ALIGN)) {
		if (!kallsyms_lookup_size_offset(start - 1, &size, &offset))
			return -ENOENT;
		start -= offset + 1;
		ret = find_branches(map, start, start + size);
	}
	while (!ret && !IS_ALIGNED(end, FUNCTION_ALIGN)) {
		if (!kallsyms_lookup_size_offset(end, &size, &offset))
			return -ENOENT;
		ret = find_branches(map, end, end + size);
		end += size;
	}

	return ret;
}

/* Note all places that are branched to, whether the CPU or a fixup does it. */
static int find_targets(struct function_map *map, const char *name)
{
	char other[KSYM_NAME_LEN];
	bool cold = other_part_name(other, name);
	int ret;

	find_fixups(map, __start___ex_table, __stop___ex_table);
	find_kernel_static_branches(map);

	ret = find_branches(map, map->start, map->end);
	if (!ret && !cold)
		ret = find_branches_across_labels(map);
	ret = ret ?: kallsyms_on_each_match_symbol(find_branches_from, other, map);

	return ret ?: find_in_module(map, other);
}

static bool is_rewritten(unsigned long start, unsigned long end)
{
	void *first = (void *)start, *last = (void *)end - 1;

	return kprobe_has_jump_labels(start, end) || static_call_text_reserved(first, last) ||
	       alternatives_text_reserved(first, (void *)end);
}

/* Have room for a bit for each byte that a jump in @fn may cover, all clear. */
static int clear_targets(struct function_map *map, const struct kprobe_function *fn)
{
	unsigned long size = fn->end - fn->start + MAX_OPTIMIZED_LENGTH;
	unsigned long *targets = map->targets;

	if (size > map->size) {
		targets = kvcalloc(BITS_TO_LONGS(size), sizeof(long), GFP_KERNEL);
		if (!targets)
			return -ENOMEM;
		kvfree(map->targets);
		map->targets = targets;
		map->size = size;
	}
	bitmap_zero(map->targets, map->size);

	return 0;
}

/* Functions are asked for one after the other, so the last one is remembered. */
static const struct function_map *map_function(const struct kprobe_function *fn)
{
	static struct function_map map;

	if (map.serial == fn->serial && map.start == fn->start && map.err != -ENOMEM)
		return &map;

	map.serial = fn->serial;
	map.start = fn->start;
	map.end = fn->end;
	map.cold = 0;
	map.cold_end = 0;
	map.indirect = COLD_PARTS_UNKNOWN;
	map.backwards = false;
	map.rewritten = is_rewritten(fn->start, fn->end);
	map.err = clear_targets(&map, fn);
	map.err = map.err ?: find_targets(&map, fn->name);

	return &map;
}

/* STI holds interrupts off for one more instruction, which is to be the next. */
static bool shadows_next(struct insn *insn)
{
	u8 opcode = insn->opcode.bytes[0];

	if (insn_is_avx(insn))
		return false;

	return opcode == 0xfb || opcode == 0x17 ||
	       (opcode == 0x8e && X86_MODRM_REG(insn->modrm.bytes[0]) == 2);
}

/* An operand on the stack is not where it was once the return address is there. */
static bool operand_uses_sp(struct insn *insn)
{
	u8 modrm = insn->modrm.bytes[0], rex = insn->rex_prefix.bytes[0];

	if (X86_MODRM_RM(modrm) != 4)
		return false;
	if (X86_MODRM_MOD(modrm) == 3)
		return !X86_REX_B(rex);

	return X86_SIB_BASE(insn->sib.bytes[0]) == 4 && !X86_REX_B(rex);
}

static int classify_group5(struct insn *insn)
{
	switch (X86_MODRM_REG(insn->modrm.bytes[0])) {
	case 2:
		return operand_uses_sp(insn) ? -EOPNOTSUPP : REGION_CALL_INDIRECT;
	case 4:
		return REGION_END;
	default:
		return REGION_PLAIN;
	}
}

static int classify_opcode(struct insn *insn)
{
	u8 opcode = insn->opcode.bytes[0];

	switch (opcode) {
	case 0x70 ... 0x7f:
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
		return classify_group5(insn);
	case 0x0f:
		if (insn->opcode.nbytes == 2 && (insn->opcode.bytes[1] & 0xf0) == 0x80)
			return REGION_JCC;
		return REGION_PLAIN;
	default:
		return REGION_PLAIN;
	}
}

/* Whoever comes here by an indirect branch has to find it, sealed or not. */
static bool is_landing_pad(struct insn *insn)
{
	u32 code;

	if (insn->length != sizeof(code))
		return false;
	memcpy(&code, insn->kaddr, sizeof(code));

	return is_endbr(code);
}

/* An enum region_kind, or -EOPNOTSUPP for what cannot be done in a detour. */
static int classify(struct insn *insn, unsigned long addr)
{
	int kind;

	if (refusal_reason(insn) || shadows_next(insn) || insn_waits(insn) ||
	    is_landing_pad(insn))
		return -EOPNOTSUPP;
	if (IS_ENABLED(CONFIG_CFI_CLANG) && (in_cfi_check(addr) || is_cfi_trap(addr)))
		return -EOPNOTSUPP;
	if (insn_is_avx(insn))
		return REGION_PLAIN;

	kind = classify_opcode(insn);
	if (kind > REGION_PLAIN && !branch_is_portable(insn))
		return -EOPNOTSUPP;

	return kind;
}

static bool ends_flow(enum region_kind kind)
{
	return kind == REGION_JMP || kind == REGION_END || kind == REGION_PADDING;
}

/* Behind an instruction that goes elsewhere there may be filling. */
static bool is_padding(const struct region *region, struct insn *insn)
{
	return region->nr && ends_flow(region->insns[region->nr - 1].kind) &&
	       insn->opcode.bytes[0] == INT3_INSN_OPCODE;
}

static void add_insn(struct region *region, struct insn *insn, int kind)
{
	struct region_insn *ri = &region->insns[region->nr++];
	unsigned long addr = region->addr + region->len;

	*ri = (struct region_insn){ .at = region->len, .len = insn->length, .kind = kind };
	region->len += insn->length;
	if (kind == REGION_PADDING)
		return;

	region->heads |= BIT(ri->at);
	if (search_exception_tables(addr))
		region->extable |= BIT(ri->at);
	if (kind == REGION_CALL || kind == REGION_CALL_INDIRECT)
		region->calls |= BIT(ri->at);
}

/* Let the region have instructions for a jump of @size bytes. */
static enum detour_obstacle extend_region(struct region *region, unsigned int size)
{
	u8 buf[MAX_INSN_SIZE];
	struct insn insn;
	int kind;

	while (region->len < size) {
		region->why_at = region->len;
		if (region->addr + region->len >= region->end)
			return DETOUR_TOO_SHORT;
		if (decode_original(&insn, buf, region->addr + region->len, region->end))
			return DETOUR_UNDECODABLE;

		if (is_padding(region, &insn))
			kind = REGION_PADDING;
		else
			kind = classify(&insn, region->addr + region->len);
		if (kind < 0)
			return DETOUR_NOT_RELOCATABLE;
		add_insn(region, &insn, kind);
	}

	return DETOUR_POSSIBLE;
}

static bool others_rewrite(const struct function_map *map, unsigned long start, unsigned long end)
{
	return ftrace_text_reserved((void *)start, (void *)end - 1) ||
	       (map->rewritten && is_rewritten(start, end));
}

/* Do others rewrite something that the jump would cover? Note where. */
static bool is_reserved(struct region *region, const struct function_map *map)
{
	unsigned long start = region->addr + 1, end = region->addr + region->size;
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

/* Where calls inside the region return to, as far as that is inside. */
static u8 call_returns(const struct region *region)
{
	const struct region_insn *ri;
	u8 returns = 0;

	for (ri = region->insns; ri < region->insns + region->nr; ri++) {
		if (region->calls & BIT(ri->at))
			returns |= BIT(ri->at + ri->len);
	}

	return returns;
}

/* The offsets below the size of the jump that others than the detour come to. */
static u8 entered_at(const struct region *region)
{
	u8 entered = region->branched | region->extable | call_returns(region);

	if (region->indirect)
		entered |= region->heads;

	return entered & GENMASK(region->size - 1, 1);
}

/* A displacement has its bytes at these offsets; a detour cannot choose the last. */
static u8 trap_offsets(const struct region *region)
{
	unsigned int disp = region->size - sizeof(s32);

	return GENMASK(disp + 2, disp);
}

/* Find the shortest jump that can have a breakpoint wherever there must be one. */
static enum detour_obstacle choose_jump(struct region *region)
{
	enum detour_obstacle obstacle;
	u8 missing = 0;

	for (region->size = JMP32_INSN_SIZE; region->size <= MAX_OPTIMIZED_LENGTH;
	     region->size++) {
		obstacle = extend_region(region, region->size);
		if (obstacle)
			return obstacle;

		region->traps = entered_at(region);
		missing = region->traps & ~(trap_offsets(region) & region->heads);
		if (!missing)
			return DETOUR_POSSIBLE;
	}
	region->why_at = __ffs(missing);

	return region->indirect ? DETOUR_INDIRECT_JUMP : DETOUR_JUMP_INTO;
}

/**
 * plan_region() - find out what a jump at a probe would cover, and how
 * @region: filled in
 * @addr: the probe
 *
 * Context: Process context, the locks of arch_prepare_optimized_kprobe() held.
 * Return: %DETOUR_POSSIBLE, or what is in the way.
 */
enum detour_obstacle plan_region(struct region *region, unsigned long addr)
{
	const struct kprobe_function *fn = kprobe_function_of(addr);
	const struct function_map *map;
	enum detour_obstacle obstacle;
	unsigned int at;

	*region = (struct region){ .addr = addr };
	if (!fn)
		return DETOUR_NO_FUNCTION;

	map = map_function(fn);
	if (map->err)
		return map->err == -ENOMEM ? DETOUR_NO_ROOM : DETOUR_UNDECODABLE;
	if (map->backwards)
		return DETOUR_BACKWARDS;

	region->end = fn->end;
	region->indirect = map->indirect;
	for (at = 1; at < MAX_OPTIMIZED_LENGTH; at++) {
		if (test_bit(addr - fn->start + at, map->targets))
			region->branched |= BIT(at);
	}

	obstacle = choose_jump(region);
	if (!obstacle && is_reserved(region, map))
		obstacle = DETOUR_RESERVED;

	return obstacle;
}
