// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return probes: diverting a function's return, and what happens when it comes
 * in at __kretprobe_trampoline, see entry.S.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <asm/cpufeature.h>
#include <asm/debug-monitors.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>

#include "common.h"

/*
 * Returns twice: when it has saved the state, and when the CPU has woken up. The others
 * do not return then, or do so while the CPU is idle to RCU.
 */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
#ifdef CONFIG_CPU_PM
	{ "__cpu_suspend_enter" },
	{ "psci_0_1_cpu_suspend" },
	{ "psci_0_2_cpu_suspend" },
	{ "psci_system_suspend" },
	{ "__invoke_psci_fn_smc" },
	{ "__invoke_psci_fn_hvc" },
	{ "__arm_smccc_smc" },
	{ "__arm_smccc_hvc" },
#endif
	{}
};

const int kretprobe_blacklist_size = ARRAY_SIZE(kretprobe_blacklist);

/*
 * At a function's entry the return address is in the link register, not signed
 * yet, and the frame record is the caller's; unwinders tell frames by that.
 */
void arch_prepare_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	ri->fp = (void *)regs->regs[29];
	ri->ret_addr = (kprobe_opcode_t *)procedure_link_pointer(regs);
	procedure_link_pointer_set(regs, (unsigned long)__kretprobe_trampoline);
}

NOKPROBE_SYMBOL(arch_prepare_kretprobe);

/* The trampoline has saved the registers. */
asmlinkage unsigned long kretprobe_trampoline_return(struct pt_regs *regs)
{
	regs->orig_x0 = ~0UL;
	regs->syscallno = NO_SYSCALL;
	if (system_uses_irq_prio_masking())
		regs->pmr_save = read_sysreg_s(SYS_ICC_PMR_EL1);

	return kretprobe_trampoline_handler(regs, (void *)regs->regs[29]);
}

NOKPROBE_SYMBOL(kretprobe_trampoline_return);

/* The trampoline has no breakpoint. */
int kretprobe_brk_handler(struct pt_regs *regs, unsigned long esr)
{
	return DBG_HOOK_ERROR;
}

NOKPROBE_SYMBOL(kretprobe_brk_handler);

/* Nor is it a probe. */
int arch_trampoline_kprobe(struct kprobe *p)
{
	return 0;
}

NOKPROBE_SYMBOL(arch_trampoline_kprobe);
