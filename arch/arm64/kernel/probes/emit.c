// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generating detours, the code that the jump at a probe leads to.
 *
 * A detour makes room for a struct pt_regs on the stack of the probed code and calls
 * kprobe_detour_entry(), which calls the handlers. Then it executes the instruction as
 * relocate.c has encoded it, and continues where the original would. For a post_handler
 * there is a second copy with a second call behind it, as in copy.c.
 */
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <asm/cacheflush.h>
#include <asm/debug-monitors.h>
#include <asm/insn.h>
#include <asm/kprobes_base.h>

#include "common.h"
#include "operands.h"

#define INSN_BL		BIT(31)		/* turns a B into a BL */

static __always_inline unsigned long place_of(const __le32 *place)
{
	return (unsigned long)place;
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

/* An emulated instruction needs no second copy. */
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

enum detour_obstacle kprobe_detour_write(struct detour *d, struct optimized_kprobe *op)
{
	enum detour_obstacle obstacle;
	struct detour image;

	obstacle = fill_detour(&image, d, op);
	if (!obstacle)
		write_detour(d, &image);

	return obstacle;
}
