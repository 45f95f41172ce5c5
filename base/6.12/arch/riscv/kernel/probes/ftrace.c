// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sharing the ftrace site of a function with ftrace.
 *
 * An ftrace site is the first 8 bytes of a function, two instructions: nops, or
 * auipc and jalr, which call ftrace with t0 as the link register. ftrace always
 * writes both of them. A probe on the entry has its breakpoint on the first. Its
 * opcode then holds ftrace's first instruction: ftrace reads and writes the first
 * there and the second in the text, while all CPUs are stopped. A hit emulates the
 * first, nop or auipc, and continues at the second instruction. So the probe and
 * ftrace can each come and go while the other is there.
 *
 * Functions that write text may be probed themselves, at their own sites, and be hit
 * while they write. The halves of the old and the new call must not be combined, so the
 * second instruction is a nop in the meantime.
 *
 * The jump of an optimized probe covers both instructions. Its optinsn keeps them then,
 * and its detour ends with ftrace's call, or with a jump behind the site.
 */
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <asm/kprobes_base.h>

#include "common.h"

/**
 * arch_kprobe_site_read() - hide the probe at a site from ftrace
 * @site: address of the site
 * @insns: its two instructions as read from the text; gets ftrace's
 *
 * Context: text_mutex held, or all other CPUs stopped by its holder.
 */
notrace void arch_kprobe_site_read(unsigned long site, u32 *insns)
{
	struct kprobe *p;

	guard(preempt_notrace)();
	p = get_kprobe((kprobe_opcode_t *)site);
	if (likely(!p))
		return;

	insns[0] = p->opcode;
	if (optinsn_of(p)->jump)
		memcpy(insns, optinsn_of(p)->original, MAX_OPTIMIZED_LENGTH);
}

NOKPROBE_SYMBOL(arch_kprobe_site_read);

/* Overwrite the second instruction of a site with a nop. */
static notrace void clear_second(unsigned long site)
{
	const u32 nop = 0x00000013;

	WARN_ON_ONCE(patch_insn_write((void *)site + sizeof(nop), &nop, sizeof(nop)));
}

NOKPROBE_SYMBOL(clear_second);

/*
 * ftrace is about to write @insns to its site, while no task is in the detour.
 * If the site has a jump, return true with the jump in @insns, so that ftrace rewrites it.
 */
static notrace bool site_write_detour(struct kprobe *p, u32 *insns)
{
	struct arch_optimized_insn *optinsn = optinsn_of(p);
	unsigned long addr = (unsigned long)p->addr;
	u8 *end;
	u32 jump[2];

	if (!optinsn->site || !optinsn->insn)
		return false;

	memcpy(optinsn->original, insns, MAX_OPTIMIZED_LENGTH);
	end = detour_of(optinsn)->code + SITE_JUMP;
	WARN_ON_ONCE(!kprobe_make_site_jump(jump, (unsigned long)end, addr, insns));
	WARN_ON_ONCE(patch_insn_write(end, jump, sizeof(jump)));
	if (!optinsn->jump)
		return false;

	kprobe_detour_fill_jump(p, insns);

	return true;
}

NOKPROBE_SYMBOL(site_write_detour);

/**
 * arch_kprobe_site_write() - keep the probe at a site while ftrace writes it
 * @site: address of the site
 * @insns: the two instructions that ftrace wants there; the first is replaced by
 *	a breakpoint if the probe has one there, or both by a jump
 *
 * Context: text_mutex held, or all other CPUs stopped by its holder.
 */
notrace void arch_kprobe_site_write(unsigned long site, u32 *insns)
{
	const u32 first = insns[0];
	struct kprobe *p;

	guard(preempt_notrace)();
	p = get_kprobe((kprobe_opcode_t *)site);
	if (likely(!p))
		return;

	if (!site_write_detour(p, insns) && kprobe_text_is_ebreak(site)) {
		clear_second(site);
		insns[0] = __BUG_INSN_32;
	}
	p->opcode = first;
	/* Pairs with READ_ONCE() in arch_hit_emulate(). */
	WRITE_ONCE(*emulated_insn(p), first);
}

NOKPROBE_SYMBOL(arch_kprobe_site_write);

/*
 * Return whether @addr is the first instruction of a site. ftrace_location() would be slow:
 * it also looks up a symbol, among all those of a module.
 */
bool kprobe_is_ftrace_site(unsigned long addr)
{
#ifdef CONFIG_DYNAMIC_FTRACE
	return ftrace_location_range(addr, addr) == addr;
#else
	return false;
#endif
}
