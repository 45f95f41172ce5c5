// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing and removing breakpoints, many in one round of text patching. Points on ftrace
 * sites go to ftrace instead, in a round of its own.
 *
 * The weak functions serve architectures that do not write text in batches.
 */
#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/list.h>
#include <linux/memory.h>
#include <linux/sched.h>

#include "internal.h"

/**
 * arch_finish_prepare_kprobes() - all probes of a batch have been prepared
 *
 * An architecture may collect what arch_prepare_kprobe() and
 * arch_prepare_optimized_kprobe() have to write, and write it here for many probes at
 * once.
 *
 * Context: Process context, with the locks held that were held for preparing.
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

/*
 * Maximum number of points whose text is written in one round. Each round synchronises all
 * CPUs, and some architectures stop them for as long as it takes.
 */
#define WRITE_CHUNK	256

static void cut_chunk(struct list_head *items, struct list_head *chunk)
{
	struct list_head *last = items->next;
	unsigned int nr;

	for (nr = 1; nr < WRITE_CHUNK && last->next != items; nr++)
		last = last->next;
	list_cut_position(chunk, items, last);
}

/*
 * Call @write with some of @items at a time, under the locks for writing text. @write may
 * take items off the list that it gets; the others stay in @items, in their order.
 */
void kprobe_text_write_chunks(struct list_head *items, void (*write)(struct list_head *items))
{
	LIST_HEAD(written);
	LIST_HEAD(chunk);

	while (!list_empty(items)) {
		cut_chunk(items, &chunk);
		scoped_guard(cpus_read_lock) {
			guard(mutex)(&text_mutex);
			write(&chunk);
		}
		list_splice_tail_init(&chunk, &written);
		cond_resched();
	}
	list_splice(&written, items);
}

static void split_off_ftrace(struct list_head *kps, struct list_head *on_ftrace)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, kps, list) {
		if (kprobe_ftrace(p))
			list_move_tail(&p->list, on_ftrace);
	}
}

/*
 * Arm the points, and move those that ftrace refuses to @refused. Return the first error. The
 * list does not keep its order.
 */
int kprobe_arm_points(struct list_head *kps, struct list_head *refused)
{
	LIST_HEAD(on_ftrace);
	int ret;

	lockdep_assert_held(&kprobe_mutex);

	split_off_ftrace(kps, &on_ftrace);
	ret = kprobe_ftrace_arm_points(&on_ftrace, refused);
	kprobe_text_write_chunks(kps, arch_arm_kprobes);
	list_splice_tail(&on_ftrace, kps);

	return ret;
}

void kprobe_disarm_points(struct list_head *kps)
{
	LIST_HEAD(on_ftrace);

	lockdep_assert_held(&kprobe_mutex);

	split_off_ftrace(kps, &on_ftrace);
	kprobe_ftrace_disarm_points(&on_ftrace);
	kprobe_text_write_chunks(kps, arch_disarm_kprobes);
	list_splice_tail(&on_ftrace, kps);
}
