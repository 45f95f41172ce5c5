// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that a probe does not change what the probed code does.
 *
 * insn_engine.h runs the snippets of insn_snippets.S with a probe on every one of their
 * instructions.
 *
 * Then probes get jumps where possible, as many at a time as do not overlap, without
 * post_handlers and with them. A handler must see the same registers as with breakpoints,
 * except for those that are free there: this jump, or one before it, may have overwritten them.
 *
 * The same is done with instructions taken from the kernel's text, one at a time,
 * among those that are copied.
 */
#define pr_fmt(fmt) "kprobes_riscv_insn: " fmt

#include <linux/bitmap.h>
#include <linux/hash.h>
#include <linux/kprobes_port.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/vmalloc.h>
#include <asm/bug.h>
#include <asm/kprobes_base.h>
#include <asm/sections.h>

#include "common.h"
#include "decode-insn.h"
#include "insn_test.h"
#include "../../../../lib/test_kprobes/insn_engine.h"

/* Registers with defined contents at the start of a snippet, see insn_snippets.S. */
#define GPR_SP		2
#define GPR_GP		3
#define GPR_TP		4
#define GPR_MEM		9
#define GPR_A2		12
#define GPR_A3		13
#define GPR_A4		14
#define GPR_A5		15
#define GPR_START	31

static_assert(offsetof(struct machine, stack) == MACHINE_STACK);

/* Each place has a state of its own. */
static_assert(INSN_TEST_PLACES <= NR_STATES);

/* The register with the address of the memory, and what is to be subtracted from it. */
static unsigned int mem_base;
static long mem_offset;

/* -- what the handlers log -- */

static void log_regs(struct event *e, struct pt_regs *regs)
{
	e->flags = regs_irqs_disabled(regs);
	memcpy(e->gpr, regs, sizeof(e->gpr));
	e->gpr[0] = 0;
}

static unsigned long kept_flags(unsigned long flags)
{
	return flags;
}

/* -- the probes -- */

static u32 read_insn(const void *addr)
{
	const u16 *parcel = addr;

	return GET_INSN_LENGTH(*parcel) == 2 ? *parcel : (u32)parcel[1] << 16 | *parcel;
}

/* Probe every instruction of the snippet, except those within a reservation. */
static void place_probes(struct kunit *test, bool post)
{
	void *addr = lab.snippet->start, *end = addr + lab.snippet->size;
	bool reserved = false;
	u32 insn;

	lab.nr_probes = 0;
	for (; addr < end; addr += insn_len(insn)) {
		insn = read_insn(addr);
		KUNIT_ASSERT_LT(test, lab.nr_probes, MAX_INSNS);
		reserved |= kprobe_insn_is_lr(insn);
		if (!reserved)
			place_probe(addr, post);
		reserved &= !kprobe_insn_ends_reservation(insn);
	}
	KUNIT_ASSERT_PTR_EQ(test, addr, end);
}

static void add_probes(struct kunit *test, bool post)
{
	place_probes(test, post);
	register_placed(test);
}

/* -- a run -- */

/* An interrupt would break a reservation and change the sequence of hits. */
static void set_machine(struct machine *m, unsigned int state)
{
	m->flags = state & 2 || lab.snippet->needs & SNIPPET_GAPS;
	m->gpr[0] = 0;
	m->gpr[GPR_A2] &= 3;
	m->gpr[GPR_A3] &= 3;
	if (state & 1)
		m->gpr[GPR_A5] = m->gpr[GPR_A4];
	m->gpr[mem_base] = (unsigned long)&insn_test_mem[MEM_WORDS / 2] - mem_offset;
}

static void run_snippet(void)
{
	insn_test_run(&lab.world.machine, lab.snippet->start);
}

static noinline void run_in_task(void)
{
	bool off = lab.world.machine.flags;
	unsigned long flags = 0;

	if (off)
		local_irq_save(flags);
	run_world();
	if (off)
		local_irq_restore(flags);
}

static noinline void run_nested(unsigned int state)
{
	make_world(state);
	hit_me();
}

/* -- the checks -- */

static const char *reg_name(unsigned int nr)
{
	static char name[8];

	snprintf(name, sizeof(name), "x%u", nr);
	return name;
}

static const char *check_after(const struct world *want, const struct world *have)
{
	return differing_reg(&want->machine, &have->machine) ?: differing_memory(want, have);
}

static void complete_start(struct machine *start, const struct event *first)
{
	start->gpr[GPR_SP] = first->gpr[GPR_SP];
	start->gpr[GPR_GP] = first->gpr[GPR_GP];
	start->gpr[GPR_TP] = (unsigned long)current;
	start->gpr[GPR_START] = (unsigned long)lab.snippet->start;
}

static bool has_gaps(const struct snippet *snippet)
{
	return snippet->needs & SNIPPET_GAPS;
}

static unsigned long snippet_end(void)
{
	return (unsigned long)lab.snippet->start + lab.snippet->size;
}

/* -- the same with probes -- */

static void use_snippet(const struct snippet *snippet)
{
	lab.snippet = snippet;
	mem_base = GPR_MEM;
	mem_offset = 0;
}

/* Failure R3: the ebreak behind a copy in its slot, for copies of both lengths. */
static void insn_same_with_probes(struct kunit *test)
{
	use_snippet(test->param_value);
	stay_on_cpu(test);
	run_states(test, BARE);
	run_probed(test, BOTH);
	run_probed(test, PRE);
}

static void insn_same_when_missed(struct kunit *test)
{
	use_snippet(test->param_value);
	if (lab.snippet->needs & (SNIPPET_SETS_IE | SNIPPET_FAULTS))
		kunit_skip(test, "not within a handler");

	run_bare(test);
	run_missed(test);
}

/* -- the same with jumps -- */

#ifdef CONFIG_OPTPROBES

/* Instructions from one probe to the next, enough that no jump covers both. */
#define JUMP_STEP	(MAX_OPTIMIZED_LENGTH / 2)
#define MIN_JUMPS	100

static unsigned int nr_jumps[2];	/* without post_handlers, and with them */

/* The registers that are free at each parcel of the snippet. */
static u32 free_regs[2 * MAX_INSNS];

/* Digests of the log of pre_handlers and of post_handlers in each state, by breakpoint. */
static u32 break_ways[2][NR_STATES];

static void thin_out_probes(unsigned int first)
{
	unsigned int i, nr = 0;

	for (i = first; i < lab.nr_probes; i += JUMP_STEP) {
		if (i != nr)
			lab.probe[nr] = lab.probe[i];
		nr++;
	}
	lab.nr_probes = nr;
}

static void learn_free_regs(void)
{
	unsigned long addr = (unsigned long)lab.snippet->start, at;

	guard(mutex)(&kprobe_mutex);
	guard(mutex)(&text_mutex);
	for (at = 0; at < lab.snippet->size; at += insn_len(read_insn((void *)addr + at)))
		free_regs[at / 2] = kprobe_free_regs(addr + at);
}

/* Jumps overwrite registers that are free; what is free outside is not known. */
static u32 free_at(unsigned long pc)
{
	unsigned long at = pc - (unsigned long)lab.snippet->start;

	return at < lab.snippet->size ? free_regs[at / 2] : ALL_REGS;
}

static u32 digest_but_free(bool post)
{
	unsigned int i, reg;
	u32 digest = 0;

	for (i = 0; i < lab.nr_events; i++) {
		struct event e = lab.event[i];

		if (e.post != post)
			continue;
		for (reg = 1; reg < INSN_TEST_GPRS; reg++) {
			if (free_at(e.pc) & BIT(reg))
				e.gpr[reg] = 0;
		}
		digest = jhash(&e.pc, sizeof(e.pc), digest_event(&e, digest));
	}

	return digest;
}

/* How the probes are reached in a run; the others must have the results of the first two. */
enum reach {
	NOT_PROBED,
	BY_BREAKPOINT,
	BY_JUMP,
	BY_JUMP_WITH_POST,
};

static bool has_post(enum reach reach)
{
	return reach == BY_BREAKPOINT || reach == BY_JUMP_WITH_POST;
}

/* Thinned out, so the next probe may not be at the next instruction. */
static const char *check_events(enum reach reach)
{
	unsigned int i, step = has_post(reach) ? 2 : 1;
	const char *wrong = NULL;

	if (lab.nr_events % step)
		return "log: odd";
	for (i = 0; !wrong && i < lab.nr_events; i += step) {
		const struct event *e = &lab.event[i];

		wrong = check_pre(e);
		if (!wrong && step == 2 && (!e[1].post || e[1].index != e->index))
			wrong = "log: no post_handler after a pre_handler";
	}

	return wrong;
}

static const char *judge_reach(enum reach reach, unsigned int state)
{
	const char *wrong;
	unsigned int post;

	if (reach == NOT_PROBED) {
		lab.result[state].after = lab.world;
		return NULL;
	}
	wrong = check_after(&lab.result[state].after, &lab.world) ?: check_events(reach);
	for (post = 0; !wrong && post <= has_post(reach); post++) {
		u32 way = digest_but_free(post);

		if (reach == BY_BREAKPOINT)
			break_ways[post][state] = way;
		else if (way != break_ways[post][state])
			wrong = "log: not the same as by breakpoint";
	}

	return wrong;
}

static void run_state_by(struct kunit *test, unsigned int state, enum reach reach)
{
	static const char * const names[] = {
		"no probe", "breakpoint", "jump", "jump with post_handler"
	};
	const char *wrong;

	make_world(state);
	run_in_task();
	wrong = judge_reach(reach, state);
	if (wrong)
		KUNIT_FAIL_AND_ABORT(test, "%s, by %s, state %u of seed %u: %s", lab.snippet->name,
				     names[reach], state, seed, wrong);
}

static void allow_jumps(void *unused)
{
	kprobe_optimize_set_knob(true);
}

static void add_thinned(struct kunit *test, unsigned int first, enum reach reach)
{
	unsigned int i;

	place_probes(test, has_post(reach));
	thin_out_probes(first);
	for (i = 0; i < lab.nr_probes; i++)
		lab.array[i] = &lab.probe[i];
	if (!lab.nr_probes)
		return;
	kprobe_optimize_set_knob(reach != BY_BREAKPOINT);
	register_placed(test);

	wait_for_kprobe_optimizer();
	for (i = 0; i < lab.nr_probes; i++) {
		struct kprobe *p = get_kprobe(lab.probe[i].addr);
		bool jump = container_of(p, struct optimized_kprobe, kp)->optinsn.jump;

		if (reach == BY_BREAKPOINT)
			KUNIT_EXPECT_FALSE(test, jump);
		nr_jumps[has_post(reach)] += jump;
	}
}

static noinline void run_thinned(struct kunit *test, unsigned int first, enum reach reach)
{
	unsigned int i;

	if (reach != NOT_PROBED)
		add_thinned(test, first, reach);
	for (i = 0; i < NR_STATES; i++)
		run_state_by(test, i, reach);
	if (reach != NOT_PROBED && lab.nr_probes)
		kunit_release_action(test, remove_probes, NULL);
}

static void insn_same_by_jumps(struct kunit *test)
{
	unsigned int first;

	use_snippet(test->param_value);
	stay_on_cpu(test);
	learn_free_regs();
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, allow_jumps, NULL));
	run_thinned(test, 0, NOT_PROBED);
	for (first = 0; first < JUMP_STEP; first++) {
		run_thinned(test, first, BY_BREAKPOINT);
		run_thinned(test, first, BY_JUMP);
		run_thinned(test, first, BY_JUMP_WITH_POST);
	}
}

/* The cases above must have had some jumps. */
static void insn_jumps_made(struct kunit *test)
{
	kunit_info(test, "%u jumps, %u with a post_handler\n", nr_jumps[0], nr_jumps[1]);
	KUNIT_EXPECT_GE(test, nr_jumps[0], MIN_JUMPS);
	KUNIT_EXPECT_EQ(test, nr_jumps[0], nr_jumps[1]);
}

#endif /* CONFIG_OPTPROBES */

/* -- the same for instructions picked from the kernel -- */

/* Take one instruction of each hash value of this many bits. */
#define PICK_BITS	10
#define MIN_PICKS	200

#define C_NOP		0x0001

/* An instruction, and its place in insn_snippets.S. */
struct pick {
	struct snippet snippet;
	char name[16];
	u32 insn;
	unsigned int rd;	/* register written, if any */
	unsigned int base;	/* register with an address */
	long offset;
};

static struct pick picks[INSN_TEST_PLACES];
static unsigned int nr_picks;

/*
 * Loads, stores, atomic accesses, multiplication and division. Text has data, too, such as clang's
 * hashes of types, which may look like an access of a width that there is not.
 */
static bool find_operands(struct pick *pick)
{
	u32 insn = pick->insn, width = insn >> 12 & 7;

	pick->rd = insn >> 7 & 0x1f;
	pick->base = insn >> 15 & 0x1f;
	pick->offset = 0;

	switch (insn & 0x7f) {
	case 0x03:
		pick->offset = (s32)insn >> 20;
		return width < 7;
	case 0x23:
		pick->offset = (long)((s32)insn >> 25) * 32 + pick->rd;
		pick->rd = 0;
		return width < 4;
	case 0x2f:
		/* No operation sets one of its lower two bits and one of its upper three. */
		return (width == 2 || width == 3) && !(insn >> 27 & 3 && insn >> 29);
	case 0x33:
	case 0x3b:
		return insn >> 25 == 1;
	default:
		return false;
	}
}

/* Loads and stores of 2 bytes; their offset is small. */
static bool find_c_operands(struct pick *pick)
{
	unsigned int width = pick->insn >> 13 & 3;

	pick->rd = 0;
	pick->base = 8 + (pick->insn >> 7 & 7);
	pick->offset = 0;

	return !(pick->insn & 3) && (width == 2 || (width == 3 && IS_ENABLED(CONFIG_64BIT)));
}

static bool may_pick(struct pick *pick)
{
	const u32 fixed = BIT(GPR_SP) | BIT(GPR_GP) | BIT(GPR_TP) | BIT(GPR_START);

	if (kprobe_refusal_reason(pick->insn) ||
	    kprobe_find_kernel_emulation(kprobe_expand_insn(pick->insn)))
		return false;
	if (!(insn_len(pick->insn) == 2 ? find_c_operands(pick) : find_operands(pick)))
		return false;

	return pick->base && !(fixed & (BIT(pick->base) | BIT(pick->rd)));
}

/* Fill the places with instructions from @at on that are not in @seen. */
static const void *fill_picks(const void *at, unsigned long *seen)
{
	for (nr_picks = 0; nr_picks < INSN_TEST_PLACES && at < (void *)_etext;) {
		struct pick *pick = &picks[nr_picks];

		pick->insn = read_insn(at);
		at += insn_len(pick->insn);
		if (may_pick(pick) && !__test_and_set_bit(hash_32(pick->insn, PICK_BITS), seen))
			nr_picks++;
	}

	return at;
}

static void write_picks(struct kunit *test)
{
	static u32 image[INSN_TEST_PLACES][2];
	unsigned int i;
	int err;

	memcpy(image, insn_places, sizeof(image));
	for (i = 0; i < nr_picks; i++) {
		struct pick *pick = &picks[i];

		image[i][0] = pick->insn;
		if (insn_len(pick->insn) == 2)
			image[i][0] |= C_NOP << 16;
		snprintf(pick->name, sizeof(pick->name), "%08x", pick->insn);
		pick->snippet = (struct snippet) {
			.start = insn_places[i],
			.size = insn_len(pick->insn),
			.name = pick->name,
		};
	}

	mutex_lock(&text_mutex);
	err = patch_text_nosync(insn_places, image, sizeof(image));
	mutex_unlock(&text_mutex);
	KUNIT_ASSERT_EQ(test, 0, err);
}

static void add_probes_to_picks(struct kunit *test, bool post)
{
	unsigned int i;

	lab.nr_probes = 0;
	for (i = 0; i < nr_picks; i++)
		place_probe(insn_places[i], post);
	register_placed(test);
}

/* Each pick runs from one state of its own. */
static noinline void run_picks(struct kunit *test, enum mode mode)
{
	unsigned int i;

	if (mode != BARE)
		add_probes_to_picks(test, mode == BOTH);
	for (i = 0; i < nr_picks; i++) {
		lab.snippet = &picks[i].snippet;
		mem_base = picks[i].base;
		mem_offset = picks[i].offset;
		run_state(test, mode, i);
	}
	if (mode != BARE)
		kunit_release_action(test, remove_probes, NULL);
}

static void insn_same_as_in_kernel(struct kunit *test)
{
	DECLARE_BITMAP(seen, BIT(PICK_BITS)) = {};
	const void *at = _stext;
	unsigned int nr = 0;

	for (;;) {
		at = fill_picks(at, seen);
		if (!nr_picks)
			break;
		write_picks(test);
		run_picks(test, BARE);
		run_picks(test, BOTH);
		run_picks(test, PRE);
		nr += nr_picks;
	}
	kunit_info(test, "%u instructions\n", nr);
	KUNIT_EXPECT_GE(test, nr, MIN_PICKS);
}

/* -- addresses that must not be probed -- */

static void insn_refused_for_reason(struct kunit *test)
{
	const struct refused_insn *refused = test->param_value;

	expect_refused(test, refused->addr, refused->err);
}

static const struct {
	u32 insn;
	const char *why;
} reasons[] = {
	{ 0x00000073, "calls the firmware, which need not return" },	/* ecall */
	{ 0x00100073, "traps" },					/* ebreak */
	{ 0x9002, "traps" },						/* c.ebreak */
	{ 0x10200073, "returns from a trap, or is unknown" },		/* sret */
	{ 0x30200073, "returns from a trap, or is unknown" },		/* mret */
	{ 0x14102573, "accesses a register of traps" },			/* csrr a0, sepc */
	{ 0x00d00073, "the probe would break the reservation" },	/* wrs.nto */
	{ 0x10500073, NULL },						/* wfi */
	{ 0x12000073, NULL },						/* sfence.vma */
};

/* The log must have the right reason for a refusal. */
static void insn_refusal_reasons(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		KUNIT_EXPECT_STREQ_MSG(test, kprobe_refusal_reason(reasons[i].insn) ?: "",
				       reasons[i].why ?: "", "%08x", reasons[i].insn);
}

/* -- the end of a page -- */

/* Failure R8: the bytes behind a 2-byte instruction must not be read. */
static void insn_at_page_end(struct kunit *test)
{
	/* The page behind this one is not mapped. */
	void *page = vmalloc(PAGE_SIZE);
	u16 *last = page + PAGE_SIZE - sizeof(*last);
	u32 insn = 0;

	KUNIT_ASSERT_NOT_NULL(test, page);
	*last = 0x0001;		/* c.nop */
	KUNIT_EXPECT_EQ(test, 0, kprobe_read_original(&insn, (unsigned long)last));
	KUNIT_EXPECT_EQ(test, 0x0001, insn);
	*last = 0x0013;		/* half a nop */
	KUNIT_EXPECT_EQ(test, -EFAULT, kprobe_read_original(&insn, (unsigned long)last));
	vfree(page);
}

/* -- decoding for uprobes -- */

struct user_insn {
	u32 insn;
	enum probe_insn how;
};

static const struct user_insn user_insns[] = {
	{ 0x00000517, INSN_GOOD_NO_SLOT },	/* auipc a0, 0 */
	{ 0x0080006f, INSN_GOOD_NO_SLOT },	/* jal zero, 8 */
	{ 0x00008067, INSN_GOOD_NO_SLOT },	/* ret */
	{ 0x00b50463, INSN_GOOD_NO_SLOT },	/* beq a0, a1, 8 */
	{ 0xffffa001, INSN_GOOD_NO_SLOT },	/* c.j, and the bytes behind it */
	{ 0x12348082, INSN_GOOD_NO_SLOT },	/* c.jr ra, and the bytes behind it */
	/* Not emulated, because a 32-bit program calculates with half of the register. */
	{ 0x00455513, INSN_GOOD },		/* srli a0, a0, 4 */
	{ 0x00b50533, INSN_GOOD },		/* add a0, a0, a1 */
	{ 0x12342505, INSN_GOOD },		/* c.addiw a0, 1, and the bytes behind it */
	{ 0x02b50533, INSN_GOOD },		/* mul a0, a0, a1 */
	{ 0x0005b503, INSN_GOOD },		/* ld a0, 0(a1) */
	{ 0x1234e406, INSN_GOOD },		/* c.sdsp ra, 8(sp) */
	{ 0x10500073, INSN_GOOD },		/* wfi, whose copy traps as the original does */
	{ 0x00000073, INSN_REJECTED },		/* ecall */
	{ 0x00100073, INSN_REJECTED },		/* ebreak */
	{ 0x12349002, INSN_REJECTED },		/* c.ebreak */
	{ 0x1005252f, INSN_REJECTED },		/* lr.w a0, (a0) */
};

static void insn_decoded_for_uprobes(struct kunit *test)
{
	struct arch_probe_insn asi;
	u32 insn;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(user_insns); i++) {
		insn = user_insns[i].insn;
		KUNIT_EXPECT_EQ_MSG(test, user_insns[i].how, riscv_probe_decode_insn(&insn, &asi),
				    "%08x", insn);
		KUNIT_EXPECT_EQ_MSG(test, user_insns[i].how == INSN_GOOD_NO_SLOT, !!asi.handler,
				    "%08x", insn);
	}
}

/* A function that ftrace can attach to. */
DEFINE_EMPTY_TARGET(traced)

static void insn_refused_data(struct kunit *test)
{
	unsigned int at;

	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS))
		kunit_skip(test, "ftrace has no pointers before functions");

	traced();
	for (at = 2; at <= 8; at += 2)
		expect_refused(test, (void *)traced - at, -EINVAL);
}

static KUNIT_GENERATOR(next_refused)
{
	const struct refused_insn *r = prev ? (const struct refused_insn *)prev + 1 : insn_refused;

	if (r == insn_refused_end)
		return NULL;
	strscpy(desc, r->name, KUNIT_PARAM_DESC_SIZE);
	return r;
}

static struct kunit_case insn_cases[] = {
	KUNIT_CASE_PARAM(insn_same_with_probes, next_snippet),
#ifdef CONFIG_OPTPROBES
	KUNIT_CASE_PARAM(insn_same_by_jumps, next_snippet),
	KUNIT_CASE(insn_jumps_made),
#endif
	KUNIT_CASE_SLOW(insn_same_as_in_kernel),
	KUNIT_CASE_PARAM(insn_same_when_missed, next_snippet),
	KUNIT_CASE_PARAM(insn_refused_for_reason, next_refused),
	KUNIT_CASE(insn_refusal_reasons),
	KUNIT_CASE(insn_refused_data),
	KUNIT_CASE(insn_at_page_end),
	KUNIT_CASE(insn_decoded_for_uprobes),
	{}
};

static struct kunit_suite insn_suite = {
	.name = "kprobes_riscv_insn",
	.suite_init = insn_suite_init,
	.suite_exit = insn_suite_exit,
	.init = insn_test_init,
	.test_cases = insn_cases,
};

kunit_test_suite(insn_suite);
