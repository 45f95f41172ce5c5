// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several probes in the region of one jump.
 *
 * Each probe has its own detour. The jump leads to the detour of the first probe, the
 * owner. Where that would continue with the copy of an instruction that is probed as
 * well, a link is written over the copy: a jump into the detour of the other probe, which
 * calls the handlers there and continues with its own copies. The last detour is left at
 * the end of the instructions that the owner's jump covers, because the text after them
 * may have other probes.
 *
 *	text		detour of A	detour of B	detour of C
 *	A  jmp ------->	call
 *	B		A
 *	C		jmp ----------> call
 *	D		.		B
 *			.		jmp ----------> call
 *			.		.		C
 *	D <-------------------------------------------- jmp
 *
 * Nothing branches to B or C, see region.c. The copies after a link are never reached, nor
 * are those before the probe in a detour that is not the owner's.
 *
 * A link is written and removed only while no task is in the detour. There is always room
 * for it: after each copy, except those before a probe, there are others and finally a
 * jump of the same size. The call at the beginning of the detour is chosen at the same
 * time: it depends on whether there is a post_handler.
 */
#include <linux/string.h>

#include "copy.h"

/* Address after the instructions that the jump covers, or that the detour has copies of. */
static unsigned long end_of_copies(const struct optimized_kprobe *op)
{
	return jump_addr(&op->kp) + op->optinsn.len;
}

/* The copies of @other have to reach to the end of the jump of @op. */
bool arch_jump_can_share(const struct optimized_kprobe *op, const struct optimized_kprobe *other)
{
	return other->kp.addr > op->kp.addr && other->optinsn.insn &&
	       end_of_copies(other) >= jump_addr(&op->kp) + JMP32_INSN_SIZE;
}

/**
 * struct link - how a detour has to continue
 * @to: copies of instructions from this offset on do not run, %REGION_REACH if all run
 * @code: the link that replaces the copy at @to
 */
struct link {
	unsigned int to;
	u8 code[JMP32_INSN_SIZE];
};

static struct link find_link(struct optimized_kprobe *op, const struct optimized_kprobe *owner,
			     const struct optimized_kprobe *next)
{
	unsigned long to = next ? (unsigned long)next->kp.addr : end_of_copies(owner);
	const struct arch_optimized_insn *optinsn = &op->optinsn;
	struct link link = { .to = REGION_REACH };
	unsigned int at = to - jump_addr(&op->kp);

	/* At the end of the copies is a jump. Padding has no copy, and is never reached. */
	if (at >= optinsn->len || !optinsn->copy_at[at])
		return link;

	/* All detours, and all text, are in reach of one another. */
	__text_gen_insn(link.code, JMP32_INSN_OPCODE, optinsn->insn + optinsn->copy_at[at],
			(void *)(next ? detour_entry(&next->optinsn) : to), sizeof(link.code));
	link.to = at;

	return link;
}

static u8 *link_place(const struct arch_optimized_insn *optinsn)
{
	return optinsn->insn + optinsn->copy_at[optinsn->to];
}

bool arch_chain_detour(struct optimized_kprobe *op, struct optimized_kprobe *owner,
		       struct optimized_kprobe *next, bool post, bool unused)
{
	struct arch_optimized_insn *optinsn = &op->optinsn;
	struct link link = find_link(op, owner, next);
	u8 call[CALL_INSN_SIZE], *entry = optinsn->insn + DETOUR_RETURN - CALL_INSN_SIZE;
	bool linked_so, enters_so;

	linked_so = optinsn->to == link.to &&
		    (link.to == REGION_REACH ||
		     !memcmp(link_place(optinsn), link.code, sizeof(link.code)));
	/* The call with which a detour begins decides whether a hit continues in the post way. */
	__text_gen_insn(call, CALL_INSN_OPCODE, entry,
			post ? kprobe_detour_pre_entry : kprobe_detour_entry, sizeof(call));
	enters_so = !memcmp(entry, call, sizeof(call));
	if (!(linked_so && enters_so) && !unused)
		return false;

	if (!enters_so)
		kprobe_poke_text(entry, call, sizeof(call));
	if (!linked_so && optinsn->to < REGION_REACH) {
		kprobe_poke_text(link_place(optinsn), optinsn->unlinked,
				 sizeof(optinsn->unlinked));
		/* The new link may overlap this one, and has to save the bytes that it replaces. */
		kprobe_poke_flush();
	}
	optinsn->to = link.to;
	if (!linked_so && link.to < REGION_REACH) {
		memcpy(optinsn->unlinked, link_place(optinsn), sizeof(optinsn->unlinked));
		kprobe_poke_text(link_place(optinsn), link.code, sizeof(link.code));
	}

	optinsn->sharing = 0;
	optinsn->chained = op != owner;
	if (optinsn->chained)
		owner->optinsn.sharing |= BIT((unsigned long)op->kp.addr - jump_addr(&owner->kp));

	return true;
}
