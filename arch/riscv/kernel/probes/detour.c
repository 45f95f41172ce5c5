// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hits by a jump, and maps from the probed code to a detour: the instructions that a jump has
 * replaced, and the place in a detour that executes an instruction.
 */
#include <linux/cleanup.h>
#include <linux/context_tracking.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "common.h"

/*
 * Find the probe whose region contains @addr, but does not begin there with the probe. The
 * jump covers the region, or will after a grace period.
 */
static struct kprobe *covering_probe(unsigned long addr)
{
	unsigned long probe, last = addr + arch_jump_lead_max();
	struct arch_optimized_insn *optinsn;
	struct kprobe *p;

	for (probe = addr - MAX_OPTIMIZED_LENGTH + 2; probe <= last; probe += 2) {
		p = get_kprobe((kprobe_opcode_t *)probe);
		if (!p)
			continue;
		optinsn = optinsn_of(p);
		if (addr - jump_addr(p) < MAX_OPTIMIZED_LENGTH &&
		    (addr != probe || optinsn->lead) &&
		    (READ_ONCE(optinsn->jump) || kprobe_is_fenced(p)))
			return p;
	}

	return NULL;
}

NOKPROBE_SYMBOL(covering_probe);

/**
 * kprobe_read_covered() - read an instruction that a jump has replaced
 * @insn: gets the instruction
 * @addr: its address, not that of the probe
 *
 * Context: Process context, text_mutex held.
 * Return: whether a jump covers @addr.
 */
bool kprobe_read_covered(u32 *insn, unsigned long addr)
{
	const u16 *original;
	struct kprobe *p;

	guard(preempt_notrace)();
	p = covering_probe(addr);
	if (!p)
		return false;

	original = &optinsn_of(p)->original[(addr - jump_addr(p)) / sizeof(u16)];
	*insn = original[0];
	if (insn_len(*insn) == 4)
		*insn |= (u32)original[1] << 16;

	return true;
}

/*
 * If a handler wants to continue inside a region, or a breakpoint at its start was hit, continue
 * at the copy instead. Return whether this is so. At a probe its handlers have to be called.
 */
bool kprobe_detour_enter(struct pt_regs *regs)
{
	struct kprobe *p = covering_probe(regs->epc);
	unsigned int at, copy;

	if (likely(!p))
		return false;

	at = (regs->epc - jump_addr(p)) / sizeof(u16);
	copy = optinsn_of(p)->copy_at[at];
	if (optinsn_of(p)->site && at == 2)
		copy = DETOUR_COPIES;
	if (regs->epc == (unsigned long)p->addr)
		copy = 0;
	else if (!copy)
		return false;
	regs->epc = (unsigned long)detour_of(optinsn_of(p))->code + copy;

	return true;
}

NOKPROBE_SYMBOL(kprobe_detour_enter);

/* Encode the jump of @p; return whether its detour is in reach. */
bool kprobe_detour_fill_jump(struct kprobe *p, u32 *jump)
{
	const struct arch_optimized_insn *optinsn = optinsn_of(p);

	return kprobe_make_jump(jump, optinsn->reg, jump_addr(p),
				(unsigned long)detour_of(optinsn)->code + optinsn->enter);
}

NOKPROBE_SYMBOL(kprobe_detour_fill_jump);

/* -- hits -- */

/*
 * Hits by a jump: the part that entry.S leaves to C.
 *
 * A detour is entered with preemption and interrupts as they are in the probed
 * code. After the handlers it runs the copies. If a handler wants to continue
 * elsewhere, or has changed a register that the detour cannot restore, an ebreak
 * follows: the return from its trap loads all registers.
 *
 * A hit with a post_handler runs the second copy instead, as by breakpoint with interrupts
 * off and the probe current, and then calls again; or it emulates the instruction, see
 * enum detour_post.
 */

/* entry.S relies on this. */
static_assert(offsetof(struct detour, code) == sizeof(long));

/* What the functions that a detour calls return: the way to go on, from the call, or none. */
enum detour_way {
	WAY_TRAP = -1,		/* a trap loads all registers */
	WAY_POST_COPY = DETOUR_POST - DETOUR_CALL,
	WAY_EXIT = DETOUR_EXIT - DETOUR_CALL,
	WAY_COPIES = DETOUR_GO_ON - DETOUR_CALL,
	WAY_AFTER_POST = 0,
};

/* The pre_handlers have been called: execute the instruction and call the post_handlers. */
static noinline int detour_do_insn_and_call(struct kprobe *p, struct pt_regs *regs)
{
	const struct arch_optimized_insn *optinsn = optinsn_of(p);
	unsigned long epc;

	if (optinsn->post == POST_COPY) {
		__this_cpu_write(kprobe_ctlblk.saved_pie, regs->status & SR_PIE);
		csr_clear(CSR_STATUS, SR_IE);
		return WAY_POST_COPY;
	}

	p->ainsn.api.handler(READ_ONCE(*emulated_insn(p)), (unsigned long)p->addr, regs);
	epc = regs->epc;
	kprobe_hit_finish(p, regs, true);
	if (regs->epc != epc || optinsn->post == POST_TRAPS)
		return WAY_TRAP;
	if (optinsn->post == POST_EXITS)
		kprobe_detour_enter(regs);

	return WAY_EXIT;
}

NOKPROBE_SYMBOL(detour_do_insn_and_call);

/* Handle a hit whose probe is current already, as hit_handle() does. */
static __always_inline int do_detour_hit(struct kprobe *p, struct pt_regs *regs,
					 struct kprobe_hit_place here, bool nested)
{
	if (kprobe_call_pre_handler(p, regs)) {
		kprobe_hit_end_here(here, nested);
		return WAY_TRAP;
	}

	/* A member with a post_handler may come or go at any time. */
	if (unlikely(READ_ONCE(p->post_handler)))
		return detour_do_insn_and_call(p, regs);

	kprobe_hit_end_here(here, nested);

	return WAY_COPIES;
}

/* Handle a hit that interrupts another on this CPU; compare hit_nested(). */
static noinline int nested_detour_hit(struct kprobe *p, struct pt_regs *regs)
{
	if (kprobe_hit_nested(p, 0))
		return do_detour_hit(p, regs, (struct kprobe_hit_place){}, true);

	return WAY_COPIES;
}

NOKPROBE_SYMBOL(nested_detour_hit);

static __always_inline int any_detour_hit(struct kprobe *p, struct pt_regs *regs)
{
	if (unlikely(kprobe_running()))
		return nested_detour_hit(p, regs);

	return do_detour_hit(p, regs, kprobe_hit_begin(p), false);
}

/* RCU does not watch this CPU: a detour runs without the entry code of a trap. */
static noinline int detour_hit_of_idle(struct kprobe *p, struct pt_regs *regs)
{
	int way;

	ct_nmi_enter();
	way = any_detour_hit(p, regs);
	ct_nmi_exit();

	return way;
}

NOKPROBE_SYMBOL(detour_hit_of_idle);

/*
 * kprobe_detour_entry() calls this.
 *
 * If the kernel itself uses vector registers, only an exception saves them, for a handler
 * that uses them and for a task that is preempted. Then do nothing here but trap: the hit begins
 * in breakpoint_elsewhere(). As only kernels with preemption use them so, the region is
 * fenced, and arch_hit_detour() continues at the copies.
 */
__visible int kprobe_detour_hit(struct kprobe *p, struct pt_regs *regs)
{
	if (unlikely(kprobe_vectors_in_use()))
		return WAY_TRAP;

	guard(preempt_notrace)();
	if (unlikely(!rcu_is_watching_curr_cpu()))
		return detour_hit_of_idle(p, regs);

	return any_detour_hit(p, regs);
}

NOKPROBE_SYMBOL(kprobe_detour_hit);

/* kprobe_detour_post_entry() calls this, with interrupts off: the second copy has run. */
__visible int kprobe_detour_post(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long saved_pie, sp, status, epc;
	bool watching;

	guard(preempt_notrace)();
	saved_pie = __this_cpu_read(kprobe_ctlblk.saved_pie);
	regs->status |= saved_pie;
	regs->epc += insn_len(p->opcode);
	sp = regs->sp;
	status = regs->status;
	epc = regs->epc;

	if (saved_pie)
		csr_set(CSR_STATUS, SR_IE);
	watching = rcu_is_watching_curr_cpu();
	if (unlikely(!watching))
		ct_nmi_enter();
	kprobe_hit_finish(p, regs, true);
	if (unlikely(!watching))
		ct_nmi_exit();

	if (regs->sp != sp || regs->status != status || regs->epc != epc)
		return WAY_TRAP;

	return WAY_AFTER_POST;
}

NOKPROBE_SYMBOL(kprobe_detour_post);

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

/* Leave a detour if the trap is that of kprobe_detour_trap(). */
bool kprobe_detour_elsewhere(struct pt_regs *regs)
{
	if (regs->epc != (unsigned long)kprobe_detour_trap)
		return false;

	load_regs(regs);

	return true;
}

NOKPROBE_SYMBOL(kprobe_detour_elsewhere);
