// SPDX-License-Identifier: GPL-2.0-only
/* The files in /sys/kernel/debug/kprobes. Tools parse them: their text is ABI. */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>

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

static int show_point(struct kprobe_point *point, void *data)
{
	struct kprobe *kp;

	list_for_each_entry(kp, &point->members, list)
		show_member(data, point, kp);

	return seq_has_overflowed(data);
}

#define DEFINE_POINTS_FILE(__name)						\
static const struct seq_operations __name ## _ops = {				\
	.start = points_start,							\
	.next = points_next,							\
	.stop = points_stop,							\
	.show = __name ## _show,						\
};										\
										\
static int __name ## _open(struct inode *inode, struct file *file)		\
{										\
	return open_points(file, &__name ## _ops);				\
}										\
										\
static const struct file_operations __name ## _fops = {			\
	.owner = THIS_MODULE,							\
	.open = __name ## _open,						\
	.read = seq_read,							\
	.llseek = seq_lseek,							\
	.release = points_release,						\
}

/**
 * struct point_list - the contents of an open file
 * @addrs: the addresses at which there were points when it was opened, in order
 * @nr: how many
 * @max: how many there is room for
 */
struct point_list {
	unsigned long *addrs;
	unsigned int nr;
	unsigned int max;
};

static int point_list_add(struct kprobe_point *point, void *data)
{
	struct point_list *list = data;
	unsigned long *larger;

	if (list->nr == list->max) {
		list->max = max(2 * list->max, 64U);
		larger = kvrealloc(list->addrs, array_size(list->max, sizeof(*larger)), GFP_KERNEL);
		if (!larger)
			return -ENOMEM;
		list->addrs = larger;
	}
	list->addrs[list->nr++] = point_addr(point);

	return 0;
}

static int point_list_cmp(const void *a, const void *b)
{
	unsigned long left = *(const unsigned long *)a, right = *(const unsigned long *)b;

	return left < right ? -1 : left > right;
}

/* Drop duplicates: kprobe_points_at() shows all points of one address. */
static void point_list_sort(struct point_list *list)
{
	unsigned int i, nr = 0;

	sort(list->addrs, list->nr, sizeof(*list->addrs), point_list_cmp, NULL);
	for (i = 0; i < list->nr; i++) {
		if (!i || list->addrs[i] != list->addrs[i - 1])
			list->addrs[nr++] = list->addrs[i];
	}
	list->nr = nr;
}

static void *points_start(struct seq_file *m, loff_t *pos)
{
	struct point_list *list = m->private;

	return *pos < list->nr ? &list->addrs[*pos] : NULL;
}

static void *points_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;

	return points_start(m, pos);
}

static void points_stop(struct seq_file *m, void *v)
{
}

static int points_release(struct inode *inode, struct file *file)
{
	struct point_list *list = ((struct seq_file *)file->private_data)->private;

	kvfree(list->addrs);

	return seq_release_private(inode, file);
}

static int open_points(struct file *file, const struct seq_operations *ops)
{
	struct point_list *list;
	int ret;

	/* Decide now which points get a jump: the reader may have just registered one. */
	if (IS_ENABLED(CONFIG_OPTPROBES))
		kprobe_optimize_prepare_queued();

	list = __seq_open_private(file, ops, sizeof(*list));
	if (!list)
		return -ENOMEM;
	scoped_guard(mutex, &kprobe_mutex)
		ret = kprobe_points_for_each(point_list_add, list);
	if (ret) {
		points_release(file_inode(file), file);
		return ret;
	}
	point_list_sort(list);

	return 0;
}

/* Hold the mutex for one address at a time. */
static int probe_list_show(struct seq_file *m, void *v)
{
	guard(mutex)(&kprobe_mutex);
	kprobe_points_at(*(unsigned long *)v, show_point, m);

	return 0;
}

DEFINE_POINTS_FILE(probe_list);

static int show_point_state(struct kprobe_point *point, void *data)
{
	unsigned long hits = 0, same, calls = 0, instances = 0;
	unsigned long offset = 0, addr = point_addr(point);
	char name[KSYM_NAME_LEN], why[64];
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

/* Print address, symbol, state, members, missed hits, and why the point has no jump. */
static int points_show(struct seq_file *m, void *v)
{
	guard(mutex)(&kprobe_mutex);
	kprobe_points_at(*(unsigned long *)v, show_point_state, m);

	return 0;
}

DEFINE_POINTS_FILE(points);

static int blacklist_file_show(struct seq_file *m, void *unused)
{
	return kprobe_blacklist_show(m, kallsyms_show_value(m->file->f_cred));
}
DEFINE_SHOW_ATTRIBUTE(blacklist_file);

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

	debugfs_create_file("list", 0400, dir, NULL, &probe_list_fops);
	debugfs_create_file("points", 0400, dir, NULL, &points_fops);
	debugfs_create_file("enabled", 0600, dir, NULL, &kprobes_enabled_fops);
	debugfs_create_file("blacklist", 0400, dir, NULL, &blacklist_file_fops);
	debugfs_create_file("refused", 0400, dir, NULL, &kprobe_refused_fops);
	debugfs_create_file("try", 0600, dir, NULL, &kprobe_try_fops);

	return 0;
}
late_initcall(kprobes_debugfs_init);
