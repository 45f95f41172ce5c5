/* SPDX-License-Identifier: GPL-2.0-only */
/* Re-encoding an instruction for a detour, in relocate.c. */
#ifndef _ARM64_KPROBES_RELOCATE_H
#define _ARM64_KPROBES_RELOCATE_H

#include <linux/kprobes_port.h>
#include <linux/types.h>
#include <asm/probes.h>

#ifdef CONFIG_OPTPROBES

#define MAX_RELOCATED	4

/**
 * struct relocation - an instruction that is re-encoded for another address
 * @addr: address of the original
 * @at: address that it is encoded for
 * @insns: instructions that do the same at @at
 * @nr: number of @insns
 */
struct relocation {
	unsigned long addr;
	unsigned long at;
	u32 insns[MAX_RELOCATED];
	unsigned int nr;
};

extern long kprobe_detour_reach;

bool kprobe_branch_reaches(unsigned long from, unsigned long to);
enum detour_obstacle kprobe_relocate_insn(struct relocation *r, u32 insn,
					  probes_handler_t *emulate);

#endif /* CONFIG_OPTPROBES */

#endif /* _ARM64_KPROBES_RELOCATE_H */
