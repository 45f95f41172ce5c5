/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of targets.h. Each architecture defines:
 *
 *	START(name, stride)	the beginning of a local function, aligned
 *	MOVE(n)			an instruction that can be replaced by a jump
 *	JUMP			to 1
 *	CALL			of leaf
 *	SAVE_LINK, RESTORE_LINK	what keeps the return address over it
 *	SET_ZERO, IF_ZERO	an instruction, and a branch to 1 that is taken after it
 *	SKIP			instructions that end in a branch to 1, which is never taken
 *	RETURN			the end of a function
 *	BARE_RETURN		the same without what protects a return
 */
#include <linux/linkage.h>

#include "targets.h"

#define LABEL(name)		INNER(kp_bench_##name##_at)

#if defined(CONFIG_X86)
#include <linux/objtool.h>
#include <asm/nospec-branch.h>

/* Instructions of five bytes, so that a jump covers only one. */
#define START(name, stride)	.balign stride, 0xcc; SYM_START(name, SYM_L_LOCAL, SYM_A_NONE) ENDBR
#define MOVE(n)			mov $n, %eax
#define JUMP			jmp 1f
#define SAVE_LINK
#define CALL			call leaf
#define RESTORE_LINK
#define SET_ZERO		xor %eax, %eax
#define IF_ZERO			jz 1f
#define SKIP			test %eax, %eax; jz 1f
#define RETURN			RET
#define BARE_RETURN		ANNOTATE_UNRET_SAFE; ret; int3
#define INSN_SIZE		5
#elif defined(CONFIG_ARM64)
/* SYM_FUNC_START() would put a landing pad in front. */
#define START(name, stride)	.balign stride; SYM_START(name, SYM_L_LOCAL, SYM_A_NONE)
#define MOVE(n)			mov w0, n
#define JUMP			b 1f
#define SAVE_LINK		mov x9, x30
#define CALL			bl leaf
#define RESTORE_LINK		mov x30, x9
#define SET_ZERO		cmp xzr, xzr
#define IF_ZERO			b.eq 1f
#define SKIP			cbz w0, 1f
#define RETURN			ret
#define BARE_RETURN		ret
#define INSN_SIZE		4
#else
	.option norvc
#define START(name, stride)	.balign stride; SYM_FUNC_START_LOCAL(name)
#define MOVE(n)			addi a0, x0, n
#define JUMP			j 1f
#define SAVE_LINK		mv t1, ra
#define CALL			jal ra, leaf
#define RESTORE_LINK		mv ra, t1
#define SET_ZERO		addi a0, x0, 0
#define IF_ZERO			beq a0, x0, 1f
#define SKIP			beq a0, x0, 1f
#define RETURN			ret
#define BARE_RETURN		ret
#define INSN_SIZE		4
#endif

/* Called by a pointer. */
#ifdef CONFIG_X86
#define CALLED_START(name)	SYM_START(name, SYM_L_GLOBAL, SYM_F_ALIGN) ENDBR
/* Its address is taken, but never called. */
#define INNER(name)		SYM_INNER_LABEL(name, SYM_L_GLOBAL) ANNOTATE_NOENDBR
#else
#define CALLED_START(name)	SYM_FUNC_START(name)
#define INNER(name)		SYM_INNER_LABEL(name, SYM_L_GLOBAL)
#endif

	.text

CALLED_START(kp_bench_move)
LABEL(move)
	MOVE(1)
	MOVE(2)
	RETURN
SYM_FUNC_END(kp_bench_move)

	/* Without a landing pad, since the return probe is on the first instruction. */
SYM_START(kp_bench_entry, SYM_L_GLOBAL, SYM_A_ALIGN)
LABEL(entry)
	MOVE(1)
	MOVE(2)
	RETURN
SYM_FUNC_END(kp_bench_entry)

SYM_FUNC_START_LOCAL(leaf)
	RETURN
SYM_FUNC_END(leaf)

CALLED_START(kp_bench_call)
	SAVE_LINK
LABEL(call)
	CALL
	RESTORE_LINK
	RETURN
SYM_FUNC_END(kp_bench_call)

CALLED_START(kp_bench_jump)
LABEL(jump)
	JUMP
1:
	RETURN
SYM_FUNC_END(kp_bench_jump)

CALLED_START(kp_bench_branch)
	SET_ZERO
LABEL(branch)
	IF_ZERO
	MOVE(1)
1:
	RETURN
SYM_FUNC_END(kp_bench_branch)

CALLED_START(kp_bench_ret)
	MOVE(1)
LABEL(ret)
	BARE_RETURN
SYM_FUNC_END(kp_bench_ret)

	.altmacro
	.macro field_function n
START(field_\n, FIELD_STRIDE)
	.ifeq \n
	.noaltmacro
INNER(kp_bench_field_first)
	.altmacro
	.endif
	.rept FIELD_INSNS
	MOVE(1)
	.endr
	RETURN
SYM_FUNC_END(field_\n)
	.endm

	.set i, 0
	.rept FIELD_FUNCTIONS
	field_function %i
	.set i, i + 1
	.endr

	.macro each_function n
START(each_\n, EACH_STRIDE)
	.ifeq \n
	.noaltmacro
INNER(kp_bench_each_first)
	.altmacro
	.endif
	MOVE(1)
	SKIP
	MOVE(2)
1:
	RETURN
SYM_FUNC_END(each_\n)
	.endm

	.set i, 0
	.rept EACH_FUNCTIONS
	each_function %i
	.set i, i + 1
	.endr

	.section .rodata
	.balign 4
SYM_DATA(kp_bench_insn_size, .long INSN_SIZE)
