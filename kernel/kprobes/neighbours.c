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

/* Find a point inside what @point's jump covers that needs text of its own. */
struct kprobe_point *point_inner(struct kprobe_point *point)
{
	struct optimized_kprobe *op = &point->op;
	struct kprobe_point *inner;
	unsigned long addr;

	for (addr = point_addr(point) + KPROBE_INSN_ALIGN;
	     arch_within_optimized_kprobe(op, (kprobe_opcode_t *)addr);
	     addr += KPROBE_INSN_ALIGN) {
		inner = point_find(addr);
		if (inner && (inner->state == POINT_ARMED || point_wants_text(inner)))
			return inner;
	}

	return NULL;
}

bool point_is_blocked(struct kprobe_point *point)
{
	return point_inner(point) || arch_check_optimized_kprobe(&point->op) < 0;
}

/* The point @at bytes before @addr, if its jump covers @addr or may come to. */
static struct kprobe_point *outer_point(unsigned long addr, unsigned int at)
{
	struct kprobe *p = get_kprobe((void *)(addr - at));
	struct kprobe_point *point = p ? point_of(p) : NULL;

	if (point && point_has_detour(point) &&
	    arch_within_optimized_kprobe(&point->op, (kprobe_opcode_t *)addr))
		return point;

	return NULL;
}

/* Add to @work the points whose jump covers a point that is in it already. */
void points_add_outer(struct list_head *work)
{
	struct kprobe_point *outer;
	struct list_head *last = work->prev;
	struct kprobe *p;
	unsigned int at;

	if (list_empty(work))
		return;

	list_for_each_entry(p, work, list) {
		for (at = KPROBE_INSN_ALIGN; at < MAX_OPTIMIZED_LENGTH; at += KPROBE_INSN_ALIGN) {
			outer = outer_point((unsigned long)p->addr, at);
			if (outer)
				point_queue(outer, work);
		}
		if (&p->list == last)
			break;
	}
}

/* Is @addr inside a jump, written or prepared? */
bool points_cover(unsigned long addr)
{
	unsigned int at;

	for (at = KPROBE_INSN_ALIGN; at < MAX_OPTIMIZED_LENGTH; at += KPROBE_INSN_ALIGN) {
		if (outer_point(addr, at))
			return true;
	}

	return false;
}
