// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text patching: writing breakpoints, and restoring the original instructions.
 */
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/uaccess.h>

#include "poke.h"
#include "text.h"

/* @addr is kernel text, but its module may be going. */
bool kprobe_text_is_int3(unsigned long addr)
{
	u8 byte;

	__get_kernel_nofault(&byte, (u8 *)addr, u8, gone);
	return byte == INT3_INSN_OPCODE;
gone:
	return false;
}

NOKPROBE_SYMBOL(kprobe_text_is_int3);

/* One byte changes, so every CPU sees either the old or the new instruction. */
static void poke_first_byte(struct kprobe *p, u8 old, u8 new)
{
	kprobe_poke_text(p->addr, &new, sizeof(new));
	perf_event_text_poke(p->addr, &old, sizeof(old), &new, sizeof(new));
}

void arch_arm_kprobe(struct kprobe *p)
{
	poke_first_byte(p, p->opcode, INT3_INSN_OPCODE);
	kprobe_poke_sync();
}

void arch_disarm_kprobe(struct kprobe *p)
{
	poke_first_byte(p, INT3_INSN_OPCODE, p->opcode);
	kprobe_poke_sync();
}

void arch_arm_kprobes(struct list_head *kps)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		poke_first_byte(p, p->opcode, INT3_INSN_OPCODE);
	kprobe_poke_sync();
}

void arch_disarm_kprobes(struct list_head *kps)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		poke_first_byte(p, INT3_INSN_OPCODE, p->opcode);
	kprobe_poke_sync();
}
