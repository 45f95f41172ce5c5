/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snippets: pieces of code that insn_test.c probes, and their common entry and exit.
 *
 * A snippet starts with random registers, flags, stack and memory, and ends where
 * execution reaches its end. It may change any register, under these rules:
 *
 *	x17	is the address of the snippet
 *	x18	is not touched if it is the shadow call stack's
 *	x19	points into the middle of insn_test_mem
 *	x20	is 0 to 7
 *	sp	points to INSN_TEST_STACK bytes of stack; the stack below sp is
 *		overwritten by interrupts, and not compared
 *	others	are random, as are NZCV and whether interrupts are on
 *
 * All local labels are .L labels or numbers, because a snippet must be one symbol, as
 * a function is. A STEP counts in x22 without changing the flags, so that a wrong
 * branch changes the result.
 */
#include <linux/linkage.h>
#include <asm/asm-extable.h>
#include <asm/assembler.h>
#include "insn_test.h"

	.arch	armv8.5-a

#define STEP(n)		add x22, x22, n
#define BTI_C		hint 34
#define BTI_J		hint 36
#define UNMAPPED	-4096

/* -- tables -- */

.pushsection .data
.balign 8
SYM_DATA_START(insn_snippets)
.popsection

.text

.macro SNIPPET name, needs=0, refused=0
	.balign	16
	.type	insn_\name, %function
insn_\name:
	.pushsection .rodata.str
.Lname_\name:
	.asciz	"\name"
	.popsection
	.pushsection .data
	.quad	insn_\name, .Lend_\name - insn_\name, .Lname_\name, \needs, \refused
	.popsection
.endm

.macro END name
	b	insn_test_exit
.Lend_\name:
	.size	insn_\name, . - insn_\name
	/* With CFI the word in front of the next symbol cannot be probed. */
	nop
.endm

/* -- data processing -- */

SNIPPET moves
	mov	x0, #0x1234
	movk	x0, #0x5678, lsl #48
	movn	w1, #7
	mov	x2, x3
	mov	w4, w5
	orr	x6, x7, #0xff00ff00ff00ff00
	and	x8, x9, x10, lsl #3
	bic	w11, w12, w13, ror #7
	eon	x14, x15, x16
	csel	x0, x1, x2, lt
	csinc	w3, w4, w5, hi
	csneg	x6, x7, x8, vs
	cset	x9, mi
END moves

SNIPPET arithmetic
	adds	x0, x1, x2
	adcs	x3, x4, x5
	subs	w6, w7, w8, lsl #4
	sbc	x9, x10, x11
	add	x12, x13, w14, sxtw #2
	madd	x15, x16, x0, x1
	umulh	x2, x3, x4
	smull	x5, w6, w7
	udiv	x8, x9, x20
	sdiv	w10, w11, w20
	ccmp	x12, x13, #5, ne
	ccmn	w14, #3, #9, ge
	neg	x0, x1
	lsl	x2, x3, x4
	extr	x5, x6, x7, #13
	ubfx	x8, x9, #5, #20
	sbfiz	w10, w11, #3, #7
	bfi	x12, x13, #17, #11
	clz	x14, x15
	rbit	x0, x1
	rev	x2, x3
	crc32x	w4, w5, x6
END arithmetic

/* -- memory -- */

SNIPPET memory
	ldr	x0, [x19]
	ldr	w1, [x19, #12]
	ldrb	w2, [x19, x20]
	ldrsb	x3, [x19, #3]
	ldrsh	w4, [x19, #-6]
	ldrsw	x5, [x19, #8]
	ldur	x6, [x19, #-13]
	str	x7, [x19, x20, lsl #3]
	strh	w8, [x19, #20]
	stp	x9, x10, [x19, #-64]
	ldp	w11, w12, [x19, #16]
	ldpsw	x13, x14, [x19, #24]
	str	x0, [x19, #8]!
	ldr	x1, [x19], #-8
	stp	x2, x3, [x19, #-16]!
	ldp	x4, x5, [x19], #16
	ldar	x6, [x19]
	stlr	w7, [x19]
	prfm	pldl1keep, [x19, #64]
	str	xzr, [x19, #32]
END memory

SNIPPET stack
	stp	x29, x30, [sp, #-32]!
	mov	x29, sp
	str	x0, [sp, #16]
	ldr	x1, [x29, #16]
	sub	sp, sp, #64
	add	x2, sp, #8
	str	x3, [x2]
	ldr	x4, [sp, #8]
	add	sp, sp, #64
	ldp	x29, x30, [sp], #32
	ldp	x5, x6, [sp, #32]
	stp	x7, x8, [sp, #48]
END stack

SNIPPET atomics, SNIPPET_LSE
	ldadd	x0, x1, [x19]
	ldsetal	w2, w3, [x19]
	swpa	x4, x5, [x19]
	cas	x6, x7, [x19]
	stadd	x8, [x19]
	mov	x0, x2
	mov	x1, x3
	casp	x0, x1, x2, x3, [x19]
END atomics

/* Failure A7: the store must not see a trap since the load. */
SNIPPET exclusive_loop, refused=0x1c
	STEP(1)
	prfm	pstl1strm, [x19]
1:	ldxr	x0, [x19]
	add	x0, x0, x1
	stxr	w2, x0, [x19]
	cbnz	w2, 1b
	dmb	ish
END exclusive_loop

SNIPPET exclusive_compare, refused=0x7c
	ldr	x0, [x19]
	add	x0, x0, x20, lsr #2
1:	ldaxp	x3, x4, [x19]
	eor	x5, x3, x0
	cbnz	x5, 2f
	b	3f
3:	stlxp	w6, x1, x2, [x19]
	cbnz	w6, .Lagain
	STEP(1)
2:	STEP(2)
	clrex
	b	.Lout
.Lagain:
	b	1b
.Lout:
	STEP(4)
END exclusive_compare

SNIPPET exclusive_alone
	sevl
	wfe
	ldxr	w0, [x19]
	cbz	w0, 1f
	sevl
	wfe
1:	clrex
END exclusive_alone

/* -- branches -- */

SNIPPET branch
	b	1f
2:	STEP(1)
	bl	3f
	STEP(2)
	b	4f
3:	STEP(4)
	ret
1:	STEP(8)
	b	2b
4:	STEP(16)
	mov	x30, x0
END branch

SNIPPET conditions
	.irp	c, eq, ne, cs, cc, mi, pl, vs, vc, hi, ls, ge, lt, gt, le, al, nv
	b.\c	1f
	STEP(1)
1:	lsl	x22, x22, #1
	.endr
END conditions

SNIPPET compare_zero
	mov	x0, #0x100000000
	cbz	w0, 1f
	STEP(1)
1:	cbz	x0, 2f
	STEP(2)
2:	cbnz	w0, 3f
	STEP(4)
3:	cbnz	x0, 4f
	STEP(8)
4:	cbz	xzr, 5f
	STEP(16)
5:	cbnz	wzr, 6f
	STEP(32)
6:	cbz	w20, 7f
	STEP(64)
7:	cbnz	x20, 8f
	STEP(128)
8:	nop
END compare_zero

SNIPPET test_bit
	tbz	w0, #0, 1f
	STEP(1)
1:	tbnz	w1, #31, 2f
	STEP(2)
2:	tbz	x2, #32, 3f
	STEP(4)
3:	tbnz	x3, #63, 4f
	STEP(8)
4:	tbz	x20, #1, 5f
	STEP(16)
5:	tbnz	xzr, #5, 6f
	STEP(32)
6:	b	8f
7:	STEP(64)
	b	9f
8:	tbz	xzr, #40, 7b
9:	nop
END test_bit

/* Failure A8: a probe on a landing pad must be a landing pad itself. */
SNIPPET indirect
	adr	x9, 1f
	br	x9
	STEP(1)
1:	BTI_J
	adr	x16, 2f
	br	x16
	STEP(2)
2:	BTI_C
	adr	x10, 3f
	blr	x10
	STEP(4)
	b	4f
3:	BTI_C
	STEP(8)
	ret
4:	adr	x30, 5f
	blr	x30
	STEP(16)
	b	6f
5:	BTI_C
	ret	x30
6:	adr	x11, 7f
	ret	x11
	STEP(32)
7:	STEP(64)
END indirect

/* Failure A6: a pointer that is signed before a probe must authenticate behind it. */
SNIPPET pauth, SNIPPET_PAUTH
	paciasp
	autiasp
	pacibsp
	autibsp
	pacia	x0, x1
	xpaci	x0
	adr	x9, 1f
	pacia	x9, x10
	braa	x9, x10
	STEP(1)
1:	BTI_J
	adr	x9, 2f
	pacizb	x9
	blrabz	x9
	STEP(2)
	b	3f
2:	BTI_C
	paciasp
	retaa
3:	adr	x9, 4f
	pacib	x9, sp
	blrab	x9, sp
	STEP(4)
	b	5f
4:	BTI_C
	pacibsp
	retab
5:	adr	x9, 6f
	paciza	x9
	braaz	x9
6:	BTI_J
	pacga	x0, x1, x2
END pauth

/* -- dependent on their own address -- */

	.balign	16
.Lliteral:
	.quad	0x8123456789abcdef, 0xfedcba9876543210

SNIPPET addresses
	adr	x0, .Lliteral
	adr	x1, 1f
	adrp	x2, .Lliteral
	adrp	x3, insn_test_mem
1:	adr	xzr, 1b
	adr	x4, . + 3
	.inst	0xf0ffffe5		/* adrp x5, . - 4K, for any page size */
	.inst	0x90800006		/* adrp x6, . - 4G */
END addresses

/* Failure A1: each load has its own width, and the literals have kernel addresses. */
SNIPPET literals
	ldr	x0, .Lliteral
	ldr	w1, .Lliteral
	ldrsw	x2, .Lliteral + 4
	ldrsw	x3, .Lliteral
	ldr	x4, .Lliteral + 4
	ldr	xzr, .Lliteral
	prfm	pldl1keep, .Lliteral
	ldr	s0, .Lliteral
	ldr	d1, .Lliteral + 8
	ldr	q2, .Lliteral
END literals

/* -- system -- */

SNIPPET system
	mrs	x0, nzcv
	eor	x1, x0, #0xf0000000
	msr	nzcv, x1
	mrs	x2, sp_el0
	mrs	x3, tpidr_el1
	mrs	x4, ctr_el0
	mrs	x5, midr_el1
	mrs	x6, CurrentEL
	mrs	x7, fpcr
	msr	fpcr, x7
	dmb	ish
	dsb	sy
	isb
	dc	cvac, x19
	clrex
	yield
	sev
	csdb
	hint	#127
	hint	#32
	nop
END system

SNIPPET counter, SNIPPET_VOLATILE
	isb
	mrs	x0, cntvct_el0
END counter

/* Failure A4 */
SNIPPET interrupts, SNIPPET_SETS_DAIF
	mrs	x0, daif
	msr	daifset, #2
	mrs	x1, daif
	msr	daifset, #3
	mrs	x2, daif
	msr	daifclr, #1
	mrs	x3, daif
	msr	daif, x0
	mrs	x4, daif
END interrupts

/* -- SIMD -- */

SNIPPET simd
	ldr	q0, [x19]
	add	v1.4s, v0.4s, v2.4s
	fmov	x0, d1
	fmov	d2, x1
	dup	v3.2d, x2
	eor	v0.16b, v1.16b, v2.16b
	str	q3, [x19, #16]
	ldp	d0, d1, [x19, #32]
	umov	w3, v0.s[1]
	ld1	{v2.8h}, [x19]
END simd

/* -- exceptions -- */

/* Failure A5: a fault of the copy must find the fixup of the original instruction. */
SNIPPET fault, SNIPPET_FAULTS
	mov	x0, #UNMAPPED
1:	ldr	x1, [x0]
	STEP(1)
2:	STEP(2)
	_asm_extable_uaccess 1b, 2b
3:	str	x1, [x0, #8]
	STEP(4)
4:	STEP(8)
	_asm_extable_uaccess 3b, 4b
END fault

/* -- room for instructions of the kernel; must be the last -- */

SNIPPET room
	.rept	INSN_TEST_ROOM
	nop
	.endr
END room

.pushsection .data
SYM_DATA_END_LABEL(insn_snippets, SYM_L_GLOBAL, insn_snippets_end)
.popsection

/* -- entry and exit -- */

#define FRAME_MACHINE	96
#define FRAME_SIZE	112

.pushsection .bss
.balign 8
SYM_DATA_LOCAL(insn_test_frame, .quad 0)
.popsection

/* void insn_test_run(struct machine *m): load the machine and branch to its x17. */
SYM_FUNC_START(insn_test_run)
	stp	x29, x30, [sp, #-FRAME_SIZE]!
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	str	x0, [sp, #FRAME_MACHINE]
	str_l	x29, insn_test_frame, x1

	sub	sp, sp, #INSN_TEST_STACK
	add	x1, x0, #MACHINE_STACK
	mov	x2, sp
	mov	x3, #INSN_TEST_STACK / 16
1:	ldp	x4, x5, [x1], #16
	stp	x4, x5, [x2], #16
	subs	x3, x3, #1
	b.ne	1b

	add	x1, x0, #MACHINE_VREG
	ldp	q0, q1, [x1]
	ldp	q2, q3, [x1, #32]
	ldr	x1, [x0, #MACHINE_FLAGS]
	and	x1, x1, #0xf0000000
	msr	nzcv, x1
	ldp	x2, x3, [x0, #16]
	ldp	x4, x5, [x0, #32]
	ldp	x6, x7, [x0, #48]
	ldp	x8, x9, [x0, #64]
	ldp	x10, x11, [x0, #80]
	ldp	x12, x13, [x0, #96]
	ldp	x14, x15, [x0, #112]
	ldp	x16, x17, [x0, #128]
#ifdef CONFIG_SHADOW_CALL_STACK
	ldr	x19, [x0, #152]
#else
	ldp	x18, x19, [x0, #144]
#endif
	ldp	x20, x21, [x0, #160]
	ldp	x22, x23, [x0, #176]
	ldp	x24, x25, [x0, #192]
	ldp	x26, x27, [x0, #208]
	ldp	x28, x29, [x0, #224]
	ldr	x30, [x0, #240]
	ldp	x0, x1, [x0]
	ret	x17
SYM_FUNC_END(insn_test_run)

SYM_CODE_START(insn_test_exit)
	stp	x0, x1, [sp, #-16]!
	ldr_l	x0, insn_test_frame
	ldr	x1, [x0, #FRAME_MACHINE]
	stp	x2, x3, [x1, #16]
	stp	x4, x5, [x1, #32]
	stp	x6, x7, [x1, #48]
	stp	x8, x9, [x1, #64]
	stp	x10, x11, [x1, #80]
	stp	x12, x13, [x1, #96]
	stp	x14, x15, [x1, #112]
	stp	x16, x17, [x1, #128]
	stp	x18, x19, [x1, #144]
	stp	x20, x21, [x1, #160]
	stp	x22, x23, [x1, #176]
	stp	x24, x25, [x1, #192]
	stp	x26, x27, [x1, #208]
	stp	x28, x29, [x1, #224]
	str	x30, [x1, #240]
	mrs	x2, nzcv
	mrs	x3, daif
	orr	x2, x2, x3
	str	x2, [x1, #MACHINE_FLAGS]
	ldp	x2, x3, [sp], #16
	stp	x2, x3, [x1]
	mov	x2, sp
	str	x2, [x1, #MACHINE_SP]
	add	x2, x1, #MACHINE_VREG
	stp	q0, q1, [x2]
	stp	q2, q3, [x2, #32]

	sub	x2, x0, #INSN_TEST_STACK
	add	x3, x1, #MACHINE_STACK
	mov	x4, #INSN_TEST_STACK / 16
1:	ldp	x5, x6, [x2], #16
	stp	x5, x6, [x3], #16
	subs	x4, x4, #1
	b.ne	1b

	mov	sp, x0
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #FRAME_SIZE
	ret
SYM_CODE_END(insn_test_exit)
