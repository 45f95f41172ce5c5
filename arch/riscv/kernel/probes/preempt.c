// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps in a kernel that may preempt a task anywhere.
 *
 * Text is written while all CPUs stand still, and the tasks that run on none of them
 * are wherever they were preempted. Two things keep these out of what is written:
 *
 * - A jump is AUIPC and JALR. The AUIPC reads no register and writes one that is free,
 *   so it may run twice. A task that is interrupted at the JALR is set back to the AUIPC
 *   before it may be preempted, and so is never between the two.
 *
 * - Before a jump is written its probe is guarded: a hit of the breakpoint goes on in
 *   the copies that the detour has of what the jump will cover, and comes back behind
 *   that. There is no other way in, see region.c. So an RCU-tasks grace period later
 *   the tasks that were inside have left.
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
 * A CPU sees the detour of a jump when it sees the jump. Of this one it is told, before
 * any hit may lead there.
 */
void arch_guard_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;

	lockdep_assert_held(&text_mutex);

	flush_icache_all();
	list_for_each_entry(op, oplist, list)
		WRITE_ONCE(op->optinsn.guarded, true);
}

void arch_unguard_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;

	list_for_each_entry(op, oplist, list)
		WRITE_ONCE(op->optinsn.guarded, false);
}

/* JALR that links nowhere, by its lower half. */
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
 * Most of what is interrupted is not there, and is not to pay for a search.
 *
 * Context: The end of an exception that may preempt the task, interrupts off. Where it
 * may not, the CPU does not stand still for a change of text before it goes on.
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
