// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes of all kinds change while every CPU calls the functions they are in, alone and in
 * batches, at one address, side by side, and in a module that is loaded and unloaded.
 *
 * First each spot is tried with every input, without any other change, to count its hits
 * in a call. From then on the expected number of hits of all probes together in a call is
 * kept up to date for each function. These errors are counted:
 *
 *	result	a function returned another result than without probes, or a return
 *		handler saw another value, or another call's data
 *	lost	a call in which no probe of the function changed had another number of
 *		hits than expected
 *	late	a handler ran, or kprobes wrote to the probe, after unregistering had
 *		returned
 *	missed	a hit was counted as missed, although no handler hits a probe
 *	error	a registration that should succeed failed, or the other way round, or
 *		a failed one changed the caller's struct
 *	text	the text of the functions is not the original after all probes are removed
 *
 * A script that disables all probes in debugfs must announce that by the parameter
 * "enabled" before and after.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "../kp_toggle/racing.h"
#include "targets.h"

#define MAX_SPOTS	12	/* in one function, adjacent except for the entry */
#define MAX_TEXT	256
#define MAX_BATCH	50
#define NR_DISTURBERS	8	/* each waits for grace periods most of the time */
#define NR_PROBES	96	/* per disturber */
#define NR_RETURNS	32	/* the last ones of these are return probes */
#define PREY		"kp_prey"
#define PREY_CALLS	3	/* CALLS of kp_prey, of each of its functions */

struct spot {
	void *addr;
	u8 hits[NR_INPUTS];	/* hits in a call with this input */
	u8 posts[NR_INPUTS];
};

struct target {
	const struct target_function *function;
	unsigned long results[NR_INPUTS];
	struct spot spots[MAX_SPOTS];
	unsigned int nr_spots;
	bool has_entry;			/* the first spot is the entry */
	bool varies;			/* the number of hits depends on a static key */
	unsigned int len;
	u8 text[MAX_TEXT];
	atomic_t moving;		/* changes in progress */
	atomic_t moved;			/* changes done */
	atomic_t wanted[NR_INPUTS];	/* hits of all its probes in a call */
};

struct probe {
	struct kretprobe rp;		/* a plain probe uses only its kprobe */
	struct kretprobe left;		/* copy of rp when it was unregistered */
	struct target *target;
	struct spot *spot;		/* NULL for a return probe */
	unsigned long skip;		/* an input that the entry handler does not follow */
	unsigned int linger;
	bool registered, on;
	bool live;			/* a handler may run */
};

/* Data that an entry handler passes to the return handler. */
struct mark {
	struct probe *probe;
	unsigned long n;
};

struct disturber {
	struct task_struct *task;
	struct rnd_state rnd;
	struct probe probes[NR_PROBES];
	struct probe *some[MAX_BATCH];
	struct kprobe *kps[MAX_BATCH + 1];
	unsigned int nr;		/* of @some */
	struct target *focus;		/* target of new probes, or NULL for any */
	struct probe prey;
};

static struct target *targets;
static struct disturber *disturbers;
static struct task_struct *flipper;
static atomic_t nr_registered, nr_batches, nr_refused, nr_switched, nr_flips, nr_prey;

/* --- handlers --- */

/* Some handlers linger, so that unregistering has to wait for them. */
static struct caller *count_hit(struct probe *probe, const char *which)
{
	struct caller *caller = current_caller();
	bool live = READ_ONCE(probe->live);
	unsigned int i;

	for (i = 0; live && i < probe->linger; i++)
		cpu_relax();
	if (!READ_ONCE(probe->live))
		complain(BAD_LATE, "%s handler %s %pS", which, live ? "stays on at" : "comes to",
			 probe->target ? probe->target->function->fn : NULL);
	if (caller)
		caller->hits++;
	return caller;
}

NOKPROBE_SYMBOL(count_hit);

static struct probe *probe_of(struct kprobe *kp)
{
	return container_of(kp, struct probe, rp.kp);
}

NOKPROBE_SYMBOL(probe_of);

static int on_pre(struct kprobe *kp, struct pt_regs *regs)
{
	struct caller *caller = count_hit(probe_of(kp), "pre");

	if (caller)
		count_way(caller, regs);
	return 0;
}

NOKPROBE_SYMBOL(on_pre);

static void on_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	count_hit(probe_of(kp), "post");
}

NOKPROBE_SYMBOL(on_post);

static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct probe *probe = container_of(get_kretprobe(ri), struct probe, rp);
	struct mark *mark = (struct mark *)ri->data;

	count_hit(probe, "entry");
	mark->probe = probe;
	mark->n = regs_get_kernel_argument(regs, 0);
	return mark->n == probe->skip;
}

NOKPROBE_SYMBOL(on_entry);

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct mark *mark = (struct mark *)ri->data;
	struct kretprobe *rp = get_kretprobe(ri);
	struct probe *probe = mark->probe;
	struct caller *caller;

	/* get_kretprobe() is NULL once the probe has been unregistered. */
	if ((rp && rp != &probe->rp) || mark->n >= NR_INPUTS) {
		complain(BAD_RESULT, "data of another call");
		return 0;
	}
	caller = count_hit(probe, "return");
	if (caller)
		caller->returns++;
	if (regs_return_value(regs) != probe->target->results[mark->n])
		complain(BAD_RESULT, "%s(%lu) is %lx, not %lx, for its return handler",
			 probe->target->function->name, mark->n, regs_return_value(regs),
			 probe->target->results[mark->n]);
	return 0;
}

NOKPROBE_SYMBOL(on_return);

/* --- callers --- */

static void call_and_check(struct caller *caller, struct target *target, unsigned long n)
{
	struct version before = read_version(&all);
	bool moving = atomic_read_acquire(&target->moving);
	int moved = atomic_read(&target->moved);
	unsigned int wanted = before.on ? atomic_read(&target->wanted[n]) : 0;
	unsigned int hits = caller->hits;
	unsigned long result;

	result = target->function->fn(n, caller->mem);
	hits = caller->hits - hits;
	if (result != target->results[n])
		complain(BAD_RESULT, "%s(%lu) is %lx, not %lx", target->function->name, n,
			 result, target->results[n]);

	/* Pairs with the barriers in target_begin() and change_begin(). */
	smp_mb();
	if (moving || atomic_read_acquire(&target->moving) ||
	    atomic_read(&target->moved) != moved || has_changed(&all, &before))
		return;
	if (target->varies)
		return;
	caller->checks++;
	if (hits != wanted)
		complain(BAD_COUNT, "%s(%lu): %u hits, not %u", target->function->name, n, hits,
			 wanted);
}

/* Move to any CPU: a CPU that went offline has moved its callers to others. */
static void move_somewhere(struct caller *caller)
{
	unsigned int cpu = cpumask_next((int)pick(&caller->rnd, nr_cpu_ids) - 1, cpu_online_mask);

	if (cpu < nr_cpu_ids)
		set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

static void call_target(struct caller *caller, unsigned int which, unsigned long n)
{
	call_and_check(caller, &targets[which], n);
	if (!(caller->calls % 4096))
		move_somewhere(caller);
}

/* --- disturbers, each with probes of its own --- */

static void target_begin(struct target *target)
{
	atomic_inc(&target->moving);
	/* A caller that sees any effect of it must see moving. Pairs with call_and_check(). */
	smp_mb__after_atomic();
}

static void target_end(struct target *target)
{
	atomic_inc(&target->moved);
	/* Pairs with call_and_check(). */
	smp_mb__before_atomic();
	atomic_dec(&target->moving);
}

/* Return how often the handlers of @probe must run in a call with @n. */
static int probe_hits(const struct probe *probe, unsigned long n)
{
	unsigned int entries;

	if (probe->spot && probe->rp.kp.post_handler)
		return probe->spot->hits[n] + probe->spot->posts[n];
	if (probe->spot)
		return probe->spot->hits[n];

	/* A recursive function calls itself with n - 1, and so on. */
	entries = probe->target->spots[0].hits[n];
	return 2 * entries - (probe->skip <= n && probe->skip + entries > n);
}

static void probe_switched(struct probe *probe, bool on)
{
	unsigned long n;

	if (on == probe->on)
		return;
	probe->on = on;
	for (n = 0; n < NR_INPUTS; n++)
		atomic_add(on ? probe_hits(probe, n) : -probe_hits(probe, n),
			   &probe->target->wanted[n]);
}

/* Clear the probe before it is filled in; nobody may have written to it since it was removed. */
static void probe_prepare(struct probe *probe)
{
	if (memcmp(&probe->rp, &probe->left, sizeof(probe->rp)))
		complain(BAD_LATE, "a probe that was unregistered has been written to");
	memset(&probe->rp, 0, sizeof(probe->rp));
	INIT_LIST_HEAD(&probe->rp.kp.list);
}

static struct target *pick_target(struct disturber *d, bool has_entry)
{
	struct target *target = d->focus ?: &targets[pick(&d->rnd, nr_target_functions)];

	while (!target->nr_spots || (has_entry && !target->has_entry))
		target = &targets[pick(&d->rnd, nr_target_functions)];
	return target;
}

static void probe_fill(struct disturber *d, struct probe *probe)
{
	bool returns = probe - d->probes >= NR_PROBES - NR_RETURNS;
	struct target *target = pick_target(d, returns);

	probe_prepare(probe);
	probe->target = target;
	probe->linger = one_in(&d->rnd, 4) ? pick(&d->rnd, 4) : 0;
	probe->rp.kp.flags = one_in(&d->rnd, 4) ? KPROBE_FLAG_DISABLED : 0;
	if (!returns) {
		probe->spot = &target->spots[pick(&d->rnd, target->nr_spots)];
		probe->rp.kp.addr = probe->spot->addr;
		probe->rp.kp.pre_handler = on_pre;
		probe->rp.kp.post_handler = one_in(&d->rnd, 3) ? on_post : NULL;
	} else {
		probe->rp.kp.addr = (kprobe_opcode_t *)target->function->fn;
		probe->rp.entry_handler = on_entry;
		probe->rp.handler = on_return;
		probe->rp.data_size = sizeof(struct mark);
		/* No call must be missed, even if all callers are at the largest depth. */
		probe->rp.maxactive = MAX_CALLERS * NR_INPUTS;
		probe->skip = pick(&d->rnd, 2 * NR_INPUTS);
	}
	memcpy(&probe->left, &probe->rp, sizeof(probe->rp));
	WRITE_ONCE(probe->live, true);
	target_begin(target);
}

static void probe_came(struct probe *probe)
{
	probe->registered = true;
	probe_switched(probe, !(READ_ONCE(probe->rp.kp.flags) & KPROBE_FLAG_DISABLED));
	target_end(probe->target);
}

static void probe_was_refused(struct probe *probe)
{
	if (memcmp(&probe->rp, &probe->left, sizeof(probe->rp)))
		complain(BAD_ERROR, "a probe that was refused is not what it was");
	WRITE_ONCE(probe->live, false);
	target_end(probe->target);
}

static void probe_went(struct probe *probe)
{
	if (probe->rp.kp.nmissed || probe->rp.nmissed)
		complain(BAD_MISSED, "%pS: %lu, %d returns", probe->rp.kp.addr,
			 probe->rp.kp.nmissed, probe->rp.nmissed);
	WRITE_ONCE(probe->live, false);
	memcpy(&probe->left, &probe->rp, sizeof(probe->rp));
	probe->registered = false;
	probe_switched(probe, false);
	target_end(probe->target);
}

/* Pick probes of one kind and in one state, to be registered or removed together. */
static void pick_some(struct disturber *d, bool returns, bool registered, unsigned int max)
{
	unsigned int first = returns ? NR_PROBES - NR_RETURNS : 0;
	unsigned int nr = returns ? NR_RETURNS : NR_PROBES - NR_RETURNS;
	unsigned int i, from = pick(&d->rnd, nr);
	struct probe *probe;

	d->nr = 0;
	for (i = 0; i < nr && d->nr < max; i++) {
		probe = &d->probes[first + (from + i) % nr];
		if (probe->registered != registered)
			continue;
		d->some[d->nr] = probe;
		d->kps[d->nr++] = &probe->rp.kp;
	}
}

static unsigned int pick_max(struct disturber *d)
{
	return one_in(&d->rnd, 2) ? 1 : 2 + pick(&d->rnd, MAX_BATCH - 1);
}

/* The array of kprobes also serves as one of return probes, whose first member is the kprobe. */
static int call_register(struct disturber *d, bool returns, unsigned int nr)
{
	struct kretprobe **rps = (struct kretprobe **)d->kps;

	if (returns)
		return nr == 1 ? register_kretprobe(rps[0]) : register_kretprobes(rps, nr);
	return nr == 1 ? register_kprobe(d->kps[0]) : register_kprobes(d->kps, nr);
}

static void call_unregister(struct disturber *d, bool returns)
{
	struct kretprobe **rps = (struct kretprobe **)d->kps;

	if (returns && d->nr == 1)
		unregister_kretprobe(rps[0]);
	else if (returns)
		unregister_kretprobes(rps, d->nr);
	else if (d->nr == 1)
		unregister_kprobe(d->kps[0]);
	else
		unregister_kprobes(d->kps, d->nr);
}

static void register_some(struct disturber *d, bool returns)
{
	unsigned int i;
	int err;

	d->focus = one_in(&d->rnd, 2) ? &targets[pick(&d->rnd, nr_target_functions)] : NULL;
	pick_some(d, returns, false, pick_max(d));
	if (!d->nr)
		return;
	for (i = 0; i < d->nr; i++)
		probe_fill(d, d->some[i]);
	err = call_register(d, returns, d->nr);
	if (err)
		complain(BAD_ERROR, "%u probes, the first at %pS: %d", d->nr,
			 d->some[0]->rp.kp.addr, err);
	for (i = 0; i < d->nr; i++) {
		if (err)
			probe_was_refused(d->some[i]);
		else
			probe_came(d->some[i]);
	}
	atomic_add(d->nr, &nr_registered);
	atomic_inc(&nr_batches);
}

/* A batch with one bad probe at a random position must register none. */
static void register_refused(struct disturber *d, bool returns)
{
	struct kretprobe bad = { .kp.symbol_name = "kp_no_such_function", .handler = on_return };
	unsigned int i, at;
	int err;

	d->focus = one_in(&d->rnd, 2) ? &targets[pick(&d->rnd, nr_target_functions)] : NULL;
	pick_some(d, returns, false, 8);
	for (i = 0; i < d->nr; i++)
		probe_fill(d, d->some[i]);
	at = pick(&d->rnd, d->nr + 1);
	d->kps[d->nr] = d->kps[at];
	d->kps[at] = &bad.kp;
	err = call_register(d, returns, d->nr + 1);
	if (err != -ENOENT)
		complain(BAD_ERROR, "a probe on nothing: %d", err);
	for (i = 0; i < d->nr; i++)
		probe_was_refused(d->some[i]);
	atomic_inc(&nr_refused);
}

static void unregister_some(struct disturber *d, bool returns, unsigned int max)
{
	unsigned int i;

	pick_some(d, returns, true, max);
	if (!d->nr)
		return;
	for (i = 0; i < d->nr; i++)
		target_begin(d->some[i]->target);
	call_unregister(d, returns);
	for (i = 0; i < d->nr; i++)
		probe_went(d->some[i]);
}

static void switch_one(struct disturber *d, bool returns)
{
	struct probe *probe;
	bool on;
	int err;

	pick_some(d, returns, true, 1);
	if (!d->nr)
		return;
	probe = d->some[0];
	on = !probe->on;
	target_begin(probe->target);
	err = on ? enable_kprobe(&probe->rp.kp) : disable_kprobe(&probe->rp.kp);
	if (err)
		complain(BAD_ERROR, "%pS, %s: %d", probe->rp.kp.addr, on ? "on" : "off", err);
	else
		probe_switched(probe, on);
	target_end(probe->target);
	atomic_inc(&nr_switched);
}

/* Change a probe in the module that is loaded and unloaded meanwhile. */
static void disturb_prey(struct disturber *d)
{
	static const char * const symbols[] = {
		PREY ":kp_prey_traced", PREY ":kp_prey_plain", "kp_prey_at_init",
	};
	struct probe *probe = &d->prey;
	int err;

	if (probe->registered) {
		unregister_kprobe(&probe->rp.kp);
		WRITE_ONCE(probe->live, false);
		memcpy(&probe->left, &probe->rp, sizeof(probe->rp));
		probe->registered = false;
		return;
	}
	probe_prepare(probe);
	probe->rp.kp.symbol_name = symbols[pick(&d->rnd, ARRAY_SIZE(symbols))];
	probe->rp.kp.pre_handler = on_pre;
	probe->rp.kp.post_handler = one_in(&d->rnd, 2) ? on_post : NULL;
	WRITE_ONCE(probe->live, true);
	err = register_kprobe(&probe->rp.kp);
	if (err && err != -ENOENT)
		complain(BAD_ERROR, "%s: %d", probe->rp.kp.symbol_name, err);
	probe->registered = !err;
	WRITE_ONCE(probe->live, !err);
	memcpy(&probe->left, &probe->rp, sizeof(probe->rp));
	atomic_add(!err, &nr_prey);
}

static void disturb_once(struct disturber *d)
{
	bool returns = one_in(&d->rnd, 4);

	switch (pick(&d->rnd, 10)) {
	case 0 ... 3:
		register_some(d, returns);
		break;
	case 4 ... 6:
		unregister_some(d, returns, pick_max(d));
		break;
	case 7:
		switch_one(d, returns);
		break;
	case 8:
		register_refused(d, returns);
		break;
	default:
		disturb_prey(d);
	}
}

static int disturber_thread(void *data)
{
	struct disturber *d = data;

	while (!time_is_up()) {
		disturb_once(d);
		if (one_in(&d->rnd, 3))
			msleep(pick(&d->rnd, 40));
	}
	wait_for_stop();
	return 0;
}

static int flipper_thread(void *data)
{
	struct rnd_state rnd;

	prandom_seed_state(&rnd, seed + 2000);
	while (!time_is_up()) {
		targets_flip(one_in(&rnd, 2), one_in(&rnd, 2));
		atomic_inc(&nr_flips);
		msleep(pick(&rnd, 100));
	}
	wait_for_stop();
	return 0;
}

/* --- preparation, before any other task runs --- */

struct count {
	struct kprobe kp;
	unsigned int hits, posts;
};

static struct count *counts;
static struct kprobe **counted;
static unsigned int nr_counted;

static int count_pre(struct kprobe *kp, struct pt_regs *regs)
{
	container_of(kp, struct count, kp)->hits++;
	return 0;
}

NOKPROBE_SYMBOL(count_pre);

static void count_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	container_of(kp, struct count, kp)->posts++;
}

NOKPROBE_SYMBOL(count_post);

static bool is_spot(struct target *target, void *addr)
{
	unsigned int i;

	for (i = 0; i < target->nr_spots; i++) {
		if (target->spots[i].addr == addr)
			return true;
	}
	return false;
}

static bool add_spot(struct target *target, void *addr)
{
	struct count *count = &counts[nr_counted];

	if (target->nr_spots == MAX_SPOTS || is_spot(target, addr))
		return false;
	count->kp.addr = addr;
	count->kp.pre_handler = count_pre;
	count->kp.post_handler = count_post;
	count->kp.flags = KPROBE_FLAG_DISABLED;
	if (register_kprobe(&count->kp))
		return false;
	counted[nr_counted++] = &count->kp;
	target->spots[target->nr_spots++].addr = count->kp.addr;
	return true;
}

/* Find the entry, and adjacent spots from a random offset on. */
static void find_spots(struct target *target, struct rnd_state *rnd)
{
	u8 *text = (u8 *)target->function->fn;
	unsigned int i;

	target->len = min(function_length(target->function->fn), MAX_TEXT);
	memcpy(target->text, text, target->len);
	/* The entry has no spot if it is a static call. */
	target->has_entry = add_spot(target, text);
	for (i = pick(rnd, max(target->len / 2, 1U)); i < target->len; i++)
		add_spot(target, text + i);
}

static void count_call(struct target *target, struct count *count, unsigned long n, bool flipped)
{
	struct spot *spot = target->spots;
	unsigned long mem[4];
	unsigned int i;

	if (target->function->fn(n, mem) != target->results[n])
		complain(BAD_RESULT, "%s(%lu), with a probe everywhere", target->function->name,
			 n);
	for (i = 0; i < target->nr_spots; i++, count++, spot++) {
		if (flipped && count->hits != spot->hits[n])
			target->varies = true;
		spot->hits[n] = count->hits;
		spot->posts[n] = count->posts;
		count->hits = 0;
		count->posts = 0;
	}
}

static void count_all(bool flipped)
{
	struct count *count = counts;
	unsigned int i;
	unsigned long n;

	targets_flip(flipped, flipped);
	for (i = 0; i < nr_target_functions; i++) {
		for (n = 0; n < NR_INPUTS; n++)
			count_call(&targets[i], count, n, flipped);
		count += targets[i].nr_spots;
	}
}

/* In one batch: on some architectures each single change stops the machine, which is slow. */
static int register_counted(void)
{
	unsigned int i;

	unregister_kprobes(counted, nr_counted);
	for (i = 0; i < nr_counted; i++)
		counted[i]->flags = 0;
	return register_kprobes(counted, nr_counted);
}

static int prepare_targets(void)
{
	unsigned long n, mem[4];
	struct rnd_state rnd;
	unsigned int i;
	int err;

	prandom_seed_state(&rnd, seed);
	for (i = 0; i < nr_target_functions; i++) {
		struct target *target = &targets[i];

		target->function = &target_functions[i];
		for (n = 0; n < NR_INPUTS; n++)
			target->results[n] = target->function->fn(n, mem);
		find_spots(target, &rnd);
	}
	err = register_counted();
	if (err)
		return err;
	count_all(false);
	count_all(true);
	targets_flip(false, false);
	unregister_kprobes(counted, nr_counted);
	return 0;
}

static int count_alone(void)
{
	unsigned int max = nr_target_functions * MAX_SPOTS;
	int err = -ENOMEM;

	counts = vcalloc(max, sizeof(*counts));
	counted = vcalloc(max, sizeof(*counted));
	if (counts && counted)
		err = prepare_targets();
	vfree(counts);
	vfree(counted);
	return err;
}

/* --- the prey --- */

/* The probe on the prey's init function exists before it runs, until it has been freed. */
static unsigned int init_hits;
static struct version init_all;

static int on_init(struct kprobe *kp, struct pt_regs *regs)
{
	init_hits++;
	return 0;
}

NOKPROBE_SYMBOL(on_init);

static struct kprobe init_probe;

static void prey_is_coming(void)
{
	int err;

	init_hits = 0;
	init_all = read_version(&all);
	init_probe = (struct kprobe){ .symbol_name = "kp_prey_at_init", .pre_handler = on_init };
	err = register_kprobe(&init_probe);
	if (err)
		complain(BAD_ERROR, "%s: %d", init_probe.symbol_name, err);
}

static void prey_has_come(void)
{
	unsigned int wanted = init_all.on ? PREY_CALLS : 0;

	if (!kprobe_gone(&init_probe))
		complain(BAD_ERROR, "a probe in text that was freed is not gone");
	if (init_hits != wanted && !has_changed(&all, &init_all))
		complain(BAD_COUNT, "in __init: %u hits, not %u", init_hits, wanted);
	unregister_kprobe(&init_probe);
}

static int prey_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;

	if (strcmp(mod->name, PREY))
		return NOTIFY_DONE;
	if (event == MODULE_STATE_COMING)
		prey_is_coming();
	else if (event == MODULE_STATE_LIVE)
		prey_has_come();
	else if (event == MODULE_STATE_GOING)
		unregister_kprobe(&init_probe);
	return NOTIFY_DONE;
}

static struct notifier_block prey_nb = { .notifier_call = prey_event };

/* --- beginning and end --- */

static void free_all(void)
{
	vfree(disturbers);
	vfree(targets);
}

static int alloc_all(void)
{
	targets = vcalloc(nr_target_functions, sizeof(*targets));
	disturbers = vcalloc(NR_DISTURBERS, sizeof(*disturbers));
	return targets && disturbers ? 0 : -ENOMEM;
}

static void stop_threads(void)
{
	unsigned int i;

	WRITE_ONCE(deadline, jiffies - 1);
	stop_thread(&flipper);
	for (i = 0; i < NR_DISTURBERS; i++)
		stop_thread(&disturbers[i].task);
	stop_callers();
}

static int start_threads(void)
{
	unsigned int i, nr = min(num_online_cpus(), MAX_CALLERS);
	int err = 0;

	deadline = jiffies + seconds * HZ;
	for (i = 0; i < nr && !err; i++) {
		prandom_seed_state(&callers[i].rnd, seed + i);
		err = run_thread(&callers[i].task,
				 kthread_create(caller_thread, &callers[i], "kp_caller/%u", i));
	}
	for (i = 0; i < NR_DISTURBERS && !err; i++) {
		prandom_seed_state(&disturbers[i].rnd, seed + 1000 + i);
		err = run_thread(&disturbers[i].task,
				 kthread_create(disturber_thread, &disturbers[i],
						"kp_disturber/%u", i));
	}
	return err ?: run_thread(&flipper,
				 kthread_create(flipper_thread, NULL, "kp_flipper/0"));
}

static void unregister_all(void)
{
	unsigned int i;

	for (i = 0; i < NR_DISTURBERS; i++) {
		struct disturber *d = &disturbers[i];

		do {
			unregister_some(d, false, MAX_BATCH);
		} while (d->nr);
		unregister_some(d, true, MAX_BATCH);
		if (d->prey.registered)
			disturb_prey(d);
	}
	targets_flip(false, false);
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
	pr_info("registered %d batches %d refused %d switched %d flips %d prey %d\n",
		atomic_read(&nr_registered), atomic_read(&nr_batches), atomic_read(&nr_refused),
		atomic_read(&nr_switched), atomic_read(&nr_flips), atomic_read(&nr_prey));
	report_faults();
}

static int __init kp_torture_init(void)
{
	int err = alloc_all() ?: count_alone();

	err = err ?: register_module_notifier(&prey_nb);
	if (err)
		goto free;
	pr_info("%u functions, seed %lu, %u seconds\n", nr_target_functions, seed, seconds);
	err = start_threads();
	if (!err)
		return 0;
	stop_threads();
	unregister_all();
	unregister_module_notifier(&prey_nb);
free:
	free_all();
	return err;
}

static void __exit kp_torture_exit(void)
{
	stop_threads();
	unregister_module_notifier(&prey_nb);
	unregister_all();
	check_texts();
	report();
	free_all();
}

module_init(kp_torture_init);
module_exit(kp_torture_exit);
MODULE_DESCRIPTION("Probes of all kinds that change while they are hit");
MODULE_LICENSE("GPL");
