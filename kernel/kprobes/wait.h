/* SPDX-License-Identifier: GPL-2.0-only */
/* Waiting until no hit uses what it may have found before. */
#ifndef _KERNEL_KPROBES_WAIT_H
#define _KERNEL_KPROBES_WAIT_H

#include <linux/cpu.h>
#include <linux/rcupdate.h>

/*
 * RCU does not wait for a CPU that is coming or going, which can run probed code. So wait for
 * the end of hotplug before a grace period.
 */
static inline void kprobe_settle_cpus(void)
{
	cpus_read_lock();
	cpus_read_unlock();
}

/* Wait until all hits that are under way have ended. */
static inline void kprobe_wait_for_hits(void)
{
	kprobe_settle_cpus();
	synchronize_rcu();
}

#endif /* _KERNEL_KPROBES_WAIT_H */
