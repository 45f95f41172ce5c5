// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entry of a function with a return probe: takes an instance and diverts the return. Runs
 * in a hit, like hit.c.
 */
#include "internal.h"

/* Called if this CPU has no spare instance, or if there is an entry_handler. */
static noinline int return_entry_slow(struct kretprobe *rp, struct kretprobe_instance *ri,
				      struct pt_regs *regs)
{
	kretprobe_handler_t handler = READ_ONCE(rp->entry_handler);

	/* The return probe may be retired while its breakpoint still stands. */
	if (!ri && return_is_retired(rp))
		return 0;
	ri = ri ?: kretprobe_pool_pop(rp);
	if (unlikely(!ri)) {
		count_missed(&rp->nmissed, 1);
		return 0;
	}

	if (handler && return_call_entry_handler(rp, handler, ri, regs))
		kretprobe_pool_keep(ri);
	else
		kretprobe_divert(ri, regs, kprobe_ftrace(&rp->kp));

	return 0;
}

NOKPROBE_SYMBOL(return_entry_slow);

/* The pre_handler of every return probe. */
int kretprobe_entry_handler(struct kprobe *p, struct pt_regs *regs)
{
	struct kretprobe *rp = container_of(p, struct kretprobe, kp);
	struct kretprobe_instance *ri = kretprobe_pool_get(rp);

	if (!ri || rp->entry_handler)
		return return_entry_slow(rp, ri, regs);

	kretprobe_divert(ri, regs, kprobe_ftrace(p));

	return 0;
}

NOKPROBE_SYMBOL(kretprobe_entry_handler);
