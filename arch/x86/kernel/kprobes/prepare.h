/* SPDX-License-Identifier: GPL-2.0-only */
/* Checking the address of a probe, in prepare.c. */
#ifndef _X86_KPROBES_PREPARE_H
#define _X86_KPROBES_PREPARE_H

#include <linux/types.h>
#include <asm/insn.h>

int kprobe_decode_original(struct insn *insn, u8 *buf, unsigned long addr, unsigned long end);
bool kprobe_in_cfi_check(unsigned long addr);

#endif /* _X86_KPROBES_PREPARE_H */
