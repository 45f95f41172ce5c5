/* SPDX-License-Identifier: GPL-2.0-only */
/* How far before its probe a jump begins, in lead.c. */
#ifndef _X86_KPROBES_LEAD_H
#define _X86_KPROBES_LEAD_H

#include <linux/kprobes.h>

void kprobe_note_lead(const struct arch_optimized_insn *optinsn);

#endif /* _X86_KPROBES_LEAD_H */
