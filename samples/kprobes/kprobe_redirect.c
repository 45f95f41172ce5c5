// SPDX-License-Identifier: GPL-2.0-only
/*
 * A probe that changes where execution goes on: a function of the kernel is left
 * out, and gives another result, but only for programs of a certain name.
 *
 *	insmod kprobe_redirect.ko [symbol=NAME] [comm=NAME] [value=N]
 *
 * With the defaults no program named "cat" can open a file: -13 is -EACCES. Take
 * care with other functions: what they would have done is not done, and callers
 * may rely on more than the result. Where a probe's jump always goes on behind it,
 * on arm and powerpc, a post_handler keeps the jump away.
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
 * Runs in the place of the function. At a function's entry the return address
 * is where the caller put it, so this returns to the caller.
 */
static long instead(void)
{
	return value;
}

/* Result 1: the instruction pointer is not what it was, go on from there. */
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
	/* Nobody comes to instead() any more, but a task may be preempted in it. */
	synchronize_rcu_tasks();
	pr_info("%s is as it was\n", symbol);
}

module_init(kprobe_redirect_init)
module_exit(kprobe_redirect_exit)
MODULE_DESCRIPTION("Have a function return at once for some programs");
MODULE_LICENSE("GPL");
