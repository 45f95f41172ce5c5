/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where diverted returns arrive. Nothing is saved when they do, and the stack is
 * that of the caller.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/csr.h>

	.text

/* The registers, and above them what a function has that keeps a frame pointer. */
#define FRAME_SIZE	(PT_SIZE_ON_STACK + STACKFRAME_SIZE_ON_STACK)
#define FRAME_RA	(FRAME_SIZE - SZREG)
#define FRAME_FP	(FRAME_SIZE - 2 * SZREG)

/* From SR_IE to SR_PIE. */
#define PIE_SHIFT	4

/*
 * From the return of a function whose return address was diverted. To unwinders
 * this is a function called by the one returned to: its frame has the address of
 * the trampoline, for which they look up the real one.
 *
 * All registers are as the function left them when the real address is jumped
 * to, and that is in ra, as after a return of the function itself.
 */
SYM_CODE_START(__kretprobe_trampoline)
	addi	sp, sp, -FRAME_SIZE
	REG_S	x3, PT_GP(sp)
	REG_S	x4, PT_TP(sp)
	REG_S	x5, PT_T0(sp)
	save_from_x6_to_x31

	la	t0, __kretprobe_trampoline
	REG_S	t0, PT_RA(sp)
	REG_S	t0, PT_EPC(sp)
	REG_S	t0, FRAME_RA(sp)
	REG_S	s0, FRAME_FP(sp)
	addi	s0, sp, FRAME_SIZE
	REG_S	s0, PT_SP(sp)

	/* What a trap in the caller would have saved. */
	csrr	t0, CSR_STATUS
	andi	t1, t0, SR_IE
	slli	t1, t1, PIE_SHIFT
	li	t2, ~(SR_IE | SR_PIE)
	and	t0, t0, t2
	or	t0, t0, t1
	li	t1, SR_PP
	or	t0, t0, t1
	REG_S	t0, PT_STATUS(sp)
	REG_S	zero, PT_BADADDR(sp)
	REG_S	zero, PT_CAUSE(sp)
	REG_S	zero, PT_ORIG_A0(sp)

	mv	a0, sp
	call	kretprobe_trampoline_return
	mv	ra, a0

	REG_L	x5, PT_T0(sp)
	restore_from_x6_to_x31
	addi	sp, sp, FRAME_SIZE
	ret
SYM_CODE_END(__kretprobe_trampoline)
ASM_NOKPROBE(__kretprobe_trampoline)
