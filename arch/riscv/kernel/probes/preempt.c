// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps in a kernel that may preempt a task at any instruction.
 *
 * Text is written while all CPUs are stopped, but tasks that are not running may have
 * been preempted in that text. Two measures keep them out of it:
 *
 * - A jump is AUIPC and JALR. The AUIPC reads no register and writes one that is free,
 *   so it may run twice. A task that is interrupted at the JALR is set back to the AUIPC
 *   before it may be preempted, and so is never preempted between the two.
 *
 * - Before a jump is written its region is fenced: a hit of the breakpoint continues in
 *   the detour's copies of the region, and returns behind it. There is no other way in,
 *   see region.c. So all tasks that were inside have left after an RCU-tasks grace
 *   period.
 */
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/list.h>
#include <linux/memory.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include <asm/cacheflush.h>

#include "common.h"

/*
 * The flush lets all CPUs fetch the detours: they are entered before the flush that comes
 * with writing the jumps. Pairs with READ_ONCE() in kprobe_enter_fenced().
 */
void arch_fence_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;

	lockdep_assert_held(&text_mutex);

	flush_icache_all();
	list_for_each_entry(op, oplist, list)
		WRITE_ONCE(op->optinsn.fenced, true);
}

void arch_unfence_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;

	list_for_each_entry(op, oplist, list)
		WRITE_ONCE(op->optinsn.fenced, false);
}

/* Lower half of a JALR that does not link. */
#define JUMP_MASK	0x7fff
#define JUMP_MATCH	0x0067

static __always_inline bool is_register_jump(unsigned long addr)
{
	u16 parcel;

	__get_kernel_nofault(&parcel, (u16 *)addr, u16, gone);
	return (parcel & JUMP_MASK) == JUMP_MATCH;
gone:
	return false;
}

/**
 * kprobe_rewind_jump() - set an interrupted task back to the start of a probe's jump
 * @regs: registers of the task
 *
 * The opcode is checked first, so that few exceptions pay for the lookup.
 *
 * Context: The end of an exception that may preempt the task, interrupts off. If it must
 * not preempt, the CPU cannot stop for a change of text before the task continues.
 */
void kprobe_rewind_jump(struct pt_regs *regs)
{
	struct kprobe *p;

	if (user_mode(regs) || preempt_count() || likely(!is_register_jump(regs->epc)))
		return;

	p = get_kprobe((void *)regs->epc - sizeof(u32));
	if (p && READ_ONCE(optinsn_of(p)->jump))
		regs->epc -= sizeof(u32);
}

NOKPROBE_SYMBOL(kprobe_rewind_jump);
