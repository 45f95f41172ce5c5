/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entry code of detours, of copies with a post_handler, and of diverted returns. No register
 * has been saved yet, except that a detour has saved the link register.
 */
#include <linux/linkage.h>
#include <asm/alternative.h>
#include <asm/asm-offsets.h>
#include <asm/assembler.h>
#include <asm/brk-imm.h>
#include <asm/insn-def.h>
#include <asm/kprobes.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>

/* No probe may enter this section, not even at a symbol inside of a function. */
	.section .kprobes.text, "ax"

	/* Save x0 to x29 in the struct pt_regs at sp. */
	.macro	save_gprs
	stp	x0, x1, [sp, #S_X0]
	stp	x2, x3, [sp, #S_X2]
	stp	x4, x5, [sp, #S_X4]
	stp	x6, x7, [sp, #S_X6]
	stp	x8, x9, [sp, #S_X8]
	stp	x10, x11, [sp, #S_X10]
	stp	x12, x13, [sp, #S_X12]
	stp	x14, x15, [sp, #S_X14]
	stp	x16, x17, [sp, #S_X16]
	stp	x18, x19, [sp, #S_X18]
	stp	x20, x21, [sp, #S_X20]
	stp	x22, x23, [sp, #S_X22]
	stp	x24, x25, [sp, #S_X24]
	stp	x26, x27, [sp, #S_X26]
	stp	x28, x29, [sp, #S_X28]
	.endm

	/* The handlers may have changed any of them. */
	.macro	restore_gprs
	ldp	x0, x1, [sp, #S_X0]
	ldp	x2, x3, [sp, #S_X2]
	ldp	x4, x5, [sp, #S_X4]
	ldp	x6, x7, [sp, #S_X6]
	ldp	x8, x9, [sp, #S_X8]
	ldp	x10, x11, [sp, #S_X10]
	ldp	x12, x13, [sp, #S_X12]
	ldp	x14, x15, [sp, #S_X14]
	ldp	x16, x17, [sp, #S_X16]
#ifdef CONFIG_SHADOW_CALL_STACK
	ldr	x19, [sp, #S_X18 + 8]
#else
	ldp	x18, x19, [sp, #S_X18]
#endif
	ldp	x20, x21, [sp, #S_X20]
	ldp	x22, x23, [sp, #S_X22]
	ldp	x24, x25, [sp, #S_X24]
	ldp	x26, x27, [sp, #S_X26]
	ldp	x28, x29, [sp, #S_X28]
	.endm

	/* Assemble PSTATE in x2, as an exception saves it. Overwrites x3. */
	.macro	read_pstate
	mrs	x2, nzcv
	mrs	x3, daif
	orr	x2, x2, x3
	mrs	x3, CurrentEL
	orr	x2, x2, x3
	mrs	x3, spsel
	orr	x2, x2, x3
	.endm

	/* Restore NZCV. Leaves the saved PSTATE in x2. Overwrites x3. */
	.macro	restore_flags
	ldr	x2, [sp, #S_PSTATE]
	and	x3, x2, #0xf0000000
	msr	nzcv, x3
	.endm

	/* Save x0 to x29 and sp. Leaves the PSTATE to save in x2. Overwrites x0 and x3. */
	.macro	save_regs
	save_gprs
	add	x0, sp, #PT_REGS_SIZE
	str	x0, [sp, #S_SP]
	read_pstate
	/* The handlers must not be able to access user space by mistake. */
alternative_if ARM64_HAS_PAN
	mrs_s	x3, SYS_PSTATE_PAN
	orr	x2, x2, x3
	SET_PSTATE_PAN(1)
alternative_else_nop_endif
	.endm

	/*
	 * Save the pc, in x1, which the frame record shows to unwinders, and PSTATE, in x2.
	 * Call \function with x19 and the struct pt_regs.
	 */
	.macro	call_handler, function
	stp	x29, x1, [sp, #S_STACKFRAME]
	add	x29, sp, #S_STACKFRAME
	stp	x1, x2, [sp, #S_PC]
	mov	x0, x19
	mov	x1, sp
	bl	\function
	.endm

/*
 * The start of a detour makes room for a struct pt_regs, saves x30 there, and calls this.
 * kprobe_detour_hit() returns the part of the detour to continue at; that part restores x30
 * and releases the room.
 */
SYM_CODE_START(kprobe_detour_entry)
	save_regs
	sub	x19, x30, #DETOUR_COPY
	ldr	x0, [x19]
	ldr	x1, [x0, #KPROBE_ADDR]
	call_handler kprobe_detour_hit

.Lrestore_regs:
	mov	x30, x0
	restore_flags
alternative_if ARM64_HAS_PAN
	msr_s	SYS_PSTATE_PAN, x2
alternative_else_nop_endif
	restore_gprs
	/*
	 * The probe may be between an LDXR and a WFE that waits for a store there, and a
	 * handler may have cleared the exclusive monitor. As the return from an exception
	 * does, let the WFE not wait.
	 */
	sevl
	ret
SYM_CODE_END(kprobe_detour_entry)

/*
 * Leave a detour or slot for an address outside of it, with interrupts off. No register is
 * free for the branch, so a trap returns there. See leave_detour() and
 * kprobe_detour_elsewhere().
 */
SYM_CODE_START(kprobe_detour_leave)
	ldr	x30, [sp, #S_LR]
	add	sp, sp, #PT_REGS_SIZE
	brk	#KPROBES_BRK_SS_IMM
SYM_CODE_END(kprobe_detour_leave)

/* The detour calls this after the second copy of the instruction. */
SYM_CODE_START(kprobe_detour_post_entry)
	save_regs
	sub	x19, x30, #DETOUR_AFTER
	ldr	x0, [x19]
	ldr	x1, [x0, #KPROBE_ADDR]
	add	x1, x1, #AARCH64_INSN_SIZE
	call_handler kprobe_detour_post
	b	.Lrestore_regs
SYM_CODE_END(kprobe_detour_post_entry)

/*
 * The second copy in the slot of a breakpoint branches here, with interrupts masked. The
 * probe is the current one. kprobe_slot_post() returns where in the slot to continue.
 */
SYM_CODE_START(kprobe_slot_post_entry)
	sub	sp, sp, #PT_REGS_SIZE
	str	x30, [sp, #S_LR]
	save_regs
	ldr_this_cpu x19, current_kprobe, x1
	ldr	x1, [x19, #KPROBE_ADDR]
	add	x1, x1, #AARCH64_INSN_SIZE
	call_handler kprobe_slot_post
	b	.Lrestore_regs
SYM_CODE_END(kprobe_slot_post_entry)

#ifdef CONFIG_KRETPROBES
/*
 * A function whose return address was diverted returns here. The registers are
 * saved as by an exception. The frame record beside them names the trampoline as
 * the return address: unwinders recognise that, and look up the real address by
 * the caller's frame.
 */
SYM_CODE_START(__kretprobe_trampoline)
	sub	sp, sp, #PT_REGS_SIZE
	save_gprs
	adr_l	x1, __kretprobe_trampoline
	add	x2, sp, #PT_REGS_SIZE
	stp	x1, x2, [sp, #S_LR]
	stp	x29, x1, [sp, #S_STACKFRAME]
	add	x29, sp, #S_STACKFRAME
	read_pstate
	stp	x1, x2, [sp, #S_PC]

	mov	x0, sp
	bl	kretprobe_trampoline_return
	mov	x30, x0

	restore_flags
	restore_gprs
	add	sp, sp, #PT_REGS_SIZE
	ret
SYM_CODE_END(__kretprobe_trampoline)
#endif
