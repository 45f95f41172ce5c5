// SPDX-License-Identifier: GPL-2.0-only
/*
 * Optimized probes: the branch that replaces a breakpoint, and the detour that it leads to.
 *
 * A detour makes room for a struct pt_regs on the stack of the probed code and calls
 * kprobe_detour_entry(), which calls the handlers. Then it executes the instruction as
 * relocate.c has encoded it, and continues where the original would. For a post_handler
 * there is a second copy with a second call behind it, as in copy.c.
 *
 * The branch replaces one instruction, the breakpoint. The architecture allows B and BRK
 * to be exchanged while other CPUs execute them. So the jumps of a batch are written one
 * after the other, followed by one synchronization of all CPUs.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/cacheflush.h>
#include <asm/cpufeature.h>
#include <asm/debug-monitors.h>
#include <asm/insn.h>
#include <asm/patching.h>

#include "detour.h"

#define INSN_BL		BIT(31)		/* turns a B into a BL */

static struct detour *detour_of(const struct optimized_kprobe *op)
{
	return (struct detour *)op->optinsn.insn;
}

static __always_inline unsigned long place_of(const __le32 *place)
{
	return (unsigned long)place;
}

/* -- preparing a detour -- */

int arch_explain_optimized_kprobe(struct optimized_kprobe *op, char *buf, size_t size)
{
	return kprobe_explain_obstacle(op->optinsn.why, 0, buf, size);
}

/* BTI lets an indirect branch land on a breakpoint, but not on the branch to a detour. */
static bool is_landing_pad(u32 insn)
{
	bool pad = (insn & 0xffffff3f) == 0xd503241f ||		/* BTI */
		   (insn & 0xffffffbf) == 0xd503233f;		/* PACIASP, PACIBSP */

	return pad && system_supports_bti_kernel();
}

/* Encode the ADD or SUB of the size of a struct pt_regs to sp. */
static __le32 insn_move_sp(enum aarch64_insn_adsb_type type)
{
	u32 insn = aarch64_insn_gen_add_sub_imm(AARCH64_INSN_REG_SP, AARCH64_INSN_REG_SP,
						sizeof(struct pt_regs),
						AARCH64_INSN_VARIANT_64BIT, type);

	return cpu_to_le32(insn);
}

/* Encode the LDR or STR of the link register in that struct pt_regs. */
static __le32 insn_move_lr(enum aarch64_insn_ldst_type type)
{
	u32 insn = aarch64_insn_gen_load_store_imm(AARCH64_INSN_REG_LR, AARCH64_INSN_REG_SP,
						   offsetof(struct pt_regs, regs[30]),
						   AARCH64_INSN_SIZE_64, type);

	return cpu_to_le32(insn);
}

/* Place of the BL in the code that fill_call() writes. */
#define CALL_BL		2

static bool call_reaches(const __le32 *at, void (*entry)(void))
{
	return kprobe_branch_reaches(place_of(at + CALL_BL), (unsigned long)entry);
}

static void fill_call(__le32 *image, const __le32 *at, void (*entry)(void))
{
	image[0] = insn_move_sp(AARCH64_INSN_ADSB_SUB);
	image[1] = insn_move_lr(AARCH64_INSN_LDST_STORE_IMM_OFFSET);
	image[CALL_BL] = cpu_to_le32(INSN_BL |
				     insn_branch(place_of(at + CALL_BL), (unsigned long)entry));
}

/**
 * kprobe_fill_unframe() - release the room for the registers, of a detour or of a slot
 * @image: filled with the %UNFRAME instructions
 */
void kprobe_fill_unframe(__le32 *image)
{
	image[0] = insn_move_lr(AARCH64_INSN_LDST_LOAD_IMM_OFFSET);
	image[1] = insn_move_sp(AARCH64_INSN_ADSB_ADD);
}

static enum detour_obstacle fill_copy(struct detour *image, const struct detour *d,
				      struct kprobe *p)
{
	struct relocation r = {
		.addr = (unsigned long)p->addr,
		.at = place_of(d->copy + UNFRAME),
	};
	enum detour_obstacle obstacle = kprobe_relocate_insn(&r, p->opcode, p->ainsn.api.handler);
	unsigned int i;

	kprobe_fill_unframe(image->copy);
	for (i = 0; i < r.nr; i++)
		image->copy[UNFRAME + i] = cpu_to_le32(r.insns[i]);

	return obstacle;
}

/* A simulated instruction needs no second copy. */
static void fill_post(struct detour *image, const struct detour *d, struct kprobe *p)
{
	if (p->ainsn.api.handler)
		return;

	kprobe_fill_unframe(image->post);
	image->post[UNFRAME] = cpu_to_le32(p->opcode);
	fill_call(image->post + UNFRAME + 1, d->post + UNFRAME + 1, kprobe_detour_post_entry);
}

/* Check the branches to the detour and out of it; kprobe_relocate_insn() checks the copy's. */
static bool all_in_reach(const struct detour *d, struct kprobe *p)
{
	return kprobe_branch_reaches((unsigned long)p->addr, place_of(d->entry)) &&
	       kprobe_branch_reaches(place_of(d->behind + UNFRAME), pc_behind(p)) &&
	       call_reaches(d->entry, kprobe_detour_entry) &&
	       call_reaches(d->post + UNFRAME + 1, kprobe_detour_post_entry);
}

static enum detour_obstacle fill_detour(struct detour *image, const struct detour *d,
					struct optimized_kprobe *op)
{
	struct kprobe *p = &op->kp;

	if (!all_in_reach(d, p))
		return DETOUR_OUT_OF_REACH;

	memset32((u32 *)image, (__force u32)cpu_to_le32(AARCH64_BREAK_FAULT), MAX_OPTINSN_SIZE);
	image->op = op;
	fill_call(image->entry, d->entry, kprobe_detour_entry);
	fill_post(image, d, p);
	kprobe_fill_unframe(image->behind);
	image->behind[UNFRAME] =
		cpu_to_le32(insn_branch(place_of(d->behind + UNFRAME), pc_behind(p)));

	return fill_copy(image, d, p);
}

/* arch_optimize_kprobes() synchronizes all CPUs before a jump leads here. */
static void write_detour(struct detour *d, struct detour *image)
{
	size_t i;

	for (i = 0; i < sizeof(*image) / sizeof(u64); i++)
		aarch64_insn_write_literal_u64((u64 *)d + i, ((u64 *)image)[i]);
	caches_clean_inval_pou((unsigned long)d, (unsigned long)(d + 1));
	perf_event_text_poke(d, NULL, 0, image, sizeof(*image));
}

static enum detour_obstacle prepare_detour(struct optimized_kprobe *op)
{
	enum detour_obstacle obstacle;
	struct detour image, *d;

	if (is_landing_pad(op->kp.opcode))
		return DETOUR_LANDING_PAD;

	d = (struct detour *)get_optinsn_slot();
	if (!d)
		return DETOUR_NO_ROOM;

	obstacle = fill_detour(&image, d, op);
	if (obstacle) {
		free_optinsn_slot((kprobe_opcode_t *)d, 0);
		return obstacle;
	}
	write_detour(d, &image);
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
	return insn_branch(op_addr(op), place_of(detour_of(op)->entry));
}

void arch_optimize_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op, *next;

	/* Make every CPU drop the former contents of the slots from its pipeline. */
	kick_all_cpus_sync();
	list_for_each_entry_safe(op, next, oplist, list) {
		write_insn(op, BRK64_OPCODE_KPROBES, jump_of(op));
		list_del_init(&op->list);
	}
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
