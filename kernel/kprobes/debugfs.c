// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files in /sys/kernel/debug/kprobes. Tools read them: their text is ABI.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>

#include "blacklist.h"
#include "optimize.h"
#include "point.h"
#include "reconcile.h"
#include "return.h"
#include "table.h"

static void show_member(struct seq_file *m, const struct kprobe_point *point,
			struct kprobe *kp)
{
	unsigned long offset = 0;
	char name[KSYM_NAME_LEN];
	void *addr = point->op.kp.addr;
	char *module = NULL;
	const char *symbol;

	/* RCU keeps the module, and thus its name, from being freed. */
	guard(rcu)();
	symbol = kallsyms_lookup((unsigned long)addr, NULL, &offset, &module, name);
	if (!kallsyms_show_value(m->file->f_cred))
		addr = NULL;

	seq_printf(m, "%px  %c  ", addr, return_is_probe(kp) ? 'r' : 'k');
	if (symbol)
		seq_printf(m, "%s+0x%lx  %s ", symbol, offset, module ?: " ");
	else
		seq_printf(m, "%px ", addr);

	seq_printf(m, "%s%s%s%s\n",
		   kprobe_gone(kp) ? "[GONE]" : "",
		   !kprobe_gone(kp) && kp->flags & KPROBE_FLAG_DISABLED ? "[DISABLED]" : "",
		   point->op.kp.flags & KPROBE_FLAG_OPTIMIZED ? "[OPTIMIZED]" : "",
		   kp->flags & KPROBE_FLAG_FTRACE ? "[FTRACE]" : "");
}

static int show_point(struct kprobe_point *point, void *data)
{
	struct kprobe *kp;

	list_for_each_entry(kp, &point->members, list)
		show_member(data, point, kp);

	return seq_has_overflowed(data);
}

static int show_points(struct seq_file *m, int (*show)(struct kprobe_point *point, void *data))
{
	/* Decide about pending jumps first, so that a new probe shows its final state. */
	optimize_prepare_queued();

	guard(mutex)(&kprobe_mutex);
	points_for_each(show, m);

	return 0;
}

static int list_show(struct seq_file *m, void *unused)
{
	return show_points(m, show_point);
}
DEFINE_SHOW_ATTRIBUTE(list);

/* Hits that came within others, and calls for which no instance was left. */
static unsigned long member_missed(struct kprobe *kp)
{
	unsigned long missed = READ_ONCE(kp->nmissed);

	if (return_is_probe(kp))
		missed += READ_ONCE(container_of(kp, struct kretprobe, kp)->nmissed);

	return missed;
}

static int show_point_state(struct kprobe_point *point, void *data)
{
	unsigned long offset = 0, missed = 0, addr = point_addr(point);
	char name[KSYM_NAME_LEN], why[64];
	struct seq_file *m = data;
	char *module = NULL;
	struct kprobe *kp;

	list_for_each_entry(kp, &point->members, list)
		missed += member_missed(kp);
	optimize_explain(point, why, sizeof(why));
	guard(rcu)();
	if (!kallsyms_lookup(addr, NULL, &offset, &module, name))
		strscpy(name, "?", sizeof(name));

	seq_printf(m, "%px %s%s%s+0x%lx %s %zu %lu %s\n",
		   kallsyms_show_value(m->file->f_cred) ? (void *)addr : NULL,
		   module ?: "", module ? ":" : "", name, offset,
		   point_state_name(point->state), list_count_nodes(&point->members), missed, why);

	return seq_has_overflowed(m);
}

/* Columns: address, place, state, members, missed hits, reason for having no jump. */
static int points_show(struct seq_file *m, void *unused)
{
	return show_points(m, show_point_state);
}
DEFINE_SHOW_ATTRIBUTE(points);

static int blacklist_file_show(struct seq_file *m, void *unused)
{
	return blacklist_show(m, kallsyms_show_value(m->file->f_cred));
}
DEFINE_SHOW_ATTRIBUTE(blacklist_file);

static int enabled_set(bool on)
{
	bool changes;
	int ret;

	guard(mutex)(&kprobe_mutex);
	changes = on == points_all_off();
	/* Writing 1 again retries the points that could not be armed before. */
	if (!changes && !on)
		return 0;

	ret = points_set_all_off(!on);
	if (ret)
		pr_warn("not every probe could be armed: %d\n", ret);
	else if (changes)
		pr_info("globally %s\n", on ? "enabled" : "disabled");

	return ret;
}

static ssize_t enabled_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	const char *text = points_all_off() ? "0\n" : "1\n";

	return simple_read_from_buffer(buf, count, pos, text, 2);
}

static ssize_t enabled_write(struct file *file, const char __user *buf, size_t count,
			     loff_t *pos)
{
	bool on;
	int ret;

	ret = kstrtobool_from_user(buf, count, &on);
	if (ret)
		return ret;
	ret = enabled_set(on);

	return ret ?: count;
}

static const struct file_operations enabled_fops = {
	.read = enabled_read,
	.write = enabled_write,
	.llseek = default_llseek,
};

static int __init kprobes_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("kprobes", NULL);

	debugfs_create_file("list", 0400, dir, NULL, &list_fops);
	debugfs_create_file("points", 0400, dir, NULL, &points_fops);
	debugfs_create_file("enabled", 0600, dir, NULL, &enabled_fops);
	debugfs_create_file("blacklist", 0400, dir, NULL, &blacklist_file_fops);

	return 0;
}
late_initcall(kprobes_debugfs_init);
