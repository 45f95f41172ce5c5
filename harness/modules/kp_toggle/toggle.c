// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes change while every CPU calls the functions they are in.
 *
 * Each instruction of each function in targets.c is a spot for two probes, one with a
 * post_handler. First every probe is tried alone with every input, to count its hits in a
 * call. Then, for a number of seconds, callers call the functions, and disturbers
 * register, unregister, enable and disable probes. These errors are counted:
 *
 *	result	a function returned another result than without probes
 *	lost	a probe that did not change during a call had fewer or more hits in it
 *		than expected
 *	late	a handler ran after unregistering had returned
 *	missed	a hit was counted as missed, although no handler hits a probe
 *	error	registering, enabling or disabling failed
 *	text	the text of the functions is not the original after all probes are removed
 *
 * A script that disables all probes in debugfs must announce that by the parameter
 * "enabled" before and after. Reading the debugfs file kp_toggle stores to user memory.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "racing.h"
#include "targets.h"

#define MAX_SPOTS	64	/* in one function */
#define MAX_TEXT	512
#define NR_DISTURBERS	4

struct probe {
	struct kprobe kp;
	struct target *target;
	struct version version;
	unsigned int index;
	bool registered;
	bool live;		/* a handler may run */
	u8 times[NR_INPUTS];	/* hits in a call with this input */
	u8 post_times[NR_INPUTS];
};

struct target {
	const struct target_function *function;
	struct mutex lock;	/* protects changes of its probes */
	struct probe *probes;
	unsigned int nr_probes;
	unsigned int len;
	u8 text[MAX_TEXT];
	unsigned long results[NR_INPUTS];
};

struct snapshot {
	struct version version;
	unsigned int hits, posts;
};

/* What a caller sees of the probes. */
struct view {
	struct version all;
	struct snapshot before[2 * MAX_SPOTS];
	unsigned int *hits, *posts;
};

static struct target *targets;
static struct probe *probes;
static unsigned int nr_probes;
static struct view views[MAX_CALLERS];
static struct task_struct *disturbers[NR_DISTURBERS];
static atomic_t nr_registered, nr_batches, nr_switched;
static struct dentry *file;

static __always_inline struct view *view_of(struct caller *caller)
{
	return &views[caller - callers];
}

static struct caller *handler_begins(struct kprobe *kp)
{
	struct probe *probe = container_of(kp, struct probe, kp);

	if (!READ_ONCE(probe->live))
		complain(BAD_LATE, "%pS", kp->addr);
	return current_caller();
}

NOKPROBE_SYMBOL(handler_begins);

static int on_pre(struct kprobe *kp, struct pt_regs *regs)
{
	struct caller *caller = handler_begins(kp);

	if (!caller)
		return 0;
	view_of(caller)->hits[container_of(kp, struct probe, kp)->index]++;
	count_way(caller, regs);
	return 0;
}

NOKPROBE_SYMBOL(on_pre);

static void on_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	struct caller *caller = handler_begins(kp);

	if (caller)
		view_of(caller)->posts[container_of(kp, struct probe, kp)->index]++;
}

NOKPROBE_SYMBOL(on_post);

/* --- callers --- */

static void take_snapshot(struct view *view, const struct target *target)
{
	unsigned int i, index;

	view->all = read_version(&all);
	for (i = 0; i < target->nr_probes; i++) {
		index = target->probes[i].index;
		view->before[i] = (struct snapshot){
			.version = read_version(&target->probes[i].version),
			.hits = view->hits[index],
			.posts = view->posts[index],
		};
	}
}

static void check_probe(struct caller *caller, struct probe *probe, struct snapshot *before,
			unsigned long n)
{
	struct view *view = view_of(caller);
	bool on = before->version.on && view->all.on;
	unsigned int hits = view->hits[probe->index] - before->hits;
	unsigned int posts = view->posts[probe->index] - before->posts;
	unsigned int wanted = on ? probe->times[n] : 0;
	unsigned int wanted_posts = on ? probe->post_times[n] : 0;

	if (has_changed(&probe->version, &before->version))
		return;
	caller->checks++;
	if (hits != wanted || posts != wanted_posts)
		complain(BAD_COUNT, "%pS, n %lu: %u hits, not %u; %u after, not %u",
			 probe->kp.addr, n, hits, wanted, posts, wanted_posts);
}

static void call_target(struct caller *caller, unsigned int which, unsigned long n)
{
	struct target *target = &targets[which];
	struct view *view = view_of(caller);
	unsigned long result;
	unsigned int i;

	take_snapshot(view, target);
	result = target->function->fn(n, caller->mem);
	if (result != target->results[n])
		complain(BAD_RESULT, "%s(%lu) is %lx, not %lx", target->function->name, n,
			 result, target->results[n]);
	/* Pairs with the barrier in change_begin(). */
	smp_mb();
	if (has_changed(&all, &view->all))
		return;
	for (i = 0; i < target->nr_probes; i++)
		check_probe(caller, &target->probes[i], &view->before[i], n);
}

/* --- disturbers, with the lock of the target held --- */

static void has_gone(struct probe *probe)
{
	if (probe->kp.nmissed)
		complain(BAD_MISSED, "%pS: %lu", probe->kp.addr, probe->kp.nmissed);
	WRITE_ONCE(probe->live, false);
	probe->registered = false;
	change_end(&probe->version, false);
}

static void will_come(struct probe *probe, bool on)
{
	change_begin(&probe->version);
	WRITE_ONCE(probe->live, true);
	probe->registered = true;
	probe->kp.flags = on ? 0 : KPROBE_FLAG_DISABLED;
}

static void has_come(struct probe *probe)
{
	change_end(&probe->version, !(READ_ONCE(probe->kp.flags) & KPROBE_FLAG_DISABLED));
}

/* Pick up to @nr neighbours from a random spot on that are, or are not, registered. */
static unsigned int pick_some(struct rnd_state *rnd, struct target *target, bool registered,
			      struct kprobe **kps, unsigned int nr)
{
	unsigned int i, found = 0, first = pick(rnd, target->nr_probes);
	struct probe *probe;

	for (i = first; i < target->nr_probes && found < nr; i++) {
		probe = &target->probes[i];
		if (probe->registered != registered || one_in(rnd, 3))
			continue;
		kps[found++] = &probe->kp;
	}
	return found;
}

static struct probe *probe_of(struct kprobe *kp)
{
	return container_of(kp, struct probe, kp);
}

static int register_some(struct kprobe **kps, unsigned int nr, struct rnd_state *rnd)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++)
		will_come(probe_of(kps[i]), !rnd || !one_in(rnd, 4));
	err = nr == 1 ? register_kprobe(kps[0]) : register_kprobes(kps, nr);
	for (i = 0; i < nr; i++) {
		if (err)
			has_gone(probe_of(kps[i]));
		else
			has_come(probe_of(kps[i]));
	}
	atomic_add(nr, &nr_registered);
	atomic_inc(&nr_batches);
	return err;
}

static void unregister_some(struct kprobe **kps, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		change_begin(&probe_of(kps[i])->version);
	if (nr == 1)
		unregister_kprobe(kps[0]);
	else if (nr)
		unregister_kprobes(kps, nr);
	for (i = 0; i < nr; i++)
		has_gone(probe_of(kps[i]));
}

static int switch_one(struct kprobe *kp)
{
	struct probe *probe = probe_of(kp);
	bool on = !probe->version.on;
	int err;

	change_begin(&probe->version);
	err = on ? enable_kprobe(kp) : disable_kprobe(kp);
	change_end(&probe->version, on);
	atomic_inc(&nr_switched);
	return err;
}

static int disturb_once(struct rnd_state *rnd, struct target *target)
{
	unsigned int nr, most = one_in(rnd, 2) ? 1 : 1 + pick(rnd, 6);
	struct kprobe *kps[8];

	switch (pick(rnd, 5)) {
	case 0:
	case 1:
		nr = pick_some(rnd, target, false, kps, most);
		return nr ? register_some(kps, nr, rnd) : 0;
	case 2:
	case 3:
		nr = pick_some(rnd, target, true, kps, most);
		unregister_some(kps, nr);
		return 0;
	default:
		nr = pick_some(rnd, target, true, kps, 1);
		return nr ? switch_one(kps[0]) : 0;
	}
}

/* Unregister all but a few probes, to make room for jumps between them. */
static void thin_out(struct rnd_state *rnd, struct target *target)
{
	struct kprobe *kps[2 * MAX_SPOTS];
	unsigned int i, nr = 0;

	for (i = 0; i < target->nr_probes; i++) {
		if (target->probes[i].registered && !one_in(rnd, 3))
			kps[nr++] = &target->probes[i].kp;
	}
	unregister_some(kps, nr);
}

static int visit(struct rnd_state *rnd, struct target *target)
{
	unsigned int i, nr = 1 + pick(rnd, 12);
	int err = 0;

	if (one_in(rnd, 3))
		thin_out(rnd, target);
	for (i = 0; i < nr && !err; i++) {
		err = disturb_once(rnd, target);
		if (one_in(rnd, 3))
			msleep(pick(rnd, 20));
	}
	return err;
}

static int disturber_thread(void *data)
{
	struct rnd_state rnd;
	struct target *target;
	int err;

	prandom_seed_state(&rnd, seed + 1000 + (unsigned long)data);
	while (!time_is_up()) {
		target = &targets[pick(&rnd, nr_target_functions)];
		err = 0;
		if (mutex_trylock(&target->lock)) {
			err = visit(&rnd, target);
			mutex_unlock(&target->lock);
		}
		if (err)
			complain(BAD_ERROR, "%s: %d", target->function->name, err);
		msleep(pick(&rnd, 60));
	}
	wait_for_stop();
	return 0;
}

/* --- preparation, before any other task runs --- */

static bool can_be_probed(void *addr)
{
	struct kprobe kp = { .addr = addr, .flags = KPROBE_FLAG_DISABLED };

	if (register_kprobe(&kp))
		return false;
	unregister_kprobe(&kp);
	return true;
}

static void add_spot(struct target *target, void *addr)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct probe *probe = &probes[nr_probes];

		probe->kp.addr = addr;
		probe->kp.pre_handler = on_pre;
		probe->kp.post_handler = i ? on_post : NULL;
		probe->target = target;
		probe->index = nr_probes++;
		target->nr_probes++;
	}
}

static void find_spots(struct target *target)
{
	u8 *text = (u8 *)target->function->fn;
	unsigned int i;

	target->len = min(function_length(target->function->fn), MAX_TEXT);
	target->probes = &probes[nr_probes];
	memcpy(target->text, text, target->len);
	for (i = 0; i < target->len && target->nr_probes < 2 * MAX_SPOTS; i++) {
		if (can_be_probed(text + i))
			add_spot(target, text + i);
	}
}

/* Count the hits of the probes that are registered, with each input. */
static int count_hits(struct caller *caller, struct target *target)
{
	struct view *view = view_of(caller);
	unsigned int i, n;

	for (n = 0; n < NR_INPUTS; n++) {
		take_snapshot(view, target);
		if (target->function->fn(n, caller->mem) != target->results[n])
			return -EILSEQ;
		for (i = 0; i < target->nr_probes; i++) {
			struct probe *probe = &target->probes[i];

			if (!probe->registered)
				continue;
			probe->times[n] = view->hits[probe->index] - view->before[i].hits;
			probe->post_times[n] = view->posts[probe->index] - view->before[i].posts;
		}
	}
	return 0;
}

/* Try every second probe, from the one at @first on. */
static int try_probes(struct caller *caller, unsigned int first, struct kprobe **kps)
{
	unsigned int i, nr = 0;
	int err;

	for (i = first; i < nr_probes; i += 2)
		kps[nr++] = &probes[i].kp;
	err = register_some(kps, nr, NULL);
	if (err)
		return err;
	for (i = 0; i < nr_target_functions; i++)
		err = err ?: count_hits(caller, &targets[i]);
	unregister_some(kps, nr);
	return err;
}

static int prepare_targets(struct caller *caller)
{
	struct kprobe **kps;
	unsigned int i, n;
	int err;

	for (i = 0; i < nr_target_functions; i++) {
		struct target *target = &targets[i];

		mutex_init(&target->lock);
		target->function = &target_functions[i];
		for (n = 0; n < NR_INPUTS; n++)
			target->results[n] = target->function->fn(n, caller->mem);
		find_spots(target);
	}
	kps = kvcalloc(nr_probes, sizeof(*kps), GFP_KERNEL);
	if (!kps)
		return -ENOMEM;
	WRITE_ONCE(caller->task, current);
	err = try_probes(caller, 0, kps) ?: try_probes(caller, 1, kps);
	WRITE_ONCE(caller->task, NULL);
	kvfree(kps);
	return err;
}

/* --- user memory --- */

#ifdef CONFIG_X86_64
/* Store to pages of the reader that may not be present yet. */
static ssize_t user_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	size_t done;

	for (done = 0; done + sizeof(long) <= count; done += PAGE_SIZE) {
		if (!access_ok(buf + done, sizeof(long)))
			return -EFAULT;
		if (kp_target_store(0, (unsigned long __force *)(buf + done)))
			complain(BAD_RESULT, "store to user memory failed");
	}
	return count;
}
#else
static ssize_t user_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	return 0;
}
#endif

static const struct file_operations user_fops = { .owner = THIS_MODULE, .read = user_read };

/* --- beginning and end --- */

static void free_all(void)
{
	unsigned int i;

	for (i = 0; i < MAX_CALLERS; i++) {
		kvfree(views[i].hits);
		kvfree(views[i].posts);
	}
	vfree(probes);
	vfree(targets);
}

static int alloc_all(void)
{
	unsigned int i, max_probes = 2 * MAX_SPOTS * nr_target_functions;

	targets = vcalloc(nr_target_functions, sizeof(*targets));
	probes = vcalloc(max_probes, sizeof(*probes));
	if (!targets || !probes)
		return -ENOMEM;
	for (i = 0; i < MAX_CALLERS; i++) {
		views[i].hits = kvcalloc(max_probes, sizeof(int), GFP_KERNEL);
		views[i].posts = kvcalloc(max_probes, sizeof(int), GFP_KERNEL);
		if (!views[i].hits || !views[i].posts)
			return -ENOMEM;
	}
	return 0;
}

static void stop_threads(void)
{
	unsigned int i;

	for (i = 0; i < NR_DISTURBERS; i++)
		stop_thread(&disturbers[i]);
	stop_callers();
}

static int start_threads(void)
{
	unsigned int cpu, i = 0;
	int err = 0;

	for_each_online_cpu(cpu) {
		if (i == MAX_CALLERS || err)
			break;
		prandom_seed_state(&callers[i].rnd, seed + i);
		err = run_thread(&callers[i].task,
				 kthread_create_on_cpu(caller_thread, &callers[i], cpu,
						       "kp_caller/%u"));
		i++;
	}
	for (i = 0; i < NR_DISTURBERS && !err; i++)
		err = run_thread(&disturbers[i],
				 kthread_create(disturber_thread, (void *)(long)i,
						"kp_disturber/%u", i));
	return err;
}

static void unregister_all(void)
{
	unsigned int i;

	for (i = 0; i < nr_probes; i++) {
		struct kprobe *kp = &probes[i].kp;

		if (probes[i].registered)
			unregister_some(&kp, 1);
	}
}

static void check_texts(void)
{
	unsigned int i;

	for (i = 0; i < nr_target_functions; i++)
		check_text(targets[i].function, targets[i].text, targets[i].len);
}

static void report(void)
{
	report_callers();
	pr_info("registered %d batches %d switched %d\n", atomic_read(&nr_registered),
		atomic_read(&nr_batches), atomic_read(&nr_switched));
	report_faults();
}

static int __init kp_toggle_init(void)
{
	int err = alloc_all() ?: prepare_targets(&callers[0]);

	if (err)
		goto free;
	pr_info("%u spots, seed %lu, %u seconds\n", nr_probes / 2, seed, seconds);
	deadline = jiffies + seconds * HZ;
	err = start_threads();
	if (err)
		goto stop;
	file = debugfs_create_file("kp_toggle", 0400, NULL, NULL, &user_fops);
	return 0;
stop:
	stop_threads();
	unregister_all();
free:
	free_all();
	return err;
}

static void __exit kp_toggle_exit(void)
{
	debugfs_remove(file);
	stop_threads();
	unregister_all();
	check_texts();
	report();
	free_all();
}

module_init(kp_toggle_init);
module_exit(kp_toggle_exit);
MODULE_DESCRIPTION("Probes that change while they are hit");
MODULE_LICENSE("GPL");
