// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fault handlers: the user of a probe decides about a fault that nothing else handles.
 *
 * The fault is either one of a handler, and each CPU records whose handler it runs, or
 * one of a probed instruction, and the architecture maps the copy to the original. A
 * fault with a fixup in the exception table, as in copy_from_kernel_nofault(), is left to
 * that.
 */
#include <linux/extable.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/rculist.h>

#include "internal.h"

/* The probe whose handler runs on this CPU, NULL when none does. */
DEFINE_PER_CPU(struct kprobe *, kprobe_fault_member);

static bool fault_ask(struct kprobe *kp, struct pt_regs *regs, int trapnr)
{
	kprobe_fault_handler_t handler = kp ? READ_ONCE(kp->fault_handler) : NULL;
	struct kprobe *before;
	bool dealt_with;

	if (!handler)
		return false;

	/* No fault handler is asked about a fault of a fault handler. */
	before = fault_watch(NULL);
	dealt_with = handler(kp, regs, trapnr);
	fault_unwatch(before);

	return dealt_with;
}

NOKPROBE_SYMBOL(fault_ask);

/* Is it a handler's fault? Not in an interrupt, softirq or NMI that began after the hit. */
static bool fault_is_of_handler(void)
{
	unsigned int differ = arch_hit_context() ^ __this_cpu_read(kprobe_ctlblk.context);

	return !(differ & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET));
}

NOKPROBE_SYMBOL(fault_is_of_handler);

/* All members probe the faulting instruction, so any of them may handle the fault. */
static bool fault_ask_members(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	unsigned long ip = instruction_pointer(regs);
	struct kprobe *kp;

	list_for_each_entry_rcu(kp, &point_of(p)->members, list, true) {
		if (kprobe_disabled(kp) || !fault_ask(kp, regs, trapnr))
			continue;
		/* With the same ip the instruction runs again, which is a new hit. */
		if (instruction_pointer(regs) != ip)
			arch_kprobe_fixed_up(regs, ip);
		return true;
	}

	return false;
}

NOKPROBE_SYMBOL(fault_ask_members);

/*
 * Members that probe the faulting instruction come first: they are nearer to the fault
 * than the member whose handler contains that instruction.
 */
static bool fault_ask_all(struct pt_regs *regs, int trapnr, bool in_handler)
{
	struct kprobe *p = get_kprobe((kprobe_opcode_t *)instruction_pointer(regs));

	if (p && fault_ask_members(p, regs, trapnr))
		return true;

	return in_handler && fault_is_of_handler() &&
	       fault_ask(__this_cpu_read(kprobe_fault_member), regs, trapnr);
}

NOKPROBE_SYMBOL(fault_ask_all);

/**
 * kprobe_ask_fault_handlers() - offer a kernel fault without a fixup to fault handlers
 * @regs: registers at the fault
 * @trapnr: the architecture's number for the fault
 *
 * Context: An exception, preemptible or not.
 * Return: true when a fault_handler has dealt with it and execution continues with @regs;
 * otherwise @regs are unchanged.
 */
bool kprobe_ask_fault_handlers(struct pt_regs *regs, int trapnr)
{
	bool in_handler = !preemptible();
	struct pt_regs before;

	if (search_exception_tables(instruction_pointer(regs)))
		return false;

	guard(preempt_notrace)();
	before = *regs;
	arch_kprobe_leave_detour(regs);
	if (fault_ask_all(regs, trapnr, in_handler)) {
		arch_kprobe_resume(regs);
		return true;
	}

	/* The fault may be resolved elsewhere and return to the detour. */
	*regs = before;

	return false;
}

NOKPROBE_SYMBOL(kprobe_ask_fault_handlers);
