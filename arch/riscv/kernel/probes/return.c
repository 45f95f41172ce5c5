// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return probes: diverting a function's return to __kretprobe_trampoline in entry.S,
 * and handling it there.
 */
#include <linux/cleanup.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <asm/stacktrace.h>

#include "common.h"

/*
 * __switch_to() returns on another stack than it was called on, and __cpu_suspend_enter()
 * returns again at resume. The others do not return at a resume, or return while RCU does not
 * watch.
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
 * At a function's entry ra holds the return address. The stack pointer identifies
 * the call: the frame pointer of the function will have the same value, and so will
 * the stack pointer when it returns.
 */
void arch_prepare_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	ri->ret_addr = (kprobe_opcode_t *)regs->ra;
	ri->fp = (void *)regs->sp;
	regs->ra = (unsigned long)__kretprobe_trampoline;
}

NOKPROBE_SYMBOL(arch_prepare_kretprobe);

/* Put the address into the trampoline's frame record, the last of what it has on the stack. */
void arch_kretprobe_fixup_return(struct pt_regs *regs, kprobe_opcode_t *correct_ret_addr)
{
	void *record = (void *)regs + ALIGN(sizeof(*regs), STACK_ALIGN);

	record += ALIGN(sizeof(struct stackframe), STACK_ALIGN) - sizeof(struct stackframe);
	((struct stackframe *)record)->ra = (unsigned long)correct_ret_addr;
}

NOKPROBE_SYMBOL(arch_kretprobe_fixup_return);

/*
 * Do not preempt at the end: if the kernel uses vector registers in this task, only an
 * exception saves them when it preempts the task. With interrupts off may_use_simd() tells
 * handlers not to use them.
 */
static noinline unsigned long return_to_vectors(struct pt_regs *regs)
{
	unsigned long ret;

	guard(irqsave)();
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
