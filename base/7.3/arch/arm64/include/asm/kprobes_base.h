/* SPDX-License-Identifier: GPL-2.0-only */
/* What kprobes on arm64 call otherwise in Linux 7.3 than in others. */
#ifndef _ASM_ARM64_KPROBES_BASE_H
#define _ASM_ARM64_KPROBES_BASE_H

#include <linux/irqflags.h>
#include <linux/percpu-defs.h>
#include <linux/types.h>
#include <asm/text-patching.h>

/* The copy of a probed instruction. */
#define kprobe_xol_insn(p)		((p)->ainsn.xol_insn)

/* Fields of struct pt_regs. */
#define kprobe_regs_pmr(regs)		((regs)->pmr)
#define kprobe_regs_frame_lr(regs)	((regs)->stackframe.record.lr)

/* @state keeps the registers of the interrupted user. */
#define kprobe_neon_begin(state)	kernel_neon_begin(state)
#define kprobe_neon_end(state)		kernel_neon_end(state)

#ifdef CONFIG_KPROBES
struct kprobe;
DECLARE_PER_CPU(struct kprobe *, current_kprobe);

/*
 * For may_use_simd(), which does not ask for interrupts any more: they are masked in a handler
 * where the probed code may be using vector registers.
 */
static __always_inline bool kprobe_handler_is_masked(void)
{
	return irqs_disabled() && __this_cpu_read(current_kprobe);
}
#else
static __always_inline bool kprobe_handler_is_masked(void)
{
	return false;
}
#endif

#endif /* _ASM_ARM64_KPROBES_BASE_H */
