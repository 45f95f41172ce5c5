/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a detour can be, in place.c. */
#ifndef _X86_KPROBES_PLACE_H
#define _X86_KPROBES_PLACE_H

#include <linux/kprobes.h>

struct region;

kprobe_opcode_t *kprobe_detour_get_slot(const struct arch_optimized_insn *optinsn,
					const struct region *region);

#endif /* _X86_KPROBES_PLACE_H */
