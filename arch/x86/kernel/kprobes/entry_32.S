/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entry points for copies of instructions, detours and diverted returns: entry.S for 32
 * bits. Nothing is saved when they are reached, and the stack is that of the probed code.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/frame.h>
#include <asm/kprobes.h>
#include <asm/nospec-branch.h>
#include <asm/processor-flags.h>
#include <asm/segment.h>
#include <asm/smap.h>

/* Words that IRET takes from the stack if the ring stays the same, and %eax below them. */
#define IRET_WORDS	4

/* No probe may enter this section, not even at a symbol inside of a function. */
	.section .kprobes.text, "ax"

/* Fill in struct pt_regs below its orig_ax. */
.macro PUSH_REGS_32
	pushl	$0		/* gs, which the kernel leaves alone */
	pushl	%fs
	pushl	%es
	pushl	%ds
	pushl	%eax
	pushl	%ebp
	pushl	%edi
	pushl	%esi
	pushl	%edx
	pushl	%ecx
	pushl	%ebx
.endm

/* Restore the registers below %eax. */
.macro POP_GPRS_32
	popl	%ebx
	popl	%ecx
	popl	%edx
	popl	%esi
	popl	%edi
	popl	%ebp
.endm

/* The probed code may have other segments than these, which C code needs. */
.macro SET_C_SEGMENTS
	movl	$__USER_DS, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	$__KERNEL_PERCPU, %eax
	movl	%eax, %fs
.endm

/* Restore the segments of the probed code; gs is skipped. */
.macro POP_SEGMENTS
.Lds\@:	popl	%ds
.Les\@:	popl	%es
.Lfs\@:	popl	%fs
.Lend\@:
	_ASM_EXTABLE_TYPE(.Lds\@, .Les\@, EX_TYPE_POP_ZERO | EX_REG_DS)
	_ASM_EXTABLE_TYPE(.Les\@, .Lfs\@, EX_TYPE_POP_ZERO | EX_REG_ES)
	_ASM_EXTABLE_TYPE(.Lfs\@, .Lend\@, EX_TYPE_POP_ZERO | EX_REG_FS)
.endm

/*
 * Reached by the jump after the second copy of an instruction, with interrupts off. Does
 * what a trap after the instruction would do. The handler may change all registers, so
 * the way back is that of a trap as well. IRET does not change the ring, so it takes only
 * flags, cs and ip, from the stack to which it returns: put them there, below the sp that
 * the handler wants.
 */
SYM_CODE_START(kprobe_post_entry)
	leal	-IRET_WORDS * 4(%esp), %esp
	pushl	%ss
	pushl	%esp		/* sp, corrected below */
	pushfl
	pushl	$__KERNEL_CS
	pushl	$0		/* ip, to be set in C */
	pushl	$-1		/* orig_ax */
	PUSH_REGS_32
	ENCODE_FRAME_POINTER
	addl	$(IRET_WORDS + 1) * 4, PT_OLDESP(%esp)

	/* The instruction may have set DF, AC or NT, which C and IRET must not see. */
	SET_C_SEGMENTS
	pushl	$X86_EFLAGS_FIXED
	popfl

	movl	%esp, %eax
	call	kprobe_post_trap

.Lleave:
	/*
	 * If the new stack reaches down into the registers, or below them, move them out
	 * of its way. Anything above %esp is safe from an NMI.
	 */
	subl	$IRET_WORDS * 4, PT_OLDESP(%esp)
	movl	PT_OLDESP(%esp), %edx
	leal	-PTREGS_SIZE(%edx), %edi
	cmpl	%esp, %edi
	jae	.Lroom
	movl	%esp, %esi
	movl	%edi, %esp
	movl	$PTREGS_SIZE / 4, %ecx
	rep movsl
.Lroom:
	movl	PT_EAX(%esp), %eax
	movl	%eax, (%edx)
	movl	PT_EIP(%esp), %eax
	movl	%eax, 4(%edx)
	movl	$__KERNEL_CS, 8(%edx)
	movl	PT_EFLAGS(%esp), %eax
	movl	%eax, 12(%edx)

	POP_GPRS_32
	leal	4(%esp), %esp
	POP_SEGMENTS
	movl	PT_OLDESP - PT_GS(%esp), %esp
	popl	%eax
	iret
SYM_CODE_END(kprobe_post_entry)

#ifdef CONFIG_OPTPROBES
/*
 * Save the registers of the probed code. Leaves in %ebx the return address of the call,
 * because a handler may push something over it, and in %eax the probe; @ret is the
 * distance between the two in the slot.
 */
.macro SAVE_REGS_IN_DETOUR ret:req
	pushl	%ss
	pushl	%esp		/* sp, corrected below */
	pushfl
	pushl	$__KERNEL_CS
	pushl	$0		/* ip, set below or in C */
	pushl	5 * 4(%esp)	/* orig_ax: where to go on, see arch_kprobe_regs_ip() */
	PUSH_REGS_32
	ENCODE_FRAME_POINTER
	addl	$2 * 4, PT_OLDESP(%esp)

	/* C code needs these segments, and handlers must not be able to access user memory. */
	SET_C_SEGMENTS
	ASM_CLAC

	movl	PTREGS_SIZE(%esp), %ebx
	movl	-\ret(%ebx), %eax
.endm

/* Handlers see the ip after a breakpoint. */
.macro SET_IP_OF_PROBE
	movl	KPROBE_ADDR(%eax), %edx
	incl	%edx
	movl	%edx, PT_EIP(%esp)
.endm

/*
 * Called at the start of a detour: the return address is that of its first copy, and
 * everything else belongs to the probed code. If handlers have changed only registers,
 * return there. Otherwise leave as a trap would.
 */
SYM_CODE_START(kprobe_detour_entry)
	SAVE_REGS_IN_DETOUR DETOUR_RETURN
	SET_IP_OF_PROBE
	movl	%esp, %edx
	call	kprobe_detour_hit

.Lback:
	leal	PTREGS_SIZE + 4(%esp), %eax
	cmpl	%eax, PT_OLDESP(%esp)
	jne	.Lmoved

.Lreturn:
	POP_GPRS_32
	popl	%eax
	POP_SEGMENTS
	leal	PT_EFLAGS - PT_GS(%esp), %esp
	popfl
	leal	2 * 4(%esp), %esp
	RET

.Lmoved:
	movl	%ebx, PT_EIP(%esp)
	jmp	.Lleave_detour

	/*
	 * Reached from kprobe_detour_hit(): the hit is not over, and preemption is still
	 * off.
	 */
SYM_INNER_LABEL(kprobe_detour_leave, SYM_L_GLOBAL)
	movl	%eax, %esp
	ENCODE_FRAME_POINTER
	call	kprobe_detour_elsewhere
.Lleave_detour:
	/* Interrupts off, and no NT, which IRET must not see. */
	pushl	$X86_EFLAGS_FIXED
	popfl
	jmp	.Lleave

/* The same when a post_handler has to be called as well. */
SYM_INNER_LABEL(kprobe_detour_pre_entry, SYM_L_GLOBAL)
	SAVE_REGS_IN_DETOUR DETOUR_RETURN
	SET_IP_OF_PROBE
	movl	%esp, %edx
	call	kprobe_detour_hit_pre
	testl	%eax, %eax
	jz	.Lleave_detour
	movl	%eax, %ebx
	leal	PTREGS_SIZE + 4(%esp), %eax
	cmpl	%eax, PT_OLDESP(%esp)
	jne	.Lmoved
	movl	%ebx, PTREGS_SIZE(%esp)
	jmp	.Lreturn

/*
 * Called in a post way, after its copy: the probe is current and interrupts are off, as
 * at kprobe_post_entry(). DF is clear, because a function that may set it has no detours.
 */
SYM_INNER_LABEL(kprobe_detour_post_entry, SYM_L_GLOBAL)
	SAVE_REGS_IN_DETOUR DETOUR_POST_RETURN
	movl	%esp, %edx
	call	kprobe_detour_post
	testl	%eax, %eax
	jz	.Lback
	jmp	.Lleave_detour
SYM_CODE_END(kprobe_detour_entry)

/* Never run: its address stands for the start of any function that a detour calls. */
SYM_CODE_START(kprobe_detour_callee)
	int3
SYM_CODE_END(kprobe_detour_callee)
#endif

#ifdef CONFIG_KRETPROBES
/*
 * Reached by the RET of a function whose return address was diverted. That address is put
 * back in its place on the stack, where unwinders recognise it and look up the real one;
 * the registers are saved below it. At the end RET takes the real address from the same
 * place, so that another user who diverted this return finds everything as after a RET of
 * the function itself. The segment registers are those of C on both sides.
 */
SYM_CODE_START(__kretprobe_trampoline)
	pushl	$__kretprobe_trampoline
	pushl	%ss
	pushl	%esp		/* sp, corrected below */
	pushfl
	pushl	$__KERNEL_CS
	pushl	$__kretprobe_trampoline
	pushl	$-1		/* orig_ax */
	PUSH_REGS_32
	ENCODE_FRAME_POINTER
	addl	$2 * 4, PT_OLDESP(%esp)
	ASM_CLAC

	movl	%esp, %eax
	leal	PTREGS_SIZE(%esp), %edx
	call	kretprobe_trampoline_handler

	/* Move the flags, so that only RET follows POPF. */
	movl	PT_EFLAGS(%esp), %eax
	movl	%eax, PT_OLDSS(%esp)
	POP_GPRS_32
	popl	%eax
	leal	PT_OLDSS - PT_DS(%esp), %esp
	popfl
	RET
SYM_CODE_END(__kretprobe_trampoline)
#endif
