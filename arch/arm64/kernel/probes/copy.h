/* SPDX-License-Identifier: GPL-2.0-only */
/* Out-of-line copies of probed instructions, in copy.c. */
#ifndef _ARM64_KPROBES_COPY_H
#define _ARM64_KPROBES_COPY_H

#include <linux/build_bug.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <asm/daifflags.h>
#include <asm/ptrace.h>

#include "emit.h"

/**
 * struct slot - contents of an instruction slot
 * @addr: address of the original instruction
 * @back: the copy, and the branch behind the original or a breakpoint
 * @post: the copy, and the branch to kprobe_slot_post_entry() or a breakpoint
 * @literal: the literal of an instruction that loads one into a SIMD register
 * @behind: where kprobe_slot_post_entry() returns to: restores the link register, releases
 *	the struct pt_regs on the stack, and branches to back[1]; the same in all slots, so
 *	written once per page
 */
struct slot {
	unsigned long addr;
	__le32 back[2];
	__le32 post[2];
	u8 literal[16];
	__le32 behind[UNFRAME + 1];
};

static_assert(sizeof(struct slot) == KPROBE_INSN_SLOT_SIZE);

static __always_inline struct slot *slot_of(struct kprobe *p)
{
	return (struct slot *)p->ainsn.api.insn;
}

/*
 * The second copy runs with interrupts off, so that the hit stays on its CPU. preempt_count
 * cannot serve for that: the probed instruction may store it.
 */
static __always_inline void mask_daif(struct pt_regs *regs)
{
	__this_cpu_write(kprobe_ctlblk.saved_daif, regs->pstate & DAIF_MASK);
	regs->pstate |= PSR_I_BIT | PSR_F_BIT;
}

static __always_inline void restore_daif(struct pt_regs *regs)
{
	regs->pstate &= ~DAIF_MASK;
	regs->pstate |= __this_cpu_read(kprobe_ctlblk.saved_daif);
}

extern long kprobe_copy_reach;

/* entry.S */
asmlinkage void kprobe_slot_post_entry(void);

int kprobe_prepare_copy(struct kprobe *p);
void kprobe_enter_post_copy(struct kprobe *p, struct pt_regs *regs);

/* Continue at the first copy. */
static __always_inline void kprobe_enter_copy(struct kprobe *p, struct pt_regs *regs)
{
	regs->pc = (unsigned long)slot_of(p)->back;
}

#endif /* _ARM64_KPROBES_COPY_H */
