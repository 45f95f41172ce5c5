// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generating detours, the code that the jump at a probe leads to.
 *
 * A detour makes room for a struct pt_regs on the stack of the probed code and calls
 * kprobe_detour_entry(), which calls the handlers. Then it executes the instruction,
 * re-encoded for its place, and continues where the original would. For a post_handler
 * there is a second copy with a second call after it, as in copy.c.
 */
#include <linux/align.h>
#include <linux/array_size.h>
#include <linux/perf_event.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <asm/cacheflush.h>
#include <asm/debug-monitors.h>

#include "common.h"

/* -- re-encoding -- */

/*
 * Re-encoding instructions for the copy in a detour, which emulates nothing.
 *
 * An instruction that depends on its address becomes a few that need no register but
 * those that the original writes. A call becomes instructions that set the link register
 * to the address after the original and branch, so that no task sleeps with the address
 * of a detour in a register or on the stack.
 */

#define LINK_REGISTER	30
#define NO_REGISTER	31	/* reads as zero, and is not written */

/* Bits in the encodings of BR, BLR, RET and the like. */
#define INSN_LINKS		BIT(21)
#define INSN_AUTHENTICATES	BIT(11)

static unsigned long relocation_end(const struct relocation *r)
{
	return r->at + r->nr * AARCH64_INSN_SIZE;
}

static void relocation_emit(struct relocation *r, u32 insn)
{
	r->insns[r->nr++] = insn;
}

/* Largest distance of a branch of a detour. A test lowers it. */
long kprobe_detour_reach = SZ_128M;

bool kprobe_branch_reaches(unsigned long from, unsigned long to)
{
	long distance = to - from, reach = READ_ONCE(kprobe_detour_reach);

	return distance >= -reach && distance < reach;
}

static void emit_branch(struct relocation *r, unsigned long to)
{
	if (!kprobe_branch_reaches(relocation_end(r), to))
		r->obstacle = DETOUR_OUT_OF_REACH;
	relocation_emit(r, insn_branch(relocation_end(r), to));
}

static void emit_way_back(struct relocation *r)
{
	emit_branch(r, r->addr + AARCH64_INSN_SIZE);
}

/* ADRP reaches 4 GiB in pages of 4K, whatever pages the kernel has. */
static void emit_address(struct relocation *r, unsigned int reg, unsigned long value)
{
	long pages = (long)(ALIGN_DOWN(value, SZ_4K) - ALIGN_DOWN(relocation_end(r), SZ_4K)) >> 12;

	if (pages < -SZ_1M || pages >= SZ_1M) {
		r->obstacle = DETOUR_OUT_OF_REACH;
		return;
	}
	relocation_emit(r, aarch64_insn_gen_adr(relocation_end(r), ALIGN_DOWN(value, SZ_4K), reg,
						AARCH64_INSN_ADR_TYPE_ADRP));
	relocation_emit(r, aarch64_insn_gen_add_sub_imm(reg, reg, value & (SZ_4K - 1),
							AARCH64_INSN_VARIANT_64BIT,
							AARCH64_INSN_ADSB_ADD));
}

static void relocate_nop(struct relocation *r, u32 insn)
{
	emit_way_back(r);
}

static void relocate_b_bl(struct relocation *r, u32 insn)
{
	if (aarch64_insn_is_bl(insn))
		emit_address(r, LINK_REGISTER, r->addr + AARCH64_INSN_SIZE);
	emit_branch(r, r->addr + insn_branch_offset(insn));
}

/* B.cond, CBZ, CBNZ, TBZ, TBNZ: skip the branch back, and land on a B that reaches farther. */
static void relocate_short_branch(struct relocation *r, u32 insn)
{
	bool is_tbz = (insn & 0x7e000000) == 0x36000000;

	relocation_emit(r, (insn & ~(is_tbz ? GENMASK(18, 5) : GENMASK(23, 5))) | (2 << 5));
	emit_way_back(r);
	emit_branch(r, r->addr + insn_branch_offset(insn));
}

static void relocate_adr_adrp(struct relocation *r, u32 insn)
{
	unsigned int reg = insn & 31;

	if (reg != NO_REGISTER)
		emit_address(r, reg, insn_adr_value(insn, r->addr));
	emit_way_back(r);
}

/* The target register itself holds the literal's address; bits 31 and 30 select the load. */
static void relocate_literal(struct relocation *r, u32 insn)
{
	static const u32 loads[] = { 0xb9400000, 0xf9400000, 0xb9800000 };
	unsigned int reg = insn & 31;

	if (reg != NO_REGISTER) {
		emit_address(r, reg, r->addr + insn_literal_offset(insn));
		relocation_emit(r, loads[insn >> 30] | reg << 5 | reg);
	}
	emit_way_back(r);
}

/*
 * BLR Xn is re-encoded as setting x30 and BR Xn. With BTI, BR and BLR need different
 * landing pads, except that BR through x16 or x17 may use those of BLR.
 */
static bool can_be_jump(u32 insn)
{
	unsigned int n = insn >> 5 & 31, modifier = insn & 31;

	if (n == LINK_REGISTER || (insn & INSN_AUTHENTICATES && modifier == LINK_REGISTER))
		return false;

	return n == 16 || n == 17 || !system_supports_bti_kernel();
}

static void relocate_br_blr_ret(struct relocation *r, u32 insn)
{
	if (insn & INSN_LINKS) {
		emit_address(r, LINK_REGISTER, r->addr + AARCH64_INSN_SIZE);
		if (!can_be_jump(insn))
			r->obstacle = DETOUR_NOT_RELOCATABLE;
	}
	relocation_emit(r, insn & ~INSN_LINKS);
}

/*
 * Instructions that a breakpoint's trap emulates. Those that access the exception mask
 * are missing: a detour runs with the mask of the probed code, so it can execute them.
 */
static const struct {
	probes_handler_t *emulate;
	void (*relocate)(struct relocation *r, u32 insn);
} relocations[] = {
	{ kprobe_emulate_nop, relocate_nop },
	{ kprobe_emulate_b_bl, relocate_b_bl },
	{ kprobe_emulate_b_cond, relocate_short_branch },
	{ kprobe_emulate_cbz_cbnz, relocate_short_branch },
	{ kprobe_emulate_tbz_tbnz, relocate_short_branch },
	{ kprobe_emulate_adr_adrp, relocate_adr_adrp },
	{ kprobe_emulate_br_blr_ret, relocate_br_blr_ret },
	{ kprobe_emulate_br_blr_ret_auth, relocate_br_blr_ret },
	{ kprobe_emulate_ldr_literal, relocate_literal },
};

/**
 * kprobe_relocate_insn() - encode an instruction for another address
 * @r: has both addresses; gets the instructions
 * @insn: the instruction
 * @emulate: the function that emulates it, or NULL
 *
 * The last of the instructions branches to where the original continues.
 *
 * Context: Process context.
 * Return: %DETOUR_POSSIBLE, or the obstacle.
 */
enum detour_obstacle kprobe_relocate_insn(struct relocation *r, u32 insn,
					  probes_handler_t *emulate)
{
	unsigned int i;

	r->nr = 0;
	r->obstacle = DETOUR_POSSIBLE;
	if (kprobe_insn_is_simd_literal(insn))
		return DETOUR_NOT_RELOCATABLE;

	for (i = 0; i < ARRAY_SIZE(relocations); i++) {
		if (relocations[i].emulate == emulate) {
			relocations[i].relocate(r, insn);
			return r->obstacle;
		}
	}
	relocation_emit(r, insn);
	emit_way_back(r);

	return r->obstacle;
}

/* -- the detour -- */

#define INSN_BL		BIT(31)		/* turns a B into a BL */

static __always_inline unsigned long place_of(const __le32 *place)
{
	return (unsigned long)place;
}

/* Encode the ADD or SUB of the size of a struct pt_regs to sp. */
static __le32 insn_add_sub_sp(enum aarch64_insn_adsb_type type)
{
	u32 insn = aarch64_insn_gen_add_sub_imm(AARCH64_INSN_REG_SP, AARCH64_INSN_REG_SP,
						sizeof(struct pt_regs),
						AARCH64_INSN_VARIANT_64BIT, type);

	return cpu_to_le32(insn);
}

/* Encode the LDR or STR of the link register in that struct pt_regs. */
static __le32 insn_load_store_lr(enum aarch64_insn_ldst_type type)
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
	image[0] = insn_add_sub_sp(AARCH64_INSN_ADSB_SUB);
	image[1] = insn_load_store_lr(AARCH64_INSN_LDST_STORE_IMM_OFFSET);
	image[CALL_BL] = cpu_to_le32(INSN_BL |
				     insn_branch(place_of(at + CALL_BL), (unsigned long)entry));
}

/**
 * kprobe_fill_release() - release the room for the registers, of a detour or of a slot
 * @image: filled with the %RELEASE_INSNS instructions
 */
void kprobe_fill_release(__le32 *image)
{
	image[0] = insn_load_store_lr(AARCH64_INSN_LDST_LOAD_IMM_OFFSET);
	image[1] = insn_add_sub_sp(AARCH64_INSN_ADSB_ADD);
}

static enum detour_obstacle fill_copy(struct detour *image, const struct detour *d,
				      struct kprobe *p)
{
	struct relocation r = {
		.addr = (unsigned long)p->addr,
		.at = place_of(d->copy + RELEASE_INSNS),
	};
	enum detour_obstacle obstacle = kprobe_relocate_insn(&r, p->opcode, p->ainsn.api.handler);
	unsigned int i;

	kprobe_fill_release(image->copy);
	for (i = 0; i < r.nr; i++)
		image->copy[RELEASE_INSNS + i] = cpu_to_le32(r.insns[i]);

	return obstacle;
}

static enum detour_obstacle fill_detour(struct detour *image, const struct detour *d,
					struct optimized_kprobe *op)
{
	struct kprobe *p = &op->kp;

	/* kprobe_relocate_insn() checks the branches of the copy. */
	if (!kprobe_branch_reaches((unsigned long)p->addr, place_of(d->entry)) ||
	    !kprobe_branch_reaches(place_of(d->after + RELEASE_INSNS), pc_after(p)) ||
	    !call_reaches(d->entry, kprobe_detour_entry) ||
	    !call_reaches(d->post + RELEASE_INSNS + 1, kprobe_detour_post_entry))
		return DETOUR_OUT_OF_REACH;

	memset32((u32 *)image, (__force u32)cpu_to_le32(AARCH64_BREAK_FAULT), MAX_OPTINSN_SIZE);
	image->op = op;
	fill_call(image->entry, d->entry, kprobe_detour_entry);
	/* An emulated instruction needs no second copy. */
	if (!p->ainsn.api.handler) {
		kprobe_fill_release(image->post);
		image->post[RELEASE_INSNS] = cpu_to_le32(p->opcode);
		fill_call(image->post + RELEASE_INSNS + 1, d->post + RELEASE_INSNS + 1,
			  kprobe_detour_post_entry);
	}
	kprobe_fill_release(image->after);
	image->after[RELEASE_INSNS] =
		cpu_to_le32(insn_branch(place_of(d->after + RELEASE_INSNS), pc_after(p)));

	return fill_copy(image, d, p);
}

enum detour_obstacle kprobe_detour_write(struct detour *d, struct optimized_kprobe *op)
{
	enum detour_obstacle obstacle;
	struct detour image;
	size_t i;

	obstacle = fill_detour(&image, d, op);
	if (obstacle)
		return obstacle;

	/* arch_optimize_kprobes() synchronizes all CPUs before a jump leads here. */
	for (i = 0; i < sizeof(image) / sizeof(u64); i++)
		aarch64_insn_write_literal_u64((u64 *)d + i, ((u64 *)&image)[i]);
	caches_clean_inval_pou((unsigned long)d, (unsigned long)(d + 1));
	perf_event_text_poke(d, NULL, 0, &image, sizeof(image));

	return DETOUR_POSSIBLE;
}
