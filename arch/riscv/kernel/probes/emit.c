// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generating detours, the code that the jump at a probe leads to.
 *
 * A detour makes room on the stack, and calls kprobe_detour_entry(), which calls the
 * handlers. Mostly it then releases the room, and goes on with copies of the region and a
 * jump after the region. The copies compute what the originals would: AUIPC
 * becomes two instructions that yield the original's value, and a branch becomes
 * one over a jump. A call links after the original, so that no task sleeps with
 * the address of a detour in a frame.
 *
 * Between the call and the copies is the way of hits with a post_handler: a second copy of the
 * probed instruction, a call of kprobe_detour_post_entry(), and a jump to the copy of the
 * next instruction. If the first call has emulated the instruction, only the jump remains; for a
 * branch, and at an ftrace site, it leads to wherever that led.
 *
 * A jump that begins before its probe leads to the end of the detour, to copies of what is
 * before the probe and a jump to the call.
 *
 * All jumps are AUIPC and JALR, and overwrite a register that is free at their
 * target.
 */
#include <linux/align.h>
#include <linux/string.h>
#include <asm/processor.h>
#include <asm/stacktrace.h>

#include "common.h"

#define T0	5

/* Of a register. */
#define INSN_LOAD	(IS_ENABLED(CONFIG_64BIT) ? 0x00003003 : 0x00002003)
#define INSN_STORE	(INSN_LOAD | BIT(5))

#define INSN_NOP	INSN_ADDI
#define INSN_C_NOP	0x0001

/* Must match entry.S: the registers, and a frame record above them. */
#define FRAME_SIZE	(ALIGN(sizeof(struct pt_regs), STACK_ALIGN) +	\
			 ALIGN(sizeof(struct stackframe), STACK_ALIGN))

/* Negate the branch, BEQ to BNE and so on, to skip the jump after it. */
static u32 insn_branch_over(u32 branch)
{
	const u32 over = sizeof(u32) + 2 * sizeof(u32);

	return ((branch ^ BIT(12)) & 0x01fff07f) | (over & 0x1e) << 7;
}

/* AUIPC adds @upper, the next instruction adds @lower, which is 12 bits and signed. */
static bool split_distance(long distance, u32 *upper, u32 *lower)
{
	long rounded = distance + BIT(11);

	*upper = rounded & GENMASK(31, 12);
	*lower = distance & GENMASK(11, 0);

	return rounded == (s32)rounded;
}

/**
 * kprobe_make_jump() - encode the two instructions of a jump
 * @jump: gets the instructions
 * @reg: number of the register that the jump overwrites
 * @from: address of the jump
 * @to: its target
 *
 * Context: Any.
 * Return: whether the target is in reach.
 */
bool kprobe_make_jump(u32 *jump, unsigned int reg, unsigned long from, unsigned long to)
{
	u32 upper, lower;
	bool reached = split_distance(to - from, &upper, &lower);

	jump[0] = RVG_MATCH_AUIPC | reg << 7 | upper;
	jump[1] = insn_i(RVG_MATCH_JALR, 0, reg, lower);

	return reached;
}

NOKPROBE_SYMBOL(kprobe_make_jump);

/**
 * struct emitter - code under construction
 * @code: buffer for the code
 * @at: address that the code will have
 * @pos: length of the code so far in bytes
 * @failed: the buffer is full, or a target is out of reach
 */
struct emitter {
	u8 *code;
	unsigned long at;
	unsigned int pos;
	bool failed;
};

static unsigned long emitter_addr(const struct emitter *e)
{
	return e->at + e->pos;
}

static void emit_code(struct emitter *e, u32 insn)
{
	unsigned int len = insn_len(insn);

	if (e->pos + len > DETOUR_CODE) {
		e->failed = true;
		return;
	}
	memcpy(e->code + e->pos, &insn, len);
	e->pos += len;
}

static void emit_jump(struct emitter *e, unsigned int link, unsigned int reg, unsigned long to)
{
	u32 jump[2];

	if (!kprobe_make_jump(jump, reg, emitter_addr(e), to))
		e->failed = true;
	emit_code(e, jump[0]);
	emit_code(e, jump[1] | link << 7);
}

static void emit_address(struct emitter *e, unsigned int reg, unsigned long addr)
{
	u32 upper, lower;

	if (!split_distance(addr - emitter_addr(e), &upper, &lower))
		e->failed = true;
	emit_code(e, RVG_MATCH_AUIPC | reg << 7 | upper);
	emit_code(e, insn_i(INSN_ADDI, reg, reg, lower));
}

/* If the target is in the link register, move it to @reg before that is overwritten. */
static void emit_call_register(struct emitter *e, const struct insn_facts *facts,
			       unsigned int reg, unsigned long after)
{
	unsigned int base = facts->base;

	if (base == facts->link) {
		emit_code(e, insn_i(INSN_ADDI, reg, base, 0));
		base = reg;
	}
	emit_address(e, facts->link, after);
	emit_code(e, insn_i(RVG_MATCH_JALR, 0, base, facts->disp));
}

static void emit_insn(struct emitter *e, const struct region_insn *ri, unsigned long addr)
{
	const struct insn_facts *facts = &ri->facts;

	switch (facts->flow) {
	case FLOW_ADDRESS:
		if (facts->writes)
			emit_address(e, __ffs(facts->writes), addr + facts->disp);
		break;
	case FLOW_BRANCH:
		emit_code(e, insn_branch_over(kprobe_expand_insn(ri->insn) | 3));
		emit_jump(e, 0, ri->reg, addr + facts->disp);
		break;
	case FLOW_CALL:
		emit_address(e, facts->link, addr + facts->len);
		fallthrough;
	case FLOW_JUMP:
		emit_jump(e, 0, ri->reg, addr + facts->disp);
		break;
	case FLOW_CALL_REGISTER:
		emit_call_register(e, facts, ri->reg, addr + facts->len);
		break;
	default:
		emit_code(e, ri->insn);
	}
}

/* Make room for the registers, save t0 there, and call @entry. */
static void emit_call(struct emitter *e, void (*entry)(void))
{
	emit_code(e, insn_i(INSN_ADDI, SP, SP, -(u32)FRAME_SIZE));
	emit_code(e, insn_s(INSN_STORE, SP, T0, offsetof(struct pt_regs, t0)));
	emit_jump(e, T0, T0, (unsigned long)entry);
}

static void emit_release(struct emitter *e)
{
	emit_code(e, insn_i(INSN_LOAD, T0, SP, offsetof(struct pt_regs, t0)));
	emit_code(e, insn_i(INSN_ADDI, SP, SP, FRAME_SIZE));
}

/* Continue at the address in the saved registers. */
static void emit_exit(struct emitter *e, unsigned int reg)
{
	emit_code(e, insn_i(INSN_LOAD, T0, SP, offsetof(struct pt_regs, t0)));
	emit_code(e, insn_i(INSN_LOAD, reg, SP, offsetof(struct pt_regs, epc)));
	emit_code(e, insn_i(INSN_ADDI, SP, SP, FRAME_SIZE));
	emit_code(e, insn_i(RVG_MATCH_JALR, 0, reg, 0));
}

/**
 * kprobe_make_site_jump() - encode the final jump of a detour at an ftrace site
 * @jump: gets the instructions
 * @from: address of the jump
 * @site: address of the site
 * @insns: ftrace's instructions at the site: two NOPs, or a call that links in t0
 *
 * The detour has set t0 to the address after the site. A jump to ftrace's target may
 * overwrite t1, since ftrace_caller() does.
 *
 * Context: Any.
 * Return: whether the target is in reach.
 */
bool kprobe_make_site_jump(u32 *jump, unsigned long from, unsigned long site, const u32 *insns)
{
	struct insn_facts auipc, jalr;

	kprobe_get_insn_facts(insns[0], &auipc);
	kprobe_get_insn_facts(insns[1], &jalr);
	if (auipc.flow != FLOW_ADDRESS || jalr.flow != FLOW_CALL_REGISTER)
		return kprobe_make_jump(jump, T0, from, site + 2 * sizeof(u32));

	return kprobe_make_jump(jump, T0 + 1, from, site + auipc.disp + jalr.disp);
}

NOKPROBE_SYMBOL(kprobe_make_site_jump);

static void emit_site(struct emitter *e, const struct region *region)
{
	const u32 insns[2] = { region->insns[0].insn, region->insns[1].insn };
	u32 jump[2];

	emit_address(e, T0, region->addr + region->len);
	if (!kprobe_make_site_jump(jump, emitter_addr(e), region->addr, insns))
		e->failed = true;
	emit_code(e, jump[0]);
	emit_code(e, jump[1]);
}

/* @next: what follows the copy of the probed instruction */
static void emit_post(struct emitter *e, const struct region *region, unsigned int next)
{
	switch (region->optinsn.post) {
	case POST_TRAPS:
		return;
	case POST_EXITS:
		e->pos = DETOUR_EXIT;
		emit_exit(e, region->exit);
		return;
	case POST_GOES_ON:
		e->pos = DETOUR_EXIT;
		break;
	case POST_COPY:
		e->pos = DETOUR_POST;
		emit_release(e);
		emit_insn(e, probed_insn(region), region->addr + region->optinsn.lead);
		if (e->pos % sizeof(u32))
			emit_code(e, INSN_C_NOP);
		while (e->pos < DETOUR_POST_CALL - DETOUR_CALL)
			emit_code(e, INSN_NOP);
		emit_call(e, kprobe_detour_post_entry);
		break;
	}
	emit_release(e);
	emit_code(e, insn_j(0, next - e->pos));
}

static void emit_copies(struct emitter *e, struct region *region, const struct region_insn *ri,
			const struct region_insn *end)
{
	for (; ri < end; ri++) {
		region->optinsn.copy_at[ri->at / 2] = e->pos;
		emit_insn(e, ri, region->addr + ri->at);
	}
}

/* Return the place after the copy of the probed instruction. */
static unsigned int emit_region(struct emitter *e, struct region *region)
{
	const struct region_insn *probed = probed_insn(region);
	unsigned int next;

	emit_copies(e, region, probed, probed + 1);
	next = e->pos;
	emit_copies(e, region, probed + 1, region->insns + region->nr);
	if (region->out)
		emit_jump(e, 0, region->out, region->addr + region->len);

	return next;
}

/**
 * kprobe_make_detour() - generate the code of a detour
 * @image: gets the code; its probe is filled in
 * @region: the instructions that the jump covers; its @optinsn gets, for each parcel where
 *	one starts, the offset of its copy in the code, and the offset that the jump leads to
 * @slot: address that the detour will have
 *
 * Context: Process context.
 * Return: whether the code fits, and all its targets are in reach.
 */
bool kprobe_make_detour(struct detour *image, struct region *region, unsigned long slot)
{
	unsigned int next = 0;
	struct emitter e = {
		.code = image->code,
		.at = slot + offsetof(struct detour, code),
	};

	static_assert(FRAME_SIZE <= 2047);
	emit_call(&e, kprobe_detour_entry);
	e.pos = DETOUR_GO_ON;
	emit_release(&e);
	if (region->optinsn.site)
		emit_site(&e, region);
	else
		next = emit_region(&e, region);
	if (region->optinsn.lead) {
		/* Copies of what precedes the probe, and a jump to the call of its handlers. */
		region->optinsn.enter = e.pos;
		emit_copies(&e, region, region->insns, probed_insn(region));
		emit_code(&e, insn_j(0, -e.pos));
	}
	emit_post(&e, region, next);

	return !e.failed;
}

/* Writing the jump, or fencing its region, flushes all instruction caches later. */
int kprobe_detour_write(struct optimized_kprobe *op, struct region *region)
{
	unsigned long slot = (unsigned long)region->optinsn.insn;
	struct detour image = { .kp = &op->kp };

	if (!kprobe_make_detour(&image, region, slot))
		return -ERANGE;
	if (patch_insn_write((void *)slot, &image, sizeof(image)))
		return -EFAULT;

	return 0;
}
