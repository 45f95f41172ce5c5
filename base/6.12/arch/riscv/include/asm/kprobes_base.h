/* SPDX-License-Identifier: GPL-2.0-only */
/* What kprobes on RISC-V call otherwise in Linux 6.12 than in others. */
#ifndef _ASM_RISCV_KPROBES_BASE_H
#define _ASM_RISCV_KPROBES_BASE_H

#include <linux/types.h>
#include <asm/patch.h>

/* A probe and ftrace can share the ftrace site at a function's entry. */
#define ARCH_KPROBES_SHARE_FTRACE_SITE	1

#ifdef CONFIG_KPROBES
void arch_kprobe_site_read(unsigned long site, u32 *insns);
void arch_kprobe_site_write(unsigned long site, u32 *insns);
#else
static inline void arch_kprobe_site_read(unsigned long site, u32 *insns)
{
}

static inline void arch_kprobe_site_write(unsigned long site, u32 *insns)
{
}
#endif

#endif /* _ASM_RISCV_KPROBES_BASE_H */
