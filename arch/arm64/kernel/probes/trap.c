// SPDX-License-Identifier: GPL-2.0-only
/*
 * Breakpoints: writing them, and what happens when one is hit.
 *
 * A hit calls the pre_handler and then has the instruction done in one of three
 * ways, all chosen when the probe was prepared or from what its users want:
 * simulated here; run as a copy that branches back behind the original, which
 * needs no second trap; or, when a post_handler wants to see the result, run as
 * a copy with a second breakpoint behind it. No instruction is single-stepped.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/barrier.h>
#include <asm/debug-monitors.h>
#include <asm/insn.h>
#include <asm/patching.h>
#include <asm/sections.h>
#include <asm/traps.h>

#include "common.h"

DEFINE_PER_CPU(struct kprobe *, current_kprobe);
DEFINE_PER_CPU(struct kprobe_ctlblk, kprobe_ctlblk);

/**
 * struct text_round - breakpoints that are written, or removed, in one go
 * @kps: the probes, linked by their list
 * @arm: write breakpoints, not the original instructions
 * @missing: CPUs that have not stopped yet
 * @written: all is done
 */
struct text_round {
	struct list_head *kps;
	bool arm;
	atomic_t missing;
	bool written;
};

static void write_text(struct kprobe *p, bool arm)
{
	aarch64_insn_patch_text_nosync(p->addr, arm ? BRK64_OPCODE_KPROBES : p->opcode);
}

/* Not while the machine is stopped. */
static void tell_perf(struct kprobe *p, bool arm)
{
	__le32 brk = cpu_to_le32(BRK64_OPCODE_KPROBES), insn = cpu_to_le32(p->opcode);

	perf_event_text_poke(p->addr, arm ? &insn : &brk, sizeof(insn), arm ? &brk : &insn,
			     sizeof(insn));
}

/*
 * The instructions for which the architecture promises that a CPU executes
 * either the old or the new one, if both are among them. BRK is.
 */
static bool changes_live(u32 insn)
{
	return aarch64_insn_is_b(insn) || aarch64_insn_is_bl(insn) ||
	       aarch64_insn_is_isb(insn) || insn == aarch64_insn_gen_nop();
}

/* For all others no CPU may be near while they change, and each fetches anew. */
static int write_stopped(void *data)
{
	struct text_round *round = data;
	struct kprobe *p;

	if (!atomic_dec_and_test(&round->missing)) {
		/* Pairs with the release by the CPU that writes. */
		while (!smp_load_acquire(&round->written))
			cpu_relax();
		isb();
		return 0;
	}

	list_for_each_entry(p, round->kps, list) {
		if (!changes_live(p->opcode))
			write_text(p, round->arm);
	}
	/* Pairs with the acquire by those that wait. */
	smp_store_release(&round->written, true);

	return 0;
}

NOKPROBE_SYMBOL(write_stopped);

static void write_round(struct list_head *kps, bool arm)
{
	struct text_round round = {
		.kps = kps,
		.arm = arm,
		.missing = ATOMIC_INIT(num_online_cpus()),
	};
	bool stop = false;
	struct kprobe *p;

	list_for_each_entry(p, kps, list) {
		if (changes_live(p->opcode))
			write_text(p, arm);
		else
			stop = true;
	}

	if (stop)
		stop_machine_cpuslocked(write_stopped, &round, cpu_online_mask);
	list_for_each_entry(p, kps, list)
		tell_perf(p, arm);
}

static void write_one(struct kprobe *p, bool arm)
{
	u32 insn = arm ? BRK64_OPCODE_KPROBES : p->opcode;
	void *addr = p->addr;

	aarch64_insn_patch_text(&addr, &insn, 1);
	tell_perf(p, arm);
}

void arch_arm_kprobe(struct kprobe *p)
{
	write_one(p, true);
}

void arch_disarm_kprobe(struct kprobe *p)
{
	write_one(p, false);
}

void arch_arm_kprobes(struct list_head *kps)
{
	write_round(kps, true);
}

void arch_disarm_kprobes(struct list_head *kps)
{
	write_round(kps, false);
}

static __always_inline bool try_simulate(struct kprobe *p, struct pt_regs *regs)
{
	probes_handler_t *simulate = p->ainsn.api.handler;

	if (!simulate)
		return false;
	simulate(p->opcode, (long)p->addr, regs);

	return true;
}

/* A hit, once @p is current. @aside: another hit was put aside for this one. */
static __always_inline void do_hit(struct kprobe *p, struct pt_regs *regs, bool aside)
{
	kprobe_post_handler_t post;

	if (hit_pre_handler(p, regs)) {
		/* No branch has led to where the handler wants to go. */
		clear_btype(regs);
		hit_end(aside);
		return;
	}

	/* The breakpoint was as good a target of an indirect branch as any. */
	clear_btype(regs);

	/* A user may add or remove the last post_handler at any time. */
	post = READ_ONCE(p->post_handler);
	if (try_simulate(p, regs)) {
		hit_finish(p, regs, aside);
	} else if (post) {
		kprobe_enter_post_copy(p, regs);
	} else {
		hit_end(aside);
		kprobe_enter_copy(p, regs);
	}
}

/* A hit while this CPU handles another. */
static void nested_hit(struct kprobe *p, struct pt_regs *regs)
{
	if (kprobe_hit_nested(p, KPROBE_TRAP_COUNT)) {
		do_hit(p, regs, true);
		return;
	}

	clear_btype(regs);
	if (!try_simulate(p, regs))
		kprobe_enter_copy(p, regs);
}

NOKPROBE_SYMBOL(nested_hit);

/* @addr is kernel text, but the module that it belongs to may be on its way out. */
static bool text_is(unsigned long addr, u32 expected)
{
	__le32 insn;

	__get_kernel_nofault(&insn, (__le32 *)addr, __le32, gone);
	return le32_to_cpu(insn) == expected;
gone:
	return false;
}

NOKPROBE_SYMBOL(text_is);

static bool text_is_brk(unsigned long addr)
{
	return text_is(addr, BRK64_OPCODE_KPROBES);
}

NOKPROBE_SYMBOL(text_is_brk);

/* Is there a breakpoint, or a jump? */
bool kprobe_is_armed(const struct kprobe *p)
{
	return !text_is((unsigned long)p->addr, p->opcode);
}

NOKPROBE_SYMBOL(kprobe_is_armed);

/*
 * No probe was found at @addr. If its breakpoint was removed after this CPU
 * fetched it, or another came since, the text is to be executed as it is now. They
 * may come and go between the two looks as well, but hardly so each time.
 */
static bool text_has_changed(unsigned long addr)
{
	int tries;

	for (tries = 0; tries < 10; tries++) {
		if (!text_is_brk(addr))
			return true;
		/* A probe can be found before its breakpoint is written. */
		smp_rmb();
		if (get_kprobe((kprobe_opcode_t *)addr))
			return true;
	}

	return false;
}

NOKPROBE_SYMBOL(text_has_changed);

/**
 * kprobe_brk_handler() - a breakpoint trap may be the hit of a probe
 * @regs: registers at the trap, pc at the breakpoint
 * @esr: syndrome of the exception
 *
 * Context: The exception, as in an NMI.
 * Return: %DBG_HOOK_HANDLED, or %DBG_HOOK_ERROR when it has to do with no probe.
 */
int kprobe_brk_handler(struct pt_regs *regs, unsigned long esr)
{
	struct kprobe *p = get_kprobe((kprobe_opcode_t *)regs->pc);

	if (unlikely(!p))
		return text_has_changed(regs->pc) ? DBG_HOOK_HANDLED : DBG_HOOK_ERROR;

	if (unlikely(kprobe_running())) {
		nested_hit(p, regs);
		return DBG_HOOK_HANDLED;
	}

	hit_begin(p);
	do_hit(p, regs, false);

	return DBG_HOOK_HANDLED;
}

NOKPROBE_SYMBOL(kprobe_brk_handler);

/*
 * A handler has faulted: the exception tables have the fixup, if there is one.
 * Faults of copies were moved to their instruction before.
 */
int kprobe_fault_handler(struct pt_regs *regs, unsigned int esr)
{
	return 0;
}

NOKPROBE_SYMBOL(kprobe_fault_handler);

int __init arch_init_kprobes(void)
{
	return 0;
}
