// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps between the probed code and a detour: the instructions that a jump has replaced, the
 * place in a detour that executes an instruction, and the instruction that a place in a
 * detour stands for. A jump on an ftrace site is mapped to ftrace's instructions and back.
 */
#include <linux/build_bug.h>
#include <linux/cleanup.h>
#include <linux/context_tracking.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/kprobes_base.h>

#include "common.h"

/*
 * Find the probe whose region contains @addr, but does not begin there. The jump covers the
 * region, or will after a grace period.
 */
static struct kprobe *covering_probe(unsigned long addr)
{
	struct kprobe *p;
	unsigned int at;

	for (at = 2; at < MAX_OPTIMIZED_LENGTH; at += 2) {
		p = get_kprobe((kprobe_opcode_t *)(addr - at));
		if (p && (READ_ONCE(optinsn_of(p)->jump) ||
			  (IS_ENABLED(CONFIG_PREEMPTION) && READ_ONCE(optinsn_of(p)->fenced))))
			return p;
	}

	return NULL;
}

NOKPROBE_SYMBOL(covering_probe);

#define AUIPC_MASK	0x7f
#define AUIPC_MATCH	0x17

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
	const u16 *parcel;
	struct kprobe *p;
	unsigned int at;
	u16 before[3];

	/* First see whether a jump may start in the three parcels before. */
	if (!copy_from_kernel_nofault(before, (void *)addr - sizeof(before), sizeof(before)) &&
	    (before[0] & AUIPC_MASK) != AUIPC_MATCH && (before[1] & AUIPC_MASK) != AUIPC_MATCH &&
	    (before[2] & AUIPC_MASK) != AUIPC_MATCH)
		return false;

	guard(preempt_notrace)();
	p = covering_probe(addr);
	if (!p)
		return false;

	at = (addr - (unsigned long)p->addr) / sizeof(u16);
	parcel = &optinsn_of(p)->original[at];
	*insn = *parcel;
	if (insn_len(*insn) == 2)
		return true;
	/* The second half of the last instruction may be after the jump. */
	if (++at == ARRAY_SIZE(optinsn_of(p)->original))
		parcel = (u16 *)addr;
	*insn |= (u32)parcel[1] << 16;

	return true;
}

/* If a handler wants to continue inside a region, continue at the copy instead. */
void kprobe_detour_enter(struct pt_regs *regs)
{
	struct kprobe *p = covering_probe(regs->epc);
	unsigned int at, copy;

	if (likely(!p))
		return;

	at = (regs->epc - (unsigned long)p->addr) / sizeof(u16);
	copy = optinsn_of(p)->copy_at[at];
	if (optinsn_of(p)->site && at == 2)
		copy = DETOUR_ENTRY;
	if (copy)
		regs->epc = (unsigned long)detour_of(optinsn_of(p))->code + copy;
}

NOKPROBE_SYMBOL(kprobe_detour_enter);

/*
 * A fault in a copy is reported at the original if that is in an exception table,
 * because its handler may sleep or fix it up. If retried, it enters the jump again. All
 * other faults are fatal, or are resolved without sleeping and return to the copy.
 */
void kprobe_detour_leave_copy(struct pt_regs *regs)
{
	struct detour *detour = (struct detour *)kprobe_optinsn_slot_of(regs->epc);

	if (likely(!detour) || !optinsn_of(detour->kp)->extable)
		return;

	if (regs->epc == (unsigned long)detour->code + DETOUR_ENTRY)
		regs->epc = (unsigned long)detour->kp->addr;
}

NOKPROBE_SYMBOL(kprobe_detour_leave_copy);

/* Translate an address in the copies of a detour to that of the original instruction. */
unsigned long kprobe_detour_insn_pc(unsigned long pc)
{
	struct detour *detour = (struct detour *)kprobe_optinsn_slot_of(pc);
	const struct arch_optimized_insn *optinsn;
	unsigned long code;
	unsigned int at;

	if (likely(!detour))
		return pc;

	code = (unsigned long)detour->code;
	if (pc < code + DETOUR_ENTRY)
		return pc;

	optinsn = optinsn_of(detour->kp);
	for (at = MAX_OPTIMIZED_LENGTH / 2; at--;) {
		if (optinsn->copy_at[at] && pc >= code + optinsn->copy_at[at])
			return (unsigned long)detour->kp->addr + 2 * at;
	}

	return (unsigned long)detour->kp->addr;
}

NOKPROBE_SYMBOL(kprobe_detour_insn_pc);

/* Encode the jump of @p; return whether its detour is in reach. */
bool kprobe_detour_fill_jump(struct kprobe *p, u32 *jump)
{
	const struct arch_optimized_insn *optinsn = optinsn_of(p);

	return kprobe_make_jump(jump, optinsn->reg, (unsigned long)p->addr,
				(unsigned long)detour_of(optinsn)->code);
}

NOKPROBE_SYMBOL(kprobe_detour_fill_jump);

/* Set @insns to ftrace's instructions, if a jump covers the site. */
void kprobe_detour_site_read(struct kprobe *p, u32 *insns)
{
	if (optinsn_of(p)->jump)
		memcpy(insns, optinsn_of(p)->original, MAX_OPTIMIZED_LENGTH);
}

NOKPROBE_SYMBOL(kprobe_detour_site_read);

/*
 * ftrace is about to write @insns to its site, while no task is in the detour.
 * If the site has a jump, return true with the jump in @insns, so that ftrace rewrites it.
 */
bool kprobe_detour_site_write(struct kprobe *p, u32 *insns)
{
	struct arch_optimized_insn *optinsn = optinsn_of(p);
	unsigned long addr = (unsigned long)p->addr;
	u8 *end;
	u32 jump[2];

	if (!optinsn->site || !optinsn->insn)
		return false;

	memcpy(optinsn->original, insns, MAX_OPTIMIZED_LENGTH);
	end = detour_of(optinsn)->code + SITE_JUMP;
	WARN_ON_ONCE(!kprobe_make_site_jump(jump, (unsigned long)end, addr, insns));
	WARN_ON_ONCE(patch_insn_write(end, jump, sizeof(jump)));
	if (!optinsn->jump)
		return false;

	kprobe_detour_fill_jump(p, insns);

	return true;
}

NOKPROBE_SYMBOL(kprobe_detour_site_write);

/* -- hits -- */

/*
 * Hits by a jump: the part that entry.S leaves to C.
 *
 * A detour is entered with preemption and interrupts as they are in the probed
 * code. After the handlers it runs the copies. If a handler wants to continue
 * elsewhere, or has changed a register that the detour cannot restore, an ebreak
 * follows: the return from its trap loads all registers.
 */

/* entry.S relies on these. */
static_assert(offsetof(struct kprobe, addr) == KPROBE_ADDR);
static_assert(offsetof(struct detour, code) == sizeof(long));

static __always_inline int any_detour_hit(struct kprobe *p, struct pt_regs *regs,
					  unsigned int trap_count)
{
	bool nested = kprobe_running();
	int ret;

	if (likely(!nested))
		kprobe_hit_begin(p);
	else if (!kprobe_hit_nested(p, trap_count))
		return 0;
	ret = kprobe_call_pre_handler(p, regs);
	if (likely(!nested))
		reset_current_kprobe();
	else
		kprobe_hit_pop();

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

/*
 * Handle the ebreak of kprobe_detour_trap(); return false for any other. s1 has the return
 * address of the detour's call, for a hit deferred to the trap.
 */
bool kprobe_detour_elsewhere(struct pt_regs *regs)
{
	struct detour *detour = container_of((u8 *)regs->s1 - DETOUR_CALL, struct detour, code[0]);

	if (regs->epc != (unsigned long)kprobe_detour_trap)
		return false;

	load_regs(regs);
	if (unlikely(kprobe_vectors_in_use()) &&
	    !any_detour_hit(detour->kp, regs, KPROBE_TRAP_COUNT))
		regs->epc = detour_copies(optinsn_of(detour->kp));
	else
		kprobe_detour_enter(regs);

	return true;
}

NOKPROBE_SYMBOL(kprobe_detour_elsewhere);
