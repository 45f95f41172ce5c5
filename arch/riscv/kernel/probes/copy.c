// SPDX-License-Identifier: GPL-2.0-only
/*
 * Out-of-line copies of probed instructions, and the return from them.
 *
 * A slot holds two copies of one instruction, each with an ebreak behind it. The
 * trap of the first returns behind the original; the trap of the second calls the
 * post_handler before that.
 *
 * The first copy runs after the hit has ended: the task may be preempted in it
 * and migrate, and the slot is not freed before an RCU-tasks grace period has
 * ended. The trap finds all that it needs in the slot. The second copy runs with
 * interrupts off and the probe current, so that the hit stays on its CPU and no
 * other hit there comes between its handlers.
 *
 * A fault in a copy is reported at the original address, because the exception
 * table lists that one, and because a task must not sleep in a copy until a page
 * arrives. If the fault is retried, the task hits the breakpoint again.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/build_bug.h>
#include <linux/cleanup.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <asm/csr.h>
#include <asm/patch.h>
#include <asm/pgtable.h>

#include "common.h"

#define COPY_PARCELS	(MAX_INSN_SIZE * sizeof(kprobe_opcode_t) / sizeof(u16))

/**
 * struct slot - contents of an instruction slot
 * @addr: address of the original instruction
 * @back: the copy, and an ebreak whose trap returns behind the original
 * @post: the copy, and an ebreak whose trap calls the post_handler
 */
struct slot {
	unsigned long addr;
	u16 back[COPY_PARCELS];
	u16 post[COPY_PARCELS];
};

static_assert(sizeof(struct slot) == KPROBE_INSN_SLOT_SIZE);

static __always_inline struct slot *slot_of_copy(probe_opcode_t *insn)
{
	return container_of((void *)insn, struct slot, back);
}

static __always_inline unsigned int slot_insn_len(const struct slot *slot)
{
	return GET_INSN_LENGTH(slot->back[0]);
}

static void fill_copy(u16 *copy, u32 insn)
{
	u32 ebreak = __BUG_INSN_32;

	memcpy(copy, &insn, insn_len(insn));
	memcpy((void *)copy + insn_len(insn), &ebreak, sizeof(ebreak));
}

/*
 * Make the copies of an instruction that is not emulated. Writing the breakpoint
 * flushes the instruction caches of all CPUs, for the copies as well.
 */
int kprobe_prepare_copy(struct kprobe *p)
{
	struct slot image = { .addr = (unsigned long)p->addr };
	struct slot *slot;

	slot = (struct slot *)get_insn_slot();
	if (!slot)
		return -ENOMEM;

	fill_copy(image.back, p->opcode);
	fill_copy(image.post, p->opcode);
	if (patch_insn_write(slot, &image, sizeof(image))) {
		free_insn_slot((kprobe_opcode_t *)slot, 0);
		return -EFAULT;
	}
	p->ainsn.api.insn = (probe_opcode_t *)slot->back;

	return 0;
}

void arch_remove_kprobe(struct kprobe *p)
{
	if (!p->ainsn.api.insn)
		return;

	free_insn_slot((kprobe_opcode_t *)slot_of_copy(p->ainsn.api.insn), 1);
	p->ainsn.api.insn = NULL;
}

/* Continue at the first copy. */
void kprobe_enter_copy(struct kprobe *p, struct pt_regs *regs)
{
	regs->epc = (unsigned long)p->ainsn.api.insn;
}

NOKPROBE_SYMBOL(kprobe_enter_copy);

/* Continue at the second copy; @p stays current until finish_post_copy(). */
void kprobe_enter_post_copy(struct kprobe *p, struct pt_regs *regs)
{
	__this_cpu_write(kprobe_ctlblk.saved_pie, regs->status & SR_PIE);
	regs->status &= ~SR_PIE;
	regs->epc = (unsigned long)slot_of_copy(p->ainsn.api.insn)->post;
}

NOKPROBE_SYMBOL(kprobe_enter_post_copy);

/* The CPU has just executed the code at @pc, so its page can be read. */
static __always_inline bool is_slot(struct slot *slot, unsigned long pc)
{
	struct kprobe *p = get_kprobe((kprobe_opcode_t *)slot->addr);

	if (likely(p && p->ainsn.api.insn == (probe_opcode_t *)slot->back))
		return true;

	/* The probe may have been removed while a task was preempted in the copy. */
	return is_kprobe_insn_slot(pc);
}

/* As kprobe_hit_finish(); a post_handler may want to continue inside a region. */
void kprobe_finish_and_follow(struct kprobe *p, struct pt_regs *regs, bool nested)
{
	unsigned long epc = regs->epc;

	kprobe_hit_finish(p, regs, nested);
	if (unlikely(regs->epc != epc))
		kprobe_detour_follow(regs);
}

NOKPROBE_SYMBOL(kprobe_finish_and_follow);

static void finish_post_copy(struct pt_regs *regs)
{
	regs->status |= __this_cpu_read(kprobe_ctlblk.saved_pie);
	kprobe_finish_and_follow(kprobe_running(), regs, true);
}

NOKPROBE_SYMBOL(finish_post_copy);

/**
 * kprobe_single_step_handler() - handle a breakpoint that may be the end of a copy
 * @regs: registers at the trap, epc at the breakpoint
 *
 * Context: The breakpoint exception in the kernel, as in an NMI.
 * Return: whether it is the end of a copy.
 */
bool kprobe_single_step_handler(struct pt_regs *regs)
{
	struct slot *slot = kprobe_insn_slot_at(regs->epc);
	unsigned long back, post, pc = regs->epc;

	/* Most other breakpoints are in the kernel's image, which has no slots. */
	if (pc < VMALLOC_START || pc >= VMALLOC_END || !is_slot(slot, pc))
		return false;

	back = (unsigned long)slot->back + slot_insn_len(slot);
	post = (unsigned long)slot->post + slot_insn_len(slot);
	if (pc != back && pc != post)
		return false;

	regs->epc = slot->addr + slot_insn_len(slot);
	if (pc == post)
		finish_post_copy(regs);

	return true;
}

NOKPROBE_SYMBOL(kprobe_single_step_handler);

/*
 * Marks the registers of a fault that has ended a hit at @addr, in a word that is used in
 * system calls only.
 */
static unsigned long fault_mark(const struct pt_regs *regs, unsigned long addr)
{
	return (unsigned long)regs ^ addr;
}

NOKPROBE_SYMBOL(fault_mark);

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
		kprobe_detour_leave_copy(regs);
		return;
	}
	/* On 32 bits the slot's page may be mapped only now. A copy itself makes no such fault. */
	if (regs->cause == EXC_INST_PAGE_FAULT)
		return;

	if (pc == (unsigned long)slot->post) {
		regs->status |= __this_cpu_read(kprobe_ctlblk.saved_pie);
		kprobe_hit_end(true);
		regs->orig_a0 = fault_mark(regs, slot->addr);
	} else if (pc != (unsigned long)slot->back) {
		return;
	}
	regs->epc = slot->addr;
}

NOKPROBE_SYMBOL(arch_kprobe_leave_copy);

/**
 * arch_kprobe_insn_pc() - translate an address in a copy to the original
 * @pc: an address
 *
 * A stale @pc may lie in a page of slots that is freed concurrently.
 *
 * Context: Any.
 * Return: the address whose instruction the copy or detour at @pc executes, @pc itself
 * elsewhere.
 */
unsigned long arch_kprobe_insn_pc(unsigned long pc)
{
	struct slot *slot = kprobe_insn_slot_at(pc);

	guard(preempt_notrace)();
	if (likely(!is_kprobe_insn_slot(pc)))
		return kprobe_detour_insn_pc(pc);

	if (pc == (unsigned long)slot->back || pc == (unsigned long)slot->post)
		return slot->addr;

	return pc;
}

NOKPROBE_SYMBOL(arch_kprobe_insn_pc);

/* Of the exceptions that may have a fixup, only page faults are not entered as NMIs. */
static bool is_page_fault(const struct pt_regs *regs)
{
	return regs->cause == EXC_LOAD_PAGE_FAULT || regs->cause == EXC_STORE_PAGE_FAULT ||
	       regs->cause == EXC_INST_PAGE_FAULT;
}

NOKPROBE_SYMBOL(is_page_fault);

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
	struct kprobe *p;

	if (likely(regs->orig_a0 != fault_mark(regs, addr)))
		return;

	regs->orig_a0 = 0;
	guard(preempt_notrace)();
	p = get_kprobe((kprobe_opcode_t *)addr);
	if (p)
		kprobe_hit_fixed_up(p, regs, is_page_fault(regs) ? 0 : KPROBE_TRAP_COUNT);
}

NOKPROBE_SYMBOL(arch_kprobe_fixed_up);
