// SPDX-License-Identifier: GPL-2.0-only
/* Fault handlers see only the probed code, not its copies in a detour. */
#include <linux/kprobes.h>

#include "detour.h"

/* Unlike arch_kprobe_leave_copy(), move a fault whether or not it has a fixup. */
void arch_kprobe_leave_detour(struct pt_regs *regs)
{
	kprobe_detour_leave_copy(regs, true);
}

NOKPROBE_SYMBOL(arch_kprobe_leave_detour);

/* A fault handler has set the instruction at which to continue. */
void arch_kprobe_resume(struct pt_regs *regs)
{
	kprobe_detour_enter(regs->ip, regs);
}

NOKPROBE_SYMBOL(arch_kprobe_resume);
