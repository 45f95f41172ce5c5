/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where copies of instructions and diverted returns arrive. Nothing is saved
 * when they do, and the stack is the probed code's.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/processor-flags.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>

#include "../../entry/calling.h"

	.text

/*
 * From the jump behind the second copy of an instruction, interrupts off: what
 * a trap behind the instruction would do. The handler may change all registers,
 * so the way back is that of a trap as well.
 */
SYM_CODE_START(kprobe_post_entry)
	ANNOTATE_NOENDBR	/* reached by direct jump only */
	UNWIND_HINT_UNDEFINED
	pushq	$__KERNEL_DS
	pushq	%rsp		/* sp, corrected below */
	pushfq
	pushq	$__KERNEL_CS
	pushq	$0		/* ip, to be set in C */
	UNWIND_HINT_IRET_REGS
	pushq	$-1		/* orig_ax */
	PUSH_REGS
	ENCODE_FRAME_POINTER
	addq	$8, RSP(%rsp)

	/* The instruction may have set DF, AC or NT, which C and IRET must not see. */
	pushq	$X86_EFLAGS_FIXED
	popfq

	movq	%rsp, %rdi
	call	kprobe_post_trap
	jmp	restore_regs_and_return_to_kernel
SYM_CODE_END(kprobe_post_entry)
_ASM_NOKPROBE(kprobe_post_entry)

#ifdef CONFIG_KRETPROBES
/*
 * From the RET of a function whose return address was diverted. That address
 * is put back into its place on the stack, where unwinders recognise it and
 * look up the real one; the registers are saved below it. At the end RET takes
 * the real address from the same place, so that the next who diverted this
 * return finds everything as after a RET of the function itself.
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

	movq	%rsp, %rdi
	call	kretprobe_trampoline_return
	movq	%rax, PTREGS_SIZE(%rsp)

	/* Have the flags where nothing is left to be done after POPF but RET. */
	movq	EFLAGS(%rsp), %rax
	movq	%rax, SS(%rsp)
	POP_REGS
	addq	$(SS - ORIG_RAX), %rsp
	popfq
	RET
SYM_CODE_END(__kretprobe_trampoline)
_ASM_NOKPROBE(__kretprobe_trampoline)
#endif
