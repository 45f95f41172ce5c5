/* SPDX-License-Identifier: GPL-2.0-only */
#include <linux/linkage.h>

#include "targets.h"

	.text

SYM_FUNC_START(kp_bench_move)
SYM_INNER_LABEL(kp_bench_move_at, SYM_L_GLOBAL)
	mov	w0, #1
	ret
SYM_FUNC_END(kp_bench_move)

	/* Without a landing pad, since the return probe is on the first instruction. */
SYM_START(kp_bench_entry, SYM_L_GLOBAL, SYM_A_ALIGN)
SYM_INNER_LABEL(kp_bench_entry_at, SYM_L_GLOBAL)
	mov	w0, #1
	ret
SYM_FUNC_END(kp_bench_entry)

SYM_FUNC_START_LOCAL(leaf)
	ret
SYM_FUNC_END(leaf)

SYM_FUNC_START(kp_bench_call)
	mov	x9, x30
SYM_INNER_LABEL(kp_bench_call_at, SYM_L_GLOBAL)
	bl	leaf
	mov	x30, x9
	ret
SYM_FUNC_END(kp_bench_call)

SYM_FUNC_START(kp_bench_jump)
SYM_INNER_LABEL(kp_bench_jump_at, SYM_L_GLOBAL)
	b	1f
1:
	ret
SYM_FUNC_END(kp_bench_jump)

SYM_FUNC_START(kp_bench_branch)
	cmp	xzr, xzr
SYM_INNER_LABEL(kp_bench_branch_at, SYM_L_GLOBAL)
	b.eq	1f
	mov	w0, #1
1:
	ret
SYM_FUNC_END(kp_bench_branch)

SYM_FUNC_START(kp_bench_ret)
	mov	w0, #1
SYM_INNER_LABEL(kp_bench_ret_at, SYM_L_GLOBAL)
	ret
SYM_FUNC_END(kp_bench_ret)

	.altmacro
	.macro field_function n
	.balign FIELD_STRIDE
	/* SYM_FUNC_START() would put a landing pad in front. */
SYM_START(field_\n, SYM_L_LOCAL, SYM_A_NONE)
	.ifeq \n
SYM_INNER_LABEL(kp_bench_field_first, SYM_L_GLOBAL)
	.endif
	.rept FIELD_INSNS
	mov	w0, #1
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
SYM_START(each_\n, SYM_L_LOCAL, SYM_A_NONE)
	.ifeq \n
SYM_INNER_LABEL(kp_bench_each_first, SYM_L_GLOBAL)
	.endif
	mov	w0, #1
	cbz	w0, 1f
	mov	w0, #2
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
