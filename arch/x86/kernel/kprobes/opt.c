// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps: whether a probe can have one, and how it is written.
 *
 * The text changes from breakpoint to jump and back in steps, and every CPU has seen a
 * step before the next is made. While anything else changes there is a breakpoint at the
 * start, and wherever region.c asks for one.
 */
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include "common.h"
#include "detour.h"
#include "emit.h"
#include "lead.h"
#include "place.h"
#include "poke.h"
#include "region.h"

int arch_explain_optimized_kprobe(struct optimized_kprobe *op, char *buf, size_t size)
{
	return kprobe_explain_obstacle(op->optinsn.why, op->optinsn.why_at, buf, size);
}

static int obstruct(struct optimized_kprobe *op, enum detour_obstacle why, unsigned int at)
{
	struct arch_optimized_insn *optinsn = &op->optinsn;

	/* Readers hold kprobe_mutex, since @size has not been written. */
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

	if (!kprobe_detour_lay_out(op, &region))
		return obstruct(op, DETOUR_TOO_LONG, 0);
	memcpy(optinsn->original, region.text, region.size);
	optinsn->insn = kprobe_detour_get_slot(optinsn, &region);
	if (!optinsn->insn)
		return obstruct(op, DETOUR_NO_ROOM, 0);
	if (kprobe_detour_write(op, &region)) {
		free_optinsn_slot(optinsn->insn, 0);
		return obstruct(op, DETOUR_NOT_RELOCATABLE, 0);
	}

	kprobe_note_lead(optinsn);
	/*
	 * Publish the rest to lockless readers; pairs with the acquire in
	 * covering_probe(). An attempt that fails before this has published nothing.
	 */
	smp_store_release(&optinsn->size, region.size);

	return 0;
}

int arch_within_optimized_kprobe(struct optimized_kprobe *op, kprobe_opcode_t *addr)
{
	unsigned long offset = (unsigned long)addr - jump_addr(&op->kp);

	return op->optinsn.size && offset < max(op->optinsn.size, op->optinsn.lead + 1);
}

/* Offsets of the breakpoints that probes have without a jump. */
static u8 probes_at(const struct arch_optimized_insn *optinsn)
{
	return optinsn->sharing | BIT(optinsn->lead);
}

/* Offsets of other breakpoints: at the start of the jump, and where it contains one. */
static u8 fence_at(const struct arch_optimized_insn *optinsn)
{
	return (optinsn->traps | BIT(0)) & ~probes_at(optinsn);
}

/*
 * Write the breakpoints of a fence, or the original bytes back. Those of probes stay. Return
 * whether there are any.
 */
static bool poke_fence(struct optimized_kprobe *op, bool trap)
{
	const struct arch_optimized_insn *optinsn = &op->optinsn;
	u8 fence = fence_at(optinsn);
	static const u8 int3 = INT3_INSN_OPCODE;
	u8 *addr = (u8 *)jump_addr(&op->kp);
	const u8 *old, *new;
	unsigned int at;

	for (at = 0; at < optinsn->size; at++) {
		if (!(fence & BIT(at)))
			continue;
		old = trap ? &optinsn->original[at] : &int3;
		new = trap ? &int3 : &optinsn->original[at];
		kprobe_poke_text(addr + at, new, 1);
		perf_event_text_poke(addr + at, old, 1, new, 1);
	}

	return fence;
}

/* Fill in the text of a fenced region before its jump is written. */
static void fill_fenced(struct optimized_kprobe *op, u8 *bytes)
{
	const struct arch_optimized_insn *optinsn = &op->optinsn;
	u8 traps = fence_at(optinsn) | probes_at(optinsn);
	unsigned int at;

	for (at = 0; at < optinsn->size; at++)
		bytes[at] = traps & BIT(at) ? INT3_INSN_OPCODE : optinsn->original[at];
}

/* Write all bytes behind the first. The jump has a breakpoint wherever one has to stay. */
static void poke_tail(struct optimized_kprobe *op, const u8 *bytes)
{
	kprobe_poke_text((u8 *)jump_addr(&op->kp) + 1, bytes + 1, op->optinsn.size - 1);
}

static void poke_first(struct optimized_kprobe *op, u8 byte)
{
	kprobe_poke_text((u8 *)jump_addr(&op->kp), &byte, sizeof(byte));
}

static void fill_jump(struct optimized_kprobe *op, u8 *jump)
{
	unsigned int prefixes = op->optinsn.size - JMP32_INSN_SIZE;
	u8 *addr = (u8 *)jump_addr(&op->kp) + prefixes;

	memset(jump, CS_PREFIX, prefixes);
	__text_gen_insn(jump + prefixes, JMP32_INSN_OPCODE, addr,
			op->optinsn.insn + detour_start(&op->optinsn), JMP32_INSN_SIZE);
}

void arch_fence_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;
	bool any = false;

	list_for_each_entry(op, oplist, list) {
		/* The slot is written now, and no CPU has been in it. */
		kprobe_publish_optinsn_slot(op->optinsn.insn);
		WRITE_ONCE(op->optinsn.fenced, true);
		if (!op->optinsn.chained)
			any |= poke_fence(op, true);
	}
	if (any)
		kprobe_poke_sync();
}

/* Restore the text that the jumps would cover, except the probes' breakpoints. */
void arch_unfence_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;
	bool any = false;

	list_for_each_entry(op, oplist, list) {
		if (op->optinsn.fenced && !op->optinsn.chained)
			any |= poke_fence(op, false);
	}
	if (any)
		kprobe_poke_sync();

	list_for_each_entry(op, oplist, list)
		WRITE_ONCE(op->optinsn.fenced, false);
}

/* For perf: a jump has replaced the fenced text, or that text the jump. */
static void announce_jump(struct optimized_kprobe *op, const u8 *jump, bool made)
{
	void *addr = (void *)jump_addr(&op->kp);
	unsigned int size = op->optinsn.size;
	u8 none[MAX_OPTIMIZED_LENGTH];

	fill_fenced(op, none);
	perf_event_text_poke(addr, made ? none : jump, size, made ? jump : none, size);
}

void arch_optimize_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op, *next;
	u8 jump[MAX_OPTIMIZED_LENGTH];

	/* Chained probes have no jump: that of another probe leads to them. */
	list_for_each_entry_safe(op, next, oplist, list) {
		if (op->optinsn.chained)
			list_del_init(&op->list);
	}

	list_for_each_entry(op, oplist, list) {
		fill_jump(op, jump);
		poke_tail(op, jump);
	}
	kprobe_poke_sync();

	list_for_each_entry_safe(op, next, oplist, list) {
		fill_jump(op, jump);
		poke_first(op, jump[0]);
		announce_jump(op, jump, true);
		list_del_init(&op->list);
	}
	kprobe_poke_sync();
}

/* The breakpoints of the probes stay in place. */
void arch_unoptimize_kprobes(struct list_head *oplist, struct list_head *done_list)
{
	u8 jump[MAX_OPTIMIZED_LENGTH], none[MAX_OPTIMIZED_LENGTH];
	struct optimized_kprobe *op;

	list_for_each_entry(op, oplist, list)
		poke_first(op, INT3_INSN_OPCODE);
	kprobe_poke_sync();

	list_for_each_entry(op, oplist, list) {
		fill_fenced(op, none);
		poke_tail(op, none);
		fill_jump(op, jump);
		announce_jump(op, jump, false);
	}
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
