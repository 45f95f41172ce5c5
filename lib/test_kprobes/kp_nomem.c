// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test of failing allocations: each one in registering, enabling and removing probes fails
 * once, the first one, the second one, and so on until there are no more.
 *
 * Registering and enabling must succeed nevertheless or return -ENOMEM. In that case
 * nothing must be armed, the caller's structs must be unchanged, and the same call must
 * succeed with memory. Disabling and removing must always succeed.
 *
 * All this is done when the module is loaded; it probes its own text.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "common.h"

#define NR_FUNCTIONS	20	/* ftrace can trace half of them */
#define MAX_PROBES	64
#define SHORT_TEXT	16	/* bytes to compare of each function */
#define LONG_TEXT	128
#define QUIET_TRIES	3	/* tries without a failure that end the test */
#define MAX_TRIES	2000

static __always_inline void step(int *cell, int n)
{
	WRITE_ONCE(cell[0], n);
	WRITE_ONCE(cell[1], READ_ONCE(cell[0]) + 1);
	WRITE_ONCE(cell[2], READ_ONCE(cell[1]) ^ n);
}

#define STEP(k)	step(cells + 3 * (k), n);

/* Longer than LONG_TEXT, without branches. */
static noinline notrace int kp_nomem_long(int n)
{
	static int cells[32];

	TEN(STEP, )
	return READ_ONCE(cells[0]) + READ_ONCE(cells[28]);
}

#define DEFINE_FUNCTION(k, ...)	DEFINE_TARGET(int, function_##k, (int n), n + (k), ##__VA_ARGS__)
#define LIST_FUNCTION(k)	function_##k,

TEN(DEFINE_FUNCTION, 1)
TEN(DEFINE_FUNCTION, 2, notrace)

static int (*functions[NR_FUNCTIONS])(int n) = {
	TEN(LIST_FUNCTION, 1) TEN(LIST_FUNCTION, 2)
};

enum kind { PRE, POST, RETURN };

/* One test of failing allocations. */
struct plan {
	const char *name;
	enum kind kind;
	unsigned int nr;	/* number of probes, each on another function */
	unsigned int first;	/* of these functions, or NR_FUNCTIONS: all in the long function */
	bool sibling;		/* each address has another probe already, which stays */
	bool enable;		/* registered disabled, and the first one is enabled */
};

#define TRACED	0
#define PLAIN	(NR_FUNCTIONS / 2)
#define MANY	NR_FUNCTIONS

static const struct plan plans[] = {
	{ "probe", PRE, 1, PLAIN },
	{ "probe with post_handler", POST, 1, PLAIN },
	{ "batch", PRE, NR_FUNCTIONS, TRACED },
	{ "many in one function", PRE, MAX_PROBES, MANY },
	{ "beside another", PRE, 1, PLAIN, .sibling = true },
	{ "on ftrace", PRE, 1, TRACED },
	{ "on ftrace, batch", PRE, PLAIN, TRACED },
	{ "on ftrace, post_handler beside another", POST, 1, TRACED, .sibling = true },
	{ "return probe", RETURN, 1, PLAIN },
	{ "return probe, on ftrace", RETURN, 1, TRACED },
	{ "return probes, batch", RETURN, 4, PLAIN - 2 },
	{ "enable", PRE, 1, PLAIN, .enable = true },
	{ "enable, on ftrace", PRE, 1, TRACED, .enable = true },
	{ "enable, on ftrace, post_handler beside another", POST, 1, TRACED, .sibling = true,
	  .enable = true },
	{ "enable return probe, on ftrace", RETURN, 1, TRACED, .enable = true },
};

static struct kretprobe probes[MAX_PROBES], before[MAX_PROBES];
static struct kprobe *kps[MAX_PROBES], sibling;
static void *spots[MAX_PROBES];
static unsigned int nr_spots, nr_sibling_hits, nr_fired, faults;
static u8 texts[NR_FUNCTIONS][SHORT_TEXT], long_text[LONG_TEXT];

#define complain(plan, nth, fmt, ...)							\
	do {										\
		if (faults++ < 40)							\
			pr_err("%s, allocation %u: " fmt "\n", (plan)->name, nth,	\
			       ##__VA_ARGS__);						\
	} while (0)

static int on_sibling(struct kprobe *kp, struct pt_regs *regs)
{
	nr_sibling_hits++;
	return 0;
}

/* --- the operations, with an allocation that fails --- */

/* Returns whether that allocation was reached. */
static bool end_failing(void)
{
	bool failed = !current->fail_nth;

	current->fail_nth = 0;
	return failed;
}

static int call_register(const struct plan *plan)
{
	return batch_register(kps, plan->nr, plan->kind == RETURN);
}

static void fill_one(const struct plan *plan, unsigned int i)
{
	struct kretprobe *rp = &probes[i];

	memset(rp, 0, sizeof(*rp));
	INIT_LIST_HEAD(&rp->kp.list);
	if (plan->first == MANY)
		rp->kp.addr = spots[i];
	else
		rp->kp.addr = (kprobe_opcode_t *)functions[plan->first + i];
	rp->kp.flags = plan->enable ? KPROBE_FLAG_DISABLED : 0;
	if (plan->kind == RETURN) {
		rp->handler = count_return;
	} else {
		rp->kp.pre_handler = count_hit;
		rp->kp.post_handler = plan->kind == POST ? ignore_post : NULL;
	}
	kps[i] = &rp->kp;
}

static void fill(const struct plan *plan)
{
	unsigned int i;

	for (i = 0; i < plan->nr; i++)
		fill_one(plan, i);
}

/* --- checks --- */

static bool call_all(void)
{
	bool good = kp_nomem_long(5) == 11;
	unsigned int i;

	for (i = 0; i < NR_FUNCTIONS; i++) {
		int (*function)(int n) = READ_ONCE(functions[i]);

		good &= function(5) == 15 + i;
	}
	return good;
}

static void check_hits(const struct plan *plan, unsigned int nth, bool armed)
{
	hits = 0;
	nr_sibling_hits = 0;
	if (!call_all())
		complain(plan, nth, "wrong result");
	if (armed ? hits < plan->nr : hits)
		complain(plan, nth, "%u hits of %u %s probes", hits, plan->nr,
			 armed ? "armed" : "absent");
	if (nr_sibling_hits != plan->sibling)
		complain(plan, nth, "%u hits of a probe that stays", nr_sibling_hits);
}

static void check_text(const struct plan *plan, unsigned int nth)
{
	unsigned int i;

	for (i = 0; i < NR_FUNCTIONS; i++) {
		/* The sibling stays, so its text is not the original. */
		if (plan->sibling && i == plan->first)
			continue;
		if (memcmp(texts[i], functions[i], SHORT_TEXT))
			complain(plan, nth, "text of function %u has changed", i);
	}
	if (memcmp(long_text, kp_nomem_long, LONG_TEXT))
		complain(plan, nth, "text has changed");
}

/* --- the plans --- */

/* Check that the failure returned -ENOMEM and changed nothing. */
static void check_failure(const struct plan *plan, unsigned int nth, int err)
{
	if (err != -ENOMEM)
		complain(plan, nth, "error %d", err);
	/* kprobes owns all fields but the flags while a probe is registered. */
	if (plan->enable ? probes[0].kp.flags != before[0].kp.flags :
			   memcmp(probes, before, plan->nr * sizeof(*probes)))
		complain(plan, nth, "the probes are not what they were");
	check_hits(plan, nth, false);
	if (!plan->enable)
		check_text(plan, nth);
}

/* Call @verb with its @nth allocation failing, and again if it failed. */
static bool verb_fails(const struct plan *plan, unsigned int nth, int (*verb)(const struct plan *))
{
	bool fired;
	int err;

	memcpy(before, probes, sizeof(before));
	current->fail_nth = nth;
	err = verb(plan);
	fired = end_failing();
	if (err && !fired)
		complain(plan, nth, "error %d with memory", err);
	if (err) {
		check_failure(plan, nth, err);
		err = verb(plan);
		if (err)
			complain(plan, nth, "error %d, at the second time", err);
	}
	check_hits(plan, nth, !err);
	return fired;
}

static int call_enable(const struct plan *plan)
{
	return enable_kprobe(kps[0]);
}

static bool disable_fails(const struct plan *plan, unsigned int nth)
{
	bool fired;
	int err;

	current->fail_nth = nth;
	err = disable_kprobe(kps[0]);
	fired = end_failing();
	if (err)
		complain(plan, nth, "disabling: error %d", err);
	check_hits(plan, nth, false);
	err = enable_kprobe(kps[0]);
	if (err)
		complain(plan, nth, "enabling again: error %d", err);
	return fired;
}

static bool try_nth(const struct plan *plan, unsigned int nth)
{
	bool fired;

	fill(plan);
	if (plan->enable) {
		if (call_register(plan)) {
			complain(plan, nth, "no disabled probes");
			return false;
		}
		fired = verb_fails(plan, nth, call_enable);
		fired |= disable_fails(plan, nth);
	} else {
		fired = verb_fails(plan, nth, call_register);
	}

	current->fail_nth = nth;
	batch_unregister(kps, plan->nr, plan->kind == RETURN);
	fired |= end_failing();
	check_hits(plan, nth, false);
	check_text(plan, nth);
	return fired;
}

static void try_plan(const struct plan *plan)
{
	unsigned int nth, fired = 0, quiet = 0;

	sibling = (struct kprobe){ .pre_handler = on_sibling };
	if (plan->sibling) {
		sibling.addr = (kprobe_opcode_t *)functions[plan->first];
		if (register_kprobe(&sibling))
			complain(plan, 0, "no probe beside which another could be");
	}
	for (nth = 1; nth < MAX_TRIES && quiet < QUIET_TRIES; nth++) {
		if (try_nth(plan, nth)) {
			fired++;
			quiet = 0;
		} else {
			quiet++;
		}
	}
	if (plan->sibling)
		unregister_kprobe(&sibling);
	pr_info("%s: allocations %u\n", plan->name, fired);
	nr_fired += fired;
	if (nth == MAX_TRIES)
		complain(plan, nth, "there is no end");
}

static void find_spots(void)
{
	u8 *text = (u8 *)kp_nomem_long;
	unsigned int i;

	for (i = 0; i < LONG_TEXT && nr_spots < MAX_PROBES; i++) {
		struct kprobe kp = { .addr = (void *)(text + i), .flags = KPROBE_FLAG_DISABLED };

		if (register_kprobe(&kp))
			continue;
		if (!nr_spots || spots[nr_spots - 1] != kp.addr)
			spots[nr_spots++] = kp.addr;
		unregister_kprobe(&kp);
	}
}

static int __init kp_nomem_init(void)
{
	struct plan plan;
	unsigned int i;

	for (i = 0; i < NR_FUNCTIONS; i++)
		memcpy(texts[i], functions[i], SHORT_TEXT);
	memcpy(long_text, kp_nomem_long, LONG_TEXT);
	find_spots();
	for (i = 0; i < ARRAY_SIZE(plans); i++) {
		plan = plans[i];
		if (plan.first == MANY)
			plan.nr = nr_spots;
		try_plan(&plan);
	}
	pr_info("failed %u faults %u\n", nr_fired, faults);
	return 0;
}

static void __exit kp_nomem_exit(void)
{
}

module_init(kp_nomem_init);
module_exit(kp_nomem_exit);
MODULE_DESCRIPTION("Probes that are registered when there is no memory");
MODULE_LICENSE("GPL");
