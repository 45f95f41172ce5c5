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
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/ptrace.h>
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
MODULE_PARM_DESC(enabled, "moving before debugfs enabled is written to, 0 or 1 afterwards");

static int running_get(char *buf, const struct kernel_param *param)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&nr_running));
}

module_param_call(running, NULL, running_get, NULL, 0400);
MODULE_PARM_DESC(running, "threads that have not ended");

#endif
