// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text patching: writing breakpoints, and restoring the original instructions.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/processor.h>
#include <linux/stop_machine.h>
#include <linux/uaccess.h>
#include <asm/barrier.h>
#include <asm/debug-monitors.h>

#include "common.h"

/* @addr is kernel text, but its module may be unloaded concurrently. */
bool kprobe_text_is_brk(unsigned long addr)
{
	__le32 insn;

	__get_kernel_nofault(&insn, (__le32 *)addr, __le32, gone);
	return le32_to_cpu(insn) == BRK64_OPCODE_KPROBES;
gone:
	return false;
}

NOKPROBE_SYMBOL(kprobe_text_is_brk);

/**
 * struct text_round - breakpoints that are written, or removed, together
 * @kps: the probes, linked by their list
 * @arm: write breakpoints, not the original instructions
 * @missing: number of CPUs that have not stopped yet
 * @written: the text has been written
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

/* Must not be called while the machine is stopped. */
static void tell_perf(struct kprobe *p, bool arm)
{
	__le32 brk = cpu_to_le32(BRK64_OPCODE_KPROBES), insn = cpu_to_le32(p->opcode);

	perf_event_text_poke(p->addr, arm ? &insn : &brk, sizeof(insn), arm ? &brk : &insn,
			     sizeof(insn));
}

/*
 * If the old and the new instruction are both among these, the architecture
 * promises that a CPU executes one or the other. BRK is among them.
 */
static bool changes_live(u32 insn)
{
	return aarch64_insn_is_b(insn) || aarch64_insn_is_bl(insn) ||
	       aarch64_insn_is_isb(insn) || insn == aarch64_insn_gen_nop();
}

/*
 * Any other instruction may change only while all CPUs are stopped; each runs isb() after. The
 * stopped machine masks interrupts by their priority, which leaves pseudo-NMIs.
 */
static int write_stopped(void *data)
{
	struct text_round *round = data;
	unsigned long flags = local_daif_save();
	struct kprobe *p;

	if (atomic_dec_and_test(&round->missing)) {
		list_for_each_entry(p, round->kps, list) {
			if (!changes_live(p->opcode))
				write_text(p, round->arm);
		}
		/* Pairs with smp_load_acquire() by the CPUs that wait. */
		smp_store_release(&round->written, true);
	} else {
		/* Pairs with smp_store_release() by the last CPU to stop. */
		while (!smp_load_acquire(&round->written))
			cpu_relax();
		isb();
	}
	local_daif_restore(flags);

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

void arch_arm_kprobes(struct list_head *kps)
{
	write_round(kps, true);
}

void arch_disarm_kprobes(struct list_head *kps)
{
	write_round(kps, false);
}
