/* SPDX-License-Identifier: GPL-2.0-only */
#include <linux/linkage.h>

#include "targets.h"

	.option norvc
	.text

SYM_FUNC_START(kp_bench_move)
SYM_INNER_LABEL(kp_bench_move_at, SYM_L_GLOBAL)
	addi	a0, x0, 1
	ret
SYM_FUNC_END(kp_bench_move)

SYM_FUNC_START(kp_bench_entry)
SYM_INNER_LABEL(kp_bench_entry_at, SYM_L_GLOBAL)
	addi	a0, x0, 1
	ret
SYM_FUNC_END(kp_bench_entry)

SYM_FUNC_START_LOCAL(leaf)
	ret
SYM_FUNC_END(leaf)

SYM_FUNC_START(kp_bench_call)
	mv	t1, ra
SYM_INNER_LABEL(kp_bench_call_at, SYM_L_GLOBAL)
	jal	ra, leaf
	mv	ra, t1
	ret
SYM_FUNC_END(kp_bench_call)

SYM_FUNC_START(kp_bench_jump)
SYM_INNER_LABEL(kp_bench_jump_at, SYM_L_GLOBAL)
	j	1f
1:
	ret
SYM_FUNC_END(kp_bench_jump)

SYM_FUNC_START(kp_bench_branch)
	addi	a0, x0, 0
SYM_INNER_LABEL(kp_bench_branch_at, SYM_L_GLOBAL)
	beq	a0, x0, 1f
	addi	a0, x0, 1
1:
	ret
SYM_FUNC_END(kp_bench_branch)

SYM_FUNC_START(kp_bench_ret)
	addi	a0, x0, 1
SYM_INNER_LABEL(kp_bench_ret_at, SYM_L_GLOBAL)
	ret
SYM_FUNC_END(kp_bench_ret)

	.altmacro
	.macro field_function n
	.balign FIELD_STRIDE
SYM_FUNC_START_LOCAL(field_\n)
	.ifeq \n
SYM_INNER_LABEL(kp_bench_field_first, SYM_L_GLOBAL)
	.endif
	.rept FIELD_INSNS
	addi	a0, x0, 1
	.endr
	ret
SYM_FUNC_END(field_\n)
	.endm

SYM_INNER_LABEL(kp_bench_field, SYM_L_GLOBAL)
	.set i, 0
	.rept FIELD_FUNCTIONS
	field_function %i
	.set i, i + 1
	.endr

	.macro each_function n
	.balign EACH_STRIDE
SYM_FUNC_START_LOCAL(each_\n)
	.ifeq \n
SYM_INNER_LABEL(kp_bench_each_first, SYM_L_GLOBAL)
	.endif
	addi	a0, x0, 1
	beq	a0, x0, 1f
	addi	a0, x0, 2
1:
	ret
SYM_FUNC_END(each_\n)
	.endm

	.set i, 0
	.rept EACH_FUNCTIONS
	each_function %i
	.set i, i + 1
	.endr

	.section .rodata
	.balign 4
SYM_DATA(kp_bench_insn_size, .long 4)
