// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points whose jumps cover one another's instructions. A jump is longer than the
 * instruction that it replaces: it may be written only while no point within it needs
 * text of its own, and a point there is armed only when the jump is gone.
 */
#include <linux/kprobes.h>
#include <linux/list.h>

#include "detour.h"
#include "neighbours.h"
#include "point.h"
#include "table.h"
#include "want.h"

/* Instructions start at multiples of so many bytes. */
#ifndef KPROBE_INSN_ALIGN
#define KPROBE_INSN_ALIGN	sizeof(kprobe_opcode_t)
#endif

static unsigned long jump_start(struct kprobe_point *point)
{
	return point_addr(point) - arch_jump_lead(&point->op);
}

static bool jump_covers(struct kprobe_point *point, unsigned long addr)
{
	return arch_within_optimized_kprobe(&point->op, (kprobe_opcode_t *)addr);
}

/* Of two jumps that begin before their probes neither has to cover the other's. */
static bool jumps_overlap(struct kprobe_point *a, struct kprobe_point *b)
{
	return jump_covers(a, jump_start(b)) || jump_covers(b, jump_start(a));
}

static bool is_in_the_way(struct kprobe_point *other, struct kprobe_point *point)
{
	if (jump_covers(point, point_addr(other)) &&
	    (other->state == POINT_ARMED || kprobe_point_wants_text(other)))
		return true;

	return point_has_jump(other) && jumps_overlap(other, point);
}

/* May a point at @addr be in the way of the jump of @point? */
static bool may_be_in_the_way(struct kprobe_point *point, unsigned long addr)
{
	unsigned long first = addr - arch_jump_lead_max();

	return first <= point_addr(point) || jump_covers(point, first);
}

/* Find a point that needs text of its own which @point's jump covers. */
struct kprobe_point *kprobe_point_in_the_way(struct kprobe_point *point)
{
	unsigned long addr = point_addr(point);
	struct kprobe_point *other;

	/* A jump that begins at its probe, before this one, goes when this is armed. */
	if (arch_jump_lead(&point->op))
		addr = jump_start(point) - MAX_OPTIMIZED_LENGTH;

	for (addr += KPROBE_INSN_ALIGN; may_be_in_the_way(point, addr); addr += KPROBE_INSN_ALIGN) {
		other = kprobe_point_find(addr);
		if (other && other != point && is_in_the_way(other, point))
			return other;
	}

	return NULL;
}

bool kprobe_point_is_blocked(struct kprobe_point *point)
{
	return kprobe_point_in_the_way(point) || arch_check_optimized_kprobe(&point->op) < 0;
}

/* The point at @addr, if it has a detour and so has a jump, or may come to have one. */
static struct kprobe_point *point_with_detour(unsigned long addr)
{
	struct kprobe *p = get_kprobe((void *)addr);
	struct kprobe_point *point = p ? point_of(p) : NULL;

	return point && point_has_detour(point) ? point : NULL;
}

/* Add to @work the points whose jumps cover @inner, or text that its jump covers. */
static void add_outer(struct kprobe_point *inner, struct list_head *work)
{
	unsigned int before = MAX_OPTIMIZED_LENGTH - KPROBE_INSN_ALIGN, behind = 0;
	unsigned long addr = point_addr(inner), last;
	struct kprobe_point *outer;

	if (arch_jump_lead_max()) {
		before += arch_jump_lead(&inner->op);
		behind = MAX_OPTIMIZED_LENGTH + arch_jump_lead_max();
	}

	last = addr + behind;
	for (addr -= before; addr <= last; addr += KPROBE_INSN_ALIGN) {
		outer = point_with_detour(addr);
		if (outer && outer != inner &&
		    (jump_covers(outer, point_addr(inner)) || jumps_overlap(outer, inner)))
			point_queue(outer, work);
	}
}

/* Add to @work the points whose jump covers, or meets that of, one in it already. */
void kprobe_points_add_outer(struct list_head *work)
{
	struct list_head *last = work->prev;
	struct kprobe *p;

	if (list_empty(work))
		return;

	list_for_each_entry(p, work, list) {
		add_outer(point_of(p), work);
		if (&p->list == last)
			break;
	}
}

/* Does a jump, written or prepared, replace text at @addr? */
bool kprobe_points_cover(unsigned long addr)
{
	unsigned long at = addr - MAX_OPTIMIZED_LENGTH + KPROBE_INSN_ALIGN;
	unsigned long last = addr + arch_jump_lead_max();
	struct kprobe_point *outer;

	for (; at <= last; at += KPROBE_INSN_ALIGN) {
		outer = point_with_detour(at);
		if (outer && jump_covers(outer, addr))
			return true;
	}

	return false;
}
