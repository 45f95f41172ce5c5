/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where diverted returns arrive.
 */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/assembler.h>

	.text

/*
 * From the RET of a function whose return address was diverted. The registers
 * are saved as by an exception. The frame record that goes with them says that
 * the trampoline is where to return to: unwinders recognise that, and look up
 * the real address with the caller's frame.
 */
SYM_CODE_START(__kretprobe_trampoline)
	sub	sp, sp, #PT_REGS_SIZE
	stp	x0, x1, [sp, #S_X0]
	stp	x2, x3, [sp, #S_X2]
	stp	x4, x5, [sp, #S_X4]
	stp	x6, x7, [sp, #S_X6]
	stp	x8, x9, [sp, #S_X8]
	stp	x10, x11, [sp, #S_X10]
	stp	x12, x13, [sp, #S_X12]
	stp	x14, x15, [sp, #S_X14]
	stp	x16, x17, [sp, #S_X16]
	stp	x18, x19, [sp, #S_X18]
	stp	x20, x21, [sp, #S_X20]
	stp	x22, x23, [sp, #S_X22]
	stp	x24, x25, [sp, #S_X24]
	stp	x26, x27, [sp, #S_X26]
	stp	x28, x29, [sp, #S_X28]
	adr_l	x1, __kretprobe_trampoline
	add	x2, sp, #PT_REGS_SIZE
	stp	x1, x2, [sp, #S_LR]
	stp	x29, x1, [sp, #S_STACKFRAME]
	add	x29, sp, #S_STACKFRAME

	/* What an exception would have found in PSTATE. */
	mrs	x2, nzcv
	mrs	x3, daif
	orr	x2, x2, x3
	mrs	x3, CurrentEL
	orr	x2, x2, x3
	mrs	x3, spsel
	orr	x2, x2, x3
	stp	x1, x2, [sp, #S_PC]

	mov	x0, sp
	bl	kretprobe_trampoline_return
	mov	x30, x0

	/* The handlers may change all but what the C code has to keep. */
	ldr	x2, [sp, #S_PSTATE]
	and	x2, x2, #0xf0000000
	msr	nzcv, x2
	ldp	x0, x1, [sp, #S_X0]
	ldp	x2, x3, [sp, #S_X2]
	ldp	x4, x5, [sp, #S_X4]
	ldp	x6, x7, [sp, #S_X6]
	ldp	x8, x9, [sp, #S_X8]
	ldp	x10, x11, [sp, #S_X10]
	ldp	x12, x13, [sp, #S_X12]
	ldp	x14, x15, [sp, #S_X14]
	ldp	x16, x17, [sp, #S_X16]
	ldr	x19, [sp, #S_X18 + 8]
	ldp	x20, x21, [sp, #S_X20]
	ldp	x22, x23, [sp, #S_X22]
	ldp	x24, x25, [sp, #S_X24]
	ldp	x26, x27, [sp, #S_X26]
	ldp	x28, x29, [sp, #S_X28]
	add	sp, sp, #PT_REGS_SIZE
	ret
SYM_CODE_END(__kretprobe_trampoline)
NOKPROBE(__kretprobe_trampoline)
