/* SPDX-License-Identifier: GPL-2.0-only */
/* Generating the code of a detour, in emit.c. */
#ifndef _RISCV_KPROBES_EMIT_H
#define _RISCV_KPROBES_EMIT_H

#include <linux/kprobes.h>
#include <linux/types.h>

struct detour;
struct region;

bool kprobe_make_jump(u32 *jump, unsigned int reg, unsigned long from, unsigned long to);
bool kprobe_make_detour(struct detour *image, u8 *copy_at, const struct region *region,
			unsigned long slot);
bool kprobe_make_site_jump(u32 *jump, unsigned long from, unsigned long site, const u32 *insns);
int kprobe_detour_write(struct optimized_kprobe *op, const struct region *region);

/* Offset in the code of the final jump at an ftrace site. */
#define SITE_JUMP	(DETOUR_ENTRY + 8)

#endif /* _RISCV_KPROBES_EMIT_H */
