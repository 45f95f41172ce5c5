/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls a jprobe's handler as its function was called.
 */
#include <linux/linkage.h>
#include <asm/kprobes.h>
#include <asm/nospec-branch.h>
#include <asm/ptrace-abi.h>

	.section .kprobes.text, "ax"

/*
 * void jprobe_thunk(void *entry, struct pt_regs *regs, const unsigned long *stack,
 *		     u32 hash)
 *
 * The arguments are in registers and in the words above the return address. A checked
 * function expects its type in %eax, or in Linux 6.12 in %r10d. Others are told by %al, if
 * they are variadic, that there are no vector registers: @hash is 0 then.
 */
SYM_FUNC_START(jprobe_thunk)
	pushq	%rbp
	movq	%rsp, %rbp
	movq	%rdi, %r11
	movl	%ecx, %r10d
	movl	%ecx, %eax
	.set	word, JPROBE_STACK_WORDS
	.rept	JPROBE_STACK_WORDS
	.set	word, word - 1
	pushq	(word * 8)(%rdx)
	.endr
	movq	RDI(%rsi), %rdi
	movq	RDX(%rsi), %rdx
	movq	RCX(%rsi), %rcx
	movq	R8(%rsi), %r8
	movq	R9(%rsi), %r9
	movq	RSI(%rsi), %rsi
	CALL_NOSPEC r11
	leave
	RET
SYM_FUNC_END(jprobe_thunk)
