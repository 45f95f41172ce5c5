// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points whose jumps cover one another's instructions.
 *
 * A jump is longer than the instruction that it replaces. The points that it covers can
 * share it if the architecture chains their detours: the detour of the point at the jump,
 * its owner, continues in the detour of the next point, which calls the handlers there.
 * Either all of them have the jump or none has: when one of them comes or goes, the jump
 * is removed, and a new one is planned.
 *
 * A point that cannot share a jump needs its own text, so no jump may cover it.
 */
#include <linux/minmax.h>

#include "internal.h"

/* Alignment of instructions in bytes. */
#ifndef KPROBE_INSN_ALIGN
#define KPROBE_INSN_ALIGN	sizeof(kprobe_opcode_t)
#endif

/**
 * arch_jump_can_share() - may the jump of one probe lead through the detour of another?
 * @op: a probe with a prepared detour
 * @other: another probe with one, which the jump of @op covers
 *
 * Context: Process context, kprobe_mutex held.
 * Return: whether arch_chain_detour() can be called for the two.
 */
bool __weak arch_jump_can_share(const struct optimized_kprobe *op,
				const struct optimized_kprobe *other)
{
	return false;
}

static unsigned long jump_start(struct kprobe_point *point)
{
	return point_addr(point) - arch_jump_lead(&point->op);
}

static bool jump_covers(struct kprobe_point *point, unsigned long addr)
{
	return arch_within_optimized_kprobe(&point->op, (kprobe_opcode_t *)addr);
}

/*
 * Compare the starts: two jumps that begin before their probes can overlap although
 * neither covers the other's probe.
 */
static bool jumps_overlap(struct kprobe_point *a, struct kprobe_point *b)
{
	return jump_covers(a, jump_start(b)) || jump_covers(b, jump_start(a));
}

/* Return the point at @addr if it has a detour, and so has or may get a jump. */
static struct kprobe_point *point_with_detour(unsigned long addr)
{
	struct kprobe *p = get_kprobe((void *)addr);
	struct kprobe_point *point = p ? point_of(p) : NULL;

	return point && point_has_detour(point) ? point : NULL;
}

/* Would the point get or keep a jump, its own or a shared one, if nothing was in the way? */
static bool wants_jump(struct kprobe_point *point)
{
	return point_has_detour(point) && kprobe_point_wants_jump(point);
}

/*
 * Find the next point after @point that the jump of @owner covers, and that shares it, or is only
 * armed.
 */
static struct kprobe_point *next_covered(struct kprobe_point *owner, struct kprobe_point *point,
					 bool shares)
{
	unsigned long addr = point_addr(point) + KPROBE_INSN_ALIGN;
	struct kprobe_point *other;

	/* Most points are alone, here and in the searches below. */
	if (kprobes_near(point_addr(point), addr + MAX_OPTIMIZED_LENGTH) <= 1)
		return NULL;

	for (; jump_covers(owner, addr); addr += KPROBE_INSN_ALIGN) {
		other = kprobe_point_find(addr);
		if (other && (shares ? other->owner == owner : other->state == POINT_ARMED))
			return other;
	}

	return NULL;
}

/* Find the next point after @point that shares the jump of @owner. */
struct kprobe_point *kprobe_jump_next_sharer(struct kprobe_point *owner,
					     struct kprobe_point *point)
{
	return owner->shared ? next_covered(owner, point, true) : NULL;
}

/* Make the next armed point after @point, if @owner's jump covers it, share that jump. */
struct kprobe_point *kprobe_jump_add_sharer(struct kprobe_point *owner,
					    struct kprobe_point *point)
{
	struct kprobe_point *other = next_covered(owner, point, false);

	if (other) {
		other->owner = owner;
		owner->shared = true;
	}

	return other;
}

/* How the jump of a point, written, planned or only possible, gets on with another point. */
enum jump_conflict {
	CONFLICT_NONE,		/* also if the jump leads through the other's detour as well */
	CONFLICT_TAKE_OVER,	/* the other has a jump; one for both could replace it */
	CONFLICT_BLOCK,		/* there can be no such jump */
};

static enum jump_conflict jump_conflict(struct kprobe_point *point, struct kprobe_point *other)
{
	bool covered = jump_covers(point, point_addr(other));
	bool needs_hits = other->state == POINT_ARMED || kprobe_point_wants_text(other);

	if (!(point_in_jump_state(other) && !other->owner && jumps_overlap(other, point))) {
		if (!covered || (!needs_hits && other->owner != point))
			return CONFLICT_NONE;
	}
	if (!covered || !wants_jump(other) || !arch_jump_can_share(&point->op, &other->op))
		return CONFLICT_BLOCK;

	/* A jump that is planned is shared by those that it was planned for. */
	if (point_in_jump_state(point) ? other->owner == point : other->state == POINT_ARMED)
		return CONFLICT_NONE;

	return point_in_jump_state(other) ? CONFLICT_TAKE_OVER : CONFLICT_BLOCK;
}

/* May a point at @addr be in the way of the jump of @point? */
static bool may_be_in_the_way(struct kprobe_point *point, unsigned long addr)
{
	unsigned long first = addr - arch_jump_lead_max();

	return first <= point_addr(point) || jump_covers(point, first);
}

/* The worst conflict of the jump of @point. Set @in_the_way to the first point in its way. */
static enum jump_conflict worst_conflict(struct kprobe_point *point,
					 struct kprobe_point **in_the_way)
{
	enum jump_conflict conflict, worst = CONFLICT_NONE;
	unsigned long addr = point_addr(point);
	struct kprobe_point *other;

	*in_the_way = NULL;
	/*
	 * Search before @point only if its jump begins there: a jump that begins at an
	 * earlier probe and covers @point is removed when @point is armed.
	 */
	if (arch_jump_lead(&point->op))
		addr = jump_start(point) - MAX_OPTIMIZED_LENGTH;
	/* A point that is only tried has no members, and is not in the table. */
	if (kprobes_near(addr, point_addr(point) + MAX_OPTIMIZED_LENGTH + arch_jump_lead_max()) <=
	    !list_empty(&point->members))
		return worst;

	for (addr += KPROBE_INSN_ALIGN; may_be_in_the_way(point, addr); addr += KPROBE_INSN_ALIGN) {
		other = kprobe_point_find(addr);
		if (!other || other == point)
			continue;
		conflict = jump_conflict(point, other);
		if (conflict >= CONFLICT_TAKE_OVER && !*in_the_way)
			*in_the_way = other;
		worst = max(worst, conflict);
		if (worst == CONFLICT_BLOCK)
			break;
	}

	return worst;
}

/* Find a point because of which @point can neither get nor keep a jump. */
struct kprobe_point *kprobe_point_in_the_way(struct kprobe_point *point)
{
	struct kprobe_point *in_the_way;

	worst_conflict(point, &in_the_way);

	return in_the_way;
}

/* Is @point armed, and are all points in the way of its jump able to share it? */
bool kprobe_point_can_take_over(struct kprobe_point *point)
{
	struct kprobe_point *in_the_way;

	return point->state == POINT_ARMED && wants_jump(point) &&
	       worst_conflict(point, &in_the_way) == CONFLICT_TAKE_OVER;
}

/*
 * Must the jump of @point, its own or shared, give way to one that begins at an earlier
 * point? One jump for several points is better than a jump and a breakpoint.
 */
bool kprobe_point_is_taken_over(struct kprobe_point *point)
{
	struct kprobe_point *owner = point->owner ?: point, *before;
	unsigned long addr = point_addr(owner);

	if (kprobes_near(addr - MAX_OPTIMIZED_LENGTH, addr) <= 1)
		return false;
	for (addr -= MAX_OPTIMIZED_LENGTH - KPROBE_INSN_ALIGN; addr < point_addr(owner);
	     addr += KPROBE_INSN_ALIGN) {
		before = point_with_detour(addr);
		if (before && jump_conflict(before, owner) == CONFLICT_TAKE_OVER &&
		    kprobe_point_can_take_over(before))
			return true;
	}

	return false;
}

/*
 * Can the point have the jump that it wants? Searches for neighbours only if it wants one. A shared
 * jump is blocked with that of its owner.
 */
bool kprobe_point_gets_jump(struct kprobe_point *point)
{
	struct kprobe_point *owner = point->owner ?: point;

	return wants_jump(point) && (owner == point || wants_jump(owner)) &&
	       !kprobe_point_in_the_way(owner);
}

/* Add to @work all points that have the same jump as @point. */
static void points_add_sharing(struct kprobe_point *point, struct list_head *work)
{
	struct kprobe_point *owner = point->owner ?: point;

	for (point = owner; point; point = kprobe_jump_next_sharer(owner, point))
		point_queue(point, work);
}

/* Add to @work the points whose jumps cover @inner or overlap with its jump. */
static void points_add_covering(struct kprobe_point *inner, struct list_head *work)
{
	unsigned int before = MAX_OPTIMIZED_LENGTH - KPROBE_INSN_ALIGN, after = before;
	unsigned long addr = point_addr(inner), last;
	struct kprobe_point *outer;

	if (arch_jump_lead_max()) {
		before += arch_jump_lead(&inner->op);
		after += KPROBE_INSN_ALIGN + arch_jump_lead_max();
	}

	last = addr + after;
	if (kprobes_near(addr - before, last) <= 1)
		return;
	points_add_sharing(inner, work);
	for (addr -= before; addr <= last; addr += KPROBE_INSN_ALIGN) {
		outer = point_with_detour(addr);
		if (outer && outer != inner &&
		    (jump_covers(outer, point_addr(inner)) || jumps_overlap(outer, inner)))
			points_add_sharing(outer, work);
	}
}

/*
 * Add to @work the points whose jump covers a point in it, or overlaps with the jump of
 * one. Sort them: the first one that can have a jump will share it with those after.
 * Return whether the caller has to repeat this after it has dropped jumps: a jump that
 * begins before its probe may have prevented another that covers no point in @work.
 */
bool kprobe_points_add_outer(struct list_head *work)
{
	struct list_head *last = work->prev, *at = work;

	while (at != last) {
		at = at->next;
		points_add_covering(point_of(list_entry(at, struct kprobe, list)), work);
	}
	if (work->prev == last)
		return false;
	kprobe_points_sort(work);

	return arch_jump_lead_max();
}

/* Does a jump, written or prepared, replace text at @addr? */
bool kprobe_points_cover(unsigned long addr)
{
	unsigned long at = addr - MAX_OPTIMIZED_LENGTH + KPROBE_INSN_ALIGN;
	unsigned long last = addr + arch_jump_lead_max();
	struct kprobe_point *outer;

	/* No text is in the last block of the address space, beyond which the loops wrap. */
	if (last >= -KPROBE_BLOCK || !kprobes_near(at, last))
		return false;
	for (; at <= last; at += KPROBE_INSN_ALIGN) {
		outer = point_with_detour(at);
		if (outer && jump_covers(outer, addr))
			return true;
	}

	return false;
}
