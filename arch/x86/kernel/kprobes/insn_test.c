// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does a probe change what the probed code does?
 *
 * insn_engine.h runs the snippets of insn_snippets.S with a probe on every one of their
 * instructions.
 *
 * Then jumps replace breakpoints. The contents of a detour depend on which instructions
 * near one another are probed, so there are rounds with some of the probes. All snippets
 * take part in a round, because they can wait together for their jumps.
 */
#define pr_fmt(fmt) "kprobes_x86_insn: " fmt

#include <linux/kprobes_port.h>
#include <linux/percpu.h>
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/insn.h>
#include <asm/insn-eval.h>
#include <asm/processor-flags.h>
#include <asm/segment.h>
#include "detour.h"
#include "insn_test.h"
#include "../../../../lib/test_kprobes/insn_engine.h"

/* Registers with a given meaning in a snippet, see insn_snippets.S. */
#define GPR_MEM		3
#define GPR_SP		4
#define GPR_PERCPU	(IS_ENABLED(CONFIG_X86_64) ? 12 : 6)
#define GPR_SMALL	(IS_ENABLED(CONFIG_X86_64) ? 13 : 5)

static_assert(offsetof(struct machine, gpr) == MACHINE_GPR);
static_assert(offsetof(struct machine, flags) == MACHINE_FLAGS);
static_assert(offsetof(struct machine, xmm) == MACHINE_XMM);
static_assert(offsetof(struct machine, stack) == MACHINE_STACK);

DECLARE_PER_CPU(u64 [INSN_TEST_PERCPU], insn_test_percpu);
DEFINE_PER_CPU(u64 [INSN_TEST_PERCPU], insn_test_percpu);

/* -- what the handlers log -- */

/* On 32 bits C uses these segments for its memory, and the snippet may have changed them. */
static bool segments_are_flat(void)
{
	unsigned int ds, es;

	savesegment(ds, ds);
	savesegment(es, es);
	return IS_ENABLED(CONFIG_X86_64) || (ds == __USER_DS && es == __USER_DS);
}

static void log_regs(struct event *e, struct pt_regs *regs)
{
	unsigned int i;

	if (!segments_are_flat())
		lab.unfit = "the segment registers of a handler";
	e->flags = regs->flags & ~X86_EFLAGS_RF;
	for (i = 0; i < INSN_TEST_GPRS; i++)
		e->gpr[i] = regs_get_register(regs, pt_regs_offset(regs, i));
}

#define ARITHMETIC_FLAGS	(X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF | X86_EFLAGS_ZF | \
				 X86_EFLAGS_SF | X86_EFLAGS_OF)

/* A detour returns like the kernel, which may count returns: then no flag is reliable. */
static unsigned long kept_flags(unsigned long flags)
{
	return cpu_feature_enabled(X86_FEATURE_CALL_DEPTH) ? flags & ~ARITHMETIC_FLAGS : flags;
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
			place_probe(addr, post);
	}
	KUNIT_ASSERT_PTR_EQ(test, addr, end);
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

/* The distance by which a post_handler moves the stack pointer, see move_stack(). */
static long stack_move;

static void set_gprs(struct machine *m)
{
	m->gpr[GPR_MEM] = (unsigned long)&insn_test_mem[MEM_WORDS / 2];
	m->gpr[GPR_PERCPU] = (unsigned long)&insn_test_percpu;
	m->gpr[GPR_SMALL] &= 7;
}

/* All 32 combinations of the flags that conditions test, the other flags at random. */
static void set_flags(struct machine *m, unsigned int state)
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

static void set_machine(struct machine *m, unsigned int state)
{
	set_gprs(m);
	set_flags(m, state);
}

static void run_snippet(void)
{
	struct machine *m = &lab.world.machine;

	memcpy(this_cpu_ptr(&insn_test_percpu), m->percpu, sizeof(m->percpu));
	insn_test_run(m, lab.snippet->start);
	memcpy(m->percpu, this_cpu_ptr(&insn_test_percpu), sizeof(m->percpu));
	m->gpr[GPR_SP] -= stack_move;
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

static noinline void run_nested(unsigned int state)
{
	make_world(state);
	lab.world.machine.flags &= ~X86_EFLAGS_IF;
	kernel_fpu_begin();
	hit_me();
	kernel_fpu_end();
}

/* -- the checks -- */

static const char *reg_name(unsigned int nr)
{
	static const char * const names[] = {
		"ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8", "r9", "r10", "r11", "r12",
		"r13", "r14", "r15"
	};

	return names[nr];
}

static const char *check_after(const struct world *want, const struct world *have)
{
	const struct machine *a = &want->machine, *b = &have->machine;
	const char *wrong = differing_reg(a, b) ?: differing_memory(want, have);

	if (wrong)
		return wrong;
	if (kept_flags(a->flags) != kept_flags(b->flags) &&
	    !(lab.snippet->needs & SNIPPET_VOLATILE))
		return "flags";
	if (memcmp(a->xmm, b->xmm, sizeof(a->xmm)))
		return "vector registers";
	if (memcmp(a->percpu, b->percpu, sizeof(a->percpu)))
		return "per-CPU memory";
	return NULL;
}

/* The stack pointer is that of the call in run_snippet(). */
static void complete_start(struct machine *start, const struct event *first)
{
	start->gpr[GPR_SP] = first->gpr[GPR_SP];
}

static bool has_gaps(const struct snippet *snippet)
{
	return false;
}

static unsigned long snippet_end(void)
{
	return (unsigned long)insn_test_exit;
}

/* -- the same with probes -- */

static bool needs_met(const struct snippet *s)
{
	if (s->needs & SNIPPET_CX16 && !boot_cpu_has(X86_FEATURE_CX16))
		return false;
	if (s->needs & SNIPPET_AVX && !cpu_has_xfeatures(XFEATURE_MASK_YMM, NULL))
		return false;
	return true;
}

static void choose_snippet(struct kunit *test)
{
	lab.snippet = test->param_value;
	if (!needs_met(lab.snippet))
		kunit_skip(test, "this CPU cannot run it");
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

/* Interrupts stay off here, and a fault in a hit is a different case. */
#define NOT_NESTED	(SNIPPET_SETS_IF | SNIPPET_FAULTS)

static void insn_same_when_missed(struct kunit *test)
{
	choose_snippet(test);
	if (lab.snippet->needs & NOT_NESTED)
		kunit_skip(test, "not within a handler");

	forbid_jumps(test);
	run_bare(test);
	run_missed(test);
}

/* -- a post_handler that goes on with another stack pointer -- */

static const long stack_moves[] = { 0, -4, -8, -16, -24, -100, -1024, 8, 64, 200 };

static void move_stack(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	regs->sp += stack_move;
}

static void forget_move(void *unused)
{
	stack_move = 0;
}

/* The first snippet does not use its stack, and its first instruction is copied. */
static void insn_post_moves_stack(struct kunit *test)
{
	lab.snippet = insn_snippets;
	stay_on_cpu(test);
	run_states(test, BARE);

	stack_move = *(const long *)test->param_value;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, forget_move, NULL));
	lab.nr_probes = 0;
	place_probe(lab.snippet->start, true);
	lab.probe[0].post_handler = move_stack;
	register_placed(test);
	run_states(test, SOME);
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
	struct kprobe probe[MAX_INSNS];
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
			c->probe[i].post_handler = post;
			c->chosen |= BIT_ULL(i);
			field.array[field.nr_probes++] = &c->probe[i];
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
	return digest_alone(e) ^ jhash(&e->pc, sizeof(e->pc), 0);
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
	if (e->pc != event_addr(e) + INSN_TEST_BREAK)
		return "log: instruction pointer in a pre_handler";
	if (digest_alone(e) != brief->digest)
		return "log: registers or flags in a pre_handler";
	return NULL;
}

static const char *check_brief_post(const struct brief *brief, const struct event *e)
{
	if (!e->post || e->index != brief->index)
		return "log: no post_handler after a pre_handler";
	if (digest_post(e) != brief->post)
		return "log: instruction pointer, registers or flags in a post_handler";
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
		lab.probe[i].nmissed = 0;
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
		wrong = round->pass->check(c, i) ?: lab.unfit;
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

	kprobe_explain_obstacle(op, why, sizeof(why));
	scnprintf(c->obstacles + used, sizeof(c->obstacles) - used, "%s+%td: %s",
		  used ? ", " : "", c->probe[n].addr - lab.snippet->start, why);
}

/* Find the probe whose jump also leads to @point. */
static struct kprobe *owner_of(struct kprobe *point)
{
	const struct arch_optimized_insn *optinsn;
	struct kprobe *owner;
	unsigned int at;

	for (at = 1; at < JMP32_INSN_SIZE; at++) {
		owner = get_kprobe(point->addr - at);
		optinsn = owner ? optinsn_of(owner) : NULL;
		if (owner && !optinsn->chained && optinsn->sharing & BIT(optinsn->lead + at))
			return owner;
	}

	return NULL;
}

/* A jump that begins before the probe may leave the probe's breakpoint in place. */
static bool has_own_jump(struct kprobe *point)
{
	const struct arch_optimized_insn *optinsn = optinsn_of(point);
	const u8 *end = point->addr - optinsn->lead + JMP32_INSN_SIZE;
	s32 disp;

	if (!optinsn->lead)
		return *point->addr != INT3_INSN_OPCODE;
	memcpy(&disp, end - sizeof(disp), sizeof(disp));

	return end + disp == optinsn->insn + optinsn->copy_at[0];
}

static bool has_jump(struct kprobe *point)
{
	if (optinsn_of(point)->chained)
		point = owner_of(point);

	return point && has_own_jump(point);
}

/* A reported jump must be in the text, and no jump may be incomplete. */
static bool note_jump(struct kunit *test, struct course *c, unsigned int n, bool alone)
{
	bool post = c->probe[n].post_handler;
	struct kprobe *point = get_kprobe(c->probe[n].addr);
	bool jump = has_jump(point);

	KUNIT_EXPECT_EQ_MSG(test, jump, !!(point->flags & KPROBE_FLAG_OPTIMIZED), "%s+%td",
			    lab.snippet->name, c->probe[n].addr - lab.snippet->start);
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

/*
 * Percentage of all instructions; with fewer, not much was tested. Without IBT an indirect jump
 * may lead anywhere in its function.
 */
#define MIN_JUMPED	(IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 79 : 55)
/* Percentage of those that have a jump without a post_handler. */
#define MIN_POST_JUMPED	95

static void insn_most_jumped(struct kunit *test)
{
	unsigned int all = 0, jumped = 0, post = 0, least;
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
	/*
	 * With call depth tracking a call has no jump, with LFENCE before indirect branches one by
	 * memory has none; nor has what is just before it.
	 */
	least = MIN_JUMPED;
	if (cpu_feature_enabled(X86_FEATURE_CALL_DEPTH) ||
	    cpu_feature_enabled(X86_FEATURE_RETPOLINE_LFENCE))
		least -= 10;
	KUNIT_EXPECT_GE(test, 100 * jumped, least * all);
	KUNIT_EXPECT_GE(test, 100 * post, MIN_POST_JUMPED * jumped);
}

/* -- instructions that must be refused -- */

static void insn_refused_form(struct kunit *test)
{
	u8 text[16];

	lab.snippet = test->param_value;
	memcpy(text, lab.snippet->start, lab.snippet->size);
	expect_refused(test, lab.snippet->start, -EOPNOTSUPP);
	KUNIT_EXPECT_MEMEQ(test, text, lab.snippet->start, lab.snippet->size);
}

/* With or without a probe there, only the first byte of an instruction may be probed. */
static void refuse_inner_bytes(struct kunit *test)
{
	unsigned int i, j, len;
	u8 *addr;

	for (i = 0; i < lab.nr_probes; i++) {
		addr = lab.probe[i].addr;
		/* There may be breakpoints and jumps in the text itself. */
		len = insn_len(text_copy + (addr - insn_snippets[0].start));
		for (j = 1; j < len; j++)
			expect_refused(test, addr + j, -EILSEQ);
	}
}

static void insn_boundaries(struct kunit *test)
{
	lab.snippet = test->param_value;
	place_probes(test, false);
	refuse_inner_bytes(test);
	add_probes(test, false);
	refuse_inner_bytes(test);
	wait_for_kprobe_optimizer();
	refuse_inner_bytes(test);
}

/* The boundaries are found in the same way in each snippet, so some are enough. */
static KUNIT_GENERATOR(next_of_some)
{
	unsigned int i;

	for (i = 0; prev && i < 8; i++)
		prev = snippet_behind(prev, insn_snippets, insn_snippets_end, desc) ?:
		       insn_snippets_end;
	return snippet_behind(prev, insn_snippets, insn_snippets_end, desc);
}

static KUNIT_GENERATOR(next_refused)
{
	return snippet_behind(prev, insn_refused, insn_refused_end, desc);
}

static void describe_move(const long *move, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%ld", *move);
}

KUNIT_ARRAY_PARAM(stack_move, stack_moves, describe_move);

static void jumps_suite_exit(struct kunit_suite *suite)
{
	kvfree(field.course);
	kvfree(field.array);
	memset(&field, 0, sizeof(field));
	insn_suite_exit(suite);
}

static int jumps_suite_init(struct kunit_suite *suite)
{
	field.nr = insn_snippets_end - insn_snippets;
	field.course = kvcalloc(field.nr, sizeof(*field.course), GFP_KERNEL);
	field.array = kvcalloc(field.nr * MAX_INSNS, sizeof(*field.array), GFP_KERNEL);
	if (field.course && field.array && !insn_suite_init(suite))
		return 0;
	jumps_suite_exit(suite);

	return -ENOMEM;
}

static struct kunit_case insn_test_cases[] = {
	KUNIT_CASE_PARAM(insn_same_with_probes, next_snippet),
	KUNIT_CASE_PARAM(insn_same_when_missed, next_snippet),
	KUNIT_CASE_PARAM(insn_post_moves_stack, stack_move_gen_params),
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
	.suite_init = jumps_suite_init,
	.suite_exit = jumps_suite_exit,
	.init = insn_test_init,
	.test_cases = insn_test_cases,
};

kunit_test_suite(insn_test_suite);
