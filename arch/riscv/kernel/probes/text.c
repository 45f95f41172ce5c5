// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing the text of probes: breakpoints, and what they have replaced.
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/list.h>
#include <linux/memory.h>
#include <linux/stop_machine.h>
#include <asm/cacheflush.h>
#include <asm/patch.h>

#include "common.h"

/* The breakpoint that has the length of @insn. */
u32 ebreak_for(u32 insn)
{
	return insn_len(insn) == 2 ? __BUG_INSN_16 : __BUG_INSN_32;
}

/**
 * struct patch_round - text of several probes, written while all CPUs stand still
 * @kps: the probes, linked by their list
 * @arm: whether they get their breakpoints, or their instructions back
 * @arrived: CPUs that stand still
 * @done: 1 when the last of them has written the text
 */
struct patch_round {
	struct list_head *kps;
	bool arm;
	atomic_t arrived;
	u32 done;
};

static void write_text(struct patch_round *round)
{
	struct kprobe *p;
	u32 insn;

	list_for_each_entry(p, round->kps, list) {
		insn = round->arm ? ebreak_for(p->opcode) : p->opcode;
		WARN_ON_ONCE(patch_insn_write(p->addr, &insn, insn_len(insn)));
	}
}

/* On every CPU. An instruction may lie across cache lines, so they all empty theirs. */
static int patch_text_stopped(void *data)
{
	struct patch_round *round = data;

	if (atomic_inc_return(&round->arrived) == num_online_cpus()) {
		write_text(round);
		/* Pairs with the wait of the others: they fetch what was written. */
		smp_store_release(&round->done, 1);
	} else {
		smp_cond_load_acquire(&round->done, VAL);
	}
	local_flush_icache_all();

	return 0;
}

NOKPROBE_SYMBOL(patch_text_stopped);

static void patch_all(struct list_head *kps, bool arm)
{
	struct patch_round round = { .kps = kps, .arm = arm };

	lockdep_assert_held(&text_mutex);

	/* Says that the caller of stop_machine() holds text_mutex. */
	riscv_patch_in_stop_machine = true;
	stop_machine_cpuslocked(patch_text_stopped, &round, cpu_online_mask);
	riscv_patch_in_stop_machine = false;
}

void arch_arm_kprobes(struct list_head *kps)
{
	patch_all(kps, true);
}

void arch_disarm_kprobes(struct list_head *kps)
{
	patch_all(kps, false);
}

static void patch_one(struct kprobe *p, bool arm)
{
	LIST_HEAD(kps);

	list_add(&p->list, &kps);
	patch_all(&kps, arm);
	list_del_init(&p->list);
}

void arch_arm_kprobe(struct kprobe *p)
{
	patch_one(p, true);
}

void arch_disarm_kprobe(struct kprobe *p)
{
	patch_one(p, false);
}
