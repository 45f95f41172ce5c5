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
#include <asm/smap.h>
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

#ifdef CONFIG_OPTPROBES
/*
 * Called at the start of a detour: the return address is its first copy, and all
 * else is the probed code's. When no more is asked for than the values of
 * registers, that address is returned to. Otherwise leave as a trap would.
 */
SYM_CODE_START(kprobe_detour_entry)
	ANNOTATE_NOENDBR	/* called directly only */
	UNWIND_HINT_FUNC
	pushq	$__KERNEL_DS
	pushq	%rsp		/* sp, corrected below */
	pushfq
	pushq	$__KERNEL_CS
	pushq	$0		/* ip, set in C */
	pushq	$-1		/* orig_ax */
	PUSH_REGS
	ENCODE_FRAME_POINTER
	addq	$16, RSP(%rsp)

	/* What the C code relies on, and what it must not be able to do. */
	cld
	ASM_CLAC

	movq	%rsp, %rdi
	call	kprobe_detour_hit
	testb	%al, %al
	jz	.Lelsewhere

	POP_REGS
	addq	$(EFLAGS - ORIG_RAX), %rsp
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=32 type=UNWIND_HINT_TYPE_CALL
	popfq
	leaq	16(%rsp), %rsp
	RET

.Lelsewhere:
	UNWIND_HINT_REGS
	/* Interrupts off, and no NT, which IRET must not see. */
	pushq	$X86_EFLAGS_FIXED
	popfq
	jmp	restore_regs_and_return_to_kernel
SYM_CODE_END(kprobe_detour_entry)
_ASM_NOKPROBE(kprobe_detour_entry)

/* Never run: its address stands for the start of whatever a detour calls. */
SYM_CODE_START(kprobe_detour_callee)
	ANNOTATE_NOENDBR
	UNWIND_HINT_FUNC
	int3
SYM_CODE_END(kprobe_detour_callee)
_ASM_NOKPROBE(kprobe_detour_callee)
#endif

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
