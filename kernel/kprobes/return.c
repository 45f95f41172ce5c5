// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return probes: the functions that the rest of the kernel calls. What runs when a
 * function with a return probe is entered is in return_entry.c.
 *
 * A return probe is a probe on a function's entry. Its handler takes an instance
 * and diverts the return address of this one call to a trampoline, which runs
 * the user's handler. The files below keep the instances and divert the calls:
 * return_pool.c and return_trampoline.c, or return_rethook.c.
 */
#include <linux/build_bug.h>
#include <linux/export.h>
#include <linux/sizes.h>

#include "internal.h"

/* register_kretprobes() passes its array on as an array of struct kprobe pointers. */
static_assert(offsetof(struct kretprobe, kp) == 0);

static int return_maxactive(const struct kretprobe *rp)
{
	return rp->maxactive > 0 ? rp->maxactive : max(10, 2 * (int)num_possible_cpus());
}

static int return_check(struct kretprobe *rp)
{
	struct probe_request req;
	int ret;

	if (!rp)
		return kprobe_refuse(-EINVAL, NULL, "a probe is NULL");

	req.kp = &rp->kp;
	scoped_guard(mutex, &kprobe_mutex) {
		ret = kprobe_request_place(&req);
		if (!ret && !kprobe_return_is_possible(&req))
			ret = kprobe_refuse(-EINVAL, (void *)req.addr,
					    "no entry of a function whose return can be diverted");
	}
	if (ret)
		return ret;

	if (return_maxactive(rp) > OBJPOOL_NR_OBJECT_MAX)
		return kprobe_refuse(-EINVAL, (void *)req.addr, "too many instances");
	if (rp->data_size > KRETPROBE_MAX_DATA_SIZE)
		return kprobe_refuse(-E2BIG, (void *)req.addr, "too many bytes of data");
	/* objpool computes sizes in an int. */
	if (return_each_cpu(return_maxactive(rp), rp->data_size) > SZ_1G)
		return kprobe_refuse(-ENOMEM, NULL, "maxactive is too large");

	rp->kp.pre_handler = NULL;

	return 0;
}

/* A second pool for one that the array names twice would leak the first: see return_check(). */
static int return_set_up(struct kretprobe *rp)
{
	int ret;

	if (rp->kp.pre_handler)
		return kprobe_refuse(-EINVAL, NULL, "twice in one array");

	ret = kretprobe_pool_create(rp, return_maxactive(rp));
	if (ret)
		return ret;

	rp->nmissed = 0;
	rp->kp.pre_handler = kretprobe_entry_handler;
	rp->kp.post_handler = NULL;

	return 0;
}

/* Call @fn for each probe until one call fails, and record that. Set @nr to how many were good. */
static int return_each(struct kretprobe **rps, int num, int (*fn)(struct kretprobe *rp), int *nr)
{
	int ret;

	for (*nr = 0; *nr < num; ++*nr) {
		ret = fn(rps[*nr]);
		if (ret) {
			kprobe_record_refusal((struct kprobe *)rps[*nr], 'r', ret, *nr + 1, num);
			return ret;
		}
		cond_resched();
	}

	return 0;
}

static void return_tear_down(struct kretprobe **rps, int num)
{
	int i;

	for (i = 0; i < num; i++) {
		kretprobe_pool_destroy(rps[i]);
		rps[i]->kp.pre_handler = NULL;
		cond_resched();
	}
}

/**
 * register_kretprobes() - register an array of return probes, all or none
 * @rps: the probes
 * @num: how many there are
 *
 * Context: As register_kprobe().
 * Return: 0, -%EINVAL when @rps is NULL, @num is not positive or a probe is named twice,
 * -%ENOMEM, or the error of one that could not be registered; see register_kretprobe().
 */
int register_kretprobes(struct kretprobe **rps, int num)
{
	int i, ret, nr;

	if (!rps || num <= 0)
		return kprobe_refuse_call(-EINVAL, 'r', "no probes");
	if (!kprobes_available)
		return kprobe_refuse_call(-EOPNOTSUPP, 'r', "before kprobes are set up");

	ret = return_each(rps, num, return_check, &nr);
	if (ret)
		return ret;
	ret = return_each(rps, num, return_set_up, &nr);
	ret = ret ?: register_kprobes((struct kprobe **)rps, num);
	if (ret) {
		return_tear_down(rps, nr);
		return ret;
	}

	for (i = 0; i < num; i++) {
		if (rps[i]->maxactive <= 0)
			WRITE_ONCE(rps[i]->maxactive, return_maxactive(rps[i]));
	}

	return 0;
}
EXPORT_SYMBOL_GPL(register_kretprobes);

/**
 * register_kretprobe() - call a handler when a function returns
 * @rp: the probe; @rp->kp names the function, as for register_kprobe(). Registration sets
 *	its handlers.
 *
 * @rp->maxactive calls can be followed from the start, each with @rp->data_size
 * bytes of private data. When more than half of these instances are in use, or kept ready
 * for a CPU, their number is doubled in the background, except on ports that use rethook. A
 * maxactive of 0 or less is set to twice the number of possible CPUs, but at least 10; of
 * these, 10 or one for each CPU, whichever is more, can be followed from the start, with
 * rethook all.
 *
 * Context: As register_kprobe().
 * Return: 0. On failure @rp->nmissed and the handlers in @rp->kp may have been
 * cleared, nothing else has changed; the error is one of register_kprobe() or
 *
 * * -%EINVAL - not the entry of a function, as the start of FUNC.cold, or one whose return must
 *   not be diverted, or @rp->maxactive exceeds %OBJPOOL_NR_OBJECT_MAX
 * * -%E2BIG - @rp->data_size exceeds %KRETPROBE_MAX_DATA_SIZE
 * * -%ENOMEM - no memory for that many calls
 */
int register_kretprobe(struct kretprobe *rp)
{
	return register_kretprobes(&rp, 1);
}
EXPORT_SYMBOL_GPL(register_kretprobe);

/**
 * unregister_kretprobes() - unregister an array of return probes
 * @rps: the probes; the address of one that is not registered is cleared
 * @num: how many there are
 *
 * Calls that are under way return normally, and the handler is not called for them.
 *
 * Context: As unregister_kprobes(). When it returns, no handler of these probes
 * runs any more.
 */
void unregister_kretprobes(struct kretprobe **rps, int num)
{
	int i;

	if (!rps || num <= 0)
		return;

	unregister_kprobes((struct kprobe **)rps, num);

	for (i = 0; i < num; i++) {
		if (rps[i] && rps[i]->kp.addr)
			return_tear_down(&rps[i], 1);
	}
}
EXPORT_SYMBOL_GPL(unregister_kretprobes);

/**
 * unregister_kretprobe() - remove a return probe
 * @rp: the probe; when it is not registered its address is cleared
 *
 * Context: As unregister_kretprobes().
 */
void unregister_kretprobe(struct kretprobe *rp)
{
	unregister_kretprobes(&rp, 1);
}
EXPORT_SYMBOL_GPL(unregister_kretprobe);
