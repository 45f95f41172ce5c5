// SPDX-License-Identifier: GPL-2.0-only
/*
 * A jprobe in the form that old modules use: the entry in an initializer, the symbol set
 * later, and a handler that ends in jprobe_return(), followed by code that was never reached.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched/task.h>

/* Proxy for kernel_clone(), formerly do_fork(). */
static pid_t jkernel_clone(struct kernel_clone_args *args)
{
	pr_info("kp_jdofork: clone_flags=0x%llx, exit_signal=%d, args=0x%p\n",
		args->flags, args->exit_signal, args);
	jprobe_return();
	/* not reached */
	return 0;
}

static struct jprobe my_jprobe = {
	.entry = JPROBE_ENTRY(jkernel_clone)
};

static int __init kp_jdofork_init(void)
{
	my_jprobe.kp.symbol_name = "kernel_clone";

	return register_jprobe(&my_jprobe);
}

static void __exit kp_jdofork_exit(void)
{
	unregister_jprobe(&my_jprobe);
}

module_init(kp_jdofork_init)
module_exit(kp_jdofork_exit)
MODULE_DESCRIPTION("A jprobe as it used to be written");
MODULE_LICENSE("GPL");
