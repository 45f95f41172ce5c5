// SPDX-License-Identifier: GPL-2.0-only
/*
 * An address in a copy or a detour stands for one in the probed code. These functions
 * tell which one:
 *
 *	caller				function		answer
 *	unwinders			arch_kprobe_original_ip	where it would be
 *	  and for the stack there	arch_kprobe_original_sp
 *	  and for a trap's registers	arch_kprobe_regs_ip	after the last that is done
 *	oopses, backtraces, samples	arch_kprobe_insn_ip	which instruction
 *	page faults, exception tables	arch_kprobe_leave_copy	the fault moves there
 *	fault handlers			arch_kprobe_leave_detour the same, for any fault
 *	a fixup that was done		arch_kprobe_fixed_up	the instruction is over
 *
 * The answer depends on the layouts: struct slot is that of a copy, and detour.c knows
 * that of a detour. kprobe_detour_enter() maps in the other direction, into a detour.
 * arch_kprobe_read_insn() reads original bytes.
 *
 * A fault in a copy is moved to the original instruction before it is handled, because
 * the kernel has its fixups for that address, and because a task must not sleep in a copy
 * until a page is there. If the instruction is retried, it hits the breakpoint again,
 * which is a new hit.
 */
#include <linux/preempt.h>
#include <linux/uaccess.h>
#include <asm/cpufeature.h>
#include <asm/trapnr.h>

#include "copy.h"

static struct kprobe_where where_is(unsigned long ip)
{
	struct slot *slot = kprobe_insn_slot_at(ip);
	struct kprobe_where where = { .insn = ip, .original = ip };

	/* An unwinder asks about each frame. */
	if (likely(!kprobe_slots_span(ip)))
		return where;

	/* It may pass a stale address, see is_kprobe_insn_slot(). */
	guard(rcu)();
	if (!is_kprobe_insn_slot(ip)) {
		if (IS_ENABLED(CONFIG_OPTPROBES))
			kprobe_detour_where(ip, &where);
		return where;
	}

	/* The jump after a copy stands for the next instruction. */
	if (ip >= (unsigned long)slot->post)
		where.insn = slot->addr + (ip - (unsigned long)slot->post);
	else if (ip >= (unsigned long)slot->back)
		where.insn = slot->addr + (ip - (unsigned long)slot->back);
	where.original = where.insn;

	return where;
}

NOKPROBE_SYMBOL(where_is);

/**
 * arch_kprobe_insn_ip() - the probed instruction that an address stands for
 * @ip: an instruction pointer
 *
 * Context: Any, with RCU watching.
 * Return: the probed instruction that a copy or a detour executes at @ip; @ip itself when
 * it is in neither.
 */
unsigned long arch_kprobe_insn_ip(unsigned long ip)
{
	return where_is(ip).insn;
}

NOKPROBE_SYMBOL(arch_kprobe_insn_ip);

#ifdef CONFIG_UNWINDER_ORC
/* What an exception without an error code has on the stack, from the place of one upwards. */
struct exception_frame {
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

static bool frame_word(unsigned long *to, const unsigned long *from)
{
	__get_kernel_nofault(to, from, unsigned long, gone);
	return true;
gone:
	return false;
}

/*
 * Are these the registers of a breakpoint, and has nothing been executed for it? Below what the
 * CPU has pushed, to a stack that it has aligned, asm_exc_int3() makes room for a push by
 * repeating that. What executes an instruction changes ip or sp in the lower frame, but in the
 * upper one only if it pushes more than two words.
 */
static bool is_unexecuted_int3(const struct pt_regs *regs)
{
	const struct exception_frame *pushed = (void *)(regs + 1);
	unsigned long ip, sp;

	/* FRED leaves the room itself, and says what the event is. */
	if (cpu_feature_enabled(X86_FEATURE_FRED))
		return regs->fred_ss.vector == X86_TRAP_BP && regs->orig_ax == -1UL &&
		       kprobe_text_is_int3(regs->ip - INT3_INSN_SIZE);

	return (regs->sp & -16UL) == (unsigned long)(pushed + 1) &&
	       frame_word(&ip, &pushed->ip) && ip == regs->ip &&
	       frame_word(&sp, &pushed->sp) && sp == regs->sp;
}

/**
 * arch_kprobe_regs_ip() - the ip of code whose registers an exception or a detour has saved
 * @regs: the saved registers; only those that an exception pushes need be there
 *
 * Handlers see an ip after the breakpoint, but the instruction there is not executed
 * yet. If it is one byte long, that is the ip of the next instruction, which has another
 * stack. A detour has as orig_ax the address at which it continues; one that has emulated the
 * instruction has overwritten it.
 *
 * Context: Any, with RCU watching.
 * Return: the ip that the stack pointer in @regs belongs to.
 */
unsigned long arch_kprobe_regs_ip(const struct pt_regs *regs)
{
	unsigned long addr = regs->ip - INT3_INSN_SIZE;

	if (is_unexecuted_int3(regs) ||
	    (IS_ENABLED(CONFIG_OPTPROBES) &&
	     kprobe_detour_entered_for(READ_ONCE_NOCHECK(regs->orig_ax)) == addr))
		return addr;

	return arch_kprobe_original_ip(regs->ip);
}

NOKPROBE_SYMBOL(arch_kprobe_regs_ip);
#endif

/**
 * arch_kprobe_original_ip() - where the original of copied code is
 * @ip: an instruction pointer
 *
 * Context: Any, with RCU watching.
 * Return: the address in the probed code that a copy or a detour at @ip stands
 * for; @ip itself when it is in neither.
 */
unsigned long arch_kprobe_original_ip(unsigned long ip)
{
	return where_is(ip).original;
}

NOKPROBE_SYMBOL(arch_kprobe_original_ip);

/**
 * arch_kprobe_original_sp() - the stack pointer that the original would have
 * @ip: an instruction pointer
 * @sp: the stack pointer there
 *
 * A copy has the stack of its original, but a detour saves something there.
 *
 * Context: Any, with RCU watching.
 * Return: the stack pointer that goes with arch_kprobe_original_ip().
 */
unsigned long arch_kprobe_original_sp(unsigned long ip, unsigned long sp)
{
	return sp + where_is(ip).frame;
}

NOKPROBE_SYMBOL(arch_kprobe_original_sp);

/*
 * A fault in a copy for post_handlers of the probe at @addr ends the hit, if it belongs to the
 * current one: not after kprobe_enter_fault_copy(), as that hit is over.
 */
static void leave_post_copy(unsigned long addr, struct pt_regs *regs)
{
	struct kprobe *p = preemptible() ? NULL : kprobe_running();

	regs->orig_ax = addr;
	if (p && p->addr == (kprobe_opcode_t *)addr) {
		restore_if(regs);
		kprobe_hit_end(true);
	}
}

NOKPROBE_SYMBOL(leave_post_copy);

/**
 * arch_kprobe_leave_copy() - move a fault in a copy to the probed instruction
 * @regs: registers at the fault, in the kernel
 *
 * orig_ax, unused for kernel faults, gets the address if a post_handler waits;
 * arch_kprobe_fixed_up() reads it.
 *
 * Context: An exception, before anything is done about it.
 */
void arch_kprobe_leave_copy(struct pt_regs *regs)
{
	unsigned long addr, ip = regs->ip;
	struct slot *slot = kprobe_insn_slot_at(ip);

	if (likely(!is_kprobe_insn_slot(ip))) {
		addr = IS_ENABLED(CONFIG_OPTPROBES) ? kprobe_detour_leave_copy(regs, false) : 0;
		if (addr)
			leave_post_copy(addr, regs);
		return;
	}

	/* The jump after the copy does not fault. */
	if (ip != (unsigned long)slot->back && ip != (unsigned long)slot->post)
		return;

	regs->ip = slot->addr;
	if (ip == (unsigned long)slot->post)
		leave_post_copy(slot->addr, regs);
}

NOKPROBE_SYMBOL(arch_kprobe_leave_copy);

/**
 * arch_kprobe_fixed_up() - a fault was fixed up by an exception table
 * @regs: registers after the fixup
 * @ip: instruction that faulted, not its copy
 *
 * The instruction is over for the probed code, and so it is for a post_handler. The task
 * may have slept in the fault, and the breakpoint may have been written meanwhile, or the
 * hit may have been missed: only a fault that arch_kprobe_leave_copy() has moved from the
 * copy for post_handlers, and marked in orig_ax, ends a hit with a post_handler.
 *
 * Context: An exception.
 */
void arch_kprobe_fixed_up(struct pt_regs *regs, unsigned long ip)
{
	unsigned long fixup = regs->ip;
	struct kprobe *p;

	if (likely(regs->orig_ax != ip))
		return;

	guard(preempt_notrace)();
	p = get_kprobe((kprobe_opcode_t *)ip);
	/* Does the text have a breakpoint or a jump of the probe? */
	if (unlikely(p) && !kprobe_ftrace(p) &&
	    (p->flags & KPROBE_FLAG_OPTIMIZED || kprobe_text_is_int3(ip))) {
		kprobe_hit_fixed_up(ip, regs, 0);
		follow_handler(regs, fixup);
	}
}

NOKPROBE_SYMBOL(arch_kprobe_fixed_up);

#ifdef CONFIG_KPROBES_FAULT_HANDLER
/*
 * For fault handlers, which see only the probed code: unlike arch_kprobe_leave_copy(), move a
 * fault whether or not it has a fixup.
 */
void arch_kprobe_leave_detour(struct pt_regs *regs)
{
	if (IS_ENABLED(CONFIG_OPTPROBES))
		kprobe_detour_leave_copy(regs, true);
}

NOKPROBE_SYMBOL(arch_kprobe_leave_detour);

/* A fault handler has set the instruction at which to continue. */
void arch_kprobe_resume(struct pt_regs *regs)
{
	kprobe_detour_enter(regs->ip, regs);
}

NOKPROBE_SYMBOL(arch_kprobe_resume);
#endif
