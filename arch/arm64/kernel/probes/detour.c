// SPDX-License-Identifier: GPL-2.0-only
/* Maps between the probed code and a detour. */
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>

#include "detour.h"

/* As part_at(), when @pc is in no copy's slot. */
enum kprobe_part kprobe_part_of_detour(unsigned long pc, unsigned long *addr)
{
	struct detour *d = (struct detour *)kprobe_optinsn_slot_of(pc);

	if (likely(!d))
		return PART_NONE;

	*addr = op_addr(d->op);
	if (pc < (unsigned long)(d->copy + UNFRAME))
		return PART_BEFORE;
	if (pc < (unsigned long)d->post)
		return PART_COPY;
	if (pc < (unsigned long)(d->post + UNFRAME))
		return PART_BEFORE;

	return pc == (unsigned long)(d->post + UNFRAME) ? PART_POST_COPY : PART_BEHIND;
}

NOKPROBE_SYMBOL(kprobe_part_of_detour);
