/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux 6.12 under the names of Linux 7.3, as far as kprobes on arm64 use them. */
#ifndef _ASM_ARM64_KPROBES_BASE_H
#define _ASM_ARM64_KPROBES_BASE_H

#include <asm/patching.h>

/* The copy of a probed instruction. */
#define kprobe_xol_insn(p)		((p)->ainsn.api.insn)

/* Fields of struct pt_regs. */
#define kprobe_regs_pmr(regs)		((regs)->pmr_save)
#define kprobe_regs_frame_lr(regs)	((regs)->stackframe[1])

/* @state keeps the registers of the interrupted user. */
#define kprobe_neon_begin(state)	((void)(state), kernel_neon_begin())
#define kprobe_neon_end(state)		((void)(state), kernel_neon_end())

/* No program has a guarded control stack. Later asm/mmu_context.h declares these. */
#define task_gcs_el0_enabled(task)	((void)(task), false)
#define push_user_gcs(value, err)	((void)(value), (void)(err))
#define pop_user_gcs(err)		((void)(err), 0UL)

#endif /* _ASM_ARM64_KPROBES_BASE_H */
