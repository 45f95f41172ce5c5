/* SPDX-License-Identifier: GPL-2.0-only */
/* The contents of a detour, in emit.c. */
#ifndef _X86_KPROBES_EMIT_H
#define _X86_KPROBES_EMIT_H

#include <linux/kprobes.h>
#include <linux/types.h>

struct region;

bool kprobe_detour_lay_out(struct optimized_kprobe *op, const struct region *region);
int kprobe_detour_write(struct optimized_kprobe *op, const struct region *region);

#endif /* _X86_KPROBES_EMIT_H */
