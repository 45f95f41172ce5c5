// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preparing a probe: is its address the start of an instruction, may that be
 * probed, and how will a hit execute it?
 */
#include <linux/cleanup.h>
#include <linux/kallsyms.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "common.h"

/* The opcode is right also for a point without a breakpoint: it equals the text then. */
static bool read_from_probe(u32 *insn, unsigned long addr)
{
	struct kprobe *p;

	guard(preempt_notrace)();
	p = get_kprobe((kprobe_opcode_t *)addr);
	if (p)
		*insn = p->opcode;

	return p;
}

/*
 * Read an instruction, undoing the breakpoint or jump of a probe. Do not read beyond
 * it: the next page may be unmapped.
 */
int kprobe_read_original(u32 *insn, unsigned long addr)
{
	u16 first, second = 0;

	if (read_from_probe(insn, addr) || kprobe_read_covered(insn, addr))
		return 0;

	if (get_kernel_nofault(first, (u16 *)addr))
		return -EFAULT;
	/* A debugger's breakpoint of 2 bytes may be in the place of a longer instruction. */
	if (first == __BUG_INSN_16 && kprobe_on_debuggers_breakpoint(addr))
		return -EBUSY;
	if (GET_INSN_LENGTH(first) == 4 && get_kernel_nofault(second, (u16 *)addr + 1))
		return -EFAULT;
	*insn = second << 16 | first;

	return 0;
}

unsigned int arch_kprobe_insn_bytes(u8 *buf, unsigned long addr, unsigned long end)
{
	u32 insn;

	if (kprobe_read_original(&insn, addr))
		return 0;
	memcpy(buf, &insn, sizeof(insn));

	return insn_len(insn);
}

/* Longest sequence after a load-reserved, in instructions, if nothing ends it. */
#define RESERVATION_INSNS	16

/**
 * struct scan - reading the instructions of a function up to a probe
 * @insn: the last instruction read
 * @reserved: number of instructions, from @insn on, that a reservation may still span
 */
struct scan {
	u32 insn;
	unsigned int reserved;
};

static __always_inline int scan_insn(struct scan *scan, unsigned long addr, unsigned long start,
				     unsigned long end)
{
	if (scan->reserved && kprobe_insn_ends_reservation(scan->insn))
		scan->reserved = 0;
	else if (scan->reserved)
		scan->reserved--;
	if (kprobe_read_text(&scan->insn, addr, start, end))
		return kprobe_refuse(-EILSEQ, (void *)addr, "cannot be read");
	if (kprobe_insn_is_lr(scan->insn))
		scan->reserved = RESERVATION_INSNS;

	return 0;
}

/* Read the instruction at @addr, if one of its function starts there. */
static int scan_to(struct scan *scan, unsigned long addr)
{
	struct kprobe_function *fn = kprobe_function_of(addr);
	/* The scan before fn->decoded, unless that is the start. */
	static struct scan before_decoded;
	unsigned long at, end;
	int ret;

	if (!fn)
		return kprobe_refuse(-EILSEQ, (void *)addr, "not in a function");

	at = fn->start;
	end = min(fn->end, addr + sizeof(u32));
	if (fn->decoded > at && fn->decoded <= addr) {
		at = fn->decoded;
		*scan = before_decoded;
	}
	for (; at < addr; at += insn_len(scan->insn)) {
		ret = scan_insn(scan, at, fn->start, end);
		if (ret)
			return ret;
	}
	if (at > addr)
		return kprobe_refuse(-EILSEQ, (void *)addr, "inside an instruction");

	fn->decoded = addr;
	before_decoded = *scan;

	return scan_insn(scan, addr, fn->start, end);
}

static int check_insn(struct kprobe *p, struct scan *scan)
{
	const char *why = kprobe_refusal_reason(scan->insn);

	/*
	 * c.fsdsp, which no kernel code has: processors with Zcmp or Zcmt have pushes, pops,
	 * returns and table jumps there, of which some depend on their own address.
	 */
	if (!why && (scan->insn & 0xe003) == 0xa002)
		why = "may be of Zcmp or Zcmt";
	if (!why && scan->reserved)
		why = "between load-reserved and store-conditional";
	if (!why)
		return 0;

	return kprobe_refuse(-EOPNOTSUPP, p->addr, why);
}

/*
 * Return the end of @fn without the pointer in front of the next function, which precedes one that
 * ftrace can attach to. For kallsyms it belongs to the symbol before.
 */
unsigned long kprobe_code_end(const struct kprobe_function *fn)
{
	if (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS) && kprobe_is_ftrace_site(fn->end))
		return max(fn->start, fn->end - sizeof(u64));

	return fn->end;
}

/* A word with its type may also precede a function, one that is called by pointers. */
static bool is_before_function(unsigned long addr)
{
	const struct kprobe_function *fn = kprobe_function_of(addr);
	unsigned long offset, end = addr + sizeof(u32);

	if (fn && addr + sizeof(u64) >= fn->end && addr >= kprobe_code_end(fn))
		return true;
	if (!IS_ENABLED(CONFIG_KPROBES_CFI))
		return false;

	while ((addr += sizeof(u16)) <= end) {
		if (kallsyms_lookup_size_offset(addr, NULL, &offset) && !offset)
			return true;
	}

	return false;
}

/* Look up the emulation at each hit: ftrace may have changed the instruction. */
static bool emulate_site(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	return kprobe_find_kernel_emulation(insn)(insn, addr, regs);
}

NOKPROBE_SYMBOL(emulate_site);

int arch_prepare_kprobe(struct kprobe *p)
{
	struct scan scan = {};
	int ret;

	lockdep_assert_held(&text_mutex);

	if (is_before_function((unsigned long)p->addr))
		return kprobe_refuse(-EINVAL, p->addr, "in the data before a function");

	ret = scan_to(&scan, (unsigned long)p->addr);
	if (ret)
		return ret;

	ret = check_insn(p, &scan);
	if (ret)
		return ret;

	p->opcode = scan.insn;
	memset(&p->ainsn, 0, sizeof(p->ainsn));
	*emulated_insn(p) = kprobe_expand_insn(p->opcode);
	if (kprobe_is_ftrace_site((unsigned long)p->addr))
		p->ainsn.api.handler = emulate_site;
	else
		p->ainsn.api.handler = kprobe_find_kernel_emulation(*emulated_insn(p));

	return p->ainsn.api.handler ? 0 : kprobe_prepare_copy(p);
}
