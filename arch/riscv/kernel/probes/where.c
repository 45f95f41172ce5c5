// SPDX-License-Identifier: GPL-2.0-only
/*
 * An address in a copy or a detour stands for one in the probed code.
 *
 * A fault in a copy is reported at the original address, because the exception
 * table lists that one, and because a task must not sleep in a copy until a page
 * arrives. If the fault is retried, the task hits the breakpoint again.
 */
#include <linux/array_size.h>
#include <linux/cleanup.h>
#include <linux/preempt.h>
#include <asm/csr.h>

#include "common.h"

/*
 * Is the second copy of the probed instruction at @pc? A probe that has none has other code
 * there, in which nothing faults.
 */
static __always_inline bool is_post_copy(const struct detour *detour, unsigned long pc)
{
	return pc == (unsigned long)detour->code + DETOUR_POST + DETOUR_RELEASE &&
	       optinsn_of(detour->kp)->post == POST_COPY;
}

/* Translate an address in the copies of a detour to that of the original instruction. */
static unsigned long detour_insn_pc(unsigned long pc)
{
	struct detour *detour = (struct detour *)kprobe_optinsn_slot_of(pc);
	const struct arch_optimized_insn *optinsn;
	unsigned int at, found = 0, copy = 0;
	unsigned long pos;

	if (likely(!detour))
		return pc;

	if (is_post_copy(detour, pc))
		return (unsigned long)detour->kp->addr;

	pos = pc - (unsigned long)detour->code;
	if (pos < DETOUR_COPIES)
		return pc;

	optinsn = optinsn_of(detour->kp);
	for (at = 0; at < ARRAY_SIZE(optinsn->copy_at); at++) {
		if (optinsn->copy_at[at] <= pos && optinsn->copy_at[at] > copy) {
			copy = optinsn->copy_at[at];
			found = at;
		}
	}

	return jump_addr(detour->kp) + 2 * found;
}

NOKPROBE_SYMBOL(detour_insn_pc);

/**
 * arch_kprobe_insn_ip() - translate an address in a copy to the original
 * @pc: an address
 *
 * A stale @pc may lie in a page of slots that is freed concurrently.
 *
 * Context: Any.
 * Return: the address whose instruction the copy or detour at @pc executes, @pc itself
 * elsewhere.
 */
unsigned long arch_kprobe_insn_ip(unsigned long pc)
{
	struct slot *slot = kprobe_insn_slot_at(pc);

	guard(preempt_notrace)();
	if (likely(!is_kprobe_insn_slot(pc)))
		return detour_insn_pc(pc);

	if (pc == (unsigned long)slot->back || pc == (unsigned long)slot->post)
		return slot->addr;

	return pc;
}

NOKPROBE_SYMBOL(arch_kprobe_insn_ip);

/* A fault ends the hit whose second copy runs, with interrupts off. */
static void leave_post_copy(struct pt_regs *regs, unsigned long addr)
{
	regs->status |= __this_cpu_read(kprobe_ctlblk.saved_pie);
	kprobe_hit_end(true);
	regs->orig_a0 = kprobe_fault_mark(regs, addr);
	regs->epc = addr;
}

NOKPROBE_SYMBOL(leave_post_copy);

/* An earlier fault may have left the mark of leave_post_copy() on the stack. */
static __always_inline void leave_first_copy(struct pt_regs *regs, unsigned long addr)
{
	regs->orig_a0 = 0;
	regs->epc = addr;
}

/*
 * A fault in a copy is reported at the original if that is in an exception table,
 * because its handler may sleep or fix it up. If retried, it enters the jump again. All
 * other faults are fatal, or are resolved without sleeping and return to the copy. As in the
 * slot of a breakpoint, any fault of the second copy ends the hit.
 */
static void leave_detour(struct pt_regs *regs)
{
	struct detour *detour = (struct detour *)kprobe_optinsn_slot_of(regs->epc);
	struct kprobe *p;

	if (likely(!detour))
		return;

	p = detour->kp;
	if (is_post_copy(detour, regs->epc))
		leave_post_copy(regs, (unsigned long)p->addr);
	else if (optinsn_of(p)->extable && regs->epc == detour_copies(optinsn_of(p)))
		leave_first_copy(regs, (unsigned long)p->addr);
}

NOKPROBE_SYMBOL(leave_detour);

/**
 * arch_kprobe_leave_copy() - move a fault in a copy to the probed instruction
 * @regs: registers at the fault, in the kernel
 *
 * Context: An exception, before anything is done about it.
 */
void arch_kprobe_leave_copy(struct pt_regs *regs)
{
	struct slot *slot = kprobe_insn_slot_at(regs->epc);
	unsigned long pc = regs->epc;

	if (likely(!is_kprobe_insn_slot(pc))) {
		leave_detour(regs);
		return;
	}
	/* On 32 bits the slot's page may be mapped only now. A copy itself makes no such fault. */
	if (regs->cause == EXC_INST_PAGE_FAULT)
		return;

	if (pc == (unsigned long)slot->post)
		leave_post_copy(regs, slot->addr);
	else if (pc == (unsigned long)slot->back)
		leave_first_copy(regs, slot->addr);
}

NOKPROBE_SYMBOL(arch_kprobe_leave_copy);

/**
 * arch_kprobe_fixed_up() - call the post_handler of a probe whose fault was fixed up
 * @regs: registers after the fixup
 * @addr: instruction that faulted, not its copy
 *
 * The fixup ends the instruction as far as the probed code is concerned. Not every fault
 * there was a hit: the task may have slept in it while the breakpoint was written.
 *
 * Context: An exception.
 */
void arch_kprobe_fixed_up(struct pt_regs *regs, unsigned long addr)
{
	bool page_fault;

	if (likely(regs->orig_a0 != kprobe_fault_mark(regs, addr)))
		return;

	regs->orig_a0 = 0;
	/* Of the exceptions that may have a fixup, only page faults are not entered as NMIs. */
	page_fault = regs->cause == EXC_LOAD_PAGE_FAULT || regs->cause == EXC_STORE_PAGE_FAULT ||
		     regs->cause == EXC_INST_PAGE_FAULT;
	kprobe_hit_fixed_up(addr, regs, page_fault ? 0 : KPROBE_TRAP_COUNT);
}

NOKPROBE_SYMBOL(arch_kprobe_fixed_up);

#ifdef CONFIG_KPROBES_FAULT_HANDLER
/* Fault handlers see addresses of the probed code, whether or not the fault has a fixup. */
void arch_kprobe_leave_detour(struct pt_regs *regs)
{
	regs->epc = detour_insn_pc(regs->epc);
}

NOKPROBE_SYMBOL(arch_kprobe_leave_detour);

/* A fault handler has set the address to continue at, perhaps inside a region. */
void arch_kprobe_resume(struct pt_regs *regs)
{
	kprobe_detour_enter(regs);
}

NOKPROBE_SYMBOL(arch_kprobe_resume);
#endif
