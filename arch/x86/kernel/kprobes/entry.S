/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entry points for copies of instructions, detours and diverted returns. Nothing is saved
 * when they are reached, and the stack is that of the probed code.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/alternative.h>
#include <asm/cpufeatures.h>
#include <asm/frame.h>
#include <asm/fred.h>
#include <asm/kprobes.h>
#include <asm/nospec-branch.h>
#include <asm/percpu.h>
#include <asm/processor-flags.h>
#include <asm/segment.h>
#include <asm/smap.h>
#include <asm/unwind_hints.h>

#include "../../entry/calling.h"

/* No probe may enter this section, not even at a symbol inside of a function. */
	.section .kprobes.text, "ax"

/*
 * Return from a struct pt_regs on the stack. IRET would unmask NMIs, which on a CPU with
 * FRED must happen only by ERETS at the end of an NMI: there the kernel has no code for
 * nested NMIs. ERETS takes more from the stack than IRET, see kprobe_fred_frame().
 */
.macro LEAVE_AS_A_TRAP
#ifdef CONFIG_X86_FRED
	ALTERNATIVE "jmp restore_regs_and_return_to_kernel", "jmp .Lleave_by_erets", \
		    X86_FEATURE_FRED
#else
	jmp	restore_regs_and_return_to_kernel
#endif
.endm

#ifdef CONFIG_X86_FRED
SYM_CODE_START_LOCAL(kprobe_leave_by_erets)
.Lleave_by_erets:
	UNWIND_HINT_REGS
	movq	%rsp, %rdi
	call	kprobe_fred_frame
	POP_REGS
	/* The top of the stack is the place of an error code. */
	ERETS
SYM_CODE_END(kprobe_leave_by_erets)
#endif

/*
 * Reached by the jump after the second copy of an instruction, with interrupts off. Does
 * what a trap after the instruction would do. The handler may change all registers, so
 * the way back is that of a trap as well.
 */
SYM_CODE_START(kprobe_post_entry)
	ANNOTATE_NOENDBR	/* reached by direct jump only */
	UNWIND_HINT_UNDEFINED
	pushq	$0		/* for what a handler may push */
	pushq	$__KERNEL_DS
	pushq	%rsp		/* sp, corrected below */
	pushfq
	pushq	$__KERNEL_CS
	pushq	$0		/* ip, to be set in C */
	UNWIND_HINT_IRET_REGS
	pushq	$0		/* orig_ax, see arch_kprobe_regs_ip() */
	PUSH_REGS
	ENCODE_FRAME_POINTER
	addq	$2 * 8, RSP(%rsp)

	/* The instruction may have set DF, AC or NT, which C and IRET must not see. */
	pushq	$X86_EFLAGS_FIXED
	popfq

	movq	%rsp, %rdi
	call	kprobe_post_trap
	LEAVE_AS_A_TRAP
SYM_CODE_END(kprobe_post_entry)

#ifdef CONFIG_OPTPROBES
/* Call the pre_handler of the kprobe in %rdi. */
.macro CALL_PRE_HANDLER
	movq	%rsp, %rsi
#if defined(CONFIG_KPROBES_CFI)
	/* Only C code is compiled to call functions by pointer with CFI. */
	call	kprobe_detour_call
#elif defined(CONFIG_MITIGATION_RETPOLINE)
	movq	KPROBE_HIT_PRE(%rdi), %rax
	CALL_NOSPEC rax
#else
	call	*KPROBE_HIT_PRE(%rdi)
#endif
.endm

/* Call its post_handler, if it has one; that of a point may go at any time. */
.macro CALL_POST_HANDLER
	movq	%rsp, %rsi
#ifdef CONFIG_KPROBES_CFI
	call	kprobe_detour_call_post
#else
	movq	KPROBE_POST_HANDLER(%rdi), %rax
	testq	%rax, %rax
	jz	.Lcalled
	xorl	%edx, %edx
	CALL_NOSPEC rax
.Lcalled:
#endif
.endm

/*
 * Complete what a detour has pushed to a struct pt_regs. Leaves in %rbx the address at
 * which the detour continues, because handlers may overwrite orig_ax. As orig_ax the
 * address does not look like a system call.
 */
.macro SAVE_REGS_IN_DETOUR
	UNWIND_HINT_IRET_REGS offset=8
	PUSH_REGS
	ENCODE_FRAME_POINTER
	movq	$__KERNEL_DS, SS(%rsp)
	movq	ORIG_RAX(%rsp), %rbx

	/* Handlers must not be able to access user memory. */
	ASM_CLAC
.endm

/*
 * Begin a hit like kprobe_int3_handler(): leaves the probe in %rdi. Interrupts may be on here.
 */
.macro BEGIN_HIT nested:req
#ifdef CONFIG_PREEMPT_COUNT
	KPROBE_INC_PREEMPT_COUNT
#endif
	movq	-DETOUR_RETURN(%rbx), %rdi
	cmpq	$0, PER_CPU_VAR(current_kprobe)
	jne	\nested
	movq	%rdi, PER_CPU_VAR(current_kprobe)
	movl	PER_CPU_VAR(KPROBE_PREEMPT_COUNT), %eax
	movl	%eax, PER_CPU_VAR(kprobe_ctlblk + KPROBE_CONTEXT)
.endm

/* As reset_current_kprobe(). */
.macro END_HIT
	movq	$0, PER_CPU_VAR(current_kprobe)
	movl	$0, PER_CPU_VAR(kprobe_ctlblk + KPROBE_CONTEXT)
.endm

/*
 * Called at the start of a detour, which has pushed what a trap does, except ss. The
 * return address takes the place of an error code; the probe is at a fixed distance from
 * it, see struct detour. On return the detour drops what it has pushed. Otherwise leave
 * as a trap would.
 */
SYM_CODE_START(kprobe_detour_entry)
	ANNOTATE_NOENDBR	/* called directly only */
	SAVE_REGS_IN_DETOUR
	BEGIN_HIT .Lnested
	movq	KPROBE_HANDLER_PROBE(%rdi), %rdi
	CALL_PRE_HANDLER
	testl	%eax, %eax
	jnz	.Lelsewhere
	END_HIT
.Lover:
#ifdef CONFIG_PREEMPT_COUNT
	KPROBE_DEC_PREEMPT_COUNT
#endif
#ifdef CONFIG_PREEMPTION
	jz	.Lreschedule
#endif
.Lback:
	movq	%rbx, ORIG_RAX(%rsp)
	POP_REGS
	UNWIND_HINT_IRET_REGS offset=8
#if DETOUR_DROPS
	RET
#else
	ret	$16
#endif

.Lnested:
	UNWIND_HINT_REGS
	movq	%rsp, %rsi
	call	kprobe_detour_nested
	testl	%eax, %eax
	jz	.Lover
	jmp	.Lelsewhere

#ifdef CONFIG_PREEMPTION
.Lreschedule:
	UNWIND_HINT_REGS
	/* Unwinders use this to find the preempted code, see arch_kprobe_regs_ip(). */
	movq	%rbx, ORIG_RAX(%rsp)
	call	kprobe_detour_preempt
	jmp	.Lback
#endif

	/* The hit is not over, and preemption is still off. */
.Lelsewhere:
	UNWIND_HINT_REGS
	movq	%rsp, %rdi
	call	kprobe_detour_elsewhere
.Lleave:
	/* Interrupts off, and no NT, which IRET must not see. */
	pushq	$X86_EFLAGS_FIXED
	popfq

	/* A word that a handler has pushed is in the place of ss: move the registers down. */
	movq	RSP(%rsp), %rdi
	subq	$PTREGS_SIZE, %rdi
	cmpq	%rsp, %rdi
	jae	.Lroom
	movq	%rsp, %rsi
	movq	%rdi, %rsp
	UNWIND_HINT_UNDEFINED
	movl	$PTREGS_SIZE / 8, %ecx
	rep movsq
	UNWIND_HINT_REGS
	ENCODE_FRAME_POINTER
	movq	$__KERNEL_DS, SS(%rsp)
.Lroom:
	UNWIND_HINT_REGS
	LEAVE_AS_A_TRAP

/*
 * The same when a post_handler has to be called as well. Continues in the post way, like
 * kprobe_enter_post_copy(): the probe stays current, and the task on its CPU.
 */
SYM_INNER_LABEL(kprobe_detour_pre_entry, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR	/* called directly only */
	SAVE_REGS_IN_DETOUR
	BEGIN_HIT .Lnested_pre
.Lbegun_pre:
	movq	KPROBE_HANDLER_PROBE(%rdi), %rdi
	movq	%rdi, PER_CPU_VAR(kprobe_ctlblk + KPROBE_CALLED)
	CALL_PRE_HANDLER
	testl	%eax, %eax
	jnz	.Lelsewhere
	/* Only a negative distance carries: then there is no copy. */
	movsbq	DETOUR_WAY - DETOUR_RETURN(%rbx), %rax
	addq	%rax, %rbx
	jc	.Lemulate
	movl	EFLAGS(%rsp), %eax
	movl	%eax, PER_CPU_VAR(kprobe_ctlblk + KPROBE_SAVED_FLAGS)
	andl	$~X86_EFLAGS_IF, EFLAGS(%rsp)
#ifdef CONFIG_PREEMPT_COUNT
	/* Until the post_handler is called only this keeps the probe from being freed. */
	cli
	KPROBE_DEC_PREEMPT_COUNT
#endif
	jmp	.Lback

.Lnested_pre:
	UNWIND_HINT_REGS
	movq	%rdi, %r12
	xorl	%esi, %esi
	call	kprobe_hit_nested
	movq	%r12, %rdi
	testb	%al, %al
	jnz	.Lbegun_pre
	jmp	.Lover

.Lemulate:
	UNWIND_HINT_REGS
	subq	%rax, %rbx
	movq	%rsp, %rdi
	movq	%rbx, %rsi
	call	kprobe_detour_emulate
	movq	%rax, %rbx
	testq	%rax, %rax
	jnz	.Lback
	jmp	.Lleave

/*
 * Called in a post way, after its copy and with the frame with which a detour begins:
 * the probe is current and interrupts are off, as at kprobe_post_entry(). The handler
 * gets the interrupt state from before the copy. DF is clear, because a function that may
 * set it has no detours.
 */
SYM_INNER_LABEL(kprobe_detour_post_entry, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR	/* called directly only */
	SAVE_REGS_IN_DETOUR
#ifdef CONFIG_PREEMPT_COUNT
	KPROBE_INC_PREEMPT_COUNT
#endif
	movl	PER_CPU_VAR(kprobe_ctlblk + KPROBE_SAVED_FLAGS), %eax
	andl	$X86_EFLAGS_IF, %eax
	jz	.Lno_interrupts
	orl	%eax, EFLAGS(%rsp)
	sti
.Lno_interrupts:
	movq	RIP(%rsp), %r12
	movq	PER_CPU_VAR(kprobe_ctlblk + KPROBE_CALLED), %rdi
	CALL_POST_HANDLER
	cmpl	$0, PER_CPU_VAR(kprobe_nr_interrupted)
	jne	.Lresume
	END_HIT
.Lended:
	cmpq	%r12, RIP(%rsp)
	je	.Lover
	movq	%rsp, %rdi
	call	kprobe_detour_follow
	jmp	.Lleave

.Lresume:
	UNWIND_HINT_REGS
	call	kprobe_hit_pop
	jmp	.Lended
SYM_CODE_END(kprobe_detour_entry)

/* Never run: its address stands for the start of any function that a detour calls. */
SYM_CODE_START(kprobe_detour_callee)
	ANNOTATE_NOENDBR
	UNWIND_HINT_FUNC
	int3
SYM_CODE_END(kprobe_detour_callee)
#endif

#ifdef CONFIG_KRETPROBES
/*
 * Reached by the RET of a function whose return address was diverted. That address is put
 * back in its place on the stack, where unwinders recognise it and look up the real one;
 * the registers are saved below it. At the end RET takes the real address from the same
 * place, so that another user who diverted this return finds everything as after a RET of
 * the function itself.
 */
SYM_CODE_START(__kretprobe_trampoline)
	ANNOTATE_NOENDBR	/* reached by RET only */
	UNWIND_HINT_UNDEFINED
	pushq	$__kretprobe_trampoline
	UNWIND_HINT_FUNC
	pushq	$__KERNEL_DS
	pushq	%rsp		/* sp, corrected below */
	pushfq
	pushq	$__KERNEL_CS
	pushq	$__kretprobe_trampoline
	pushq	$-1		/* orig_ax */
	PUSH_REGS unwind_hint=0
	ENCODE_FRAME_POINTER
	addq	$16, RSP(%rsp)
	ASM_CLAC

	movq	%rsp, %rdi
	leaq	PTREGS_SIZE(%rsp), %rsi
	call	kretprobe_trampoline_handler

	POP_REGS
	addq	$(EFLAGS - ORIG_RAX), %rsp
	popfq
	leaq	16(%rsp), %rsp
	RET
SYM_CODE_END(__kretprobe_trampoline)
#endif
