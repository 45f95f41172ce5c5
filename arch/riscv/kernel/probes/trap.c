// SPDX-License-Identifier: GPL-2.0-only
/*
 * Breakpoint handling: the hit of a probe.
 *
 * A hit calls the pre_handler and then executes the instruction in one of two
 * ways, chosen when the probe was prepared: it emulates it, or runs a copy with
 * an ebreak after it. The second trap is needed because the original is too far
 * away for a jump that overwrites no register. While the region of a jump is
 * fenced, a hit without a post_handler continues at the copies in the detour instead.
 */
#include <linux/export.h>
#include <linux/preempt.h>
#include <asm/cacheflush.h>

#include "common.h"

/* may_use_simd() reads it in modules. */
EXPORT_PER_CPU_SYMBOL(current_kprobe);

#define arch_hit_redirected	kprobe_detour_enter

static __always_inline bool arch_hit_detour(struct kprobe *p, struct pt_regs *regs)
{
	if (!kprobe_is_fenced(p))
		return false;

	regs->epc = detour_copies(optinsn_of(p));

	return true;
}

/* ftrace may change the instruction at its site: pairs with arch_kprobe_site_write(). */
static __always_inline bool arch_hit_emulate(struct kprobe *p, struct pt_regs *regs)
{
	probes_handler_t *handler = p->ainsn.api.handler;

	if (!handler)
		return false;
	handler(READ_ONCE(*emulated_insn(p)), (unsigned long)p->addr, regs);

	return true;
}

#include <linux/kprobes_hit.h>

/*
 * Handle a breakpoint that is not at a probe; return false if it has nothing to do with one.
 *
 * Text changes only while all CPUs are stopped, but an emulator may have kept its
 * translation of a breakpoint that was removed. Then flush, and execute the text.
 */
static noinline bool breakpoint_elsewhere(struct pt_regs *regs)
{
	if (kprobe_end_of_copy(regs))
		return true;
	if (kprobe_detour_elsewhere(regs)) {
		/* In code that uses vector registers the hit begins only now. */
		if (kprobe_vectors_in_use() && get_kprobe((kprobe_opcode_t *)regs->epc))
			kprobe_breakpoint_handler(regs);
		else
			kprobe_detour_enter(regs);
		return true;
	}
	if (kprobe_detour_enter(regs))
		return true;
	if (kprobe_text_is_ebreak(regs->epc))
		return false;
	local_flush_icache_all();

	return true;
}

NOKPROBE_SYMBOL(breakpoint_elsewhere);

/**
 * kprobe_breakpoint_handler() - handle a breakpoint that may be a probe's
 * @regs: registers at the trap, epc at the breakpoint
 *
 * Context: The breakpoint exception in the kernel, as in an NMI.
 * Return: true when the trap has been handled, false when it belongs to no probe.
 */
bool kprobe_breakpoint_handler(struct pt_regs *regs)
{
	struct kprobe *p = get_kprobe((kprobe_opcode_t *)regs->epc);

	if (unlikely(!p))
		return breakpoint_elsewhere(regs);

	/* The breakpoint may fence a jump that is to begin here, at a disabled probe. */
	if (IS_ENABLED(CONFIG_PREEMPTION) && unlikely(kprobe_disabled(p)) &&
	    kprobe_detour_enter(regs))
		return true;

	hit_breakpoint(p, regs);

	return true;
}

NOKPROBE_SYMBOL(kprobe_breakpoint_handler);
