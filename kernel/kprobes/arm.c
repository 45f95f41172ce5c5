// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing and removing breakpoints, a batch in one round of patching. Points on
 * ftrace sites go to ftrace, in one round of its own. What an architecture that
 * works by batches does, and what happens where it does not.
 */
#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/memory.h>

#include "arm.h"
#include "ftrace.h"
#include "point.h"

/**
 * arch_finish_prepare_kprobes() - all probes of a batch have been prepared
 *
 * For architectures that write what arch_prepare_kprobe() and
 * arch_prepare_optimized_kprobe() have to write later, for many probes together.
 *
 * Context: Process context, the locks held that were held for preparing.
 */
void __weak arch_finish_prepare_kprobes(void)
{
}

/**
 * arch_arm_kprobes() - write the breakpoints of several probes
 * @kps: struct kprobe, linked by their list
 *
 * An architecture that can synchronise its CPUs once for all of them overrides
 * this.
 *
 * Context: Process context, cpus_read_lock() and text_mutex held.
 */
void __weak arch_arm_kprobes(struct list_head *kps)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		arch_arm_kprobe(p);
}

/**
 * arch_disarm_kprobes() - write the original instructions of several probes
 * @kps: struct kprobe, linked by their list
 *
 * Context: Process context, cpus_read_lock() and text_mutex held.
 */
void __weak arch_disarm_kprobes(struct list_head *kps)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		arch_disarm_kprobe(p);
}

static void split_off_ftrace(struct list_head *kps, struct list_head *on_ftrace)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, kps, list) {
		if (kprobe_ftrace(p))
			list_move_tail(&p->list, on_ftrace);
	}
}

/* Arm all points, or none on failure. The list keeps its points, not their order. */
int arm_points(struct list_head *kps)
{
	LIST_HEAD(on_ftrace);
	int ret;

	lockdep_assert_held(&kprobe_mutex);

	split_off_ftrace(kps, &on_ftrace);
	ret = ftrace_arm_points(&on_ftrace);
	if (!ret && !list_empty(kps)) {
		guard(cpus_read_lock)();
		guard(mutex)(&text_mutex);
		arch_arm_kprobes(kps);
	}
	list_splice_tail(&on_ftrace, kps);

	return ret;
}

void disarm_points(struct list_head *kps)
{
	LIST_HEAD(on_ftrace);

	lockdep_assert_held(&kprobe_mutex);

	split_off_ftrace(kps, &on_ftrace);
	ftrace_disarm_points(&on_ftrace);
	if (!list_empty(kps)) {
		guard(cpus_read_lock)();
		guard(mutex)(&text_mutex);
		arch_disarm_kprobes(kps);
	}
	list_splice_tail(&on_ftrace, kps);
}
