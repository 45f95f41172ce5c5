/* SPDX-License-Identifier: GPL-2.0-only */
/* Expanding and refusing instructions, in decode.c. */
#ifndef _RISCV_KPROBES_DECODE_H
#define _RISCV_KPROBES_DECODE_H

#include <linux/types.h>

u32 kprobe_expand_insn(u32 insn);
bool kprobe_insn_is_lr(u32 insn);
bool kprobe_insn_is_sc(u32 insn);
bool kprobe_insn_is_wrs(u32 insn);
const char *kprobe_refusal_reason(u32 insn);

#endif /* _RISCV_KPROBES_DECODE_H */
