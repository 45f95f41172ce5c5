/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the RISC-V port share.
 *
 * A hit, in the order in which it passes through the files:
 *
 *	trap.c		breakpoints written and hit, handlers called
 *	decode.c	at registration: is this an instruction, may it be probed?
 *	emulate.c	instructions that must not or need not run elsewhere
 *	copy.c		all others: the out-of-line copy, and the way out of it
 *	ftrace.c	the instruction that a probe shares with ftrace
 *	return.c	diverted returns
 *	entry.S		where those arrive
 */
#ifndef _RISCV_KPROBES_COMMON_H
#define _RISCV_KPROBES_COMMON_H

#include <linux/kprobes.h>
#include <asm/bug.h>

#include "decode-insn.h"

/* trap.c */
bool text_is_ebreak(unsigned long addr);
u32 ebreak_for(u32 insn);

/* decode.c */
int read_original(u32 *insn, unsigned long addr);

/* emulate.c */
const char *refusal_reason(u32 insn);
bool insn_is_lr(u32 insn);
bool insn_is_sc(u32 insn);
bool insn_is_wrs(u32 insn);
probes_handler_t *find_emulation(u32 insn);
probes_handler_t *find_kernel_emulation(u32 insn);

/* copy.c */
int prepare_copy(struct kprobe *p);
void remove_copy(struct kprobe *p);
void enter_copy(struct kprobe *p, struct pt_regs *regs);
void enter_post_copy(struct kprobe *p, struct pt_regs *regs);

/* ftrace.c */
bool is_ftrace_site(unsigned long addr);
bool emulate_site(u32 insn, unsigned long addr, struct pt_regs *regs);
int blacklist_ftrace(void);

/* return.c */
unsigned long kretprobe_trampoline_return(struct pt_regs *regs);

/* An instruction of 2 bytes leaves the upper half of its u32 clear. */
static __always_inline unsigned int insn_len(u32 insn)
{
	return GET_INSN_LENGTH(insn);
}

#endif /* _RISCV_KPROBES_COMMON_H */
