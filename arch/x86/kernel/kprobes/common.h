/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the x86 port share, and the register save area that
 * arch/x86/kernel/rethook.c builds on its trampoline.
 *
 * A hit, in the order in which it passes through the files:
 *
 *	trap.c		breakpoints written and hit, handlers called
 *	decode.c	at registration: is this an instruction, may it be probed?
 *	emulate.c	instructions that must not or need not run elsewhere
 *	copy.c		all others: the out-of-line copy, and the way out of it
 *	entry.S		the landing places of copies and of diverted returns
 */
#ifndef _ARCH_X86_KPROBES_COMMON_H
#define _ARCH_X86_KPROBES_COMMON_H

#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/insn.h>

/*
 * Fill in or take back the part of a struct pt_regs below its flags, which the
 * user has pushed. orig_ax, ip and cs are skipped, the user sets them in C. The
 * flags are not preserved.
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
/* The segment registers have not changed, so they are passed over as well. */
#define RESTORE_REGS_STRING					\
	"	pop %ebx\n	pop %ecx\n	pop %edx\n"	\
	"	pop %esi\n	pop %edi\n"			\
	"	pop %ebp\n	pop %eax\n"			\
	"	lea 28(%esp), %esp\n"
#endif

/* The rest needs <linux/kprobes.h> with kprobes in it. */
#ifdef CONFIG_KPROBES

/* trap.c */
bool text_is_int3(unsigned long addr);
void run_post_handler(struct kprobe *p, kprobe_post_handler_t handler, struct pt_regs *regs);

/* emulate.c */
int prepare_emulation(struct kprobe *p, struct insn *insn);
bool emulation_needs_copy(const struct kprobe *p);
bool insn_has_prefix(struct insn *insn, u8 wanted);

/* copy.c */
int prepare_copy(struct kprobe *p, struct insn *insn);
void remove_copy(struct kprobe *p);
void enter_post_copy(struct kprobe *p, struct pt_regs *regs);
asmlinkage void kprobe_post_entry(void);
void kprobe_post_trap(struct pt_regs *regs);

/* ftrace.c */
#ifdef CONFIG_KPROBES_ON_FTRACE
int blacklist_ftrace(void);
#else
static inline int blacklist_ftrace(void)
{
	return 0;
}
#endif

/* return.c */
unsigned long kretprobe_trampoline_return(struct pt_regs *regs);

/* Address of the instruction behind the probed one. */
static __always_inline unsigned long ip_behind(const struct kprobe *p)
{
	return (unsigned long)p->addr + p->ainsn.size;
}

#endif /* CONFIG_KPROBES */
#endif /* _ARCH_X86_KPROBES_COMMON_H */
