/* SPDX-License-Identifier: GPL-2.0-only */
/* Generating the code of a detour, in emit.c. */
#ifndef _ARM64_KPROBES_EMIT_H
#define _ARM64_KPROBES_EMIT_H

#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/types.h>

/* Instructions that restore the link register and release the room for a struct pt_regs. */
#define UNFRAME		2

#ifdef CONFIG_OPTPROBES

struct detour;

void kprobe_fill_unframe(__le32 *image);
enum detour_obstacle kprobe_detour_write(struct detour *d, struct optimized_kprobe *op);

#else

static inline void kprobe_fill_unframe(__le32 *image)
{
}

#endif /* CONFIG_OPTPROBES */

#endif /* _ARM64_KPROBES_EMIT_H */
