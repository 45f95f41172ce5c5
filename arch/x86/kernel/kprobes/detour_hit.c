// SPDX-License-Identifier: GPL-2.0-only
/* Hits by a jump: the part that entry.S leaves to C. */
#include <linux/build_bug.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>

#include "common.h"
#include "copy.h"
#include "detour.h"
#include "emulate.h"

/* entry.S relies on these offsets. */
static_assert(offsetof(struct kprobe, addr) == KPROBE_ADDR);
static_assert(offsetof(struct kprobe, hit_pre) == KPROBE_HIT_PRE);
static_assert(offsetof(struct kprobe, post_handler) == KPROBE_POST_HANDLER);
static_assert(offsetof(struct kprobe, handler_probe) == KPROBE_HANDLER_PROBE);
static_assert(offsetof(struct kprobe_ctlblk, context) == KPROBE_CONTEXT);
static_assert(offsetof(struct kprobe_ctlblk, saved_flags) == KPROBE_SAVED_FLAGS);
static_assert(offsetof(struct kprobe_ctlblk, called) == KPROBE_CALLED);
static_assert(offsetof(struct pcpu_hot, preempt_count) == PCPU_PREEMPT_COUNT);

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

/*
 * As kprobe_call_pre_handler(), and record whose post_handler the post way has to call. Return 1
 * to continue as @regs say, 2 to continue in the post way.
 */
static __always_inline int call_pre_handler(struct kprobe *p, struct pt_regs *regs)
{
	struct kprobe *called = READ_ONCE(p->handler_probe);

	__this_cpu_write(kprobe_ctlblk.called, called);

	return called->hit_pre(called, regs) ? 1 : 2;
}

/*
 * Called by kprobe_detour_pre_entry() when this CPU handles another hit. Return as
 * call_pre_handler(), or 0 to continue in the detour without a post_handler.
 */
__visible int kprobe_detour_nested_pre(struct kprobe *p, struct pt_regs *regs)
{
	if (!kprobe_hit_nested(p, 0))
		return 0;

	return call_pre_handler(p, regs);
}

NOKPROBE_SYMBOL(kprobe_detour_nested_pre);

#ifdef CONFIG_CFI_CLANG
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
 * say. The end of the post way leads behind the instruction without an IRET.
 */
__visible unsigned long kprobe_detour_emulate(struct pt_regs *regs, unsigned long ret)
{
	struct detour *detour = (struct detour *)(ret - DETOUR_RETURN);
	struct kprobe *p = &detour->op->kp;

	if (kprobe_emulation_pushes(p) && !has_room_to_push(regs))
		return stay_in_detour(detour, DETOUR_RETURN);

	if (!kprobe_emulate_any(p, regs)) {
		kprobe_enter_fault_copy(p, regs);
		leave_detour(regs);
		return 0;
	}

	regs->orig_ax = 0;	/* see arch_kprobe_regs_ip() */
	kprobe_call_post_handler(__this_cpu_read(kprobe_ctlblk.called), regs);
	if (regs->ip != ip_behind(p)) {
		leave_detour(regs);
		return 0;
	}

	return stay_in_detour(detour, DETOUR_POST_RETURN);
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

/* Begin a hit, nested or not; return as kprobe_detour_nested_pre(). */
static int begin_pre(struct kprobe *p, struct pt_regs *regs)
{
	if (unlikely(kprobe_running()))
		return kprobe_detour_nested_pre(p, regs);

	kprobe_hit_begin(p);

	return call_pre_handler(p, regs);
}

NOKPROBE_SYMBOL(begin_pre);

/* As kprobe_enter_post_copy(): the probe stays current, and the task on its CPU. */
static unsigned long enter_post_way(struct kprobe *p, struct pt_regs *regs)
{
	clear_if(regs);
	raw_local_irq_disable();
	preempt_enable_no_resched_notrace();

	return (unsigned long)optinsn_of(p)->insn + optinsn_of(p)->post;
}

NOKPROBE_SYMBOL(enter_post_way);

/*
 * All that kprobe_detour_pre_entry() does itself on 64 bits. Return where in the slot to
 * continue, 0 to continue as @regs say.
 */
__visible unsigned long kprobe_detour_hit_pre(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long ret = (unsigned long)optinsn_of(p)->insn + DETOUR_RETURN;

	preempt_disable_notrace();
	switch (begin_pre(p, regs)) {
	case 0:
		preempt_enable_notrace();
		return ret;
	case 1:
		kprobe_detour_elsewhere(regs);
		return 0;
	default:
		if (optinsn_of(p)->post == DETOUR_POST_RETURN)
			return kprobe_detour_emulate(regs, ret);
		return enter_post_way(p, regs);
	}
}

NOKPROBE_SYMBOL(kprobe_detour_hit_pre);

/*
 * Called by kprobe_detour_post_entry() with interrupts off: set up the conditions that
 * there were before the copy. Return 0 to continue in the detour, otherwise continue as
 * @regs say.
 */
__visible int kprobe_detour_post(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long ip = ip_behind(p);

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
