/* SPDX-License-Identifier: GPL-2.0-only */
/* Calling the handler of a jprobe, in jprobe.c and jprobe_64.S. */
#ifndef _X86_KPROBES_JPROBE_H
#define _X86_KPROBES_JPROBE_H

#include <linux/linkage.h>
#include <linux/ptrace.h>
#include <linux/types.h>

asmlinkage void jprobe_thunk(void *entry, struct pt_regs *regs, const unsigned long *stack,
			     u32 hash);

#endif /* _X86_KPROBES_JPROBE_H */
