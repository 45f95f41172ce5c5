// SPDX-License-Identifier: GPL-2.0-only
/*
 * The debugfs file kp_text has a digest of each page of the kernel's text, one per line,
 * to find changes by comparing two readings. The parameters are the addresses of _stext
 * and _etext, from /proc/kallsyms.
 */
#include <linux/debugfs.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/seq_file.h>

static unsigned long start, end;
module_param(start, ulong, 0400);
module_param(end, ulong, 0400);

static int kp_text_show(struct seq_file *m, void *unused)
{
	unsigned long page;

	for (page = start; page < end; page += PAGE_SIZE)
		seq_printf(m, "%lx %x\n", page,
			   jhash((void *)page, min(PAGE_SIZE, end - page), 0));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kp_text);

static struct dentry *file;

static int __init kp_text_init(void)
{
	if (!start || end <= start)
		return -EINVAL;
	file = debugfs_create_file("kp_text", 0400, NULL, NULL, &kp_text_fops);
	return 0;
}

static void __exit kp_text_exit(void)
{
	debugfs_remove(file);
}

module_init(kp_text_init)
module_exit(kp_text_exit)
MODULE_DESCRIPTION("Has the kernel's text changed?");
MODULE_LICENSE("GPL");
