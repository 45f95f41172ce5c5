/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included by insn_snippets.S: its definitions for 64 bits, and the snippets that need 64
 * bits.
 */
#define COUNTER		%r14
#define SMALL		%r13
#define PERCPU_REG	%r12
#define PERCPU_SEG	%gs
#define MEM(n)		insn_test_mem + n(%rip)

#define CALL_REGS	rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r15
#define BASE_REGS	rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r10, r11, r12, r13, r15
#define INDEX_REGS	rcx, rdx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r15

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

	/* POPF and RET take these off the stack just before the snippet runs. */
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

	/* Copy the stack, from where the snippet left it up to where it began. */
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

SNIPPET bits, SNIPPET_UNDEFINED
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

/* -- memory -- */

SNIPPET mem_base, SNIPPET_UNDEFINED
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

/* Without SMP %gs has no base. */
#ifdef CONFIG_SMP
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
#endif

SNIPPET locked, SNIPPET_UNDEFINED
	lock incl (%rbx)
	lock addq $5, insn_test_mem(%rip)
	lock orb $1, 8(%rbx)
	lock xadd %rax, 16(%rbx)
	lock cmpxchg %rcx, 24(%rbx)
	mov	32(%rbx), %rax
	lock cmpxchg %rdx, 32(%rbx)
	lock btsq $9, 40(%rbx)
	jmp	.Llocked1	/* an emulator may not have the flags ready for the next */
.Llocked1:
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

/* -- direct branches -- */

SNIPPET loop32
	/* The upper half of %rcx is not counted, and is cleared. */
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

/* -- indirect branches -- */

SNIPPET call_rip
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

/* -- faults with a fixup: .Lxx1 faults, execution goes on at .Lxx2 -- */

#define NON_CANONICAL	0x8000000000000000

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

SNIPPET gp_branch, SNIPPET_FAULTS
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

/* -- instructions that must be refused -- */

.macro REFUSED_OF_WIDTH
	REFUSED iretq, , 0x48, 0xcf
	REFUSED sysret, , 0x48, 0x0f, 0x07
	REFUSED sysexit, , 0x48, 0x0f, 0x35
	REFUSED udb, , 0xd6
	REFUSED vmload, , 0x0f, 0x01, 0xda
	REFUSED call_fs, NOTE_RETPOLINE_SAFE, 0x64, 0xff, 0x13
.endm
