// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes of all kinds change while every CPU calls the functions they are in, alone and in
 * batches, at one address, side by side, and in a module that is loaded and unloaded.
 *
 * There are two sets of functions. Many have few probes each. A few have probes at each
 * instruction, so that many jumps are in the way of each other. First each probe is tried with
 * every input, without any other change, to count its hits in a call. Then, for a number of
 * seconds, callers call the functions, and disturbers change probes. These errors are counted:
 *
 *	result	a function returned another result than without probes, or a return
 *		handler saw another value, or another call's data
 *	lost	a probe that did not change during a call had fewer or more hits in it
 *		than expected, or one of another function was hit
 *	late	a handler ran, or kprobes wrote to the probe, after unregistering had
 *		returned
 *	missed	a hit was counted as missed, although no handler hits a probe
 *	error	a change that should succeed failed, or the other way round, or a failed
 *		registration changed the caller's struct
 *	text	the text of the functions is not the original after all probes are removed
 *
 * A script that disables all probes in debugfs must announce that by the parameter
 * "enabled" before and after. Reading the debugfs file kp_torture stores to user memory.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "torture.h"

bool dense;
module_param(dense, bool, 0444);
MODULE_PARM_DESC(dense, "use few functions, and probe each instruction");
ulong seed = 1;
module_param(seed, ulong, 0444);
static uint seconds = 20;
module_param(seconds, uint, 0444);

unsigned int nr_targets, nr_probes;
struct target targets[MAX_TARGETS];
struct probe probes[ALL_PROBES];

static unsigned long deadline;
static struct task_struct *threads[MAX_THREADS];
static unsigned int nr_threads;
static atomic_t nr_running;
static struct dentry *file;

/* --- counts --- */

#define MAX_COMPLAINTS	20

static const char * const count_names[NR_COUNTS] = {
	"bad result", "bad lost", "bad late", "bad missed", "bad error", "bad text",
	"calls", "checks", "jumps", "traps", "returns",
	"registered", "batches", "refused", "switched", "flips", "prey",
	"watched",
};

atomic_long_t counts[NR_COUNTS];
static atomic_t complaints;

void complain(enum count fault, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	count(fault);
	if (atomic_inc_return(&complaints) > MAX_COMPLAINTS)
		return;
	va_start(args, fmt);
	vaf.va = &args;
	pr_err("%s: %pV\n", count_names[fault], &vaf);
	va_end(args);
}

static void report_counts(void)
{
	unsigned int i;

	for (i = 0; i < NR_COUNTS; i++)
		pr_info("%s %ld\n", count_names[i], atomic_long_read(&counts[i]));
}

/* --- threads --- */

bool time_is_up(void)
{
	return kthread_should_stop() || time_after(jiffies, READ_ONCE(deadline));
}

void wait_for_stop(void)
{
	atomic_dec(&nr_running);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 10);
}

int add_thread(struct task_struct *task)
{
	if (IS_ERR(task))
		return PTR_ERR(task);
	atomic_inc(&nr_running);
	threads[nr_threads++] = task;
	return 0;
}

static int running_get(char *buf, const struct kernel_param *param)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&nr_running));
}

module_param_call(running, NULL, running_get, NULL, 0400);
MODULE_PARM_DESC(running, "threads that have not ended");

/* --- what user space does --- */

/* Version of the debugfs file "enabled", which applies to all probes. */
struct version all = { .on = true };

static int enabled_set(const char *text, const struct kernel_param *param)
{
	bool on, moving = !strncmp(text, "moving", 6);

	if (moving == all.count % 2 || (!moving && kstrtobool(text, &on)))
		return -EINVAL;
	if (moving)
		change_begin(&all);
	else
		change_end(&all, on);
	return 0;
}

module_param_call(enabled, enabled_set, NULL, NULL, 0200);

/* Store to pages of the reader that may not be present yet. */
static ssize_t user_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	size_t done;

	for (done = 0; done + sizeof(long) <= count; done += PAGE_SIZE) {
		if (!access_ok(buf + done, sizeof(long)))
			return -EFAULT;
		if (IS_ENABLED(CONFIG_X86_64) &&
		    kp_target_store(0, (unsigned long __force *)(buf + done)))
			complain(BAD_RESULT, "store to user memory failed");
	}
	return count;
}

static const struct file_operations user_fops = { .owner = THIS_MODULE, .read = user_read };

/* --- beginning and end --- */

static void stop_and_remove(void)
{
	WRITE_ONCE(deadline, jiffies - 1);
	while (nr_threads)
		kthread_stop(threads[--nr_threads]);
	unregister_module_notifier(&prey_nb);
	unregister_all();
}

static int __init kp_torture_init(void)
{
	int err;

	nr_targets = dense ? nr_dense_functions : nr_many_functions;
	err = prepare_targets() ?: register_module_notifier(&prey_nb);
	if (err)
		return err;
	pr_info("%u functions, %u probes, seed %lu, %u seconds\n", nr_targets, nr_probes, seed,
		seconds);
	deadline = jiffies + seconds * HZ;
	err = start_callers() ?: start_disturbers();
	if (err)
		stop_and_remove();
	else
		file = debugfs_create_file("kp_torture", 0400, NULL, NULL, &user_fops);
	return err;
}

static void __exit kp_torture_exit(void)
{
	debugfs_remove(file);
	stop_and_remove();
	check_texts();
	report_counts();
}

module_init(kp_torture_init);
module_exit(kp_torture_exit);
MODULE_DESCRIPTION("Probes of all kinds that change while they are hit");
MODULE_LICENSE("GPL");
