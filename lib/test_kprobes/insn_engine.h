/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The common part of the ports' insn_test.c, which test that a probe does not change what
 * the probed code does.
 *
 * A snippet of code runs from random states, first without probes and then with a probe on
 * every one of its instructions. The results must be the same: registers, flags, stack and
 * memory. The handlers keep a log, which must be a complete account of the way through the
 * snippet: each instruction is announced by its pre_handler, its post_handler tells which
 * one is next, and between the two calls at that place no register changes.
 *
 * The states depend on the snippet and on the seed, which the kernel parameter
 * insn_test.seed sets: a failed run can be repeated.
 *
 * This is for one file of a kernel, which first includes its insn_test.h. That has
 *
 *	struct snippet		with name, start, size and needs
 *	insn_snippets[]		all of them, up to insn_snippets_end
 *	struct machine		with the arrays gpr[] of INSN_TEST_GPRS and stack[], and flags
 *	SNIPPET_VOLATILE	in needs: results that differ from run to run
 *	INSN_TEST_BREAK		by which the ip in a pre_handler is behind the probe
 *	insn_test_mem[]		declared, for the snippets
 */
#ifndef _LIB_TEST_KPROBES_INSN_ENGINE_H
#define _LIB_TEST_KPROBES_INSN_ENGINE_H

#include <linux/irqflags.h>
#include <linux/jhash.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/prandom.h>
#include <linux/ptrace.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "handlers.h"

#define NR_STATES	32
#define MAX_INSNS	64
#define MAX_EVENTS	256
#define MEM_WORDS	128
#define MAX_RUNS	10

static unsigned int seed = 20240917;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "where the random states start from");

/* The memory that the snippets work on. */
u64 insn_test_mem[MEM_WORDS] __aligned(16);

/* The state from which a run starts, and which it leaves. */
struct world {
	struct machine machine;
	u64 mem[MEM_WORDS];
};

/* Results of the first run from a state. */
struct result {
	struct world after;
	unsigned int nr_hits;	/* known after the run with both handlers */
	u32 way;		/* digest of the log of pre_handlers */
};

/* One call of a handler. */
struct event {
	unsigned int index;
	bool post;
	unsigned long pc;
	unsigned long gpr[INSN_TEST_GPRS];
	unsigned long flags;
};

/* Needs no lock: one test at a time does one run at a time. */
static struct {
	const struct snippet *snippet;
	struct kprobe *probe;	/* usually own_probes */
	struct kprobe own_probes[MAX_INSNS];
	struct kprobe *array[MAX_INSNS];
	unsigned int nr_probes;
	struct event event[MAX_EVENTS];
	unsigned int nr_events;
	const char *unfit;	/* what a handler must not see */
	unsigned long missed;	/* hits without handlers before the run */
	struct world world;
	struct world before;	/* as the run began */
	struct result result[NR_STATES];
} lab;

/* -- what the port provides -- */

/* Give the registers that have a meaning in a snippet their values for this state. */
static void set_machine(struct machine *m, unsigned int state);

/* Call insn_test_run(). */
static void run_snippet(void);

/* Call run_world() in the context that the state demands. */
static noinline void run_in_task(void);

/* Make the world and call hit_me(). */
static noinline void run_nested(unsigned int state);

/* Probe the instructions of the snippet. */
static void add_probes(struct kunit *test, bool post);

/* Record registers and flags, and set lab.unfit where needed. */
static void log_regs(struct event *e, struct pt_regs *regs);

/* Leave out flags that a probe may change. */
static unsigned long kept_flags(unsigned long flags);

/* Replace what is not known before the run, such as the stack pointer. */
static void complete_start(struct machine *start, const struct event *first);

/* Does it have instructions that cannot be probed, so that the log has gaps? */
static bool has_gaps(const struct snippet *snippet);

/* Where the last instruction leads. */
static unsigned long snippet_end(void);

static const char *reg_name(unsigned int nr);

/* Describe a difference, or return NULL. */
static const char *check_after(const struct world *want, const struct world *have);

/* -- the handlers and their log -- */

static void log_event(struct kprobe *kp, struct pt_regs *regs, bool post)
{
	struct event *e;

	if (lab.nr_events == MAX_EVENTS)
		return;

	e = &lab.event[lab.nr_events++];
	e->index = kp - lab.probe;
	e->post = post;
	e->pc = instruction_pointer(regs);
	log_regs(e, regs);
}

static int log_pre(struct kprobe *kp, struct pt_regs *regs)
{
	log_event(kp, regs, false);
	return 0;
}

static void log_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	log_event(kp, regs, true);
}

static unsigned long event_addr(const struct event *e)
{
	return (unsigned long)lab.probe[e->index].addr;
}

static bool same_regs(const struct event *a, const struct event *b)
{
	return kept_flags(a->flags) == kept_flags(b->flags) &&
	       !memcmp(a->gpr, b->gpr, sizeof(a->gpr));
}

/* Leave out registers that differ from run to run. */
static u32 digest_event(const struct event *e, u32 digest)
{
	unsigned long flags = kept_flags(e->flags);

	digest = jhash(&e->index, sizeof(e->index), digest);
	if (lab.snippet->needs & SNIPPET_VOLATILE)
		return digest;

	digest = jhash(e->gpr, sizeof(e->gpr), digest);
	return jhash(&flags, sizeof(flags), digest);
}

/* The way that the pre_handlers tell. */
static u32 digest_log(unsigned int *nr_hits)
{
	unsigned int i;
	u32 digest = 0;

	*nr_hits = 0;
	for (i = 0; i < lab.nr_events; i++) {
		if (lab.event[i].post)
			continue;
		digest = digest_event(&lab.event[i], digest);
		++*nr_hits;
	}
	return digest;
}

/* -- the probes -- */

static void place_probe(void *addr, bool post)
{
	struct kprobe *kp = &lab.probe[lab.nr_probes];

	memset(kp, 0, sizeof(*kp));
	kp->addr = addr;
	kp->pre_handler = log_pre;
	kp->post_handler = post ? log_post : NULL;
	lab.array[lab.nr_probes++] = kp;
}

static void remove_probes(void *unused)
{
	unregister_kprobes(lab.array, lab.nr_probes);
}

static void register_placed(struct kunit *test)
{
	KUNIT_ASSERT_EQ_MSG(test, 0, register_kprobes(lab.array, lab.nr_probes),
			    "the probes of %s", lab.snippet->name);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, remove_probes, NULL));
}

/* -- a run -- */

static void make_world(unsigned int state)
{
	long offset = (void *)lab.snippet->start - (void *)insn_snippets[0].start;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, (u64)seed * 1000003 + offset * 1000 + state);
	prandom_bytes_state(&rnd, &lab.world, sizeof(lab.world));
	set_machine(&lab.world.machine, state);
}

static unsigned long count_missed(void)
{
	unsigned long missed = 0;
	unsigned int i;

	for (i = 0; i < lab.nr_probes; i++)
		missed += lab.probe[i].nmissed;
	return missed;
}

/*
 * A loop of exclusive accesses goes round again after an interrupt that the kernel cannot mask,
 * such as one of the firmware.
 */
static bool went_round_again(void)
{
	unsigned long hits = count_missed() - lab.missed;
	unsigned int i;

	for (i = 0; i < lab.nr_events; i++)
		hits += !lab.event[i].post;
	return has_gaps(lab.snippet) && hits > lab.nr_probes;
}

/*
 * Run from lab.world into lab.world. Always called from the same place of the same
 * function, so that the stack of the snippet is at the same address each time.
 */
static noinline void run_world(void)
{
	unsigned int tries = MAX_RUNS;

	lab.before = lab.world;
	do {
		lab.world = lab.before;
		memcpy(insn_test_mem, lab.world.mem, sizeof(lab.world.mem));
		lab.nr_events = 0;
		lab.missed = count_missed();
		lab.unfit = NULL;
		run_snippet();
		memcpy(lab.world.mem, insn_test_mem, sizeof(lab.world.mem));
	} while (went_round_again() && --tries);
}

/*
 * Per-CPU data and system registers must be the same in each run. Not by migrate_disable():
 * KUnit would enable it again in another thread.
 */
static void stay_on_cpu(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id())));
}

/* -- the checks: each returns what is wrong, or NULL -- */

static const char *differing_reg(const struct machine *want, const struct machine *have)
{
	static char text[64];
	unsigned int i;

	for (i = 0; i < INSN_TEST_GPRS; i++) {
		if (want->gpr[i] == have->gpr[i] || lab.snippet->needs & SNIPPET_VOLATILE)
			continue;
		snprintf(text, sizeof(text), "%s is %lx, not %lx", reg_name(i), have->gpr[i],
			 want->gpr[i]);
		return text;
	}
	return NULL;
}

static const char *differing_memory(const struct world *want, const struct world *have)
{
	if (memcmp(want->machine.stack, have->machine.stack, sizeof(want->machine.stack)))
		return "stack";
	if (memcmp(want->mem, have->mem, sizeof(want->mem)))
		return "memory";
	return NULL;
}

/* The first pre_handler must see the state that the run started from. */
static const char *check_start(void)
{
	const struct event *first = &lab.event[0];
	struct machine *start = &lab.before.machine;

	complete_start(start, first);
	if (memcmp(start->gpr, first->gpr, sizeof(first->gpr)))
		return "log: registers at the start";
	if (start->flags != first->flags)
		return "log: flags at the start";
	if (event_addr(first) != (unsigned long)lab.snippet->start)
		return "log: start";
	return NULL;
}

static const char *check_pre(const struct event *e)
{
	if (e->post)
		return "log: two post_handlers in a row";
	if (e->pc != event_addr(e) + INSN_TEST_BREAK)
		return "log: instruction pointer in a pre_handler";
	return NULL;
}

/* @next is NULL at the end of the log. */
static const char *check_post(const struct event *e, const struct event *pre,
			      const struct event *next)
{
	if (!e->post || e->index != pre->index)
		return "log: no post_handler after a pre_handler";
	if (!next)
		return e->pc == snippet_end() ? NULL : "log: end";
	if (has_gaps(lab.snippet))
		return NULL;
	if (event_addr(next) != e->pc)
		return "log: instruction pointer in a post_handler";
	if (!same_regs(e, next))
		return "log: registers in a post_handler";
	return NULL;
}

static const char *check_log_both(void)
{
	const char *wrong = check_start();
	unsigned int i;

	if (lab.nr_events % 2)
		return "log: odd";

	for (i = 0; !wrong && i < lab.nr_events; i += 2) {
		struct event *e = &lab.event[i];

		wrong = check_pre(e);
		if (!wrong)
			wrong = check_post(e + 1, e, i + 2 < lab.nr_events ? e + 2 : NULL);
	}
	return wrong;
}

static const char *check_log_pre(void)
{
	const char *wrong = check_start();
	unsigned int i;

	for (i = 0; !wrong && i < lab.nr_events; i++)
		wrong = check_pre(&lab.event[i]);
	return wrong;
}

/* -- the modes in which a snippet runs -- */

enum mode {
	BARE,		/* no probes: the measure for the others */
	BOTH,		/* pre_handlers and post_handlers */
	PRE,		/* pre_handlers only */
	SOME,		/* probes whose log is not complete */
};

static const char *judge_both(struct result *result)
{
	result->way = digest_log(&result->nr_hits);
	return check_log_both();
}

static const char *judge_pre(struct result *result)
{
	unsigned int nr_hits;
	u32 way = digest_log(&nr_hits);

	if (nr_hits != result->nr_hits || way != result->way)
		return "log: not the same without post_handlers";
	return check_log_pre();
}

static const char *judge(struct result *result, enum mode mode)
{
	const char *wrong;

	if (mode == BARE) {
		result->after = lab.world;
		return NULL;
	}

	wrong = check_after(&result->after, &lab.world) ?: lab.unfit;
	if (wrong || mode == SOME)
		return wrong;
	if (!lab.nr_events || lab.nr_events == MAX_EVENTS)
		return "log: length";
	return mode == BOTH ? judge_both(result) : judge_pre(result);
}

static void run_state(struct kunit *test, enum mode mode, unsigned int state)
{
	static const char * const names[] = { "bare", "pre+post", "pre", "some" };
	const char *wrong;

	make_world(state);
	run_in_task();
	wrong = judge(&lab.result[state], mode);
	if (wrong)
		KUNIT_FAIL_AND_ABORT(test, "%s, %s, state %u of seed %u: %s",
				     lab.snippet->name, names[mode], state, seed, wrong);
}

/* Called by the tests themselves, so that the stack has the same depth in each mode. */
static noinline __noclone void run_states(struct kunit *test, enum mode mode)
{
	unsigned int i;

	for (i = 0; i < NR_STATES; i++)
		run_state(test, mode, i);
}

static __always_inline void run_probed(struct kunit *test, enum mode mode)
{
	add_probes(test, mode == BOTH);
	run_states(test, mode);
	kunit_release_action(test, remove_probes, NULL);
}

/* -- the same as a hit within a hit: no handlers, but the instruction runs -- */

static noinline notrace void hit_me(void)
{
	barrier();
}

/* A detour calls this with interrupts on, and an interrupt would break a reservation. */
static int run_in_handler(struct kprobe *kp, struct pt_regs *regs)
{
	guard(irqsave)();
	run_world();
	return 0;
}

static struct kprobe outer;

/* Breakpoints and jumps differ in stack depth, which must be the same in all runs. */
static void add_outer(struct kunit *test)
{
	outer = (struct kprobe) {
		.addr = (kprobe_opcode_t *)hit_me,
		.pre_handler = run_in_handler,
	};
	add_kprobe(test, &outer);
	wait_for_kprobe_optimizer();
}

/* A run that is not nested tells how many hits there are. */
static void count_hits(struct kunit *test)
{
	unsigned int i;

	add_probes(test, false);
	for (i = 0; i < NR_STATES; i++) {
		make_world(i);
		run_in_task();
		digest_log(&lab.result[i].nr_hits);
	}
	kunit_release_action(test, remove_probes, NULL);
}

static const char *judge_missed(const struct world *after, unsigned long hits,
				unsigned long missed)
{
	const char *wrong = check_after(after, &lab.world);

	if (wrong)
		return wrong;
	if (lab.nr_events)
		return "a handler ran";
	if (missed != hits)
		return "missed hits, miscounted";
	return NULL;
}

/* Called by the tests themselves, as run_states() is. */
static noinline __noclone void run_nested_states(struct kunit *test, enum mode mode)
{
	const char *wrong = NULL;
	unsigned int i;

	for (i = 0; i < NR_STATES; i++) {
		struct result *result = &lab.result[i];

		run_nested(i);
		if (mode == BARE)
			result->after = lab.world;
		else
			wrong = judge_missed(&result->after, result->nr_hits,
					     count_missed() - lab.missed);
		if (wrong)
			KUNIT_FAIL_AND_ABORT(test, "%s, nested, state %u of seed %u: %s",
					     lab.snippet->name, i, seed, wrong);
	}
}

/* Learn what the nested snippet does without probes, before run_missed(). */
static __always_inline void run_bare(struct kunit *test)
{
	stay_on_cpu(test);
	count_hits(test);
	add_outer(test);
	run_nested_states(test, BARE);
}

static __always_inline void run_missed(struct kunit *test)
{
	add_probes(test, true);
	run_nested_states(test, BOTH);
	kunit_release_action(test, remove_probes, NULL);
}

/* Return the snippet behind @prev in an array, or its first one, and describe it. */
static const void *snippet_behind(const void *prev, const struct snippet *first,
				  const struct snippet *end, char *desc)
{
	const struct snippet *s = prev ? (const struct snippet *)prev + 1 : first;

	if (s >= end)
		return NULL;
	strscpy(desc, s->name, KUNIT_PARAM_DESC_SIZE);
	return s;
}

static KUNIT_GENERATOR(next_snippet)
{
	return snippet_behind(prev, insn_snippets, insn_snippets_end, desc);
}

/* The text of all snippets as it was before the first probe. */
static u8 *text_copy;

static size_t text_size(void)
{
	struct snippet *last = insn_snippets_end - 1;

	return (void *)last->start + last->size - (void *)insn_snippets[0].start;
}

static int insn_suite_init(struct kunit_suite *suite)
{
	pr_info("seed %u\n", seed);
	text_copy = kmemdup(insn_snippets[0].start, text_size(), GFP_KERNEL);

	return text_copy ? 0 : -ENOMEM;
}

static void insn_suite_exit(struct kunit_suite *suite)
{
	kfree(text_copy);
	text_copy = NULL;
}

static void check_text(void *context)
{
	struct kunit *test = context;

	KUNIT_EXPECT_EQ_MSG(test, 0, memcmp(text_copy, insn_snippets[0].start, text_size()),
			    "text left changed");
}

/* Actions run in reverse order, so the check runs when all probes are gone. */
static int insn_test_init(struct kunit *test)
{
	lab.probe = lab.own_probes;

	return kunit_add_action(test, check_text, test);
}

#endif /* _LIB_TEST_KPROBES_INSN_ENGINE_H */
