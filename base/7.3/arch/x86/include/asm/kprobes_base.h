/* SPDX-License-Identifier: GPL-2.0-only */
/* What kprobes on x86 call otherwise in Linux 7.3 than in others. */
#ifndef _ASM_X86_KPROBES_BASE_H
#define _ASM_X86_KPROBES_BASE_H

/* preempt_count() is the low half of this. */
#define KPROBE_PREEMPT_COUNT		__preempt_count

#ifdef __ASSEMBLY__
#define KPROBE_INC_PREEMPT_COUNT	incl	PER_CPU_VAR(__preempt_count)
/* Zero if the task has to be preempted. */
#ifdef CONFIG_HAS_SEPARATE_PREEMPT_RESCHED_BITS
#define KPROBE_DEC_PREEMPT_COUNT	decq	PER_CPU_VAR(__preempt_count)
#else
#define KPROBE_DEC_PREEMPT_COUNT	decl	PER_CPU_VAR(__preempt_count)
#endif
#else

#include <linux/types.h>

/* Up to this symbol the entry code is padded with breakpoints. */
extern char __split_text_start[];
#define kprobe_entry_text_end		__split_text_start

#define kprobe_alloc_writable()		\
	kprobe_map_writable(execmem_alloc(EXECMEM_KPROBES, PAGE_SIZE))

/* Without a cache of such memory it comes read-only as well, but may be mapped otherwise. */
#define kprobe_map_writable(page)					\
({									\
	void *_page = page;						\
									\
	if (_page && (set_memory_nx((unsigned long)_page, 1) ||		\
		      set_memory_rw((unsigned long)_page, 1))) {	\
		execmem_free(_page);					\
		_page = NULL;						\
	}								\
	_page;								\
})

/* The number of CPUs is no reason any more to rewrite text. */
static inline bool alternatives_text_reserved(const void *start, const void *end)
{
	return false;
}

#ifndef CONFIG_X86_KERNEL_IBT
static inline bool __is_endbr(u32 val)
{
	return false;
}
#endif

#endif /* !__ASSEMBLY__ */
#endif /* _ASM_X86_KPROBES_BASE_H */
