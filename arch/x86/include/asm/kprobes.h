/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kprobes on x86: types that the core embeds, and the hooks of the exception
 * handlers. arch/x86/kernel/kprobes/common.h lists the files of the port.
 */
#ifndef _ASM_X86_KPROBES_H
#define _ASM_X86_KPROBES_H

#include <asm-generic/kprobes.h>
#include <asm/kprobes_base.h>

/* More offsets in struct kprobe, and some in struct kprobe_ctlblk, for entry.S. */
#define KPROBE_POST_HANDLER	(4 * __SIZEOF_POINTER__)
#define KPROBE_HIT_PRE		(5 * __SIZEOF_POINTER__)
#define KPROBE_HANDLER_PROBE	(6 * __SIZEOF_POINTER__)
#define KPROBE_CONTEXT		0
#define KPROBE_SAVED_FLAGS	4
#define KPROBE_CALLED		8

/*
 * A detour begins with a pointer to its probe, and code that pushes the frame above the
 * registers, calls, and drops the frame. DETOUR_RETURN is the offset in the slot of the
 * return address of that call, DETOUR_COPIES that of the copies behind the code.
 */
#ifdef CONFIG_X86_64
/* The return itself drops ip and cs, unless a return thunk is used. */
#if defined(CONFIG_MITIGATION_RETHUNK) || defined(CONFIG_MITIGATION_SLS)
#define DETOUR_DROPS		4
#else
#define DETOUR_DROPS		0
#endif
#define DETOUR_RETURN		(8 + 17)
#define DETOUR_COPIES		(DETOUR_RETURN + DETOUR_DROPS + 2)
#else
#define DETOUR_DROPS		0
#define DETOUR_RETURN		(4 + 5)
#define DETOUR_COPIES		DETOUR_RETURN
#endif

/*
 * Size of a detour: behind that code are copies, a jump back, and maybe the post way. The 51
 * bytes for these are a choice: what does not fit gets no jump (DETOUR_TOO_LONG), or no post way.
 */
#define DETOUR_SIZE		((DETOUR_COPIES + 51 + __SIZEOF_POINTER__ - 1) &	\
				 -__SIZEOF_POINTER__)

/*
 * The post way is at the end of the slot: a copy of the probed instruction, between code
 * as at the beginning of a detour, and a short jump. DETOUR_POST_RETURN is the offset of
 * the return address of its call. The last byte of the slot is the distance from
 * DETOUR_RETURN to the post way; it is negative when the instruction is emulated.
 */
#define DETOUR_UNFRAME		(DETOUR_COPIES - DETOUR_RETURN)
#define DETOUR_WAY		(DETOUR_SIZE - 1)
#define DETOUR_POST_RETURN	(DETOUR_WAY - DETOUR_UNFRAME - 2)

#ifndef __ASSEMBLY__

#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/insn.h>
#include <asm/text-patching.h>

#ifdef CONFIG_KPROBES

struct kprobe;
struct optimized_kprobe;
struct task_struct;

typedef u8 kprobe_opcode_t;

/* The return address is on the stack, below the arguments. */
#define JPROBE_STACK_OFFSET	sizeof(long)

/*
 * Written for this core: handles hits that interrupt others, see kprobe_hit_nested(), refuses to
 * probe UD2 and its like, and a function's address is that of its symbol.
 */
#define ARCH_KPROBES_NATIVE	1

/* preempt_count(); only its context bits are used. */
#define arch_hit_context()	raw_cpu_read_4(KPROBE_PREEMPT_COUNT)
#define kprobe_hit_note(place, variable, value)	\
	do { (void)(place); __this_cpu_write(variable, value); } while (0)

/* The exception of a breakpoint adds this to preempt_count(). */
#define KPROBE_TRAP_COUNT	KPROBE_NMI_COUNT

/* kprobe_ftrace_handler() calls kprobe_ftrace_claims(). */
#define ARCH_KPROBES_CLAIM_SITES	1

/* The probed address, and two copies of its instruction, each with a jump behind it. */
#define KPROBE_INSN_SLOT_SIZE	(sizeof(long) + 2 * (MAX_INSN_SIZE + JMP32_INSN_SIZE))

/**
 * struct arch_specific_insn - how to run one probed instruction
 * @insn: its copy that jumps back behind the original, NULL when not needed
 * @emulate: executes the instruction on the registers, NULL when only the copy can; if it
 *	returns false, this hit uses the copy after all
 * @disp: displacement or immediate operand
 * @size: length of the instruction
 * @arg: operand of @emulate, see there
 * @mask: flags that a conditional branch tests
 * @base: offset in pt_regs of a register operand, or of a base register
 * @index: the same of an index register
 */
struct arch_specific_insn {
	kprobe_opcode_t *insn;
	bool (*emulate)(struct kprobe *p, struct pt_regs *regs);
	s32 disp;
	u8 size;
	u8 arg;
	union {
		u16 mask;
		struct {
			u8 base;
			u8 index;
		};
	};
};

#define arch_kprobe_is_emulated(p)	(!!(p)->ainsn.emulate)

#ifdef CONFIG_OPTPROBES

#define MAX_OPTIMIZED_LENGTH	JMP32_INSN_SIZE

/* A jump begins at most this number of bytes before its probe. */
#define MAX_LEAD		7UL

#define MAX_OPTINSN_SIZE	DETOUR_SIZE

/**
 * struct arch_optimized_insn - how to reach one probe by a jump; offsets in the text,
 *	and bit N of a mask for offset N, count from where the jump begins
 * @insn: the slot of the detour, NULL when there is none
 * @original: the bytes that the jump replaces
 * @copy_at: for each offset, where in the slot the copy of the instruction that starts
 *	there is, 0 when none starts there
 * @lead: offset of the probe
 * @ready: a detour has been prepared; written last, so that lockless readers that see it
 *	also see the layout, which does not change any more
 * @len: bytes of the instructions that the detour has copies of
 * @back: where in the slot the jump back is
 * @enter: where in the slot the copies of the instructions before the probe end, 0 when
 *	there are none
 * @post: where in the slot a hit with a post_handler continues: DETOUR_POST_RETURN when the
 *	instruction is emulated, else the post way, or 0 when there is none
 * @calls: instructions that are calls
 * @fixed_up: a fault of the first instruction is fixed up
 * @fenced: a hit continues in the detour, whether or not the jump has been written
 * @chained: the jump that leads here belongs to a probe before this one
 * @sharing: the other probes that the jump of this one leads to
 * @to: offset of the first instruction after the probe whose copy does not run: it has been
 *	replaced by a link, see chain.c; MAX_LEAD + 1 if all run
 * @unlinked: the bytes that the link has replaced
 * @why: an enum detour_obstacle, when there is no detour
 * @why_at: the offset of the obstacle
 */
struct arch_optimized_insn {
	kprobe_opcode_t *insn;
	kprobe_opcode_t original[MAX_OPTIMIZED_LENGTH];
	u8 copy_at[MAX_LEAD + 1];
	u16 calls;
	u8 lead;
	bool ready;
	u8 len;
	u8 back;
	u8 enter;
	u8 post;
	bool fixed_up;
	bool fenced;
	bool chained;
	u8 sharing;
	u8 to;
	kprobe_opcode_t unlinked[JMP32_INSN_SIZE];
	u8 why;
	u8 why_at;
};

#define arch_detour_calls_post arch_detour_calls_post
bool arch_detour_calls_post(const struct optimized_kprobe *op);

/* A detour that has to call a post_handler begins with another call. */
#define ARCH_DETOURS_ARE_TOLD_OF_POST	1

#define arch_jump_lead(op)	((op)->optinsn.lead)
unsigned int arch_jump_lead_max(void);

#endif /* CONFIG_OPTPROBES */

/**
 * struct kprobe_ctlblk - the hit that this CPU is handling
 * @context: preempt_count() when it began
 * @saved_flags: flags of the probed code, whose copy runs with interrupts off
 * @called: the probe whose post_handler a detour has to call
 */
struct kprobe_ctlblk {
	unsigned int context;
	unsigned int saved_flags;
	struct kprobe *called;
};

int kprobe_int3_handler(struct pt_regs *regs);

void __kretprobe_trampoline(void);

/* At a function's entry the return address is on top of the stack. */
#define arch_divert_return arch_divert_return
static __always_inline void arch_divert_return(kprobe_opcode_t **ret_addr, void **fp,
					       struct pt_regs *regs)
{
	unsigned long *place = (unsigned long *)regs->sp;

	*ret_addr = (kprobe_opcode_t *)*place;
	*fp = place;
	*place = (unsigned long)__kretprobe_trampoline;
}

/* The trampoline has left room for the address above the registers, and returns by it. */
#define arch_kretprobe_fixup_return arch_kretprobe_fixup_return
static __always_inline void arch_kretprobe_fixup_return(struct pt_regs *regs,
							kprobe_opcode_t *correct_ret_addr)
{
	*(unsigned long *)(regs + 1) = (unsigned long)correct_ret_addr;
}

unsigned long arch_kprobe_regs_ip(const struct pt_regs *regs);
#define arch_kprobe_leave_detour arch_kprobe_leave_detour
void arch_kprobe_leave_detour(struct pt_regs *regs);
#define arch_kprobe_resume arch_kprobe_resume
void arch_kprobe_resume(struct pt_regs *regs);
unsigned long arch_kprobe_original_ip(unsigned long ip);
unsigned long arch_kprobe_original_sp(unsigned long ip, unsigned long sp);
int arch_kprobe_read_insn(u8 *buf, unsigned long addr, size_t len);

#else /* !CONFIG_KPROBES */

static inline unsigned long arch_kprobe_regs_ip(const struct pt_regs *regs)
{
	return regs->ip;
}

static inline unsigned long arch_kprobe_original_ip(unsigned long ip)
{
	return ip;
}

static inline unsigned long arch_kprobe_original_sp(unsigned long ip, unsigned long sp)
{
	return sp;
}

/* Callers have included <linux/uaccess.h>. */
#define arch_kprobe_read_insn(buf, addr, len)	\
	copy_from_kernel_nofault(buf, (void *)(addr), len)

#endif /* CONFIG_KPROBES */
#endif /* !__ASSEMBLY__ */
#endif /* _ASM_X86_KPROBES_H */
