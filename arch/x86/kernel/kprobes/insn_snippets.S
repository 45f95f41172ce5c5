/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pieces of code that insn_test.c probes, and the only way into and out of them. This
 * file has those that 64 and 32 bits have in common.
 *
 * A snippet starts with random registers, flags, stack and memory, and ends
 * where it runs off its end. It may change anything, under these rules:
 *
 *	%rbx	points into the middle of insn_test_mem
 *	PERCPU_REG is the per-CPU offset of insn_test_percpu
 *	SMALL	is 0 to 7
 *	%rsp	points to INSN_TEST_STACK bytes of stack; what a snippet leaves
 *		below %rsp is lost at the next interrupt, and not compared
 *	others	are random, as are the arithmetic flags, DF and IF; TF and AC are 0
 *
 * All local labels are .L labels: a snippet must be one symbol, as a function
 * is. A branch that must not be missed has a STEP in its way: it counts in
 * COUNTER without touching the flags.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/errno.h>
#include <asm/nospec-branch.h>
#include <asm/percpu.h>
#include <asm/processor-flags.h>
#include <asm/segment.h>
#include "insn_test.h"

#define STEP(n)		lea n(COUNTER), COUNTER
#define PERCPU(n)	PER_CPU_VAR(insn_test_percpu + n)
#define UNMAPPED	-4096

/* -- tables -- */

.pushsection .data
.balign 8
SYM_DATA_START(insn_snippets)
.popsection

.text

.macro SNIPPET name, needs=0
	.balign	16, 0xcc
	.type	insn_\name, @function
insn_\name:
	ANNOTATE_NOENDBR
	.pushsection .rodata.str
.Lname_\name:
	.asciz	"\name"
	.popsection
	.pushsection .data
	_ASM_PTR	insn_\name, .Lend_\name - insn_\name, .Lname_\name, \needs
	.popsection
.endm

.macro END name
	jmp	insn_test_exit
.Lend_\name:
	.size	insn_\name, . - insn_\name
	STACK_FRAME_NON_STANDARD insn_\name
.endm

/* -- definitions and snippets of one width -- */

#ifdef CONFIG_X86_64
#include "insn_snippets_64.S"
#else
#include "insn_snippets_32.S"
#endif

/* -- moves -- */

SNIPPET flags_reg
	lahf
	sahf
	stc
	clc
	cmc
	seto	%al
	setb	%cl
	setle	%dl
	cmovne	%_ASM_AX, %_ASM_DX
	cmovg	%ecx, %edx
	cmovp	%ax, %cx
END flags_reg

SNIPPET direction, SNIPPET_BACKWARDS
	std
	lahf
	adc	%_ASM_AX, %_ASM_CX
	cld
	mov	%_ASM_CX, %_ASM_DX
END direction

SNIPPET nops
	.irp	n, 1, 2, 3, 4, 5, 6, 7
	.nops	\n, \n
	.endr
	.byte	0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00
	.byte	0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00
	.byte	0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00
	.byte	0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00
	.byte	0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84
	.byte	0x00, 0x00, 0x00, 0x00, 0x00
	pause
	xchg	%ax, %ax
	endbr64
	.byte	0xf3, 0x0f, 0x1e, 0xfb		/* endbr32 */
	lfence
	mfence
	sfence
END nops

SNIPPET xlat
	movzbl	%al, %eax
	and	$0x3f, %al
	xlatb
END xlat

/* -- stack -- */

SNIPPET stack_pointer
	mov	%_ASM_SP, %_ASM_CX
	push	%_ASM_CX
	pop	%_ASM_SP
	push	%_ASM_SP
	pop	%_ASM_AX
	sub	$64, %_ASM_SP
	mov	%_ASM_AX, 8(%_ASM_SP)
	lea	32(%_ASM_SP), %_ASM_DX
	mov	%_ASM_DX, (%_ASM_SP)
	pop	%_ASM_SP
	and	$-16, %_ASM_SP
	mov	%_ASM_SP, %_ASM_DX
	xchg	%_ASM_SP, %_ASM_DX
END stack_pointer

SNIPPET enter_leave
	enter	$32, $0
	mov	%_ASM_AX, -8(%_ASM_BP)
	leave
	push	%_ASM_BP
	mov	%_ASM_SP, %_ASM_BP
	enter	$16, $1
	leave
	leave
END enter_leave

/* -- flags, moved as a whole; Failures X8, and M5 for 16 bits -- */

SNIPPET pushf
	pushf
	pop	%_ASM_AX
	add	%_ASM_CX, %_ASM_DX
	pushf
	pop	%_ASM_DX
END pushf

SNIPPET popf, SNIPPET_SETS_IF
	pushf
	__ASM_SIZE(xor)	$(X86_EFLAGS_CF | X86_EFLAGS_OF | X86_EFLAGS_ZF | X86_EFLAGS_DF), (%_ASM_SP)
	popf
	pushf
	__ASM_SIZE(xor)	$(X86_EFLAGS_IF | X86_EFLAGS_SF | X86_EFLAGS_ID), (%_ASM_SP)
	popf
	pushf
	pop	%_ASM_AX
END popf

SNIPPET pushf16
	pushfw
	popw	%ax
	mov	%_ASM_SP, %_ASM_CX
	pushfw
	mov	%_ASM_SP, %_ASM_DX
	popw	%si
END pushf16

SNIPPET popf16, SNIPPET_SETS_IF
	pushw	%ax
	andw	$(X86_EFLAGS_CF | X86_EFLAGS_ZF | X86_EFLAGS_DF | X86_EFLAGS_IF), (%_ASM_SP)
	popfw
	mov	%_ASM_SP, %_ASM_CX
	pushf
	pop	%_ASM_DX
END popf16

SNIPPET cli
	cli
	pushf
	pop	%_ASM_AX
	cli
	STEP(1)
END cli

SNIPPET cli_sti, SNIPPET_SETS_IF
	cli
	pushf
	pop	%_ASM_AX
	sti
	STEP(1)
	pushf
	pop	%_ASM_DX
	sti
	cli
	STEP(2)
	sti
	nop
END cli_sti

/* -- direct branches -- */

SNIPPET jmp_short
	jmp	.Ljs2
.Ljs1:
	STEP(1)
	jmp	.Ljs3
	STEP(2)
.Ljs2:
	STEP(4)
	jmp	.Ljs1
.Ljs3:
	STEP(8)
END jmp_short

SNIPPET jmp_near
	.byte	0xe9
	.long	.Ljn2 - . - 4
.Ljn1:
	STEP(1)
	.byte	0xe9
	.long	.Ljn3 - . - 4
	STEP(2)
.Ljn2:
	STEP(4)
	.byte	0x2e, 0xe9
	.long	.Ljn1 - . - 4
.Ljn3:
	STEP(8)
	.byte	0xf2, 0xe9
	.long	.Ljn4 - . - 4
	STEP(16)
.Ljn4:
END jmp_near

/* Failure X2: each condition, from states with all flags. */
.macro JCC cc, n
SNIPPET jcc_\cc
	.byte	0x70 + \n, .Ljcc1_\cc - . - 1
	STEP(1)
.Ljcc1_\cc:
	STEP(2)
	.byte	0x0f, 0x80 + \n
	.long	.Ljcc2_\cc - . - 4
	STEP(4)
.Ljcc2_\cc:
	.byte	0x2e, 0x0f, 0x80 + \n
	.long	.Ljcc3_\cc - . - 4
	STEP(8)
.Ljcc3_\cc:
	.byte	0x3e, 0x70 + \n, .Ljcc4_\cc - . - 1
	STEP(16)
.Ljcc4_\cc:
END jcc_\cc
.endm

JCC o, 0
JCC no, 1
JCC b, 2
JCC ae, 3
JCC e, 4
JCC ne, 5
JCC be, 6
JCC a, 7
JCC s, 8
JCC ns, 9
JCC p, 10
JCC np, 11
JCC l, 12
JCC ge, 13
JCC le, 14
JCC g, 15

/* Failure M3: the counter is decremented, and then tested. */
SNIPPET loop
	mov	$3, %ecx
.Lloop1:
	STEP(1)
	loop	.Lloop1
	mov	$1, %ecx
	loop	.Lloop2
	STEP(16)
.Lloop2:
	mov	SMALL, %_ASM_CX
	inc	%_ASM_CX
.Lloop3:
	STEP(32)
	loop	.Lloop3
	xor	%ecx, %ecx
	loop	.Lloop4
	STEP(1024)
.Lloop4:
END loop

SNIPPET loope
	lea	1(SMALL), %_ASM_CX
.Lloope1:
	STEP(1)
	loope	.Lloope1
	mov	$2, %ecx
	loope	.Lloope2
	STEP(16)
.Lloope2:
	mov	$1, %ecx
	loope	.Lloope3
	STEP(32)
.Lloope3:
END loope

SNIPPET loopne
	lea	1(SMALL), %_ASM_CX
.Lloopne1:
	STEP(1)
	loopne	.Lloopne1
	mov	$2, %ecx
	loopne	.Lloopne2
	STEP(16)
.Lloopne2:
	mov	$1, %ecx
	loopne	.Lloopne3
	STEP(32)
.Lloopne3:
END loopne

/* Failure X1: breakpoints that are part of the text, as after a return. */
SNIPPET padding
	jmp	.Lpad1
	int3
	int3
	int3
.Lpad1:
	STEP(1)
	jmp	.Lpad2
	.fill	9, 1, 0xcc
.Lpad2:
	add	$5, %eax
END padding

/* -- calls and returns -- */

SNIPPET call_ret
	jmp	.Lcr2
.Lcr1:
	mov	(%_ASM_SP), %_ASM_AX		/* what the call pushed */
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lcr2:
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lcr1
	STEP(2)
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lcr3			/* of the next instruction */
.Lcr3:
	pop	%_ASM_DX
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lcr1
END call_ret

/* Failure M4 */
SNIPPET call_prefixed
	jmp	.Lcp2
.Lcp1:
	mov	(%_ASM_SP), %_ASM_AX
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lcp2:
	ANNOTATE_INTRA_FUNCTION_CALL
	.byte	0x2e, 0xe8
	.long	.Lcp1 - . - 4
	STEP(2)
	ANNOTATE_INTRA_FUNCTION_CALL
	.byte	0xf2, 0xe8
	.long	.Lcp1 - . - 4
	STEP(4)
	ANNOTATE_INTRA_FUNCTION_CALL
	.byte	0x67, 0xe8
	.long	.Lcp1 - . - 4
	STEP(8)
	ANNOTATE_INTRA_FUNCTION_CALL
	.byte	0x3e, 0x2e, 0xe8
	.long	.Lcp1 - . - 4
	ANNOTATE_INTRA_FUNCTION_CALL
	.byte	0x48, 0xe8
	.long	.Lcp1 - . - 4
END call_prefixed

SNIPPET ret_forms
	jmp	.Lrf5
.Lrf1:
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret	$16
.Lrf2:
	STEP(2)
	ANNOTATE_UNRET_SAFE
	.byte	0xf3, 0xc3		/* rep ret */
.Lrf3:
	STEP(4)
	ANNOTATE_UNRET_SAFE
	.byte	0xf2, 0xc3		/* bnd ret */
.Lrf4:
	STEP(8)
	ANNOTATE_UNRET_SAFE
	ret	$0
.Lrf5:
	push	%_ASM_AX
	push	%_ASM_CX
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lrf1
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lrf2
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lrf3
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lrf4
	push	%_ASM_DX
	ANNOTATE_INTRA_FUNCTION_CALL
	.byte	0xe8
	.long	.Lrf6 - . - 4
	STEP(16)
	jmp	.Lrf7
.Lrf6:
	ANNOTATE_UNRET_SAFE
	.byte	0xf2, 0xc2, 8, 0	/* bnd ret $8 */
.Lrf7:
END ret_forms

SNIPPET ret_as_jump, SNIPPET_COMPUTED
	mov	$.Lrj1, %_ASM_CX
	push	%_ASM_CX
	ANNOTATE_UNRET_SAFE
	ret
	STEP(1)
.Lrj1:
	ANNOTATE_NOENDBR
	STEP(2)
END ret_as_jump

/* -- indirect branches -- */

.macro CALL_REG r
SNIPPET call_\r
	push	%\r
	jmp	.Lcall2_\r
.Lcall1_\r:
	endbr64
	mov	(%_ASM_SP), %_ASM_AX
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lcall2_\r:
	mov	$.Lcall1_\r, %\r
	ANNOTATE_RETPOLINE_SAFE
	call	*%\r
	STEP(2)
	mov	$.Lcall3_\r, %\r
	ANNOTATE_RETPOLINE_SAFE
	jmp	*%\r
	STEP(4)
.Lcall3_\r:
	endbr64
	STEP(8)
END call_\r
.endm

.irp r, CALL_REGS
CALL_REG \r
.endr

/* Through memory, with each register as the base: the encodings differ. */
.macro CALL_BASE r
SNIPPET call_base_\r
	jmp	.Lcb2_\r
.Lcb1_\r:
	endbr64
	push	8(%_ASM_SP)
	pop	0x100(%_ASM_BX)
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lcb2_\r:
	mov	$.Lcb1_\r, %_ASM_AX
	mov	%_ASM_AX, (%_ASM_BX)
	mov	%_ASM_AX, 24(%_ASM_BX)
	mov	%_ASM_AX, 0x180(%_ASM_BX)
	mov	$.Lcb3_\r, %_ASM_AX
	mov	%_ASM_AX, 16(%_ASM_BX)
	mov	%_ASM_BX, %\r
	ANNOTATE_RETPOLINE_SAFE
	call	*(%\r)
	STEP(2)
	ANNOTATE_RETPOLINE_SAFE
	call	*24(%\r)
	STEP(4)
	ANNOTATE_RETPOLINE_SAFE
	call	*0x180(%\r)
	STEP(8)
	ANNOTATE_RETPOLINE_SAFE
	jmp	*16(%\r)
	STEP(16)
.Lcb3_\r:
	endbr64
	STEP(32)
END call_base_\r
.endm

.irp r, BASE_REGS
CALL_BASE \r
.endr

.macro CALL_INDEX r
SNIPPET call_index_\r
	jmp	.Lci2_\r
.Lci1_\r:
	endbr64
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lci2_\r:
	mov	$.Lci1_\r, %_ASM_AX
	mov	%_ASM_AX, 8(%_ASM_BX, SMALL, 8)
	mov	%_ASM_AX, 0x100(%_ASM_BX, SMALL)
	mov	SMALL, %\r
	ANNOTATE_RETPOLINE_SAFE
	call	*8(%_ASM_BX, %\r, 8)
	STEP(2)
	ANNOTATE_RETPOLINE_SAFE
	call	*0x100(%_ASM_BX, %\r)
	STEP(4)
	neg	%\r
	mov	$.Lci3_\r, %_ASM_AX
	mov	%_ASM_AX, -0x40(%_ASM_BX, %\r, 4)
	ANNOTATE_RETPOLINE_SAFE
	jmp	*-0x40(%_ASM_BX, %\r, 4)
	STEP(8)
.Lci3_\r:
	endbr64
	shl	$32, %\r
	or	SMALL, %\r
END call_index_\r
.endm

.irp r, INDEX_REGS
CALL_INDEX \r
.endr

SNIPPET call_no_base
	jmp	.Lnb2
.Lnb1:
	endbr64
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lnb2:
	mov	$.Lnb1, %_ASM_AX
	mov	%_ASM_AX, MEM(32)
	mov	$.Lnb3, %_ASM_CX
	mov	%_ASM_CX, MEM(40)
	ANNOTATE_RETPOLINE_SAFE
	call	*insn_test_mem + 32
	mov	$8, %edx
	ANNOTATE_RETPOLINE_SAFE
	call	*insn_test_mem(, %_ASM_DX, 4)
	STEP(2)
	ANNOTATE_RETPOLINE_SAFE
	jmp	*insn_test_mem + 40
	STEP(4)
.Lnb3:
	endbr64
	STEP(8)
END call_no_base

SNIPPET call_stack
	jmp	.Lcs2
.Lcs1:
	endbr64
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lcs2:
	mov	$.Lcs1, %_ASM_AX
	push	%_ASM_AX
	ANNOTATE_RETPOLINE_SAFE
	call	*(%_ASM_SP)
	STEP(2)
	push	%_ASM_CX
	ANNOTATE_RETPOLINE_SAFE
	call	*INSN_TEST_WORD(%_ASM_SP)
	mov	SMALL, %_ASM_CX
	mov	%_ASM_AX, 8(%_ASM_SP, %_ASM_CX, 8)
	ANNOTATE_RETPOLINE_SAFE
	call	*8(%_ASM_SP, %_ASM_CX, 8)
	STEP(4)
	mov	$.Lcs3, %_ASM_AX
	push	%_ASM_AX
	ANNOTATE_RETPOLINE_SAFE
	jmp	*(%_ASM_SP)
	STEP(8)
.Lcs3:
	endbr64
	pop	%_ASM_DX
END call_stack

/* Without SMP the segment has no base. */
#ifdef CONFIG_SMP
SNIPPET call_percpu
	jmp	.Lpc2
.Lpc1:
	endbr64
	mov	(%_ASM_SP), %_ASM_DX
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lpc2:
	mov	$.Lpc1, %_ASM_AX
	mov	%_ASM_AX, PERCPU(0)
	mov	%_ASM_AX, PERCPU_SEG:24(PERCPU_REG)
	ANNOTATE_RETPOLINE_SAFE
	call	*PERCPU(0)
	STEP(2)
	ANNOTATE_RETPOLINE_SAFE
	call	*PERCPU_SEG:(PERCPU_REG)
	STEP(4)
	mov	PERCPU_REG, %_ASM_CX
	mov	$3, %edx
	ANNOTATE_RETPOLINE_SAFE
	call	*PERCPU_SEG:(%_ASM_CX, %_ASM_DX, 8)
	ANNOTATE_RETPOLINE_SAFE
	call	*PERCPU_SEG:insn_test_percpu
	mov	$.Lpc3, %_ASM_AX
	mov	%_ASM_AX, PERCPU_SEG:16(PERCPU_REG)
	ANNOTATE_RETPOLINE_SAFE
	jmp	*PERCPU_SEG:16(PERCPU_REG)
	STEP(8)
.Lpc3:
	endbr64
	STEP(16)
END call_percpu
#endif

SNIPPET jmp_table
	mov	SMALL, %_ASM_AX
	and	$1, %eax
	mov	$.Ljt1, %_ASM_CX
	mov	%_ASM_CX, (%_ASM_BX)
	mov	$.Ljt2, %_ASM_CX
	mov	%_ASM_CX, 8(%_ASM_BX)
	ANNOTATE_RETPOLINE_SAFE
	jmp	*(%_ASM_BX, %_ASM_AX, 8)
.Ljt1:
	endbr64
	STEP(1)
	jmp	.Ljt3
.Ljt2:
	endbr64
	STEP(2)
.Ljt3:
END jmp_table

/* -- short instructions, of which a jump covers several -- */

/*
 * A jump at .Linto_NAME_0, or at one of the instructions behind, is entered at @offsets.
 * Exchanging or omitting any of the instructions would be noticed.
 */
.macro INTO name, offsets:vararg
SNIPPET into_\name
	.irp	o, \offsets
	cmp	$\o, SMALL
	je	.Linto_\name\()_\o
	.endr
.Linto_\name\()_0:
	xchg	%eax, %edx
.Linto_\name\()_1:
	cwtl
.Linto_\name\()_2:
	xchg	%eax, %esi
.Linto_\name\()_3:
	cmc
.Linto_\name\()_4:
	lahf
.Linto_\name\()_5:
	xchg	%eax, %edi
.Linto_\name\()_6:
	cltd
.Linto_\name\()_7:
	xchg	%eax, %ebp
	cwtl
	lahf
	xchg	%eax, %edx
END into_\name
.endm

INTO 1, 1
INTO 2, 2
INTO 3, 3
INTO 4, 4
INTO 5, 5
INTO 6, 6
INTO 7, 7
INTO 1_2_3, 1, 2, 3
INTO 3_4, 3, 4
INTO 4_5, 4, 5
INTO 4_5_6, 4, 5, 6
INTO 1_4, 1, 4
INTO 4_5_6_7, 4, 5, 6, 7

/* JECXZ or JRCXZ, by the width. */
.macro JCXZ to
	.byte	0xe3, \to - . - 1
.endm

SNIPPET short_jcc
	cmc
	jc	.Lsj1
	cwtl
.Lsj1:
	jnc	.Lsj2
	lahf
.Lsj2:
	JCXZ	.Lsj3
	xchg	%eax, %edx
.Lsj3:
	js	.Lsj4
	cltd
.Lsj4:
	jp	.Lsj6
	jmp	.Lsj5
	int3
.Lsj5:
	xchg	%eax, %esi
.Lsj6:
	cmc
END short_jcc

SNIPPET short_loop
	mov	$3, %ecx
	jmp	.Lsl_2
.Lsl_1:
	cmc
.Lsl_2:
	loop	.Lsl_2
	xchg	%eax, %edx
	mov	$2, %ecx
.Lsl_3:
	cwtl
	loop	.Lsl_3
	loope	.Lsl_4
.Lsl_4:
	loopne	.Lsl_5
	lahf
.Lsl_5:
	xor	%ecx, %ecx
	JCXZ	.Lsl_6
	cltd
.Lsl_6:
	inc	%ecx
	JCXZ	.Lsl_7
	cmc
.Lsl_7:
	.byte	0x67, 0xe3, .Lsl_8 - . - 1
	xchg	%eax, %edi
.Lsl_8:
END short_loop

/* Calls return to most offsets in the region of a jump. */
SNIPPET short_call
	jmp	.Lsc2
.Lsc1:
	endbr64
	mov	(%_ASM_SP), %_ASM_DX
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lsc2:
	mov	$.Lsc1, %_ASM_AX
	.rept	3
	cmc
	.endr
	ANNOTATE_RETPOLINE_SAFE
	call	*%_ASM_AX
	cmc
	ANNOTATE_RETPOLINE_SAFE
	call	*%_ASM_AX
	ANNOTATE_RETPOLINE_SAFE
	call	*%_ASM_AX
	stc
	push	%_ASM_AX
	ANNOTATE_RETPOLINE_SAFE
	call	*(%_ASM_SP)
	pop	%_ASM_SI
	mov	%_ASM_AX, (%_ASM_BX)
	push	%_ASM_CX
	ANNOTATE_RETPOLINE_SAFE
	call	*(%_ASM_BX)
	pop	%_ASM_CX
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lsc1
	cmc
END short_call

/* Returns, and the padding behind them. */
SNIPPET short_ret
	jmp	.Lsr4
.Lsr1:
	cmc
	ANNOTATE_UNRET_SAFE
	ret
	.fill	6, 1, 0xcc
.Lsr2:
	push	%_ASM_BP
	mov	%_ASM_SP, %_ASM_BP
	pop	%_ASM_BP
	ANNOTATE_UNRET_SAFE
	ret	$8
	int3
	int3
.Lsr3:
	cmc
	ANNOTATE_UNRET_SAFE
	ret
	int3
.Lsr4:
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lsr1
	push	%_ASM_CX
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lsr2
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lsr3
	cmc
END short_ret

SNIPPET short_push
	push	%_ASM_AX
	push	%_ASM_CX
	pop	%_ASM_DX
	push	%_ASM_SP
	pop	%_ASM_DI
	push	%_ASM_CX
	pop	%_ASM_SI
	pop	%_ASM_CX
	push	%_ASM_BP
	push	%_ASM_DX
	mov	%_ASM_SP, %_ASM_BP
	pop	%_ASM_AX
	pop	%_ASM_BP
END short_push

SNIPPET short_flags, SNIPPET_SETS_IF
	pushf
	pop	%_ASM_AX
	pushf
	stc
	pushf
	cli
	pushf
	pop	%_ASM_CX
	popf
	cmc
	pushf
	pop	%_ASM_DX
	popf
	lahf
	cli
	sti
	cmc
	nop
END short_flags

SNIPPET short_mem
	cmc
	mov	MEM(0), %_ASM_AX
	cwtl
	addl	$5, MEM(8)
	stc
	__ASM_SIZE(push)	MEM(0)
	cld
	__ASM_SIZE(pop)	MEM(16)
	cmc
	mov	PERCPU(0), %_ASM_DX
	lahf
	lea	MEM(0), %_ASM_SI
END short_mem

/* -- system -- */

SNIPPET rdtsc, SNIPPET_VOLATILE
	rdtsc
	STEP(1)
	shl	$32, %_ASM_DX
	or	%_ASM_DX, %_ASM_AX
END rdtsc

SNIPPET load_ss
	mov	%ss, %eax
	mov	%eax, %ss
	STEP(1)
	mov	%es, %ecx
	mov	%ecx, %es
END load_ss

/* -- faults with a fixup: .Lxx1 faults, execution goes on at .Lxx2; Failure M6 -- */

SNIPPET pf_load, SNIPPET_FAULTS
	mov	$UNMAPPED, %_ASM_CX
.Lpl1:	mov	8(%_ASM_CX), %_ASM_AX
	STEP(1)
.Lpl2:
	STEP(2)
	_ASM_EXTABLE(.Lpl1, .Lpl2)
END pf_load

SNIPPET pf_store, SNIPPET_FAULTS
	mov	$UNMAPPED, %_ASM_CX
.Lps1:	addl	$0x12345678, (%_ASM_CX, SMALL, 8)
	STEP(1)
.Lps2:
	STEP(2)
	_ASM_EXTABLE(.Lps1, .Lps2)
END pf_store

SNIPPET pf_next, SNIPPET_FAULTS
	mov	$UNMAPPED, %_ASM_CX
.Lpn1:	mov	(%_ASM_CX), %_ASM_AX
.Lpn2:	_ASM_EXTABLE(.Lpn1, .Lpn2)
	STEP(2)
END pf_next

SNIPPET pf_again, SNIPPET_FAULTS
	/* The fixup corrects the address and tries again. */
	mov	$UNMAPPED, %_ASM_CX
	jmp	.Lpa1
.Lpa2:
	mov	%_ASM_BX, %_ASM_CX
	STEP(1)
.Lpa1:	mov	(%_ASM_CX), %_ASM_AX
	STEP(2)
	_ASM_EXTABLE(.Lpa1, .Lpa2)
END pf_again

SNIPPET pf_string, SNIPPET_FAULTS
	cld
	mov	$UNMAPPED, %_ASM_SI
	mov	%_ASM_BX, %_ASM_DI
	mov	$8, %ecx
.Lpx1:	rep movsb
	STEP(1)
.Lpx2:
	STEP(2)
	lea	MEM(0), %_ASM_DI
	mov	$UNMAPPED, %_ASM_SI
.Lpx3:	movsl
	STEP(4)
.Lpx4:
	_ASM_EXTABLE(.Lpx1, .Lpx2)
	_ASM_EXTABLE(.Lpx3, .Lpx4)
END pf_string

SNIPPET pf_stack, SNIPPET_FAULTS
	mov	$UNMAPPED, %_ASM_CX
.Lpk1:	push	(%_ASM_CX)
	STEP(1)
.Lpk2:
	push	%_ASM_AX
.Lpk3:	pop	(%_ASM_CX)
	STEP(2)
.Lpk4:
	STEP(4)
	_ASM_EXTABLE(.Lpk1, .Lpk2)
	_ASM_EXTABLE(.Lpk3, .Lpk4)
END pf_stack

SNIPPET pf_branch, SNIPPET_FAULTS
	mov	$UNMAPPED, %_ASM_CX
	ANNOTATE_RETPOLINE_SAFE
.Lpb1:	call	*(%_ASM_CX)
	STEP(1)
.Lpb2:
	mov	%_ASM_SP, %_ASM_AX
	ANNOTATE_RETPOLINE_SAFE
.Lpb3:	jmp	*16(%_ASM_CX, SMALL, 8)
	STEP(2)
.Lpb4:
	STEP(4)
	_ASM_EXTABLE(.Lpb1, .Lpb2)
	_ASM_EXTABLE(.Lpb3, .Lpb4)
END pf_branch

SNIPPET pf_errno, SNIPPET_FAULTS
	mov	$UNMAPPED, %_ASM_CX
.Lpe1:	mov	(%_ASM_CX), %_ASM_DX
	STEP(1)
.Lpe2:
	STEP(2)
.Lpe3:	mov	(%_ASM_CX), %_ASM_SI
	STEP(4)
.Lpe4:
	/* 0 and 6: %_ASM_AX is set to an error, %_ASM_SI to 0 */
	_ASM_EXTABLE_TYPE(.Lpe1, .Lpe2, EX_TYPE_EFAULT_REG)
	_ASM_EXTABLE_TYPE(.Lpe3, .Lpe4, EX_TYPE_ZERO_REG + EX_DATA_REG(6))
END pf_errno

SNIPPET gp_segment, SNIPPET_FAULTS
	mov	$0xfff8, %eax
.Lgs_1:	mov	%eax, %es
	STEP(1)
.Lgs_2:
	STEP(2)
	_ASM_EXTABLE(.Lgs_1, .Lgs_2)
END gp_segment

SNIPPET de_div, SNIPPET_FAULTS
	xor	%ecx, %ecx
.Ldd1:	div	%ecx
	STEP(1)
.Ldd2:
	STEP(2)
	_ASM_EXTABLE(.Ldd1, .Ldd2)
END de_div

/* Some instructions of one byte, one that faults, and the fixup right behind it. */
.macro FAULT_BEHIND name, at, n
SNIPPET \name\()_behind_\n, SNIPPET_FAULTS
	mov	$\at, %_ASM_CX
	.if	\n
	.rept	\n
	cmc
	.endr
	.endif
.Lf1_\name\n:
	incl	(%_ASM_CX)
.Lf2_\name\n:
	lahf
	cwtl
	xchg	%eax, %edx
	cmc
	_ASM_EXTABLE(.Lf1_\name\n, .Lf2_\name\n)
END \name\()_behind_\n
.endm

/* The same with the fixup in front of it, which is also reached by a branch. */
.macro FAULT_BEFORE name, at, n
SNIPPET \name\()_before_\n, SNIPPET_FAULTS
	mov	$\at, %_ASM_CX
	jmp	.Lf3_\name\n
.Lf4_\name\n:
	mov	%_ASM_BX, %_ASM_CX
	.if	\n
	.rept	\n
	cmc
	.endr
	.endif
.Lf3_\name\n:
	incl	(%_ASM_CX)
	lahf
	cwtl
	xchg	%eax, %edx
	_ASM_EXTABLE(.Lf3_\name\n, .Lf4_\name\n)
END \name\()_before_\n
.endm

.irp n, 0, 1, 2, 3, 4
FAULT_BEHIND pf, UNMAPPED, \n
FAULT_BEFORE pf, UNMAPPED, \n
#ifdef CONFIG_X86_64
FAULT_BEHIND gp, NON_CANONICAL, \n
FAULT_BEFORE gp, NON_CANONICAL, \n
#endif
.endr

.pushsection .data
SYM_DATA_END_LABEL(insn_snippets, SYM_L_GLOBAL, insn_snippets_end)
SYM_DATA_START(insn_refused)
.popsection

/*
 * Instructions that must be refused, and are never run; Failures X7, X8. Some need an
 * annotation for objtool.
 */

.macro NOTE_RETPOLINE_SAFE
	ANNOTATE_RETPOLINE_SAFE
.endm

.macro NOTE_UNRET_SAFE
	ANNOTATE_UNRET_SAFE
.endm

.macro INTRA_FUNCTION_CALL
	ANNOTATE_INTRA_FUNCTION_CALL
.endm

.macro REFUSED name, annotation, bytes:vararg
	.balign	16, 0xcc
	.type	insn_refused_\name, @function
insn_refused_\name:
	ANNOTATE_NOENDBR
	\annotation
	.byte	\bytes
.Lrend_\name:
	.fill	8, 1, 0x90
	.size	insn_refused_\name, . - insn_refused_\name
	STACK_FRAME_NON_STANDARD insn_refused_\name
	.pushsection .rodata.str
.Lrname_\name:
	.asciz	"\name"
	.popsection
	.pushsection .data
	_ASM_PTR	insn_refused_\name, .Lrend_\name - insn_refused_\name, .Lrname_\name, 0
	.popsection
.endm

REFUSED int3, , 0xcc
REFUSED int3_long, , 0xcd, 0x03
REFUSED int80, , 0xcd, 0x80
REFUSED int1, , 0xf1
REFUSED ud0, , 0x0f, 0xff, 0xc0
REFUSED ud1, , 0x0f, 0xb9, 0xc0
REFUSED ud2, , 0x0f, 0x0b
REFUSED iretl, , 0xcf
REFUSED lret, , 0xcb
REFUSED lret_imm, , 0xca, 0x08, 0x00
REFUSED lcall_mem, NOTE_RETPOLINE_SAFE, 0xff, 0x1b
REFUSED ljmp_mem, , 0xff, 0x2b
REFUSED syscall, , 0x0f, 0x05
REFUSED sysenter, , 0x0f, 0x34
REFUSED xbegin, , 0xc7, 0xf8, 0x00, 0x00, 0x00, 0x00
REFUSED call_fill_rsb, INTRA_FUNCTION_CALL, 0xe8, 0x01, 0x00, 0x00, 0x00
REFUSED call_66, INTRA_FUNCTION_CALL, 0x66, 0xe8, 0x00, 0x00, 0x00, 0x00
REFUSED jmp_66, , 0x66, 0xe9, 0x00, 0x00, 0x00, 0x00
REFUSED jcc_66, , 0x66, 0x0f, 0x84, 0x00, 0x00, 0x00, 0x00
REFUSED jcc_short_66, , 0x66, 0x74, 0x00
REFUSED jcc_lock, , 0x75, 0xfd
REFUSED ret_66, NOTE_UNRET_SAFE, 0x66, 0xc3
REFUSED call_reg_66, NOTE_RETPOLINE_SAFE, 0x66, 0xff, 0xd0
REFUSED jmp_mem_66, NOTE_RETPOLINE_SAFE, 0x66, 0xff, 0x23

REFUSED_OF_WIDTH

.pushsection .data
SYM_DATA_END_LABEL(insn_refused, SYM_L_GLOBAL, insn_refused_end)
.popsection
