/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where detours and diverted returns arrive. Nothing is saved when they do, and the
 * stack is that of the probed code.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/csr.h>
#include <asm/kprobes.h>

	.text

/* The registers, and above them what a function has that keeps a frame pointer. */
#define FRAME_SIZE	(PT_SIZE_ON_STACK + STACKFRAME_SIZE_ON_STACK)
#define FRAME_RA	(FRAME_SIZE - SZREG)
#define FRAME_FP	(FRAME_SIZE - 2 * SZREG)

/* From SR_IE to SR_PIE. */
#define PIE_SHIFT	4

/* What a trap would have saved of the status register \status, in \saved. */
.macro trap_status saved, status, tmp
	andi	\tmp, \status, SR_IE
	slli	\tmp, \tmp, PIE_SHIFT
	li	\saved, ~(SR_IE | SR_PIE)
	and	\saved, \saved, \status
	or	\saved, \saved, \tmp
	li	\tmp, SR_PP
	or	\saved, \saved, \tmp
.endm

#ifdef CONFIG_OPTPROBES
/*
 * What a trap takes away, and its return gives back. Where vector registers are kept for
 * a task that is preempted, they are only if its status says that it uses them.
 */
#ifdef CONFIG_RISCV_ISA_V_PREEMPTIVE
#define SR_OFF		(SR_SUM | SR_FS)
#else
#define SR_OFF		(SR_SUM | SR_FS_VS)
#endif

/*
 * Called from the start of a detour, which links in t0, after saving that in the
 * frame that it has made room for. In front of its code is the probe. To unwinders
 * the frame belongs to the probed function, as that of a trap does.
 *
 * Returned to, the detour takes the frame from the stack. Otherwise a trap loads
 * all registers from it.
 */
SYM_CODE_START(kprobe_detour_entry)
	REG_S	x1, PT_RA(sp)
	REG_S	x3, PT_GP(sp)
	REG_S	x4, PT_TP(sp)
	save_from_x6_to_x31

	mv	s1, t0
	REG_L	a0, -(DETOUR_CALL + SZREG)(t0)
	REG_L	t1, KPROBE_ADDR(a0)
	addi	s2, sp, FRAME_SIZE
	REG_S	t1, PT_EPC(sp)
	REG_S	s2, PT_SP(sp)
	REG_S	t1, FRAME_RA(sp)
	REG_S	s0, FRAME_FP(sp)
	mv	s0, s2

	/* What the handlers must not be able to do. */
	li	t1, SR_OFF
	csrrc	s3, CSR_STATUS, t1
	trap_status s4, s3, t2
	REG_S	s4, PT_STATUS(sp)
	REG_S	zero, PT_BADADDR(sp)
	REG_S	zero, PT_CAUSE(sp)
	REG_S	zero, PT_ORIG_A0(sp)

	mv	a1, sp
	call	kprobe_detour_hit

	/* The detour goes on behind the probe, with the stack and the status as they were. */
	REG_L	t1, PT_SP(sp)
	REG_L	t2, PT_STATUS(sp)
	bnez	a0, .Lelsewhere
	bne	t1, s2, .Lcopies
	bne	t2, s4, .Lcopies

	li	t1, SR_OFF
	and	t1, t1, s3
	csrs	CSR_STATUS, t1
	mv	t0, s1
	REG_L	x1, PT_RA(sp)
	restore_from_x6_to_x31
	jr	t0

.Lcopies:
	addi	s1, s1, DETOUR_ENTRY - DETOUR_CALL
	REG_S	s1, PT_EPC(sp)
.Lelsewhere:
SYM_INNER_LABEL(kprobe_detour_trap, SYM_L_GLOBAL)
	ebreak
SYM_CODE_END(kprobe_detour_entry)
ASM_NOKPROBE(kprobe_detour_entry)
ASM_NOKPROBE(kprobe_detour_trap)
#endif

#ifdef CONFIG_KRETPROBES
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
ASM_NOKPROBE(__kretprobe_trampoline)
#endif
