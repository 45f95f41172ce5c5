/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The many functions of targets.h. The including file defines, for its architecture:
 *
 *	START(name, stride)	the beginning of a local function, aligned
 *	MOVE(n)			an instruction that can be replaced by a jump
 *	SKIP			instructions that end in a branch to 1, which is never taken
 *	RETURN			the end of a function
 */

	.altmacro
	.macro field_function n
START(field_\n, FIELD_STRIDE)
	.ifeq \n
SYM_INNER_LABEL(kp_bench_field_first, SYM_L_GLOBAL)
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
SYM_INNER_LABEL(kp_bench_each_first, SYM_L_GLOBAL)
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
