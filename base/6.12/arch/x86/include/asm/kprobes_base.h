/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux 6.12 under the names of Linux 7.3, as far as kprobes on x86 use them. */
#ifndef _ASM_X86_KPROBES_BASE_H
#define _ASM_X86_KPROBES_BASE_H

/* preempt_count() is the low half of this. */
#ifdef __ASSEMBLY__
#define KPROBE_PREEMPT_COUNT		pcpu_hot + __SIZEOF_POINTER__
#define KPROBE_INC_PREEMPT_COUNT	incl	PER_CPU_VAR(KPROBE_PREEMPT_COUNT)
/* Zero if the task has to be preempted. */
#define KPROBE_DEC_PREEMPT_COUNT	decl	PER_CPU_VAR(KPROBE_PREEMPT_COUNT)
#else

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <asm/current.h>

#define KPROBE_PREEMPT_COUNT		pcpu_hot.preempt_count
static_assert(offsetof(struct pcpu_hot, preempt_count) == __SIZEOF_POINTER__);

#define __inline_memcpy			memcpy
#define __is_endbr			is_endbr
#define __x86_call_depth		pcpu_hot.call_depth
#define execmem_is_rox(type)		false
#define insn_is_avx_or_xop		insn_is_avx
#define kprobe_entry_text_end		__entry_text_end
#define kprobe_alloc_writable()		execmem_alloc(EXECMEM_KPROBES, PAGE_SIZE)
#define lass_clac()			do { } while (0)
#define lass_stac()			do { } while (0)
#define perf_arch_instruction_pointer	perf_instruction_pointer
#define smp_text_poke_sync_each_cpu	text_poke_sync

#define rdmsrq				rdmsrl
#define rdmsrq_safe			rdmsrl_safe
#define wrmsrq				wrmsrl

#endif /* !__ASSEMBLY__ */
#endif /* _ASM_X86_KPROBES_BASE_H */
