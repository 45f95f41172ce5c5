/* SPDX-License-Identifier: GPL-2.0-only */
/* Finding the emulation of an instruction, in emulate.c. */
#ifndef _RISCV_KPROBES_EMULATE_H
#define _RISCV_KPROBES_EMULATE_H

#include <linux/types.h>
#include <asm/probes.h>

probes_handler_t *kprobe_find_emulation(u32 insn);
probes_handler_t *kprobe_find_kernel_emulation(u32 expanded);

#endif /* _RISCV_KPROBES_EMULATE_H */
