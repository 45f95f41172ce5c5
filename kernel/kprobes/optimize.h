/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jumps in place of breakpoints.
 */
#ifndef _KERNEL_KPROBES_OPTIMIZE_H
#define _KERNEL_KPROBES_OPTIMIZE_H

#include <linux/string.h>
#include <linux/types.h>

struct kprobe;
struct kprobe_point;
struct optimized_kprobe;

void kprobe_optimize_set_knob(bool on);

#ifdef CONFIG_OPTPROBES
extern int (*kprobe_optimize_prepare)(struct optimized_kprobe *op, struct kprobe *orig);

void kprobe_optimize_prepare_queued(void);
void kprobe_optimize_explain(struct kprobe_point *point, char *buf, size_t size);
#else
static inline void kprobe_optimize_prepare_queued(void)
{
}

static inline void kprobe_optimize_explain(struct kprobe_point *point, char *buf, size_t size)
{
	strscpy(buf, "no jumps in this kernel", size);
}
#endif

#endif /* _KERNEL_KPROBES_OPTIMIZE_H */
