// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preparing a probe: is its address the start of an instruction, may that be
 * probed, and how will a hit get it done?
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/cleanup.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "common.h"
#include "window.h"

/* What a point without a breakpoint has as opcode is what the text has as well. */
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
 * Read an instruction as it is without its probe. It may be the last on a page
 * with nothing behind that, so what is not part of it must not be read.
 */
int kprobe_read_original(u32 *insn, unsigned long addr)
{
	u16 first, second = 0;

	if (read_from_probe(insn, addr) || kprobe_read_covered(insn, addr))
		return 0;

	if (get_kernel_nofault(first, (u16 *)addr))
		return -EFAULT;
	/* It may be half of what is there without it. */
	if (first == __BUG_INSN_16 && kprobe_on_debuggers_breakpoint(addr))
		return -EBUSY;
	if (GET_INSN_LENGTH(first) == 4 && get_kernel_nofault(second, (u16 *)addr + 1))
		return -EFAULT;
	*insn = second << 16 | first;

	return 0;
}

/* How far a load-reserved reaches that has nothing behind it which ends that. */
#define RESERVATION_INSNS	16

/**
 * struct scan - the instructions of a function up to a probe
 * @insn: the last one read
 * @reserved: how many from it on may have a reservation that a trap would break
 */
struct scan {
	u32 insn;
	unsigned int reserved;
};

static __always_inline int scan_insn(struct scan *scan, struct window *window, unsigned long addr,
				     unsigned long end)
{
	/* Once the store-conditional is done nothing is reserved, or of use. */
	if (kprobe_insn_is_sc(scan->insn) || kprobe_insn_is_wrs(scan->insn))
		scan->reserved = 0;
	else if (scan->reserved)
		scan->reserved--;

	if (read_next(&scan->insn, window, addr, end)) {
		pr_debug("%pS: cannot be read\n", (void *)addr);
		return -EILSEQ;
	}
	if (kprobe_insn_is_lr(scan->insn))
		scan->reserved = RESERVATION_INSNS;

	return 0;
}

/* The last probe: the next one may be behind it in its function. */
static struct {
	unsigned long serial;
	unsigned long addr;
	struct scan before;
} last_scan;

/* Read what is at @addr, if an instruction of its function starts there. */
static int scan_to(struct scan *scan, unsigned long addr)
{
	const struct kprobe_function *fn = kprobe_function_of(addr);
	struct window window = {};
	unsigned long at, end;
	int ret;

	if (!fn) {
		pr_debug("%pS: not in a function\n", (void *)addr);
		return -EILSEQ;
	}

	at = fn->start;
	end = min(fn->end, addr + sizeof(u32));
	if (last_scan.serial == fn->serial && last_scan.addr <= addr) {
		at = last_scan.addr;
		*scan = last_scan.before;
	}
	for (; at < addr; at += insn_len(scan->insn)) {
		ret = scan_insn(scan, &window, at, end);
		if (ret)
			return ret;
	}
	if (at > addr) {
		pr_debug("%pS: inside an instruction\n", (void *)addr);
		return -EILSEQ;
	}

	last_scan.serial = fn->serial;
	last_scan.addr = addr;
	last_scan.before = *scan;

	return scan_insn(scan, &window, addr, end);
}

static int check_insn(struct kprobe *p, struct scan *scan)
{
	const char *why = kprobe_refusal_reason(scan->insn);

	if (!why && scan->reserved)
		why = "between load-reserved and store-conditional";
	if (!why)
		return 0;

	pr_debug("%pS: %s\n", p->addr, why);

	return -EOPNOTSUPP;
}

/* In front of a function that is called by pointers is a word with its type. */
static bool is_type_hash(unsigned long addr)
{
	unsigned long offset, end = addr + sizeof(u32);

	if (!IS_ENABLED(CONFIG_CFI_CLANG))
		return false;

	while ((addr += sizeof(u16)) <= end) {
		if (kallsyms_lookup_size_offset(addr, NULL, &offset) && !offset)
			return true;
	}

	return false;
}

int arch_prepare_kprobe(struct kprobe *p)
{
	struct scan scan = {};
	int ret;

	lockdep_assert_held(&text_mutex);

	if (is_type_hash((unsigned long)p->addr)) {
		pr_debug("%pS: in the data before a function\n", p->addr);
		return -EINVAL;
	}

	ret = scan_to(&scan, (unsigned long)p->addr);
	if (ret)
		return ret;

	ret = check_insn(p, &scan);
	if (ret)
		return ret;

	p->opcode = scan.insn;
	memset(&p->ainsn, 0, sizeof(p->ainsn));
	if (kprobe_is_ftrace_site((unsigned long)p->addr))
		p->ainsn.api.handler = kprobe_emulate_site;
	else
		p->ainsn.api.handler = kprobe_find_kernel_emulation(p->opcode);

	return p->ainsn.api.handler ? 0 : kprobe_prepare_copy(p);
}

void arch_remove_kprobe(struct kprobe *p)
{
	kprobe_remove_copy(p);
}
