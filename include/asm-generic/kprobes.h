/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Annotations for code that must not be probed.
 *
 * This header also stands in for <asm/kprobes.h> on architectures without one,
 * so it may not rely on anything that an architecture provides.
 */
#ifndef _ASM_GENERIC_KPROBES_H
#define _ASM_GENERIC_KPROBES_H

/* Words of the stack, from the first argument there on, that a jprobe's handler sees. */
#define JPROBE_STACK_WORDS	16

/* Offset of addr in struct kprobe, for entry code; hit.c asserts it. */
#define KPROBE_ADDR		(2 * __SIZEOF_POINTER__)

#if defined(__KERNEL__) && !defined(__ASSEMBLY__)

#include <linux/compiler.h>

#ifdef CONFIG_KPROBES

/*
 * Put the address of @fname on the list of functions that no probe may enter.
 * Many users leave the semicolon out, hence a whole declaration.
 */
#define NOKPROBE_SYMBOL(fname)						\
	static unsigned long __used					\
	__section("_kprobe_blacklist") __nokprobe_##fname = (unsigned long)(fname);

/* Keeps a function out of reach by its section; prefer NOKPROBE_SYMBOL(). */
#define __kprobes	notrace __section(".kprobes.text")

/* An inline that must never become a function that could be probed. */
#define nokprobe_inline	__always_inline

#else /* !CONFIG_KPROBES */

#define NOKPROBE_SYMBOL(fname)
#define __kprobes
#define nokprobe_inline	inline

#endif /* CONFIG_KPROBES */

#endif /* __KERNEL__ && !__ASSEMBLY__ */
#endif /* _ASM_GENERIC_KPROBES_H */
