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

#define START(name, stride)	.balign stride, 0xcc; SYM_FUNC_START_LOCAL_NOALIGN(name)
#define MOVE(n)			mov $n, %eax
#define SKIP			test %eax, %eax; jz 1f
#define RETURN			RET
#define INSN_SIZE		5

#include "many.h"
