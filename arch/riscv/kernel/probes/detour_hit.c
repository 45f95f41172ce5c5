// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hits by a jump: the part that entry.S leaves to C.
 *
 * A detour is entered with preemption and interrupts as they are in the probed
 * code. After the handlers it runs the copies. If a handler wants to continue
 * elsewhere, or has changed a register that the detour cannot restore, an ebreak
 * follows: the return from its trap loads all registers.
 */
#include <linux/build_bug.h>
#include <linux/cleanup.h>
#include <linux/context_tracking.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "common.h"

/* entry.S relies on these. */
static_assert(offsetof(struct kprobe, addr) == KPROBE_ADDR);
static_assert(offsetof(struct detour, code) == sizeof(long));

/* Handle a hit that interrupts another on this CPU. */
static int nested_detour_hit(struct kprobe *p, struct pt_regs *regs, unsigned int trap_count)
{
	int ret;

	if (!kprobe_hit_nested(p, trap_count))
		return 0;

	ret = kprobe_call_pre_handler(p, regs);
	kprobe_hit_pop();

	return ret;
}

NOKPROBE_SYMBOL(nested_detour_hit);

static __always_inline int any_detour_hit(struct kprobe *p, struct pt_regs *regs,
					  unsigned int trap_count)
{
	int ret;

	if (unlikely(kprobe_running()))
		return nested_detour_hit(p, regs, trap_count);

	kprobe_hit_begin(p);
	ret = kprobe_call_pre_handler(p, regs);
	reset_current_kprobe();

	return ret;
}

/* RCU does not watch this CPU: a detour runs without the entry code of a trap. */
static noinline int detour_hit_of_idle(struct kprobe *p, struct pt_regs *regs)
{
	int ret;

	ct_nmi_enter();
	ret = any_detour_hit(p, regs, 0);
	ct_nmi_exit();

	return ret;
}

NOKPROBE_SYMBOL(detour_hit_of_idle);

/*
 * kprobe_detour_entry() calls this. Returns 0 to continue in the detour, 1 for a trap.
 *
 * If the kernel itself uses vector registers, only an exception saves them, for a handler
 * that uses them and for a task that is preempted. In this case the trap of
 * kprobe_detour_trap() handles the hit.
 */
__visible int kprobe_detour_hit(struct kprobe *p, struct pt_regs *regs)
{
	if (unlikely(kprobe_vectors_in_use()))
		return 1;

	guard(preempt_notrace)();
	if (unlikely(!rcu_is_watching_curr_cpu()))
		return detour_hit_of_idle(p, regs);

	return any_detour_hit(p, regs, 0);
}

NOKPROBE_SYMBOL(kprobe_detour_hit);

/*
 * Load the registers that the detour has saved. An assignment may become a call of
 * memcpy(), which may have a probe.
 */
static void load_regs(struct pt_regs *regs)
{
	const unsigned long *from = (unsigned long *)regs->sp;
	unsigned long *to = (unsigned long *)regs;
	unsigned int i;

	for (i = 0; i < sizeof(*regs) / sizeof(*to); i++)
		WRITE_ONCE(to[i], from[i]);
}

NOKPROBE_SYMBOL(load_regs);

/* Handle a hit deferred to the trap. s1 has the return address of the detour's call. */
static void detour_hit_in_trap(struct pt_regs *regs)
{
	struct detour *detour = container_of((u8 *)regs->s1 - DETOUR_CALL, struct detour, code[0]);

	load_regs(regs);
	if (any_detour_hit(detour->kp, regs, KPROBE_TRAP_COUNT))
		kprobe_detour_enter(regs);
	else
		regs->epc = detour_copies(optinsn_of(detour->kp));
}

NOKPROBE_SYMBOL(detour_hit_in_trap);

/* Handle the ebreak of kprobe_detour_trap(); return false for any other. */
bool kprobe_detour_elsewhere(struct pt_regs *regs)
{
	if (regs->epc != (unsigned long)kprobe_detour_trap)
		return false;

	if (unlikely(kprobe_vectors_in_use())) {
		detour_hit_in_trap(regs);
		return true;
	}
	load_regs(regs);
	kprobe_detour_enter(regs);

	return true;
}

NOKPROBE_SYMBOL(kprobe_detour_elsewhere);
