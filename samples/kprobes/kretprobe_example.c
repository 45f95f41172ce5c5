// SPDX-License-Identifier: GPL-2.0-only
/*
 * A probe on the return of a function: prints how long each call took, and what it
 * returned.
 *
 *	insmod kretprobe_example.ko [func=NAME] [maxactive=N]
 *
 * The entry handler stores the time in the private data of the call, where the return
 * handler of the same call finds it, even if calls overlap.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

static char *func = "kernel_clone";
module_param(func, charp, 0444);
MODULE_PARM_DESC(func, "function to follow");

static int maxactive;
module_param(maxactive, int, 0444);
MODULE_PARM_DESC(maxactive, "calls to follow at one time from the start, 0 for the default");

/* Private data of one call. */
struct call {
	u64 entered;
};

/* A return value other than 0 would mean: do not follow this call. */
static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;

	/* The handler may run in NMI context, where this clock can be read. */
	call->entered = ktime_get_mono_fast_ns();
	return 0;
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;
	u64 took = ktime_get_mono_fast_ns() - call->entered;

	pr_info("%s: %s[%d] got %ld after %llu ns\n", func, current->comm,
		task_pid_nr(current), (long)regs_return_value(regs), took);
	return 0;
}

static struct kretprobe probe = {
	.entry_handler = on_entry,
	.handler = on_return,
	.data_size = sizeof(struct call),
};

static int __init kretprobe_example_init(void)
{
	int err;

	probe.kp.symbol_name = func;
	probe.maxactive = maxactive;
	err = register_kretprobe(&probe);
	if (err) {
		pr_err("no return probe on %s: error %d\n", func, err);
		return err;
	}
	pr_info("return probe on %s\n", func);
	return 0;
}

static void __exit kretprobe_example_exit(void)
{
	unregister_kretprobe(&probe);
	/* Calls are missed if there are more at once than instances have been allocated. */
	pr_info("return probe on %s removed, %d calls missed\n", func, probe.nmissed);
}

module_init(kretprobe_example_init)
module_exit(kretprobe_example_exit)
MODULE_DESCRIPTION("Print the latency and the result of each call of a function");
MODULE_LICENSE("GPL");
