// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who branches where: what of a function is come to in another way than by running
 * on from the instruction before it.
 */
#include <linux/bitmap.h>
#include <linux/extable.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>
#include <asm/extable.h>
#include <asm/nospec-branch.h>
#include <asm/sections.h>

#include "common.h"

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

/**
 * map_function() - find out who branches where in a function
 * @fn: the function
 *
 * Functions are asked for one after the other, so the last one is remembered.
 *
 * Context: Process context, the locks of arch_prepare_optimized_kprobe() held.
 * Return: the map, whose @err says whether the rest of it is to be believed.
 */
const struct function_map *map_function(const struct kprobe_function *fn)
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
	map.err = clear_targets(&map, fn);
	map.err = map.err ?: find_targets(&map, fn->name);

	return &map;
}
