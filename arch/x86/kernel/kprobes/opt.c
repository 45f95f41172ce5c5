// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps: whether a probe can have one, and how it is written.
 *
 * The text changes from breakpoint to jump and back in steps, and every CPU has seen a
 * step before the next is made. While anything else changes there is a breakpoint at the
 * start of the jump.
 */
#include <linux/string.h>

#include "copy.h"

static int obstruct(struct optimized_kprobe *op, enum detour_obstacle why, unsigned int at)
{
	struct arch_optimized_insn *optinsn = &op->optinsn;

	/* Readers hold kprobe_mutex, since @ready has not been written. */
	optinsn->insn = NULL;
	optinsn->why = why;
	optinsn->why_at = at;

	return why == DETOUR_NO_ROOM ? -ENOMEM : -EOPNOTSUPP;
}

/* Called with text_mutex held, and with the locks that keep others' reservations stable. */
int arch_prepare_optimized_kprobe(struct optimized_kprobe *op, struct kprobe *orig)
{
	struct arch_optimized_insn *optinsn = &op->optinsn;
	enum detour_obstacle obstacle;
	struct region region;

	obstacle = kprobe_plan_region(&region, (unsigned long)op->kp.addr);
	if (obstacle)
		return obstruct(op, obstacle, region.why_at);

	memcpy(optinsn->original, region.text, sizeof(optinsn->original));
	optinsn->insn = get_optinsn_slot();
	if (!optinsn->insn)
		return obstruct(op, DETOUR_NO_ROOM, 0);
	obstacle = kprobe_detour_write(op, &region);
	if (obstacle) {
		free_optinsn_slot(optinsn->insn, 0);
		return obstruct(op, obstacle, 0);
	}

	/* Before the detour can be found; pairs with the acquire in arch_jump_lead_max(). */
	smp_store_release(&kprobe_lead_max, umax(kprobe_lead_max, optinsn->lead));
	/*
	 * Publish the rest to lockless readers; pairs with the acquire in
	 * jump_covers(). An attempt that fails before this has published nothing.
	 */
	smp_store_release(&optinsn->ready, true);

	return 0;
}

int arch_within_optimized_kprobe(struct optimized_kprobe *op, kprobe_opcode_t *addr)
{
	unsigned long offset = (unsigned long)addr - jump_addr(&op->kp);

	return op->optinsn.ready && offset < max(JMP32_INSN_SIZE, op->optinsn.lead + 1);
}

static void poke_tail(struct optimized_kprobe *op, const u8 *bytes)
{
	kprobe_poke_text((u8 *)jump_addr(&op->kp) + 1, bytes + 1, JMP32_INSN_SIZE - 1);
}

/* Write what is behind the first byte while the jump is planned, with breakpoints of probes. */
static void poke_planned_tail(struct optimized_kprobe *op)
{
	const struct arch_optimized_insn *optinsn = &op->optinsn;
	unsigned long traps = optinsn->sharing | BIT(optinsn->lead);
	u8 bytes[JMP32_INSN_SIZE];
	unsigned int at;

	for (at = 1; at < JMP32_INSN_SIZE; at++)
		bytes[at] = traps & BIT(at) ? INT3_INSN_OPCODE : optinsn->original[at];
	poke_tail(op, bytes);
}

static void poke_first(struct optimized_kprobe *op, u8 byte)
{
	kprobe_poke_text((u8 *)jump_addr(&op->kp), &byte, sizeof(byte));
}

/* Write or remove the breakpoints at the start of those jumps whose probe has none there. */
static void poke_fences(struct list_head *oplist, bool fence)
{
	struct optimized_kprobe *op;

	list_for_each_entry(op, oplist, list) {
		if (!op->optinsn.fenced || !op->optinsn.lead || op->optinsn.chained)
			continue;
		poke_first(op, fence ? INT3_INSN_OPCODE : op->optinsn.original[0]);
	}
	kprobe_poke_sync();
}

static void fill_jump(struct optimized_kprobe *op, u8 *jump)
{
	const struct arch_optimized_insn *optinsn = &op->optinsn;
	unsigned int to = optinsn->lead ? optinsn->copy_at[0] : offsetof(struct detour, code);

	__text_gen_insn(jump, JMP32_INSN_OPCODE, (void *)jump_addr(&op->kp), optinsn->insn + to,
			JMP32_INSN_SIZE);
}

void arch_fence_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;

	list_for_each_entry(op, oplist, list) {
		/* The detour is written: let look-ups find it, if they did not before. */
		kprobe_publish_optinsn_slot(op->optinsn.insn);
		WRITE_ONCE(op->optinsn.fenced, true);
	}
	poke_fences(oplist, true);
}

/* Restore the text that the jumps would cover, except the probes' breakpoints. */
void arch_unfence_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;

	poke_fences(oplist, false);
	list_for_each_entry(op, oplist, list)
		WRITE_ONCE(op->optinsn.fenced, false);
}

void arch_optimize_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;
	u8 jump[JMP32_INSN_SIZE];

	/* Chained probes have no jump: that of another probe leads to them. */
	list_for_each_entry(op, oplist, list) {
		if (op->optinsn.chained)
			continue;
		fill_jump(op, jump);
		poke_tail(op, jump);
	}
	kprobe_poke_sync();

	list_for_each_entry(op, oplist, list) {
		if (!op->optinsn.chained)
			poke_first(op, JMP32_INSN_OPCODE);
	}
	kprobe_poke_sync();
}

/* The breakpoints of the probes stay in place. */
void arch_unoptimize_kprobes(struct list_head *oplist, struct list_head *done_list)
{
	struct optimized_kprobe *op;

	list_for_each_entry(op, oplist, list)
		poke_first(op, INT3_INSN_OPCODE);
	kprobe_poke_sync();

	list_for_each_entry(op, oplist, list)
		poke_planned_tail(op);
	kprobe_poke_sync();

	arch_unfence_kprobes(oplist);
	list_splice_tail_init(oplist, done_list);
}

/* In a Xen guest POPF cannot switch off interrupts for the copy. */
bool arch_detour_calls_post(const struct optimized_kprobe *op)
{
	if (cpu_feature_enabled(X86_FEATURE_XENPV))
		return false;

	return !op->optinsn.insn || op->optinsn.post;
}
