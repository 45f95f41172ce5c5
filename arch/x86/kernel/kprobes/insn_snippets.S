/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pieces of code that insn_test.c probes, and the one way into and out of
 * them.
 *
 * A snippet starts with random registers, flags, stack and memory, and ends
 * where it runs off its end. It may change anything but the direction to its
 * end, under these rules:
 *
 *	%rbx	points into the middle of insn_test_mem
 *	%r12	is the per-CPU offset of insn_test_percpu
 *	%r13	is 0 to 7
 *	%rsp	points to INSN_TEST_STACK bytes of stack; what a snippet leaves
 *		below %rsp is lost at the next interrupt, and not compared
 *	others	are random, as are the arithmetic flags, DF and IF; TF and AC are 0
 *
 * All local labels are .L labels: a snippet must be one symbol, as a function
 * is. A branch that must not be missed has a STEP in its way: it counts in %r14
 * without touching the flags.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/errno.h>
#include <asm/nospec-branch.h>
#include <asm/percpu.h>
#include <asm/processor-flags.h>
#include "insn_test.h"

#define STEP(n)		lea n(%r14), %r14
#define PERCPU(n)	PER_CPU_VAR(insn_test_percpu + n)

/* -- in and out -- */

.pushsection .bss
.balign 8
.Lhost_sp:	.quad 0
.Lmachine:	.quad 0
.Lflags_out:	.quad 0
.popsection

.text

/*
 * void insn_test_run(struct machine *m, void *code)
 *
 * The stack of the snippet lies below that of the caller, on the same stack: an
 * exception in the snippet needs one that the kernel knows.
 */
SYM_FUNC_START(insn_test_run)
	ANNOTATE_NOENDBR
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	pushfq
	cld
	mov	%rsp, .Lhost_sp(%rip)
	mov	%rdi, .Lmachine(%rip)
	mov	%rdi, %rax

	sub	$INSN_TEST_STACK, %rsp
	and	$-64, %rsp
	mov	%rsp, MACHINE_GPR + 4 * 8(%rax)
	lea	MACHINE_STACK(%rax), %r8
	mov	%rsp, %rdi
	mov	$INSN_TEST_STACK / 8, %ecx
	xchg	%rsi, %r8
	rep movsq

	movups	MACHINE_XMM + 0x00(%rax), %xmm0
	movups	MACHINE_XMM + 0x10(%rax), %xmm1
	movups	MACHINE_XMM + 0x20(%rax), %xmm2
	movups	MACHINE_XMM + 0x30(%rax), %xmm3

	/* The snippet's address and its flags leave the stack just before it. */
	push	%r8
	push	MACHINE_FLAGS(%rax)
	mov	MACHINE_GPR + 1 * 8(%rax), %rcx
	mov	MACHINE_GPR + 2 * 8(%rax), %rdx
	mov	MACHINE_GPR + 3 * 8(%rax), %rbx
	mov	MACHINE_GPR + 5 * 8(%rax), %rbp
	mov	MACHINE_GPR + 6 * 8(%rax), %rsi
	mov	MACHINE_GPR + 7 * 8(%rax), %rdi
	mov	MACHINE_GPR + 8 * 8(%rax), %r8
	mov	MACHINE_GPR + 9 * 8(%rax), %r9
	mov	MACHINE_GPR + 10 * 8(%rax), %r10
	mov	MACHINE_GPR + 11 * 8(%rax), %r11
	mov	MACHINE_GPR + 12 * 8(%rax), %r12
	mov	MACHINE_GPR + 13 * 8(%rax), %r13
	mov	MACHINE_GPR + 14 * 8(%rax), %r14
	mov	MACHINE_GPR + 15 * 8(%rax), %r15
	mov	MACHINE_GPR + 0 * 8(%rax), %rax
	popfq
	ANNOTATE_UNRET_SAFE
	ret
SYM_FUNC_END(insn_test_run)
STACK_FRAME_NON_STANDARD insn_test_run

SYM_FUNC_START(insn_test_exit)
	ANNOTATE_NOENDBR
	pushfq
	pop	.Lflags_out(%rip)
	push	%rax
	mov	.Lmachine(%rip), %rax
	pop	MACHINE_GPR + 0 * 8(%rax)
	mov	%rcx, MACHINE_GPR + 1 * 8(%rax)
	mov	%rdx, MACHINE_GPR + 2 * 8(%rax)
	mov	%rbx, MACHINE_GPR + 3 * 8(%rax)
	mov	%rsp, MACHINE_GPR + 4 * 8(%rax)
	mov	%rbp, MACHINE_GPR + 5 * 8(%rax)
	mov	%rsi, MACHINE_GPR + 6 * 8(%rax)
	mov	%rdi, MACHINE_GPR + 7 * 8(%rax)
	mov	%r8, MACHINE_GPR + 8 * 8(%rax)
	mov	%r9, MACHINE_GPR + 9 * 8(%rax)
	mov	%r10, MACHINE_GPR + 10 * 8(%rax)
	mov	%r11, MACHINE_GPR + 11 * 8(%rax)
	mov	%r12, MACHINE_GPR + 12 * 8(%rax)
	mov	%r13, MACHINE_GPR + 13 * 8(%rax)
	mov	%r14, MACHINE_GPR + 14 * 8(%rax)
	mov	%r15, MACHINE_GPR + 15 * 8(%rax)
	movups	%xmm0, MACHINE_XMM + 0x00(%rax)
	movups	%xmm1, MACHINE_XMM + 0x10(%rax)
	movups	%xmm2, MACHINE_XMM + 0x20(%rax)
	movups	%xmm3, MACHINE_XMM + 0x30(%rax)
	mov	.Lflags_out(%rip), %rcx
	mov	%rcx, MACHINE_FLAGS(%rax)

	/* The stack, from where the snippet left it up to where it began. */
	cld
	mov	.Lhost_sp(%rip), %rdx
	lea	-INSN_TEST_STACK(%rdx), %rcx
	and	$-64, %rcx
	lea	INSN_TEST_STACK(%rcx), %rdx
	lea	MACHINE_STACK(%rax), %rdi
	mov	%rsp, %rsi
	cmp	%rcx, %rsi
	jb	.Lwhole
	add	%rsi, %rdi
	sub	%rcx, %rdi
	jmp	.Lcopy
.Lwhole:
	mov	%rcx, %rsi
.Lcopy:
	mov	%rdx, %rcx
	sub	%rsi, %rcx
	jbe	.Lcopied
	rep movsb
.Lcopied:
	mov	.Lhost_sp(%rip), %rsp
	popfq
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ANNOTATE_UNRET_SAFE
	ret
SYM_FUNC_END(insn_test_exit)
STACK_FRAME_NON_STANDARD insn_test_exit

/* -- tables -- */

.pushsection .data
.balign 8
SYM_DATA_START(insn_snippets)
.popsection

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
	.quad	insn_\name, .Lend_\name - insn_\name, .Lname_\name, \needs
	.popsection
.endm

.macro END name
	jmp	insn_test_exit
.Lend_\name:
	.size	insn_\name, . - insn_\name
	STACK_FRAME_NON_STANDARD insn_\name
.endm

/* -- moves and arithmetic, no memory -- */

SNIPPET mov_reg
	mov	%rax, %rcx
	mov	%ecx, %edx
	mov	%dx, %r8w
	mov	%al, %ah
	mov	%r9b, %r10b
	mov	$0x12, %al
	mov	$0x12345678, %r9d
	mov	$-2, %r10
	movabs	$0x123456789abcdef0, %r11
	movzbl	%al, %eax
	movsbq	%cl, %rcx
	movslq	%edx, %rdx
	movzwl	%si, %edi
END mov_reg

SNIPPET alu_reg
	add	%rcx, %rax
	adc	$5, %rax
	sub	%edx, %ecx
	sbb	$0x1000, %rdx
	and	$0x7f, %al
	or	%r8b, %r9b
	xor	%r10w, %r11w
	cmp	$-1, %r8
	neg	%r9
	not	%r10
	inc	%r11d
	dec	%r15w
	adc	%rsi, %rdi
	test	%rdi, %rdi
	test	$0x1234, %eax
END alu_reg

SNIPPET flags_reg
	lahf
	sahf
	stc
	clc
	cmc
	std
	cld
	seto	%al
	setb	%cl
	setle	%r9b
	cmovne	%rax, %rdx
	cmovg	%ecx, %edx
	cmovp	%r8w, %r9w
END flags_reg

SNIPPET shift
	shl	$3, %rax
	shr	%ecx
	sar	%cl, %rdx
	rol	$5, %r8d
	ror	%cl, %r9w
	rcl	$1, %r10
	rcr	%cl, %r11
	shld	$7, %rax, %rdx
	shrd	%cl, %rdx, %rax
	bswap	%rax
	bswap	%r9d
END shift

SNIPPET bits
	or	$0x100, %rax
	bsf	%rax, %rcx
	bsr	%rax, %rdx
	bt	%rsi, %rdi
	bts	$5, %r8
	btr	%ecx, %edx
	btc	$1, %r9w
	add	%rsi, %rdi		/* flags that none of these defines */
END bits

SNIPPET muldiv
	imul	%rcx, %rax
	imul	$37, %rdx, %r8
	imul	$0x12345, %r9d, %r10d
	mul	%rcx
	imul	%esi
	xor	%edx, %edx
	mov	$7, %ecx
	div	%rcx
	cdq
	mov	$13, %r8d
	idiv	%r8d
	cqo
	cwtl
	cltq
	cwtd
END muldiv

SNIPPET lea_xchg
	lea	5(%rax, %rcx, 4), %rdx
	lea	insn_test_mem(%rip), %rsi
	lea	(, %rax, 8), %rdi
	lea	-8(%rsp), %r8
	lea	insn_test_mem + 8(%rip), %r9d
	xchg	%rax, %rcx
	xchg	%r8d, %r9d
	xadd	%rdx, %r10
	cmpxchg	%r11, %rax
END lea_xchg

SNIPPET nops
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8, 9
	.nops	\n, \n
	.endr
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

/* -- memory -- */

SNIPPET mem_base
	mov	(%rbx), %rax
	mov	%rcx, 8(%rbx)
	mov	%dl, 0x21(%rbx, %r13)
	movw	$0x1234, 0x30(%rbx)
	movl	$0x12345678, 0x80(%rbx, %r13, 8)
	movq	$-3, (%rbx, %r13, 8)
	add	%rax, 0x10(%rbx)
	addl	$5, 0x18(%rbx)
	sub	0x20(%rbx), %rax
	incq	0x28(%rbx)
	notb	0x30(%rbx)
	shlq	%cl, 0x38(%rbx)
	cmpb	$3, 0x40(%rbx)
	testl	$0x12345678, 0x48(%rbx)
	imul	$100, 0x50(%rbx), %r8
	movzbl	0x58(%rbx), %r9d
	movslq	0x58(%rbx), %r10
	sete	0x60(%rbx)
	cmovs	0x68(%rbx), %r11
	mulq	0x70(%rbx)
	btsl	$7, 0x78(%rbx)
	xchg	%rsi, 0x80(%rbx)
	xadd	%rdi, 0x88(%rbx)
	movnti	%rsi, 0x90(%rbx)
END mem_base

SNIPPET mem_rip
	mov	insn_test_mem(%rip), %rax
	mov	%rcx, insn_test_mem + 8(%rip)
	movb	$0x12, insn_test_mem + 17(%rip)
	movw	$0x1234, insn_test_mem + 26(%rip)
	movl	$0x12345678, insn_test_mem + 36(%rip)
	movq	$-3, insn_test_mem + 40(%rip)
	add	insn_test_mem + 48(%rip), %rdx
	addl	$100, insn_test_mem + 56(%rip)
	adcq	$0x1000, insn_test_mem + 64(%rip)
	cmpb	$7, insn_test_mem + 72(%rip)
	testl	$0x1000, insn_test_mem + 76(%rip)
	imul	$1000, insn_test_mem + 80(%rip), %r8
	shrq	$3, insn_test_mem + 88(%rip)
	setc	insn_test_mem + 96(%rip)
	cmovc	insn_test_mem + 104(%rip), %r9
	btcl	$3, insn_test_mem + 112(%rip)
	push	insn_test_mem + 120(%rip)
	pop	insn_test_mem + 128(%rip)
	movzwl	insn_test_mem + 136(%rip), %r10d
END mem_rip

SNIPPET mem_absolute
	mov	insn_test_mem, %rax
	movl	$5, insn_test_mem + 8
	addq	%rcx, insn_test_mem + 16
	mov	$insn_test_mem, %rdi
	mov	8(%rdi), %rdx
END mem_absolute

SNIPPET mem_gs
	mov	PERCPU(0), %rax
	mov	%rcx, PERCPU(8)
	addl	$0x1000, PERCPU(16)
	mov	%gs:(%r12), %rdx
	mov	%r8, %gs:24(%r12)
	incq	%gs:32(%r12)
	mov	%gs:insn_test_percpu + 40, %r9
	xchg	%r10, %gs:48(%r12)
	cmpxchg	%r11, %gs:56(%r12)
END mem_gs

SNIPPET locked
	lock incl (%rbx)
	lock addq $5, insn_test_mem(%rip)
	lock orb $1, 8(%rbx)
	lock xadd %rax, 16(%rbx)
	lock cmpxchg %rcx, 24(%rbx)
	mov	32(%rbx), %rax
	lock cmpxchg %rdx, 32(%rbx)
	lock btsq $9, 40(%rbx)
	lock cmpxchg8b 48(%rbx)
	lock negl 56(%rbx)
END locked

SNIPPET cmpxchg16, SNIPPET_CX16
	mov	(%rbx), %rax
	mov	8(%rbx), %rdx
	mov	%rbx, %rsi
	mov	%rcx, %r8
	cmpxchg16b (%rsi)
	lock cmpxchg16b 16(%rsi)
	setz	%r9b
END cmpxchg16

SNIPPET string
	mov	$5, %ecx
	mov	%rbx, %rsi
	lea	64(%rbx), %rdi
	rep movsb
	mov	$3, %ecx
	rep stosq
	lodsl
	stosw
	movsq
	mov	$9, %ecx
	repne scasb
	mov	$9, %ecx
	repe cmpsb
	scasl
	cmpsw
	mov	$2, %ecx
	rep lodsb
	xor	%ecx, %ecx
	rep movsq
END string

SNIPPET xlat
	movzbl	%al, %eax
	and	$0x3f, %al
	xlatb
END xlat

/* -- stack -- */

SNIPPET push_pop
	.irp	r, rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
	push	%\r
	.endr
	.irp	r, r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rax
	pop	%\r
	.endr
	pop	%rcx
	pop	%rdx
END push_pop

SNIPPET push_forms
	push	$5
	push	$-1
	push	$0x12345678
	push	(%rbx)
	push	8(%rsp)
	push	insn_test_mem + 8(%rip)
	pushw	%ax
	pushw	$0x1234
	popw	%cx
	popw	16(%rbx)
	pop	24(%rbx)
	pop	8(%rsp)
	pop	insn_test_mem + 32(%rip)
	push	%fs
	pop	%rdx
	pushq	PERCPU(0)
	popq	PERCPU(8)
END push_forms

SNIPPET stack_pointer
	mov	%rsp, %rcx
	push	%rcx
	pop	%rsp
	push	%rsp
	pop	%rax
	sub	$64, %rsp
	mov	%rax, 8(%rsp)
	lea	32(%rsp), %rdx
	mov	%rdx, (%rsp)
	pop	%rsp
	and	$-16, %rsp
	mov	%rsp, %r9
	xchg	%rsp, %r9
END stack_pointer

SNIPPET enter_leave
	enter	$32, $0
	mov	%rax, -8(%rbp)
	leave
	push	%rbp
	mov	%rsp, %rbp
	enter	$16, $1
	leave
	leave
END enter_leave

/* -- flags, moved as a whole -- */

SNIPPET pushf
	pushfq
	pop	%rax
	add	%rcx, %rdx
	pushfq
	pop	%rdx
END pushf

SNIPPET popf, SNIPPET_SETS_IF
	pushfq
	xorq	$(X86_EFLAGS_CF | X86_EFLAGS_OF | X86_EFLAGS_ZF | X86_EFLAGS_DF), (%rsp)
	popfq
	pushfq
	xorq	$(X86_EFLAGS_IF | X86_EFLAGS_SF | X86_EFLAGS_ID), (%rsp)
	popfq
	pushfq
	pop	%rax
END popf

SNIPPET pushf16
	pushfw
	popw	%ax
	mov	%rsp, %rcx
	pushfw
	mov	%rsp, %rdx
	popw	%si
END pushf16

SNIPPET popf16, SNIPPET_SETS_IF
	pushw	%ax
	andw	$(X86_EFLAGS_CF | X86_EFLAGS_ZF | X86_EFLAGS_DF | X86_EFLAGS_IF), (%rsp)
	popfw
	mov	%rsp, %rcx
	pushfq
	pop	%rdx
END popf16

SNIPPET cli
	cli
	pushfq
	pop	%rax
	cli
	STEP(1)
END cli

SNIPPET cli_sti, SNIPPET_SETS_IF
	cli
	pushfq
	pop	%rax
	sti
	STEP(1)
	pushfq
	pop	%rdx
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

SNIPPET loop
	mov	$3, %ecx
.Lloop1:
	STEP(1)
	loop	.Lloop1
	mov	$1, %ecx
	loop	.Lloop2
	STEP(16)
.Lloop2:
	mov	%r13, %rcx
	inc	%rcx
.Lloop3:
	STEP(32)
	loop	.Lloop3
	xor	%ecx, %ecx
	loop	.Lloop4
	STEP(1024)
.Lloop4:
END loop

SNIPPET loope
	lea	1(%r13), %rcx
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
	lea	1(%r13), %rcx
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

SNIPPET loop32
	/* The upper half of %rcx must not count, and is cleared. */
	movabs	$0x100000002, %rcx
.Lloop32a:
	STEP(1)
	.byte	0x67, 0xe2, .Lloop32a - . - 1
	movabs	$0x100000001, %rcx
	.byte	0x67, 0xe1, .Lloop32b - . - 1
	STEP(16)
.Lloop32b:
	movabs	$0x100000002, %rcx
	.byte	0x67, 0xe0, .Lloop32c - . - 1
	STEP(32)
.Lloop32c:
END loop32

SNIPPET jrcxz
	jrcxz	.Ljrcxz1
	STEP(1)
.Ljrcxz1:
	movabs	$0x100000000, %rcx
	jrcxz	.Ljrcxz2
	STEP(2)
.Ljrcxz2:
	.byte	0x67, 0xe3, .Ljrcxz3 - . - 1	/* jecxz */
	STEP(4)
.Ljrcxz3:
	mov	%r13d, %ecx
	jrcxz	.Ljrcxz4
	STEP(8)
.Ljrcxz4:
	.byte	0x67, 0xe3, .Ljrcxz5 - . - 1
	STEP(16)
.Ljrcxz5:
END jrcxz

/* Breakpoints that stand in the text for good, as after a return. */
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
	mov	(%rsp), %rax		/* what the call pushed */
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
	pop	%rdx
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lcr1
END call_ret

SNIPPET call_prefixed
	jmp	.Lcp2
.Lcp1:
	mov	(%rsp), %rax
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
	push	%rax
	push	%rcx
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lrf1
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lrf2
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lrf3
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lrf4
	push	%rdx
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

SNIPPET ret_as_jump
	lea	.Lrj1(%rip), %rcx
	push	%rcx
	ANNOTATE_UNRET_SAFE
	ret
	STEP(1)
.Lrj1:
	ANNOTATE_NOENDBR
	STEP(2)
END ret_as_jump

/* -- indirect branches -- */

.macro CALL_REG r
SNIPPET call_\r, SNIPPET_INDIRECT
	push	%\r
	jmp	.Lcall2_\r
.Lcall1_\r:
	endbr64
	mov	(%rsp), %rax
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lcall2_\r:
	lea	.Lcall1_\r(%rip), %\r
	ANNOTATE_RETPOLINE_SAFE
	call	*%\r
	STEP(2)
	lea	.Lcall3_\r(%rip), %\r
	ANNOTATE_RETPOLINE_SAFE
	jmp	*%\r
	STEP(4)
.Lcall3_\r:
	endbr64
	STEP(8)
END call_\r
.endm

.irp r, rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r15
CALL_REG \r
.endr

/* Through memory, with each register as the base: the encodings differ. */
.macro CALL_BASE r
SNIPPET call_base_\r, SNIPPET_INDIRECT
	jmp	.Lcb2_\r
.Lcb1_\r:
	endbr64
	push	8(%rsp)
	pop	%r9
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lcb2_\r:
	lea	.Lcb1_\r(%rip), %rax
	mov	%rax, (%rbx)
	mov	%rax, 24(%rbx)
	mov	%rax, 0x180(%rbx)
	lea	.Lcb3_\r(%rip), %rax
	mov	%rax, 16(%rbx)
	mov	%rbx, %\r
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

.irp r, rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r10, r11, r12, r13, r15
CALL_BASE \r
.endr

.macro CALL_INDEX r
SNIPPET call_index_\r, SNIPPET_INDIRECT
	jmp	.Lci2_\r
.Lci1_\r:
	endbr64
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lci2_\r:
	lea	.Lci1_\r(%rip), %rax
	mov	%rax, 8(%rbx, %r13, 8)
	mov	%rax, 0x100(%rbx, %r13)
	mov	%r13, %\r
	ANNOTATE_RETPOLINE_SAFE
	call	*8(%rbx, %\r, 8)
	STEP(2)
	ANNOTATE_RETPOLINE_SAFE
	call	*0x100(%rbx, %\r)
	STEP(4)
	neg	%\r
	lea	.Lci3_\r(%rip), %rax
	mov	%rax, -0x40(%rbx, %\r, 4)
	ANNOTATE_RETPOLINE_SAFE
	jmp	*-0x40(%rbx, %\r, 4)
	STEP(8)
.Lci3_\r:
	endbr64
	shl	$32, %\r
	or	%r13, %\r
END call_index_\r
.endm

.irp r, rcx, rdx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r15
CALL_INDEX \r
.endr

SNIPPET call_no_base, SNIPPET_INDIRECT
	jmp	.Lnb2
.Lnb1:
	endbr64
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lnb2:
	lea	.Lnb1(%rip), %rax
	mov	%rax, insn_test_mem + 32(%rip)
	lea	.Lnb3(%rip), %rcx
	mov	%rcx, insn_test_mem + 40(%rip)
	ANNOTATE_RETPOLINE_SAFE
	call	*insn_test_mem + 32
	mov	$8, %edx
	ANNOTATE_RETPOLINE_SAFE
	call	*insn_test_mem(, %rdx, 4)
	STEP(2)
	ANNOTATE_RETPOLINE_SAFE
	jmp	*insn_test_mem + 40
	STEP(4)
.Lnb3:
	endbr64
	STEP(8)
END call_no_base

SNIPPET call_rip, SNIPPET_INDIRECT
	jmp	.Lcrip2
.Lcrip1:
	endbr64
	mov	(%rsp), %rdx
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lcrip2:
	lea	.Lcrip1(%rip), %rax
	mov	%rax, insn_test_mem + 32(%rip)
	ANNOTATE_RETPOLINE_SAFE
	call	*insn_test_mem + 32(%rip)
	STEP(2)
	lea	.Lcrip3(%rip), %rax
	mov	%rax, insn_test_mem + 40(%rip)
	ANNOTATE_RETPOLINE_SAFE
	jmp	*insn_test_mem + 40(%rip)
	STEP(4)
.Lcrip3:
	endbr64
	ANNOTATE_RETPOLINE_SAFE
	.byte	0x2e
	call	*insn_test_mem + 32(%rip)
END call_rip

SNIPPET call_stack, SNIPPET_INDIRECT
	jmp	.Lcs2
.Lcs1:
	endbr64
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lcs2:
	lea	.Lcs1(%rip), %rax
	push	%rax
	ANNOTATE_RETPOLINE_SAFE
	call	*(%rsp)
	STEP(2)
	push	%rcx
	ANNOTATE_RETPOLINE_SAFE
	call	*8(%rsp)
	mov	%r13, %rcx
	mov	%rax, 8(%rsp, %rcx, 8)
	ANNOTATE_RETPOLINE_SAFE
	call	*8(%rsp, %rcx, 8)
	STEP(4)
	lea	.Lcs3(%rip), %rax
	push	%rax
	ANNOTATE_RETPOLINE_SAFE
	jmp	*(%rsp)
	STEP(8)
.Lcs3:
	endbr64
	pop	%rdx
END call_stack

SNIPPET call_gs, SNIPPET_INDIRECT
	jmp	.Lgs2
.Lgs1:
	endbr64
	mov	(%rsp), %rdx
	STEP(1)
	ANNOTATE_UNRET_SAFE
	ret
.Lgs2:
	lea	.Lgs1(%rip), %rax
	mov	%rax, PERCPU(0)
	mov	%rax, %gs:24(%r12)
	ANNOTATE_RETPOLINE_SAFE
	call	*PERCPU(0)
	STEP(2)
	ANNOTATE_RETPOLINE_SAFE
	call	*%gs:(%r12)
	STEP(4)
	mov	%r12, %rcx
	mov	$3, %esi
	ANNOTATE_RETPOLINE_SAFE
	call	*%gs:(%rcx, %rsi, 8)
	ANNOTATE_RETPOLINE_SAFE
	call	*%gs:insn_test_percpu
	lea	.Lgs3(%rip), %rax
	mov	%rax, %gs:16(%r12)
	ANNOTATE_RETPOLINE_SAFE
	jmp	*%gs:16(%r12)
	STEP(8)
.Lgs3:
	endbr64
	STEP(16)
END call_gs

SNIPPET jmp_table, SNIPPET_INDIRECT
	mov	%r13, %rax
	and	$1, %eax
	lea	.Ljt1(%rip), %rcx
	mov	%rcx, (%rbx)
	lea	.Ljt2(%rip), %rcx
	mov	%rcx, 8(%rbx)
	ANNOTATE_RETPOLINE_SAFE
	jmp	*(%rbx, %rax, 8)
.Ljt1:
	endbr64
	STEP(1)
	jmp	.Ljt3
.Ljt2:
	endbr64
	STEP(2)
.Ljt3:
END jmp_table

/* -- vectors -- */

SNIPPET sse
	movups	(%rbx), %xmm0
	movups	%xmm1, 16(%rbx)
	paddd	insn_test_mem(%rip), %xmm0
	pxor	%xmm2, %xmm1
	pshufd	$0x1b, insn_test_mem + 16(%rip), %xmm2
	movq	%rax, %xmm3
	movd	%xmm0, %ecx
	punpcklqdq %xmm3, %xmm2
	pinsrw	$3, insn_test_mem + 6(%rip), %xmm1
	movmskps %xmm1, %edx
	pcmpeqb	%xmm2, %xmm0
	movnti	%rax, insn_test_mem + 64(%rip)
END sse

SNIPPET avx, SNIPPET_AVX
	vmovdqu	(%rbx), %xmm0
	vpaddd	insn_test_mem(%rip), %xmm0, %xmm1
	vpshufd	$0x1b, insn_test_mem + 16(%rip), %xmm2
	vpxor	%xmm1, %xmm2, %xmm3
	vmovdqu	%xmm3, insn_test_mem + 32(%rip)
	vpinsrq	$1, insn_test_mem + 48(%rip), %xmm0, %xmm0
END avx

/* -- system -- */

SNIPPET cpuid
	mov	%rbx, %r8
	xor	%eax, %eax
	xor	%ecx, %ecx
	cpuid
	mov	$0x80000000, %eax
	cpuid
	xchg	%rbx, %r8
END cpuid

SNIPPET rdtsc, SNIPPET_VOLATILE
	rdtsc
	STEP(1)
	shl	$32, %rdx
	or	%rdx, %rax
END rdtsc

SNIPPET control_regs
	mov	%cr0, %rax
	mov	%cr4, %rdx
	mov	%rdx, %cr4
	mov	%ds, %esi
	mov	%ss, %edi
	mov	$0xc0000101, %ecx		/* MSR_GS_BASE */
	rdmsr
	wrmsr
	smsw	%r8
	sgdt	(%rbx)
	invlpg	(%rbx)
	clts
END control_regs

SNIPPET load_ss
	mov	%ss, %eax
	mov	%eax, %ss
	STEP(1)
	mov	%es, %ecx
	mov	%ecx, %es
END load_ss

/* -- faults with a fixup: .Lxx1 faults, execution goes on at .Lxx2 -- */

#define UNMAPPED	-4096
#define NON_CANONICAL	0x8000000000000000

SNIPPET pf_load, SNIPPET_FAULTS
	mov	$UNMAPPED, %rcx
.Lpl1:	mov	8(%rcx), %rax
	STEP(1)
.Lpl2:
	STEP(2)
	_ASM_EXTABLE(.Lpl1, .Lpl2)
END pf_load

SNIPPET pf_store, SNIPPET_FAULTS
	mov	$UNMAPPED, %rcx
.Lps1:	addl	$0x12345678, (%rcx, %r13, 8)
	STEP(1)
.Lps2:
	STEP(2)
	_ASM_EXTABLE(.Lps1, .Lps2)
END pf_store

SNIPPET pf_next, SNIPPET_FAULTS
	mov	$UNMAPPED, %rcx
.Lpn1:	mov	(%rcx), %rax
.Lpn2:	_ASM_EXTABLE(.Lpn1, .Lpn2)
	STEP(2)
END pf_next

SNIPPET pf_again, SNIPPET_FAULTS
	/* The fixup mends the address and tries again. */
	mov	$UNMAPPED, %rcx
	jmp	.Lpa1
.Lpa2:
	mov	%rbx, %rcx
	STEP(1)
.Lpa1:	mov	(%rcx), %rax
	STEP(2)
	_ASM_EXTABLE(.Lpa1, .Lpa2)
END pf_again

SNIPPET pf_string, SNIPPET_FAULTS
	cld
	mov	$UNMAPPED, %rsi
	mov	%rbx, %rdi
	mov	$8, %ecx
.Lpx1:	rep movsb
	STEP(1)
.Lpx2:
	STEP(2)
	lea	insn_test_mem(%rip), %rdi
	mov	$UNMAPPED, %rsi
.Lpx3:	movsq
	STEP(4)
.Lpx4:
	_ASM_EXTABLE(.Lpx1, .Lpx2)
	_ASM_EXTABLE(.Lpx3, .Lpx4)
END pf_string

SNIPPET pf_stack, SNIPPET_FAULTS
	mov	$UNMAPPED, %rcx
.Lpk1:	push	(%rcx)
	STEP(1)
.Lpk2:
	push	%rax
.Lpk3:	pop	(%rcx)
	STEP(2)
.Lpk4:
	STEP(4)
	_ASM_EXTABLE(.Lpk1, .Lpk2)
	_ASM_EXTABLE(.Lpk3, .Lpk4)
END pf_stack

SNIPPET pf_branch, SNIPPET_FAULTS | SNIPPET_INDIRECT
	mov	$UNMAPPED, %rcx
	ANNOTATE_RETPOLINE_SAFE
.Lpb1:	call	*(%rcx)
	STEP(1)
.Lpb2:
	mov	%rsp, %rax
	ANNOTATE_RETPOLINE_SAFE
.Lpb3:	jmp	*16(%rcx, %r13, 8)
	STEP(2)
.Lpb4:
	STEP(4)
	_ASM_EXTABLE(.Lpb1, .Lpb2)
	_ASM_EXTABLE(.Lpb3, .Lpb4)
END pf_branch

SNIPPET pf_errno, SNIPPET_FAULTS
	mov	$UNMAPPED, %rcx
.Lpe1:	mov	(%rcx), %rdx
	STEP(1)
.Lpe2:
	STEP(2)
.Lpe3:	mov	(%rcx), %rsi
	STEP(4)
.Lpe4:
	/* 0 and 6: %rax gets an error, %rsi becomes 0 */
	_ASM_EXTABLE_TYPE(.Lpe1, .Lpe2, EX_TYPE_EFAULT_REG)
	_ASM_EXTABLE_TYPE(.Lpe3, .Lpe4, EX_TYPE_ZERO_REG + EX_DATA_REG(6))
END pf_errno

SNIPPET gp_load, SNIPPET_FAULTS
	movabs	$NON_CANONICAL, %rcx
.Lgl1:	mov	(%rcx), %rax
	STEP(1)
.Lgl2:
	STEP(2)
.Lgl3:	movq	$5, 8(%rcx)
	STEP(4)
.Lgl4:
	_ASM_EXTABLE(.Lgl1, .Lgl2)
	_ASM_EXTABLE(.Lgl3, .Lgl4)
END gp_load

SNIPPET gp_segment, SNIPPET_FAULTS
	mov	$0xfff8, %eax
.Lgs_1:	mov	%eax, %es
	STEP(1)
.Lgs_2:
	STEP(2)
	_ASM_EXTABLE(.Lgs_1, .Lgs_2)
END gp_segment

SNIPPET gp_branch, SNIPPET_FAULTS | SNIPPET_INDIRECT
	movabs	$NON_CANONICAL, %rcx
	ANNOTATE_RETPOLINE_SAFE
.Lgb1:	call	*(%rcx)
	STEP(1)
.Lgb2:
	mov	%rsp, %rax
	ANNOTATE_RETPOLINE_SAFE
.Lgb3:	jmp	*8(%rcx)
	STEP(2)
.Lgb4:
	STEP(4)
	_ASM_EXTABLE(.Lgb1, .Lgb2)
	_ASM_EXTABLE(.Lgb3, .Lgb4)
END gp_branch

SNIPPET ss_load, SNIPPET_FAULTS
	movabs	$NON_CANONICAL, %rbp
.Lsl1:	mov	(%rbp), %rax
	STEP(1)
.Lsl2:
	STEP(2)
	_ASM_EXTABLE(.Lsl1, .Lsl2)
END ss_load

SNIPPET de_div, SNIPPET_FAULTS
	xor	%ecx, %ecx
.Ldd1:	div	%ecx
	STEP(1)
.Ldd2:
	STEP(2)
	_ASM_EXTABLE(.Ldd1, .Ldd2)
END de_div

.pushsection .data
SYM_DATA_END_LABEL(insn_snippets, SYM_L_GLOBAL, insn_snippets_end)
SYM_DATA_START(insn_refused)
.popsection

/* -- what must be refused; never run. Some need an annotation for objtool -- */

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
	.quad	insn_refused_\name, .Lrend_\name - insn_refused_\name, .Lrname_\name, 0
	.popsection
.endm

REFUSED int3, , 0xcc
REFUSED int3_long, , 0xcd, 0x03
REFUSED int80, , 0xcd, 0x80
REFUSED int1, , 0xf1
REFUSED ud0, , 0x0f, 0xff, 0xc0
REFUSED ud1, , 0x0f, 0xb9, 0xc0
REFUSED ud2, , 0x0f, 0x0b
REFUSED iretq, , 0x48, 0xcf
REFUSED iretl, , 0xcf
REFUSED lret, , 0xcb
REFUSED lret_imm, , 0xca, 0x08, 0x00
REFUSED lcall_mem, ANNOTATE_RETPOLINE_SAFE, 0xff, 0x1b
REFUSED ljmp_mem, , 0xff, 0x2b
REFUSED syscall, , 0x0f, 0x05
REFUSED sysret, , 0x48, 0x0f, 0x07
REFUSED sysenter, , 0x0f, 0x34
REFUSED sysexit, , 0x48, 0x0f, 0x35
REFUSED xbegin, , 0xc7, 0xf8, 0x00, 0x00, 0x00, 0x00
REFUSED call_66, INTRA_FUNCTION_CALL, 0x66, 0xe8, 0x00, 0x00, 0x00, 0x00
REFUSED jmp_66, , 0x66, 0xe9, 0x00, 0x00, 0x00, 0x00
REFUSED jcc_66, , 0x66, 0x0f, 0x84, 0x00, 0x00, 0x00, 0x00
REFUSED jcc_short_66, , 0x66, 0x74, 0x00
REFUSED ret_66, ANNOTATE_UNRET_SAFE, 0x66, 0xc3
REFUSED call_reg_66, ANNOTATE_RETPOLINE_SAFE, 0x66, 0xff, 0xd0
REFUSED jmp_mem_66, ANNOTATE_RETPOLINE_SAFE, 0x66, 0xff, 0x23

.pushsection .data
SYM_DATA_END_LABEL(insn_refused, SYM_L_GLOBAL, insn_refused_end)
.popsection
