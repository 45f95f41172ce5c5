// SPDX-License-Identifier: GPL-2.0-only
/*
 * An address in a copy or a detour stands for one in the probed code.
 *
 * A fault in a copy is reported at the original address, because the exception
 * table lists that one, and because a task must not sleep in a copy until a page
 * arrives. If the fault is retried, the task hits the breakpoint again.
 */
#include <linux/cleanup.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/preempt.h>
#include <asm/daifflags.h>

#include "copy.h"
#include "detour.h"

/* Mark for orig_x0, unused in kernel exceptions: this fault ended a hit at @pc. */
static unsigned long fault_mark(const struct pt_regs *regs, unsigned long pc)
{
	return (unsigned long)regs ^ pc;
}

NOKPROBE_SYMBOL(fault_mark);

/*
 * A fault ends the hit whose second copy runs, at regs->pc. The exception's entry has
 * inherited the copy's mask; inherit the probed code's. local_daif_mask() comes first since the
 * copy masked interrupts by DAIF, while lockdep looks at the priority mask where there is one.
 */
static void leave_post_copy(struct pt_regs *regs)
{
	restore_daif(regs);
	kprobe_hit_end(true);
	regs->orig_x0 = fault_mark(regs, regs->pc);
	local_daif_mask();
	local_daif_inherit(regs);
}

NOKPROBE_SYMBOL(leave_post_copy);

/**
 * arch_kprobe_leave_copy() - move a fault in a copy to the probed instruction
 * @regs: registers at the fault, in the kernel
 *
 * Context: An exception, before anything is done about it.
 */
void arch_kprobe_leave_copy(struct pt_regs *regs)
{
	struct slot *slot = kprobe_insn_slot_at(regs->pc);
	unsigned long pc = regs->pc;

	if (kprobe_detour_leave_copy(regs))
		leave_post_copy(regs);
	if (likely(!is_kprobe_insn_slot(pc)))
		return;

	/* The branch and the breakpoints behind a copy do not fault. */
	if (pc != (unsigned long)slot->back && pc != (unsigned long)slot->post)
		return;

	regs->pc = slot->addr;
	if (pc == (unsigned long)slot->post)
		leave_post_copy(regs);
}

NOKPROBE_SYMBOL(arch_kprobe_leave_copy);

/**
 * arch_kprobe_fixed_up() - call the post_handler of a probe whose fault was fixed up
 * @regs: registers after the fixup
 * @pc: instruction that faulted, not its copy
 *
 * The fixup ends the instruction as far as the probed code is concerned. Not every fault
 * there was a hit: the task may have slept in it while the breakpoint was written.
 *
 * Context: An exception.
 */
void arch_kprobe_fixed_up(struct pt_regs *regs, unsigned long pc)
{
	struct kprobe *p;

	if (likely(regs->orig_x0 != fault_mark(regs, pc)))
		return;

	regs->orig_x0 = 0;
	guard(preempt_notrace)();
	p = get_kprobe((kprobe_opcode_t *)pc);
	if (p)
		kprobe_hit_fixed_up(p, regs, 0);
}

NOKPROBE_SYMBOL(arch_kprobe_fixed_up);
