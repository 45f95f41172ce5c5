/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of the x86 port, and what all of them share. detour.h declares what is for
 * jumps, copy.h the rest. The macros for saving registers are for
 * arch/x86/kernel/rethook.c.
 *
 *	text.c		writing text, page by page, and breakpoints
 *	trap.c		handling their hits
 *	blacklist.c	where no breakpoint may be, and which returns must not be diverted
 *	prepare.c	at registration: is this an instruction, may it be probed?
 *	decode.c	reading instructions without probes; which are refused or emulated
 *	emulate.c	instructions that must not or need not run elsewhere
 *	copy.c		all others: the out-of-line copy, the way out of it, and the thunks that
 *			some have to go through
 *	region.c	may a jump cover the text after the probe? the branches in a function
 *	opt.c		preparing, writing and removing jumps
 *	emit.c		the contents of a detour
 *	chain.c		several probes in the region of one jump
 *	detour.c	maps between the probed code and a detour; hits by a jump, as far as
 *			entry.S leaves them to C
 *	where.c		the original of an address in a copy or a detour
 *	ftrace.c	hits on ftrace sites
 *	jprobe.c	calling the handler of a jprobe, with jprobe_64.S; jprobe_32.S on 32 bits
 *	entry.S		the entry points for copies, detours and diverted returns;
 *			entry_32.S on 32 bits
 *
 * Files and functions with the same duty have the same name in all ports. What differs here:
 *
 *	kprobe_poke_text()		collects writes: other ports stop all CPUs, or need not
 *	arch_kprobe_read_insn()		not kprobe_read_original(): reads bytes, for oopses, too
 *	kprobe_detour_enter()		also for a breakpoint inside a jump, so it takes the address
 *	kprobe_detour_elsewhere()	called by entry.S: IRET loads all registers without a trap
 *	kprobe_detour_follow()		called by entry.S: kprobe_detour_enter(), and the hit's end
 */
#ifndef _ARCH_X86_KPROBES_COMMON_H
#define _ARCH_X86_KPROBES_COMMON_H

#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/linkage.h>
#include <linux/types.h>
#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/insn.h>

/*
 * Save or restore the part of a struct pt_regs below its flags, which the caller has
 * pushed. orig_ax, ip and cs are skipped; the caller sets them in C. The flags are not
 * preserved.
 */
#ifdef CONFIG_X86_64
#define SAVE_REGS_STRING					\
	"	lea -24(%rsp), %rsp\n"				\
	"	push %rdi\n	push %rsi\n"			\
	"	push %rdx\n	push %rcx\n	push %rax\n"	\
	"	push %r8\n	push %r9\n"			\
	"	push %r10\n	push %r11\n"			\
	"	push %rbx\n	push %rbp\n"			\
	"	push %r12\n	push %r13\n"			\
	"	push %r14\n	push %r15\n"			\
	ENCODE_FRAME_POINTER
#define RESTORE_REGS_STRING					\
	"	pop %r15\n	pop %r14\n"			\
	"	pop %r13\n	pop %r12\n"			\
	"	pop %rbp\n	pop %rbx\n"			\
	"	pop %r11\n	pop %r10\n"			\
	"	pop %r9\n	pop %r8\n"			\
	"	pop %rax\n	pop %rcx\n	pop %rdx\n"	\
	"	pop %rsi\n	pop %rdi\n"			\
	"	lea 24(%rsp), %rsp\n"
#else
#define SAVE_REGS_STRING					\
	"	lea -12(%esp), %esp\n"				\
	"	push %gs\n	push %fs\n"			\
	"	push %es\n	push %ds\n"			\
	"	push %eax\n	push %ebp\n"			\
	"	push %edi\n	push %esi\n"			\
	"	push %edx\n	push %ecx\n	push %ebx\n"	\
	ENCODE_FRAME_POINTER
/* The segment registers have not changed, so they are skipped as well. */
#define RESTORE_REGS_STRING					\
	"	pop %ebx\n	pop %ecx\n	pop %edx\n"	\
	"	pop %esi\n	pop %edi\n"			\
	"	pop %ebp\n	pop %eax\n"			\
	"	lea 28(%esp), %esp\n"
#endif

#ifdef CONFIG_KPROBES

/* Address of the instruction after the probed one. */
static __always_inline unsigned long ip_after(const struct kprobe *p)
{
	return (unsigned long)p->addr + p->ainsn.size;
}

/* jprobe_64.S */
asmlinkage void jprobe_thunk(void *entry, struct pt_regs *regs, const unsigned long *stack,
			     u32 hash);

#endif /* CONFIG_KPROBES */
#endif /* _ARCH_X86_KPROBES_COMMON_H */
