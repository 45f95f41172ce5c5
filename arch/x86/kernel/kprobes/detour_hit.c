// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hit by a jump, as far as entry.S leaves it to C.
 */
#include <linux/build_bug.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>

#include "detour.h"

/* What entry.S knows. */
static_assert(offsetof(struct kprobe, addr) == KPROBE_ADDR);
static_assert(offsetof(struct kprobe, pre_handler) == KPROBE_PRE_HANDLER);
static_assert(offsetof(struct kprobe, callee) == KPROBE_CALLEE);
static_assert(offsetof(struct kprobe_ctlblk, context) == KPROBE_CONTEXT);
static_assert(offsetof(struct pcpu_hot, preempt_count) == PCPU_PREEMPT_COUNT);

/*
 * From kprobe_detour_entry() when this CPU handles another hit. Returns 0 to go
 * on in the detour, something else to go to where @regs say.
 */
__visible int kprobe_detour_nested(struct kprobe *p, struct pt_regs *regs)
{
	int ret;

	if (!kprobe_hit_interrupt(p, 0)) {
		kprobes_inc_nmissed_count(p);
		return 0;
	}

	ret = hit_pre_handler(p, regs);
	/* Else the hit ends elsewhere. */
	if (!ret)
		kprobe_hit_resume();

	return ret;
}

NOKPROBE_SYMBOL(kprobe_detour_nested);

#ifdef CONFIG_CFI_CLANG
/* From kprobe_detour_entry(), which cannot call functions by pointer itself. */
__visible int kprobe_detour_call(struct kprobe *callee, struct pt_regs *regs)
{
	return callee->pre_handler(callee, regs);
}

NOKPROBE_SYMBOL(kprobe_detour_call);
#endif

#ifdef CONFIG_PREEMPTION
/* Which function this calls, if any, may be up to the boot. */
__visible void kprobe_detour_preempt(void)
{
	__preempt_schedule_notrace();
}

NOKPROBE_SYMBOL(kprobe_detour_preempt);
#endif

/* Did the hit with these registers, before any handler saw them, come by the detour? */
bool arch_hit_in_detour(struct kprobe *p, const struct pt_regs *regs)
{
	return regs->orig_ax == (unsigned long)optinsn_of(p)->insn + DETOUR_RETURN;
}

NOKPROBE_SYMBOL(arch_hit_in_detour);

/*
 * A hit for which there is a post_handler goes on in the slot, but elsewhere. Until it
 * does so its ip is that of the copy of the post way, or of the jump at its end: where it
 * would go on if the stack pointer was what the registers say.
 */
#define DETOUR_POST_END	(DETOUR_POST_RETURN + DETOUR_UNFRAME)

/* Between registers and stack there is one word, which a handler may have taken. */
static __always_inline bool has_room_to_push(const struct pt_regs *regs)
{
	return regs->sp > (unsigned long)&regs->sp + sizeof(long);
}

/*
 * Where it is emulated the instruction is done here. If it does not go away the end of the
 * post way leads behind it, which does not take an IRET.
 */
static int emulate_in_detour(struct kprobe *p, struct pt_regs *regs)
{
	kprobe_post_handler_t post;

	if (kprobe_emulation_pushes(p) && !has_room_to_push(regs))
		return 0;
	if (!kprobe_emulate_any(p, regs)) {
		kprobe_enter_fault_copy(p, regs);
		return 1;
	}

	regs->orig_ax = 0;	/* see arch_kprobe_regs_ip() */
	post = READ_ONCE(p->post_handler);
	if (post)
		post(p, regs, 0);
	if (regs->ip == ip_behind(p))
		regs->ip = (unsigned long)optinsn_of(p)->insn + DETOUR_POST_END;

	return 1;
}

NOKPROBE_SYMBOL(emulate_in_detour);

/*
 * From kprobe_hit_all_handlers(): choose how to go on when a post_handler is to be called. A
 * detour without a post way may be hit until its jump is gone; then no pre_handler has
 * been called that belongs to a post_handler.
 */
int arch_detour_post(struct kprobe *p, struct pt_regs *regs)
{
	const struct arch_optimized_insn *optinsn = optinsn_of(p);

	if (!optinsn->post)
		return 0;
	if (optinsn->post == DETOUR_POST_RETURN)
		return emulate_in_detour(p, regs);
	regs->ip = (unsigned long)optinsn->insn + post_copy(optinsn->post);

	return 1;
}

NOKPROBE_SYMBOL(arch_detour_post);

/* As kprobe_enter_post_copy(): the probe stays current, and the CPU with it. */
static unsigned long enter_post_way(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long way = regs->ip - DETOUR_UNFRAME;

	regs->ip = (unsigned long)p->addr + INT3_INSN_SIZE;
	__this_cpu_write(kprobe_ctlblk.saved_if, regs->flags & X86_EFLAGS_IF);
	regs->flags &= ~X86_EFLAGS_IF;
	raw_local_irq_disable();
	preempt_enable_no_resched_notrace();

	return way;
}

NOKPROBE_SYMBOL(enter_post_way);

/* The rest of the hit of an emulated instruction, and of one that goes anywhere. */
static unsigned long leave_detour(struct kprobe *p, struct pt_regs *regs, unsigned long end)
{
	bool ends = regs->ip == end;

	hit_end(true);
	if (ends)
		regs->ip = ip_behind(p);
	else
		kprobe_detour_enter(regs->ip, regs);
	preempt_enable_notrace();

	return ends ? end - DETOUR_UNFRAME : 0;
}

NOKPROBE_SYMBOL(leave_detour);

/*
 * From kprobe_detour_entry(), which goes on at @ret, when a handler wants to go on
 * elsewhere, or a post_handler is to be called. Returns where in the slot to go on, 0 to
 * go where @regs say. The flags of a guest of Xen say that interrupts are on, and IRET
 * believes it.
 */
__visible unsigned long kprobe_detour_elsewhere(struct pt_regs *regs, unsigned long ret)
{
	struct detour *detour = (struct detour *)(ret - DETOUR_RETURN);
	unsigned int copy = post_copy(detour->op->optinsn.post);
	struct kprobe *p = &detour->op->kp;

	if (cpu_feature_enabled(X86_FEATURE_XENPV) && irqs_disabled())
		regs->flags &= ~X86_EFLAGS_IF;

	if (copy && regs->ip == (unsigned long)detour + copy)
		return enter_post_way(p, regs);

	return leave_detour(p, regs, (unsigned long)detour + DETOUR_POST_END);
}

NOKPROBE_SYMBOL(kprobe_detour_elsewhere);

/*
 * From kprobe_detour_post_entry(), interrupts off: the same conditions as before the
 * copy. Returns 0 to go on in the detour, something else to go to where @regs say.
 */
__visible int kprobe_detour_post(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long ip = ip_behind(p);

	preempt_disable_notrace();
	restore_if(regs);
	if (regs->flags & X86_EFLAGS_IF)
		raw_local_irq_enable();

	regs->ip = ip;
	hit_finish(p, regs, true);
	follow_handler(regs, ip);
	preempt_enable_notrace();

	return regs->ip != ip;
}

NOKPROBE_SYMBOL(kprobe_detour_post);

#ifdef CONFIG_X86_32
/* A hit that goes on elsewhere ends there, and does not come back from here. */
static __always_inline void leave_if(int ret, struct kprobe *p, struct pt_regs *regs)
{
	if (unlikely(ret))
		kprobe_detour_leave(regs, (unsigned long)optinsn_of(p)->insn + DETOUR_RETURN);
}

/* All that kprobe_detour_entry() does itself on 64 bits. */
__visible void kprobe_detour_hit(struct kprobe *p, struct pt_regs *regs)
{
	preempt_disable_notrace();
	if (unlikely(kprobe_running())) {
		leave_if(kprobe_detour_nested(p, regs), p, regs);
	} else {
		hit_begin(p);
		leave_if(hit_pre_handler(p, regs), p, regs);
		reset_current_kprobe();
	}
	preempt_enable_notrace();
}

NOKPROBE_SYMBOL(kprobe_detour_hit);
#endif
