// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text patching: writing breakpoints, and restoring the original instructions.
 */
#include <linux/atomic.h>
#include <linux/memory.h>
#include <linux/stop_machine.h>
#include <linux/uaccess.h>
#include <asm/cacheflush.h>

#include "common.h"

/* Return the breakpoint of the same length as @insn. */
u32 kprobe_ebreak_for(u32 insn)
{
	return insn_len(insn) == 2 ? __BUG_INSN_16 : __BUG_INSN_32;
}

/* @addr is kernel text, but its module may be unloaded concurrently. */
bool kprobe_text_is_ebreak(unsigned long addr)
{
	u16 first, second;

	__get_kernel_nofault(&first, (u16 *)addr, u16, gone);
	if (first == __BUG_INSN_16)
		return true;
	if (first != (__BUG_INSN_32 & U16_MAX))
		return false;
	__get_kernel_nofault(&second, (u16 *)(addr + 2), u16, gone);
	return second == __BUG_INSN_32 >> 16;
gone:
	return false;
}

NOKPROBE_SYMBOL(kprobe_text_is_ebreak);

/**
 * struct text_round - text of several probes, written while all CPUs are stopped
 * @write: writes the text
 * @list: the probes
 * @arrived: number of CPUs that have stopped
 * @done: 1 when the last CPU to stop has written the text
 */
struct text_round {
	void (*write)(struct list_head *list);
	struct list_head *list;
	atomic_t arrived;
	u32 done;
};

/* Each CPU flushes its own icache: an instruction may straddle cache lines. */
static int write_text_stopped(void *data)
{
	struct text_round *round = data;

	if (atomic_inc_return(&round->arrived) == num_online_cpus()) {
		round->write(round->list);
		/* Pairs with smp_cond_load_acquire() by the others, which then flush. */
		smp_store_release(&round->done, 1);
	} else {
		smp_cond_load_acquire(&round->done, VAL);
	}
	local_flush_icache_all();

	return 0;
}

NOKPROBE_SYMBOL(write_text_stopped);

/* Call @write, which uses patch_insn_write(), for @list while all CPUs are stopped. */
void kprobe_write_text(void (*write)(struct list_head *list), struct list_head *list)
{
	struct text_round round = { .write = write, .list = list };

	lockdep_assert_held(&text_mutex);

	/* For patch_insn_write(): the caller of stop_machine() holds text_mutex. */
	riscv_patch_in_stop_machine = true;
	stop_machine_cpuslocked(write_text_stopped, &round, cpu_online_mask);
	riscv_patch_in_stop_machine = false;
}

static void write_insn(struct kprobe *p, u32 insn)
{
	WARN_ON_ONCE(patch_insn_write(p->addr, &insn, insn_len(insn)));
}

static void write_breakpoints(struct list_head *kps)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		write_insn(p, kprobe_ebreak_for(p->opcode));
}

static void write_originals(struct list_head *kps)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		write_insn(p, p->opcode);
}

void arch_arm_kprobes(struct list_head *kps)
{
	kprobe_write_text(write_breakpoints, kps);
}

void arch_disarm_kprobes(struct list_head *kps)
{
	kprobe_write_text(write_originals, kps);
}
