// SPDX-License-Identifier: GPL-2.0-only
/*
 * A jprobe: a handler with the parameters of the probed function, called with
 * its arguments when the function is entered. This one prints which task opens
 * which file.
 *
 *	insmod jprobe_example.ko
 *
 * The handler must have the function's type, so the function cannot be a
 * parameter of the module.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fcntl.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

/*
 * Has the parameters of do_sys_openat2(). A handler must not sleep until a page of the
 * program has been read in: a name that is not in memory is omitted, and one that
 * crosses a page boundary is truncated.
 */
static long on_open(int dfd, const char __user *filename, struct open_how *how)
{
	char name[64] = "";
	size_t len = min(sizeof(name) - 1, PAGE_SIZE - offset_in_page(filename));

	if (copy_from_user_nofault(name, filename, len))
		strscpy(name, "?");
	pr_info("do_sys_openat2: %s[%d] opens %s from %d with flags %#llo\n", current->comm,
		task_pid_nr(current), name, dfd, how->flags);

	/* Handlers used to end with this. It is optional. */
	jprobe_return();
	return 0;
}

static struct jprobe probe = {
	.entry = JPROBE_ENTRY(on_open),
	.kp.symbol_name = "do_sys_openat2",
};

static int __init jprobe_example_init(void)
{
	int err = register_jprobe(&probe);

	if (err) {
		pr_err("no jprobe on %s: error %d\n", probe.kp.symbol_name, err);
		return err;
	}
	pr_info("jprobe on %s, handler %pS\n", probe.kp.symbol_name, probe.entry);
	return 0;
}

static void __exit jprobe_example_exit(void)
{
	unregister_jprobe(&probe);
	pr_info("jprobe on %s removed, %lu hits missed\n", probe.kp.symbol_name,
		probe.kp.nmissed);
}

module_init(jprobe_example_init)
module_exit(jprobe_example_exit)
MODULE_DESCRIPTION("Print the arguments of each call of a function");
MODULE_LICENSE("GPL");
