// SPDX-License-Identifier: GPL-2.0-only
/*
 * A probe on one instruction, the first of a function: prints which task is about
 * to execute it, and where execution continues after it.
 *
 *	insmod kprobe_example.ko [symbol=NAME]
 *
 * Then do something that calls the function (the default one starts every new
 * process), read the kernel log, and remove the module to remove the probe.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

static char *symbol = "kernel_clone";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "function to probe");

/* Runs before the instruction. Returns 0 to execute the instruction. */
static int before_insn(struct kprobe *p, struct pt_regs *regs)
{
	pr_info("%s: %s[%d] arrives, ip %pS\n", p->symbol_name, current->comm,
		task_pid_nr(current), (void *)instruction_pointer(regs));
	return 0;
}

/* Runs after the instruction, with @regs as the instruction has left them. */
static void after_insn(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	pr_info("%s: %s[%d] goes on at %pS\n", p->symbol_name, current->comm,
		task_pid_nr(current), (void *)instruction_pointer(regs));
}

static struct kprobe probe = {
	.pre_handler = before_insn,
	.post_handler = after_insn,
};

static int __init kprobe_example_init(void)
{
	int err;

	probe.symbol_name = symbol;
	err = register_kprobe(&probe);
	if (err) {
		pr_err("no probe on %s: error %d\n", symbol, err);
		return err;
	}
	pr_info("probe on %s, at %pS\n", symbol, probe.addr);
	return 0;
}

static void __exit kprobe_example_exit(void)
{
	unregister_kprobe(&probe);
	/* No handler is running now, so the count is final. */
	pr_info("probe on %s removed, %lu hits missed\n", symbol, probe.nmissed);
}

module_init(kprobe_example_init)
module_exit(kprobe_example_exit)
MODULE_DESCRIPTION("Print each arrival at one instruction");
MODULE_LICENSE("GPL");
