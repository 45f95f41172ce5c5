// SPDX-License-Identifier: GPL-2.0-only
/*
 * Out-of-line copies of probed instructions, and the return from them.
 *
 * A slot holds two copies of one instruction, each with an ebreak after it. The
 * trap of the first returns after the original; the trap of the second calls the
 * post_handler before that.
 *
 * The first copy runs after the hit has ended: the task may be preempted in it
 * and migrate, and the slot is not freed before an RCU-tasks grace period has
 * ended. The trap finds all that it needs in the slot. The second copy runs with
 * interrupts off and the probe current, so that the hit stays on its CPU and no
 * other hit there comes between its handlers.
 */
#include <linux/mm.h>
#include <linux/string.h>
#include <asm/csr.h>
#include <asm/pgtable.h>

#include "common.h"

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
	if (p->ainsn.api.insn)
		free_insn_slot((kprobe_opcode_t *)slot_of_copy(p->ainsn.api.insn), 1);
}

/* Continue at the second copy; @p stays current until the trap after it. */
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

/* As kprobe_hit_finish(); the hit, or a post_handler, may want to continue inside a region. */
void kprobe_finish_and_follow(struct kprobe *p, struct pt_regs *regs, bool nested)
{
	bool fenced = kprobe_is_fenced(p);
	unsigned long epc = regs->epc;

	kprobe_hit_finish(p, regs, nested);
	if (unlikely(fenced || regs->epc != epc))
		kprobe_detour_enter(regs);
}

NOKPROBE_SYMBOL(kprobe_finish_and_follow);

/* Handle the breakpoint at the end of a copy; return false for any other. */
bool kprobe_end_of_copy(struct pt_regs *regs)
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
	if (pc == post) {
		regs->status |= __this_cpu_read(kprobe_ctlblk.saved_pie);
		kprobe_finish_and_follow(kprobe_running(), regs, true);
	}

	return true;
}

NOKPROBE_SYMBOL(kprobe_end_of_copy);
