/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entry code of detours and of diverted returns, on the stack of the probed code.
 * Neither has saved any register yet, except that a detour has saved t0.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/csr.h>
#include <asm/kprobes.h>

/* No probe may enter this section, not even at a symbol inside of a function. */
	.section .kprobes.text, "ax"

/* The registers, and a frame record above them. */
#define FRAME_SIZE	(PT_SIZE_ON_STACK + STACKFRAME_SIZE_ON_STACK)
#define FRAME_RA	(FRAME_SIZE - SZREG)
#define FRAME_FP	(FRAME_SIZE - 2 * SZREG)

/* Shifts SR_IE to SR_PIE. */
#define PIE_SHIFT	4

/* Compute in \saved how a trap would have saved the status register \status. */
.macro trap_status saved, status, tmp
	andi	\tmp, \status, SR_IE
	slli	\tmp, \tmp, PIE_SHIFT
	li	\saved, ~(SR_IE | SR_PIE)
	and	\saved, \saved, \status
	or	\saved, \saved, \tmp
	li	\tmp, SR_PP
	or	\saved, \saved, \tmp
.endm

/*
 * Status bits that a trap clears and its return restores. With preemptive vector code, SR_VS
 * must stay: a preempted task's vector registers are saved only if its status has SR_VS set.
 */
#ifdef CONFIG_RISCV_ISA_V_PREEMPTIVE
#define SR_OFF		(SR_SUM | SR_FS)
#else
#define SR_OFF		(SR_SUM | SR_FS_VS)
#endif

/*
 * Save the registers, and call \function for the call in a detour that ends at \call. A pointer
 * to the probe precedes the detour's code. The frame looks to unwinders as if a trap had hit
 * the probed function. Leaves in s1 the end of the call, in s2 the sp, in s3 the status register,
 * in s4 the status as a trap would have saved it, in a0 what \function has returned.
 */
.macro call_from_detour function, call
	REG_S	x1, PT_RA(sp)
	REG_S	x3, PT_GP(sp)
	REG_S	x4, PT_TP(sp)
	save_from_x6_to_x31

	mv	s1, t0
	REG_L	a0, -(\call + SZREG)(t0)
	REG_L	t1, KPROBE_ADDR(a0)
	addi	s2, sp, FRAME_SIZE
	REG_S	t1, PT_EPC(sp)
	REG_S	s2, PT_SP(sp)
	REG_S	t1, FRAME_RA(sp)
	REG_S	s0, FRAME_FP(sp)
	mv	s0, s2

	/* The handlers must not be able to access user memory or FP registers by mistake. */
	li	t1, SR_OFF
	csrrc	s3, CSR_STATUS, t1
	trap_status s4, s3, t2
	REG_S	s4, PT_STATUS(sp)
	REG_S	zero, PT_BADADDR(sp)
	REG_S	zero, PT_CAUSE(sp)
	REG_S	zero, PT_ORIG_A0(sp)

	mv	a1, sp
	call	\function
.endm

/*
 * The start of a detour calls this and links in t0, after it has made room for the
 * frame and saved t0 there. What it goes on with restores t0 and releases the frame. When the
 * hit cannot continue in the detour, a trap loads all registers from the frame instead.
 */
SYM_CODE_START(kprobe_detour_entry)
	call_from_detour kprobe_detour_hit, DETOUR_CALL

	/* The detour can be continued only with the stack pointer and the status unchanged. */
	REG_L	t1, PT_SP(sp)
	REG_L	t2, PT_STATUS(sp)
	bltz	a0, .Lelsewhere
	bne	t1, s2, .Lchanged
	bne	t2, s4, .Lchanged

.Lgo_on:
	li	t1, SR_OFF
	and	t1, t1, s3
	csrs	CSR_STATUS, t1
	add	t0, s1, a0
	REG_L	x1, PT_RA(sp)
	restore_from_x6_to_x31
	jr	t0

.Lchanged:
	/* After an emulation the address is right already. */
	li	t1, DETOUR_EXIT - DETOUR_CALL
	beq	a0, t1, .Lelsewhere
	add	s1, s1, a0
	addi	s1, s1, DETOUR_RELEASE
	REG_S	s1, PT_EPC(sp)
	bnez	a0, .Lelsewhere
	/* The second copy runs with interrupts off. */
	li	t1, ~SR_PIE
	and	t2, t2, t1
	REG_S	t2, PT_STATUS(sp)
.Lelsewhere:
SYM_INNER_LABEL(kprobe_detour_trap, SYM_L_GLOBAL)
	ebreak
SYM_CODE_END(kprobe_detour_entry)

/* The detour calls this after the second copy, in the same way. */
SYM_CODE_START(kprobe_detour_post_entry)
	call_from_detour kprobe_detour_post, DETOUR_POST_CALL
	bltz	a0, .Lelsewhere
	j	.Lgo_on
SYM_CODE_END(kprobe_detour_post_entry)

#ifdef CONFIG_KRETPROBES
/*
 * A function whose return address was diverted returns here. Unwinders take this
 * for a function called by the real return address's function: its frame has the
 * address of the trampoline, for which they look up the real one.
 *
 * At the real return address all registers are as the function left them, except
 * that ra holds that address, as after a return of the function itself.
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

	/* Save the status as a trap in the caller would have. */
	csrr	t0, CSR_STATUS
	trap_status t2, t0, t1
	REG_S	t2, PT_STATUS(sp)
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
#endif
