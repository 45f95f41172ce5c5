/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executable memory for copies of instructions.
 */
#ifndef _KERNEL_KPROBES_SLOT_H
#define _KERNEL_KPROBES_SLOT_H

#include <linux/kprobes.h>

unsigned int kprobe_slot_pages_in_use(void);

#ifdef CONFIG_OPTPROBES
extern bool kprobe_optinsn_slots_withheld;

void kprobe_hide_optinsn_slot(kprobe_opcode_t *slot);
#endif

#endif /* _KERNEL_KPROBES_SLOT_H */
