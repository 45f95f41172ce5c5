// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instruction that a probe shares with ftrace.
 *
 * An ftrace site is the first 8 bytes of a function, two instructions: nops, or
 * auipc and jalr, which call ftrace with t0 as the link register. ftrace always
 * writes both of them. A probe on the entry has its breakpoint on the first,
 * which is then in the probe's opcode: ftrace reads and writes it there, and the
 * second instruction in the text, all with the CPUs standing still. A hit does
 * the first instruction as it is at that time, nop or auipc, and goes on at the
 * second. So each of the two can come and go while the other is there.
 *
 * What writes text may be probed itself, and then it is hit while it does that. Half
 * of the call that was there must not meet half of the one to come: in between the
 * second instruction is a nop.
 *
 * A probe's jump takes both. Then both are kept with its detour, which ends in
 * what ftrace wants there.
 */
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <asm/patch.h>

#include "common.h"

/**
 * arch_kprobe_site_read() - what ftrace would find at a site without the probe
 * @site: address of the site
 * @insns: its two instructions, as read from the text
 *
 * Context: text_mutex held, or all other CPUs stopped by who holds it.
 */
notrace void arch_kprobe_site_read(unsigned long site, u32 *insns)
{
	struct kprobe *p;

	guard(preempt_notrace)();
	p = get_kprobe((kprobe_opcode_t *)site);
	if (likely(!p))
		return;

	insns[0] = p->opcode;
	kprobe_detour_site_read(p, insns);
}

NOKPROBE_SYMBOL(arch_kprobe_site_read);

/* Leave the second instruction of a site without effect. */
static notrace void clear_second(unsigned long site)
{
	const u32 nop = 0x00000013;

	WARN_ON_ONCE(patch_insn_write((void *)site + sizeof(nop), &nop, sizeof(nop)));
}

NOKPROBE_SYMBOL(clear_second);

/**
 * arch_kprobe_site_write() - what ftrace is to write to a site with the probe
 * @site: address of the site
 * @insns: the two instructions that ftrace wants there; the first is replaced by
 *	a breakpoint when the probe has one there, and both by a jump
 *
 * Context: text_mutex held, or all other CPUs stopped by who holds it.
 */
notrace void arch_kprobe_site_write(unsigned long site, u32 *insns)
{
	const u32 first = insns[0];
	struct kprobe *p;

	guard(preempt_notrace)();
	p = get_kprobe((kprobe_opcode_t *)site);
	if (likely(!p))
		return;

	if (!kprobe_detour_site_write(p, insns) && kprobe_text_is_ebreak(site)) {
		clear_second(site);
		insns[0] = __BUG_INSN_32;
	}
	/* Hits see it from here on. */
	WRITE_ONCE(p->opcode, first);
}

NOKPROBE_SYMBOL(arch_kprobe_site_write);

/* The first instruction of the site, of which a hit sees what it is by then. */
bool kprobe_emulate_site(u32 insn, unsigned long addr, struct pt_regs *regs)
{
	return kprobe_find_kernel_emulation(insn)(insn, addr, regs);
}

NOKPROBE_SYMBOL(kprobe_emulate_site);

/*
 * Is @addr the first instruction of a site? ftrace_location() would look for a symbol as
 * well, among all those of a module.
 */
bool kprobe_is_ftrace_site(unsigned long addr)
{
#ifdef CONFIG_DYNAMIC_FTRACE
	return ftrace_location_range(addr, addr) == addr;
#else
	return false;
#endif
}
