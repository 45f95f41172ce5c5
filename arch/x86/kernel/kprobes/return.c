// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return probes: diverting a function's return, and what happens when it comes
 * in at __kretprobe_trampoline, see entry.S.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>

#include "common.h"

/* Returns on another stack than it was called on. */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
	{ "__switch_to" },
};

const int kretprobe_blacklist_size = ARRAY_SIZE(kretprobe_blacklist);

/* At a function's entry the return address is on top of the stack. */
void arch_prepare_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long *slot = (unsigned long *)regs->sp;

	ri->ret_addr = (kprobe_opcode_t *)*slot;
	ri->fp = slot;
	*slot = (unsigned long)__kretprobe_trampoline;
}

NOKPROBE_SYMBOL(arch_prepare_kretprobe);

/* The place of the return address is the first behind the saved registers. */
__visible unsigned long kretprobe_trampoline_return(struct pt_regs *regs)
{
	return kretprobe_trampoline_handler(regs, regs + 1);
}

NOKPROBE_SYMBOL(kretprobe_trampoline_return);

/* The trampoline is no probe. */
int arch_trampoline_kprobe(struct kprobe *p)
{
	return 0;
}

NOKPROBE_SYMBOL(arch_trampoline_kprobe);
