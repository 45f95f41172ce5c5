// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hits by a jump, and the end of those by a breakpoint whose second copy has run: the part
 * that entry.S leaves to C.
 *
 * Instructions that a breakpoint's trap emulates are emulated here too, so that the
 * first call of a detour can call the post_handler.
 */
#include <linux/array_size.h>
#include <linux/context_tracking.h>
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/stddef.h>

#include "common.h"

/* entry.S relies on these. */
static_assert(offsetof(struct optimized_kprobe, kp) == 0);
static_assert(offsetof(struct detour, copy) == DETOUR_COPY);
static_assert(offsetof(struct detour, after) == DETOUR_AFTER);

/* The bits of PSTATE that a detour restores without an exception. */
#define PSR_FLAGS	(PSR_N_BIT | PSR_Z_BIT | PSR_C_BIT | PSR_V_BIT)

/* If a handler changed other bits of PSTATE, kprobe_detour_elsewhere() has to load them. */
static __always_inline bool can_stay(const struct pt_regs *regs, unsigned long pstate)
{
	return !((regs->pstate ^ pstate) & ~PSR_FLAGS);
}

/*
 * Return @copy to continue there, or 0 if only kprobe_detour_leave() can. That releases the
 * room, so it skips the instructions at @copy that do.
 */
static __always_inline unsigned long detour_go_on(const __le32 *copy, struct pt_regs *regs,
						  unsigned long pstate)
{
	if (likely(can_stay(regs, pstate)))
		return (unsigned long)copy;
	regs->pc = (unsigned long)(copy + RELEASE_INSNS);

	return 0;
}

/*
 * The instruction has been emulated. No exception is needed if the hit continues after
 * the instruction, or if executing the copy has the same result as the emulation.
 */
static unsigned long detour_go_on_emulated(struct detour *d, struct pt_regs *regs,
					   unsigned long pstate)
{
	unsigned long pc = regs->pc, lr = regs->regs[30];
	struct kprobe *p = &d->op->kp;

	if (!can_stay(regs, pstate))
		return 0;
	if (pc == pc_after(p))
		return (unsigned long)d->after;

	/* Emulate it again: a post_handler may have changed the registers that it reads. */
	p->ainsn.api.handler(p->opcode, (long)p->addr, regs);
	if (regs->pc == pc && regs->regs[30] == lr && can_stay(regs, pstate))
		return (unsigned long)d->copy;
	regs->pc = pc;
	regs->regs[30] = lr;

	return 0;
}

NOKPROBE_SYMBOL(detour_go_on_emulated);

/* Mask interrupts and continue at the second copy, as kprobe_enter_post_copy() in a trap. */
static unsigned long enter_post(struct detour *d, struct pt_regs *regs, unsigned long pstate)
{
	unsigned long place = detour_go_on(d->post, regs, pstate);

	mask_daif(regs);
	write_sysreg(regs->pstate & DAIF_MASK, daif);

	return place;
}

NOKPROBE_SYMBOL(enter_post);

static noinline unsigned long do_insn_and_call(struct detour *d, struct pt_regs *regs,
					       unsigned long pstate)
{
	struct kprobe *p = &d->op->kp;

	/* The probe stays current until the copy has run. */
	if (!p->ainsn.api.handler)
		return enter_post(d, regs, pstate);

	p->ainsn.api.handler(p->opcode, (long)p->addr, regs);
	kprobe_hit_finish(p, regs, true);

	return detour_go_on_emulated(d, regs, pstate);
}

NOKPROBE_SYMBOL(do_insn_and_call);

/* Handle a hit whose probe is current already, as hit_handle() does. */
static __always_inline unsigned long do_detour(struct detour *d, struct pt_regs *regs,
					       struct kprobe_hit_place here, bool nested)
{
	unsigned long pstate = regs->pstate;
	struct kprobe *p = &d->op->kp;

	if (kprobe_call_pre_handler(p, regs)) {
		kprobe_hit_end_here(here, nested);
		return 0;
	}

	/* A member with a post_handler may come or go at any time. */
	if (unlikely(READ_ONCE(p->post_handler)))
		return do_insn_and_call(d, regs, pstate);

	kprobe_hit_end_here(here, nested);

	return detour_go_on(d->copy, regs, pstate);
}

/* Handle a hit that interrupts another on this CPU; compare hit_nested(). */
static noinline unsigned long nested_detour(struct detour *d, struct pt_regs *regs)
{
	struct kprobe *p = &d->op->kp;

	if (kprobe_hit_nested(p, 0))
		return do_detour(d, regs, (struct kprobe_hit_place){}, true);

	return (unsigned long)d->copy;
}

NOKPROBE_SYMBOL(nested_detour);

static __always_inline unsigned long any_detour(struct detour *d, struct pt_regs *regs)
{
	if (unlikely(kprobe_running()))
		return nested_detour(d, regs);

	return do_detour(d, regs, kprobe_hit_begin(&d->op->kp), false);
}

/* RCU does not watch this CPU: a detour runs without the entry code of an exception. */
static noinline unsigned long detour_of_idle(struct detour *d, struct pt_regs *regs)
{
	unsigned long place;

	ct_nmi_enter();
	place = any_detour(d, regs);
	ct_nmi_exit();

	return place;
}

NOKPROBE_SYMBOL(detour_of_idle);

/* Tag Check Override, in the bit of PSR_TCO_BIT */
#define SYS_PSTATE_TCO	sys_reg(3, 3, 4, 2, 7)

/* Does the probed code access memory without having its tags checked? */
static __always_inline bool tags_are_unchecked(void)
{
	return IS_ENABLED(CONFIG_KASAN_HW_TAGS) && system_supports_mte() &&
	       (read_sysreg_s(SYS_PSTATE_TCO) & PSR_TCO_BIT);
}

/*
 * Only the entry of an exception saves some states of a preempted task: DAIF where
 * interrupts are masked by priority, and TCO. In these cases the next exception has to
 * preempt, not the end of the hit. So it has to for live patching: the probed function may not
 * have its frame yet, so its caller may be missing from the stack, and only an exception on the
 * stack tells that.
 */
static __always_inline bool may_preempt(const struct pt_regs *regs)
{
	if (IS_ENABLED(CONFIG_LIVEPATCH) || tags_are_unchecked())
		return false;

	return !system_uses_irq_prio_masking() || !(regs->pstate & DAIF_MASK);
}

static __always_inline void allow_preemption(const struct pt_regs *regs)
{
	if (may_preempt(regs))
		preempt_enable_notrace();
	else
		preempt_enable_no_resched_notrace();
}

/**
 * struct detour_exit - target of a hit that leaves its detour by a trap
 * @pc: address to continue at
 * @pstate: PSTATE to load there
 */
struct detour_exit {
	unsigned long pc;
	unsigned long pstate;
};

/*
 * A stack: tracers in the trap's entry may be hit and leave by a trap before the first target
 * is read.
 */
static DEFINE_PER_CPU(struct detour_exit [4], detour_exits);
static DEFINE_PER_CPU(unsigned int, nr_detour_exits);

static __always_inline struct detour_exit *detour_exit_at(unsigned int i)
{
	return raw_cpu_ptr(detour_exits) + min(i, ARRAY_SIZE(detour_exits) - 1U);
}

/*
 * Interrupts stay off until the trap, which has to be on the same CPU: the return from an
 * exception does not load sp, so by then the room with the registers has been released.
 */
static noinline unsigned long leave_detour(const struct pt_regs *regs)
{
	struct detour_exit *exit;

	write_sysreg(read_sysreg(daif) | PSR_I_BIT | PSR_F_BIT, daif);
	exit = detour_exit_at(raw_cpu_inc_return(nr_detour_exits) - 1);
	exit->pc = regs->pc;
	exit->pstate = regs->pstate;

	return (unsigned long)kprobe_detour_leave;
}

NOKPROBE_SYMBOL(leave_detour);

static __always_inline void save_pmr(struct pt_regs *regs)
{
	if (system_uses_irq_prio_masking())
		kprobe_regs_pmr(regs) = read_sysreg_s(SYS_ICC_PMR_EL1);
}

/* Interrupts are masked in DAIF: tell lockdep, and handlers. Return what lockdep knew. */
static __always_inline bool begin_masked(void)
{
	bool enabled = lockdep_hardirqs_enabled();

	/* Where interrupts are masked by priority, handlers look there, not at DAIF. */
	if (system_uses_irq_prio_masking())
		gic_write_pmr(GIC_PRIO_IRQON | GIC_PRIO_PSR_I_SET);
	lockdep_hardirqs_off(CALLER_ADDR0);

	return enabled;
}

static __always_inline void end_masked(bool enabled, const struct pt_regs *regs)
{
	if (enabled) {
		lockdep_hardirqs_on_prepare();
		lockdep_hardirqs_on(CALLER_ADDR0);
	}
	if (system_uses_irq_prio_masking())
		gic_write_pmr(kprobe_regs_pmr(regs));
}

static noinline unsigned long detour_in_vectors(struct detour *d, struct pt_regs *regs)
{
	unsigned long place, mask = read_sysreg(daif);
	struct kprobe *outer = kprobe_running();
	bool enabled;

	write_sysreg(mask | PSR_I_BIT | PSR_F_BIT, daif);
	enabled = begin_masked();
	place = any_detour(d, regs);
	end_masked(enabled, regs);
	/* Otherwise the hit goes on in the second copy, see enter_post(). */
	if (kprobe_running() == outer)
		write_sysreg(mask, daif);

	return place;
}

NOKPROBE_SYMBOL(detour_in_vectors);

/**
 * kprobe_detour_hit() - handle a hit that entered a detour
 * @detour: the detour that has been entered
 * @regs: registers at the probed instruction
 *
 * Context: kprobe_detour_entry(), in any context that the probed code runs in.
 * Return: the part of the detour to continue at, or kprobe_detour_leave().
 */
asmlinkage unsigned long kprobe_detour_hit(struct detour *detour, struct pt_regs *regs)
{
	bool in_vectors = kprobe_vectors_in_use(), open = kprobe_close_user_memory(regs);
	unsigned long place;

	save_pmr(regs);
	preempt_disable_notrace();
	if (unlikely(!rcu_is_watching_curr_cpu()))
		place = detour_of_idle(detour, regs);
	else if (unlikely(in_vectors))
		place = detour_in_vectors(detour, regs);
	else
		place = any_detour(detour, regs);
	allow_preemption(regs);
	kprobe_reopen_user_memory(open);

	return likely(place) ? place : leave_detour(regs);
}

NOKPROBE_SYMBOL(kprobe_detour_hit);

static noinline void finish_masked(struct kprobe *p, struct pt_regs *regs)
{
	bool enabled = begin_masked();

	kprobe_hit_finish(p, regs, true);
	end_masked(enabled, regs);
}

NOKPROBE_SYMBOL(finish_masked);

static __always_inline void finish_detour(struct kprobe *p, struct pt_regs *regs, bool masked)
{
	bool watching = rcu_is_watching_curr_cpu();

	if (unlikely(!watching))
		ct_nmi_enter();
	if (masked)
		finish_masked(p, regs);
	else
		kprobe_hit_finish(p, regs, true);
	if (unlikely(!watching))
		ct_nmi_exit();
}

/*
 * The second copy has run, with interrupts masked: call the post_handlers of @p, with
 * interrupts @masked or as the probed code has them. Return @after, which continues that
 * code, or kprobe_detour_leave() if a handler has changed what only a trap can load.
 */
static __always_inline unsigned long copy_has_run(struct kprobe *p, struct pt_regs *regs,
						  unsigned long after, bool masked)
{
	unsigned long pstate, pc = pc_after(p);
	bool open = kprobe_close_user_memory(regs);

	save_pmr(regs);
	preempt_disable_notrace();
	restore_daif(regs);
	pstate = regs->pstate;

	if (!masked)
		write_sysreg(pstate & DAIF_MASK, daif);
	finish_detour(p, regs, masked);
	if (masked)
		write_sysreg(pstate & DAIF_MASK, daif);
	/* After a preemption @p may be gone. */
	allow_preemption(regs);
	kprobe_reopen_user_memory(open);

	if (regs->pc == pc && can_stay(regs, pstate))
		return after;

	return leave_detour(regs);
}

/**
 * kprobe_detour_post() - call the post_handlers of a hit
 * @detour: the detour, whose second copy has run
 * @regs: registers after the probed instruction
 *
 * Context: kprobe_detour_post_entry(), interrupts masked by enter_post().
 * Return: the part of the detour to continue at, or kprobe_detour_leave().
 */
asmlinkage unsigned long kprobe_detour_post(struct detour *detour, struct pt_regs *regs)
{
	unsigned long after = (unsigned long)detour->after;

	if (unlikely(kprobe_vectors_in_use()))
		return copy_has_run(&detour->op->kp, regs, after, true);

	return copy_has_run(&detour->op->kp, regs, after, false);
}

NOKPROBE_SYMBOL(kprobe_detour_post);

/**
 * kprobe_slot_post() - call the post_handlers of a hit by breakpoint
 * @p: the probe, the second copy in whose slot has run
 * @regs: registers after the probed instruction
 *
 * Context: kprobe_slot_post_entry(), interrupts masked by kprobe_enter_post_copy().
 * Return: the part of the slot to continue at, or kprobe_detour_leave().
 */
asmlinkage unsigned long kprobe_slot_post(struct kprobe *p, struct pt_regs *regs)
{
	return copy_has_run(p, regs, (unsigned long)slot_of(p)->after, true);
}

NOKPROBE_SYMBOL(kprobe_slot_post);

/* Bits of PSTATE to load: entry.S saves them, but BTYPE, which emulated branches set. */
#define PSR_OF_DETOUR	(PSR_FLAGS | DAIF_MASK | PSR_PAN_BIT | PSR_BTYPE_MASK)

/**
 * kprobe_detour_elsewhere() - continue a hit that leaves its detour by a trap
 * @regs: registers at a breakpoint
 *
 * Context: The exception of the breakpoint.
 * Return: whether it is the breakpoint of kprobe_detour_leave().
 */
bool kprobe_detour_elsewhere(struct pt_regs *regs)
{
	const struct detour_exit *exit;

	if (regs->pc != (unsigned long)kprobe_detour_leave + DETOUR_LEAVE_BRK)
		return false;

	exit = detour_exit_at(raw_cpu_dec_return(nr_detour_exits));
	regs->pc = exit->pc;
	regs->pstate &= ~PSR_OF_DETOUR;
	regs->pstate |= exit->pstate & PSR_OF_DETOUR;

	return true;
}

NOKPROBE_SYMBOL(kprobe_detour_elsewhere);
