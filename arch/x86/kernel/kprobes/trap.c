// SPDX-License-Identifier: GPL-2.0-only
/*
 * Breakpoints: writing them, and what happens when one is hit.
 *
 * A hit calls the pre_handler and then has the instruction done in one of three
 * ways, all chosen when the probe was prepared or from what its users want:
 * emulated here; run as a copy that jumps back behind the original, which needs
 * no second look; or, when a post_handler wants to see the result, run as a
 * copy that jumps to kprobe_post_entry. No instruction is single-stepped.
 */
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/list.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/uaccess.h>
#include <asm/sections.h>

#include "common.h"

DEFINE_PER_CPU(struct kprobe *, current_kprobe);
DEFINE_PER_CPU(struct kprobe_ctlblk, kprobe_ctlblk);

/* One byte changes, so every CPU sees either the old or the new instruction. */
static void poke_first_byte(struct kprobe *p, u8 old, u8 new)
{
	kprobe_poke_text(p->addr, &new, sizeof(new));
	perf_event_text_poke(p->addr, &old, sizeof(old), &new, sizeof(new));
}

void arch_arm_kprobe(struct kprobe *p)
{
	poke_first_byte(p, p->opcode, INT3_INSN_OPCODE);
	kprobe_poke_sync();
}

void arch_disarm_kprobe(struct kprobe *p)
{
	poke_first_byte(p, INT3_INSN_OPCODE, p->opcode);
	kprobe_poke_sync();
}

void arch_arm_kprobes(struct list_head *kps)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		poke_first_byte(p, p->opcode, INT3_INSN_OPCODE);
	kprobe_poke_sync();
}

void arch_disarm_kprobes(struct list_head *kps)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		poke_first_byte(p, INT3_INSN_OPCODE, p->opcode);
	kprobe_poke_sync();
}

static __always_inline bool try_emulate(struct kprobe *p, struct pt_regs *regs)
{
	return p->ainsn.emulate && p->ainsn.emulate(p, regs);
}

static __always_inline void enter_copy(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = (unsigned long)p->ainsn.insn;
}

/*
 * While a jump covers the instruction behind @p, or is about to, the hit goes on in the
 * detour and not there.
 */
static __always_inline bool try_detour(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long copy;

	if (likely(!detour_is_guarded(p)))
		return false;
	/* The guard may have ended since. */
	copy = detour_copy_probed(p);
	if (!copy)
		return false;
	regs->ip = copy;

	return true;
}

static noinline void do_insn_and_call(struct kprobe *p, struct pt_regs *regs)
{
	if (post_takes_copy(p)) {
		kprobe_enter_post_copy(p, regs);
	} else if (kprobe_emulate_any(p, regs)) {
		regs->orig_ax = 0;	/* see arch_kprobe_regs_ip() */
		finish_hit(p, regs, true);
	} else {
		hit_end(true);
		kprobe_enter_fault_copy(p, regs);
	}
}

NOKPROBE_SYMBOL(do_insn_and_call);

/* A hit, once @p is current. @aside: another hit was put aside for this one. */
static __always_inline void do_hit(struct kprobe *p, struct pt_regs *regs, bool aside)
{
	/* Handlers see the ip behind the breakpoint, as they always have. */
	if (hit_pre_handler(p, regs)) {
		hit_end(aside);
		kprobe_detour_enter(regs->ip, regs);
		return;
	}

	/* A user may add or remove the last post_handler at any time. */
	if (unlikely(READ_ONCE(p->post_handler))) {
		do_insn_and_call(p, regs);
		return;
	}
	if (try_detour(p, regs)) {
		hit_end(aside);
		return;
	}

	hit_end(aside);
	if (!try_emulate(p, regs))
		enter_copy(p, regs);
}

/* A hit while this CPU handles another. */
static void nested_hit(struct kprobe *p, struct pt_regs *regs)
{
	if (kprobe_hit_nested(p, KPROBE_TRAP_COUNT)) {
		do_hit(p, regs, true);
		return;
	}

	if (!try_detour(p, regs) && !try_emulate(p, regs))
		enter_copy(p, regs);
}

NOKPROBE_SYMBOL(nested_hit);

static __always_inline void any_hit(struct kprobe *p, struct pt_regs *regs)
{
	if (unlikely(kprobe_running())) {
		nested_hit(p, regs);
		return;
	}

	hit_begin(p);
	do_hit(p, regs, false);
}

/* @addr is kernel text, but the module that it belongs to may be on its way out. */
bool kprobe_text_is_int3(unsigned long addr)
{
	u8 byte;

	__get_kernel_nofault(&byte, (u8 *)addr, u8, gone);
	return byte == INT3_INSN_OPCODE;
gone:
	return false;
}

NOKPROBE_SYMBOL(kprobe_text_is_int3);

/* How often in a row this CPU has executed the breakpoint at an address again. */
struct stale_int3 {
	unsigned long addr;
	unsigned int tries;
};

static DEFINE_PER_CPU(struct stale_int3, stale_int3);

#define STALE_INT3_TRIES	100

/*
 * No probe has a breakpoint here. Perhaps one had when the CPU fetched the
 * instruction, or ftrace was changing the site: then the text shows something
 * else by now, or a breakpoint that came afterwards and has an owner. Either is
 * to be executed. RF makes the next fetch one of its own: an emulator may have
 * kept its translation of the breakpoint. A breakpoint that keeps coming back
 * has an owner who hears of it after us.
 */
static int retry_stale_int3(unsigned long addr, struct pt_regs *regs)
{
	struct stale_int3 *stale = this_cpu_ptr(&stale_int3);

	if (stale->addr != addr || !kprobe_text_is_int3(addr))
		stale->tries = 0;
	stale->addr = addr;
	if (++stale->tries > STALE_INT3_TRIES) {
		stale->tries = 0;
		return 0;
	}
	regs->ip = addr;
	regs->flags |= X86_EFLAGS_RF;

	return 1;
}

NOKPROBE_SYMBOL(retry_stale_int3);

/*
 * No probe has a breakpoint here that is its own, or that is meant: a jump may have
 * one, or it is stale.
 */
static noinline int odd_int3(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long addr = regs->ip - INT3_INSN_SIZE;

	if (kprobe_detour_enter(addr, regs))
		return 1;

	/* One on an ftrace site has none, and one not armed yet may have no copy. */
	if (!p || kprobe_ftrace(p) || !kprobe_text_is_int3(addr))
		return retry_stale_int3(addr, regs);

	any_hit(p, regs);

	return 1;
}

NOKPROBE_SYMBOL(odd_int3);

/**
 * kprobe_int3_handler() - a breakpoint trap may be the hit of a probe
 * @regs: registers at the trap, ip behind the breakpoint
 *
 * Context: The #BP exception, of the kernel as in an NMI, or of a program.
 * Return: 1 when the trap is dealt with, 0 when it has to do with no probe.
 */
int kprobe_int3_handler(struct pt_regs *regs)
{
	struct kprobe *p;

	/* A program chooses its ip, and by a segment of 32 bits any, also that of a probe. */
	if (unlikely(user_mode(regs)))
		return 0;

	p = get_kprobe((kprobe_opcode_t *)(regs->ip - INT3_INSN_SIZE));
	if (unlikely(!p || p->flags & (KPROBE_FLAG_FTRACE | KPROBE_FLAG_DISABLED |
				       KPROBE_FLAG_GONE)))
		return odd_int3(p, regs);

	any_hit(p, regs);

	return 1;
}

NOKPROBE_SYMBOL(kprobe_int3_handler);

/*
 * A handler has faulted: the exception tables have the fixup, if there is one.
 * Faults of copies were moved to their instruction before.
 */
int kprobe_fault_handler(struct pt_regs *regs, int trapnr)
{
	return 0;
}

NOKPROBE_SYMBOL(kprobe_fault_handler);

int __init arch_init_kprobes(void)
{
	return 0;
}
