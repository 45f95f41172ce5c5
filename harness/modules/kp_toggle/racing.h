/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code shared by the modules that change probes while every CPU hits them: kp_toggle and
 * kp_torture. Each includes this in one file.
 */
#ifndef _KP_TOGGLE_RACING_H
#define _KP_TOGGLE_RACING_H

#include <linux/atomic.h>
#include <linux/hardirq.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "target_function.h"

static uint seconds = 20;
module_param(seconds, uint, 0444);
static ulong seed = 1;
module_param(seed, ulong, 0444);

static unsigned long deadline;
static atomic_t nr_running;

/*
 * Where there are jumps, tell a breakpoint from one: it runs as an NMI, or at least with
 * interrupts off, while a jump leaves interrupts as in the probed code.
 */
static __always_inline bool hit_is_trap(struct pt_regs *regs)
{
#ifdef CONFIG_ARM64
	if (irqs_disabled() && interrupts_enabled(regs))
		return true;
#endif
	return in_nmi() || !IS_ENABLED(CONFIG_OPTPROBES);
}

/* --- errors --- */

#define MAX_COMPLAINTS	20

enum fault {
	BAD_RESULT, BAD_COUNT, BAD_LATE, BAD_MISSED, BAD_ERROR, BAD_TEXT, NR_FAULTS
};

static const char * const fault_names[NR_FAULTS] = {
	"result", "lost", "late", "missed", "error", "text",
};

static atomic_t faults[NR_FAULTS], complaints;

__printf(2, 3)
static void complain(enum fault fault, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	atomic_inc(&faults[fault]);
	if (atomic_inc_return(&complaints) > MAX_COMPLAINTS)
		return;
	va_start(args, fmt);
	vaf.va = &args;
	pr_err("%s: %pV\n", fault_names[fault], &vaf);
	va_end(args);
}

static void report_faults(void)
{
	unsigned int i;

	for (i = 0; i < NR_FAULTS; i++)
		pr_info("bad %s %d\n", fault_names[i], atomic_read(&faults[i]));
}

/* --- versions --- */

/* The count is odd while a change is in progress. Callers compare it before and after a call. */
struct version {
	unsigned int count;
	bool on;
};

static void change_begin(struct version *version)
{
	WRITE_ONCE(version->count, version->count + 1);
	/* A caller that sees any effect of the change must see the odd count. */
	smp_mb();
}

static void change_end(struct version *version, bool on)
{
	WRITE_ONCE(version->on, on);
	/* Pairs with read_version(). */
	smp_store_release(&version->count, version->count + 1);
}

static struct version read_version(const struct version *version)
{
	struct version seen;

	/* Pairs with change_end(). */
	seen.count = smp_load_acquire(&version->count);
	seen.on = READ_ONCE(version->on);
	return seen;
}

static bool has_changed(const struct version *version, const struct version *seen)
{
	return seen->count & 1 || READ_ONCE(version->count) != seen->count;
}

/* Version of the debugfs file "enabled", which applies to all probes. */
static struct version all = { .on = true };
static DEFINE_MUTEX(all_lock);

/* --- threads --- */

static bool time_is_up(void)
{
	return kthread_should_stop() || time_after(jiffies, READ_ONCE(deadline));
}

static void wait_for_stop(void)
{
	atomic_dec(&nr_running);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 10);
}

static int run_thread(struct task_struct **where, struct task_struct *task)
{
	if (IS_ERR(task))
		return PTR_ERR(task);
	WRITE_ONCE(*where, task);
	atomic_inc(&nr_running);
	wake_up_process(task);
	return 0;
}

static void stop_thread(struct task_struct **task)
{
	if (*task)
		kthread_stop(*task);
	WRITE_ONCE(*task, NULL);
}

static unsigned int pick(struct rnd_state *rnd, unsigned int below)
{
	return prandom_u32_state(rnd) % below;
}

static bool one_in(struct rnd_state *rnd, unsigned int n)
{
	return !pick(rnd, n);
}

/* --- the functions that callers call --- */

/* A module can get the length of a symbol only from its printed form. */
static unsigned int function_length(target_fn fn)
{
	char text[KSYM_SYMBOL_LEN], *slash;
	unsigned int len;

	sprint_symbol(text, (unsigned long)fn);
	slash = strrchr(text, '/');
	return slash && sscanf(slash, "/%x", &len) == 1 ? len : 0;
}

static void check_text(const struct target_function *function, const u8 *text, unsigned int len)
{
	const u8 *now = (u8 *)function->fn;
	unsigned int i;

	for (i = 0; i < len; i++) {
		if (now[i] != text[i])
			complain(BAD_TEXT, "%s+%#x is %02x, not %02x", function->name, i, now[i],
				 text[i]);
	}
}

/* --- callers --- */

#define MAX_CALLERS	8

/* Counters need no lock: only the task itself counts its hits. */
static struct caller {
	struct task_struct *task;
	struct rnd_state rnd;
	unsigned long mem[4];
	unsigned long calls, checks, jumps, traps, returns;
	unsigned int hits;		/* of handlers of all kinds, in kp_torture */
} callers[MAX_CALLERS];

static struct caller *current_caller(void)
{
	unsigned int i;

	for (i = 0; i < MAX_CALLERS; i++) {
		if (READ_ONCE(callers[i].task) == current)
			return &callers[i];
	}
	return NULL;
}

NOKPROBE_SYMBOL(current_caller);

static __always_inline void count_way(struct caller *caller, struct pt_regs *regs)
{
	if (hit_is_trap(regs))
		caller->traps++;
	else
		caller->jumps++;
}

/* Each module has its own: call the function of this number with @n, and check its hits. */
static void call_target(struct caller *caller, unsigned int which, unsigned long n);

static int caller_thread(void *data)
{
	struct caller *caller = data;

	while (!time_is_up()) {
		u32 random = prandom_u32_state(&caller->rnd);

		caller->calls++;
		call_target(caller, (random >> 8) % nr_target_functions, random % NR_INPUTS);
		/* RCU-tasks grace periods wait for each caller. */
		if (!(caller->calls % 32))
			cond_resched_tasks_rcu_qs();
	}
	wait_for_stop();
	return 0;
}

static void stop_callers(void)
{
	unsigned int i;

	for (i = 0; i < MAX_CALLERS; i++)
		stop_thread(&callers[i].task);
}

static void report_callers(void)
{
	struct caller sum = {};
	unsigned int i;

	for (i = 0; i < MAX_CALLERS; i++) {
		sum.calls += callers[i].calls;
		sum.checks += callers[i].checks;
		sum.jumps += callers[i].jumps;
		sum.traps += callers[i].traps;
		sum.returns += callers[i].returns;
	}
	pr_info("calls %lu checks %lu jumps %lu traps %lu returns %lu\n", sum.calls, sum.checks,
		sum.jumps, sum.traps, sum.returns);
}

/* --- changes that user space announces --- */

static int enabled_set(const char *text, const struct kernel_param *param)
{
	bool moving = !strncmp(text, "moving", 6);
	int err = 0;
	bool on;

	guard(mutex)(&all_lock);
	if (moving == all.count % 2)
		return -EINVAL;
	if (moving)
		change_begin(&all);
	else
		err = kstrtobool(text, &on);
	if (!err && !moving)
		change_end(&all, on);
	return err;
}

module_param_call(enabled, enabled_set, NULL, NULL, 0200);

static int running_get(char *buf, const struct kernel_param *param)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&nr_running));
}

module_param_call(running, NULL, running_get, NULL, 0400);
MODULE_PARM_DESC(running, "threads that have not ended");

#endif
