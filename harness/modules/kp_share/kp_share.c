// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers a probe at each address that is written to the parameter "add". The write
 * fails with the error that register_kprobe() returned. Writing to "clear" removes all
 * probes. This works with any implementation of kprobes.
 */
#include <linux/kprobes.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

static struct kprobe *probes;
static struct kprobe **registered;
static unsigned int nr_registered;
static DEFINE_MUTEX(probes_lock);

static bool post;
module_param(post, bool, 0400);
MODULE_PARM_DESC(post, "the probes have a post_handler as well");

static unsigned int room = 1024;
module_param(room, uint, 0400);
MODULE_PARM_DESC(room, "for how many probes at a time");

static int on_pre(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

NOKPROBE_SYMBOL(on_pre);

static void on_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

NOKPROBE_SYMBOL(on_post);

static int add_probe(unsigned long addr)
{
	struct kprobe *kp;
	int err;

	if (nr_registered == room)
		return -ENOSPC;
	kp = &probes[nr_registered];
	memset(kp, 0, sizeof(*kp));
	kp->addr = (kprobe_opcode_t *)addr;
	kp->pre_handler = on_pre;
	kp->post_handler = post ? on_post : NULL;
	err = register_kprobe(kp);
	if (!err)
		registered[nr_registered++] = kp;
	return err;
}

static int add_set(const char *text, const struct kernel_param *param)
{
	unsigned long addr;
	int err = kstrtoul(text, 16, &addr);

	guard(mutex)(&probes_lock);
	return err ?: add_probe(addr);
}

module_param_call(add, add_set, NULL, NULL, 0200);

static void clear_all(void)
{
	guard(mutex)(&probes_lock);
	if (nr_registered)
		unregister_kprobes(registered, nr_registered);
	nr_registered = 0;
}

static int clear_set(const char *text, const struct kernel_param *param)
{
	clear_all();
	return 0;
}

module_param_call(clear, clear_set, NULL, NULL, 0200);

static int __init kp_share_init(void)
{
	probes = kvcalloc(room, sizeof(*probes), GFP_KERNEL);
	registered = kvcalloc(room, sizeof(*registered), GFP_KERNEL);
	if (probes && registered)
		return 0;

	kvfree(probes);
	kvfree(registered);
	return -ENOMEM;
}

static void __exit kp_share_exit(void)
{
	clear_all();
	kvfree(probes);
	kvfree(registered);
}

module_init(kp_share_init);
module_exit(kp_share_exit);
MODULE_DESCRIPTION("Probes by address");
MODULE_LICENSE("GPL");
