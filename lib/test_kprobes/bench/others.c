// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measuring how long others wait while probes come and go in batches: another probe,
 * another user of text patching, an interrupt. Prints the longest wait of each.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "../common.h"
#include "bench.h"
#include "targets.h"

#ifndef HAVE_HRTIMER_SETUP
static void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *),
			  clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#define PAUSE		50		/* microseconds between two tries */
#define PERIOD		(10 * NSEC_PER_USEC)

static ulong text_mutex;	/* its address, because it is not exported */
module_param(text_mutex, ulong, 0400);

static struct kprobe other = {
	.addr = (kprobe_opcode_t *)kp_bench_jump_at,
	.pre_handler = count_hit,
};

static struct task_struct *witness;
static struct hrtimer ticker;
static u64 longest_text, longest_probe, longest_interrupt;

static void lock_text(void)
{
	u64 start = cycles();

	mutex_lock((struct mutex *)text_mutex);
	longest_text = max(longest_text, cycles() - start);
	mutex_unlock((struct mutex *)text_mutex);
}

static void probe_other(void)
{
	u64 start = cycles();

	if (register_kprobe(&other))
		return;
	longest_probe = max(longest_probe, cycles() - start);
	unregister_kprobe(&other);
}

static int be_witness(void *unused)
{
	while (!kthread_should_stop()) {
		lock_text();
		usleep_range(PAUSE, PAUSE + 10);
		probe_other();
		usleep_range(PAUSE, PAUSE + 10);
	}

	return 0;
}

static enum hrtimer_restart on_tick(struct hrtimer *timer)
{
	ktime_t late = ktime_sub(hrtimer_cb_get_time(timer), hrtimer_get_expires(timer));

	longest_interrupt = max_t(u64, longest_interrupt, ktime_to_ns(late));
	hrtimer_forward_now(timer, PERIOD);

	return HRTIMER_RESTART;
}

bool is_watched(void)
{
	return witness;
}

void run_watch(unsigned int unused)
{
	if (!text_mutex)
		return;
	longest_text = 0;
	longest_probe = 0;
	longest_interrupt = 0;
	witness = kthread_run(be_witness, NULL, "kp_witness");
	if (IS_ERR(witness)) {
		witness = NULL;
		return;
	}
	sched_set_fifo(witness);

	hrtimer_setup(&ticker, on_tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hrtimer_start(&ticker, PERIOD, HRTIMER_MODE_REL_HARD);
}

void run_watched(unsigned int unused)
{
	if (!witness)
		return;

	hrtimer_cancel(&ticker);
	kthread_stop(witness);
	witness = NULL;
	result("wait-probe", longest_probe);
	result("wait-text", longest_text);
	result("wait-interrupt", longest_interrupt);
}
