/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registering and removing probes, or return probes, several at once or one by the function for
 * one. An array of return probes is one of kprobes, too: these are their first members.
 */
#ifndef _KP_BATCH_H
#define _KP_BATCH_H

#include <linux/kprobes.h>

static inline int batch_register(struct kprobe **kps, int nr, bool returns)
{
	struct kretprobe **rps = (struct kretprobe **)kps;

	if (returns)
		return nr == 1 ? register_kretprobe(rps[0]) : register_kretprobes(rps, nr);
	return nr == 1 ? register_kprobe(kps[0]) : register_kprobes(kps, nr);
}

static inline void batch_unregister(struct kprobe **kps, int nr, bool returns)
{
	struct kretprobe **rps = (struct kretprobe **)kps;

	if (returns && nr == 1)
		unregister_kretprobe(rps[0]);
	else if (returns)
		unregister_kretprobes(rps, nr);
	else if (nr == 1)
		unregister_kprobe(kps[0]);
	else
		unregister_kprobes(kps, nr);
}

#endif /* _KP_BATCH_H */
