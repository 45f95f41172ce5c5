// SPDX-License-Identifier: GPL-2.0-only
/*
 * An address in a copy or a detour stands for one in the probed code.
 *
 * A fault in a copy is reported at the original address, because the exception
 * table lists that one, and because a task must not sleep in a copy until a page
 * arrives. If the fault is retried, the task hits the breakpoint again.
 */
#include <linux/cleanup.h>
#include <linux/preempt.h>

#include "common.h"

/* Where in a slot, a copy's or a detour's, an address is. */
enum kprobe_part {
	PART_NONE,		/* in no slot */
	PART_BEFORE,		/* before the probed instruction */
	PART_COPY,		/* the instruction itself */
	PART_POST_COPY,		/* its copy with which the hit goes on, to call post_handlers */
	PART_AFTER,		/* after it */
};

/* As part_at(), when @pc is in no slot of a copy. */
static enum kprobe_part part_of_detour(unsigned long pc, unsigned long *addr)
{
	struct detour *d = (struct detour *)kprobe_optinsn_slot_of(pc);

	if (likely(!d))
		return PART_NONE;

	*addr = (unsigned long)d->op->kp.addr;
	if (pc < (unsigned long)(d->copy + RELEASE_INSNS))
		return PART_BEFORE;
	if (pc < (unsigned long)d->post)
		return PART_COPY;
	if (pc < (unsigned long)(d->post + RELEASE_INSNS))
		return PART_BEFORE;

	return pc == (unsigned long)(d->post + RELEASE_INSNS) ? PART_POST_COPY : PART_AFTER;
}

NOKPROBE_SYMBOL(part_of_detour);

/* Return what is at @pc, and in @addr the address of the probe that it belongs to, if to one. */
static enum kprobe_part part_at(unsigned long pc, unsigned long *addr)
{
	struct slot *slot = kprobe_insn_slot_at(pc);

	if (!is_kprobe_insn_slot(pc))
		return part_of_detour(pc, addr);
	*addr = slot->addr;
	if (pc == (unsigned long)slot->back)
		return PART_COPY;

	return pc == (unsigned long)slot->post ? PART_POST_COPY : PART_AFTER;
}

NOKPROBE_SYMBOL(part_at);

/**
 * arch_kprobe_insn_ip() - translate an address in a copy or a detour to the original
 * @pc: an address, which may be stale
 *
 * Context: Any.
 * Return: the address of the instruction that is executed at @pc, or before or after which
 * what is there is; @pc itself elsewhere.
 */
unsigned long arch_kprobe_insn_ip(unsigned long pc)
{
	unsigned long addr = pc;

	/* An unwinder asks about each frame. */
	if (likely(!kprobe_slots_span(pc)))
		return pc;

	/* Slots that a stale @pc is in may be freed concurrently. */
	guard(preempt_notrace)();

	return part_at(pc, &addr) == PART_AFTER ? addr + AARCH64_INSN_SIZE : addr;
}

NOKPROBE_SYMBOL(arch_kprobe_insn_ip);

/*
 * A fault ends the hit whose second copy runs, at regs->pc. The exception's entry has
 * inherited the copy's mask; inherit the probed code's. local_daif_mask() comes first since the
 * copy masked interrupts by DAIF, while lockdep looks at the priority mask where there is one.
 */
static void leave_post_copy(struct pt_regs *regs)
{
	restore_daif(regs);
	kprobe_hit_end(true);
	regs->orig_x0 = kprobe_fault_mark(regs, regs->pc);
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
	unsigned long addr;
	enum kprobe_part part = part_at(regs->pc, &addr);

	/* Nothing else there has a fixup. */
	if (part != PART_COPY && part != PART_POST_COPY)
		return;

	regs->pc = addr;
	/* An earlier fault may have left its mark on the stack. */
	regs->orig_x0 = 0;
	if (part == PART_POST_COPY)
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
	if (likely(regs->orig_x0 != kprobe_fault_mark(regs, pc)))
		return;

	regs->orig_x0 = 0;
	kprobe_hit_fixed_up(pc, regs, 0);
}

NOKPROBE_SYMBOL(arch_kprobe_fixed_up);
