/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of many short instructions, so that a jump covers several, some of them
 * targets of branches, returns and faults. They are called by pointers; %rdi is n, %rsi an
 * array of four that belongs to the caller.
 */
#include <linux/cfi_types.h>
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/smap.h>

	.text

SYM_TYPED_FUNC_START(kp_target_short)
	mov %edi, %eax
	push %rdi
	push %rsi
	inc %eax
	pop %rcx
	pop %rdx
	add %edx, %eax
	cltq
	mov %eax, (%rcx)
	nop
	xchg %eax, %edx
	add (%rcx), %dl
	not %eax
	neg %edx
	sub %edx, %eax
	RET
SYM_FUNC_END(kp_target_short)

/* Each label is inside the regions of jumps before it. */
SYM_TYPED_FUNC_START(kp_target_branch)
	xor %eax, %eax
	mov %edi, %ecx
	inc %ecx
.Lround:
	add %ecx, %eax
	inc %eax
	test $1, %al
	jz .Leven
	inc %eax
	cltq
.Leven:
	inc %eax
	dec %ecx
	jnz .Lround
	mov %edi, %ecx
	jrcxz .Lskipped
.Lagain:
	inc %eax
	loop .Lagain
	test $2, %dil
	jnz .Lmiddle
	inc %eax
	nop
.Lmiddle:
	inc %eax
	cltq
	jmp .Lout
.Lskipped:
	inc %eax
.Lout:
	inc %eax
	cltq
	RET
SYM_FUNC_END(kp_target_branch)

/* A call of two bytes returns into the region of a jump at the call or just before it. */
SYM_TYPED_FUNC_START(kp_target_callback)
	FRAME_BEGIN
	push %rbx
	push %r12
	mov %rdi, %rbx
	lea kp_target_sleeper(%rip), %rax
	nop
	ANNOTATE_RETPOLINE_SAFE
	call *%rax
	push %rax
	pop %r12
	mov %ebx, %edi
	call kp_target_leaf
	add %eax, %r12d
	mov %r12, %rdi
	and $7, %edi
	lea kp_target_sleeper(%rip), %rdx
	nop
	nop
	ANNOTATE_RETPOLINE_SAFE
	call *%rdx
	nop
	nop
	add %r12, %rax
	pop %r12
	pop %rbx
	FRAME_END
	RET
SYM_FUNC_END(kp_target_callback)

/* Odd inputs read from an unmapped address. */
SYM_TYPED_FUNC_START(kp_target_load)
	mov %edi, %ecx
	mov %rdi, (%rsi)
	test $1, %cl
	jz 1f
	mov $16, %esi
1:
	ASM_STAC
	xor %eax, %eax
	nop
2:
	mov (%rsi), %edx
	inc %eax
	add %edx, %eax
	cltq
.Lload_out:
	nop
	inc %eax
	cltq
	nop
	nop
	ASM_CLAC
	RET
.Lload_bad:
	mov $-14, %eax
	cltq
	jmp .Lload_out
	_ASM_EXTABLE(2b, .Lload_bad)
SYM_FUNC_END(kp_target_load)

SYM_TYPED_FUNC_START(kp_target_store)
	mov %edi, %ecx
	ASM_STAC
	xor %eax, %eax
	nop
	nop
1:
	mov %cl, (%rsi)
	inc %eax
	dec %eax
.Lstore_out:
	cltq
	nop
	ASM_CLAC
	RET
.Lstore_bad:
	or $-1, %eax
	jmp .Lstore_out
	_ASM_EXTABLE(1b, .Lstore_bad)
SYM_FUNC_END(kp_target_store)

SYM_TYPED_FUNC_START(kp_target_flags)
	mov %edi, %eax
	neg %edi
	sbb %edx, %edx
	adc %edx, %eax
	stc
	setc %cl
	cmc
	adc %cl, %al
	shl $29, %edi
	seto %cl
	sets %dl
	pushf
	add %ecx, %edx
	popf
	rcl %eax
	sahf
	adc $0, %dl
	lahf
	and $0x1ff, %eax
	and $0xff, %edx
	add %edx, %eax
	RET
SYM_FUNC_END(kp_target_flags)

SYM_TYPED_FUNC_START(kp_target_returns)
	mov %edi, %eax
	test %edi, %edi
	jz .Lzero
	dec %edi
	jz .Lone
	cmp $4, %edi
	ja .Lmore
	RET
.Lzero:
	inc %eax
	RET
.Lone:
	nop
	RET
.Lmore:
	add %eax, %eax
	jp .Lparity
	RET
.Lparity:
	dec %eax
	RET
SYM_FUNC_END(kp_target_returns)

SYM_TYPED_FUNC_START(kp_target_tail)
	test $1, %dil
	jnz kp_target_leaf
	inc %edi
	nop
	test $2, %dil
	jnz .Ltail
	inc %edi
.Ltail:
	nop
	jmp kp_target_leaf
SYM_FUNC_END(kp_target_tail)

/* The result depends on the stack pointer and on the stack. */
SYM_TYPED_FUNC_START(kp_target_stack)
	mov %rsp, %rax
	push %rdi
	push %rsp
	pop %rdx
	sub %rdx, %rax
	add (%rsp), %rax
	xchg %rax, (%rsp)
	push $3
	pop %rcx
	pop %rax
	lea (%rax,%rcx,4), %rax
	push %rax
	push %rcx
	add 8(%rsp), %eax
	pop %rcx
	pop %rdx
	cltq
	RET
SYM_FUNC_END(kp_target_stack)
