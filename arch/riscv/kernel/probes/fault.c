// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fault handlers: they see addresses of the probed code, not those of its copies in
 * a detour.
 */
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>

#include "common.h"

/* Unlike arch_kprobe_leave_copy(), move a fault whether or not it has a fixup. */
void arch_kprobe_leave_detour(struct pt_regs *regs)
{
	regs->epc = kprobe_detour_insn_pc(regs->epc);
}

NOKPROBE_SYMBOL(arch_kprobe_leave_detour);

/* A fault handler has set the address to continue at, perhaps inside a region. */
void arch_kprobe_resume(struct pt_regs *regs)
{
	kprobe_detour_enter(regs);
}

NOKPROBE_SYMBOL(arch_kprobe_resume);
