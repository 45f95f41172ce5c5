/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that preempt_test.c interrupts. A function ends for kprobes at the next label, so
 * preempt_test.c addresses instructions by their number.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/csr.h>

	.text
	.option	push
	.option	norvc

/*
 * Three functions in front of the end of a page, so that a jump at the start of
 * preempt_once() crosses it: an emulator that checks for interrupts only between blocks of
 * code does so there.
 */
#define PAGE_LEFT	(4 * 4 + 4 * 4 + 3 * 4)

	.balign	4096
	.skip	4096 - PAGE_LEFT

/*
 * preempt_enter(x, at, t1): continue at the address at, with interrupts on. A pending
 * interrupt hits there.
 */
SYM_FUNC_START(preempt_enter)
	mv	t1, a2
	csrw	CSR_EPC, a1
	li	t0, SR_PP | SR_PIE
	j	preempt_enter_return
SYM_FUNC_END(preempt_enter)

/* preempt_tail(x): AUIPC and JALR as a compiler makes them. */
SYM_FUNC_START(preempt_tail)
	addi	a0, a0, 1
	auipc	t1, 0
	jalr	zero, 8(t1)
	ret
SYM_FUNC_END(preempt_tail)

/* preempt_loop(n): 2 * n - n */
SYM_FUNC_START(preempt_loop)
	li	a1, 0
	li	a2, 0
1:	addi	a1, a1, 1
	addi	a2, a2, 1
	addi	a0, a0, -1
	bnez	a0, 1b
	slli	a1, a1, 1
	sub	a0, a1, a2
	ret
SYM_FUNC_END(preempt_loop)

SYM_CODE_START_LOCAL(preempt_enter_return)
	csrs	CSR_STATUS, t0
	sret
SYM_CODE_END(preempt_enter_return)

/* preempt_once(x): (x + 1) * 4 */
SYM_FUNC_START(preempt_once)
	addi	a0, a0, 1
	slli	a0, a0, 2
	ret
SYM_FUNC_END(preempt_once)

	.option	pop
