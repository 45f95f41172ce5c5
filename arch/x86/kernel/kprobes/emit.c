// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contents of a detour.
 *
 * A detour begins with a call of kprobe_detour_entry(), which saves the registers and
 * calls the handlers; or of kprobe_detour_pre_entry(), see chain.c, which continues in
 * the post way. On 64 bits the detour itself begins and ends struct pt_regs, because
 * there it can restore the stack pointer last, to any value. After that are copies of
 * the instructions that the jump covers, and a jump after the last of them. The copies
 * cannot tell that they run elsewhere: emit_insn() re-encodes what depends on the
 * address. In particular a call pushes the address after the original, so no task sleeps
 * with the address of a detour on its stack. A jump that begins before its probe leads to
 * copies of the instructions before the probe, which end in a jump to the call.
 */
#include <linux/string.h>

#include "copy.h"

#define PUSH_IMM8	0x6a
#define PUSH_IMM32	0x68
/* The CPU may speculate past a jump or a return that it has not decoded yet. */
#define STOP_SIZE	IS_ENABLED(CONFIG_MITIGATION_SLS)

/**
 * struct emitter - a detour under construction
 * @image: future contents of the slot, with room for a detour that proves too long for one
 * @slot: the slot
 * @pos: offset of the next byte
 * @after_probed: where the copy of the probed instruction ends
 * @addr: the original of the instruction that is being copied
 */
struct emitter {
	u8 image[2 * MAX_OPTINSN_SIZE];
	u8 *slot;
	unsigned int pos;
	unsigned int after_probed;
	unsigned long addr;
};

/* A copy is at most nine bytes longer than its original, and the last may begin at %MAX_LEAD. */
static_assert(DETOUR_COPIES + REGION_REACH - 1 + MAX_INSN_SIZE + 9 * REGION_REACH +
	      JMP32_INSN_SIZE + JMP8_INSN_SIZE <= 2 * MAX_OPTINSN_SIZE);

/*
 * Return the offset of the post way, which ends at the end of the slot, or 0. For an
 * emulated instruction it consists only of its end. There is none for an instruction that
 * leaves the region in another way. @end is where the copies end.
 */
static unsigned int post_way(struct kprobe *p, const struct region_insn *ri, unsigned int end)
{
	unsigned int size = 0;

	if (post_takes_copy(p)) {
		if (ri->kind != REGION_PLAIN)
			return 0;
		size = DETOUR_UNFRAME + ri->len + POST_CALL_SIZE;
	}

	return end + size <= DETOUR_POST_RETURN ? DETOUR_POST_RETURN - size : 0;
}

static void emit_byte(struct emitter *e, u8 byte)
{
	e->image[e->pos++] = byte;
}

static void emit_bytes(struct emitter *e, const u8 *bytes, unsigned int nr)
{
	memcpy(e->image + e->pos, bytes, nr);
	e->pos += nr;
}

static void emit_u32(struct emitter *e, u32 value)
{
	emit_bytes(e, (const u8 *)&value, sizeof(value));
}

/* Emit the operand of a branch to @target, which ends an instruction. */
static int emit_rel32(struct emitter *e, unsigned long target)
{
	long distance = (long)target - (long)(e->slot + e->pos + sizeof(s32));

	emit_u32(e, distance);

	return kprobe_fits_rel32(distance) ? 0 : -ERANGE;
}

static int emit_jmp(struct emitter *e, unsigned long target)
{
	emit_byte(e, JMP32_INSN_OPCODE);

	return emit_rel32(e, target);
}

static int emit_copy(struct emitter *e, struct insn *insn)
{
	u8 *copy = e->image + e->pos;
	int ret;

	memcpy(copy, insn->kaddr, insn->length);
	ret = kprobe_rebase_operand(copy, e->slot + e->pos, e->addr, insn);
	e->pos += insn->length;

	return ret;
}

/* Emit a breakpoint after an instruction that does not continue with the next. */
static int emit_stop(struct emitter *e)
{
	if (STOP_SIZE)
		emit_byte(e, INT3_INSN_OPCODE);

	return 0;
}

/* The branch leads over a short jump to a wide one; if not taken, the short jump skips that. */
static int emit_loop(struct emitter *e, struct insn *insn, unsigned long target)
{
	emit_copy(e, insn);
	e->image[e->pos - 1] = JMP8_INSN_SIZE;
	emit_byte(e, JMP8_INSN_OPCODE);
	emit_byte(e, JMP32_INSN_SIZE);

	return emit_jmp(e, target);
}

static int emit_push(struct emitter *e, unsigned long value)
{
	emit_byte(e, PUSH_IMM32);
	emit_u32(e, value);

	return kprobe_fits_rel32(value) ? 0 : -ERANGE;
}

/* Emit a return or an indirect jump. Add @change to the ModRM byte, if the instruction has one. */
static int emit_end(struct emitter *e, struct insn *insn, u8 change)
{
	unsigned int modrm = e->pos + insn_offset_modrm(insn);
	int ret;

	if (kprobe_copy_wants_thunk(insn)) {
		ret = emit_jmp(e, kprobe_copy_thunk(insn));
	} else {
		ret = emit_copy(e, insn);
		e->image[modrm] += change;
	}

	return ret ?: emit_stop(e);
}

static int emit_insn(struct emitter *e, const struct region_insn *ri, struct insn *insn)
{
	unsigned long after = e->addr + ri->len;
	unsigned long target = after + insn->immediate.value;

	switch (ri->kind) {
	case REGION_JCC:
		emit_byte(e, 0x0f);
		emit_byte(e, 0x80 | (insn->opcode.bytes[insn->opcode.nbytes - 1] & 0xf));
		return emit_rel32(e, target);
	case REGION_JMP:
		return emit_jmp(e, target) ?: emit_stop(e);
	case REGION_LOOP:
		return emit_loop(e, insn, target);
	case REGION_CALL:
		return emit_push(e, after) ?: emit_jmp(e, target);
	case REGION_CALL_INDIRECT:
		/* JMP is two further in the same group of opcodes. */
		return emit_push(e, after) ?: emit_end(e, insn, 2 << 3);
	case REGION_END:
		return emit_end(e, insn, 0);
	case REGION_PADDING:
		return 0;
	default:
		return emit_copy(e, insn);
	}
}

static int emit_original(struct emitter *e, const struct region *region,
			 const struct region_insn *ri)
{
	struct insn insn;

	e->addr = region->addr + ri->at;

	return insn_decode(&insn, region->text + ri->at, ri->len, INSN_MODE_KERN) ?:
	       emit_insn(e, ri, &insn);
}

/* Emit a short jump to @pos in the slot. */
static void emit_jmp8(struct emitter *e, unsigned int pos)
{
	emit_byte(e, JMP8_INSN_OPCODE);
	emit_byte(e, pos - (e->pos + 1));
}

/* Emit copies of the instructions in [@ri, @end), and note where each is. */
static int emit_copies(struct emitter *e, u8 *copy_at, const struct region *region,
		       const struct region_insn *ri, const struct region_insn *end)
{
	int ret = 0;

	for (; !ret && ri < end; ri++) {
		if (ri->kind != REGION_PADDING)
			copy_at[ri->at] = e->pos;
		ret = emit_original(e, region, ri);
	}

	return ret;
}

/* Emit copies from the probed instruction on, and then of the instructions before it. */
static int emit_region(struct emitter *e, struct arch_optimized_insn *optinsn,
		       const struct region *region)
{
	const struct region_insn *probed = region->insns + region->probed;
	u8 *copy_at = optinsn->copy_at;
	int ret;

	memset(copy_at, 0, sizeof(optinsn->copy_at));
	ret = emit_copies(e, copy_at, region, probed, probed + 1);
	e->after_probed = e->pos;
	ret = ret ?: emit_copies(e, copy_at, region, probed + 1, region->insns + region->nr);
	optinsn->back = e->pos;
	ret = ret ?: emit_jmp(e, region->addr + region->len);

	optinsn->enter = 0;
	if (region->lead) {
		ret = ret ?: emit_copies(e, copy_at, region, region->insns, probed);
		optinsn->enter = e->pos;
		emit_jmp8(e, offsetof(struct detour, code));
	}

	return ret;
}

/* Short jumps lead back from the end of a slot at most, to the start of its code at most. */
static_assert((int)offsetof(struct detour, code) - DETOUR_SIZE >= S8_MIN);

/*
 * On 64 bits a detour pushes what a trap saves; the return address of the call takes the
 * place of the trap's error code. frame_size_at[] in detour.c says how much of it is on
 * the stack before each instruction. On 32 bits the functions that the detour calls do
 * all of this.
 */
static int emit_frame(struct emitter *e, unsigned long ip)
{
	static const u8 push_sp_twice_and_flags[] = { 0x54, 0xff, 0x34, 0x24, 0x9c };

	if (!IS_ENABLED(CONFIG_X86_64))
		return 0;

	emit_bytes(e, push_sp_twice_and_flags, sizeof(push_sp_twice_and_flags));
	emit_byte(e, PUSH_IMM8);
	emit_byte(e, __KERNEL_CS);

	return emit_push(e, ip);
}

static void emit_unframe(struct emitter *e)
{
	static const u8 drop_ip_and_cs_pop_flags_and_sp[] = { 0x48, 0x83, 0xc4, 0x10, 0x9d, 0x5c };
	const unsigned int first = 4 - DETOUR_DROPS;

	if (!IS_ENABLED(CONFIG_X86_64))
		return;

	emit_bytes(e, drop_ip_and_cs_pop_flags_and_sp + first,
		   sizeof(drop_ip_and_cs_pop_flags_and_sp) - first);
}

/* Handlers see the ip after a breakpoint. */
static int emit_entry(struct emitter *e, unsigned long ip)
{
	int ret;

	ret = emit_frame(e, ip + INT3_INSN_SIZE);
	emit_byte(e, CALL_INSN_OPCODE);
	ret = ret ?: emit_rel32(e, (unsigned long)kprobe_detour_entry);
	emit_unframe(e);

	return ret;
}

/* Emit the copy of the post way, and the call of the post_handler after it. */
static int emit_post(struct emitter *e, const struct region *region,
		     const struct region_insn *ri)
{
	int ret;

	emit_unframe(e);
	ret = emit_original(e, region, ri);
	ret = ret ?: emit_frame(e, e->addr + ri->len);
	emit_byte(e, CALL_INSN_OPCODE);

	return ret ?: emit_rel32(e, (unsigned long)kprobe_detour_post_entry);
}

static int emit_post_way(struct emitter *e, const struct region *region, unsigned int post)
{
	const struct region_insn *probed = region->insns + region->probed;
	int ret = 0;

	if (!post)
		return 0;

	e->pos = post;
	if (post != DETOUR_POST_RETURN)
		ret = emit_post(e, region, probed);
	emit_unframe(e);
	emit_jmp8(e, e->after_probed);
	emit_byte(e, post == DETOUR_POST_RETURN ? -1 : post - DETOUR_RETURN);

	return ret;
}

/* Fill the slot of @op, and note where each copy is. */
enum detour_obstacle kprobe_detour_write(struct optimized_kprobe *op, const struct region *region)
{
	struct arch_optimized_insn *optinsn = &op->optinsn;
	struct emitter e = { .slot = optinsn->insn };
	int ret;

	memset(e.image, INT3_INSN_OPCODE, sizeof(e.image));
	memcpy(e.image, &op, sizeof(op));
	e.pos = offsetof(struct detour, code);

	ret = emit_entry(&e, region->addr + region->lead);
	ret = ret ?: emit_region(&e, optinsn, region);
	if (e.pos > MAX_OPTINSN_SIZE)
		return DETOUR_TOO_LONG;
	optinsn->post = post_way(&op->kp, region->insns + region->probed, e.pos);
	ret = ret ?: emit_post_way(&e, region, optinsn->post);
	if (ret)
		return DETOUR_NOT_RELOCATABLE;

	optinsn->lead = region->lead;
	optinsn->len = region->len;
	optinsn->fixed_up = region->fixed_up;
	optinsn->calls = region->calls;
	optinsn->to = REGION_REACH;
	optinsn->why = DETOUR_POSSIBLE;
	optinsn->why_at = 0;

	kprobe_poke_text(e.slot, e.image, MAX_OPTINSN_SIZE);

	return DETOUR_POSSIBLE;
}
