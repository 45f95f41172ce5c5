// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps: whether a probe can have one, and how it is written.
 *
 * A jump is two instructions, but no task can be inside of it or of its region, see
 * region.c, and for kernels with preemption below. So the whole jump is written
 * at once while all CPUs are stopped, and so is the breakpoint that replaces it.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/build_bug.h>
#include <linux/execmem.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/list.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/set_memory.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/cacheflush.h>
#include <asm/kprobes_base.h>

#include "common.h"
#include "window.h"

/* window.h relies on this. */
static_assert(MAX_OPTIMIZED_LENGTH / sizeof(u16) - 1 == COVER);

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

int arch_explain_optimized_kprobe(struct optimized_kprobe *op, char *buf, size_t size)
{
	return kprobe_explain_obstacle(op->optinsn.why, op->optinsn.why_at, buf, size);
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
	struct arch_optimized_insn *optinsn = &op->optinsn;
	const struct region_insn *ri;
	enum detour_obstacle obstacle;
	struct region region;
	/* What the jump replaces, but for the breakpoints of probes (the last may be longer) */
	u16 originals[REGION_INSNS + 1];

	obstacle = kprobe_plan_region(&region, (unsigned long)op->kp.addr);
	if (obstacle)
		return obstruct(op, obstacle, region.why_at);

	*optinsn = (struct arch_optimized_insn){
		.reg = region.in,
		.extable = region.extable,
		.site = region.site,
		.emulated = kprobe_region_is_emulated(&region),
		.has_exit = region.exit,
	};
	for (ri = region.insns; ri < region.insns + region.nr; ri++)
		memcpy((void *)originals + ri->at, &ri->insn, insn_len(ri->insn));
	memcpy(optinsn->original, originals, sizeof(optinsn->original));
	optinsn->insn = get_optinsn_slot();
	if (!optinsn->insn)
		return obstruct(op, DETOUR_NO_ROOM, 0);
	if (kprobe_detour_write(op, &region)) {
		free_optinsn_slot(optinsn->insn, 0);
		return obstruct(op, DETOUR_OUT_OF_REACH, 0);
	}
	kprobe_publish_optinsn_slot(optinsn->insn);

	return 0;
}

int arch_within_optimized_kprobe(struct optimized_kprobe *op, kprobe_opcode_t *addr)
{
	return addr >= op->kp.addr && (void *)addr < (void *)op->kp.addr + MAX_OPTIMIZED_LENGTH;
}

/* Called while all CPUs are stopped. */
static void write_jumps(struct list_head *oplist)
{
	struct optimized_kprobe *op;
	u32 jump[2];

	list_for_each_entry(op, oplist, list) {
		if (WARN_ON_ONCE(!kprobe_detour_fill_jump(&op->kp, jump)))
			continue;
		WARN_ON_ONCE(patch_insn_write(op->kp.addr, jump, sizeof(jump)));
		WRITE_ONCE(op->optinsn.jump, true);
	}
}

/* Called while all CPUs are stopped. */
static void write_breakpoints(struct list_head *oplist)
{
	u16 parcels[MAX_OPTIMIZED_LENGTH / sizeof(u16)];
	struct optimized_kprobe *op;

	list_for_each_entry(op, oplist, list) {
		u32 ebreak = kprobe_ebreak_for(op->kp.opcode);

		memcpy(parcels, op->optinsn.original, sizeof(parcels));
		memcpy(parcels, &ebreak, insn_len(ebreak));
		WARN_ON_ONCE(patch_insn_write(op->kp.addr, parcels, sizeof(parcels)));
		WRITE_ONCE(op->optinsn.jump, false);
		WRITE_ONCE(op->optinsn.fenced, false);
	}
}

void arch_optimize_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op, *next;

	kprobe_write_text(write_jumps, oplist);
	list_for_each_entry_safe(op, next, oplist, list)
		list_del_init(&op->list);
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
 *   the detour's copies of the region, and returns after it. There is no other way in,
 *   see region.c. So all tasks that were inside have left after an RCU-tasks grace
 *   period.
 */

/*
 * The flush lets all CPUs fetch the detours: they are entered before the flush that comes
 * with writing the jumps. Pairs with READ_ONCE() in kprobe_enter_fenced().
 */
void arch_fence_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;

	lockdep_assert_held(&text_mutex);

	flush_icache_all();
	list_for_each_entry(op, oplist, list)
		WRITE_ONCE(op->optinsn.fenced, true);
}

void arch_unfence_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;

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
	struct kprobe *p;

	if (user_mode(regs) || preempt_count() || likely(!is_register_jump(regs->epc)))
		return;

	p = get_kprobe((void *)regs->epc - sizeof(u32));
	if (p && READ_ONCE(optinsn_of(p)->jump))
		regs->epc -= sizeof(u32);
}

NOKPROBE_SYMBOL(kprobe_rewind_jump);
#endif
