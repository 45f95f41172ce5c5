/* SPDX-License-Identifier: GPL-2.0-only */
/* Checking the address of a probe, in prepare.c. */
#ifndef _RISCV_KPROBES_PREPARE_H
#define _RISCV_KPROBES_PREPARE_H

#include <linux/types.h>

int kprobe_read_original(u32 *insn, unsigned long addr);

#endif /* _RISCV_KPROBES_PREPARE_H */
