// SPDX-License-Identifier: GPL-2.0-only
/*
 * Re-encoding instructions for the copy in a detour, which emulates nothing.
 *
 * An instruction that depends on its address becomes a few that need no register but
 * those that the original writes. A call becomes instructions that set the link register
 * to the address behind the original and branch, so that no task sleeps with the address
 * of a detour in a register or on the stack.
 */
#include <linux/align.h>
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/kprobes.h>
#include <linux/sizes.h>
#include <asm/cpufeature.h>
#include <asm/insn.h>

#include "common.h"
#include "operands.h"

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

static enum detour_obstacle emit_branch(struct relocation *r, unsigned long to)
{
	if (!kprobe_branch_reaches(relocation_end(r), to))
		return DETOUR_OUT_OF_REACH;
	relocation_emit(r, insn_branch(relocation_end(r), to));

	return DETOUR_POSSIBLE;
}

static enum detour_obstacle emit_way_back(struct relocation *r)
{
	return emit_branch(r, r->addr + AARCH64_INSN_SIZE);
}

/* ADRP reaches 4 GiB in pages of 4K, whatever pages the kernel has. */
static enum detour_obstacle emit_address(struct relocation *r, unsigned int reg,
					 unsigned long value)
{
	long pages = (long)(ALIGN_DOWN(value, SZ_4K) - ALIGN_DOWN(relocation_end(r), SZ_4K)) >> 12;

	if (pages < -SZ_1M || pages >= SZ_1M)
		return DETOUR_OUT_OF_REACH;
	relocation_emit(r, aarch64_insn_gen_adr(relocation_end(r), ALIGN_DOWN(value, SZ_4K), reg,
						AARCH64_INSN_ADR_TYPE_ADRP));
	relocation_emit(r, aarch64_insn_gen_add_sub_imm(reg, reg, value & (SZ_4K - 1),
							AARCH64_INSN_VARIANT_64BIT,
							AARCH64_INSN_ADSB_ADD));

	return DETOUR_POSSIBLE;
}

static enum detour_obstacle relocate_nop(struct relocation *r, u32 insn)
{
	return emit_way_back(r);
}

static enum detour_obstacle relocate_b_bl(struct relocation *r, u32 insn)
{
	enum detour_obstacle obstacle = DETOUR_POSSIBLE;

	if (aarch64_insn_is_bl(insn))
		obstacle = emit_address(r, LINK_REGISTER, r->addr + AARCH64_INSN_SIZE);

	return obstacle ?: emit_branch(r, r->addr + insn_branch_offset(insn));
}

/* A short branch skips the branch back and lands on a B that reaches farther. */
static enum detour_obstacle relocate_short_branch(struct relocation *r, u32 insn, u32 mask)
{
	enum detour_obstacle obstacle;

	relocation_emit(r, (insn & ~mask) | (2 << 5));
	obstacle = emit_way_back(r);

	return obstacle ?: emit_branch(r, r->addr + insn_branch_offset(insn));
}

/* B.cond, CBZ, CBNZ */
static enum detour_obstacle relocate_branch19(struct relocation *r, u32 insn)
{
	return relocate_short_branch(r, insn, GENMASK(23, 5));
}

/* TBZ, TBNZ */
static enum detour_obstacle relocate_branch14(struct relocation *r, u32 insn)
{
	return relocate_short_branch(r, insn, GENMASK(18, 5));
}

static enum detour_obstacle relocate_adr_adrp(struct relocation *r, u32 insn)
{
	enum detour_obstacle obstacle = DETOUR_POSSIBLE;
	unsigned int reg = insn & 31;

	if (reg != NO_REGISTER)
		obstacle = emit_address(r, reg, insn_adr_value(insn, r->addr));

	return obstacle ?: emit_way_back(r);
}

/* The target register itself holds the literal's address; bits 31 and 30 select the load. */
static enum detour_obstacle relocate_literal(struct relocation *r, u32 insn)
{
	static const u32 loads[] = { 0xb9400000, 0xf9400000, 0xb9800000 };
	enum detour_obstacle obstacle = DETOUR_POSSIBLE;
	unsigned int reg = insn & 31;

	if (reg != NO_REGISTER) {
		obstacle = emit_address(r, reg, r->addr + insn_literal_offset(insn));
		relocation_emit(r, loads[insn >> 30] | reg << 5 | reg);
	}

	return obstacle ?: emit_way_back(r);
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

static enum detour_obstacle relocate_br_blr_ret(struct relocation *r, u32 insn)
{
	enum detour_obstacle obstacle;

	if (insn & INSN_LINKS) {
		if (!can_be_jump(insn))
			return DETOUR_NOT_RELOCATABLE;
		obstacle = emit_address(r, LINK_REGISTER, r->addr + AARCH64_INSN_SIZE);
		if (obstacle)
			return obstacle;
		insn &= ~INSN_LINKS;
	}
	relocation_emit(r, insn);

	return DETOUR_POSSIBLE;
}

/*
 * Instructions that a breakpoint's trap emulates. Those that access the exception mask
 * are missing: a detour runs with the mask of the probed code, so it can execute them.
 */
static const struct {
	probes_handler_t *emulate;
	enum detour_obstacle (*relocate)(struct relocation *r, u32 insn);
} relocations[] = {
	{ kprobe_emulate_nop, relocate_nop },
	{ kprobe_emulate_b_bl, relocate_b_bl },
	{ kprobe_emulate_b_cond, relocate_branch19 },
	{ kprobe_emulate_cbz_cbnz, relocate_branch19 },
	{ kprobe_emulate_tbz_tbnz, relocate_branch14 },
	{ kprobe_emulate_adr_adrp, relocate_adr_adrp },
	{ kprobe_emulate_br_blr_ret, relocate_br_blr_ret },
	{ kprobe_emulate_br_blr_ret_auth, relocate_br_blr_ret },
	{ kprobe_emulate_ldr_literal, relocate_literal },
	{ kprobe_emulate_ldrsw_literal, relocate_literal },
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
	if (kprobe_insn_is_simd_literal(insn))
		return DETOUR_NOT_RELOCATABLE;

	for (i = 0; i < ARRAY_SIZE(relocations); i++) {
		if (relocations[i].emulate == emulate)
			return relocations[i].relocate(r, insn);
	}
	relocation_emit(r, insn);

	return emit_way_back(r);
}
