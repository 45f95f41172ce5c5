// SPDX-License-Identifier: GPL-2.0-only
/*
 * A probe on the return of a function: how long did each call take, and what
 * did it return?
 *
 *	insmod kretprobe_example.ko [func=NAME] [maxactive=N]
 *
 * The entry handler notes the time in the private data of the call, the return
 * handler of the same call finds it there, however many calls overlap.
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

/* One of these exists for each call under way. */
struct call {
	u64 entered;
};

/* A result other than 0 would say: do not follow this call. */
static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;

	/* The clock that can be read in an NMI, which a breakpoint counts as. */
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
	/* More calls came at once than maxactive, and faster than room for more. */
	pr_info("return probe on %s removed, %d calls missed\n", func, probe.nmissed);
}

module_init(kretprobe_example_init)
module_exit(kretprobe_example_exit)
MODULE_DESCRIPTION("Print the latency and the result of each call of a function");
MODULE_LICENSE("GPL");
