/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that opt_test.c probes at the label .Lprobe_NAME, and the expected result:
 * either where the jump begins, or the reason why there is no jump.
 *
 * Most are never run. Each has a return before the next, and is one symbol.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/nospec-branch.h>

#include "opt_test.h"

/*
 * objtool checks the linked kernel, from which nothing can be hidden, and does nothing for it if
 * there is code that it cannot follow.
 */
#define OBJTOOL_CHECKS_KERNEL	(IS_ENABLED(CONFIG_X86_KERNEL_IBT) || \
				 IS_ENABLED(CONFIG_LTO_CLANG) || \
				 IS_ENABLED(CONFIG_NOINSTR_VALIDATION))

/* Called by a pointer. Whether SYM_FUNC_START() has a landing pad depends on the kernel. */
#define CALLED_START(name)	SYM_START(name, SYM_L_GLOBAL, SYM_F_ALIGN) ENDBR

.pushsection .data
.balign 8
SYM_DATA_START(opt_rules)
.popsection

.macro FUNCTION name
	.balign	16, 0xcc
	.type	opt_\name, @function
opt_\name:
	ANNOTATE_NOENDBR
.endm

.macro ROW name, lead
	.pushsection .rodata.str
.Lname_\name:
	.asciz	"\name"
	.popsection
	.pushsection .data
	_ASM_PTR	opt_\name, .Lprobe_\name - opt_\name
	_ASM_PTR	.Lname_\name, .Lwhy_\name
	_ASM_PTR	\lead
	.popsection
.endm

/* The jump begins @lead bytes before the probe. */
.macro LEAD name, lead
	.set	.Lwhy_\name, 0
	ROW \name, \lead
	FUNCTION \name
.endm

.macro JUMP name
	LEAD \name, 0
.endm

.macro NO_JUMP name, why
	.pushsection .rodata.str
.Lwhy_\name:
	.asciz	"\why"
	.popsection
	ROW \name, 0
	FUNCTION \name
.endm

/* No jump may begin before this and cover what comes after it. */
#define BARRIER	sti

.macro DONE name
	ANNOTATE_UNRET_SAFE
	ret
.Lend_\name:
	.size	opt_\name, . - opt_\name
	STACK_FRAME_NON_STANDARD opt_\name
.endm

/* As DONE, but the text behind it is not padding. */
.macro END name
	DONE \name
opt_behind_\name:
	ANNOTATE_NOENDBR
	.fill	8, 1, 0xcc
.endm

/* Labels .Lat_NAME_0 to 9, one instruction of one byte behind each. */
.macro BYTES name
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
.Lat_\name\()_\n:
	cmc
	.endr
.endm

#ifdef CONFIG_X86_64
#define MEM	insn_test_mem(%rip)
#define IRET	0x48, 0xcf
#else
#define MEM	insn_test_mem
#define IRET	0xcf
#endif

/* JECXZ or JRCXZ, by the width. */
.macro JCXZ to
	.byte	0xe3, \to - . - 1
.endm

.text

/* -- no branch into the region -- */

JUMP one_instruction
.Lprobe_one_instruction:
	mov	$1, %eax
	cmc
DONE one_instruction

JUMP one_long_instruction
.Lprobe_one_long_instruction:
	lock orl	$0x12345678, 0x12345678(%_ASM_AX)
	jc	.Lprobe_one_long_instruction
DONE one_long_instruction

JUMP five_instructions
.Lprobe_five_instructions:
	BYTES five_instructions
DONE five_instructions

JUMP operand_by_ip
	cmc
.Lprobe_operand_by_ip:
	cwtl
	mov	MEM, %eax
DONE operand_by_ip

JUMP branch_out
.Lprobe_branch_out:
	jc	.Lout_branch_out
	loop	.Lout_branch_out
	JCXZ	.Lout_branch_out
	BYTES branch_out
.Lout_branch_out:
DONE branch_out

/* The padding behind these is never reached. */
JUMP filled_behind_ret
.Lprobe_filled_behind_ret:
	ANNOTATE_UNRET_SAFE
	ret
	.fill	5, 1, 0xcc
DONE filled_behind_ret

JUMP filled_behind_jmp
	cmc
.Lprobe_filled_behind_jmp:
	jmp	opt_filled_behind_jmp
	.fill	3, 1, 0xcc
DONE filled_behind_jmp

/* -- branches into the region -- */

.macro BRANCH_TO name, insn:vararg
	\insn	.Lat_\name
.endm

/*
 * Short and long, before and behind the region, and from within. The jump would cover them
 * for all who come that way.
 */
.macro INTO name, offset, insn:vararg
NO_JUMP \name, "jump into the region at +\offset"
	BRANCH_TO \name\()_\offset, \insn
.Lprobe_\name:
	BYTES \name
DONE \name
.endm

.macro BACK_TO name, offset, insn:vararg
NO_JUMP \name, "jump into the region at +\offset"
.Lprobe_\name:
	BYTES \name
	BRANCH_TO \name\()_\offset, \insn
DONE \name
.endm

INTO into_1, 1, jmp
INTO into_2, 2, jc
INTO into_3, 3, JCXZ
INTO into_4, 4, loop
BACK_TO back_to_1, 1, loope
BACK_TO back_to_2, 2, loopne
BACK_TO back_to_3, 3, jnp
BACK_TO back_to_4, 4, jmp

/* To its start, and to its end. */
JUMP to_both_ends
	BRANCH_TO to_both_ends_0, jmp
	BRANCH_TO to_both_ends_5, jmp
.Lprobe_to_both_ends:
	BYTES to_both_ends
	BRANCH_TO to_both_ends_0, jmp
	BRANCH_TO to_both_ends_5, jmp
DONE to_both_ends

NO_JUMP into_by_jmp32, "jump into the region at +3"
	.byte	0xe9
	.long	.Lat_into_by_jmp32_3 - . - 4
.Lprobe_into_by_jmp32:
	BYTES into_by_jmp32
DONE into_by_jmp32

NO_JUMP into_by_jcc32, "jump into the region at +2"
.Lprobe_into_by_jcc32:
	BYTES into_by_jcc32
	.byte	0x0f, 0x8f
	.long	.Lat_into_by_jcc32_2 - . - 4
DONE into_by_jcc32

NO_JUMP into_by_call, "jump into the region at +1"
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lat_into_by_call_1
.Lprobe_into_by_call:
	BYTES into_by_call
DONE into_by_call

NO_JUMP into_by_abort, "jump into the region at +2"
	xbegin	.Lat_into_by_abort_2
.Lprobe_into_by_abort:
	BYTES into_by_abort
DONE into_by_abort

NO_JUMP into_by_itself, "jump into the region at +1"
.Lprobe_into_by_itself:
	cmc
.Lself_into_by_itself:
	loop	.Lself_into_by_itself
	BYTES into_by_itself
DONE into_by_itself

/* A branch to the start of the region does not enter it. */
NO_JUMP into_behind_jmp8, "jump into the region at +2"
	cmc
	jc	.Ltarget_into_behind_jmp8
.Lprobe_into_behind_jmp8:
	jmp	opt_into_behind_jmp8
.Ltarget_into_behind_jmp8:
	BYTES into_behind_jmp8
DONE into_behind_jmp8

/* Nothing else leads to what is behind a jump, so it is entered in a way that is not known. */
NO_JUMP unknown_behind_jmp8, "jump into the region at +2"
.Lprobe_unknown_behind_jmp8:
	jmp	opt_unknown_behind_jmp8
	BYTES unknown_behind_jmp8
DONE unknown_behind_jmp8

/* Nops there are padding. */
JUMP nops_behind_jmp8
.Lprobe_nops_behind_jmp8:
	jmp	opt_nops_behind_jmp8
	.byte	0x0f, 0x1f, 0x00
DONE nops_behind_jmp8

NO_JUMP unknown_behind_nop, "jump into the region at +3"
.Lprobe_unknown_behind_nop:
	jmp	opt_unknown_behind_nop
	nop
	BYTES unknown_behind_nop
DONE unknown_behind_nop

NO_JUMP into_2_4, "jump into the region at +2"
	jc	.Lat_into_2_4_4
	jc	.Lat_into_2_4_2
.Lprobe_into_2_4:
	BYTES into_2_4
DONE into_2_4

/* To a place where no instruction starts. */
#if !OBJTOOL_CHECKS_KERNEL
NO_JUMP into_an_operand, "jump into the region at +2"
.Lfault_into_an_operand:
	incl	(%_ASM_CX)
.Lprobe_into_an_operand:
	mov	$0x90909090, %eax
	BYTES into_an_operand
	_ASM_EXTABLE(.Lfault_into_an_operand, .Lprobe_into_an_operand + 2)
DONE into_an_operand
#endif

/* -- cold parts of functions -- */

NO_JUMP hot, "jump into the region at +2"
.Lprobe_hot:
	BYTES hot
	jmp	opt_hot.cold
DONE hot

.pushsection .text.unlikely, "ax"
	.type	opt_hot.cold, @function
opt_hot.cold:
	ANNOTATE_NOENDBR
	cmc
	jmp	.Lat_hot_2
	.size	opt_hot.cold, . - opt_hot.cold
	STACK_FRAME_NON_STANDARD opt_hot.cold
.popsection

/* -- exception tables -- */

JUMP faulting_first
.Lprobe_faulting_first:
	incl	(%_ASM_CX)
	BYTES faulting_first
	_ASM_EXTABLE(.Lprobe_faulting_first, .Lat_faulting_first_9)
DONE faulting_first

NO_JUMP faulting_second, "jump into the region at +1"
.Lprobe_faulting_second:
	cmc
.Lfault_faulting_second:
	incl	(%_ASM_CX)
	BYTES faulting_second
	_ASM_EXTABLE(.Lfault_faulting_second, .Lat_faulting_second_9)
DONE faulting_second

NO_JUMP faulting_at_4, "jump into the region at +4"
.Lprobe_faulting_at_4:
	.rept	4
	cmc
	.endr
.Lfault_faulting_at_4:
	incl	(%_ASM_CX)
	BYTES faulting_at_4
	_ASM_EXTABLE(.Lfault_faulting_at_4, .Lat_faulting_at_4_9)
DONE faulting_at_4

JUMP faulting_behind
.Lprobe_faulting_behind:
	.rept	5
	cmc
	.endr
.Lfault_faulting_behind:
	incl	(%_ASM_CX)
	BYTES faulting_behind
	_ASM_EXTABLE(.Lfault_faulting_behind, .Lat_faulting_behind_9)
DONE faulting_behind

JUMP fixup_first
.Lfault_fixup_first:
	incl	(%_ASM_CX)
.Lprobe_fixup_first:
	BYTES fixup_first
	_ASM_EXTABLE(.Lfault_fixup_first, .Lat_fixup_first_0)
DONE fixup_first

/* A jump that begins earlier also ends earlier. */
LEAD fixup_at_3, 2
.Lfault_fixup_at_3:
	incl	(%_ASM_CX)
.Lprobe_fixup_at_3:
	BYTES fixup_at_3
	_ASM_EXTABLE(.Lfault_fixup_at_3, .Lat_fixup_at_3_3)
DONE fixup_at_3

NO_JUMP fixup_at_4, "jump into the region at +4"
.Lprobe_fixup_at_4:
	BYTES fixup_at_4
.Lfault_fixup_at_4:
	incl	(%_ASM_CX)
	_ASM_EXTABLE(.Lfault_fixup_at_4, .Lat_fixup_at_4_4)
DONE fixup_at_4

/* -- calls -- */

JUMP call_first
.Lprobe_call_first:
	call	insn_test_exit
	cmc
DONE call_first

JUMP call_second
.Lprobe_call_second:
	cmc
	call	insn_test_exit
	cmc
DONE call_second

NO_JUMP call_indirect, "jump into the region at +2"
.Lprobe_call_indirect:
	ANNOTATE_RETPOLINE_SAFE
	call	*%_ASM_AX
	BYTES call_indirect
DONE call_indirect

NO_JUMP call_by_memory, "jump into the region at +3"
.Lprobe_call_by_memory:
	cmc
	ANNOTATE_RETPOLINE_SAFE
	call	*(%_ASM_AX)
	BYTES call_by_memory
DONE call_by_memory

NO_JUMP call_back_at_4, "jump into the region at +4"
.Lprobe_call_back_at_4:
	cmc
	ANNOTATE_RETPOLINE_SAFE
	call	*8(%_ASM_AX)
	BYTES call_back_at_4
DONE call_back_at_4

JUMP call_back_at_5
.Lprobe_call_back_at_5:
	cmc
	cmc
	ANNOTATE_RETPOLINE_SAFE
	call	*8(%_ASM_AX)
	BYTES call_back_at_5
DONE call_back_at_5

/* -- instructions that cannot run elsewhere -- */

.macro STAYS name, why, insn:vararg
NO_JUMP \name, "\why"
.Lprobe_\name:
	\insn
	BYTES \name
DONE \name
.endm

.macro STAYS_AT_3 name, why, bytes:vararg
NO_JUMP \name, "\why"
.Lprobe_\name:
	.rept	3
	cmc
	.endr
	.byte	\bytes
	BYTES \name
DONE \name
.endm

STAYS sti, "not relocatable", sti
STAYS hlt, "not relocatable", hlt
STAYS mwait, "not relocatable", mwait
STAYS load_ss, "not relocatable", mov %eax, %ss
STAYS_AT_3 sti_at_3, "not relocatable at +3", 0xfb
STAYS_AT_3 load_ss_at_3, "not relocatable at +3", 0x8e, 0xd0
STAYS_AT_3 int80_at_3, "not relocatable at +3", 0xcd, 0x80
STAYS_AT_3 int1_at_3, "not relocatable at +3", 0xf1
STAYS_AT_3 ud2_at_3, "not relocatable at +3", 0x0f, 0x0b
STAYS_AT_3 int3_at_3, "not relocatable at +3", 0xcc
STAYS_AT_3 iret_at_3, "not relocatable at +3", IRET
STAYS_AT_3 jmp_66_at_3, "not relocatable at +3", 0x66, 0xe9, 0x00, 0x00, 0x00, 0x00
#ifdef CONFIG_X86_KERNEL_IBT
STAYS_AT_3 endbr_at_3, "not relocatable at +3", 0xf3, 0x0f, 0x1e, 0xfa
#endif

NO_JUMP call_by_stack, "not relocatable at +1"
.Lprobe_call_by_stack:
	cmc
	ANNOTATE_RETPOLINE_SAFE
	call	*8(%_ASM_SP)
	BYTES call_by_stack
DONE call_by_stack

/* -- functions in which the direction flag may be set -- */

NO_JUMP before_std, "direction flag set"
.Lprobe_before_std:
	BYTES before_std
	std
	cld
DONE before_std

#ifdef CONFIG_X86_32
NO_JUMP before_far_call, "direction flag set"
.Lprobe_before_far_call:
	BYTES before_far_call
	lcall	$0, $0
DONE before_far_call

NO_JUMP before_indirect_far_call, "direction flag set"
.Lprobe_before_indirect_far_call:
	BYTES before_indirect_far_call
	lcall	*(%eax)
DONE before_indirect_far_call
#endif

/* -- jumps whose target is not in the text -- */

/* With IBT they lead only to landing pads. */
#ifdef CONFIG_X86_KERNEL_IBT
JUMP jump_table
#else
NO_JUMP jump_table, "indirect jump at +1"
#endif
.Lprobe_jump_table:
	BYTES jump_table
	ANNOTATE_RETPOLINE_SAFE
	jmp	*%_ASM_AX
DONE jump_table

/* This prefix says that they are not marked. */
NO_JUMP notrack_table, "indirect jump at +1"
.Lprobe_notrack_table:
	BYTES notrack_table
	ANNOTATE_RETPOLINE_SAFE
	notrack jmp *%_ASM_AX
DONE notrack_table

#ifdef CONFIG_X86_KERNEL_IBT
JUMP jump_table_far
#else
NO_JUMP jump_table_far, "indirect jump at +3"
#endif
.Lprobe_jump_table_far:
	lea	(%_ASM_AX, %_ASM_CX), %edx
	mov	$1, %eax
	ANNOTATE_RETPOLINE_SAFE
	jmp	*%_ASM_AX
DONE jump_table_far

#if defined(CONFIG_MITIGATION_RETPOLINE) && !defined(CONFIG_X86_KERNEL_IBT)
NO_JUMP jump_by_thunk, "indirect jump at +1"
.Lprobe_jump_by_thunk:
	BYTES jump_by_thunk
	jmp	__x86_indirect_thunk_array
DONE jump_by_thunk
#endif

/* -- branches out of the function -- */

JUMP jump_to_another
.Lprobe_jump_to_another:
	BYTES jump_to_another
	jmp	opt_branch
DONE jump_to_another

/* The code there is not decoded, and may branch back. */
NO_JUMP jump_into_another, "indirect jump at +1"
.Lprobe_jump_into_another:
	BYTES jump_into_another
	jmp	.Lbranch_in
DONE jump_into_another

/* -- no room in front of the end -- */

NO_JUMP too_short, "too short at +3"
	BYTES too_short
	BARRIER
.Lprobe_too_short:
	cmc
	cmc
END too_short

#ifdef CONFIG_KPROBES_CFI
/* What may be the hash of the next function's type is not covered. */
NO_JUMP before_type_hash, "jump into the region at +2"
.Lprobe_before_type_hash:
	jmp	opt_before_type_hash
	mov	$0x12345678, %eax
	BYTES before_type_hash
DONE before_type_hash
#endif

/* -- jumps that begin before the probe -- */

.macro BEFORE_RETURN name
	BYTES \name
.Lprobe_\name:
	END \name
.endm

LEAD before_return, 4
	BEFORE_RETURN before_return

LEAD before_return_into_first, 4
	jc	.Lat_before_return_into_first_6
	BEFORE_RETURN before_return_into_first

NO_JUMP before_return_into_second, "too short at +1"
	jc	.Lat_before_return_into_second_7
	BEFORE_RETURN before_return_into_second

NO_JUMP before_return_into_last, "too short at +1"
	jc	.Lat_before_return_into_last_9
	BEFORE_RETURN before_return_into_last

/* The hits by the branch would need the breakpoint. */
NO_JUMP before_return_into_probe, "too short at +1"
	jc	.Lprobe_before_return_into_probe
	BEFORE_RETURN before_return_into_probe

/* The jump would end in front of the branch's target. */
LEAD before_target, 3
	jc	.Ltarget_before_target
	.byte	0x8d, 0x40, 0x01	/* lea 1(%eax), %eax */
.Lprobe_before_target:
	cmc
	cmc
.Ltarget_before_target:
	BYTES before_target
DONE before_target

LEAD before_not_covered, 6
	BYTES before_not_covered
	lea	0x12345678(%_ASM_AX), %ecx
.Lprobe_before_not_covered:
END before_not_covered

LEAD before_ud2, 4
	BYTES before_ud2
.Lprobe_before_ud2:
	cmc
	.byte	0x0f, 0x0b	/* ud2 */
END before_ud2

NO_JUMP before_faulting, "too short at +2"
	cmc
.Lfault_before_faulting:
	incl	(%_ASM_CX)
.Lprobe_before_faulting:
	cmc
	_ASM_EXTABLE(.Lfault_before_faulting, .Lprobe_before_faulting)
END before_faulting

/* The jump would cost code that does not come to the probe. */
NO_JUMP behind_jcc, "too short at +1"
	BYTES behind_jcc
	jc	opt_behind_jcc
.Lprobe_behind_jcc:
END behind_jcc

/* Each hit would come by the return. */
NO_JUMP behind_call, "too short at +1"
	BYTES behind_call
	call	insn_test_exit
.Lprobe_behind_call:
END behind_call

NO_JUMP behind_jmp, "too short at +1"
	jc	.Lprobe_behind_jmp
	BYTES behind_jmp
	jmp	opt_behind_jmp
.Lprobe_behind_jmp:
END behind_jmp

/* No instruction of eight bytes is near enough. */
NO_JUMP behind_long, "too short at +1"
	BYTES behind_long
	lock orl $0x12345678, 0x12345678(%_ASM_AX)
.Lprobe_behind_long:
END behind_long

/* -- code that cannot be decoded -- */

/* Its last instruction continues in the text behind it. */
#if !OBJTOOL_CHECKS_KERNEL
NO_JUMP undecodable, "function cannot be decoded"
.Lprobe_undecodable:
	BYTES undecodable
DONE undecodable
	.byte	0x48, 0xb8
opt_behind_undecodable:
	ANNOTATE_NOENDBR
	.fill	8, 1, 0xcc
#endif

.pushsection .data
SYM_DATA_END_LABEL(opt_rules, SYM_L_GLOBAL, opt_rules_end)
.popsection

/* -- functions that are run, and offsets in them -- */

/* int opt_branch(int in): returns 5, or 4 if a branch skips the probe and its region. */
.balign	16, 0xcc
CALLED_START(opt_branch)
	ANNOTATE_NOENDBR
	test	%_ASM_ARG1L, %_ASM_ARG1L
	mov	$0, %eax
	jnz	.Lbranch_in
.Lbranch_probe:
	.byte	0xff, 0xc0	/* inc %eax, in two bytes */
.Lbranch_second:
	cmc
	cmc
	cmc
.Lbranch_in:
	cmc
	add	$4, %eax
	ANNOTATE_UNRET_SAFE
	ret
SYM_FUNC_END(opt_branch)
STACK_FRAME_NON_STANDARD opt_branch

.pushsection .rodata
.balign 4
SYM_DATA(opt_branch_probe, .long .Lbranch_probe - opt_branch)
SYM_DATA(opt_branch_second, .long .Lbranch_second - opt_branch)
.popsection

/* long opt_tail(long n): returns n + 2. Another symbol follows its last byte. */
.balign	16, 0xcc
CALLED_START(opt_tail)
	ANNOTATE_NOENDBR
	mov	%_ASM_ARG1, %_ASM_AX
	add	$2, %_ASM_AX
	push	%_ASM_AX
	xor	%eax, %eax
	test	%eax, %eax
	test	%eax, %eax
.Ltail_start:
	cmc
	cmc
.Ltail_probe:
	pop	%_ASM_AX
.Ltail_end:
	cmc
	ANNOTATE_UNRET_SAFE
	ret
SYM_FUNC_END(opt_tail)
STACK_FRAME_NON_STANDARD opt_tail
opt_behind_tail:
	ANNOTATE_NOENDBR
	.fill	8, 1, 0xcc

.pushsection .rodata
.balign 4
SYM_DATA(opt_tail_start, .long .Ltail_start - opt_tail)
SYM_DATA(opt_tail_probe, .long .Ltail_probe - opt_tail)
SYM_DATA(opt_tail_end, .long .Ltail_end - opt_tail)
.popsection

/*
 * long opt_chain(long n, int in): returns n + 2. Consecutive instructions of one and two
 * bytes; if @in is true it is entered by a branch to the fourth of them.
 */
.balign	16, 0xcc
CALLED_START(opt_chain)
	ANNOTATE_NOENDBR
	mov	%_ASM_ARG1, %_ASM_AX
	test	%_ASM_ARG2L, %_ASM_ARG2L
	jnz	.Lchain_in
.Lchain_start:
	test	%al, %al
	cmc
	test	%al, %al
.Lchain_in:
	cmc
	add	$1, %al
	push	%_ASM_AX
	pop	%_ASM_AX
	add	$1, %al
	cmc
	ANNOTATE_UNRET_SAFE
	ret
	.fill	8, 1, 0xcc
SYM_FUNC_END(opt_chain)
STACK_FRAME_NON_STANDARD opt_chain

.pushsection .rodata
.balign 4
SYM_DATA(opt_chain_start, .long .Lchain_start - opt_chain)
.popsection

.balign	16, 0xcc
CALLED_START(opt_stack_inner)
	ANNOTATE_NOENDBR
	push	%_ASM_ARG1
	pop	%_ASM_AX
.Lopt_stack_inner_last:
	lea	(%_ASM_AX), %_ASM_AX
	ANNOTATE_UNRET_SAFE
	ret
SYM_FUNC_END(opt_stack_inner)
STACK_FRAME_NON_STANDARD opt_stack_inner

/* For a handler that has pushed the return address again: the result is 42. */
.balign	16, 0xcc
CALLED_START(opt_stack_injected)
	mov	$42, %eax
	ANNOTATE_UNRET_SAFE
	ret	$__ASM_SEL(4, 8)
SYM_FUNC_END(opt_stack_injected)
STACK_FRAME_NON_STANDARD opt_stack_injected

/*
 * long opt_stack(long n): returns the result of opt_stack_inner(), which is n, minus the
 * number of bytes by which that leaves the stack higher than it found it.
 */
.balign	16, 0xcc
CALLED_START(opt_stack)
	ANNOTATE_NOENDBR
	push	%_ASM_BP
	mov	%_ASM_SP, %_ASM_BP
	sub	$64, %_ASM_SP
.Lopt_stack_call:
	call	opt_stack_inner
	lea	-64(%_ASM_BP, %_ASM_AX), %_ASM_AX
	sub	%_ASM_SP, %_ASM_AX
	leave
	ANNOTATE_UNRET_SAFE
	ret
SYM_FUNC_END(opt_stack)
STACK_FRAME_NON_STANDARD opt_stack

	.pushsection .rodata, "a"
SYM_DATA(opt_stack_call_at, .long .Lopt_stack_call - opt_stack)
SYM_DATA(opt_stack_inner_last_at, .long .Lopt_stack_inner_last - opt_stack_inner)
	.popsection

/*
 * No-operations, and a return in the upper half of a cache line. In front there is room
 * to count calls; objtool accepts only a function, and not one that begins with a landing
 * pad.
 */
	.skip	16, 0xcc
	.balign	64, 0xcc
SYM_START(opt_return, SYM_L_GLOBAL, SYM_A_NONE)
	ANNOTATE_NOENDBR
	.fill	OPT_RETURN_AT, 1, 0x90
	ANNOTATE_UNRET_SAFE
	ret
	.fill	16, 1, 0xcc
SYM_END(opt_return, SYM_T_FUNC)
STACK_FRAME_NON_STANDARD opt_return
