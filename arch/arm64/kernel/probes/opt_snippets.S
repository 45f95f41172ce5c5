/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions for opt_test.c, which probes NAME at the label NAME_at.
 */
#include <linux/linkage.h>
#include <asm/assembler.h>

	.text

	/* Returns the exception mask behind the probe. */
SYM_FUNC_START(opt_daif)
	mrs	x1, daif
SYM_INNER_LABEL(opt_daif_at, SYM_L_GLOBAL)
	nop
	mrs	x0, daif
	msr	daif, x1
	ret
SYM_FUNC_END(opt_daif)

	/* Returns its argument, plus 1 if the probed branch is not taken. */
SYM_FUNC_START(opt_branch)
	cmp	x0, #100
SYM_INNER_LABEL(opt_branch_at, SYM_L_GLOBAL)
	b.hs	1f
	add	x0, x0, #1
1:	ret
SYM_FUNC_END(opt_branch)

SYM_FUNC_START(opt_add)
SYM_INNER_LABEL(opt_add_at, SYM_L_GLOBAL)
	add	x0, x0, #1
	ret
SYM_INNER_LABEL(opt_add_elsewhere, SYM_L_GLOBAL)
	mov	x0, #1000
	ret
SYM_FUNC_END(opt_add)

	/* Stores what it has loaded, with a probe in between. */
SYM_FUNC_START(opt_store)
	ldr	w1, [x0]
SYM_INNER_LABEL(opt_store_at, SYM_L_GLOBAL)
	str	w1, [x0]
	ret
SYM_FUNC_END(opt_store)

	/* Has a frame record of its own. */
SYM_FUNC_START(opt_frame)
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
SYM_INNER_LABEL(opt_frame_at, SYM_L_GLOBAL)
	nop
	ldp	x29, x30, [sp], #16
	ret
SYM_FUNC_END(opt_frame)
