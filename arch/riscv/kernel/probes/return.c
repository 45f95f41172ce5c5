// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return probes: diverting a function's return, and what happens when it comes
 * in at __kretprobe_trampoline, see entry.S.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>

#include "common.h"

/*
 * One returns on another stack than it was called on, the next once more at resume. The
 * others do not return then, or do so while the CPU is idle to RCU.
 */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
	{ "__switch_to" },
#ifdef CONFIG_CPU_PM
	{ "__cpu_suspend_enter" },
	{ "suspend_save_csrs" },
	{ "riscv_sbi_hart_suspend" },
	{ "sbi_suspend_finisher" },
	{ "sbi_system_suspend" },
	{ "__sbi_ecall" },
#endif
};

const int kretprobe_blacklist_size = ARRAY_SIZE(kretprobe_blacklist);

/*
 * At a function's entry its return address is in ra. The stack pointer tells
 * calls apart: it is where the frame pointer of the function will point, and what
 * the stack pointer is again when it returns.
 */
void arch_prepare_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	ri->ret_addr = (kprobe_opcode_t *)regs->ra;
	ri->fp = (void *)regs->sp;
	regs->ra = (unsigned long)__kretprobe_trampoline;
}

NOKPROBE_SYMBOL(arch_prepare_kretprobe);

/*
 * What preempts a task in which the kernel uses vector registers has to be an exception,
 * which keeps them.
 */
static noinline unsigned long return_to_vectors(struct pt_regs *regs)
{
	unsigned long ret;

	preempt_disable_notrace();
	ret = __kretprobe_trampoline_handler(regs, (void *)regs->sp);
	preempt_enable_no_resched_notrace();

	return ret;
}

NOKPROBE_SYMBOL(return_to_vectors);

__visible unsigned long kretprobe_trampoline_return(struct pt_regs *regs)
{
	if (unlikely(kprobe_vectors_in_use()))
		return return_to_vectors(regs);

	return kretprobe_trampoline_handler(regs, (void *)regs->sp);
}

NOKPROBE_SYMBOL(kretprobe_trampoline_return);

/* The trampoline is no probe. */
int arch_trampoline_kprobe(struct kprobe *p)
{
	return 0;
}

NOKPROBE_SYMBOL(arch_trampoline_kprobe);
