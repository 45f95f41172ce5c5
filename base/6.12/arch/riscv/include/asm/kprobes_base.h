/* SPDX-License-Identifier: GPL-2.0-only */
/* What kprobes on RISC-V call otherwise in Linux 6.12 than in others. */
#ifndef _ASM_RISCV_KPROBES_BASE_H
#define _ASM_RISCV_KPROBES_BASE_H

#include <asm/patch.h>

/* A probe and ftrace can share the ftrace site at a function's entry. */
#define ARCH_KPROBES_SHARE_FTRACE_SITE	1

#endif /* _ASM_RISCV_KPROBES_BASE_H */
