/* SPDX-License-Identifier: GPL-2.0-only */
/* Emulating instructions, in emulate.c. */
#ifndef _ARM64_KPROBES_EMULATE_H
#define _ARM64_KPROBES_EMULATE_H

#include <asm/probes.h>
#include <asm/ptrace.h>

probes_handler_t kprobe_emulate_nop;
probes_handler_t kprobe_emulate_b_bl;
probes_handler_t kprobe_emulate_b_cond;
probes_handler_t kprobe_emulate_cbz_cbnz;
probes_handler_t kprobe_emulate_tbz_tbnz;
probes_handler_t kprobe_emulate_adr_adrp;
probes_handler_t kprobe_emulate_br_blr_ret;
probes_handler_t kprobe_emulate_br_blr_ret_auth;
probes_handler_t kprobe_emulate_ldr_literal;
probes_handler_t kprobe_emulate_ldrsw_literal;
probes_handler_t kprobe_emulate_mrs_daif;
probes_handler_t kprobe_emulate_msr_daif;
probes_handler_t kprobe_emulate_msr_daif_imm;

/* The next instruction is not the target of an indirect branch, as BTI understands it. */
static __always_inline void clear_btype(struct pt_regs *regs)
{
	regs->pstate &= ~PSR_BTYPE_MASK;
}

#endif /* _ARM64_KPROBES_EMULATE_H */
