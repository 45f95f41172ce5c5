/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included by insn_snippets.S: its definitions for 32 bits, and the snippets that need 32
 * bits.
 */
#define COUNTER		%edi
#define SMALL		%ebp
#define PERCPU_REG	%esi
#define PERCPU_SEG	%fs
#define MEM(n)		insn_test_mem + n

#define CALL_REGS	eax, ecx, edx, ebx, ebp, esi
#define BASE_REGS	eax, ecx, edx, ebx, ebp, esi
#define INDEX_REGS	ecx, edx, ebp, esi

/* -- in and out -- */

.pushsection .bss
.balign 4
.Lhost_sp:	.long 0
.Lmachine:	.long 0
.Lflags_out:	.long 0
.popsection

/*
 * void insn_test_run(struct machine *m, void *code)
 *
 * The stack of the snippet lies below that of the caller, on the same stack: an
 * exception in the snippet needs one that the kernel knows.
 */
SYM_FUNC_START(insn_test_run)
	push	%ebp
	push	%ebx
	push	%esi
	push	%edi
	pushf
	cld
	mov	%esp, .Lhost_sp
	mov	%eax, .Lmachine

	sub	$INSN_TEST_STACK, %esp
	and	$-64, %esp
	mov	%esp, MACHINE_GPR + 4 * 4(%eax)
	lea	MACHINE_STACK(%eax), %esi
	mov	%esp, %edi
	mov	$INSN_TEST_STACK / 4, %ecx
	rep movsl

	movups	MACHINE_XMM + 0x00(%eax), %xmm0
	movups	MACHINE_XMM + 0x10(%eax), %xmm1
	movups	MACHINE_XMM + 0x20(%eax), %xmm2
	movups	MACHINE_XMM + 0x30(%eax), %xmm3

	/* POPF and RET take these off the stack just before the snippet runs. */
	push	%edx
	push	MACHINE_FLAGS(%eax)
	mov	MACHINE_GPR + 1 * 4(%eax), %ecx
	mov	MACHINE_GPR + 2 * 4(%eax), %edx
	mov	MACHINE_GPR + 3 * 4(%eax), %ebx
	mov	MACHINE_GPR + 5 * 4(%eax), %ebp
	mov	MACHINE_GPR + 6 * 4(%eax), %esi
	mov	MACHINE_GPR + 7 * 4(%eax), %edi
	mov	MACHINE_GPR + 0 * 4(%eax), %eax
	popf
	ANNOTATE_UNRET_SAFE
	ret
SYM_FUNC_END(insn_test_run)

SYM_FUNC_START(insn_test_exit)
	pushf
	pop	.Lflags_out
	push	%eax
	mov	.Lmachine, %eax
	pop	MACHINE_GPR + 0 * 4(%eax)
	mov	%ecx, MACHINE_GPR + 1 * 4(%eax)
	mov	%edx, MACHINE_GPR + 2 * 4(%eax)
	mov	%ebx, MACHINE_GPR + 3 * 4(%eax)
	mov	%esp, MACHINE_GPR + 4 * 4(%eax)
	mov	%ebp, MACHINE_GPR + 5 * 4(%eax)
	mov	%esi, MACHINE_GPR + 6 * 4(%eax)
	mov	%edi, MACHINE_GPR + 7 * 4(%eax)
	movups	%xmm0, MACHINE_XMM + 0x00(%eax)
	movups	%xmm1, MACHINE_XMM + 0x10(%eax)
	movups	%xmm2, MACHINE_XMM + 0x20(%eax)
	movups	%xmm3, MACHINE_XMM + 0x30(%eax)
	mov	.Lflags_out, %ecx
	mov	%ecx, MACHINE_FLAGS(%eax)

	/* Copy the stack, from where the snippet left it up to where it began. */
	cld
	mov	.Lhost_sp, %edx
	lea	-INSN_TEST_STACK(%edx), %ecx
	and	$-64, %ecx
	lea	INSN_TEST_STACK(%ecx), %edx
	lea	MACHINE_STACK(%eax), %edi
	mov	%esp, %esi
	cmp	%ecx, %esi
	jb	.Lwhole
	add	%esi, %edi
	sub	%ecx, %edi
	jmp	.Lcopy
.Lwhole:
	mov	%ecx, %esi
.Lcopy:
	mov	%edx, %ecx
	sub	%esi, %ecx
	jbe	.Lcopied
	rep movsb
.Lcopied:
	mov	.Lhost_sp, %esp
	popf
	pop	%edi
	pop	%esi
	pop	%ebx
	pop	%ebp
	ANNOTATE_UNRET_SAFE
	ret
SYM_FUNC_END(insn_test_exit)

/* -- moves and arithmetic, no memory -- */

SNIPPET mov_reg
	mov	%eax, %ecx
	mov	%dx, %cx
	mov	%al, %ah
	mov	%bh, %dl
	mov	$0x12, %al
	mov	$0x12345678, %edx
	mov	$-2, %esi
	movzbl	%al, %eax
	movsbl	%ch, %ecx
	movzwl	%si, %ebp
	movswl	%dx, %edx
END mov_reg

SNIPPET alu_reg
	add	%ecx, %eax
	adc	$5, %eax
	sub	%edx, %ecx
	sbb	$0x1000, %edx
	and	$0x7f, %al
	or	%ch, %dl
	xor	%ax, %cx
	cmp	$-1, %edx
	neg	%esi
	not	%ebp
	adc	%esi, %ebp
	test	%ecx, %eax
	test	$0x1234, %eax
	.byte	0x82, 0xc0, 0x05	/* add $5, %al, the other way */
END alu_reg

/* These opcodes are REX prefixes on 64 bits. */
SNIPPET inc_dec
	.irp	r, eax, ecx, edx, ebx, ebp, esi, edi
	inc	%\r
	STEP(1)
	.endr
	.irp	r, ecx, ebx, edi, esi, ebp, edx, eax
	dec	%\r
	.endr
	inc	%ax
	dec	%si
	dec	%esp
	inc	%esp
	incl	(%ebx)
	decb	%dh
END inc_dec

SNIPPET decimal
	aaa
	STEP(1)
	aas
	daa
	adc	%cl, %al
	das
	aam
	aad
	aam	$16
	aad	$7
END decimal

SNIPPET shift
	shl	$3, %eax
	shr	%ecx
	sar	%cl, %edx
	rol	$5, %esi
	ror	%cl, %bp
	rcl	$1, %edx
	rcr	%cl, %eax
	shld	$7, %eax, %edx
	shrd	%cl, %edx, %eax
	bswap	%eax
	add	%esi, %edx		/* flags that not all of these define */
END shift

SNIPPET bits, SNIPPET_UNDEFINED
	or	$0x100, %eax
	bsf	%eax, %ecx
	bsr	%eax, %edx
	bt	%esi, %ebp
	bts	$5, %edx
	btr	%ecx, %edx
	btc	$1, %si
	arpl	%ax, %cx
	add	%esi, %edx
END bits

SNIPPET muldiv
	imul	%ecx, %eax
	imul	$37, %edx, %esi
	imul	$0x12345, %esi, %ebp
	mul	%ecx
	xor	%edx, %edx
	mov	$7, %ecx
	div	%ecx
	cdq
	mov	$13, %esi
	idiv	%esi
	cwtl
	cwtd
END muldiv

SNIPPET lea_xchg
	lea	5(%eax, %ecx, 4), %edx
	lea	insn_test_mem, %esi
	lea	(, %eax, 8), %ebp
	lea	-8(%esp), %ecx
	.byte	0x67, 0x8d, 0x40, 0x05	/* lea 5(%bx, %si), %eax */
	.byte	0x67, 0x8d, 0x0e, 0x34, 0x12	/* lea 0x1234, %ecx */
	xchg	%eax, %ecx
	xchg	%edx, %esi
	xadd	%edx, %ecx
	cmpxchg	%ebp, %eax
END lea_xchg

/*
 * -- memory --
 *
 * QEMU 7.2 forgets flags at a CMPXCHG8B when they come from an instruction that
 * it translated together with it; a branch comes between.
 */

SNIPPET mem_base, SNIPPET_UNDEFINED
	mov	(%ebx), %eax
	mov	%ecx, 8(%ebx)
	mov	%dl, 0x21(%ebx, %ebp)
	movw	$0x1234, 0x30(%ebx)
	movl	$0x12345678, 0x80(%ebx, %ebp, 8)
	add	%eax, 0x10(%ebx)
	addl	$5, 0x18(%ebx)
	sub	0x20(%ebx), %eax
	incl	0x28(%ebx)
	notb	0x30(%ebx)
	shll	%cl, 0x38(%ebx)
	cmpb	$3, 0x40(%ebx)
	testl	$0x12345678, 0x48(%ebx)
	imul	$100, 0x50(%ebx), %edx
	movzbl	0x58(%ebx), %esi
	sete	0x60(%ebx)
	cmovs	0x68(%ebx), %ecx
	mull	0x70(%ebx)
	btsl	$7, 0x78(%ebx)
	xchg	%esi, 0x80(%ebx)
	xadd	%ecx, 0x88(%ebx)
	movnti	%esi, 0x90(%ebx)
	jmp	.Lmb1
.Lmb1:
	cmpxchg8b 0x98(%ebx)
END mem_base

SNIPPET mem_absolute
	mov	insn_test_mem, %eax
	mov	%eax, insn_test_mem + 4
	mov	insn_test_mem + 9, %al
	mov	%al, insn_test_mem + 3
	mov	insn_test_mem + 20, %ecx
	mov	%edx, insn_test_mem + 28
	movl	$5, insn_test_mem + 8
	movw	$0x1234, insn_test_mem + 26
	addl	%ecx, insn_test_mem + 16
	adcl	$0x1000, insn_test_mem + 64
	imul	$1000, insn_test_mem + 80, %edx
	setc	insn_test_mem + 96
	push	insn_test_mem + 120
	pop	insn_test_mem + 128
	mov	$insn_test_mem, %esi
	mov	8(%esi), %edx
	mov	%ds:4(%ebp, %esi), %ecx
	mov	%cs:8(%esi), %eax
END mem_absolute

SNIPPET mem_fs
	mov	PERCPU(0), %eax
	mov	%ecx, PERCPU(8)
	addl	$0x1000, PERCPU(16)
	mov	%fs:(%esi), %edx
	mov	%ebp, %fs:24(%esi)
	incl	%fs:32(%esi)
	mov	%fs:insn_test_percpu + 40, %ecx
	xchg	%ecx, %fs:48(%esi)
	cmpxchg	%edx, %fs:56(%esi)
	jmp	.Lmf1
.Lmf1:
	cmpxchg8b PERCPU(8)
END mem_fs

SNIPPET locked, SNIPPET_UNDEFINED
	lock incl (%ebx)
	lock addl $5, insn_test_mem
	lock orb $1, 8(%ebx)
	lock xadd %eax, 16(%ebx)
	lock cmpxchg %ecx, 24(%ebx)
	mov	32(%ebx), %eax
	lock cmpxchg %edx, 32(%ebx)
	lock btsl $9, 40(%ebx)
	jmp	.Llocked1	/* an emulator may not have the flags ready for the next */
.Llocked1:
	lock cmpxchg8b 48(%ebx)
	lock negl 56(%ebx)
END locked

SNIPPET string
	mov	$5, %ecx
	mov	%ebx, %esi
	lea	64(%ebx), %edi
	rep movsb
	mov	$3, %ecx
	rep stosl
	lodsl
	stosw
	movsl
	mov	$9, %ecx
	repne scasb
	mov	$9, %ecx
	repe cmpsb
	scasl
	cmpsw
	mov	$2, %ecx
	rep lodsb
	xor	%ecx, %ecx
	rep movsl
END string

SNIPPET bound
	movl	$-5, (%ebx)
	movl	$0x7fffffff, 4(%ebx)
	and	$0x7fffffff, %eax
	bound	%eax, (%ebx)
	movw	$-5, 8(%ebx)
	movw	$0x7fff, 10(%ebx)
	and	$0x7fff, %cx
	bound	%cx, 8(%ebx)
	STEP(1)
END bound

/* -- stack -- */

SNIPPET push_pop
	.irp	r, eax, ecx, edx, ebx, esp, ebp, esi, edi
	push	%\r
	.endr
	.irp	r, edi, esi, ebp, eax
	pop	%\r
	.endr
	pop	%ecx
	pop	%edx
END push_pop

SNIPPET push_forms
	push	$5
	push	$-1
	push	$0x12345678
	push	(%ebx)
	push	8(%esp)
	push	insn_test_mem + 8
	pushw	%ax
	pushw	$0x1234
	popw	%cx
	popw	16(%ebx)
	pop	24(%ebx)
	pop	8(%esp)
	pop	insn_test_mem + 32
	pushl	PERCPU(0)
	popl	PERCPU(8)
END push_forms

SNIPPET pusha
	pusha
	mov	12(%esp), %eax		/* %esp as it was */
	addl	$3, 28(%esp)
	xorl	%ecx, 16(%esp)
	popa
	STEP(1)
	pushaw
	mov	%esp, %ecx
	addw	$3, 14(%esp)
	popaw
	STEP(2)
	pusha
END pusha

/*
 * Do not pop whole general registers: a push of a segment register may leave the upper
 * half of its place unchanged.
 */
SNIPPET segments
	push	%cs
	popw	%ax
	lea	2(%esp), %esp
	push	%ds
	pop	%es
	push	%es
	pop	%ds
	push	%ss
	pop	%ss
	STEP(1)
	push	%fs
	pop	%fs
	pushw	%es
	popw	%es
	mov	%ds, %ecx
	mov	%ecx, %es
	mov	%es, (%ebx)
	mov	(%ebx), %ds
	STEP(2)
END segments

/* C code must not run with these. */
SNIPPET segments_null
	push	%fs
	xor	%eax, %eax
	mov	%eax, %es
	STEP(1)
	mov	%eax, %fs
	STEP(2)
	mov	%fs, %ecx
	mov	%es, %edx
	pop	%fs
	push	%cs:(%ebx)
	mov	%eax, %ds
	STEP(4)
	pop	%ss:4(%esp)
	push	%ss
	pop	%ds
	push	%ds
	pop	%es
	mov	$__USER_DS, %eax
	mov	%eax, %ds
	mov	%eax, %es
END segments_null

SNIPPET far_pointers
	mov	%es, 4(%ebx)
	les	(%ebx), %ecx
	mov	%ds, 12(%ebx)
	lds	8(%ebx), %edx
	mov	%fs, 20(%ebx)
	lfs	16(%ebx), %eax
	mov	%esp, 24(%ebx)
	mov	%ss, 28(%ebx)
	lss	24(%ebx), %esp
	STEP(1)
	mov	%es, 34(%ebx)
	les	32(%ebx), %cx
END far_pointers

/* -- direct branches -- */

SNIPPET loop16
	/* The upper half of %ecx is not counted, and does not change. */
	mov	$0x10002, %ecx
.Lloop16a:
	STEP(1)
	.byte	0x67, 0xe2, .Lloop16a - . - 1
	mov	$0x10001, %ecx
	.byte	0x67, 0xe1, .Lloop16b - . - 1
	STEP(16)
.Lloop16b:
	mov	$0x20003, %ecx
	.byte	0x67, 0xe0, .Lloop16c - . - 1
	STEP(32)
.Lloop16c:
	mov	%ecx, %eax
END loop16

SNIPPET jecxz
	jecxz	.Ljecxz1
	STEP(1)
.Ljecxz1:
	mov	$0x10000, %ecx
	jecxz	.Ljecxz2
	STEP(2)
.Ljecxz2:
	.byte	0x67, 0xe3, .Ljecxz3 - . - 1	/* jcxz */
	STEP(4)
.Ljecxz3:
	mov	%ebp, %ecx
	jecxz	.Ljecxz4
	STEP(8)
.Ljecxz4:
	.byte	0x67, 0xe3, .Ljecxz5 - . - 1
	STEP(16)
.Ljecxz5:
END jecxz

/* -- vectors: AVX prefixes differ from LES and LDS only by the ModRM byte -- */

SNIPPET sse
	movups	(%ebx), %xmm0
	movups	%xmm1, 16(%ebx)
	paddd	insn_test_mem, %xmm0
	pxor	%xmm2, %xmm1
	pshufd	$0x1b, insn_test_mem + 16, %xmm2
	movd	%eax, %xmm3
	movd	%xmm0, %ecx
	pinsrw	$3, insn_test_mem + 6, %xmm1
	movmskps %xmm1, %edx
	pcmpeqb	%xmm2, %xmm0
END sse

SNIPPET avx, SNIPPET_AVX
	vmovdqu	(%ebx), %xmm0
	vpaddd	insn_test_mem, %xmm0, %xmm1
	vpshufd	$0x1b, insn_test_mem + 16, %xmm2
	vpxor	%xmm1, %xmm2, %xmm3
	vmovdqu	%xmm3, insn_test_mem + 32
	vpinsrd	$1, insn_test_mem + 48, %xmm0, %xmm0
END avx

/* -- system -- */

SNIPPET cpuid
	mov	%ebx, %esi
	xor	%eax, %eax
	xor	%ecx, %ecx
	cpuid
	mov	$0x80000000, %eax
	cpuid
	xchg	%ebx, %esi
END cpuid

SNIPPET control_regs
	mov	%cr0, %eax
	mov	%cr4, %edx
	mov	%edx, %cr4
	mov	%ds, %esi
	mov	%ss, %ebp
	mov	$0x174, %ecx			/* MSR_IA32_SYSENTER_CS */
	rdmsr
	wrmsr
	smsw	%eax
	sgdt	(%ebx)
	invlpg	(%ebx)
	clts
END control_regs

/* -- faults with a fixup -- */

SNIPPET gp_pop, SNIPPET_FAULTS
	push	$0xfff8
.Lgpp1:	pop	%es
.Lgpp2:
	STEP(1)
	push	$0xfff8
.Lgpp3:	pop	%fs
.Lgpp4:
	STEP(2)
	mov	%ds, %eax
	mov	%eax, %es
	mov	$__KERNEL_PERCPU, %eax
	mov	%eax, %fs
	_ASM_EXTABLE_TYPE(.Lgpp1, .Lgpp2, EX_TYPE_POP_ZERO | EX_REG_ES)
	_ASM_EXTABLE_TYPE(.Lgpp3, .Lgpp4, EX_TYPE_POP_ZERO | EX_REG_FS)
END gp_pop

/* -- instructions that must be refused -- */

.macro REFUSED_OF_WIDTH
	REFUSED into, , 0xce
	REFUSED lcall, , 0x9a, 0x00, 0x00, 0x00, 0x00, 0x60, 0x00
	REFUSED ljmp, , 0xea, 0x00, 0x00, 0x00, 0x00, 0x60, 0x00
	REFUSED iretw, , 0x66, 0xcf
	REFUSED lretw, , 0x66, 0xcb
	REFUSED sysexit, , 0x0f, 0x35
	REFUSED loop_66, , 0x66, 0xe2, 0x00
	REFUSED jecxz_66, , 0x66, 0xe3, 0x00
	REFUSED call_gs, NOTE_RETPOLINE_SAFE, 0x65, 0xff, 0x13
	REFUSED jmp_addr16, NOTE_RETPOLINE_SAFE, 0x67, 0xff, 0x27
.endm
