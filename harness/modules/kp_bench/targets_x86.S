/* SPDX-License-Identifier: GPL-2.0-only */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>

#include "targets.h"

	.text

/* Instructions of five bytes, so that a jump covers only one. */
SYM_FUNC_START(kp_bench_move)
SYM_INNER_LABEL(kp_bench_move_at, SYM_L_GLOBAL)
	mov $1, %eax
	mov $2, %eax
	RET
SYM_FUNC_END(kp_bench_move)

SYM_FUNC_START(kp_bench_entry)
SYM_INNER_LABEL(kp_bench_entry_at, SYM_L_GLOBAL)
	mov $1, %eax
	mov $2, %eax
	RET
SYM_FUNC_END(kp_bench_entry)

SYM_FUNC_START_LOCAL(leaf)
	RET
SYM_FUNC_END(leaf)

SYM_FUNC_START(kp_bench_call)
SYM_INNER_LABEL(kp_bench_call_at, SYM_L_GLOBAL)
	call leaf
	RET
SYM_FUNC_END(kp_bench_call)

SYM_FUNC_START(kp_bench_jump)
SYM_INNER_LABEL(kp_bench_jump_at, SYM_L_GLOBAL)
	jmp 1f
1:
	RET
SYM_FUNC_END(kp_bench_jump)

SYM_FUNC_START(kp_bench_branch)
	xor %eax, %eax
SYM_INNER_LABEL(kp_bench_branch_at, SYM_L_GLOBAL)
	jz 1f
	mov $1, %eax
1:
	RET
SYM_FUNC_END(kp_bench_branch)

SYM_FUNC_START(kp_bench_ret)
	mov $1, %eax
SYM_INNER_LABEL(kp_bench_ret_at, SYM_L_GLOBAL)
	ANNOTATE_UNRET_SAFE
	ret
	int3
SYM_FUNC_END(kp_bench_ret)

	.altmacro
	.macro field_function n
	.balign FIELD_STRIDE, 0xcc
SYM_FUNC_START_LOCAL_NOALIGN(field_\n)
	.ifeq \n
SYM_INNER_LABEL(kp_bench_field_first, SYM_L_GLOBAL)
	.endif
	.rept FIELD_INSNS
	mov $1, %eax
	.endr
	RET
SYM_FUNC_END(field_\n)
	.endm

	.balign FIELD_STRIDE
SYM_INNER_LABEL(kp_bench_field, SYM_L_GLOBAL)
	.set i, 0
	.rept FIELD_FUNCTIONS
	field_function %i
	.set i, i + 1
	.endr

	.macro each_function n
	.balign EACH_STRIDE, 0xcc
SYM_FUNC_START_LOCAL_NOALIGN(each_\n)
	.ifeq \n
SYM_INNER_LABEL(kp_bench_each_first, SYM_L_GLOBAL)
	.endif
	mov $1, %eax
	test %eax, %eax
	jz 1f
	mov $2, %eax
1:
	RET
SYM_FUNC_END(each_\n)
	.endm

	.set i, 0
	.rept EACH_FUNCTIONS
	each_function %i
	.set i, i + 1
	.endr

	.section .rodata
	.balign 4
SYM_DATA(kp_bench_insn_size, .long 5)
