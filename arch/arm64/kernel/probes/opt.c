// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps: whether a probe can have one, and how it is written.
 *
 * The branch replaces one instruction, the breakpoint. The architecture allows B and BRK
 * to be exchanged while other CPUs execute them. So the jumps of a batch are written one
 * after the other, followed by one synchronization of all CPUs.
 */
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <asm/debug-monitors.h>

#include "common.h"

/* -- preparing a detour -- */

/* BTI lets an indirect branch land on a breakpoint, but not on the branch to a detour. */
static bool is_landing_pad(u32 insn)
{
	bool pad = (insn & 0xffffff3f) == 0xd503241f ||		/* BTI */
		   (insn & 0xffffffbf) == 0xd503233f;		/* PACIASP, PACIBSP */

	return pad && system_supports_bti_kernel();
}

static enum detour_obstacle prepare_detour(struct optimized_kprobe *op)
{
	enum detour_obstacle obstacle;
	struct detour *d;

	if (is_landing_pad(op->kp.opcode))
		return DETOUR_LANDING_PAD;

	d = (struct detour *)get_optinsn_slot();
	if (!d)
		return DETOUR_NO_ROOM;

	obstacle = kprobe_detour_write(d, op);
	if (obstacle) {
		free_optinsn_slot((kprobe_opcode_t *)d, 0);
		return obstacle;
	}
	op->optinsn.insn = (kprobe_opcode_t *)d;
	kprobe_publish_optinsn_slot(op->optinsn.insn);

	return DETOUR_POSSIBLE;
}

int arch_prepare_optimized_kprobe(struct optimized_kprobe *op, struct kprobe *orig)
{
	op->optinsn.why = prepare_detour(op);
	if (op->optinsn.why == DETOUR_NO_ROOM)
		return -ENOMEM;

	return op->optinsn.why ? -EOPNOTSUPP : 0;
}

int arch_within_optimized_kprobe(struct optimized_kprobe *op, kprobe_opcode_t *addr)
{
	return addr == op->kp.addr;
}

/* -- jumps and breakpoints -- */

static void write_insn(struct optimized_kprobe *op, u32 old, u32 new)
{
	__le32 before = cpu_to_le32(old), after = cpu_to_le32(new);

	aarch64_insn_patch_text_nosync(op->kp.addr, new);
	perf_event_text_poke(op->kp.addr, &before, sizeof(before), &after, sizeof(after));
}

static u32 jump_of(const struct optimized_kprobe *op)
{
	const struct detour *d = (const struct detour *)op->optinsn.insn;

	return insn_branch((unsigned long)op->kp.addr, (unsigned long)d->entry);
}

void arch_optimize_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;

	/* Make every CPU drop the former contents of the slots from its pipeline. */
	kick_all_cpus_sync();
	list_for_each_entry(op, oplist, list)
		write_insn(op, BRK64_OPCODE_KPROBES, jump_of(op));
	kick_all_cpus_sync();
}

void arch_unoptimize_kprobes(struct list_head *oplist, struct list_head *done_list)
{
	struct optimized_kprobe *op;

	list_for_each_entry(op, oplist, list)
		write_insn(op, jump_of(op), BRK64_OPCODE_KPROBES);
	kick_all_cpus_sync();
	list_splice_tail_init(oplist, done_list);
}
