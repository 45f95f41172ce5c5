// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps: whether a probe can have one, and how it is written.
 *
 * A jump is two instructions, but no task can be inside of it or of its region, see
 * region.c, and for kernels with preemption below. So the whole jump is written
 * at once while all CPUs are stopped, and so is the breakpoint that replaces it.
 */
#include <linux/execmem.h>
#include <linux/memory.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/set_memory.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/cacheflush.h>

#include "common.h"

/* AUIPC and JALR reach the module area from all text, and all text from there. */
void *alloc_optinsn_page(void)
{
	void *page = execmem_alloc(EXECMEM_DEFAULT, PAGE_SIZE);

	if (!page)
		return NULL;

	/* Zeros are an illegal instruction. */
	memset(page, 0, PAGE_SIZE);
	if (set_memory_rox((unsigned long)page, 1)) {
		execmem_free(page);
		return NULL;
	}

	return page;
}

static int obstruct(struct optimized_kprobe *op, enum detour_obstacle why, unsigned int at)
{
	/* Lock-free readers look at @jump and @fenced first: both are false, and stay so. */
	op->optinsn = (struct arch_optimized_insn){ .why = why, .why_at = at };

	return why == DETOUR_NO_ROOM ? -ENOMEM : -EOPNOTSUPP;
}

/* The caller holds text_mutex, and locks that keep reservations stable, see kprobe_check(). */
int arch_prepare_optimized_kprobe(struct optimized_kprobe *op, struct kprobe *orig)
{
	const struct region_insn *ri;
	enum detour_obstacle obstacle;
	struct region region;

	obstacle = kprobe_plan_region(&region, (unsigned long)op->kp.addr);
	if (obstacle)
		return obstruct(op, obstacle, region.optinsn.why_at);

	for (ri = region.insns; ri < region.insns + region.nr; ri++)
		memcpy(&region.optinsn.original[ri->at / 2], &ri->insn, insn_len(ri->insn));
	region.optinsn.insn = get_optinsn_slot();
	if (!region.optinsn.insn)
		return obstruct(op, DETOUR_NO_ROOM, 0);
	if (kprobe_detour_write(op, &region)) {
		free_optinsn_slot(region.optinsn.insn, 0);
		return obstruct(op, DETOUR_OUT_OF_REACH, 0);
	}
	op->optinsn = region.optinsn;
	kprobe_publish_optinsn_slot(op->optinsn.insn);

	return 0;
}

int arch_within_optimized_kprobe(struct optimized_kprobe *op, kprobe_opcode_t *addr)
{
	return (unsigned long)addr - jump_addr(&op->kp) < MAX_OPTIMIZED_LENGTH;
}

/* Called while all CPUs are stopped. */
static void write_jumps(struct list_head *oplist)
{
	struct optimized_kprobe *op;
	u32 jump[2];

	list_for_each_entry(op, oplist, list) {
		if (WARN_ON_ONCE(!kprobe_detour_fill_jump(&op->kp, jump)))
			continue;
		WARN_ON_ONCE(patch_insn_write((void *)jump_addr(&op->kp), jump, sizeof(jump)));
		WRITE_ONCE(op->optinsn.jump, true);
	}
}

/* Called while all CPUs are stopped. */
static void write_breakpoints(struct list_head *oplist)
{
	struct optimized_kprobe *op;
	u8 text[MAX_OPTIMIZED_LENGTH];

	list_for_each_entry(op, oplist, list) {
		u32 ebreak = kprobe_ebreak_for(op->kp.opcode);
		unsigned int lead = op->optinsn.lead;

		memcpy(text, op->optinsn.original, sizeof(text));
		/* The second half of the last breakpoint, after the jump, is still there. */
		memcpy(text + lead, &ebreak, min(insn_len(ebreak), sizeof(text) - lead));
		WARN_ON_ONCE(patch_insn_write((void *)jump_addr(&op->kp), text, sizeof(text)));
		WRITE_ONCE(op->optinsn.jump, false);
		WRITE_ONCE(op->optinsn.fenced, false);
	}
}

void arch_optimize_kprobes(struct list_head *oplist)
{
	kprobe_write_text(write_jumps, oplist);
}

/* Replace the jumps by the breakpoints of the probes. */
void arch_unoptimize_kprobes(struct list_head *oplist, struct list_head *done_list)
{
	kprobe_write_text(write_breakpoints, oplist);
	list_splice_tail_init(oplist, done_list);
}

/* -- preemption -- */

/*
 * Jumps in a kernel that may preempt a task at any instruction.
 *
 * Text is written while all CPUs are stopped, but tasks that are not running may have
 * been preempted in that text. Two measures keep them out of it:
 *
 * - A jump is AUIPC and JALR. The AUIPC reads no register and writes one that is free,
 *   so it may run twice. A task that is interrupted at the JALR is set back to the AUIPC
 *   before it may be preempted, and so is never preempted between the two.
 *
 * - Before a jump is written its region is fenced: a hit of the breakpoint continues in
 *   the detour's copies of the region, and returns after it. If the jump will begin before
 *   its probe, there is a breakpoint as well. There is no other way in, see region.c. So
 *   all tasks that were inside have left after an RCU-tasks grace period.
 */

static bool any_has_lead(struct list_head *oplist)
{
	struct optimized_kprobe *op;

	list_for_each_entry(op, oplist, list) {
		if (op->optinsn.lead)
			return true;
	}

	return false;
}

/* Write breakpoints where jumps begin before their probes. Called while all CPUs are stopped. */
static void write_fences(struct list_head *oplist)
{
	struct optimized_kprobe *op;
	u32 ebreak;

	list_for_each_entry(op, oplist, list) {
		if (!op->optinsn.lead)
			continue;
		ebreak = kprobe_ebreak_for(op->optinsn.original[0]);
		WARN_ON_ONCE(patch_insn_write((void *)jump_addr(&op->kp), &ebreak,
					      insn_len(ebreak)));
	}
}

/* Restore the originals of these breakpoints; they are not longer than what a jump covers. */
static void write_unfenced(struct list_head *oplist)
{
	struct optimized_kprobe *op;

	list_for_each_entry(op, oplist, list) {
		const u16 *original = op->optinsn.original;

		if (!op->optinsn.lead || !op->optinsn.fenced)
			continue;
		WARN_ON_ONCE(patch_insn_write((void *)jump_addr(&op->kp), original,
					      insn_len(*original)));
	}
}

/*
 * The flush lets all CPUs fetch the detours: they are entered before the flush that comes
 * with writing the jumps. Pairs with READ_ONCE() in kprobe_is_fenced().
 */
void arch_fence_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;

	lockdep_assert_held(&text_mutex);

	flush_icache_all();
	list_for_each_entry(op, oplist, list)
		WRITE_ONCE(op->optinsn.fenced, true);
	if (any_has_lead(oplist))
		kprobe_write_text(write_fences, oplist);
}

void arch_unfence_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;

	if (any_has_lead(oplist))
		kprobe_write_text(write_unfenced, oplist);
	list_for_each_entry(op, oplist, list)
		WRITE_ONCE(op->optinsn.fenced, false);
}

#ifdef CONFIG_PREEMPTION
/* Lower half of a JALR that does not link. */
#define JUMP_MASK	0x7fff
#define JUMP_MATCH	0x0067

static __always_inline bool is_register_jump(unsigned long addr)
{
	u16 parcel;

	__get_kernel_nofault(&parcel, (u16 *)addr, u16, gone);
	return (parcel & JUMP_MASK) == JUMP_MATCH;
gone:
	return false;
}

/* The task was interrupted at a JALR: if that is the second half of a jump, repeat the first. */
static noinline void rewind_to_start(struct pt_regs *regs)
{
	unsigned long probe, start = regs->epc - sizeof(u32);
	struct kprobe *p;

	for (probe = start; probe <= start + arch_jump_lead_max(); probe += 2) {
		p = get_kprobe((kprobe_opcode_t *)probe);
		if (p && READ_ONCE(optinsn_of(p)->jump) && jump_addr(p) == start)
			regs->epc = start;
	}
}

NOKPROBE_SYMBOL(rewind_to_start);

/**
 * kprobe_rewind_jump() - set an interrupted task back to the start of a probe's jump
 * @regs: registers of the task
 *
 * The opcode is checked first, so that few exceptions pay for the lookup.
 *
 * Context: The end of an exception that may preempt the task, interrupts off. If it must
 * not preempt, the CPU cannot stop for a change of text before the task continues.
 */
void kprobe_rewind_jump(struct pt_regs *regs)
{
	if (!user_mode(regs) && !preempt_count() && unlikely(is_register_jump(regs->epc)))
		rewind_to_start(regs);
}

NOKPROBE_SYMBOL(kprobe_rewind_jump);
#endif
