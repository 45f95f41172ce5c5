/* SPDX-License-Identifier: GPL-2.0-only */
/* Out-of-line copies of probed instructions, in copy.c. */
#ifndef _RISCV_KPROBES_COPY_H
#define _RISCV_KPROBES_COPY_H

#include <linux/build_bug.h>
#include <linux/container_of.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/types.h>

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

int kprobe_prepare_copy(struct kprobe *p);
void kprobe_enter_post_copy(struct kprobe *p, struct pt_regs *regs);
void kprobe_finish_and_follow(struct kprobe *p, struct pt_regs *regs, bool nested);

/* Continue at the first copy. */
static __always_inline void kprobe_enter_copy(struct kprobe *p, struct pt_regs *regs)
{
	regs->epc = (unsigned long)p->ainsn.api.insn;
}

#endif /* _RISCV_KPROBES_COPY_H */
