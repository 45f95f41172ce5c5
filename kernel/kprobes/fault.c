// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fault handlers: a probe's user is asked what is to become of a fault that nothing
 * else deals with.
 *
 * Such a fault is either one of a handler, of which each CPU notes whose it is, or of
 * a probed instruction, whose copy the architecture tells from the original. What an
 * exception table has a fixup for, such as copy_from_kernel_nofault(), is left to that.
 */
#include <linux/extable.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/rculist.h>

#include "fault.h"
#include "point.h"

/* The probe whose handler runs on this CPU, NULL when none does. */
DEFINE_PER_CPU(struct kprobe *, fault_member);

static bool fault_ask(struct kprobe *kp, struct pt_regs *regs, int trapnr)
{
	struct kprobe *before;
	bool dealt_with;

	if (!kp || !kp->fault_handler)
		return false;

	/* Nobody is asked about a fault of the fault handler. */
	before = fault_watch(NULL);
	dealt_with = kp->fault_handler(kp, regs, trapnr);
	fault_unwatch(before);

	return dealt_with;
}

NOKPROBE_SYMBOL(fault_ask);

/* Has no interrupt come since the hit began, whose fault this may be? */
static bool fault_is_of_handler(void)
{
	unsigned int differ = arch_hit_context() ^ __this_cpu_read(kprobe_ctlblk.context);

	return !(differ & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET));
}

NOKPROBE_SYMBOL(fault_is_of_handler);

/* All those probe the instruction, so any may know what to do. */
static bool fault_ask_members(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	unsigned long ip = instruction_pointer(regs);
	struct kprobe *kp;

	list_for_each_entry_rcu(kp, &point_of(p)->members, list, true) {
		if (kprobe_disabled(kp) || !fault_ask(kp, regs, trapnr))
			continue;
		/* Otherwise the instruction is to run again, and is a new hit. */
		if (instruction_pointer(regs) != ip)
			arch_kprobe_fixed_up(regs, ip);
		return true;
	}

	return false;
}

NOKPROBE_SYMBOL(fault_ask_members);

/* Those who probe the instruction are nearer to it than whose handler it is a part of. */
static bool fault_ask_all(struct pt_regs *regs, int trapnr, bool in_handler)
{
	struct kprobe *p = get_kprobe((kprobe_opcode_t *)instruction_pointer(regs));

	if (p && fault_ask_members(p, regs, trapnr))
		return true;

	return in_handler && fault_is_of_handler() &&
	       fault_ask(__this_cpu_read(fault_member), regs, trapnr);
}

NOKPROBE_SYMBOL(fault_ask_all);

/**
 * kprobe_ask_fault_handlers() - a fault in the kernel for which there is no fixup
 * @regs: registers at the fault
 * @trapnr: the architecture's number for the fault
 *
 * Context: An exception, preemptible or not.
 * Return: true when a fault_handler has dealt with it, and @regs are to be gone on with;
 * otherwise they are as they were.
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

	/* It may be over at once, and come back to the detour. */
	*regs = before;

	return false;
}

NOKPROBE_SYMBOL(kprobe_ask_fault_handlers);
