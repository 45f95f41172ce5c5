// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes of all kinds change while every CPU calls the functions they are in, alone and in
 * batches, at one address, side by side, and in a module that is loaded and unloaded.
 *
 * There are two sets of functions. Many have few probes each. A few have probes at each
 * instruction, so that many jumps are in the way of each other. First each probe is tried with
 * every input, without any other change, to count its hits in a call. Then, until the module is
 * removed, callers call the functions, and disturbers change probes. These errors are counted:
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
 * The line of the end says SUCCESS, FAILURE if there was any of these, or HOTPLUG if only a CPU
 * stayed where it was. A script that disables all probes in debugfs must announce that by the
 * parameter "enabled" before and after. Reading the debugfs file kprobes_torture stores to user
 * memory. While a probe is being registered in it the module cannot be removed: try again.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "torture.h"

bool dense;
module_param(dense, bool, 0444);
MODULE_PARM_DESC(dense, "Use few functions, and probe each instruction");
ulong seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "What all random choices depend on");
torture_param(int, ncallers, -1, "Number of threads that call, -1 for one on each CPU");
torture_param(int, ndisturbers, -1, "Number of threads that change probes, -1 for the usual one");
torture_param(int, onoff_holdoff, 0, "Time before the first CPU hotplug (s)");
torture_param(int, onoff_interval, 0, "Time between CPU hotplugs (jiffies), 0=disable");
torture_param(int, shuffle_interval, 3, "Number of seconds between shuffles, 0=disable");
torture_param(int, shutdown_secs, 0, "Shutdown time (s), <= zero to disable");
torture_param(int, stat_interval, 60, "Number of seconds between statistics, 0=disable");
torture_param(int, stutter, 5, "Number of seconds to run and to halt, 0=disable");
torture_param(int, verbose, 0, "Tell about threads and hotplug");

static char *torture_type = "kprobes";
unsigned int nr_targets, nr_probes;
struct target targets[MAX_TARGETS];
struct probe probes[ALL_PROBES];

static struct task_struct *stats;
static struct dentry *file;

/* --- counts --- */

#define MAX_COMPLAINTS	20

static const char * const count_names[NR_COUNTS] = {
	"result", "lost", "late", "missed", "error", "text",
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
	pr_alert("%s" TORTURE_FLAG "!!! %s: %pV\n", torture_type, count_names[fault], &vaf);
	va_end(args);
}

static void print_counts(void)
{
	char line[512];
	unsigned int i, len = 0;

	for (i = 0; i < NR_COUNTS; i++)
		len += scnprintf(line + len, sizeof(line) - len, "%s %ld ", count_names[i],
				 atomic_long_read(&counts[i]));
	pr_alert("%s" TORTURE_FLAG " %s", torture_type, line);
	torture_onoff_stats();
	pr_cont("\n");
}

static int torture_stats(void *unused)
{
	schedule_timeout_interruptible(stat_interval * HZ);
	while (!torture_must_stop()) {
		print_counts();
		torture_shutdown_absorb("torture_stats");
		schedule_timeout_interruptible(stat_interval * HZ);
	}
	torture_kthread_stopping("torture_stats");
	return 0;
}

static void print_params(const char *tag)
{
	pr_alert("%s" TORTURE_FLAG "--- %s: dense=%d seed=%lu ncallers=%d ndisturbers=%d "
		 "onoff_holdoff=%d onoff_interval=%d shuffle_interval=%d shutdown_secs=%d "
		 "stat_interval=%d stutter=%d verbose=%d functions=%u probes=%u\n",
		 torture_type, tag, dense, seed, ncallers, ndisturbers, onoff_holdoff,
		 onoff_interval, shuffle_interval, shutdown_secs, stat_interval, stutter, verbose,
		 nr_targets, nr_probes);
}

static void print_end(void)
{
	long checks = atomic_long_read(&counts[CHECKS]), errors = 0;
	const char *verdict;
	char tag[80];
	unsigned int i;

	for (i = 0; i <= BAD_TEXT; i++)
		errors += atomic_long_read(&counts[i]);
	if (errors || !checks)
		verdict = "FAILURE";
	else
		verdict = torture_onoff_failures() ? "HOTPLUG" : "SUCCESS";
	snprintf(tag, sizeof(tag), "End of test: %s: %ld errors, %ld checks", verdict, errors,
		 checks);
	print_params(tag);
}

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
MODULE_PARM_DESC(enabled, "\"moving\" before the file enabled changes, and its value after that");

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

static void kprobes_torture_cleanup(void)
{
	if (torture_cleanup_begin())
		return;
	debugfs_remove(file);
	torture_stop_kthread(torture_stats, stats);
	stop_callers();
	unregister_module_notifier(&prey_nb);
	stop_disturbers();
	check_texts();
	print_counts();
	print_end();
	torture_cleanup_end();
}

/* What each of these does beside the callers and disturbers is the same for all torture tests. */
static int start_others(void)
{
	int err = 0;

	if (stat_interval > 0)
		err = torture_create_kthread(torture_stats, NULL, stats);
	if (!err && shuffle_interval > 0)
		err = torture_shuffle_init(shuffle_interval * HZ);
	if (!err && stutter > 0)
		err = torture_stutter_init(stutter * HZ, stutter * HZ);
	err = err ?: torture_shutdown_init(shutdown_secs, kprobes_torture_cleanup);
	return err ?: torture_onoff_init(onoff_holdoff * HZ, onoff_interval, NULL);
}

static int start(void)
{
	int err;

	nr_targets = dense ? nr_dense_functions : nr_many_functions;
	if (ncallers < 0 || ncallers > MAX_CALLERS)
		ncallers = min(num_online_cpus(), MAX_CALLERS);
	/* Each waits for grace periods most of the time. */
	if (ndisturbers < 0 || ndisturbers > MAX_DISTURBERS)
		ndisturbers = dense ? 4 : MAX_DISTURBERS;
	err = prepare_targets() ?: register_module_notifier(&prey_nb);
	if (err)
		return err;
	print_params("Start of test");
	file = debugfs_create_file("kprobes_torture", 0400, NULL, NULL, &user_fops);
	err = start_callers(ncallers) ?: start_disturbers(ndisturbers);
	return err ?: start_others();
}

static int __init kprobes_torture_init(void)
{
	int err;

	if (!torture_init_begin(torture_type, verbose))
		return -EBUSY;
	err = start();
	torture_init_end();
	if (err)
		kprobes_torture_cleanup();
	return err;
}

module_init(kprobes_torture_init);
module_exit(kprobes_torture_cleanup);
MODULE_DESCRIPTION("Probes of all kinds that change while they are hit");
MODULE_LICENSE("GPL");
