// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preparing a probe: may the instruction at its address be probed, and how will
 * a hit execute it?
 */
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/debug-monitors.h>

#include "common.h"

/* Read the instruction at @addr, undoing the breakpoint or jump of a probe. */
static int kprobe_read_original(u32 *insn, unsigned long addr)
{
	struct kprobe *p;
	int ret;

	ret = aarch64_insn_read((void *)addr, insn);
	if (ret || (*insn != BRK64_OPCODE_KPROBES && !aarch64_insn_is_b(*insn)))
		return ret;

	p = get_kprobe((kprobe_opcode_t *)addr);
	if (p)
		*insn = p->opcode;

	return 0;
}

unsigned int arch_kprobe_insn_bytes(u8 *buf, unsigned long addr, unsigned long end)
{
	u32 insn;

	if (kprobe_read_original(&insn, addr))
		return 0;
	memcpy(buf, &insn, sizeof(insn));

	return sizeof(insn);
}

/*
 * No trap may hit between a load exclusive and its store exclusive: the exception
 * return ends the exclusive access, so the store would fail for ever. An address
 * lies between them if some path from it meets a store exclusive before a load
 * exclusive. Such a path has no calls and is short, but may branch anywhere.
 */
#define MAX_PATHS	32
#define MAX_STEPS	512

/**
 * struct exclusive_search - paths to follow from an address
 * @starts: addresses where paths begin
 * @nr: number of @starts
 * @steps: number of instructions that may still be read
 */
struct exclusive_search {
	unsigned long starts[MAX_PATHS];
	unsigned int nr;
	unsigned int steps;
};

static void add_path(struct exclusive_search *search, unsigned long start)
{
	unsigned int i;

	for (i = 0; i < search->nr; i++) {
		if (search->starts[i] == start)
			return;
	}
	if (search->nr < MAX_PATHS)
		search->starts[search->nr++] = start;
}

/* An exclusive access does not continue after such an instruction. */
static bool ends_path(u32 insn)
{
	return aarch64_insn_is_b(insn) || aarch64_insn_is_bl(insn) ||
	       aarch64_insn_is_clrex(insn) || (insn & 0xfe000000) == 0xd6000000 ||
	       (insn & 0xff000000) == 0xd4000000;
}

static bool path_meets_store(struct exclusive_search *search, unsigned long addr)
{
	long offset;
	u32 insn;

	for (; search->steps; search->steps--, addr += AARCH64_INSN_SIZE) {
		if (kprobe_read_original(&insn, addr))
			return false;
		if (kprobe_insn_is_exclusive(insn))
			return !kprobe_insn_is_load_exclusive(insn);

		offset = insn_branch_offset(insn);
		if (offset && !aarch64_insn_is_bl(insn))
			add_path(search, addr + offset);
		if (ends_path(insn))
			return false;
	}

	return false;
}

static bool in_exclusive_access(unsigned long addr, u32 insn)
{
	struct exclusive_search search = { .steps = MAX_STEPS };
	unsigned int i;

	/* Begin after a load: it needs no store if it only waits for an event. */
	add_path(&search, kprobe_insn_is_load_exclusive(insn) ? addr + AARCH64_INSN_SIZE : addr);
	for (i = 0; i < search.nr; i++) {
		if (path_meets_store(&search, search.starts[i]))
			return true;
	}

	return false;
}

/* Return why the instruction cannot be copied, or NULL. */
static const char *copy_refusal(u32 insn)
{
	if (kprobe_insn_is_load_exclusive(insn) || kprobe_insn_is_simd_literal(insn))
		return NULL;

	return kprobe_refusal_reason(insn);
}

static bool literal_is_readable(unsigned long addr, u32 insn)
{
	u8 literal[16];

	return !copy_from_kernel_nofault(literal, (void *)(addr + insn_literal_offset(insn)),
					 4 << (insn >> 30 & 1));
}

/* Set the handler that emulates the instruction of @p, if it has to be emulated. */
static int prepare_emulation(struct kprobe *p)
{
	struct arch_probe_insn *api = &p->ainsn.api;

	api->handler = kprobe_find_emulation(p->opcode, true);
	if (api->handler == kprobe_emulate_ldr_literal &&
	    !literal_is_readable((unsigned long)p->addr, p->opcode))
		return kprobe_refuse(-EILSEQ, p->addr, "its literal cannot be read");

	return 0;
}

/*
 * Two words for ftrace's trampoline may precede a function that ftrace can attach
 * to, and one word with its type a function that is called by pointers. For kallsyms
 * they belong to the symbol before.
 */
bool kprobe_is_before_function(unsigned long addr)
{
	bool has_type = IS_ENABLED(CONFIG_KPROBES_CFI);
	unsigned int i, words = IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS) ? 2 : has_type;
	unsigned long offset;

	for (i = 0; i < words; i++) {
		addr += AARCH64_INSN_SIZE;
		if (kallsyms_lookup_size_offset(addr, NULL, &offset) && !offset &&
		    (has_type || ftrace_location(addr)))
			return true;
	}

	return false;
}

/* Avoid slow lookups of symbols unless the function ends within two words. */
static bool is_near_symbol(unsigned long addr)
{
	const struct kprobe_function *fn = kprobe_function_of(addr);

	return !fn || addr + 2 * AARCH64_INSN_SIZE >= fn->end;
}

static int check_place(struct kprobe *p)
{
	unsigned long addr = (unsigned long)p->addr;

	if (!IS_ALIGNED(addr, AARCH64_INSN_SIZE))
		return kprobe_refuse(-EILSEQ, p->addr, "inside an instruction");

	if (is_near_symbol(addr) && kprobe_is_before_function(addr))
		return kprobe_refuse(-EINVAL, p->addr, "in the data before a function");

	if (kprobe_read_original(&p->opcode, addr))
		return kprobe_refuse(-EILSEQ, p->addr, "cannot be read");

	if (in_exclusive_access(addr, p->opcode))
		return kprobe_refuse(-EOPNOTSUPP, p->addr, "in an exclusive access");

	return 0;
}

int arch_prepare_kprobe(struct kprobe *p)
{
	const char *why;
	int ret;

	lockdep_assert_held(&text_mutex);

	/*
	 * Refuse until alternatives are applied: they would overwrite the breakpoint, and
	 * disarming would undo them.
	 */
	if (!system_capabilities_finalized())
		return kprobe_refuse(-ENOMEM, p->addr, "alternatives have not been applied yet");

	ret = check_place(p);
	if (ret)
		return ret;

	memset(&p->ainsn, 0, sizeof(p->ainsn));
	ret = prepare_emulation(p);
	if (ret || p->ainsn.api.handler)
		return ret;

	why = copy_refusal(p->opcode);
	if (why)
		return kprobe_refuse(-EOPNOTSUPP, p->addr, why);

	return kprobe_prepare_copy(p);
}
