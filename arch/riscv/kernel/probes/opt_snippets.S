/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places for probes, one for each rule of region.c. None is executed. ECALL
 * stands for an instruction that reads all registers.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-extable.h>

.pushsection .data
.balign 8
SYM_DATA_START(opt_rules)
.popsection

/* Each rule is a function; PROBE marks the instruction to probe in it. */
.macro RULE name, why
	.balign	16
	.type	opt_\name, @function
opt_\name:
	.pushsection .rodata.str, "a"
.Lname_\name:
	.asciz	"\name"
.Lwhy_\name:
	.asciz	"\why"
	.popsection
	.pushsection .data
	RISCV_PTR	.Lprobe_\name, .Lname_\name, .Lwhy_\name
	.popsection
.endm

.macro PROBE name
.Lprobe_\name:
.endm

	.text
	.option	push
	.option	norvc

SYM_FUNC_START_LOCAL(opt_callee)
	ret
SYM_FUNC_END(opt_callee)

RULE straight, "-"
PROBE straight
	addi	a0, a0, 1
	addi	a0, a0, 2
	ret

RULE to_the_end, "-"
PROBE to_the_end
	addi	a0, a0, 1
	ret

RULE last, "too short at +4"
PROBE last
	ret

/* The jump begins before the probe. */
RULE lead, "-"
	addi	a0, a0, 1
PROBE lead
	ret

RULE lead_to_call, "-"
1:	auipc	ra, %pcrel_hi(opt_callee)
PROBE lead_to_call
	jalr	ra, %pcrel_lo(1b)(ra)
	addi	a0, a0, 1
	ret

RULE lead_past_target, "-"
	addi	a0, a0, 1
PROBE lead_past_target
	addi	a0, a0, 2
1:	addi	a0, a0, 3
	bnez	a0, 1b
	ret

/* A task that branches to the probe does not pass the start of such a jump. */
RULE lead_to_target, "too short at +4"
	addi	a0, a0, 1
	addi	a0, a0, 1
	beqz	a0, 1f
	addi	a0, a0, 2
PROBE lead_to_target
1:	ret

/* Code that does not come to the probe must not pay for it. */
RULE lead_by_branch, "too short at +4"
	beqz	a0, 1f
PROBE lead_by_branch
	ret
1:	addi	a0, a0, 1
	ret

RULE lead_after_call, "too short at +4"
	jal	ra, opt_callee
PROBE lead_after_call
	ret

RULE lead_may_fault, "too short at +4"
1:	lw	a0, 0(a0)
PROBE lead_may_fault
	ret
	_asm_extable 1b, 1b

RULE no_register, "no register is free"
PROBE no_register
	addi	a0, a0, 1
	addi	a0, a0, 2
	ecall
	ret

/* Only the trap, at 1, may read all registers. */
.macro MAY_TRAP
	addi	a0, a0, 1
	addi	a0, a0, 2
	beqz	a0, 1f
	ret
1:	ebreak
.endm

#ifdef CONFIG_GENERIC_BUG
/* The trap at \trap is a BUG(), or a WARN() if \flags is 1. */
.macro BUG_ENTRY trap, flags
	.pushsection __bug_table, "aw"
#ifdef CONFIG_GENERIC_BUG_RELATIVE_POINTERS
	.word	\trap - .
#else
	RISCV_PTR	\trap
#endif
#ifdef CONFIG_DEBUG_BUGVERBOSE
	.word	0
	.half	0, \flags
#else
	.half	\flags, 0
#endif
	.popsection
.endm

/* These read all registers, but only to print them. */
RULE register_of_warn, "-"
PROBE register_of_warn
	MAY_TRAP
	ret
	BUG_ENTRY 1b, 1

RULE register_of_bug, "-"
PROBE register_of_bug
	MAY_TRAP
	BUG_ENTRY 1b, 0
#endif

RULE register_of_trap, "no register is free"
PROBE register_of_trap
	MAY_TRAP
	ret

RULE register_comes_free, "-"
PROBE register_comes_free
	addi	a0, a0, 1
	addi	a0, a0, 2
	li	a5, 0
	ecall
	ret

RULE no_register_behind, "no register is free at +8"
PROBE no_register_behind
	addi	a0, a0, 1
	li	a5, 0
	ecall
	ret

/* All registers are read at the target of the branch. */
RULE no_register_at_target, "no register is free at +4"
PROBE no_register_at_target
	addi	a0, a0, 1
	beqz	a0, 1f
	ret
1:	ecall
	ret

/* All registers are read if the branch is taken. */
RULE read_after_branch, "no register is free"
PROBE read_after_branch
	addi	a0, a0, 1
	addi	a0, a0, 2
	beqz	a0, 1f
	ret
1:	ecall
	ret

RULE branch_into, "jump into the region at +4"
PROBE branch_into
	addi	a0, a0, 1
1:	addi	a0, a0, 2
	bnez	a0, 1b
	ret

/* Assembly code may branch here from the next function. */
RULE branch_across, "jump into the region at +4"
PROBE branch_across
	addi	a0, a0, 1
.Lacross:
	addi	a0, a0, 2
	ret
	.type	opt_across, @function
opt_across:
	bnez	a0, .Lacross
	ret

RULE branch_to_probe, "-"
PROBE branch_to_probe
1:	addi	a0, a0, -1
	bnez	a0, 1b
	ret

RULE branch_behind, "-"
PROBE branch_behind
	addi	a0, a0, -1
	addi	a0, a0, -1
1:	addi	a0, a0, -1
	bnez	a0, 1b
	ret

RULE fixup_into, "jump into the region at +4"
PROBE fixup_into
	addi	a0, a0, 1
1:	addi	a0, a0, 2
2:	lw	a0, 0(a0)
	_asm_extable 2b, 1b
	ret

RULE jump_table, "indirect jump at +4"
PROBE jump_table
	addi	a0, a0, 1
	addi	a0, a0, 2
	jr	a5

/* A switch whose table, at a4, leads to 3 and 4, and where to put a probe in it, if anywhere */
.macro SWITCH base, jump, target
	slli	a5, a5, 2
	add	a5, a5, a4
	lw	a5, 0(a5)
	add	a5, a5, \base
.ifnb \jump
PROBE \jump
.endif
	jr	a5
.ifnb \target
PROBE \target
.endif
3:	addi	a0, a0, 3
4:	addi	a0, a0, 4
	ret
	.pushsection .rodata, "a"
	.balign	4
5:	.long	3b - 5b, 4b - 5b, opt_callee - 5b
	.popsection
.endm

RULE table_before, "-"
1:	auipc	a4, %pcrel_hi(5f)
	addi	a4, a4, %pcrel_lo(1b)
PROBE table_before
	addi	a0, a0, 1
	addi	a0, a0, 2
	SWITCH	a4

RULE table_jump, "-"
1:	auipc	a4, %pcrel_hi(5f)
	addi	a4, a4, %pcrel_lo(1b)
	SWITCH	a4, table_jump

RULE table_target, "jump into the region at +4"
1:	auipc	a4, %pcrel_hi(5f)
	addi	a4, a4, %pcrel_lo(1b)
	SWITCH	a4, , table_target

/* The sum of an entry and an address in the function is not followed. */
RULE table_of_labels, "indirect jump at +4"
PROBE table_of_labels
	addi	a0, a0, 1
	addi	a0, a0, 2
1:	auipc	a3, %pcrel_hi(3f)
	addi	a3, a3, %pcrel_lo(1b)
	SWITCH	a3

/* Its address is nowhere in the function. */
RULE table_of_caller, "indirect jump at +4"
PROBE table_of_caller
	addi	a0, a0, 1
	addi	a0, a0, 2
	SWITCH	a4

RULE table_by_parts, "indirect jump at +4"
PROBE table_by_parts
	addi	a0, a0, 1
	addi	a0, a0, 2
1:	auipc	a4, %pcrel_hi(5f)
	beqz	a0, 2f
	addi	a4, a4, %pcrel_lo(1b)
2:	SWITCH	a4

/* The function jumps to its cold part, which may come back anywhere. */
RULE table_in_cold, "indirect jump at +4"
PROBE table_in_cold
	addi	a0, a0, 1
	addi	a0, a0, 2
	j	opt_table_in_cold.cold
	.type	opt_table_in_cold.cold, @function
opt_table_in_cold.cold:
	jr	a5

RULE jump_by_two, "-"
PROBE jump_by_two
	addi	a0, a0, 1
	addi	a0, a0, 2
1:	auipc	t1, %pcrel_hi(opt_callee)
	jalr	zero, %pcrel_lo(1b)(t1)

RULE branch_by_two, "jump into the region at +4"
PROBE branch_by_two
	addi	a0, a0, 1
2:	addi	a0, a0, 2
1:	auipc	ra, %pcrel_hi(2b)
	jalr	zero, %pcrel_lo(1b)(ra)

RULE call_inside, "call inside the region at +4"
PROBE call_inside
	jal	ra, opt_callee
	addi	a0, a0, 2
	ret

RULE call_at_end, "-"
PROBE call_at_end
	addi	a0, a0, 1
	jal	ra, opt_callee
	ret

RULE call_by_two, "-"
PROBE call_by_two
1:	auipc	ra, %pcrel_hi(opt_callee)
	jalr	ra, %pcrel_lo(1b)(ra)
	ret

/* The calling convention does not cover calls with another link register. */
RULE call_with_other_link, "no register is free at +4"
PROBE call_with_other_link
	addi	a0, a0, 1
	jal	t0, opt_callee
	ret

RULE fault_inside, "may sleep inside the region at +4"
PROBE fault_inside
	addi	a0, a0, 1
1:	lw	a0, 0(a0)
2:	ret
	_asm_extable 1b, 2b

RULE fault_first, "-"
PROBE fault_first
1:	lw	a0, 0(a0)
	addi	a0, a0, 1
2:	ret
	_asm_extable 1b, 2b

RULE trap_inside, "not relocatable at +4"
PROBE trap_inside
	addi	a0, a0, 1
	ecall
	ret

RULE reservation_inside, "not relocatable at +4"
PROBE reservation_inside
	addi	a0, a0, 1
	lr.w	a1, (a0)
	sc.w	a1, a1, (a0)
	ret

	.option	pop

#ifdef CONFIG_RISCV_ISA_C
	.option	push
	.option	rvc

RULE c_straight, "-"
	c.nop
PROBE c_straight
	c.addi	a0, 1
	c.addi	a0, 2
	c.addi	a0, 3
	c.jr	ra

RULE c_across_the_end, "-"
PROBE c_across_the_end
	c.addi	a0, 1
	c.addi	a0, 2
	c.addi	a0, 3
	.option	norvc
	addi	a0, a0, 4
	.option	rvc
	c.jr	ra

RULE c_branch_into, "jump into the region at +6"
PROBE c_branch_into
	c.addi	a0, 1
	c.addi	a0, 2
	c.addi	a0, 3
1:	c.addi	a0, 4
	c.bnez	a0, 1b
	c.jr	ra

RULE c_lead, "-"
	c.addi	a0, 1
	c.addi	a0, 2
	c.addi	a0, 3
PROBE c_lead
	c.jr	ra

RULE c_lead_by_part, "-"
	c.addi	a0, 1
	.option	norvc
	addi	a0, a0, 2
PROBE c_lead_by_part
	jalr	ra, 0(a5)
	.option	rvc
	c.jr	ra

RULE c_branches, "-"
PROBE c_branches
	c.beqz	a0, 1f
	c.beqz	a1, 1f
	c.beqz	a2, 1f
	c.bnez	a3, 1f
	c.nop
1:	c.jr	ra

	.option	pop
#endif

.pushsection .data
SYM_DATA_END_LABEL(opt_rules, SYM_L_GLOBAL, opt_rules_end)
.balign 8
SYM_DATA_START(opt_freedoms)
.popsection

/* List the registers, by number, that are free at the next instruction. */
.macro FREE dead:vararg
	.pushsection .data
	RISCV_PTR	.Lfree_\@, \dead
	.popsection
.Lfree_\@:
.endm

#define T	0xf00000e0
/* Those that no callee reads, see T_ARGS. */
#ifdef CONFIG_CC_IS_CLANG
#define T_CALL	0x00000060
#else
#define T_CALL	T
#endif
#define A(n)	(1 << (10 + (n)))
#define RA	(1 << 1)
#define S1	(1 << 9)

	.option	push
	.option	norvc
SYM_FUNC_START_LOCAL(opt_free)
	FREE	T | A(2) | A(3) | A(4) | A(5) | A(6) | A(7)
	ret
SYM_FUNC_END(opt_free)

SYM_FUNC_START_LOCAL(opt_free_at_call)
	FREE	T_CALL | A(0) | RA
	mv	a0, s1
	FREE	T_CALL | S1 | RA
	jal	ra, opt_callee
	FREE	T | S1 | A(2) | A(3) | A(4) | A(5) | A(6) | A(7)
	mv	s1, a0
	FREE	T | A(2) | A(3) | A(4) | A(5) | A(6) | A(7)
	ret
SYM_FUNC_END(opt_free_at_call)

/* Registers that are read on one of two paths, and around a loop. */
SYM_FUNC_START_LOCAL(opt_free_in_loop)
	FREE	T & ~(1 << 6) | A(2) | A(3) | A(4) | A(5) | A(6) | A(7)
	li	t2, 1
1:	FREE	T & ~(3 << 6) | A(2) | A(3) | A(4) | A(5) | A(6) | A(7)
	beqz	a1, 2f
	FREE	T & ~(1 << 7) | A(2) | A(3) | A(4) | A(5) | A(6) | A(7)
	mv	t1, t2
	j	1b
2:	FREE	T & ~(1 << 6) | A(2) | A(3) | A(4) | A(5) | A(6) | A(7)
	add	a0, a0, t1
	ret
SYM_FUNC_END(opt_free_in_loop)

SYM_FUNC_START_LOCAL(opt_free_at_fixup)
1:	FREE	T | A(2) | A(3) | A(4) | A(5) | A(6) | A(7)
	lw	a0, 0(a0)
2:	FREE	T | A(2) | A(3) | A(4) | A(5) | A(6) | A(7)
	ret
	_asm_extable 1b, 2b
SYM_FUNC_END(opt_free_at_fixup)

/* This fixup may read any register. */
SYM_FUNC_START_LOCAL(opt_free_at_zeropad)
1:	FREE	0
	lw	a0, 0(a0)
2:	FREE	T | A(2) | A(3) | A(4) | A(5) | A(6) | A(7)
	ret
	__ASM_EXTABLE_RAW(1b, 2b, EX_TYPE_LOAD_UNALIGNED_ZEROPAD, 0)
SYM_FUNC_END(opt_free_at_zeropad)

/* A jump by a table may also lead to another function, with all arguments. */
SYM_FUNC_START_LOCAL(opt_free_at_table)
1:	auipc	a4, %pcrel_hi(5f)
	addi	a4, a4, %pcrel_lo(1b)
	slli	a5, a5, 2
	add	a5, a5, a4
	lw	a5, 0(a5)
	add	a5, a5, a4
	FREE	T_CALL & ~(1 << 6)
	jr	a5
3:	add	a0, a0, t1
	ret
	.pushsection .rodata, "a"
	.balign	4
5:	.long	3b - 5b, opt_callee - 5b
	.popsection
SYM_FUNC_END(opt_free_at_table)

#ifdef CONFIG_JUMP_LABEL
/* The branch is there because the key is on. With the key off, execution continues behind. */
SYM_FUNC_START_LOCAL(opt_free_at_key)
1:	FREE	T & ~(3 << 6) | A(0) | A(2) | A(3) | A(4) | A(5) | A(6) | A(7)
	jal	zero, 2f
	mv	a0, t1
	ret
2:	mv	a0, t2
	ret
	.pushsection __jump_table, "aw"
	.balign	8
	.long	1b - ., 2b - .
	RISCV_PTR	opt_key - .
	.popsection
SYM_FUNC_END(opt_free_at_key)
#endif
	.option	pop

.pushsection .data
SYM_DATA_END_LABEL(opt_freedoms, SYM_L_GLOBAL, opt_freedoms_end)
.popsection
