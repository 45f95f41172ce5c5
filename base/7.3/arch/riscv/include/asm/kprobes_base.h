/* SPDX-License-Identifier: GPL-2.0-only */
/* What kprobes on RISC-V call otherwise in Linux 7.3 than in others. */
#ifndef _ASM_RISCV_KPROBES_BASE_H
#define _ASM_RISCV_KPROBES_BASE_H

#include <asm/text-patching.h>

#endif /* _ASM_RISCV_KPROBES_BASE_H */
