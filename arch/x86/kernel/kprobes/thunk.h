/* SPDX-License-Identifier: GPL-2.0-only */
/* Copies that have to go through a thunk, in thunk.c. */
#ifndef _X86_KPROBES_THUNK_H
#define _X86_KPROBES_THUNK_H

#include <linux/types.h>
#include <asm/insn.h>

bool kprobe_copy_wants_thunk(struct insn *insn);
unsigned long kprobe_copy_thunk(struct insn *insn);

#endif /* _X86_KPROBES_THUNK_H */
