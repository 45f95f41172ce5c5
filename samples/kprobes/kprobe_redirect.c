// SPDX-License-Identifier: GPL-2.0-only
/*
 * A probe that changes where execution continues: a function of the kernel is skipped
 * and returns another result, but only for programs of a certain name.
 *
 *	insmod kprobe_redirect.ko [symbol=NAME] [comm=NAME] [value=N]
 *
 * With the defaults no program named "cat" can open a file: -13 is -EACCES. Be
 * careful with other functions: their side effects are missing, and callers may rely
 * on more than the result. On arm and powerpc an optimized probe always continues
 * behind the probed instruction, so a post_handler prevents the optimization.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>

static char *symbol = "do_sys_openat2";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "function to leave out");

static char *comm = "cat";
module_param(comm, charp, 0444);
MODULE_PARM_DESC(comm, "name of the programs for which it is left out");

static long value = -13;
module_param(value, long, 0444);
MODULE_PARM_DESC(value, "result they get");

/*
 * Runs in place of the function. At a function's entry the return address is still
 * where the caller put it, so this returns to the caller.
 */
static long instead(void)
{
	return value;
}

/* Returns 1 to continue at the instruction pointer that it has set. */
static int at_entry(struct kprobe *p, struct pt_regs *regs)
{
	if (strcmp(current->comm, comm))
		return 0;

	pr_info("%s: %s[%d] gets %ld\n", p->symbol_name, current->comm,
		task_pid_nr(current), value);
	instruction_pointer_set(regs, (unsigned long)instead);
	return 1;
}

static struct kprobe probe = {
	.pre_handler = at_entry,
};

static int __init kprobe_redirect_init(void)
{
	int err;

	probe.symbol_name = symbol;
	err = register_kprobe(&probe);
	if (err) {
		pr_err("no probe on %s: error %d\n", symbol, err);
		return err;
	}
	pr_info("%s is left out for %s\n", symbol, comm);
	return 0;
}

static void __exit kprobe_redirect_exit(void)
{
	unregister_kprobe(&probe);
	/* No task can enter instead() any more, but one may have been preempted in it. */
	synchronize_rcu_tasks();
	pr_info("%s is as it was\n", symbol);
}

module_init(kprobe_redirect_init)
module_exit(kprobe_redirect_exit)
MODULE_DESCRIPTION("Have a function return at once for some programs");
MODULE_LICENSE("GPL");
