/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snippets: pieces of code that insn_test.c probes, and their common entry and exit.
 *
 * A snippet starts with random registers, stack and memory, and ends where
 * execution reaches its end. It may change any register but gp and tp, under these
 * rules:
 *
 *	s1	points into the middle of the memory of the test
 *	sp	points to INSN_TEST_STACK bytes of stack, and must not be moved above
 *		them; the stack below sp is overwritten by interrupts, and not compared
 *	a2, a3	are 0 to 3, so that they are sometimes equal
 *	a4, a5	are equal in every second state
 *	t6	is the start of the snippet
 *	others	are random
 *
 * All local labels are .L or numeric labels, because a snippet must be one symbol, as
 * a function is. A STEP counts in s11, so that a wrong branch changes the result.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-extable.h>
#include <asm/csr.h>
#include <asm/errno.h>
#include "insn_test.h"

#define STEP(n)		addi	s11, s11, n
#define GPR(n)		((n) * SZREG)

/* -- entry and exit -- */

.pushsection .bss
.balign 8
.Lmachine:	.zero SZREG
.Lhost_sp:	.zero SZREG
.popsection

.text

.macro copy_words from, to, tmp, end
1:	REG_L	\tmp, 0(\from)
	REG_S	\tmp, 0(\to)
	addi	\from, \from, SZREG
	addi	\to, \to, SZREG
	bne	\to, \end, 1b
.endm

.macro for_saved insn
	.irp	n, 1, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
	\insn	x\n, GPR(\n)(sp)
	.endr
.endm

/* All registers but sp, gp, tp and t0. */
.macro for_most insn
	.irp	n, 1, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
	\insn	x\n, GPR(\n)(t0)
	.endr
	.irp	n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\insn	x\n, GPR(\n)(t0)
	.endr
.endm

/*
 * void insn_test_run(struct machine *m, void *code)
 *
 * The snippet runs on the caller's stack, below its frame: an exception in the snippet
 * needs a stack that the kernel knows.
 */
SYM_FUNC_START(insn_test_run)
	addi	sp, sp, -MACHINE_STACK
	for_saved REG_S
	la	t0, .Lmachine
	REG_S	a0, 0(t0)
	la	t0, .Lhost_sp
	REG_S	sp, 0(t0)

	addi	t1, a0, MACHINE_STACK
	addi	sp, sp, -INSN_TEST_STACK
	mv	t2, sp
	addi	t4, sp, INSN_TEST_STACK
	copy_words t1, t2, t3, t4

	mv	t0, a0
	REG_S	sp, GPR(2)(t0)
	REG_S	gp, GPR(3)(t0)
	REG_S	tp, GPR(4)(t0)
	REG_S	a1, GPR(31)(t0)
	for_most REG_L
	REG_L	t0, GPR(5)(t0)
	jr	t6
SYM_FUNC_END(insn_test_run)

/*
 * The end of a snippet jumps here, into the middle of a function, so that kprobes assumes
 * that all registers are read here, which is true.
 */
SYM_CODE_START(insn_test_exit)
	nop
.Linsn_test_exit:
	addi	sp, sp, -16
	REG_S	t0, 0(sp)
	la	t0, .Lmachine
	REG_L	t0, 0(t0)
	for_most REG_S
	REG_L	t1, 0(sp)
	REG_S	t1, GPR(5)(t0)
	addi	t1, sp, 16
	REG_S	t1, GPR(2)(t0)
	REG_S	gp, GPR(3)(t0)
	REG_S	tp, GPR(4)(t0)

	/* An interrupt may have overwritten the stack below sp. */
	la	t1, .Lhost_sp
	REG_L	t5, 0(t1)
	addi	t2, t0, MACHINE_STACK
	addi	t1, t5, -INSN_TEST_STACK
	addi	t4, t2, INSN_TEST_STACK
	copy_words t1, t2, t3, t4
	mv	sp, t5

	for_saved REG_L
	addi	sp, sp, MACHINE_STACK
	ret
SYM_CODE_END(insn_test_exit)

/* Places for instructions that the test picks, under the same rules. */
	.option	push
	.option	norvc
	.balign	8
SYM_CODE_START(insn_places)
	.rept	INSN_TEST_PLACES
	nop
	jal	x0, .Linsn_test_exit
	.endr
SYM_CODE_END(insn_places)
	.option	pop

/* -- tables -- */

.pushsection .data
.balign 8
SYM_DATA_START(insn_snippets)
.popsection

.macro SNIPPET name, needs=0
	.balign	16
	.type	insn_\name, @function
insn_\name:
	.pushsection .rodata.str, "a"
.Lname_\name:
	.asciz	"\name"
	.popsection
	.pushsection .data
	RISCV_PTR	insn_\name, .Lend_\name - insn_\name, .Lname_\name, \needs
	.popsection
.endm

/* Not probed, and never compressed. Writes t5, which is therefore free before, unless read. */
.macro END name
.Lend_\name:
	.option	push
	.option	norvc
	li	t5, 1
	jal	x0, .Linsn_test_exit
	.option	pop
	.size	insn_\name, . - insn_\name
.endm

/* -- 4 bytes: dependent on their own address -- */

	.option	push
	.option	norvc

SNIPPET auipc
	auipc	a0, 0
	auipc	a1, 0x12345
	auipc	t0, 0xfffff
	auipc	zero, 0x1000
END auipc

SNIPPET lui
	lui	a0, 0
	lui	a1, 0x7ffff
	lui	t1, 0x80000
	lui	zero, 0x12345
END lui

SNIPPET jal
	jal	ra, 2f
1:	STEP(1)
	jal	t0, 3f
	STEP(2)
2:	STEP(4)
	jal	zero, 1b
	STEP(8)
3:	STEP(16)
END jal

/* Failure R4: no link register, and the same register for both. */
SNIPPET jalr
	la	a0, 2f
	jalr	ra, 0(a0)
1:	STEP(1)
	la	a0, 3f + 2040
	jalr	zero, -2040(a0)
	STEP(2)
2:	STEP(4)
	la	t0, 1b + 1
	jalr	t0, 0(t0)
	STEP(8)
3:	la	ra, 4f
	jalr	ra, 0(ra)
	STEP(16)
4:	STEP(32)
END jalr

.macro BRANCHES insn
	\insn	a2, a3, 1f
	STEP(1)
1:	\insn	a4, a5, 1f
	STEP(2)
1:	\insn	a5, a4, 1f
	STEP(4)
1:	\insn	t1, t2, 1f
	STEP(8)
1:	\insn	t2, t1, 1f
	STEP(16)
1:	\insn	zero, t1, 1f
	STEP(32)
1:	\insn	t1, zero, 1f
	STEP(64)
1:	\insn	a2, zero, 1f
	STEP(128)
1:	\insn	t1, t1, 1f
	STEP(256)
1:
.endm

SNIPPET beq
	BRANCHES beq
END beq

SNIPPET bne
	BRANCHES bne
END bne

SNIPPET blt
	BRANCHES blt
END blt

SNIPPET bge
	BRANCHES bge
END bge

SNIPPET bltu
	BRANCHES bltu
END bltu

SNIPPET bgeu
	BRANCHES bgeu
END bgeu

SNIPPET loop
	mv	t3, a2
1:	STEP(1)
	addi	t3, t3, -1
	bge	t3, zero, 1b
END loop

/* -- 4 bytes: all others -- */

SNIPPET addi
	addi	a0, a1, 2047
	addi	a1, a1, -2048
	addi	zero, a1, 5
	addi	a2, zero, -1
	addi	t1, sp, 16
	nop
END addi

SNIPPET arithmetic
	add	a0, a1, a2
	sub	a1, a2, a0
	sll	t1, t2, a2
	slt	t2, a0, a1
	sltu	t3, a0, a1
	xor	s2, s3, s4
	srl	s4, s5, a3
	sra	s5, s5, a3
	or	s6, s7, s8
	and	s7, s7, s8
	slti	s8, a4, -3
	sltiu	s9, a4, 77
	xori	s10, a4, -1
	ori	s3, a4, 0x55
	andi	a6, a4, 0x7f
	slli	a7, a4, 3
	srli	a4, a4, 7
	srai	a5, a5, 9
END arithmetic

#ifdef CONFIG_64BIT
SNIPPET arithmetic_w
	addiw	a0, a1, -5
	slliw	a1, a2, 3
	srliw	a2, a3, 4
	sraiw	a3, a4, 5
	addw	a4, a5, a6
	subw	a5, a6, a7
	sllw	a6, a7, a2
	srlw	a7, t0, a2
	sraw	t0, t1, a2
END arithmetic_w
#endif

SNIPPET multiply
	mul	a0, a1, a4
	mulh	a1, a1, a4
	mulhsu	t1, t2, a4
	mulhu	t2, t3, a4
	div	t3, t4, a2
	divu	t4, t5, a2
	rem	t5, a6, a3
	remu	a6, a7, a3
END multiply

SNIPPET memory
	lb	a0, 0(s1)
	lbu	a1, 1(s1)
	lh	a2, 2(s1)
	lhu	a3, 4(s1)
	lw	a4, 8(s1)
	REG_L	a5, 16(s1)
	lw	s1, 0(s1)
	sb	a0, 0(sp)
	sh	a1, 2(sp)
	sw	a2, 4(sp)
	REG_S	a3, 8(sp)
	addi	sp, sp, -16
	REG_S	s1, 0(sp)
	REG_L	t1, 0(sp)
	addi	sp, sp, 16
END memory

SNIPPET call
	addi	sp, sp, -32
	REG_S	ra, 16(sp)
	REG_S	s0, 24(sp)
	addi	s0, sp, 32
	jal	ra, 2f
	REG_L	ra, 16(sp)
	REG_L	s0, 24(sp)
	addi	sp, sp, 32
	jal	zero, 3f
2:	STEP(1)
	jalr	zero, 0(ra)
3:
END call

SNIPPET amo
	amoswap.w	a0, a1, (s1)
	amoadd.w	a2, a3, (s1)
	amoand.w	zero, t1, (s1)
	amoor.w.aqrl	a4, t2, (s1)
	amoxor.w	a5, t3, (s1)
	amomax.w	a6, t4, (s1)
	amominu.w	a7, t5, (s1)
END amo

SNIPPET fences
	fence
	fence	rw, w
	fence.i
	fence	w, o
END fences

/*
 * WFI waits until the next tick, which wakes it with interrupts off as well. What the firmware
 * handles wakes it, too, so no interrupt need follow at the end.
 */
SNIPPET wait, SNIPPET_SETS_IE
	wfi
	STEP(1)
	csrrci	a0, CSR_STATUS, SR_IE
	andi	a0, a0, SR_IE
	wfi
	csrs	CSR_STATUS, a0
	STEP(2)
END wait

/* Failure R7: a loop of lr and sc must end, although its other instructions are probed. */
SNIPPET reservation, SNIPPET_GAPS
	addi	a0, s1, 0
1:	lr.w	a1, (a0)
	add	a2, a1, a3
	sc.w	a4, a2, (a0)
	bnez	a4, 1b
	STEP(1)
END reservation

/* A failed compare and exchange leaves its loop without a store. */
SNIPPET reservation_left, SNIPPET_GAPS
	lw	a4, 0(s1)
1:	lr.w	a1, (s1)
	bne	a1, a4, 2f
	sc.w	a5, a3, (s1)
	bnez	a5, 1b
2:	STEP(1)
	fence	rw, rw
END reservation_left

/* A wait for a store does not store itself. It is jumped over: not every CPU has wrs.nto. */
SNIPPET reservation_watched, SNIPPET_GAPS
	addi	a0, s1, 0
	lr.w	a1, (a0)
	j	1f
	.word	0x00d00073	/* wrs.nto */
1:	STEP(1)
	addi	a0, a1, 1
END reservation_watched

/* A task to which another has switched within an interrupt begins with SPP set. */
SNIPPET status, SNIPPET_SETS_IE
	li	a5, SR_SPP
	csrc	CSR_STATUS, a5
	csrrci	a0, CSR_STATUS, SR_IE
	andi	a0, a0, SR_IE
	csrr	a1, CSR_STATUS
	andi	a1, a1, SR_IE
	csrsi	CSR_STATUS, SR_IE
	csrr	a2, CSR_STATUS
	andi	a2, a2, SR_IE
	csrrc	a3, CSR_STATUS, a2
	andi	a3, a3, SR_IE
	csrs	CSR_STATUS, a0
	csrr	a4, CSR_STATUS
	andi	a4, a4, SR_IE
END status

SNIPPET csr
	csrr	a0, CSR_IE
	csrs	CSR_IE, zero
END csr

.macro FAULT insn, reg
9:	\insn	\reg, 0(t3)
	STEP(1)
8:	STEP(2)
	_asm_extable 9b, 8b
.endm

SNIPPET fault_load, SNIPPET_FAULTS
	li	t3, -4096
	FAULT	lw, a0
	FAULT	lb, a1
	FAULT	REG_L, a2
END fault_load

SNIPPET fault_store, SNIPPET_FAULTS
	li	t3, -4096
	FAULT	sw, a0
	FAULT	sb, a1
	FAULT	REG_S, a2
END fault_store

	.option	pop

/* -- 2 bytes -- */

#ifdef CONFIG_RISCV_ISA_C
	.option	push
	.option	rvc

SNIPPET c_jumps
	c.j	2f
1:	STEP(1)
	la	a0, 3f
	c.jr	a0
	STEP(2)
2:	STEP(4)
	la	a1, 1b
	c.jalr	a1
	STEP(8)
3:	la	ra, 4f + 1
	c.jalr	ra
	STEP(16)
4:	STEP(32)
END c_jumps

SNIPPET c_branches
	c.beqz	a2, 1f
	STEP(1)
1:	c.bnez	a2, 1f
	STEP(2)
1:	c.beqz	a3, 1f
	STEP(4)
1:	c.bnez	a3, 1f
	STEP(8)
1:	c.bnez	s0, 1f
	STEP(16)
1:	mv	a5, a2
1:	c.addi	a5, -1
	STEP(32)
	slt	a4, zero, a5
	c.bnez	a4, 1b
END c_branches

SNIPPET c_moves
	c.nop
	c.addi	a0, 31
	c.addi	a1, -32
	c.addi	t5, 1
	c.li	a2, -1
	c.li	t4, 31
	c.lui	a3, 0xfffe0
	c.mv	a4, t1
	c.mv	t1, sp
	c.add	t2, a0
	c.add	a5, a5
	c.addi16sp sp, -512
	c.addi16sp sp, 496
	c.addi16sp sp, 16
	c.addi4spn a0, sp, 4
	c.addi4spn a1, sp, 1020
	c.addi4spn s0, sp, 8
END c_moves

SNIPPET c_arithmetic
	c.sub	a0, a1
	c.xor	a1, a2
	c.or	a2, a3
	c.and	a3, a4
	c.andi	a4, -7
	c.srli	a5, 5
	c.srai	s0, 6
	c.slli	t1, 7
	/* Failure R5: on RV32 these encodings are calls. */
#ifdef CONFIG_64BIT
	c.addiw	a0, 3
	c.addiw	t2, -9
	c.addw	a1, a0
	c.subw	a2, a0
#endif
END c_arithmetic

SNIPPET c_memory
	c.lw	a0, 4(s1)
	c.sw	a1, 8(s1)
	c.swsp	a2, 12(sp)
	c.lwsp	a3, 12(sp)
#ifdef CONFIG_64BIT
	c.ld	a4, 16(s1)
	c.sd	a5, 24(s1)
	c.sdsp	s0, 32(sp)
	c.ldsp	t1, 32(sp)
#endif
END c_memory

/* A function's prologue and epilogue as compilers emit them, not aligned to 4 bytes. */
SNIPPET c_call
	c.nop
	c.addi16sp sp, -32
	jal	ra, 2f
	c.addi16sp sp, 32
	c.j	3f
2:	STEP(1)
	c.jr	ra
3:
END c_call

SNIPPET c_fault, SNIPPET_FAULTS
	li	a5, -4096
9:	c.lw	a0, 0(a5)
	STEP(1)
8:	STEP(2)
	_asm_extable 9b, 8b
7:	c.sw	a0, 0(a5)
	STEP(4)
6:	STEP(8)
	_asm_extable 7b, 6b
END c_fault

	.option	pop
#endif

.pushsection .data
SYM_DATA_END_LABEL(insn_snippets, SYM_L_GLOBAL, insn_snippets_end)
.balign 8
SYM_DATA_START(insn_refused)
.popsection

/* -- never executed: addresses that must not be probed -- */

.macro REFUSED name, err, offset=0
	.pushsection .rodata.str, "a"
.Lrefused_\name:
	.asciz	"\name"
	.popsection
	.pushsection .data
	RISCV_PTR	.Lat_\name + \offset, -\err, .Lrefused_\name
	.popsection
.Lat_\name:
.endm

	.option	push
	.option	norvc
SYM_CODE_START_LOCAL(insn_never_run)
	REFUSED	ebreak, EOPNOTSUPP
	ebreak
	REFUSED	ecall, EOPNOTSUPP
	ecall
	REFUSED	sret, EOPNOTSUPP
	sret
	REFUSED	csr_epc, EOPNOTSUPP
	csrr	a0, CSR_EPC
	REFUSED	csr_scratch, EOPNOTSUPP
	csrw	CSR_SCRATCH, a0
	REFUSED	csr_cause, EOPNOTSUPP
	csrr	a0, CSR_CAUSE
	REFUSED	csr_satp, EOPNOTSUPP
	csrw	CSR_SATP, a0
	REFUSED	lr, EOPNOTSUPP
	lr.w	a0, (a1)
	REFUSED	behind_lr, EOPNOTSUPP
	addi	a0, a0, 1
	REFUSED	before_sc, EOPNOTSUPP
	bne	a0, a2, 1f
	REFUSED	sc, EOPNOTSUPP
	sc.w	a0, a2, (a1)
1:	nop
	/* Failure R2 */
	REFUSED	second_half, EILSEQ, 2
	addi	a0, a0, 1
	REFUSED	odd, EILSEQ, 1
	addi	a0, a0, 1
	REFUSED	lr_alone, EOPNOTSUPP
	lr.w	a0, (a1)
	REFUSED	behind_lr_alone, EOPNOTSUPP
	nop
#ifdef CONFIG_RISCV_ISA_C
	.option	rvc
	REFUSED	c_ebreak, EOPNOTSUPP
	c.ebreak
	REFUSED	zero, EOPNOTSUPP
	.half	0
	REFUSED	cm_push, EOPNOTSUPP
	.half	0xb842
	REFUSED	cm_jalt, EOPNOTSUPP
	.half	0xa082
#endif
	ret
SYM_CODE_END(insn_never_run)
	.option	pop

.pushsection .data
SYM_DATA_END_LABEL(insn_refused, SYM_L_GLOBAL, insn_refused_end)
.popsection
