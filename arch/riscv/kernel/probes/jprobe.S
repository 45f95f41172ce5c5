/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calling a jprobe's handler with the arguments of the probed function.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/kprobes.h>

	.section .kprobes.text, "ax"

/* The arguments, a frame record above them, and padding that keeps sp a multiple of 16. */
#define FRAME_SIZE	((JPROBE_STACK_WORDS + 4) * SZREG)
#define FRAME_RA	(FRAME_SIZE - SZREG)
#define FRAME_FP	(FRAME_SIZE - 2 * SZREG)

/*
 * void arch_call_jprobe(void *entry, struct pt_regs *regs, const unsigned long *stack)
 *
 * The arguments are in a0 to a7 and in the words at sp.
 */
SYM_FUNC_START(arch_call_jprobe)
	addi	sp, sp, -FRAME_SIZE
	REG_S	ra, FRAME_RA(sp)
	REG_S	s0, FRAME_FP(sp)
	addi	s0, sp, FRAME_SIZE
	mv	t2, a0
	mv	t3, a1
	.set	word, 0
	.rept	JPROBE_STACK_WORDS
	REG_L	t1, (word * SZREG)(a2)
	REG_S	t1, (word * SZREG)(sp)
	.set	word, word + 1
	.endr
	REG_L	a0, PT_A0(t3)
	REG_L	a1, PT_A1(t3)
	REG_L	a2, PT_A2(t3)
	REG_L	a3, PT_A3(t3)
	REG_L	a4, PT_A4(t3)
	REG_L	a5, PT_A5(t3)
	REG_L	a6, PT_A6(t3)
	REG_L	a7, PT_A7(t3)
	jalr	t2
	REG_L	ra, FRAME_RA(sp)
	REG_L	s0, FRAME_FP(sp)
	addi	sp, sp, FRAME_SIZE
	ret
SYM_FUNC_END(arch_call_jprobe)
