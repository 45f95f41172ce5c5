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

#define START(name, stride)	.balign stride; SYM_FUNC_START_LOCAL(name)
#define MOVE(n)			addi a0, x0, n
#define SKIP			beq a0, x0, 1f
#define RETURN			ret
#define INSN_SIZE		4

#include "many.h"
