/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files of the x86 port share, and the macros for saving registers,
 * which arch/x86/kernel/rethook.c uses in its trampoline.
 *
 * The files:
 *
 *	poke.c		writing text
 *	trap.c		writing breakpoints, and handling their hits
 *	blacklist.c	where no breakpoint may be
 *	prepare.c	at registration: is this an instruction, may it be probed?
 *	decode.c	which instructions are refused or emulated
 *	emulate.c	instructions that must not or need not run elsewhere
 *	copy.c		all others: the out-of-line copy, and the way out of it
 *	thunk.c		copies that have to go through a thunk
 *	branches.c	the branches in a function
 *	region.c	may a jump cover the text behind the probe?
 *	opt.c		preparing, writing and removing jumps
 *	place.c		where a detour can be
 *	emit.c		the contents of a detour
 *	chain.c		several probes in the region of one jump
 *	detour.c	maps between the probed code and a detour
 *	detour_hit.c	hits by a jump: the part that entry.S leaves to C
 *	where.c		the original of an address in a copy or a detour
 *	ftrace.c	hits on ftrace sites
 *	return.c	functions whose return must not be diverted
 *	fault.c		addresses that fault handlers see
 *	jprobe.c	calling the handler of a jprobe, with jprobe_32.S or jprobe_64.S
 *	entry.S		the entry points for copies, detours and diverted returns;
 *			entry_32.S on 32 bits
 *
 * The kernel's mitigations of wrong predictions hold for probed code as well:
 *
 *	retpolines		Direct branches to a thunk. Copied and emulated ones go to
 *				the same.
 *	LFENCE in front of	A copy goes through a thunk with an LFENCE. Emulated ones end
 *	  indirect branches	with IRET or ERETS, which nothing predicts.
 *	ITS: indirect branches	A copy of an indirect branch goes through the thunk for the
 *	  and returns in the	register, or is not made. A bare return has no copy, but is
 *	  upper half of a	emulated, and in a detour goes through the return thunk:
 *	  cache line only	whichever is in use (untrained, SRSO, ITS, call depth).
 *	return thunks		Direct branches. Bare returns are in thunks only, which are
 *				on the blacklist, or where ITS has left them, see above.
 *	call depth tracking	Calls are counted in front of the callee, or in a thunk, and
 *				returns in theirs: in what copied branches lead to as well.
 *	SLS			In copies a breakpoint is behind each return and jump, too.
 *	BHI			The history is cleared where the kernel is entered. Nothing
 *				in probed code depends on it.
 *	IBT			An ENDBR stays where it is. The copy of an indirect branch is
 *				checked. An emulated one is not: IRET goes anywhere.
 *	kCFI, FineIBT		No probe is in a check, see kprobe_in_cfi_check().
 *	LFENCE, index masks	Copied as they are, and executed behind the handlers.
 *	PTI, MDS, L1TF, IBPB	Entry code, which is on the blacklist.
 */
#ifndef _ARCH_X86_KPROBES_COMMON_H
#define _ARCH_X86_KPROBES_COMMON_H

#include <linux/kprobes_port.h>
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

/* poke.c */
void kprobe_poke_text(u8 *addr, const void *bytes, size_t len);
void kprobe_poke_flush(void);
void kprobe_poke_sync(void);

/* trap.c */
bool kprobe_text_is_int3(unsigned long addr);

/* prepare.c */
int kprobe_decode_original(struct insn *insn, u8 *buf, unsigned long addr, unsigned long end);
bool kprobe_in_cfi_check(unsigned long addr);

/* decode.c */
const char *kprobe_refusal_reason(struct insn *insn);
int kprobe_prepare_emulation(struct kprobe *p, struct insn *insn);
bool kprobe_insn_has_prefix(struct insn *insn, u8 wanted);
bool kprobe_insn_waits(struct insn *insn);
bool kprobe_branch_is_portable(struct insn *insn);

/* emulate.c */
bool kprobe_emulate_ret(struct kprobe *p, struct pt_regs *regs);
bool kprobe_emulate_any(struct kprobe *p, struct pt_regs *regs);
bool kprobe_emulation_pushes(const struct kprobe *p);
bool kprobe_emulation_needs_copy(const struct kprobe *p);

/* copy.c */
/**
 * struct slot - contents of an instruction slot
 * @addr: the original instruction
 * @back: copy, and a jump behind the original
 * @post: copy, and a jump to kprobe_post_entry
 */
struct slot {
	unsigned long addr;
	u8 back[MAX_INSN_SIZE + JMP32_INSN_SIZE];
	u8 post[MAX_INSN_SIZE + JMP32_INSN_SIZE];
};

static_assert(sizeof(struct slot) == KPROBE_INSN_SLOT_SIZE);

/* In a Xen guest the flag is set whether interrupts are on or off, so save what it was. */
static __always_inline void clear_if(struct pt_regs *regs)
{
	__this_cpu_write(kprobe_ctlblk.saved_flags, regs->flags);
	regs->flags &= ~X86_EFLAGS_IF;
}

static __always_inline void restore_if(struct pt_regs *regs)
{
	regs->flags &= ~X86_EFLAGS_IF;
	regs->flags |= __this_cpu_read(kprobe_ctlblk.saved_flags) & X86_EFLAGS_IF;
}

/* A RET, which does not come back from its copy. */
static __always_inline bool copy_returns(const u8 *insn)
{
	return insn[0] == RET_INSN_OPCODE || insn[0] == 0xc2;
}

/* Is a copy the only way to execute the instruction and come back for a post_handler? */
static __always_inline bool post_takes_copy(const struct kprobe *p)
{
	return !p->ainsn.emulate && !copy_returns(&p->opcode);
}

bool kprobe_fits_rel32(long distance);
int kprobe_rebase_operand(u8 *image, const u8 *dest, unsigned long addr, struct insn *insn);
int kprobe_prepare_copy(struct kprobe *p, struct insn *insn);
void kprobe_enter_post_copy(struct kprobe *p, struct pt_regs *regs);
void kprobe_enter_fault_copy(struct kprobe *p, struct pt_regs *regs);
asmlinkage void kprobe_post_entry(void);
void kprobe_post_trap(struct pt_regs *regs);
void kprobe_fred_frame(struct pt_regs *regs);

#ifdef CONFIG_X86_64
/*
 * The CS with which ERETS stays in the kernel; @config is IA32_FRED_CONFIG. The stack
 * level is the present one, which the register has in its lowest bits. With a lower one
 * the next event of this level would use its stack from the start, where this code runs.
 * The CPU does not wait for an ENDBR. The upper half of SS says that no event came, so
 * that NMIs stay as they are and nothing is held off behind ERETS.
 */
static __always_inline u64 fred_kernel_cs(u64 config)
{
	union {
		struct fred_cs fields;
		u64 whole;
	} cs = { .fields = { .cs = __KERNEL_CS, .sl = config & 3 } };

	return cs.whole;
}
#endif

/* thunk.c */
bool kprobe_copy_wants_thunk(struct insn *insn);
unsigned long kprobe_copy_thunk(struct insn *insn);

/* jprobe_64.S */
asmlinkage void jprobe_thunk(void *entry, struct pt_regs *regs, const unsigned long *stack,
			     u32 hash);

#ifdef CONFIG_OPTPROBES

/* detour.c */
unsigned long kprobe_detour_insn_ip(unsigned long ip);
unsigned long kprobe_detour_original_ip(unsigned long ip);
unsigned long kprobe_detour_entered_for(unsigned long ret);
unsigned long kprobe_detour_original_sp(unsigned long ip, unsigned long sp);
unsigned long kprobe_detour_leave_copy(struct pt_regs *regs, bool any);
void kprobe_detour_undo(u8 *buf, unsigned long addr, size_t len);
bool kprobe_detour_enter(unsigned long addr, struct pt_regs *regs);
asmlinkage void kprobe_detour_entry(void);
asmlinkage void kprobe_detour_pre_entry(void);
asmlinkage void kprobe_detour_post_entry(void);
asmlinkage void kprobe_detour_callee(void);
int kprobe_detour_nested(struct kprobe *p, struct pt_regs *regs);
int kprobe_detour_nested_pre(struct kprobe *p, struct pt_regs *regs);
int kprobe_detour_call(struct kprobe *called, struct pt_regs *regs);
void kprobe_detour_call_post(struct kprobe *called, struct pt_regs *regs);
unsigned long kprobe_detour_emulate(struct pt_regs *regs, unsigned long ret);
void kprobe_detour_elsewhere(struct pt_regs *regs);
void kprobe_detour_follow(struct pt_regs *regs);
void kprobe_detour_preempt(void);
void kprobe_detour_hit(struct kprobe *p, struct pt_regs *regs);
unsigned long kprobe_detour_hit_pre(struct kprobe *p, struct pt_regs *regs);
int kprobe_detour_post(struct kprobe *p, struct pt_regs *regs);
void __noreturn kprobe_detour_leave(struct pt_regs *regs);

static __always_inline struct arch_optimized_insn *optinsn_of(struct kprobe *p)
{
	return &container_of(p, struct optimized_kprobe, kp)->optinsn;
}

/*
 * Return the copy that runs for the instruction at offset @at of the region, 0 when the
 * original may run. From the moment that a jump is planned until the original bytes are
 * back, no hit may continue at the next instruction.
 */
static __always_inline unsigned long detour_copy(struct kprobe *p, unsigned int at)
{
	const struct arch_optimized_insn *optinsn = optinsn_of(p);

	/* A plain load of a byte cannot tear; WRITE_ONCE() stores it. */
	if (likely(!data_race(optinsn->fenced)) || !optinsn->copy_at[at])
		return 0;

	return (unsigned long)optinsn->insn + optinsn->copy_at[at];
}

/* The same for the probed instruction. */
static __always_inline unsigned long detour_copy_probed(struct kprobe *p)
{
	return detour_copy(p, optinsn_of(p)->lead);
}

/* Does a jump cover the text behind @p, or is one planned to? */
static __always_inline bool detour_is_fenced(struct kprobe *p)
{
	/* Either answer is right while this changes: a grace period waits for this hit. */
	return data_race(optinsn_of(p)->fenced);
}

#else /* !CONFIG_OPTPROBES */

static inline unsigned long kprobe_detour_insn_ip(unsigned long ip)
{
	return ip;
}

static inline unsigned long kprobe_detour_entered_for(unsigned long ret)
{
	return 0;
}

static inline unsigned long kprobe_detour_original_ip(unsigned long ip)
{
	return ip;
}

static inline unsigned long kprobe_detour_original_sp(unsigned long ip, unsigned long sp)
{
	return sp;
}

static inline unsigned long kprobe_detour_leave_copy(struct pt_regs *regs, bool any)
{
	return 0;
}

static inline void kprobe_detour_undo(u8 *buf, unsigned long addr, size_t len)
{
}

static inline bool kprobe_detour_enter(unsigned long addr, struct pt_regs *regs)
{
	return false;
}

static __always_inline unsigned long detour_copy_probed(struct kprobe *p)
{
	return 0;
}

static __always_inline bool detour_is_fenced(struct kprobe *p)
{
	return false;
}

#endif /* CONFIG_OPTPROBES */

/* A handler that was called at @ip may have set another one, in the middle of a jump. */
static __always_inline void follow_handler(struct pt_regs *regs, unsigned long ip)
{
	if (unlikely(regs->ip != ip))
		kprobe_detour_enter(regs->ip, regs);
}

/* The instruction of @p may also lead there, if the jump is that of @p. */
static __always_inline void finish_hit(struct kprobe *p, struct pt_regs *regs, bool nested)
{
	unsigned long ip = regs->ip;

	kprobe_hit_finish(p, regs, nested);
	if (unlikely(regs->ip != ip || detour_is_fenced(p)))
		kprobe_detour_enter(regs->ip, regs);
}

/* Address of the instruction behind the probed one. */
static __always_inline unsigned long ip_behind(const struct kprobe *p)
{
	return (unsigned long)p->addr + p->ainsn.size;
}

#endif /* CONFIG_KPROBES */
#endif /* _ARCH_X86_KPROBES_COMMON_H */
