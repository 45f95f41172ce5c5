/* SPDX-License-Identifier: GPL-2.0-only */
/* Which instructions are refused or emulated, in decode.c. */
#ifndef _ARM64_KPROBES_DECODE_H
#define _ARM64_KPROBES_DECODE_H

#include <linux/types.h>
#include <asm/probes.h>

const char *kprobe_refusal_reason(u32 insn);
bool kprobe_insn_is_exclusive(u32 insn);
bool kprobe_insn_is_load_exclusive(u32 insn);
probes_handler_t *kprobe_find_kernel_emulation(u32 insn);
bool kprobe_insn_is_simd_literal(u32 insn);

#endif /* _ARM64_KPROBES_DECODE_H */
