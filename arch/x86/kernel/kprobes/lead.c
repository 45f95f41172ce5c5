// SPDX-License-Identifier: GPL-2.0-only
/* How far before its probe a jump begins. */
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>

#include "lead.h"

/* Most bytes between the start of a jump and its probe. Never falls. */
static unsigned int lead_max;

unsigned int arch_jump_lead(const struct optimized_kprobe *op)
{
	return op->optinsn.lead;
}

/* Returns 0 until a jump begins before its probe. */
unsigned int arch_jump_lead_max(void)
{
	/* Pairs with the release in kprobe_note_lead(). */
	return smp_load_acquire(&lead_max);
}

NOKPROBE_SYMBOL(arch_jump_lead_max);

/* Called before the detour can be found. */
void kprobe_note_lead(const struct arch_optimized_insn *optinsn)
{
	if (optinsn->lead <= lead_max)
		return;

	/* Pairs with the acquire in arch_jump_lead_max(). */
	smp_store_release(&lead_max, optinsn->lead);
}
