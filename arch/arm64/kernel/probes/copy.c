// SPDX-License-Identifier: GPL-2.0-only
/*
 * Out-of-line copies of probed instructions, and the return from them.
 *
 * A slot holds two copies of one instruction. A branch back to the original code
 * follows the first, and a branch to what calls the post_handler follows the second.
 * If a branch does not reach that far, a breakpoint follows instead. Its trap goes on
 * behind the original, whose address is in the slot, or calls the post_handler.
 *
 * The first copy runs after the hit has ended: the task may be preempted in it
 * and migrate, and the slot is not freed before an RCU-tasks grace period has
 * ended. The second copy runs with interrupts off and the probe current, so
 * that the hit stays on its CPU, and only what cannot be masked can hit other
 * probes there between its handlers.
 *
 * A fault in a copy is reported at the original address, because the exception
 * table lists that one, and because a task must not sleep in a copy until a page
 * arrives. If the fault is retried, the task hits the breakpoint again.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/build_bug.h>
#include <linux/cleanup.h>
#include <linux/execmem.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/set_memory.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/cacheflush.h>
#include <asm/daifflags.h>
#include <asm/debug-monitors.h>
#include <asm/insn.h>
#include <asm/patching.h>

#include "common.h"

/**
 * struct slot - contents of an instruction slot
 * @addr: address of the original instruction
 * @back: the copy, and the branch behind the original or a breakpoint
 * @post: the copy, and the branch to kprobe_slot_post_entry() or a breakpoint
 * @literal: the literal of an instruction that loads one into a SIMD register
 * @behind: where kprobe_slot_post_entry() returns to: restores the link register, releases
 *	the struct pt_regs on the stack, and branches to back[1]; the same in all slots, so
 *	written once per page
 */
struct slot {
	unsigned long addr;
	__le32 back[2];
	__le32 post[2];
	u8 literal[16];
	__le32 behind[UNFRAME + 1];
};

static_assert(sizeof(struct slot) == KPROBE_INSN_SLOT_SIZE);

/* detour_hit.c relies on it. */
static_assert(offsetof(struct slot, behind) == SLOT_BEHIND);

static __always_inline struct slot *slot_of(struct kprobe *p)
{
	return (struct slot *)p->ainsn.api.insn;
}

/* execmem_alloc() works from core_initcall() on. */
static bool execmem_ready __ro_after_init;

static int __init note_execmem(void)
{
	execmem_ready = true;

	return 0;
}
core_initcall_sync(note_execmem);

/* Largest distance of a branch. A test lowers it. */
long kprobe_copy_reach = SZ_128M;

/* Encode a B from @from to @to, or a breakpoint if that is out of reach. */
static __le32 way_back(const __le32 *from, unsigned long to)
{
	long distance = to - (unsigned long)from;

	if (distance < -kprobe_copy_reach || distance >= kprobe_copy_reach)
		return cpu_to_le32(BRK64_OPCODE_KPROBES_SS);

	return cpu_to_le32(insn_branch((unsigned long)from, to));
}

static void fill_behind(struct slot *image)
{
	kprobe_fill_unframe(image->behind);
	image->behind[UNFRAME] =
		cpu_to_le32(insn_branch(offsetof(struct slot, behind[UNFRAME]),
					offsetof(struct slot, back[1])));
}

/*
 * Write what is the same in all slots, and breakpoints elsewhere. Detours, which get their
 * pages here too, overwrite it.
 */
static bool fill_page(void *page)
{
	struct slot *image __free(kfree) = kmalloc(PAGE_SIZE, GFP_KERNEL);
	unsigned int i;

	if (!image)
		return false;

	memset32((u32 *)image, (__force u32)cpu_to_le32(AARCH64_BREAK_FAULT),
		 PAGE_SIZE / AARCH64_INSN_SIZE);
	for (i = 0; i < PAGE_SIZE / sizeof(*image); i++)
		fill_behind(&image[i]);
	aarch64_insn_copy(page, image, PAGE_SIZE);

	return true;
}

/* Prefer a page near the kernel, so that branches back to the text reach. */
void *alloc_insn_page(void)
{
	void *page;

	if (!execmem_ready)
		return NULL;

	page = execmem_alloc(EXECMEM_MODULE_TEXT, PAGE_SIZE);
	if (!page)
		page = execmem_alloc(EXECMEM_KPROBES, PAGE_SIZE);
	if (!page)
		return NULL;

	if (set_memory_rox((unsigned long)page, 1) || !fill_page(page)) {
		execmem_free(page);
		return NULL;
	}

	return page;
}

/* kprobe_slot_post_entry() uses code of detours. */
static __le32 way_to_post(const struct slot *slot)
{
	if (!IS_ENABLED(CONFIG_OPTPROBES))
		return cpu_to_le32(BRK64_OPCODE_KPROBES_SS);

	return way_back(slot->post + 1, (unsigned long)kprobe_slot_post_entry);
}

/* Encode the copy at @dest in @slot; a SIMD load takes its literal from the slot. */
static __le32 copied(struct kprobe *p, const struct slot *slot, const __le32 *dest)
{
	long distance = (long)slot->literal - (long)dest;
	u32 insn = p->opcode;

	if (kprobe_insn_is_simd_literal(insn)) {
		insn &= ~GENMASK(23, 5);
		insn |= (distance >> 2) << 5;
	}

	return cpu_to_le32(insn);
}

static int fill_slot(struct slot *image, const struct slot *slot, struct kprobe *p)
{
	unsigned long addr = (unsigned long)p->addr;

	memset(image, 0, sizeof(*image));
	image->addr = addr;
	image->back[0] = copied(p, slot, &slot->back[0]);
	image->back[1] = way_back(&slot->back[1], pc_behind(p));
	image->post[0] = copied(p, slot, &slot->post[0]);
	image->post[1] = way_to_post(slot);

	if (!kprobe_insn_is_simd_literal(p->opcode))
		return 0;

	return copy_from_kernel_nofault(image->literal,
					(void *)(addr + insn_literal_offset(p->opcode)),
					4 << (p->opcode >> 30));
}

/*
 * CPUs need no further synchronization: they enter a slot by an exception return, and
 * return to @behind only in a page that all of them have synchronized with.
 */
static int write_slot(struct slot *slot, struct kprobe *p)
{
	size_t i, len = offsetof(struct slot, literal);
	struct slot image;
	int ret;

	if (kprobe_insn_is_simd_literal(p->opcode))
		len = offsetof(struct slot, behind);

	ret = fill_slot(&image, slot, p);
	for (i = 0; !ret && i < len / sizeof(u64); i++)
		ret = aarch64_insn_write_literal_u64((u64 *)slot + i, ((u64 *)&image)[i]);
	caches_clean_inval_pou((unsigned long)slot, (unsigned long)(slot + 1));
	if (!ret)
		perf_event_text_poke(slot, NULL, 0, slot, sizeof(*slot));

	return ret;
}

int kprobe_prepare_copy(struct kprobe *p)
{
	struct slot *slot = (struct slot *)get_insn_slot();
	int ret;

	if (!slot)
		return -ENOMEM;

	ret = write_slot(slot, p);
	if (ret) {
		pr_debug("%pS: cannot be copied\n", p->addr);
		free_insn_slot((kprobe_opcode_t *)slot, 0);
		return ret;
	}
	p->ainsn.api.insn = (probe_opcode_t *)slot;

	return 0;
}

void arch_remove_kprobe(struct kprobe *p)
{
	if (!p->ainsn.api.insn)
		return;

	free_insn_slot(p->ainsn.api.insn, 1);
	p->ainsn.api.insn = NULL;
}

void kprobe_enter_copy(struct kprobe *p, struct pt_regs *regs)
{
	regs->pc = (unsigned long)slot_of(p)->back;
}

NOKPROBE_SYMBOL(kprobe_enter_copy);

/* Continue at the second copy; @p stays current until its post_handler has run. */
void kprobe_enter_post_copy(struct kprobe *p, struct pt_regs *regs)
{
	mask_daif(regs);
	regs->pc = (unsigned long)slot_of(p)->post;
}

NOKPROBE_SYMBOL(kprobe_enter_post_copy);

static void finish_post_copy(struct pt_regs *regs)
{
	struct kprobe *p = kprobe_running();

	restore_daif(regs);
	regs->pc = pc_behind(p);

	kprobe_hit_finish(p, regs, true);
}

NOKPROBE_SYMBOL(finish_post_copy);

/**
 * kprobe_ss_brk_handler() - handle the breakpoint behind a copy, or of a detour
 * @regs: registers at the trap
 * @esr: syndrome of the exception
 *
 * Context: The exception, as in an NMI.
 * Return: %DBG_HOOK_HANDLED, or %DBG_HOOK_ERROR when there is no copy here.
 */
int kprobe_ss_brk_handler(struct pt_regs *regs, unsigned long esr)
{
	struct slot *slot = kprobe_insn_slot_at(regs->pc);

	if (kprobe_detour_load(regs))
		return DBG_HOOK_HANDLED;

	if (regs->pc == (unsigned long)&slot->back[1]) {
		regs->pc = slot->addr + AARCH64_INSN_SIZE;
		return DBG_HOOK_HANDLED;
	}

	if (regs->pc != (unsigned long)&slot->post[1] || !kprobe_running())
		return DBG_HOOK_ERROR;

	finish_post_copy(regs);

	return DBG_HOOK_HANDLED;
}

NOKPROBE_SYMBOL(kprobe_ss_brk_handler);

/*
 * Marks the registers of a fault that has ended a hit at @pc, in a word that is used in
 * exceptions of user space only.
 */
static unsigned long fault_mark(const struct pt_regs *regs, unsigned long pc)
{
	return (unsigned long)regs ^ pc;
}

NOKPROBE_SYMBOL(fault_mark);

/*
 * A fault ends the hit whose second copy runs, at regs->pc. The exception's entry has
 * inherited the copy's mask; inherit the probed code's. local_daif_mask() comes first since the
 * copy masked interrupts by DAIF, while lockdep looks at the priority mask where there is one.
 */
void kprobe_leave_post_copy(struct pt_regs *regs)
{
	restore_daif(regs);
	kprobe_hit_end(true);
	regs->orig_x0 = fault_mark(regs, regs->pc);
	local_daif_mask();
	local_daif_inherit(regs);
}

NOKPROBE_SYMBOL(kprobe_leave_post_copy);

/**
 * arch_kprobe_leave_copy() - move a fault in a copy to the probed instruction
 * @regs: registers at the fault, in the kernel
 *
 * Context: An exception, before anything is done about it.
 */
void arch_kprobe_leave_copy(struct pt_regs *regs)
{
	struct slot *slot = kprobe_insn_slot_at(regs->pc);
	unsigned long pc = regs->pc;

	kprobe_detour_leave_copy(regs);
	if (likely(!is_kprobe_insn_slot(pc)))
		return;

	/* The branch and the breakpoints behind a copy do not fault. */
	if (pc != (unsigned long)slot->back && pc != (unsigned long)slot->post)
		return;

	regs->pc = slot->addr;
	if (pc == (unsigned long)slot->post)
		kprobe_leave_post_copy(regs);
}

NOKPROBE_SYMBOL(arch_kprobe_leave_copy);

/**
 * arch_kprobe_fixed_up() - call the post_handler of a probe whose fault was fixed up
 * @regs: registers after the fixup
 * @pc: instruction that faulted, not its copy
 *
 * The fixup ends the instruction as far as the probed code is concerned. Not every fault
 * there was a hit: the task may have slept in it while the breakpoint was written.
 *
 * Context: An exception.
 */
void arch_kprobe_fixed_up(struct pt_regs *regs, unsigned long pc)
{
	struct kprobe *p;

	if (likely(regs->orig_x0 != fault_mark(regs, pc)))
		return;

	regs->orig_x0 = 0;
	guard(preempt_notrace)();
	p = get_kprobe((kprobe_opcode_t *)pc);
	if (p)
		kprobe_hit_fixed_up(p, regs, 0);
}

NOKPROBE_SYMBOL(arch_kprobe_fixed_up);
