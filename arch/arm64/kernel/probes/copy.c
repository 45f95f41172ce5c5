// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of probed instructions, and the ways out of them.
 *
 * A slot holds two copies of one instruction. Behind the first is a branch back
 * to the original code: once there, the hit is over. Text too far away for that
 * is reached by a breakpoint, which needs to know nothing but the slot. Behind
 * the second copy is a breakpoint whose trap calls the post_handler.
 *
 * The first copy runs with nothing held: the task may be preempted in it, even
 * migrate, and an RCU-tasks grace period keeps the slot until it has left. The
 * second runs with interrupts off and the probe current, so that the hit stays
 * on its CPU and is the only one there between the handlers, but for those of
 * an NMI that comes meanwhile.
 *
 * An instruction that faults in a copy is moved to the original place before
 * the fault is handled, since the kernel has its fixups for that address, and
 * since a task that sleeps until the page is there must not do so in a copy.
 * If the fault is to be retried the breakpoint is hit again, and is a new hit.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/build_bug.h>
#include <linux/cleanup.h>
#include <linux/execmem.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/set_memory.h>
#include <linux/sizes.h>
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
 * @addr: the original instruction
 * @back: copy, and the way behind the original
 * @post: copy, and a breakpoint
 * @literal: what the instruction loads, if it is a SIMD register from where it is
 */
struct slot {
	unsigned long addr;
	__le32 back[2];
	__le32 post[2];
	u8 literal[16];
};

static_assert(sizeof(struct slot) == KPROBE_INSN_SLOT_SIZE);

static __always_inline struct slot *slot_of(struct kprobe *p)
{
	return (struct slot *)p->ainsn.api.insn;
}

/* Executable memory can be had from core_initcall() on. */
static bool execmem_ready __ro_after_init;

static int __init note_execmem(void)
{
	execmem_ready = true;

	return 0;
}
core_initcall_sync(note_execmem);

/* Near the kernel, if there is room, for the sake of the branches back. */
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

	if (set_memory_rox((unsigned long)page, 1)) {
		execmem_free(page);
		return NULL;
	}
	aarch64_insn_set(page, AARCH64_BREAK_FAULT, PAGE_SIZE);

	return page;
}

/* How far a branch may go. A test makes it less. */
long copy_reach = SZ_128M;

/* B from @from to @to, or a breakpoint where that does not reach. */
static __le32 way_back(const __le32 *from, unsigned long to)
{
	long distance = to - (unsigned long)from;

	if (distance < -copy_reach || distance >= copy_reach)
		return cpu_to_le32(BRK64_OPCODE_KPROBES_SS);

	return cpu_to_le32(aarch64_insn_get_b_value() | ((distance >> 2) & GENMASK(25, 0)));
}

/* The instruction at @dest in @slot; a SIMD literal is loaded from the slot. */
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
	image->post[1] = cpu_to_le32(BRK64_OPCODE_KPROBES_SS);

	if (!kprobe_insn_is_simd_literal(p->opcode))
		return 0;

	return copy_from_kernel_nofault(image->literal,
					(void *)(addr + insn_literal_offset(p->opcode)),
					4 << (p->opcode >> 30));
}

/* A CPU comes to a slot by the return from an exception, so it will fetch this. */
static int write_slot(struct slot *slot, struct kprobe *p)
{
	size_t i, len = offsetof(struct slot, literal);
	struct slot image;
	int ret;

	if (kprobe_insn_is_simd_literal(p->opcode))
		len = sizeof(image);

	ret = fill_slot(&image, slot, p);
	for (i = 0; !ret && i < len / sizeof(u64); i++)
		ret = aarch64_insn_write_literal_u64((u64 *)slot + i, ((u64 *)&image)[i]);
	caches_clean_inval_pou((unsigned long)slot, (unsigned long)(slot + 1));
	if (!ret)
		perf_event_text_poke(slot, NULL, 0, &image, len);

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

void kprobe_remove_copy(struct kprobe *p)
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

/* Leave the trap for the second copy; @p stays current. */
void kprobe_enter_post_copy(struct kprobe *p, struct pt_regs *regs)
{
	__this_cpu_write(kprobe_ctlblk.saved_daif, regs->pstate & DAIF_MASK);
	regs->pstate |= PSR_I_BIT | PSR_F_BIT;
	regs->pc = (unsigned long)slot_of(p)->post;
}

NOKPROBE_SYMBOL(kprobe_enter_post_copy);

static void restore_daif(struct pt_regs *regs)
{
	regs->pstate &= ~DAIF_MASK;
	regs->pstate |= __this_cpu_read(kprobe_ctlblk.saved_daif);
}

NOKPROBE_SYMBOL(restore_daif);

static void finish_post_copy(struct pt_regs *regs)
{
	struct kprobe *p = kprobe_running();

	restore_daif(regs);
	regs->pc = pc_behind(p);

	hit_finish(p, regs, true);
}

NOKPROBE_SYMBOL(finish_post_copy);

/**
 * kprobe_ss_brk_handler() - the breakpoint behind a copy, or of a detour
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

	/* What is behind a copy does not fault. */
	if (pc != (unsigned long)slot->back && pc != (unsigned long)slot->post)
		return;

	regs->pc = slot->addr;
	if (pc == (unsigned long)slot->post) {
		restore_daif(regs);
		hit_end(true);
		/*
		 * The exception began with the copy's mask, not the code's. That was not
		 * by priority, which is what lockdep looks at where there is one.
		 */
		local_daif_mask();
		local_daif_inherit(regs);
	}
}

NOKPROBE_SYMBOL(arch_kprobe_leave_copy);

/**
 * arch_kprobe_fixed_up() - an exception table has dealt with a fault
 * @regs: registers after the fixup
 * @pc: instruction that faulted, not its copy
 *
 * To the probed code the instruction is over, so it is to a post_handler.
 *
 * Context: An exception.
 */
void arch_kprobe_fixed_up(struct pt_regs *regs, unsigned long pc)
{
	struct kprobe *p;

	guard(preempt_notrace)();
	p = get_kprobe((kprobe_opcode_t *)pc);
	if (unlikely(p) && kprobe_is_armed(p))
		kprobe_hit_fixed_up(p, regs, 0);
}

NOKPROBE_SYMBOL(arch_kprobe_fixed_up);
