/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calling a jprobe's handler with the arguments of the probed function.
 */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/assembler.h>
#include <asm/kprobes.h>

	.section .kprobes.text, "ax"

/*
 * void arch_call_jprobe(void *entry, struct pt_regs *regs, const unsigned long *stack)
 *
 * The arguments are in x0 to x7 and in the words at sp. x8 is the address for a result
 * larger than two registers; the handler must not write such a result.
 */
SYM_FUNC_START(arch_call_jprobe)
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	sub	sp, sp, #(JPROBE_STACK_WORDS * 8)
	mov	x9, x0
	.set	pair, 0
	.rept	JPROBE_STACK_WORDS / 2
	ldp	x10, x11, [x2, #(pair * 16)]
	stp	x10, x11, [sp, #(pair * 16)]
	.set	pair, pair + 1
	.endr
	ldr	x8, [x1, #S_X8]
	ldp	x6, x7, [x1, #S_X6]
	ldp	x4, x5, [x1, #S_X4]
	ldp	x2, x3, [x1, #S_X2]
	ldp	x0, x1, [x1, #S_X0]
	blr	x9
	mov	sp, x29
	ldp	x29, x30, [sp], #16
	ret
SYM_FUNC_END(arch_call_jprobe)
