// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preparing a probe: is its address the start of an instruction, may that be probed, and
 * how will a hit execute it?
 */
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/uaccess.h>
#include <asm/alternative.h>
#include <asm/ibt.h>

#include "copy.h"

unsigned int arch_kprobe_insn_bytes(u8 *buf, unsigned long addr, unsigned long end)
{
	struct insn insn;

	return kprobe_decode_original(&insn, buf, addr, end) ? 0 : insn.length;
}

/* Decode the instruction at @addr, if one of its function starts there. */
static int decode_probed(struct insn *insn, u8 *buf, unsigned long addr)
{
	struct kprobe_function *fn = kprobe_function_of(addr);
	unsigned long at;
	int ret;

	if (!fn)
		return kprobe_refuse(-EILSEQ, (void *)addr, "not in a function");

	/* Start at the instruction decoded last, if the probe is not before it. */
	at = fn->decoded <= addr ? fn->decoded : fn->start;
	for (; at < addr; at += insn->length) {
		ret = kprobe_decode_text(insn, buf, at, fn->end);
		if (ret)
			return ret;
	}
	if (at > addr)
		return kprobe_refuse(-EILSEQ, (void *)addr, "inside an instruction");

	ret = kprobe_decode_original(insn, buf, addr, fn->end);
	if (!ret)
		fn->decoded = addr;

	return ret;
}

int arch_prepare_kprobe(struct kprobe *p)
{
	u8 buf[MAX_INSN_SIZE];
	struct insn insn;
	const char *why;
	int ret;

	lockdep_assert_held(&text_mutex);

	ret = decode_probed(&insn, buf, (unsigned long)p->addr);
	if (ret)
		return ret;

	if (IS_ENABLED(CONFIG_KPROBES_CFI) && kprobe_in_cfi_check((unsigned long)p->addr))
		return kprobe_refuse(-EINVAL, p->addr, "part of a type check");
	/*
	 * A lock prefix is patched in and out with the second CPU; 0x3e, which has no effect,
	 * replaces it.
	 */
	if ((kprobe_insn_has_prefix(&insn, 0xf0) || kprobe_insn_has_prefix(&insn, 0x3e)) &&
	    alternatives_text_reserved(p->addr, p->addr + 1))
		return kprobe_refuse(-EINVAL, p->addr, "rewritten for one CPU or several");
	why = kprobe_refusal_reason(&insn);
	if (why)
		return kprobe_refuse(-EOPNOTSUPP, p->addr, why);

	p->opcode = buf[0];
	p->ainsn.size = insn.length;

	ret = kprobe_prepare_emulation(p, &insn);

	return ret ?: kprobe_prepare_copy(p, &insn);
}

/*
 * A function that may be the target of an indirect branch begins with ENDBR, and the
 * probe goes behind that: the function's own address and the one behind ENDBR are both
 * its entry.
 */
kprobe_opcode_t *arch_adjust_kprobe_addr(unsigned long addr, unsigned long offset,
					 bool *on_func_entry)
{
	u32 insn;

	/* The user supplied the address, so it may be invalid. */
	if (IS_ENABLED(CONFIG_X86_KERNEL_IBT) && (offset == 0 || offset == ENDBR_INSN_SIZE) &&
	    !get_kernel_nofault(insn, (u32 *)addr) && __is_endbr(insn)) {
		*on_func_entry = true;
		return (kprobe_opcode_t *)(addr + ENDBR_INSN_SIZE);
	}

	*on_func_entry = !offset;

	return (kprobe_opcode_t *)(addr + offset);
}
