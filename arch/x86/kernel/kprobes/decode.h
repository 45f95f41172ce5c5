/* SPDX-License-Identifier: GPL-2.0-only */
/* Which instructions are refused or emulated, in decode.c. */
#ifndef _X86_KPROBES_DECODE_H
#define _X86_KPROBES_DECODE_H

#include <linux/types.h>
#include <asm/insn.h>

const char *kprobe_refusal_reason(struct insn *insn);
int kprobe_prepare_emulation(struct kprobe *p, struct insn *insn);
bool kprobe_insn_has_prefix(struct insn *insn, u8 wanted);
bool kprobe_insn_waits(struct insn *insn);
bool kprobe_branch_is_portable(struct insn *insn);

#endif /* _X86_KPROBES_DECODE_H */
