/* SPDX-License-Identifier: GPL-2.0-only */
/* Return probes, as the rest of kprobes sees them. */
#ifndef _KERNEL_KPROBES_RETURN_H
#define _KERNEL_KPROBES_RETURN_H

#include <linux/cpumask.h>
#include <linux/kprobes.h>
#include <linux/overflow.h>

#ifdef CONFIG_KRETPROBES
int kretprobe_init(void);
int kretprobe_entry_handler(struct kprobe *p, struct pt_regs *regs);

/* Upper bound of what objpool needs for a CPU: each ring can hold all @nr instances. */
static inline size_t return_each_cpu(int nr, size_t data_size)
{
	size_t size = ALIGN(sizeof(struct kretprobe_instance) + data_size, sizeof(long));

	return size_add(size_mul(DIV_ROUND_UP(nr, num_possible_cpus()), size),
			size_mul(nr, 2 * sizeof(void *)));
}

/* Before @kp joins a point its hit_pre is not set. */
static inline bool return_is_request(const struct kprobe *kp)
{
	return kp->pre_handler == kretprobe_entry_handler;
}

static inline bool return_is_probe(const struct kprobe *kp)
{
	return kp->hit_pre == kretprobe_entry_handler;
}
#else
static inline int kretprobe_init(void)
{
	return 0;
}

static inline bool return_is_request(const struct kprobe *kp)
{
	return false;
}

static inline bool return_is_probe(const struct kprobe *kp)
{
	return false;
}
#endif

#endif /* _KERNEL_KPROBES_RETURN_H */
