// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps between the probed code and a detour: the instruction that a place in a detour
 * stands for, the place in a detour that executes an instruction, and the bytes that a
 * jump has replaced.
 */
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "copy.h"

/* Most bytes between the start of a jump and its probe. Never falls. */
unsigned int kprobe_lead_max;

/* Returns 0 until a jump begins before its probe. */
unsigned int arch_jump_lead_max(void)
{
	/* Pairs with the release in arch_prepare_optimized_kprobe(). */
	return smp_load_acquire(&kprobe_lead_max);
}

NOKPROBE_SYMBOL(arch_jump_lead_max);

/*
 * Does the jump of @p replace text at @addr, or would it? arch_prepare_optimized_kprobe() says last
 * that it is ready, and never takes that back.
 */
static notrace bool jump_covers(struct kprobe *p, unsigned long addr)
{
	/* The acquire pairs with the release in arch_prepare_optimized_kprobe(). */
	return !kprobe_ftrace(p) && smp_load_acquire(&optinsn_of(p)->ready) &&
	       addr - jump_addr(p) < JMP32_INSN_SIZE;
}

NOKPROBE_SYMBOL(jump_covers);

/* Does @bytes contain @byte? */
static __always_inline bool has_byte(u64 bytes, u8 byte)
{
	const u64 ones = 0x0101010101010101ULL;
	u64 differs = bytes ^ (ones * byte);

	return (differs - ones) & ~differs & (ones << 7);
}

/* Bytes before an instruction that are searched for a jump: a few more than needed. */
#define TEXT_BEFORE	(sizeof(u64) - 1)
static_assert(sizeof(u64) >= JMP32_INSN_SIZE);

/*
 * Replace in @buf, read from @addr, the bytes of all jumps that may be there. @text ends with the
 * byte at @addr.
 */
static notrace void undo_jumps(u8 *buf, unsigned long addr, size_t len, const u8 *text)
{
	unsigned long probe = addr - JMP32_INSN_SIZE + 1, last = addr + arch_jump_lead_max();
	struct kprobe *p;
	unsigned int at;
	u8 first;

	if (!kprobes_near(probe, last))
		return;
	for (; probe <= last; probe++) {
		p = get_kprobe((kprobe_opcode_t *)probe);
		if (!p || !jump_covers(p, addr))
			continue;
		at = addr - jump_addr(p);
		first = text[TEXT_BEFORE - at];
		if (first == JMP32_INSN_OPCODE || first == INT3_INSN_OPCODE)
			memcpy(buf, optinsn_of(p)->original + at,
			       min_t(size_t, len, JMP32_INSN_SIZE - at));
	}
}

NOKPROBE_SYMBOL(undo_jumps);

/*
 * Replace in @buf, read from @addr, the bytes of jumps to detours. Mostly no byte nearby
 * could begin a jump. Padding could, but mostly has no probe.
 */
notrace void kprobe_detour_undo(u8 *buf, unsigned long addr, size_t len)
{
	u64 text;

	/* The text may begin at @addr: then assume that a jump may begin at each place. */
	if (copy_from_kernel_nofault(&text, (void *)addr - TEXT_BEFORE, sizeof(text)))
		memset(&text, INT3_INSN_OPCODE, sizeof(text));

	if (has_byte(text, JMP32_INSN_OPCODE) || has_byte(text, INT3_INSN_OPCODE))
		undo_jumps(buf, addr, len, (const u8 *)&text);
}

NOKPROBE_SYMBOL(kprobe_detour_undo);

/*
 * Return where in the detour to continue for @addr, which the jump of @p covers; 0 if the
 * jump is not planned, or if another detour has the copy that runs. At the probe itself
 * its handlers have to be called, unless the jump begins there.
 */
static unsigned long place_in_detour(struct kprobe *p, unsigned long addr)
{
	const struct arch_optimized_insn *optinsn = optinsn_of(p);
	unsigned int at = addr - jump_addr(p), copy = optinsn->copy_at[at];

	if (!detour_is_fenced(p))
		return 0;
	if (addr == (unsigned long)p->addr)
		return optinsn->lead || optinsn->chained ? detour_entry(optinsn) : 0;
	/* Inside of an instruction, and in padding, no copy starts. */
	if (!copy || at >= optinsn->to || (optinsn->chained && at < optinsn->lead))
		return 0;

	return (unsigned long)optinsn->insn + copy;
}

NOKPROBE_SYMBOL(place_in_detour);

/*
 * Continue in the detour if a jump replaces text at @addr, where a breakpoint at its start was
 * hit or a handler wants to continue.
 */
bool kprobe_detour_enter(unsigned long addr, struct pt_regs *regs)
{
	unsigned long probe = addr + arch_jump_lead_max(), copy = 0;
	struct kprobe *p;

	for (; probe > addr - JMP32_INSN_SIZE && !copy; probe--) {
		p = get_kprobe((kprobe_opcode_t *)probe);
		if (p && jump_covers(p, addr))
			copy = place_in_detour(p, addr);
	}
	if (!copy)
		return false;
	regs->ip = copy;

	return true;
}

NOKPROBE_SYMBOL(kprobe_detour_enter);

/*
 * Return the offset of the instruction whose copy is at @pos in the slot, or before. The
 * call of the handlers, and the jump to it, stand for the probed one, whose copy is the first.
 */
static unsigned int copied_insn(const struct arch_optimized_insn *optinsn, unsigned int pos)
{
	unsigned int at, copy, found = optinsn->lead;

	if (optinsn->enter && pos >= optinsn->enter)
		return found;

	for (at = 0; at < ARRAY_SIZE(optinsn->copy_at); at++) {
		copy = optinsn->copy_at[at];
		if (copy > optinsn->copy_at[found] && copy <= pos)
			found = at;
	}

	return found;
}

NOKPROBE_SYMBOL(copied_insn);

#ifdef CONFIG_X86_64
/* Bytes of the frame on the stack before each of these instructions. */
static const u8 frame_size_at[DETOUR_COPIES] = {
	[8 + 1] = 8, [8 + 4] = 16, [8 + 5] = 24, [8 + 7] = 32, [8 + 12] = 40,
#if DETOUR_DROPS
	[DETOUR_RETURN] = 40,
#endif
	[DETOUR_RETURN + DETOUR_DROPS] = 24, [DETOUR_RETURN + DETOUR_DROPS + 1] = 16,
};
#else
static const u8 frame_size_at[DETOUR_COPIES];
#endif

/* Return how many bytes of the frame are on the stack at @pos in the slot. */
static unsigned int frame_size(const struct arch_optimized_insn *optinsn, unsigned int pos)
{
	unsigned int post = optinsn->post;

	if (post && pos >= post) {
		if (pos < post + DETOUR_UNFRAME)
			pos += DETOUR_RETURN - post;
		else if (pos >= DETOUR_POST_RETURN - POST_CALL_SIZE)
			pos += DETOUR_RETURN - DETOUR_POST_RETURN;
	}

	return pos < DETOUR_COPIES ? frame_size_at[pos] : 0;
}

NOKPROBE_SYMBOL(frame_size);

/**
 * kprobe_detour_where() - what an address in a detour stands for
 * @ip: an instruction pointer
 * @where: filled in if it is in a detour
 *
 * Context: Any, in a critical section of RCU, as an unwinder may pass a stale address, see
 * kprobe_optinsn_slot_of().
 */
void kprobe_detour_where(unsigned long ip, struct kprobe_where *where)
{
	struct detour *detour = (struct detour *)kprobe_optinsn_slot_of(ip);
	const struct arch_optimized_insn *optinsn;
	unsigned int at, pos;

	if (likely(!detour))
		return;

	optinsn = &detour->op->optinsn;
	pos = ip - (unsigned long)detour;
	at = copied_insn(optinsn, pos);
	where->frame = frame_size(optinsn, pos);
	if (optinsn->post && pos >= optinsn->post)
		where->insn = pos < DETOUR_POST_RETURN - POST_CALL_SIZE ?
			      (unsigned long)detour->op->kp.addr : ip_after(&detour->op->kp);
	else if (pos >= optinsn->back && pos < optinsn->back + JMP32_INSN_SIZE)
		where->insn = jump_addr(&detour->op->kp) + optinsn->len;
	else
		where->insn = jump_addr(&detour->op->kp) + at;

	where->original = where->insn;
	if (pos < optinsn->back && optinsn->calls & BIT(at) && pos > optinsn->copy_at[at])
		where->original = (unsigned long)kprobe_detour_callee;
}

NOKPROBE_SYMBOL(kprobe_detour_where);

/*
 * Return the probe whose detour has called kprobe_detour_entry() with the return address
 * @ret, before the instruction is executed; or 0.
 */
unsigned long kprobe_detour_entered_for(unsigned long ret)
{
	struct detour *detour;
	unsigned int pos;

	guard(rcu)();
	detour = (struct detour *)kprobe_optinsn_slot_of(ret);
	if (likely(!detour))
		return 0;

	pos = ret - (unsigned long)detour;
	if (pos != DETOUR_RETURN &&
	    (pos != detour->op->optinsn.post || pos == DETOUR_POST_RETURN))
		return 0;

	return (unsigned long)detour->op->kp.addr;
}

NOKPROBE_SYMBOL(kprobe_detour_entered_for);

static void leave_copy(struct detour *detour, struct pt_regs *regs, unsigned int pos, bool any)
{
	const struct arch_optimized_insn *optinsn = &detour->op->optinsn;
	unsigned int at = copied_insn(optinsn, pos), copy = optinsn->copy_at[at];

	if (!any && (at || !optinsn->fixed_up))
		return;

	/* A call that loads its target has already pushed its return address. */
	if (optinsn->calls & BIT(at) && pos == copy + PUSH_IMM32_SIZE) {
		regs->sp += sizeof(long);
		pos = copy;
	}
	/* To its start a fault in the copy of the post way has been moved first. */
	if (pos == copy || pos == offsetof(struct detour, code))
		regs->ip = jump_addr(&detour->op->kp) + at;
}

NOKPROBE_SYMBOL(leave_copy);

/*
 * Move a fault in a copy to the original, if that is in an exception table: the fault may
 * sleep, and it may be fixed up. Coming back, the task finds the jump or a trap. All
 * other faults are fatal, or are resolved at once and return to the copy. They are moved
 * only when @any is set.
 *
 * The copy of a post way is always left, because a post_handler waits after it. Return
 * the address of the probe if it was that copy, otherwise 0.
 */
unsigned long kprobe_detour_leave_copy(struct pt_regs *regs, bool any)
{
	struct detour *detour = (struct detour *)kprobe_optinsn_slot_of(regs->ip);
	unsigned long addr;
	unsigned int pos;

	if (likely(!detour))
		return 0;

	pos = regs->ip - (unsigned long)detour;
	if (pos != post_copy(detour->op->optinsn.post)) {
		leave_copy(detour, regs, pos, any);
		return 0;
	}
	addr = (unsigned long)detour->op->kp.addr;
	regs->ip = addr;
	/* Text without a fixup may be the middle of a jump, and the fault be resolved at once. */
	if (!any && (detour->op->optinsn.lead || !detour->op->optinsn.fixed_up))
		kprobe_detour_enter(addr, regs);

	return addr;
}

NOKPROBE_SYMBOL(kprobe_detour_leave_copy);

/* -- hits, as far as entry.S leaves them to C -- */

/* entry.S relies on these offsets. */
static_assert(offsetof(struct kprobe, hit_pre) == KPROBE_HIT_PRE);
static_assert(offsetof(struct kprobe, post_handler) == KPROBE_POST_HANDLER);
static_assert(offsetof(struct kprobe, handler_probe) == KPROBE_HANDLER_PROBE);
static_assert(offsetof(struct kprobe_ctlblk, context) == KPROBE_CONTEXT);
static_assert(offsetof(struct kprobe_ctlblk, saved_flags) == KPROBE_SAVED_FLAGS);
static_assert(offsetof(struct kprobe_ctlblk, called) == KPROBE_CALLED);

/*
 * Called by kprobe_detour_entry() when this CPU handles another hit. Return 0 to continue
 * in the detour, otherwise continue as @regs say.
 */
__visible int kprobe_detour_nested(struct kprobe *p, struct pt_regs *regs)
{
	int ret;

	if (!kprobe_hit_nested(p, 0))
		return 0;

	ret = kprobe_call_pre_handler(p, regs);
	/* Otherwise kprobe_detour_elsewhere() ends the hit. */
	if (!ret)
		kprobe_hit_pop();

	return ret;
}

NOKPROBE_SYMBOL(kprobe_detour_nested);

#ifdef CONFIG_KPROBES_CFI
/* Called by kprobe_detour_entry(), which cannot call by pointer itself. */
__visible int kprobe_detour_call(struct kprobe *called, struct pt_regs *regs)
{
	return called->hit_pre(called, regs);
}

NOKPROBE_SYMBOL(kprobe_detour_call);

/* The same for kprobe_detour_post_entry(). */
__visible void kprobe_detour_call_post(struct kprobe *called, struct pt_regs *regs)
{
	kprobe_call_post_handler(called, regs);
}

NOKPROBE_SYMBOL(kprobe_detour_call_post);
#endif

#ifdef CONFIG_PREEMPTION
/* The function that this calls, if any, may be decided at boot. */
__visible void kprobe_detour_preempt(void)
{
	__preempt_schedule_notrace();
}

NOKPROBE_SYMBOL(kprobe_detour_preempt);
#endif

/* There is one word between registers and stack, which a handler may have used. */
static __always_inline bool has_room_to_push(const struct pt_regs *regs)
{
	return regs->sp > (unsigned long)&regs->sp + sizeof(long);
}

/* A handler has set another ip, and the hit is over. */
__visible void kprobe_detour_follow(struct pt_regs *regs)
{
	kprobe_detour_enter(regs->ip, regs);
	preempt_enable_notrace();
}

NOKPROBE_SYMBOL(kprobe_detour_follow);

static __always_inline void leave_detour(struct pt_regs *regs)
{
	kprobe_hit_end(true);
	kprobe_detour_follow(regs);
}

/* The hit is over; continue at @offset in the slot. */
static __always_inline unsigned long stay_in_detour(struct detour *detour, unsigned int offset)
{
	kprobe_hit_end(true);
	preempt_enable_notrace();

	return (unsigned long)detour + offset;
}

/*
 * Called by kprobe_detour_pre_entry(), with its return address in @ret, when the
 * instruction is emulated. Return where in the slot to continue, 0 to continue as @regs
 * say. The end of the post way leads after the instruction without an IRET.
 */
__visible unsigned long kprobe_detour_emulate(struct pt_regs *regs, unsigned long ret)
{
	struct detour *detour = (struct detour *)(ret - DETOUR_RETURN);
	struct kprobe *p = &detour->op->kp;

	if (kprobe_emulation_pushes(p) && !has_room_to_push(regs))
		return stay_in_detour(detour, DETOUR_RETURN);

	if (kprobe_emulate_any(p, regs)) {
		regs->orig_ax = 0;	/* see arch_kprobe_regs_ip() */
		kprobe_call_post_handler(__this_cpu_read(kprobe_ctlblk.called), regs);
		if (regs->ip == ip_after(p))
			return stay_in_detour(detour, DETOUR_POST_RETURN);
	} else {
		kprobe_enter_fault_copy(p, regs);
	}
	leave_detour(regs);

	return 0;
}

NOKPROBE_SYMBOL(kprobe_detour_emulate);

/* In a Xen guest the saved flags say that interrupts are on, and IRET acts on that. */
__visible void kprobe_detour_elsewhere(struct pt_regs *regs)
{
	if (cpu_feature_enabled(X86_FEATURE_XENPV) && irqs_disabled())
		regs->flags &= ~X86_EFLAGS_IF;

	leave_detour(regs);
}

NOKPROBE_SYMBOL(kprobe_detour_elsewhere);

#ifdef CONFIG_X86_32
/* A hit that continues elsewhere ends there, and does not return from here. */
static __always_inline void detour_leave_if(int ret, struct pt_regs *regs)
{
	if (unlikely(ret))
		kprobe_detour_leave(regs);
}

/* All that kprobe_detour_entry() does itself on 64 bits. */
__visible void kprobe_detour_hit(struct kprobe *p, struct pt_regs *regs)
{
	preempt_disable_notrace();
	if (unlikely(kprobe_running())) {
		detour_leave_if(kprobe_detour_nested(p, regs), regs);
	} else {
		kprobe_hit_begin(p);
		detour_leave_if(kprobe_call_pre_handler(p, regs), regs);
		reset_current_kprobe();
	}
	preempt_enable_notrace();
}

NOKPROBE_SYMBOL(kprobe_detour_hit);

/*
 * All that kprobe_detour_pre_entry() does itself on 64 bits. Return where in the slot to
 * continue, 0 to continue as @regs say.
 */
__visible unsigned long kprobe_detour_hit_pre(struct kprobe *p, struct pt_regs *regs)
{
	const struct arch_optimized_insn *optinsn = optinsn_of(p);
	unsigned long ret = (unsigned long)optinsn->insn + DETOUR_RETURN;
	struct kprobe *called;

	preempt_disable_notrace();
	if (likely(!kprobe_running())) {
		kprobe_hit_begin(p);
	} else if (!kprobe_hit_nested(p, 0)) {
		preempt_enable_notrace();
		return ret;
	}

	/* As kprobe_call_pre_handler(), and record whose post_handler the post way has to call. */
	called = READ_ONCE(p->handler_probe);
	__this_cpu_write(kprobe_ctlblk.called, called);
	if (called->hit_pre(called, regs)) {
		kprobe_detour_elsewhere(regs);
		return 0;
	}
	if (optinsn->post == DETOUR_POST_RETURN)
		return kprobe_detour_emulate(regs, ret);

	/* As kprobe_enter_post_copy(): the probe stays current, and the task on its CPU. */
	clear_if(regs);
	raw_local_irq_disable();
	preempt_enable_no_resched_notrace();

	return (unsigned long)optinsn->insn + optinsn->post;
}

NOKPROBE_SYMBOL(kprobe_detour_hit_pre);

/*
 * Called by kprobe_detour_post_entry() with interrupts off: set up the conditions that
 * there were before the copy. Return 0 to continue in the detour, otherwise continue as
 * @regs say.
 */
__visible int kprobe_detour_post(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long ip = ip_after(p);

	preempt_disable_notrace();
	restore_if(regs);
	if (regs->flags & X86_EFLAGS_IF)
		raw_local_irq_enable();

	regs->ip = ip;
	kprobe_call_post_handler(__this_cpu_read(kprobe_ctlblk.called), regs);
	kprobe_hit_end(true);
	follow_handler(regs, ip);
	preempt_enable_notrace();

	return regs->ip != ip;
}

NOKPROBE_SYMBOL(kprobe_detour_post);
#endif
