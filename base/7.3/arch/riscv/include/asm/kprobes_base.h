/* SPDX-License-Identifier: GPL-2.0-only */
/* patch_text_nosync() and its like. */
#ifndef _ASM_RISCV_KPROBES_BASE_H
#define _ASM_RISCV_KPROBES_BASE_H

#include <asm/text-patching.h>

#endif /* _ASM_RISCV_KPROBES_BASE_H */
