/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where copies of instructions and diverted returns arrive: entry.S for 32 bits.
 * Nothing is saved when they do, and the stack is the probed code's.
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

/* What IRET takes from the stack without leaving the ring, and %eax below it. */
#define IRET_WORDS	4

	.text

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

/* Take back what is below %eax. */
.macro POP_GPRS_32
	popl	%ebx
	popl	%ecx
	popl	%edx
	popl	%esi
	popl	%edi
	popl	%ebp
.endm

/* The probed code may have other segments than C, which works with these. */
.macro SET_C_SEGMENTS
	movl	$__USER_DS, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	$__KERNEL_PERCPU, %eax
	movl	%eax, %fs
.endm

/* Take back the segments that the probed code had; gs is left where it is. */
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
 * From the jump behind the second copy of an instruction, interrupts off: what
 * a trap behind the instruction would do. The handler may change all registers,
 * so the way back is that of a trap as well. No other ring is left by it, so it
 * takes nothing but flags, cs and ip from the stack that it goes to: they have
 * to be put there, below the sp that the handler wants.
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
	 * When the new stack reaches down into the registers, or below them, move
	 * them out of its way. What is above %esp stays valid in an NMI.
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
_ASM_NOKPROBE(kprobe_post_entry)

#ifdef CONFIG_OPTPROBES
/*
 * Save the registers of the probed code. Leaves in %ebx where the call returns to, for a
 * handler may push something there, and in %eax the probe; @ret is the offset of the one
 * in the slot from the other.
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

	/* What the C code relies on, and what handlers must not be able to do. */
	SET_C_SEGMENTS
	ASM_CLAC

	movl	PTREGS_SIZE(%esp), %ebx
	movl	-\ret(%ebx), %eax
.endm

/* Handlers see the ip that is behind a breakpoint. */
.macro SET_IP_OF_PROBE
	movl	KPROBE_ADDR(%eax), %edx
	incl	%edx
	movl	%edx, PT_EIP(%esp)
.endm

/*
 * Called at the start of a detour: the return address is its first copy, and all
 * else is the probed code's. When no more is asked for than the values of
 * registers, that address is returned to. Otherwise leave as a trap would.
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

	/* From kprobe_detour_hit(): the hit is not over, and preemption still off. */
SYM_INNER_LABEL(kprobe_detour_leave, SYM_L_GLOBAL)
	movl	%eax, %esp
	ENCODE_FRAME_POINTER
	call	kprobe_detour_elsewhere
.Lleave_detour:
	/* Interrupts off, and no NT, which IRET must not see. */
	pushl	$X86_EFLAGS_FIXED
	popfl
	jmp	.Lleave

/* The same when a post_handler is to be called as well. */
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
 * Called in a post way, behind its copy: the probe is current and interrupts are off,
 * as at kprobe_post_entry(). DF is clear, for a function that may set it has no detours.
 */
SYM_INNER_LABEL(kprobe_detour_post_entry, SYM_L_GLOBAL)
	SAVE_REGS_IN_DETOUR DETOUR_POST_RETURN
	movl	%esp, %edx
	call	kprobe_detour_post
	testl	%eax, %eax
	jz	.Lback
	jmp	.Lleave_detour
SYM_CODE_END(kprobe_detour_entry)
_ASM_NOKPROBE(kprobe_detour_entry)

/* Never run: its address stands for the start of whatever a detour calls. */
SYM_CODE_START(kprobe_detour_callee)
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
 * return finds everything as after a RET of the function itself. The segment
 * registers are those of C on both sides.
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

	movl	%esp, %eax
	leal	PTREGS_SIZE(%esp), %edx
	call	kretprobe_trampoline_handler
	movl	%eax, PTREGS_SIZE(%esp)

	/* Have the flags where nothing is left to be done after POPF but RET. */
	movl	PT_EFLAGS(%esp), %eax
	movl	%eax, PT_OLDSS(%esp)
	POP_GPRS_32
	popl	%eax
	leal	PT_OLDSS - PT_DS(%esp), %esp
	popfl
	RET
SYM_CODE_END(__kretprobe_trampoline)
_ASM_NOKPROBE(__kretprobe_trampoline)
#endif
