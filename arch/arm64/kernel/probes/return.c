// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return probes: diverting a function's return to __kretprobe_trampoline in entry.S,
 * and handling it there.
 */
#include <linux/cleanup.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <asm/debug-monitors.h>

#include "common.h"

/*
 * __cpu_suspend_enter() returns twice: after it has saved the state, and after the CPU has
 * woken up. The others do not return when the CPU wakes up, or return while RCU does not watch.
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
 * At a function's entry the link register holds the return address, not signed yet,
 * and x29 points to the caller's frame record, by which unwinders identify a frame.
 */
void arch_prepare_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	ri->fp = (void *)regs->regs[29];
	ri->ret_addr = (kprobe_opcode_t *)procedure_link_pointer(regs);
	procedure_link_pointer_set(regs, (unsigned long)__kretprobe_trampoline);
}

NOKPROBE_SYMBOL(arch_prepare_kretprobe);

/* Put the address into the trampoline's frame record. */
void arch_kretprobe_fixup_return(struct pt_regs *regs, kprobe_opcode_t *correct_ret_addr)
{
	kprobe_regs_frame_lr(regs) = (unsigned long)correct_ret_addr;
}

NOKPROBE_SYMBOL(arch_kretprobe_fixup_return);

static noinline unsigned long return_to_vectors(struct pt_regs *regs)
{
	guard(irqsave)();

	return kretprobe_trampoline_handler(regs, (void *)regs->regs[29]);
}

NOKPROBE_SYMBOL(return_to_vectors);

static __always_inline unsigned long handle_return(struct pt_regs *regs)
{
	if (unlikely(kprobe_vectors_in_use()))
		return return_to_vectors(regs);

	return kretprobe_trampoline_handler(regs, (void *)regs->regs[29]);
}

/*
 * User memory may be open where TTBR0 emulates PAN, as in __arch_copy_from_user(). Close it to
 * handlers and to other tasks, as kprobe_detour_hit() does.
 */
static noinline unsigned long return_without_pan(struct pt_regs *regs)
{
	bool open = kprobe_close_user_memory(regs);
	unsigned long ret = handle_return(regs);

	kprobe_reopen_user_memory(open);

	return ret;
}

NOKPROBE_SYMBOL(return_without_pan);

/* The trampoline calls this after it has saved the registers. */
asmlinkage unsigned long kretprobe_trampoline_return(struct pt_regs *regs)
{
	regs->orig_x0 = ~0UL;
	regs->syscallno = NO_SYSCALL;
	if (system_uses_irq_prio_masking())
		kprobe_regs_pmr(regs) = read_sysreg_s(SYS_ICC_PMR_EL1);
	if (system_uses_ttbr0_pan())
		return return_without_pan(regs);

	return handle_return(regs);
}

NOKPROBE_SYMBOL(kretprobe_trampoline_return);

/* The trampoline has no breakpoint. */
int kretprobe_brk_handler(struct pt_regs *regs, unsigned long esr)
{
	return DBG_HOOK_ERROR;
}

NOKPROBE_SYMBOL(kretprobe_brk_handler);
