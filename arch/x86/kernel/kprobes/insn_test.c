// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does a probe change what the probed code does?
 *
 * Each snippet of insn_snippets.S runs from random states, first without probes and then
 * with a probe on every one of its instructions. The results must be the same: registers,
 * flags, stack and memory. The handlers keep a log, which must be a complete account of
 * the way through the snippet: each instruction is announced by its pre_handler, its
 * post_handler tells which one is next, and between the two calls at that place no
 * register changes.
 *
 * Then jumps replace breakpoints. The contents of a detour depend on which instructions
 * near one another are probed, so there are rounds with some of the probes. All snippets
 * take part in a round, because they can wait together for their jumps.
 *
 * The states depend on the snippet and on the seed, which the kernel parameter
 * insn_test.seed sets: a failed run can be repeated.
 */
#define pr_fmt(fmt) "kprobes_x86_insn: " fmt

#include <kunit/test.h>
#include <linux/jhash.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/insn.h>
#include <asm/insn-eval.h>
#include <asm/processor-flags.h>
#include <asm/segment.h>
#include "insn_test.h"

#define NR_STATES	32
#define MAX_INSNS	48
#define MAX_EVENTS	256
#define MEM_WORDS	128
#define PERCPU_WORDS	8

/* Registers with a given meaning in a snippet, see insn_snippets.S. */
#define GPR_MEM		3
#define GPR_SP		4
#define GPR_PERCPU	(IS_ENABLED(CONFIG_X86_64) ? 12 : 6)
#define GPR_SMALL	(IS_ENABLED(CONFIG_X86_64) ? 13 : 5)

static_assert(offsetof(struct machine, gpr) == MACHINE_GPR);
static_assert(offsetof(struct machine, flags) == MACHINE_FLAGS);
static_assert(offsetof(struct machine, xmm) == MACHINE_XMM);
static_assert(offsetof(struct machine, stack) == MACHINE_STACK);

static unsigned int seed = 20240917;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "where the random states start from");

/* The memory that the snippets work on. */
u64 insn_test_mem[MEM_WORDS];
DECLARE_PER_CPU(u64 [PERCPU_WORDS], insn_test_percpu);
DEFINE_PER_CPU(u64 [PERCPU_WORDS], insn_test_percpu);

/* The state from which a run starts, and which it leaves. */
struct world {
	struct machine machine;
	u64 mem[MEM_WORDS];
	u64 percpu[PERCPU_WORDS];
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
	bool flat;
	unsigned long ip;
	unsigned long gpr[INSN_TEST_GPRS];
	unsigned long flags;
};

struct insn_probe {
	struct kprobe kp;
	unsigned int len;
};

/* Only one test and one run at a time, on one CPU. */
static struct {
	const struct snippet *snippet;
	struct insn_probe *probe;
	struct insn_probe own_probes[MAX_INSNS];
	struct kprobe *array[MAX_INSNS];
	unsigned int nr_probes;
	struct event event[MAX_EVENTS];
	unsigned int nr_events;
	struct world world;
	struct world before;
	struct result result[NR_STATES];
} lab;

/* -- the handlers and their log -- */

static void log_gprs(struct event *e, struct pt_regs *regs)
{
	unsigned int i;

	for (i = 0; i < INSN_TEST_GPRS; i++)
		e->gpr[i] = regs_get_register(regs, pt_regs_offset(regs, i));
}

/* On 32 bits C uses these segments for its memory, and the snippet may have changed them. */
static bool segments_are_flat(void)
{
	unsigned int ds, es;

	savesegment(ds, ds);
	savesegment(es, es);
	return IS_ENABLED(CONFIG_X86_64) || (ds == __USER_DS && es == __USER_DS);
}

static void log_event(struct kprobe *kp, struct pt_regs *regs, bool post)
{
	struct insn_probe *probe = container_of(kp, struct insn_probe, kp);
	struct event *e;

	if (lab.nr_events == MAX_EVENTS)
		return;

	e = &lab.event[lab.nr_events++];
	e->index = probe - lab.probe;
	e->post = post;
	e->flat = segments_are_flat();
	e->ip = regs->ip;
	e->flags = regs->flags & ~X86_EFLAGS_RF;
	log_gprs(e, regs);
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
	return (unsigned long)lab.probe[e->index].kp.addr;
}

#define ARITHMETIC_FLAGS	(X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF | X86_EFLAGS_ZF | \
				 X86_EFLAGS_SF | X86_EFLAGS_OF)

/* A detour returns like the kernel, which may count returns: then no flag is reliable. */
static unsigned long kept_flags(unsigned long flags)
{
	return cpu_feature_enabled(X86_FEATURE_CALL_DEPTH) ? flags & ~ARITHMETIC_FLAGS : flags;
}

static bool same_regs(const struct event *a, const struct event *b)
{
	return kept_flags(a->flags) == kept_flags(b->flags) &&
	       !memcmp(a->gpr, b->gpr, sizeof(a->gpr));
}

/* Ignore registers that differ from run to run. */
static u32 digest_event(const struct event *e, u32 digest)
{
	unsigned long flags = kept_flags(e->flags);

	digest = jhash(&e->index, sizeof(e->index), digest);
	if (lab.snippet->needs & SNIPPET_VOLATILE)
		return digest;

	digest = jhash(e->gpr, sizeof(e->gpr), digest);
	return jhash(&flags, sizeof(flags), digest);
}

/* The part of an event that is the same with a single probe as with probes everywhere. */
static u32 digest_alone(const struct event *e)
{
	struct event copy = *e;

	if (lab.snippet->needs & SNIPPET_UNDEFINED)
		copy.flags &= ~(u64)ARITHMETIC_FLAGS;

	return digest_event(&copy, 0);
}

/* -- the probes -- */

static void place_probe(u8 *addr, unsigned int len, bool post)
{
	unsigned int n = lab.nr_probes++;
	struct insn_probe *probe = &lab.probe[n];

	memset(probe, 0, sizeof(*probe));
	probe->kp.addr = addr;
	probe->kp.pre_handler = log_pre;
	probe->kp.post_handler = post ? log_post : NULL;
	probe->len = len;
	lab.array[n] = &probe->kp;
}

static int insn_len(u8 *addr)
{
	struct insn insn;

	return insn_decode_kernel(&insn, addr) ? -EINVAL : insn.length;
}

/* Every instruction of the snippet, except breakpoints of its own. */
static void place_probes(struct kunit *test, bool post)
{
	u8 *end = lab.snippet->start + lab.snippet->size;
	u8 *addr;
	int len;

	lab.nr_probes = 0;
	for (addr = lab.snippet->start; addr < end; addr += len) {
		len = insn_len(addr);
		KUNIT_ASSERT_GT(test, len, 0);
		KUNIT_ASSERT_LT(test, lab.nr_probes, MAX_INSNS);
		if (*addr != INT3_INSN_OPCODE)
			place_probe(addr, len, post);
	}
	KUNIT_ASSERT_PTR_EQ(test, addr, end);
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

static void add_probes(struct kunit *test, bool post)
{
	place_probes(test, post);
	register_placed(test);
}

static void allow_jumps(void *unused)
{
	kprobe_optimize_set_knob(true);
	wait_for_kprobe_optimizer();
}

static void forbid_jumps(struct kunit *test)
{
	kprobe_optimize_set_knob(false);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, allow_jumps, NULL));
}

/* -- a run -- */

static void random_gprs(struct machine *m, struct rnd_state *rnd)
{
	prandom_bytes_state(rnd, m, sizeof(*m));
	m->gpr[GPR_MEM] = (unsigned long)&insn_test_mem[MEM_WORDS / 2];
	m->gpr[GPR_PERCPU] = (unsigned long)&insn_test_percpu;
	m->gpr[GPR_SMALL] &= 7;
}

/* All 32 combinations of the flags that conditions test, the other flags at random. */
static void random_flags(struct machine *m, unsigned int state)
{
	unsigned long flags = m->flags;

	flags &= X86_EFLAGS_AF | X86_EFLAGS_DF | X86_EFLAGS_IF | X86_EFLAGS_ID;
	flags |= X86_EFLAGS_FIXED;
	flags |= state & 1 ? X86_EFLAGS_CF : 0;
	flags |= state & 2 ? X86_EFLAGS_PF : 0;
	flags |= state & 4 ? X86_EFLAGS_ZF : 0;
	flags |= state & 8 ? X86_EFLAGS_SF : 0;
	flags |= state & 16 ? X86_EFLAGS_OF : 0;
	m->flags = flags;
}

static void make_world(unsigned int state)
{
	struct rnd_state rnd;

	prandom_seed_state(&rnd, (u64)seed * 1000003 + (lab.snippet - insn_snippets) * 1000 +
			   state);
	prandom_bytes_state(&rnd, lab.world.mem, sizeof(lab.world.mem));
	prandom_bytes_state(&rnd, lab.world.percpu, sizeof(lab.world.percpu));
	random_gprs(&lab.world.machine, &rnd);
	random_flags(&lab.world.machine, state);
}

/*
 * Run from lab.world into lab.world. Always called from the same place of the same
 * function, so that the stack of the snippet is at the same address each time.
 */
static noinline void run_world(void)
{
	memcpy(insn_test_mem, lab.world.mem, sizeof(lab.world.mem));
	memcpy(this_cpu_ptr(&insn_test_percpu), lab.world.percpu, sizeof(lab.world.percpu));

	lab.nr_events = 0;
	insn_test_run(&lab.world.machine, lab.snippet->start);

	memcpy(lab.world.mem, insn_test_mem, sizeof(lab.world.mem));
	memcpy(lab.world.percpu, this_cpu_ptr(&insn_test_percpu), sizeof(lab.world.percpu));
}

/* Lockdep must know if the snippet starts with interrupts off. */
static noinline void run_in_task(void)
{
	unsigned long flags = 0;
	bool off = !(lab.world.machine.flags & X86_EFLAGS_IF);

	kernel_fpu_begin();
	if (off)
		local_irq_save(flags);
	run_world();
	if (off)
		local_irq_restore(flags);
	kernel_fpu_end();
}

/* -- the checks: each returns what is wrong, or NULL -- */

static const char * const reg_names[] = {
	"ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8", "r9", "r10", "r11", "r12", "r13",
	"r14", "r15"
};

static const char *differing_reg(const unsigned long *want, const unsigned long *have)
{
	static char text[64];
	unsigned int i;

	for (i = 0; i < INSN_TEST_GPRS; i++) {
		if (want[i] == have[i])
			continue;
		snprintf(text, sizeof(text), "%s is %lx, not %lx", reg_names[i], have[i],
			 want[i]);
		return text;
	}
	return NULL;
}

static const char *check_after(const struct world *a, const struct world *b)
{
	const char *reg = differing_reg(a->machine.gpr, b->machine.gpr);

	if (reg && !(lab.snippet->needs & SNIPPET_VOLATILE))
		return reg;
	if (kept_flags(a->machine.flags) != kept_flags(b->machine.flags) &&
	    !(lab.snippet->needs & SNIPPET_VOLATILE))
		return "flags";
	if (memcmp(a->machine.xmm, b->machine.xmm, sizeof(a->machine.xmm)))
		return "vector registers";
	if (memcmp(a->machine.stack, b->machine.stack, sizeof(a->machine.stack)))
		return "stack";
	if (memcmp(a->mem, b->mem, sizeof(a->mem)))
		return "memory";
	if (memcmp(a->percpu, b->percpu, sizeof(a->percpu)))
		return "per-CPU memory";
	return NULL;
}

/* The first pre_handler must see the state that the run started from. */
static const char *check_start(void)
{
	const struct event *first = &lab.event[0];
	unsigned long *start = lab.before.machine.gpr;

	/* The stack pointer is that of the call in run_world(). */
	start[GPR_SP] = first->gpr[GPR_SP];
	if (memcmp(start, first->gpr, sizeof(first->gpr)))
		return "log: registers at the start";
	if (first->flags != lab.before.machine.flags)
		return "log: flags at the start";
	if (event_addr(first) != (unsigned long)lab.snippet->start)
		return "log: start";
	return NULL;
}

static const char *check_pre(const struct event *e)
{
	if (e->post)
		return "log: two post_handlers in a row";
	if (e->ip != event_addr(e) + 1)
		return "log: ip in a pre_handler";
	if (!e->flat)
		return "log: segment registers of a pre_handler";
	return NULL;
}

/* @next is NULL at the end of the log. */
static const char *check_post(const struct event *e, const struct event *pre,
			      const struct event *next)
{
	if (!e->post || e->index != pre->index)
		return "log: no post_handler after a pre_handler";
	if (!e->flat)
		return "log: segment registers of a post_handler";
	if (!next)
		return e->ip == (unsigned long)insn_test_exit ? NULL : "log: end";
	if (event_addr(next) != e->ip)
		return "log: ip in a post_handler";
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

/* -- the modes in which a snippet runs -- */

enum mode {
	BARE,		/* no probes: the measure for the others */
	BOTH,		/* pre_handlers and post_handlers */
	PRE,		/* pre_handlers only */
	MOVED,		/* a post_handler that moves the stack pointer */
};

/* The distance by which it moves. */
static long stack_move;

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

	if (mode == MOVED)
		lab.world.machine.gpr[GPR_SP] -= stack_move;
	wrong = check_after(&result->after, &lab.world);
	if (wrong || mode == MOVED)
		return wrong;
	if (!lab.nr_events || lab.nr_events == MAX_EVENTS)
		return "log: length";
	return mode == BOTH ? judge_both(result) : judge_pre(result);
}

/* Called by the tests themselves, so that the stack has the same depth in each mode. */
static noinline __noclone void run_states(struct kunit *test, enum mode mode)
{
	static const char * const names[] = { "bare", "pre+post", "pre", "moved" };
	const char *wrong;
	unsigned int i;

	for (i = 0; i < NR_STATES; i++) {
		make_world(i);
		lab.before = lab.world;
		run_in_task();
		wrong = judge(&lab.result[i], mode);
		if (wrong)
			KUNIT_FAIL_AND_ABORT(test, "%s, %s, state %u of seed %u: %s",
					     lab.snippet->name, names[mode], i, seed, wrong);
	}
}

static __always_inline void run_probed(struct kunit *test, enum mode mode)
{
	add_probes(test, mode == BOTH);
	run_states(test, mode);
	kunit_release_action(test, remove_probes, NULL);
}

static bool needs_met(const struct snippet *s)
{
	if (s->needs & SNIPPET_CX16 && !boot_cpu_has(X86_FEATURE_CX16))
		return false;
	if (s->needs & SNIPPET_AVX && !cpu_has_xfeatures(XFEATURE_MASK_YMM, NULL))
		return false;
	/* A probe on a landing pad would remove it. */
	if (s->needs & SNIPPET_INDIRECT && cpu_feature_enabled(X86_FEATURE_IBT))
		return false;
	return true;
}

static void choose_snippet(struct kunit *test)
{
	lab.snippet = test->param_value;
	lab.probe = lab.own_probes;
	if (!needs_met(lab.snippet))
		kunit_skip(test, "this CPU cannot run it");
}

static void release_cpu(void *unused)
{
	migrate_enable();
}

/* Needed where per-CPU data and system registers must be the same in each run. */
static void stay_on_cpu(struct kunit *test)
{
	migrate_disable();
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, release_cpu, NULL));
}

/* Failure X3: a post_handler after an emulated instruction, and the hits after that. */
static void insn_same_with_probes(struct kunit *test)
{
	choose_snippet(test);
	stay_on_cpu(test);
	run_states(test, BARE);
	run_probed(test, BOTH);
	run_probed(test, PRE);
}

/* -- the same for nested hits: no handlers, but the instruction runs -- */

/* Interrupts stay off here, and a fault in a hit is a different case. */
#define NOT_NESTED	(SNIPPET_SETS_IF | SNIPPET_FAULTS)

static noinline notrace void hit_me(void)
{
	barrier();
}

static int run_in_handler(struct kprobe *kp, struct pt_regs *regs)
{
	run_world();
	return 0;
}

static struct kprobe outer;

static void remove_outer(void *unused)
{
	unregister_kprobe(&outer);
}

/* The stack must not depend on whether a breakpoint or a jump is hit. */
static void add_outer(struct kunit *test)
{
	outer = (struct kprobe) {
		.addr = (kprobe_opcode_t *)hit_me,
		.pre_handler = run_in_handler,
	};
	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&outer));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, remove_outer, NULL));
	wait_for_kprobe_optimizer();
}

static unsigned long count_missed(void)
{
	unsigned long missed = 0;
	unsigned int i;

	for (i = 0; i < lab.nr_probes; i++)
		missed += lab.probe[i].kp.nmissed;
	return missed;
}

static noinline void run_nested(unsigned int state)
{
	make_world(state);
	lab.world.machine.flags &= ~X86_EFLAGS_IF;
	kernel_fpu_begin();
	hit_me();
	kernel_fpu_end();
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

static void insn_same_when_missed(struct kunit *test)
{
	unsigned long missed;
	const char *wrong;
	unsigned int i;

	choose_snippet(test);
	if (lab.snippet->needs & NOT_NESTED)
		kunit_skip(test, "not within a handler");

	stay_on_cpu(test);
	forbid_jumps(test);
	count_hits(test);
	add_outer(test);
	for (i = 0; i < NR_STATES; i++) {
		run_nested(i);
		lab.result[i].after = lab.world;
	}

	add_probes(test, true);
	for (i = 0; i < NR_STATES; i++) {
		missed = count_missed();
		run_nested(i);
		wrong = judge_missed(&lab.result[i].after, lab.result[i].nr_hits,
				     count_missed() - missed);
		if (wrong)
			KUNIT_FAIL_AND_ABORT(test, "%s, nested, state %u of seed %u: %s",
					     lab.snippet->name, i, seed, wrong);
	}
}

/* -- a post_handler that goes on with another stack pointer -- */

static const long stack_moves[] = { 0, -4, -8, -16, -24, -100, -1024, 8, 64, 200 };

static void move_stack(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	regs->sp += stack_move;
}

/* The first snippet does not use its stack, and its first instruction is copied. */
static void insn_post_moves_stack(struct kunit *test)
{
	stack_move = *(const long *)test->param_value;
	lab.snippet = insn_snippets;
	stay_on_cpu(test);
	run_states(test, BARE);

	lab.nr_probes = 0;
	place_probe(lab.snippet->start, insn_len(lab.snippet->start), true);
	lab.probe[0].kp.post_handler = move_stack;
	register_placed(test);
	run_states(test, MOVED);
	/* A tail call would leave less of the stack in front of it. */
	barrier();
}

/* -- jumps in place of breakpoints -- */

/* Summary of a hit: what its pre_handler and its post_handler saw. */
struct brief {
	u32 digest;
	u32 post;
	unsigned int index;
};

/* The result and the log that a run from one state must have. */
struct standard {
	struct world after;
	unsigned int nr;
	struct brief log[MAX_EVENTS / 2];
};

/* One snippet in all rounds. Bit N of a mask is for its probe N. */
struct course {
	struct insn_probe probe[MAX_INSNS];
	unsigned int nr_probes;
	struct standard standard[NR_STATES];
	u64 chosen;		/* probes of this round */
	u64 jumped;		/* probes that have had a jump in any round */
	u64 post_jumped;	/* the same with a post_handler */
	char obstacles[768];	/* why the others have no jump when they are alone */
};

static_assert(MAX_INSNS <= 64);

/* Several rounds of one kind. Every @stride'th instruction has a probe, none if 0. */
struct pass {
	unsigned int stride;
	bool nested;
	const char *(*check)(struct course *c, unsigned int state);
};

/* One of these rounds; the first probe is at the @first instruction. */
struct round {
	const struct pass *pass;
	unsigned int first;
	unsigned long without;	/* snippets that need one of these are left out */
};

static struct {
	struct course *course;
	unsigned int nr;
	struct kprobe **array;
	unsigned int nr_probes;
	bool done;		/* all rounds have been run */
} field;

static void enter_course(struct course *c)
{
	lab.snippet = &insn_snippets[c - field.course];
	lab.probe = c->probe;
	lab.nr_probes = c->nr_probes;
}

/* Go to the next snippet that this CPU can run, except those with @without. */
static struct course *next_course(struct course *c, unsigned long without)
{
	for (c = c ? c + 1 : field.course; c < field.course + field.nr; c++) {
		enter_course(c);
		if (needs_met(lab.snippet) && !(lab.snippet->needs & without))
			return c;
	}

	return NULL;
}

static void place_in_courses(struct kunit *test)
{
	struct course *c = NULL;

	while ((c = next_course(c, 0))) {
		place_probes(test, false);
		c->nr_probes = lab.nr_probes;
	}
}

static void choose_probes(const struct round *round, kprobe_post_handler_t post)
{
	unsigned int i, stride = round->pass->stride ?: MAX_INSNS;
	struct course *c = NULL;

	field.nr_probes = 0;
	while ((c = next_course(c, round->without))) {
		c->chosen = 0;
		i = round->pass->stride ? round->first : MAX_INSNS;
		for (; i < c->nr_probes; i += stride) {
			c->probe[i].kp.post_handler = post;
			c->chosen |= BIT_ULL(i);
			field.array[field.nr_probes++] = &c->probe[i].kp;
		}
	}
}

static void remove_chosen(void *unused)
{
	unregister_kprobes(field.array, field.nr_probes);
}

static void add_chosen(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, register_kprobes(field.array, field.nr_probes));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, remove_chosen, NULL));
	wait_for_kprobe_optimizer();
}

/* Record the result without probes. */
static const char *set_after(struct course *c, unsigned int state)
{
	c->standard[state].after = lab.world;

	return NULL;
}

/* A post_handler also sees where execution continues. */
static u32 digest_post(const struct event *e)
{
	return digest_alone(e) ^ jhash(&e->ip, sizeof(e->ip), 0);
}

/* Record the log with breakpoints, all of them with both handlers. */
static const char *set_log(struct course *c, unsigned int state)
{
	struct standard *standard = &c->standard[state];
	struct brief *brief = standard->log;
	const struct event *e, *end = lab.event + lab.nr_events;

	if (lab.nr_events % 2 || lab.nr_events == MAX_EVENTS)
		return "log: length";

	for (e = lab.event; e < end; e += 2) {
		brief->digest = digest_alone(e);
		brief->post = digest_post(e + 1);
		brief->index = e->index;
		brief++;
	}
	standard->nr = brief - standard->log;

	return NULL;
}

static const char *check_brief_pre(const struct brief *brief, const struct event *e)
{
	if (e->post || e->index != brief->index)
		return "log: hit of another probe";
	if (e->ip != event_addr(e) + 1)
		return "log: ip in a pre_handler";
	if (digest_alone(e) != brief->digest)
		return "log: registers or flags in a pre_handler";
	return NULL;
}

static const char *check_brief_post(const struct brief *brief, const struct event *e)
{
	if (!e->post || e->index != brief->index)
		return "log: no post_handler after a pre_handler";
	if (!e->flat)
		return "log: segment registers of a post_handler";
	if (digest_post(e) != brief->post)
		return "log: ip, registers or flags in a post_handler";
	return NULL;
}

/* The log must be the standard one, without the probes that are missing. */
static const char *check_brief(const struct standard *standard, u64 chosen, bool post)
{
	const struct event *e = lab.event, *end = e + lab.nr_events;
	const struct brief *brief;
	const char *wrong = NULL;

	for (brief = standard->log; brief < standard->log + standard->nr; brief++) {
		if (!(chosen & BIT_ULL(brief->index)))
			continue;
		if (e + post >= end)
			return "log: a hit is missing";
		wrong = check_brief_pre(brief, e++);
		if (!wrong && post)
			wrong = check_brief_post(brief, e++);
		if (wrong)
			return wrong;
	}

	return e == end ? NULL : "log: too many hits";
}

static const char *check_hits(struct course *c, unsigned int state)
{
	const struct standard *standard = &c->standard[state];

	return check_after(&standard->after, &lab.world) ?:
	       check_brief(standard, c->chosen, false);
}

static const char *check_pairs(struct course *c, unsigned int state)
{
	const struct standard *standard = &c->standard[state];

	return check_after(&standard->after, &lab.world) ?:
	       check_brief(standard, c->chosen, true);
}

static unsigned long hits_expected(const struct standard *standard, u64 chosen)
{
	unsigned long hits = 0;
	unsigned int i;

	for (i = 0; i < standard->nr; i++)
		hits += !!(chosen & BIT_ULL(standard->log[i].index));

	return hits;
}

static const char *check_missed(struct course *c, unsigned int state)
{
	const struct standard *standard = &c->standard[state];

	return judge_missed(&standard->after, hits_expected(standard, c->chosen),
			    count_missed());
}

static void forget_missed(void)
{
	unsigned int i;

	for (i = 0; i < lab.nr_probes; i++)
		lab.probe[i].kp.nmissed = 0;
}

/* The runs of all passes come from this one place, so that their stacks are the same. */
static noinline void run_course(struct kunit *test, struct course *c, const struct round *round)
{
	const char *wrong = NULL;
	unsigned int i;

	for (i = 0; !wrong && i < NR_STATES; i++) {
		forget_missed();
		make_world(i);
		if (round->pass->nested)
			run_nested(i);
		else
			run_in_task();
		wrong = round->pass->check(c, i);
		if (wrong)
			KUNIT_FAIL(test, "%s, jumps at %u + %u n, state %u of seed %u: %s",
				   lab.snippet->name, round->first, round->pass->stride, i, seed,
				   wrong);
	}
}

static void note_obstacle(struct course *c, unsigned int n, struct kprobe *point)
{
	struct optimized_kprobe *op = container_of(point, struct optimized_kprobe, kp);
	size_t used = strlen(c->obstacles);
	char why[48];

	arch_explain_optimized_kprobe(op, why, sizeof(why));
	scnprintf(c->obstacles + used, sizeof(c->obstacles) - used, "%s+%td: %s",
		  used ? ", " : "", c->probe[n].kp.addr - lab.snippet->start, why);
}

static const struct arch_optimized_insn *optinsn_at(struct kprobe *point)
{
	return &container_of(point, struct optimized_kprobe, kp)->optinsn;
}

/* Find the probe whose jump also leads to @point. */
static struct kprobe *owner_of(struct kprobe *point)
{
	const struct arch_optimized_insn *optinsn;
	struct kprobe *owner;
	unsigned int at;

	for (at = 1; at < MAX_OPTIMIZED_LENGTH; at++) {
		owner = get_kprobe(point->addr - at);
		optinsn = owner ? optinsn_at(owner) : NULL;
		if (owner && !optinsn->chained && optinsn->sharing & BIT(optinsn->lead + at))
			return owner;
	}

	return NULL;
}

/* A jump that begins before the probe may leave the probe's breakpoint in place. */
static bool has_own_jump(struct kprobe *point)
{
	const struct arch_optimized_insn *optinsn = optinsn_at(point);
	const u8 *end = point->addr - optinsn->lead + optinsn->size;
	s32 disp;

	if (!optinsn->lead)
		return *point->addr != INT3_INSN_OPCODE;
	memcpy(&disp, end - sizeof(disp), sizeof(disp));

	return end + disp == optinsn->insn + optinsn->copy_at[0];
}

static bool has_jump(struct kprobe *point)
{
	if (optinsn_at(point)->chained)
		point = owner_of(point);

	return point && has_own_jump(point);
}

/* A reported jump must be in the text, and no jump may be incomplete. */
static bool note_jump(struct kunit *test, struct course *c, unsigned int n, bool alone)
{
	bool post = c->probe[n].kp.post_handler;
	struct kprobe *point = get_kprobe(c->probe[n].kp.addr);
	bool jump = has_jump(point);

	KUNIT_EXPECT_EQ_MSG(test, jump, !!(point->flags & KPROBE_FLAG_OPTIMIZED), "%s+%td",
			    lab.snippet->name, c->probe[n].kp.addr - lab.snippet->start);
	if (jump && post)
		c->post_jumped |= BIT_ULL(n);
	else if (jump)
		c->jumped |= BIT_ULL(n);
	else if (alone && !post)
		note_obstacle(c, n, point);

	return jump;
}

static void note_jumps(struct kunit *test, const struct round *round)
{
	unsigned int i, jumps = 0, stride = round->pass->stride;
	struct course *c = NULL;

	while ((c = next_course(c, round->without))) {
		for (i = 0; i < c->nr_probes; i++) {
			if (c->chosen & BIT_ULL(i))
				jumps += note_jump(test, c, i, stride == MAX_INSNS);
		}
	}
	kunit_info(test, "%u + %u n: %u of %u probes have a jump%s\n", round->first, stride, jumps,
		   field.nr_probes, round->pass->check == check_pairs ? " and post_handlers" : "");
}

static void run_round(struct kunit *test, const struct round *round)
{
	bool bare = !round->pass->stride, traps = round->pass->check == set_log;
	bool post = traps || round->pass->check == check_pairs;
	struct course *c = NULL;

	choose_probes(round, post ? log_post : NULL);
	if (!bare && !field.nr_probes)
		return;

	if (traps)
		forbid_jumps(test);
	if (!bare)
		add_chosen(test);
	if (!bare && !traps)
		note_jumps(test, round);
	while ((c = next_course(c, round->without))) {
		if (bare || c->chosen)
			run_course(test, c, round);
	}
	if (!bare)
		kunit_release_action(test, remove_chosen, NULL);
	if (traps)
		kunit_release_action(test, allow_jumps, NULL);
}

/* Run passes up to the one that checks nothing. */
static void run_passes(struct kunit *test, const struct pass *pass, unsigned long without)
{
	struct round round = { .without = without };

	for (; pass->check; pass++) {
		round.pass = pass;
		for (round.first = 0; round.first < max(pass->stride, 1); round.first++)
			run_round(test, &round);
	}
}

static void insn_same_with_jumps(struct kunit *test)
{
	static const struct pass passes[] = {
		{ 0, false, set_after },
		{ 1, false, set_log },
		{ 1, false, check_hits },
		{ 2, false, check_hits },
		{ 3, false, check_hits },
		{ 4, false, check_hits },
		{ MAX_INSNS, false, check_hits },
		{ 1, false, check_pairs },
		{ 2, false, check_pairs },
		{ 4, false, check_pairs },
		{ MAX_INSNS, false, check_pairs },
		{}
	};

	stay_on_cpu(test);
	place_in_courses(test);
	run_passes(test, passes, SNIPPET_COMPUTED);
	field.done = true;
}

static void insn_same_when_missed_with_jumps(struct kunit *test)
{
	static const struct pass passes[] = {
		{ 1, false, set_log },
		{ 0, true, set_after },
		{ 1, true, check_missed },
		{ 3, true, check_missed },
		{ 8, true, check_missed },
		{}
	};

	stay_on_cpu(test);
	place_in_courses(test);
	add_outer(test);
	run_passes(test, passes, NOT_NESTED | SNIPPET_COMPUTED);
}

/* Report which instructions of a snippet were never reached by a jump. */
static void insn_jumped(struct kunit *test)
{
	const struct course *c;

	choose_snippet(test);
	c = &field.course[lab.snippet - insn_snippets];
	if (!field.done || lab.snippet->needs & SNIPPET_COMPUTED)
		kunit_skip(test, "there have been no rounds with jumps");

	kunit_info(test, "%u of %u instructions with a jump, %u with a post_handler%s%s\n",
		   (unsigned int)hweight64(c->jumped), c->nr_probes,
		   (unsigned int)hweight64(c->post_jumped), c->obstacles[0] ? "; without: " : "",
		   c->obstacles);
	KUNIT_EXPECT_EQ(test, !c->jumped, !!(lab.snippet->needs & SNIPPET_BACKWARDS));
}

/* Percentage of all instructions; with fewer, not much was tested. */
#define MIN_JUMPED	80
/* Percentage of those that have a jump without a post_handler. */
#define MIN_POST_JUMPED	95

static void insn_most_jumped(struct kunit *test)
{
	unsigned int all = 0, jumped = 0, post = 0;
	struct course *c = NULL;

	if (!field.done)
		kunit_skip(test, "there have been no rounds with jumps");
	while ((c = next_course(c, 0))) {
		all += c->nr_probes;
		jumped += hweight64(c->jumped);
		post += hweight64(c->post_jumped);
	}
	kunit_info(test,
		   "%u of %u instructions in %u snippets have had a jump, %u with a post_handler\n",
		   jumped, all, field.nr, post);
	KUNIT_EXPECT_GE(test, 100 * jumped, MIN_JUMPED * all);
	KUNIT_EXPECT_GE(test, 100 * post, MIN_POST_JUMPED * jumped);
}

/* -- instructions that must be refused -- */

static void expect_refused(struct kunit *test, u8 *addr, int err, const char *what)
{
	struct kprobe kp = { .addr = addr, .pre_handler = log_pre };
	int ret = register_kprobe(&kp);

	KUNIT_EXPECT_EQ_MSG(test, ret, err, "%s+%td", what, addr - lab.snippet->start);
	if (!ret)
		unregister_kprobe(&kp);
	else
		KUNIT_EXPECT_PTR_EQ(test, kp.addr, addr);
}

static void insn_refused_form(struct kunit *test)
{
	u8 text[16];

	lab.snippet = test->param_value;
	memcpy(text, lab.snippet->start, lab.snippet->size);
	expect_refused(test, lab.snippet->start, -EOPNOTSUPP, lab.snippet->name);
	KUNIT_EXPECT_MEMEQ(test, text, lab.snippet->start, lab.snippet->size);
}

/* With or without a probe there, only the first byte of an instruction may be probed. */
static void refuse_inner_bytes(struct kunit *test)
{
	u8 *addr = lab.snippet->start;
	unsigned int i, j;

	for (i = 0; i < lab.nr_probes; i++) {
		addr = lab.probe[i].kp.addr;
		for (j = 1; j < lab.probe[i].len; j++)
			expect_refused(test, addr + j, -EILSEQ, lab.snippet->name);
	}
}

static void insn_boundaries(struct kunit *test)
{
	lab.snippet = test->param_value;
	lab.probe = lab.own_probes;
	place_probes(test, false);
	refuse_inner_bytes(test);
	add_probes(test, false);
	refuse_inner_bytes(test);
	wait_for_kprobe_optimizer();
	refuse_inner_bytes(test);
}

/* -- the suite -- */

static const void *next_of(struct snippet *first, struct snippet *end, const void *prev,
			   char *desc)
{
	const struct snippet *s = prev ? (const struct snippet *)prev + 1 : first;

	if (s >= end)
		return NULL;
	strscpy(desc, s->name, KUNIT_PARAM_DESC_SIZE);
	return s;
}

static const void *next_snippet(const void *prev, char *desc)
{
	return next_of(insn_snippets, insn_snippets_end, prev, desc);
}

/* The boundaries are found in the same way in each snippet, so some are enough. */
static const void *next_of_some(const void *prev, char *desc)
{
	unsigned int i;

	for (i = 0; prev && i < 8; i++)
		prev = next_snippet(prev, desc) ?: insn_snippets_end;
	return prev ? next_snippet(prev, desc) : next_snippet(NULL, desc);
}

static const void *next_refused(const void *prev, char *desc)
{
	return next_of(insn_refused, insn_refused_end, prev, desc);
}

static const void *next_stack_move(const void *prev, char *desc)
{
	const long *move = prev ? (const long *)prev + 1 : stack_moves;

	if (move == stack_moves + ARRAY_SIZE(stack_moves))
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%ld", *move);
	return move;
}

static u8 *text_copy;

static size_t text_size(void)
{
	struct snippet *last = insn_snippets_end - 1;

	return last->start + last->size - insn_snippets[0].start;
}

static void insn_suite_exit(struct kunit_suite *suite)
{
	kfree(text_copy);
	kvfree(field.course);
	kvfree(field.array);
	text_copy = NULL;
	memset(&field, 0, sizeof(field));
}

static int insn_suite_init(struct kunit_suite *suite)
{
	pr_info("seed %u\n", seed);
	text_copy = kmemdup(insn_snippets[0].start, text_size(), GFP_KERNEL);
	field.nr = insn_snippets_end - insn_snippets;
	field.course = kvcalloc(field.nr, sizeof(*field.course), GFP_KERNEL);
	field.array = kvcalloc(field.nr * MAX_INSNS, sizeof(*field.array), GFP_KERNEL);
	if (text_copy && field.course && field.array)
		return 0;
	insn_suite_exit(suite);

	return -ENOMEM;
}

static void check_text(void *context)
{
	struct kunit *test = context;

	KUNIT_EXPECT_EQ_MSG(test, 0, memcmp(text_copy, insn_snippets[0].start, text_size()),
			    "text left changed");
}

/* Actions run in reverse order, so this runs when all probes are gone. */
static int insn_test_init(struct kunit *test)
{
	return kunit_add_action(test, check_text, test);
}

static struct kunit_case insn_test_cases[] = {
	KUNIT_CASE_PARAM(insn_same_with_probes, next_snippet),
	KUNIT_CASE_PARAM(insn_same_when_missed, next_snippet),
	KUNIT_CASE_PARAM(insn_post_moves_stack, next_stack_move),
	KUNIT_CASE_SLOW(insn_same_with_jumps),
	KUNIT_CASE_SLOW(insn_same_when_missed_with_jumps),
	KUNIT_CASE_PARAM(insn_jumped, next_snippet),
	KUNIT_CASE(insn_most_jumped),
	KUNIT_CASE_PARAM(insn_refused_form, next_refused),
	KUNIT_CASE_PARAM_ATTR(insn_boundaries, next_of_some, { .speed = KUNIT_SPEED_SLOW }),
	{}
};

static struct kunit_suite insn_test_suite = {
	.name = "kprobes_x86_insn",
	.suite_init = insn_suite_init,
	.suite_exit = insn_suite_exit,
	.init = insn_test_init,
	.test_cases = insn_test_cases,
};

kunit_test_suite(insn_test_suite);
