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

/* SYM_FUNC_START() would put a landing pad in front. */
#define START(name, stride)	.balign stride; SYM_START(name, SYM_L_LOCAL, SYM_A_NONE)
#define MOVE(n)			mov w0, n
#define SKIP			cbz w0, 1f
#define RETURN			ret
#define INSN_SIZE		4

#include "many.h"
