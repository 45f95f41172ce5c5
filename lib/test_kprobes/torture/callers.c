// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads that call the functions, one for each CPU, and the handlers of the probes that
 * they hit. A caller looks at each probe of a function before and after a call: one that did
 * not change meanwhile must have been hit exactly as often as it was when nothing changed.
 */
#include <linux/hardirq.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>

#include "torture.h"

struct caller callers[MAX_CALLERS];

/* --- handlers, which need no blacklist: nobody else probes this module --- */

static struct caller *current_caller(void)
{
	unsigned int i;

	for (i = 0; i < MAX_CALLERS; i++) {
		if (READ_ONCE(callers[i].task) == current)
			return &callers[i];
	}
	return NULL;
}

/*
 * Return the caller that hit @probe, or NULL for any other task. Some handlers linger, so that
 * unregistering has to wait for them.
 */
static struct caller *handler_begins(struct probe *probe, const char *which)
{
	struct caller *caller = current_caller();
	const struct target_function *function = probe->target->function;
	bool live = READ_ONCE(probe->live);
	unsigned int i;

	for (i = 0; live && i < probe->linger; i++)
		cpu_relax();
	if (!READ_ONCE(probe->live))
		complain(BAD_LATE, "%s handler %s %s", which, live ? "stays on at" : "comes to",
			 function->name);
	if (!caller || probe->target == caller->target || function->shared)
		return caller;
	complain(BAD_COUNT, "%s handler of %s runs in %s", which, function->name,
		 caller->target->function->name);
	return NULL;
}

static __always_inline struct tally *tally_of(struct caller *caller, const struct probe *probe)
{
	return &caller->tallies[probe - probes];
}

/*
 * Where there are jumps, tell a breakpoint from one: it runs as an NMI, or at least with
 * interrupts off, while a jump leaves interrupts as in the probed code.
 */
static __always_inline bool hit_is_trap(struct pt_regs *regs)
{
#ifdef CONFIG_ARM64
	if (irqs_disabled() && interrupts_enabled(regs))
		return true;
#endif
	return in_nmi() || !IS_ENABLED(CONFIG_OPTPROBES);
}

int on_pre(struct kprobe *kp, struct pt_regs *regs)
{
	struct caller *caller = handler_begins(probe_of(kp), "pre");

	if (!caller)
		return 0;
	tally_of(caller, probe_of(kp))->hits++;
	count(hit_is_trap(regs) ? TRAPS : JUMPS);
	return 0;
}

void on_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	struct caller *caller = handler_begins(probe_of(kp), "post");

	if (caller)
		tally_of(caller, probe_of(kp))->posts++;
}

int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct probe *probe = container_of(get_kretprobe(ri), struct probe, rp);
	struct caller *caller = handler_begins(probe, "entry");
	struct mark *mark = (struct mark *)ri->data;

	if (caller)
		tally_of(caller, probe)->hits++;
	mark->probe = probe;
	mark->n = regs_get_kernel_argument(regs, 0);
	return mark->n == probe->skip;
}

int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct mark *mark = (struct mark *)ri->data;
	struct kretprobe *rp = get_kretprobe(ri);
	struct probe *probe = mark->probe;
	struct target *target = probe->target;
	struct caller *caller;

	/* get_kretprobe() is NULL once the probe has been unregistered. */
	if ((rp && rp != &probe->rp) || (mark->n >= NR_INPUTS && !target->function->shared)) {
		complain(BAD_RESULT, "data of another call");
		return 0;
	}
	caller = handler_begins(probe, "return");
	if (caller) {
		count(RETURNS);
		tally_of(caller, probe)->posts++;
	}
	if (mark->n < NR_INPUTS && regs_return_value(regs) != target->results[mark->n])
		complain(BAD_RESULT, "%s(%lu) is %lx, not %lx, for its return handler",
			 target->function->name, mark->n, regs_return_value(regs),
			 target->results[mark->n]);
	return 0;
}

/* --- calls --- */

/* Call @target with @n, with a look at its probes before. */
void call_target(struct caller *caller, struct target *target, unsigned long n)
{
	unsigned long result;
	unsigned int i;

	caller->target = target;
	caller->all = read_version(&all);
	for (i = 0; i < target->nr_probes; i++) {
		struct probe *probe = &target->probes[i];

		caller->before[i].version = read_version(&probe->version);
		caller->before[i].tally = *tally_of(caller, probe);
	}
	result = target->function->fn(n, caller->mem);
	if (result != target->results[n])
		complain(BAD_RESULT, "%s(%lu) is %lx, not %lx", target->function->name, n,
			 result, target->results[n]);
}

/* Return the hits of probe number @i of @target in the call before. */
struct tally tally_since(struct caller *caller, const struct target *target, unsigned int i)
{
	const struct tally *now = tally_of(caller, &target->probes[i]);
	const struct tally *before = &caller->before[i].tally;

	return (struct tally){ now->hits - before->hits, now->posts - before->posts };
}

static void check_probe(struct caller *caller, unsigned int i, unsigned long n)
{
	struct probe *probe = &caller->target->probes[i];
	struct snapshot *before = &caller->before[i];
	struct tally wanted = {}, seen = tally_since(caller, caller->target, i);

	if (has_changed(&probe->version, &before->version))
		return;
	if (before->version.on && caller->all.on)
		wanted = probe->wanted[n];
	/* Probes that are out have no hits, however few calls there are. */
	if (wanted.hits)
		count(CHECKS);
	if (seen.hits != wanted.hits || seen.posts != wanted.posts)
		complain(BAD_COUNT, "%pS, n %lu: %u hits, not %u; %u after, not %u", probe->addr,
			 n, seen.hits, wanted.hits, seen.posts, wanted.posts);
}

static void call_and_check(struct caller *caller, struct target *target, unsigned long n)
{
	unsigned int i;

	call_target(caller, target, n);
	/* Pairs with the barrier in change_begin(). */
	smp_mb();
	if (target->varies || has_changed(&all, &caller->all))
		return;
	for (i = 0; i < target->nr_probes; i++)
		check_probe(caller, i, n);
}

/* --- threads --- */

static int torture_caller(void *data)
{
	struct caller *caller = data;

	do {
		u32 random = torture_random(&caller->rnd);

		caller->calls++;
		count(CALLS);
		call_and_check(caller, &targets[(random >> 8) % nr_targets], random % NR_INPUTS);
		/* RCU-tasks grace periods wait for each caller. */
		if (!(caller->calls % 32))
			stutter_wait("torture_caller");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_caller");
	return 0;
}

int start_callers(unsigned int nr)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		random_begin(&callers[i].rnd, seed + i);
		err = torture_create_kthread(torture_caller, &callers[i], callers[i].task);
	}
	return err;
}

void stop_callers(void)
{
	unsigned int i;

	for (i = 0; i < MAX_CALLERS; i++)
		torture_stop_kthread(torture_caller, callers[i].task);
}
