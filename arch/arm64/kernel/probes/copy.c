// SPDX-License-Identifier: GPL-2.0-only
/*
 * Out-of-line copies of probed instructions, and the return from them.
 *
 * A slot holds two copies of one instruction. A branch back to the original code
 * follows the first, and a branch to what calls the post_handler follows the second.
 * If a branch does not reach that far, a breakpoint follows instead. Its trap goes on
 * after the original, whose address is in the slot, or calls the post_handler.
 *
 * The first copy runs after the hit has ended: the task may be preempted in it
 * and migrate, and the slot is not freed before an RCU-tasks grace period has
 * ended. The second copy runs with interrupts off and the probe current, so
 * that the hit stays on its CPU, and only what cannot be masked can hit other
 * probes there between its handlers.
 */
#include <linux/cleanup.h>
#include <linux/execmem.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/set_memory.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/cacheflush.h>
#include <asm/debug-monitors.h>
#include <asm/memory.h>
#include <asm/sections.h>

#include "common.h"

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

static void fill_after(struct slot *image)
{
	kprobe_fill_release(image->after);
	image->after[RELEASE_INSNS] =
		cpu_to_le32(insn_branch(offsetof(struct slot, after[RELEASE_INSNS]),
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
		fill_after(&image[i]);
	aarch64_insn_copy(page, image, PAGE_SIZE);

	return true;
}

/*
 * Prefer a page from which branches reach the kernel's text. That of modules is within reach as
 * well, unless it is anywhere in 2 GiB: then it goes without jumps.
 */
void *alloc_insn_page(void)
{
	void *page;

	if (!execmem_ready)
		return NULL;

	if (IS_ENABLED(CONFIG_RANDOMIZE_MODULE_REGION_FULL) && kaslr_enabled())
		page = __vmalloc_node_range(PAGE_SIZE, 1, (unsigned long)_end - SZ_128M,
					    (unsigned long)_text + SZ_128M,
					    GFP_KERNEL | __GFP_NOWARN, PAGE_KERNEL_ROX,
					    VM_FLUSH_RESET_PERMS, NUMA_NO_NODE,
					    __builtin_return_address(0));
	else
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

/* Encode the copy at @dest in @slot; a SIMD load takes its literal from the slot. */
static __le32 slot_encode_copy(struct kprobe *p, const struct slot *slot, const __le32 *dest)
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
	image->back[0] = slot_encode_copy(p, slot, &slot->back[0]);
	image->back[1] = way_back(&slot->back[1], pc_after(p));
	image->post[0] = slot_encode_copy(p, slot, &slot->post[0]);
	image->post[1] = way_back(&slot->post[1], (unsigned long)kprobe_slot_post_entry);

	if (!kprobe_insn_is_simd_literal(p->opcode))
		return 0;

	return copy_from_kernel_nofault(image->literal,
					(void *)(addr + insn_literal_offset(p->opcode)),
					4 << (p->opcode >> 30));
}

/*
 * CPUs need no further synchronization: they enter a slot by an exception return, and
 * return to @after only in a page that all of them have synchronized with.
 */
static int write_slot(struct slot *slot, struct kprobe *p)
{
	size_t i, len = offsetof(struct slot, literal);
	struct slot image;
	int ret;

	if (kprobe_insn_is_simd_literal(p->opcode))
		len = offsetof(struct slot, after);

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
		free_insn_slot((kprobe_opcode_t *)slot, 0);
		return kprobe_refuse(ret, p->addr, "cannot be copied");
	}
	kprobe_xol_insn(p) = (kprobe_opcode_t *)slot;

	return 0;
}

void arch_remove_kprobe(struct kprobe *p)
{
	if (kprobe_xol_insn(p))
		free_insn_slot(kprobe_xol_insn(p), 1);
}

/* Continue at the second copy; @p stays current until its post_handler has run. */
void kprobe_enter_post_copy(struct kprobe *p, struct pt_regs *regs)
{
	mask_daif(regs);
	regs->pc = (unsigned long)slot_of(p)->post;
}

NOKPROBE_SYMBOL(kprobe_enter_post_copy);

/**
 * kprobe_ss_brk_handler() - handle the breakpoint after a copy, or of a detour
 * @regs: registers at the trap
 * @esr: syndrome of the exception
 *
 * Context: The exception, as in an NMI.
 * Return: %DBG_HOOK_HANDLED, or %DBG_HOOK_ERROR when there is no copy here.
 */
int kprobe_ss_brk_handler(struct pt_regs *regs, unsigned long esr)
{
	struct slot *slot = kprobe_insn_slot_at(regs->pc);
	struct kprobe *p = kprobe_running();

	if (kprobe_detour_elsewhere(regs))
		return DBG_HOOK_HANDLED;

	if (regs->pc == (unsigned long)&slot->back[1]) {
		regs->pc = slot->addr + AARCH64_INSN_SIZE;
		return DBG_HOOK_HANDLED;
	}

	if (regs->pc != (unsigned long)&slot->post[1] || !p)
		return DBG_HOOK_ERROR;

	restore_daif(regs);
	regs->pc = pc_after(p);
	kprobe_hit_finish(p, regs, true);

	return DBG_HOOK_HANDLED;
}

NOKPROBE_SYMBOL(kprobe_ss_brk_handler);
