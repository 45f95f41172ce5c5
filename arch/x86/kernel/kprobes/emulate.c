// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions that a hit executes itself, on the saved registers.
 *
 * Branches must be emulated, because a copy would branch from its own address. So must
 * instructions that show or change the flags of the probed code, because a copy may run
 * with other flags. No-operations are emulated because nothing is left to do for them.
 *
 * There is one function for each kind of instruction, with operands that decode.c
 * decoded into struct arch_specific_insn when the probe was prepared.
 */
#include <linux/uaccess.h>
#include <asm/msr.h>

#include "copy.h"

/* Flags that POPF changes at privilege level 0, except RF, which it clears. */
#define POPF_FLAGS	(X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF |	\
			 X86_EFLAGS_ZF | X86_EFLAGS_SF | X86_EFLAGS_TF |	\
			 X86_EFLAGS_IF | X86_EFLAGS_DF | X86_EFLAGS_OF |	\
			 X86_EFLAGS_IOPL | X86_EFLAGS_NT | X86_EFLAGS_AC |	\
			 X86_EFLAGS_ID)

static __always_inline unsigned long *reg_at(struct pt_regs *regs, u8 offset)
{
	return (void *)regs + offset;
}

bool kprobe_emulate_nop(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = ip_after(p);

	return true;
}

NOKPROBE_SYMBOL(kprobe_emulate_nop);

bool kprobe_emulate_endbr(struct kprobe *p, struct pt_regs *regs)
{
	kprobe_landed(regs);

	return kprobe_emulate_nop(p, regs);
}

NOKPROBE_SYMBOL(kprobe_emulate_endbr);

bool kprobe_emulate_jmp(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = ip_after(p) + p->ainsn.disp;

	return true;
}

NOKPROBE_SYMBOL(kprobe_emulate_jmp);

bool kprobe_emulate_jcc(struct kprobe *p, struct pt_regs *regs)
{
	bool met = regs->flags & p->ainsn.mask;

	if (p->ainsn.mask & COND_LESS)
		met |= !(regs->flags & X86_EFLAGS_SF) != !(regs->flags & X86_EFLAGS_OF);

	regs->ip = ip_after(p);
	if (met != p->ainsn.arg)
		regs->ip += p->ainsn.disp;

	return true;
}

NOKPROBE_SYMBOL(kprobe_emulate_jcc);

static __always_inline unsigned long count_mask(const struct arch_specific_insn *ainsn)
{
	if (ainsn->arg & COUNT_HALF)
		return IS_ENABLED(CONFIG_X86_64) ? U32_MAX : U16_MAX;

	return ULONG_MAX;
}

/* LOOP and its like decrement the counter first, whatever the flags say. */
bool kprobe_emulate_loop(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long mask = count_mask(&p->ainsn);
	unsigned long count = (regs->cx - 1) & mask;

	/* Writing %ecx clears the half above it, writing %cx does not. */
	if (mask == U16_MAX)
		regs->cx = (regs->cx & ~mask) | count;
	else
		regs->cx = count;

	regs->ip = ip_after(p);
	/* LOOPNE ends when ZF is set, LOOPE when it is clear. */
	if (count && (p->ainsn.arg & LOOP_KIND) != !(regs->flags & X86_EFLAGS_ZF))
		regs->ip += p->ainsn.disp;

	return true;
}

NOKPROBE_SYMBOL(kprobe_emulate_loop);

bool kprobe_emulate_jcxz(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = ip_after(p);
	if (!(regs->cx & count_mask(&p->ainsn)))
		regs->ip += p->ainsn.disp;

	return true;
}

NOKPROBE_SYMBOL(kprobe_emulate_jcxz);

/*
 * A call is counted by its callee. Here it has put nothing into the return stack buffer: make
 * the next return fill that, as after a count down to nothing.
 */
static __always_inline void push_return(struct kprobe *p, struct pt_regs *regs)
{
#ifdef CONFIG_MITIGATION_CALL_DEPTH_TRACKING
	if (cpu_feature_enabled(X86_FEATURE_CALL_DEPTH))
		raw_cpu_write_8(__x86_call_depth, 0);
#endif
	int3_emulate_push(regs, ip_after(p));
}

bool kprobe_emulate_call(struct kprobe *p, struct pt_regs *regs)
{
	push_return(p, regs);

	return kprobe_emulate_jmp(p, regs);
}

NOKPROBE_SYMBOL(kprobe_emulate_call);

bool kprobe_emulate_ret(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = int3_emulate_pop(regs);
	regs->sp += (u16)p->ainsn.disp;

	return true;
}

NOKPROBE_SYMBOL(kprobe_emulate_ret);

/* A return may be emulated only for post_handlers, and have no @emulate then. */
bool kprobe_emulate_any(struct kprobe *p, struct pt_regs *regs)
{
	return p->ainsn.emulate ? p->ainsn.emulate(p, regs) : kprobe_emulate_ret(p, regs);
}

NOKPROBE_SYMBOL(kprobe_emulate_any);

bool kprobe_emulate_jmp_reg(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = *reg_at(regs, p->ainsn.base);

	return true;
}

NOKPROBE_SYMBOL(kprobe_emulate_jmp_reg);

bool kprobe_emulate_call_reg(struct kprobe *p, struct pt_regs *regs)
{
	kprobe_emulate_jmp_reg(p, regs);
	push_return(p, regs);

	return true;
}

NOKPROBE_SYMBOL(kprobe_emulate_call_reg);

/* Base of %gs in the kernel, of %fs on 32 bits. */
static __always_inline unsigned long percpu_base(void)
{
	if (IS_ENABLED(CONFIG_X86_64))
		return __rdmsr(MSR_GS_BASE);

	return IS_ENABLED(CONFIG_SMP) ? __this_cpu_read(this_cpu_off) : 0;
}

/* The base may be %rip, so regs->ip must be after the instruction already. */
static __always_inline unsigned long operand_addr(const struct arch_specific_insn *ainsn,
						  struct pt_regs *regs)
{
	unsigned long addr = ainsn->disp;

	if (ainsn->base != NO_REG)
		addr += *reg_at(regs, ainsn->base);
	if (ainsn->index != NO_REG)
		addr += *reg_at(regs, ainsn->index) << (ainsn->arg & MEM_SCALE);
	if (ainsn->arg & MEM_PERCPU)
		addr += percpu_base();

	return addr;
}

/*
 * If the operand cannot be read, the copy has to run, so that the CPU finds out and
 * reports what is wrong.
 */
bool kprobe_emulate_jmp_mem(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long target;

	regs->ip = ip_after(p);
	if (copy_from_kernel_nofault(&target, (void *)operand_addr(&p->ainsn, regs),
				     sizeof(target)))
		return false;

	regs->ip = target;

	return true;
}

NOKPROBE_SYMBOL(kprobe_emulate_jmp_mem);

bool kprobe_emulate_call_mem(struct kprobe *p, struct pt_regs *regs)
{
	if (!kprobe_emulate_jmp_mem(p, regs))
		return false;

	push_return(p, regs);

	return true;
}

NOKPROBE_SYMBOL(kprobe_emulate_call_mem);

bool kprobe_emulate_pushf(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long flags = regs->flags & ~(X86_EFLAGS_RF | X86_EFLAGS_VM);

	if (p->ainsn.arg == sizeof(u16)) {
		regs->sp -= sizeof(u16);
		*(u16 *)regs->sp = flags;
	} else {
		int3_emulate_push(regs, flags);
	}

	return kprobe_emulate_nop(p, regs);
}

NOKPROBE_SYMBOL(kprobe_emulate_pushf);

bool kprobe_emulate_popf(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long flags, change = POPF_FLAGS;

	if (p->ainsn.arg == sizeof(u16)) {
		change &= U16_MAX;
		flags = *(u16 *)regs->sp;
		regs->sp += sizeof(u16);
	} else {
		flags = int3_emulate_pop(regs);
	}
	regs->flags &= ~(change | X86_EFLAGS_RF);
	regs->flags |= flags & change;

	return kprobe_emulate_nop(p, regs);
}

NOKPROBE_SYMBOL(kprobe_emulate_popf);

bool kprobe_emulate_cli(struct kprobe *p, struct pt_regs *regs)
{
	regs->flags &= ~X86_EFLAGS_IF;

	return kprobe_emulate_nop(p, regs);
}

NOKPROBE_SYMBOL(kprobe_emulate_cli);

/* Let ERETS hold off interrupts as STI does. IRET cannot. */
static __always_inline bool hold_off_by_frame(struct pt_regs *regs)
{
#ifdef CONFIG_X86_64
	if (cpu_feature_enabled(X86_FEATURE_FRED)) {
		regs->fred_ss.sti = !(regs->flags & X86_EFLAGS_IF);
		return true;
	}
#endif
	return false;
}

/*
 * STI holds off interrupts until the next instruction is done. If that waits for one, an
 * interrupt must not come in between, or nothing would end the wait: continue after both, as
 * waiting may end at any time. A probe on the second one ends it at once.
 */
bool kprobe_emulate_sti(struct kprobe *p, struct pt_regs *regs)
{
	kprobe_emulate_nop(p, regs);
	if (!hold_off_by_frame(regs) && p->ainsn.disp && !kprobe_text_is_int3(regs->ip))
		regs->ip += p->ainsn.disp;
	regs->flags |= X86_EFLAGS_IF;

	return true;
}

NOKPROBE_SYMBOL(kprobe_emulate_sti);

/* Does the emulation write below the stack pointer? */
bool kprobe_emulation_pushes(const struct kprobe *p)
{
	emulation_t *emulate = p->ainsn.emulate;

	return emulate == kprobe_emulate_call || emulate == kprobe_emulate_call_reg ||
	       emulate == kprobe_emulate_call_mem || emulate == kprobe_emulate_pushf;
}

NOKPROBE_SYMBOL(kprobe_emulation_pushes);

/* Can the emulation fail? Then it needs a copy to fall back on. */
bool kprobe_emulation_needs_copy(const struct kprobe *p)
{
	return !p->ainsn.emulate || p->ainsn.emulate == kprobe_emulate_jmp_mem ||
	       p->ainsn.emulate == kprobe_emulate_call_mem;
}
