/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls a jprobe's handler as its function was called: jprobe_64.S for 32 bits. */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/kprobes.h>
#include <asm/nospec-branch.h>

	.section .kprobes.text, "ax"

/*
 * void arch_call_jprobe(void *entry, struct pt_regs *regs, const unsigned long *stack)
 *
 * The arguments are in up to three registers and in the words above the return
 * address, or, for asmlinkage and for variadic functions, in the latter only.
 */
SYM_FUNC_START(arch_call_jprobe)
	pushl	%ebp
	movl	%esp, %ebp
	pushl	%ebx
	movl	%eax, %ebx
	.set	word, JPROBE_STACK_WORDS
	.rept	JPROBE_STACK_WORDS
	.set	word, word - 1
	pushl	(word * 4)(%ecx)
	.endr
	movl	PT_EAX(%edx), %eax
	movl	PT_ECX(%edx), %ecx
	movl	PT_EDX(%edx), %edx
	CALL_NOSPEC ebx
	movl	-4(%ebp), %ebx
	leave
	RET
SYM_FUNC_END(arch_call_jprobe)
