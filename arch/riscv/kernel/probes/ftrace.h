/* SPDX-License-Identifier: GPL-2.0-only */
/* Sharing the ftrace site of a function, in ftrace.c. */
#ifndef _RISCV_KPROBES_FTRACE_H
#define _RISCV_KPROBES_FTRACE_H

#include <linux/ptrace.h>
#include <linux/types.h>

bool kprobe_is_ftrace_site(unsigned long addr);
bool kprobe_emulate_site(u32 insn, unsigned long addr, struct pt_regs *regs);

#endif /* _RISCV_KPROBES_FTRACE_H */
