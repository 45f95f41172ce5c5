// SPDX-License-Identifier: GPL-2.0-only
/* The files in /sys/kernel/debug/kprobes. Tools parse them: their text is ABI. */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "internal.h"

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

	seq_printf(m, "%px  %c  ", addr, kprobe_kind(kp->hit_pre));
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

/* Print a line of "list" for each member. */
static int show_point(struct kprobe_point *point, void *data)
{
	struct kprobe *kp;

	list_for_each_entry(kp, &point->members, list)
		show_member(data, point, kp);

	return seq_has_overflowed(data);
}

/**
 * struct points_file - the contents of an open file
 * @show: prints a point
 * @addrs: the addresses at which there were points when it was opened
 */
struct points_file {
	int (*show)(struct kprobe_point *point, void *m);
	struct kprobe_keys addrs;
};

static int points_collect_one(struct kprobe_point *point, void *addrs)
{
	kprobe_index_add(addrs, point_addr(point));

	return 0;
}

static void points_collect(struct kprobe_keys *addrs, const struct module *unused)
{
	kprobe_points_for_each(points_collect_one, addrs);
}

static void *points_start(struct seq_file *m, loff_t *pos)
{
	const struct kprobe_keys *addrs = &((struct points_file *)m->private)->addrs;

	return *pos < addrs->nr ? &addrs->keys[*pos] : NULL;
}

/* Skip duplicates: kprobe_points_at() shows all points of one address. */
static void *points_next(struct seq_file *m, void *v, loff_t *pos)
{
	u64 *next;

	do {
		++*pos;
		next = points_start(m, pos);
	} while (next && *next == *(u64 *)v);

	return next;
}

static void points_stop(struct seq_file *m, void *v)
{
}

/* Print address, symbol, state, members, missed hits, and why the point has no jump. */
static int show_point_state(struct kprobe_point *point, void *data)
{
	unsigned long hits = 0, same, calls = 0, instances = 0;
	unsigned long offset = 0, addr = point_addr(point);
	char name[KSYM_NAME_LEN], why[64] = NO_JUMPS;
	const struct kretprobe *rp;
	struct seq_file *m = data;
	enum point_state state;
	char *module = NULL;
	struct kprobe *kp;

	list_for_each_entry(kp, &point->members, list) {
		hits += READ_ONCE(kp->nmissed);
		if (return_is_probe(kp)) {
			rp = container_of(kp, struct kretprobe, kp);
			calls += READ_ONCE(rp->nmissed);
			instances += kretprobe_pool_size(rp);
		}
	}
	/* Members that have left had a part in it. */
	same = min(READ_ONCE(point->missed_same), hits);
	/* Whether its region is fenced already makes no difference to the user of a probe. */
	state = point->state == POINT_FENCED ? POINT_OPTIMIZING : point->state;
	if (IS_ENABLED(CONFIG_OPTPROBES))
		kprobe_optimize_explain(point, why, sizeof(why));

	guard(rcu)();
	if (!kallsyms_lookup(addr, NULL, &offset, &module, name))
		strscpy(name, "?", sizeof(name));

	seq_printf(m, "%px %s%s%s+0x%lx %s %zu %lu %s",
		   kallsyms_show_value(m->file->f_cred) ? (void *)addr : NULL, module ?: "",
		   module ? ":" : "", name, offset, kprobe_point_state_name(state),
		   list_count_nodes(&point->members), hits + calls, why);
	if (hits)
		seq_printf(m, " (missed: %lu in other hits, %lu in hits here)", hits - same, same);
	if (instances)
		seq_printf(m, " (not followed: %lu, instances: %lu)", calls, instances);
	seq_putc(m, '\n');

	return seq_has_overflowed(m);
}

/* Hold the mutex for one address at a time. */
static int points_show(struct seq_file *m, void *v)
{
	struct points_file *file = m->private;

	guard(mutex)(&kprobe_mutex);
	kprobe_points_at(*(u64 *)v, file->show, m);

	return 0;
}

static const struct seq_operations points_ops = {
	.start = points_start,
	.next = points_next,
	.stop = points_stop,
	.show = points_show,
};

static int points_release(struct inode *inode, struct file *file)
{
	struct points_file *points = ((struct seq_file *)file->private_data)->private;

	kvfree(points->addrs.keys);

	return seq_release_private(inode, file);
}

static int points_open(struct inode *inode, struct file *file)
{
	struct points_file *points;
	int ret;

	/* Decide now which points get a jump: the reader may have just registered one. */
	if (IS_ENABLED(CONFIG_OPTPROBES))
		kprobe_optimize_prepare_queued();

	points = __seq_open_private(file, &points_ops, sizeof(*points));
	if (!points)
		return -ENOMEM;
	points->show = inode->i_private;
	scoped_guard(mutex, &kprobe_mutex)
		ret = kprobe_keys_make(&points->addrs, points_collect, NULL);
	if (ret)
		points_release(inode, file);

	return ret;
}

static const struct file_operations points_fops = {
	.owner = THIS_MODULE,
	.open = points_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = points_release,
};

DEFINE_SHOW_ATTRIBUTE(kprobe_blacklist);
DEFINE_SHOW_ATTRIBUTE(kprobe_refused);

static int kprobes_enabled_set(bool on)
{
	bool changes;
	int ret;

	guard(mutex)(&kprobe_mutex);
	changes = on == kprobe_points_all_off();
	/* Writing 1 again retries the points that could not be armed before. */
	if (!changes && !on)
		return 0;

	kprobe_want_all_off(!on);
	ret = kprobe_points_reconcile_all();
	if (ret) {
		kprobe_record_refusal(NULL, '-', ret, 0, 0);
		pr_warn("not every probe could be armed: %d\n", ret);
	} else if (changes) {
		pr_info("globally %s\n", on ? "enabled" : "disabled");
	}

	return ret;
}

static ssize_t kprobes_enabled_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	const char *text = kprobe_points_all_off() ? "0\n" : "1\n";

	return simple_read_from_buffer(buf, count, pos, text, 2);
}

static ssize_t kprobes_enabled_write(struct file *file, const char __user *buf, size_t count,
				     loff_t *pos)
{
	bool on;
	int ret;

	ret = kstrtobool_from_user(buf, count, &on);
	if (ret)
		return ret;
	ret = kprobes_enabled_set(on);

	return ret ?: count;
}

static const struct file_operations kprobes_enabled_fops = {
	.read = kprobes_enabled_read,
	.write = kprobes_enabled_write,
	.llseek = default_llseek,
};

static int __init kprobes_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("kprobes", NULL);

	debugfs_create_file("list", 0400, dir, show_point, &points_fops);
	debugfs_create_file("points", 0400, dir, show_point_state, &points_fops);
	debugfs_create_file("enabled", 0600, dir, NULL, &kprobes_enabled_fops);
	debugfs_create_file("blacklist", 0400, dir, NULL, &kprobe_blacklist_fops);
	debugfs_create_file("refused", 0400, dir, NULL, &kprobe_refused_fops);
	debugfs_create_file("try", 0600, dir, NULL, &kprobe_try_fops);

	return 0;
}
late_initcall(kprobes_debugfs_init);
