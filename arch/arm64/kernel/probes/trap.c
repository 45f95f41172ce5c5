// SPDX-License-Identifier: GPL-2.0-only
/*
 * Breakpoint handling: the hit of a probe.
 *
 * A hit calls the pre_handler and then executes the instruction in one of three
 * ways: it emulates it; it runs a copy that branches back after the original;
 * or, if there is a post_handler, it runs a copy with a call after it, or a second
 * breakpoint where a call does not reach. The preparation of the probe and the
 * members' handlers decide which. No instruction is single-stepped.
 */
#include <linux/export.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <asm/barrier.h>
#include <asm/debug-monitors.h>

#include "common.h"

/* may_use_simd() reads it in modules. */
EXPORT_PER_CPU_SYMBOL(current_kprobe);

/* The handler's target was not reached by an indirect branch. */
static __always_inline void arch_hit_redirected(struct pt_regs *regs)
{
	clear_btype(regs);
}

/* The region of a jump is one instruction, so no other breakpoint can be in it. */
static __always_inline bool arch_hit_detour(struct kprobe *p, struct pt_regs *regs)
{
	return false;
}

/* Nor can the place be in one where a hit continues. */
#define kprobe_finish_and_follow	kprobe_hit_finish

/* BTI lets an indirect branch land on the breakpoint, which thus consumes BTYPE. */
static __always_inline bool arch_hit_emulate(struct kprobe *p, struct pt_regs *regs)
{
	probes_handler_t *emulate = p->ainsn.api.handler;

	clear_btype(regs);
	if (!emulate)
		return false;
	emulate(p->opcode, (long)p->addr, regs);

	return true;
}

#include <linux/kprobes_hit.h>

/*
 * No probe was found at @addr. If its breakpoint was removed after this CPU fetched
 * it, or a probe came since, execute the text as it is now. A probe may also come and
 * go between the two checks, but hardly in every try.
 */
static bool text_has_changed(unsigned long addr)
{
	int tries;

	for (tries = 0; tries < 10; tries++) {
		if (!kprobe_text_is_brk(addr))
			return true;
		/* Read text before the table: a probe is in the table before it is armed. */
		smp_rmb();
		if (get_kprobe((kprobe_opcode_t *)addr))
			return true;
	}

	return false;
}

NOKPROBE_SYMBOL(text_has_changed);

/**
 * kprobe_brk_handler() - handle a breakpoint that may be a probe's
 * @regs: registers at the trap, pc at the breakpoint
 * @esr: syndrome of the exception
 *
 * Context: The exception, as in an NMI.
 * Return: %DBG_HOOK_HANDLED, or %DBG_HOOK_ERROR when it belongs to no probe.
 */
int kprobe_brk_handler(struct pt_regs *regs, unsigned long esr)
{
	struct kprobe *p = get_kprobe((kprobe_opcode_t *)regs->pc);

	if (unlikely(!p))
		return text_has_changed(regs->pc) ? DBG_HOOK_HANDLED : DBG_HOOK_ERROR;

	hit_breakpoint(p, regs);

	return DBG_HOOK_HANDLED;
}

NOKPROBE_SYMBOL(kprobe_brk_handler);
