// SPDX-License-Identifier: GPL-2.0-only
/* Maps between the probed code and a detour. */
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>

#include "detour.h"

/**
 * kprobe_detour_leave_copy() - move a fault in a detour's copy to the probed instruction
 * @regs: registers at the fault, in the kernel
 *
 * Context: An exception, before anything is done about it.
 * Return: whether it was the copy behind which a post_handler waits.
 */
bool kprobe_detour_leave_copy(struct pt_regs *regs)
{
	struct detour *d = (struct detour *)kprobe_optinsn_slot_of(regs->pc);
	unsigned long pc = regs->pc;

	if (likely(!d))
		return false;

	if (pc >= (unsigned long)(d->copy + UNFRAME) && pc < (unsigned long)d->post) {
		regs->pc = op_addr(d->op);
	} else if (pc == (unsigned long)(d->post + UNFRAME)) {
		regs->pc = op_addr(d->op);
		return true;
	}

	return false;
}

NOKPROBE_SYMBOL(kprobe_detour_leave_copy);
