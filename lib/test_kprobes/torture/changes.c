// SPDX-License-Identifier: GPL-2.0-only
/* Threads that register, remove, enable and disable probes, each several at once. */
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/module.h>

#include "../common.h"
#include "torture.h"

struct disturber {
	struct task_struct *task;
	struct torture_random_state rnd;
	struct kprobe *kps[MAX_PROBES + 1];	/* which it has taken */
	unsigned int nr;
	struct probe prey;
};

static struct disturber disturbers[MAX_DISTURBERS];
static atomic_t nr_in[2];		/* plain ones, and return probes */

/* --- the states of a probe that this task may change --- */

static bool is_return(const struct probe *probe)
{
	return probe->kind == RETURN;
}

/* Fill in the probe; nobody may have written to it since it was removed. */
void probe_fill(struct probe *probe, bool on)
{
	struct kretprobe *rp = &probe->rp;

	change_begin(&probe->version);
	if (memcmp(rp, &probe->left, sizeof(*rp)))
		complain(BAD_LATE, "a probe that was unregistered has been written to");
	memset(rp, 0, sizeof(*rp));
	INIT_LIST_HEAD(&rp->kp.list);
	rp->kp.addr = probe->addr;
	rp->kp.symbol_name = probe->symbol;
	rp->kp.flags = on ? 0 : KPROBE_FLAG_DISABLED;
	if (is_return(probe)) {
		rp->entry_handler = on_entry;
		rp->handler = on_return;
		rp->data_size = sizeof(struct mark);
		/* No call must be missed, even if all callers are at the largest depth. */
		rp->maxactive = MAX_CALLERS * NR_INPUTS;
	} else {
		rp->kp.pre_handler = on_pre;
		rp->kp.post_handler = probe->kind == POST ? on_post : NULL;
	}
	memcpy(&probe->left, rp, sizeof(*rp));
	WRITE_ONCE(probe->live, true);
}

static void probe_is(struct probe *probe, enum state state, bool on)
{
	change_end(&probe->version, on);
	/* Pairs with take_some(). */
	atomic_set_release(&probe->state, state);
}

void probe_came(struct probe *probe)
{
	atomic_inc(&nr_in[is_return(probe)]);
	probe_is(probe, IN, !(READ_ONCE(probe->rp.kp.flags) & KPROBE_FLAG_DISABLED));
}

void probe_was_refused(struct probe *probe)
{
	if (memcmp(&probe->rp, &probe->left, sizeof(probe->rp)))
		complain(BAD_ERROR, "a probe that was refused is not what it was");
	WRITE_ONCE(probe->live, false);
	probe_is(probe, OUT, false);
}

void probe_went(struct probe *probe)
{
	struct kretprobe *rp = &probe->rp;

	if (rp->kp.nmissed || rp->nmissed)
		complain(BAD_MISSED, "%pS: %lu, %d returns", rp->kp.addr, rp->kp.nmissed,
			 rp->nmissed);
	WRITE_ONCE(probe->live, false);
	memcpy(&probe->left, rp, sizeof(*rp));
	atomic_dec(&nr_in[is_return(probe)]);
	probe_is(probe, OUT, false);
}

/* --- several probes --- */

/* Disturbers are stopped only when this module is on its way out, when nobody can probe it. */
static bool is_going(void)
{
	return module_refcount(THIS_MODULE) < 0;
}

/* Register probes of one kind, some of them disabled if there is @rnd. */
int register_batch(struct kprobe **kps, unsigned int nr, bool returns,
		   struct torture_random_state *rnd)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++)
		probe_fill(probe_of(kps[i]), !rnd || !one_in(rnd, 4));
	err = batch_register(kps, nr, returns);
	if (err && !(err == -ENOENT && is_going()))
		complain(BAD_ERROR, "%u probes, the first at %pS: %d", nr, kps[0]->addr, err);
	for (i = 0; i < nr; i++) {
		if (err)
			probe_was_refused(probe_of(kps[i]));
		else
			probe_came(probe_of(kps[i]));
	}
	return err;
}

void unregister_batch(struct kprobe **kps, unsigned int nr, bool returns)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		change_begin(&probe_of(kps[i])->version);
	batch_unregister(kps, nr, returns);
	for (i = 0; i < nr; i++)
		probe_went(probe_of(kps[i]));
}

/* --- changes at random --- */

/*
 * Take probes of one kind that are in or out, of @focus or of all functions. If they are dense
 * these are often neighbours, which prevent each other's jumps. Nobody else changes them until
 * they have another state.
 */
static void take_some(struct disturber *d, struct target *focus, bool returns, enum state state,
		      unsigned int max)
{
	struct probe *probe, *first = focus ? focus->probes : probes;
	unsigned int nr = focus ? focus->nr_probes : nr_probes;
	unsigned int i, from = pick(&d->rnd, nr);
	unsigned int step = dense && one_in(&d->rnd, 2) ? 1 : 1 + pick(&d->rnd, nr);

	d->nr = 0;
	for (i = 0; i < nr && d->nr < max; i++) {
		probe = &first[(from + i * step) % nr];
		if (is_return(probe) != returns || atomic_read(&probe->state) != state)
			continue;
		if (!one_in(&d->rnd, 3) &&
		    atomic_cmpxchg(&probe->state, state, CHANGING) == state)
			d->kps[d->nr++] = &probe->rp.kp;
	}
}

static struct target *pick_target(struct disturber *d)
{
	struct target *target;

	do {
		target = &targets[pick(&d->rnd, nr_targets)];
	} while (!target->nr_probes);
	return target;
}

static void register_some(struct disturber *d, struct target *focus, bool returns,
			  unsigned int max)
{
	take_some(d, focus, returns, OUT, max);
	if (!d->nr)
		return;
	register_batch(d->kps, d->nr, returns, &d->rnd);
	atomic_long_add(d->nr, &counts[REGISTERED]);
	count(BATCHES);
}

static void unregister_some(struct disturber *d, struct target *focus, bool returns,
			    unsigned int max)
{
	take_some(d, focus, returns, IN, max);
	if (d->nr)
		unregister_batch(d->kps, d->nr, returns);
}

/* Rather register if few are, and remove if many are: jumps need room between probes. */
static void change_some(struct disturber *d, struct target *focus, bool returns)
{
	unsigned int max = one_in(&d->rnd, 2) ? 1 : 2 + pick(&d->rnd, dense ? 5 : 49);
	unsigned int usual = dense ? nr_probes / 4 : 3 * nr_targets;

	if (returns)
		usual = nr_targets;
	if (pick(&d->rnd, 2 * usual) >= atomic_read(&nr_in[returns]))
		register_some(d, focus, returns, max);
	else
		unregister_some(d, focus, returns, max);
}

/* A batch with one bad probe at a random position must register none. */
static void register_refused(struct disturber *d, struct target *focus, bool returns)
{
	struct kretprobe bad = { .kp.symbol_name = "kp_no_such_function", .handler = on_return };
	unsigned int i, at;
	int err;

	take_some(d, focus, returns, OUT, 8);
	for (i = 0; i < d->nr; i++)
		probe_fill(probe_of(d->kps[i]), !one_in(&d->rnd, 4));
	at = pick(&d->rnd, d->nr + 1);
	d->kps[d->nr] = d->kps[at];
	d->kps[at] = &bad.kp;
	err = batch_register(d->kps, d->nr + 1, returns);
	if (err != -ENOENT)
		complain(BAD_ERROR, "a probe on nothing: %d", err);
	for (i = 0; i <= d->nr; i++) {
		if (i != at)
			probe_was_refused(probe_of(d->kps[i]));
	}
	count(REFUSED);
}

static void switch_one(struct disturber *d, struct target *focus, bool returns)
{
	struct probe *probe;
	bool on;
	int err;

	take_some(d, focus, returns, IN, 1);
	if (!d->nr)
		return;
	probe = probe_of(d->kps[0]);
	on = !probe->version.on;
	change_begin(&probe->version);
	err = on ? enable_kprobe(&probe->rp.kp) : disable_kprobe(&probe->rp.kp);
	if (err)
		complain(BAD_ERROR, "%pS, %s: %d", probe->rp.kp.addr, on ? "on" : "off", err);
	probe_is(probe, IN, err ? !on : on);
	count(SWITCHED);
}

static void disturb_once(struct disturber *d)
{
	struct target *focus = one_in(&d->rnd, 2) ? pick_target(d) : NULL;
	bool returns = one_in(&d->rnd, 4);

	/* There is no prey for dense probes. */
	switch (pick(&d->rnd, dense ? 13 : 15)) {
	case 0 ... 7:
		change_some(d, focus, returns);
		break;
	case 8 ... 9:
		switch_one(d, focus, returns);
		break;
	case 10 ... 11:
		register_refused(d, focus, returns);
		break;
	case 12:
		/* Leave few in one function, to make room for jumps between them. */
		unregister_some(d, pick_target(d), false, MAX_PROBES);
		break;
	default:
		disturb_prey(&d->prey, &d->rnd);
	}
}

/* --- threads --- */

static struct task_struct *flipper, *watching;

static int torture_disturber(void *data)
{
	struct disturber *d = data;

	do {
		disturb_once(d);
		if (one_in(&d->rnd, 3))
			msleep(pick(&d->rnd, 40));
		stutter_wait("torture_disturber");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_disturber");
	return 0;
}

static int torture_flipper(void *unused)
{
	struct torture_random_state rnd;

	random_begin(&rnd, seed + 2000);
	do {
		targets_flip(one_in(&rnd, 2), one_in(&rnd, 2));
		count(FLIPS);
		msleep(pick(&rnd, 100));
		stutter_wait("torture_flipper");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_flipper");
	return 0;
}

/* --- probes on the functions that change probes --- */

/* A watched function is hit at its entry, at the next instruction on x86, and when it returns. */
struct watcher {
	struct kprobe entry, next;
	struct kretprobe ret;
	bool live;
};

static struct watcher watcher;

static int on_watched(struct kprobe *kp, struct pt_regs *regs)
{
	count(WATCHED);
	if (!READ_ONCE(watcher.live))
		complain(BAD_LATE, "a hit of %pS, which is not watched", kp->addr);
	return 0;
}

static int on_watched_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return on_watched(&watcher.ret.kp, regs);
}

static void watch_some(struct torture_random_state *rnd)
{
	static const char * const names[] = {
		"register_kprobe", "register_kprobes", "unregister_kprobe", "unregister_kprobes",
		"enable_kprobe", "disable_kprobe", "register_kretprobe", "register_kretprobes",
		"unregister_kretprobe", "unregister_kretprobes",
	};
	const char *name = names[pick(rnd, ARRAY_SIZE(names))];
	struct watcher *w = &watcher;
	int err;

	*w = (struct watcher){
		.entry = { .symbol_name = name, .pre_handler = on_watched },
		.next = { .pre_handler = on_watched },
		.ret = { .kp.symbol_name = name, .handler = on_watched_return },
		.live = true,
	};
	if (one_in(rnd, 2))
		w->entry.post_handler = ignore_post;
	err = register_kprobe(&w->entry);
#ifdef CONFIG_X86
	if (!err && kprobe_ftrace(&w->entry)) {
		w->next.addr = w->entry.addr + MCOUNT_INSN_SIZE;
		err = register_kprobe(&w->next);
	}
#endif
	err = err ?: register_kretprobe(&w->ret);
	if (err)
		complain(BAD_ERROR, "%s is not watched: %d", name, err);
	msleep(pick(rnd, 500));
	unregister_kretprobe(&w->ret);
	unregister_kprobe(&w->next);
	unregister_kprobe(&w->entry);
	WRITE_ONCE(w->live, false);
}

static int torture_watcher(void *unused)
{
	struct torture_random_state rnd;

	random_begin(&rnd, seed + 3000);
	do {
		watch_some(&rnd);
		stutter_wait("torture_watcher");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_watcher");
	return 0;
}

int start_disturbers(unsigned int nr)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		random_begin(&disturbers[i].rnd, seed + 1000 + i);
		err = torture_create_kthread(torture_disturber, &disturbers[i],
					     disturbers[i].task);
	}
	err = err ?: torture_create_kthread(torture_watcher, NULL, watching);
	if (err || dense)
		return err;
	return torture_create_kthread(torture_flipper, NULL, flipper);
}

static bool any_is_in(void)
{
	unsigned int i;

	for (i = 0; i < nr_probes; i++) {
		if (atomic_read(&probes[i].state) == IN)
			return true;
	}
	return false;
}

static void unregister_all(void)
{
	struct disturber *d;

	for (d = disturbers; d < disturbers + MAX_DISTURBERS; d++) {
		if (atomic_read(&d->prey.state) == IN)
			disturb_prey(&d->prey, &d->rnd);
	}
	d = disturbers;
	while (any_is_in()) {
		unregister_some(d, NULL, false, MAX_PROBES);
		unregister_some(d, NULL, true, MAX_PROBES);
	}
	if (atomic_read(&nr_in[0]) || atomic_read(&nr_in[1]))
		complain(BAD_ERROR, "%d probes and %d return probes are left",
			 atomic_read(&nr_in[0]), atomic_read(&nr_in[1]));
	targets_flip(false, false);
}

void stop_disturbers(void)
{
	struct disturber *d;

	for (d = disturbers; d < disturbers + MAX_DISTURBERS; d++)
		torture_stop_kthread(torture_disturber, d->task);
	torture_stop_kthread(torture_watcher, watching);
	torture_stop_kthread(torture_flipper, flipper);
	unregister_all();
}
