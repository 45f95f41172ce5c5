/* SPDX-License-Identifier: GPL-2.0-only */
/* Tells jprobes from other probes. */
#ifndef _KERNEL_KPROBES_JPROBE_H
#define _KERNEL_KPROBES_JPROBE_H

#include <linux/kprobes.h>

#ifdef CONFIG_JPROBES
int jprobe_pre_handler(struct kprobe *kp, struct pt_regs *regs);

static inline bool jprobe_is_probe(const struct kprobe *kp)
{
	return kp->hit_pre == jprobe_pre_handler;
}
#else
static inline bool jprobe_is_probe(const struct kprobe *kp)
{
	return false;
}
#endif

#endif /* _KERNEL_KPROBES_JPROBE_H */
