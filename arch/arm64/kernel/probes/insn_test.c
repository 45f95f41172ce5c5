// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that a probe does not change what the probed code does.
 *
 * insn_engine.h runs the snippets of insn_snippets.S with a probe on every one of their
 * instructions: with breakpoints first, and then with jumps.
 */
#define pr_fmt(fmt) "kprobes_arm64_insn: " fmt

#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/sizes.h>
#include <asm/cpufeature.h>
#include <asm/daifflags.h>
#include <asm/debug-monitors.h>
#include <asm/insn.h>
#include <asm/neon.h>
#include <asm/kprobes_base.h>
#include <asm/sections.h>
#include <asm/simd.h>

#include "common.h"
#include "decode-insn.h"
#include "insn_test.h"
#include "../../../../lib/test_kprobes/insn_engine.h"

/* Registers with defined contents at the start of a snippet, see insn_snippets.S. */
#define GPR_START	17
#define GPR_PLATFORM	18
#define GPR_MEM		19
#define GPR_SMALL	20
#define GPR_SP		31

#define PSR_NZCV	(PSR_N_BIT | PSR_Z_BIT | PSR_C_BIT | PSR_V_BIT)

static_assert(offsetof(struct machine, gpr[GPR_SP]) == MACHINE_SP);
static_assert(offsetof(struct machine, flags) == MACHINE_FLAGS);
static_assert(offsetof(struct machine, vreg) == MACHINE_VREG);
static_assert(offsetof(struct machine, stack) == MACHINE_STACK);

static struct user_fpsimd_state neon_state;

static struct {
	bool wanted;		/* probes should have jumps where possible */
	unsigned int nr;	/* how many of all there have been are */
	unsigned int nr_tried;
} jumps;

/* -- what the handlers log -- */

/* A snippet that masks interrupts does not tell lockdep, but a breakpoint's trap does. */
static void check_context(void)
{
	if (IS_ENABLED(CONFIG_KERNEL_MODE_NEON) && may_use_simd())
		lab.unfit = "a handler may use the vector registers of the snippet";
	if (!jumps.wanted && irqs_disabled() && lockdep_hardirqs_enabled())
		lab.unfit = "a handler has interrupts off, and lockdep takes them for on";
}

static void log_regs(struct event *e, struct pt_regs *regs)
{
	check_context();
	e->flags = regs->pstate & (PSR_NZCV | DAIF_MASK);
	/* The stack pointer follows the other registers. */
	memcpy(e->gpr, regs, sizeof(e->gpr));
}

static unsigned long kept_flags(unsigned long flags)
{
	return flags;
}

/* -- the probes -- */

/* Probe every @stride'th instruction of the snippet, except those that are refused. */
static void place_probes(struct kunit *test, bool post, unsigned int first, unsigned int stride)
{
	unsigned int i, nr = lab.snippet->size / AARCH64_INSN_SIZE;

	KUNIT_ASSERT_LE(test, nr, MAX_INSNS);
	lab.nr_probes = 0;
	for (i = first; i < nr; i += stride) {
		if (i < BITS_PER_LONG && lab.snippet->refused & BIT(i))
			continue;
		place_probe(lab.snippet->start + i, post);
	}
}

/* No probe gets a jump while the reach of branches is zero. */
static void forbid_jumps(bool forbid)
{
	WRITE_ONCE(kprobe_detour_reach, forbid ? 0 : SZ_128M);
}

static void allow_jumps(void *unused)
{
	forbid_jumps(false);
}

/* The flag of a probe must agree with the text. */
static void count_jump(struct kunit *test, kprobe_opcode_t *addr)
{
	bool jump = get_kprobe(addr)->flags & KPROBE_FLAG_OPTIMIZED;

	jumps.nr_tried += jumps.wanted;
	jumps.nr += jump;
	KUNIT_EXPECT_EQ_MSG(test, jump, *addr != BRK64_OPCODE_KPROBES, "%pS", addr);
	if (!jumps.wanted)
		KUNIT_EXPECT_FALSE_MSG(test, jump, "%pS", addr);
	else if (!jump)
		kunit_info(test, "no jump in place of %08x\n", get_kprobe(addr)->opcode);
}

static void add_placed(struct kunit *test)
{
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, allow_jumps, NULL));
	forbid_jumps(!jumps.wanted);
	register_placed(test);

	/* The optimizer decides which of them get a jump. */
	wait_for_kprobe_optimizer();
	for (i = 0; i < lab.nr_probes; i++)
		count_jump(test, lab.probe[i].addr);
	kunit_release_action(test, allow_jumps, NULL);
}

static void add_probes(struct kunit *test, bool post)
{
	place_probes(test, post, 0, 1);
	add_placed(test);
}

/* -- a run -- */

/* Go through all 16 combinations of NZCV, with interrupts on and off. */
static void set_machine(struct machine *m, unsigned int state)
{
	m->gpr[GPR_START] = (unsigned long)lab.snippet->start;
	m->gpr[GPR_MEM] = (unsigned long)&insn_test_mem[MEM_WORDS / 2];
	m->gpr[GPR_SMALL] &= 7;
	m->flags = (unsigned long)(state & 15) << 28;
	/* An interrupt would break the reservation and change the sequence of hits. */
	if (state & 16 || lab.snippet->refused)
		m->flags |= PSR_I_BIT;
}

static void run_snippet(void)
{
	insn_test_run(&lab.world.machine);
}

/*
 * Lockdep must know when the snippet starts with interrupts off. The snippet masks them by
 * PSTATE, even where the kernel masks interrupts by priority.
 */
static noinline void run_in_task(void)
{
	unsigned long flags = 0;
	bool off = lab.world.machine.flags & PSR_I_BIT;

	kprobe_neon_begin(&neon_state);
	if (off)
		flags = local_daif_save();
	run_world();
	if (off)
		local_daif_restore(flags);
	kprobe_neon_end(&neon_state);
}

static noinline void run_nested(unsigned int state)
{
	make_world(state);
	kprobe_neon_begin(&neon_state);
	hit_me();
	kprobe_neon_end(&neon_state);
}

/* -- the checks -- */

static const char *reg_name(unsigned int nr)
{
	static char name[8];

	if (nr == GPR_SP)
		return "sp";
	snprintf(name, sizeof(name), "x%u", nr);
	return name;
}

static const char *check_after(const struct world *want, const struct world *have)
{
	const struct machine *a = &want->machine, *b = &have->machine;
	const char *wrong = differing_reg(a, b) ?: differing_memory(want, have);

	if (wrong)
		return wrong;
	if (a->gpr[GPR_SP] != b->gpr[GPR_SP])
		return "stack pointer";
	if (a->flags != b->flags)
		return "flags";
	if (memcmp(a->vreg, b->vreg, sizeof(a->vreg)))
		return "vector registers";
	return NULL;
}

static void complete_start(struct machine *start, const struct event *first)
{
	const unsigned long known = PSR_NZCV | PSR_I_BIT;

	start->gpr[GPR_SP] = first->gpr[GPR_SP];
	if (IS_ENABLED(CONFIG_SHADOW_CALL_STACK))
		start->gpr[GPR_PLATFORM] = first->gpr[GPR_PLATFORM];
	/* Masking interrupts in the task masks more than them. */
	start->flags = (start->flags & known) | (first->flags & ~known);
}

static bool has_gaps(const struct snippet *snippet)
{
	return snippet->refused;
}

static unsigned long snippet_end(void)
{
	return (unsigned long)insn_test_exit;
}

/* -- the same with probes -- */

static __always_inline void run_all_probed(struct kunit *test)
{
	jumps.wanted = false;
	run_probed(test, BOTH);
	run_probed(test, PRE);

	jumps.wanted = true;
	run_probed(test, BOTH);
	run_probed(test, PRE);
}

static void choose_snippet(struct kunit *test)
{
	lab.snippet = test->param_value;
	jumps.wanted = false;
	if (lab.snippet->needs & SNIPPET_LSE && !cpus_have_final_cap(ARM64_HAS_LSE_ATOMICS))
		kunit_skip(test, "this CPU has no such atomics");
	if (lab.snippet->needs & SNIPPET_PAUTH && !(IS_ENABLED(CONFIG_ARM64_PTR_AUTH_KERNEL) &&
						    system_supports_address_auth()))
		kunit_skip(test, "this CPU does not sign pointers");
}

static void insn_same_with_probes(struct kunit *test)
{
	choose_snippet(test);
	stay_on_cpu(test);
	run_states(test, BARE);
	run_all_probed(test);
}

/*
 * Probe some instructions only: a breakpoint at the target of a branch passes for a landing
 * pad, but without one the emulated branch must set BTYPE as the original does.
 */
static void insn_same_with_some(struct kunit *test)
{
	unsigned int first, stride;

	choose_snippet(test);
	stay_on_cpu(test);
	run_states(test, BARE);
	for (stride = 2; stride < 5; stride++) {
		for (first = 0; first < stride; first++) {
			place_probes(test, stride == 3, first, stride);
			if (!lab.nr_probes)
				continue;
			jumps.wanted = first % 2;
			add_placed(test);
			run_states(test, SOME);
			kunit_release_action(test, remove_probes, NULL);
		}
	}
}

/* The test sets kprobe_copy_reach so that no copy can branch back. */
static void restore_reach(void *unused)
{
	kprobe_copy_reach = SZ_128M;
}

static void insn_same_from_afar(struct kunit *test)
{
	choose_snippet(test);
	stay_on_cpu(test);
	run_states(test, BARE);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, restore_reach, NULL));
	kprobe_copy_reach = 0;
	add_probes(test, false);
	run_states(test, SOME);
}

/* -- the same with instructions taken from the kernel -- */

#define NR_FOUND	512
#define MAX_TRIES	100000

/* Instructions that use only registers and flags, and exist on every CPU. */
static const struct {
	u32 mask;
	u32 value;
} plain[] = {
	{ 0x1f800000, 0x11000000 },	/* ADD, SUB (immediate) */
	{ 0x1f800000, 0x12000000 },	/* AND, ORR, EOR (immediate) */
	{ 0x1f800000, 0x12800000 },	/* MOVN, MOVZ, MOVK */
	{ 0x1f800000, 0x13000000 },	/* SBFM, BFM, UBFM */
	{ 0x1fa00000, 0x13800000 },	/* EXTR */
	{ 0x1f000000, 0x0a000000 },	/* AND, ORR, EOR (shifted register) */
	{ 0x1f000000, 0x0b000000 },	/* ADD, SUB (shifted or extended register) */
	{ 0x1fe0fc00, 0x1a000000 },	/* ADC, SBC */
	{ 0x1fe00410, 0x1a400000 },	/* CCMN, CCMP */
	{ 0x1fe00800, 0x1a800000 },	/* CSEL, CSINC, CSINV, CSNEG */
	{ 0x7fe0f800, 0x1ac00800 },	/* UDIV, SDIV */
	{ 0x7fe0f000, 0x1ac02000 },	/* LSLV, LSRV, ASRV, RORV */
	{ 0x7fffe000, 0x5ac00000 },	/* RBIT, REV, CLZ, CLS */
	{ 0x1f000000, 0x1b000000 },	/* MADD, MSUB and the like */
};

static bool is_plain(u32 insn)
{
	unsigned int i, rd = insn & 31;

	/* Register 31 is the stack pointer, unless the instruction sets the flags. */
	if (rd == GPR_PLATFORM || (rd == 31 && (insn >> 29 & 3) != 3))
		return false;

	for (i = 0; i < ARRAY_SIZE(plain); i++) {
		if ((insn & plain[i].mask) == plain[i].value)
			return true;
	}
	return false;
}

static bool is_among(u32 insn, const u32 *insns, unsigned int nr)
{
	while (nr--) {
		if (insns[nr] == insn)
			return true;
	}
	return false;
}

/* Assembly code may have data in its text, which cannot be executed. */
static bool is_compiled(unsigned long addr)
{
	unsigned long offset;

	return kallsyms_lookup_size_offset(addr, NULL, &offset) && ftrace_location(addr - offset) &&
	       !kprobe_is_before_function(addr);
}

static unsigned int find_in_text(u32 *found, unsigned int max)
{
	unsigned int tries, nr = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, seed);
	for (tries = 0; nr < max && tries < MAX_TRIES; tries++) {
		u32 i = prandom_u32_state(&rnd) % ((_etext - _stext) / AARCH64_INSN_SIZE);
		const __le32 *addr = (const __le32 *)_stext + i;
		u32 insn = le32_to_cpup(addr);

		if (is_plain(insn) && is_compiled((unsigned long)addr) &&
		    !is_among(insn, found, nr))
			found[nr++] = insn;
	}
	return nr;
}

static void fill_room(const u32 *insns)
{
	unsigned int i;

	for (i = 0; i < INSN_TEST_ROOM; i++)
		aarch64_insn_patch_text_nosync(lab.snippet->start + i, insns[i]);
}

static void clear_room(void *unused)
{
	u32 nops[INSN_TEST_ROOM];

	memset32(nops, aarch64_insn_gen_nop(), INSN_TEST_ROOM);
	fill_room(nops);
}

static void insn_same_as_found(struct kunit *test)
{
	u32 *found = must_alloc(test, NR_FOUND, sizeof(*found));
	unsigned int i;

	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE))
		kunit_skip(test, "nothing tells what is compiled");

	KUNIT_ASSERT_EQ(test, NR_FOUND, find_in_text(found, NR_FOUND));
	lab.snippet = insn_snippets_end - 1;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, clear_room, NULL));
	stay_on_cpu(test);
	for (i = 0; i < NR_FOUND; i += INSN_TEST_ROOM) {
		fill_room(found + i);
		run_states(test, BARE);
		run_all_probed(test);
	}
}

/* -- the same as a hit within a hit: no handlers, but the instruction runs; Failures A4, A5 -- */

/* Snippets in a handler run with interrupts off, and must not fault. */
#define NOT_NESTED	(SNIPPET_SETS_DAIF | SNIPPET_FAULTS)

static void insn_same_when_missed(struct kunit *test)
{
	choose_snippet(test);
	if (lab.snippet->needs & NOT_NESTED)
		kunit_skip(test, "not within a handler");

	run_bare(test);
	run_missed(test);

	jumps.wanted = true;
	run_missed(test);
}

/* -- refused instructions and addresses -- */

/* They must be refused whether or not the instructions around have probes. */
static void refuse_all(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < BITS_PER_LONG; i++) {
		if (lab.snippet->refused & BIT(i))
			expect_refused(test, lab.snippet->start + i, -EOPNOTSUPP);
	}
	for (i = 1; i < AARCH64_INSN_SIZE; i++)
		expect_refused(test, (void *)lab.snippet->start + i, -EILSEQ);
}

static void insn_refused_places(struct kunit *test)
{
	choose_snippet(test);
	refuse_all(test);
	add_probes(test, false);
	refuse_all(test);
}

/* A function that ftrace can attach to. */
DEFINE_EMPTY_TARGET(traced)

static void insn_refused_data(struct kunit *test)
{
	void *before = (void *)traced - AARCH64_INSN_SIZE;

	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS) && !IS_ENABLED(CONFIG_KPROBES_CFI))
		kunit_skip(test, "no data in front of functions");

	traced();
	expect_refused(test, before, -EINVAL);
	if (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS))
		expect_refused(test, before - AARCH64_INSN_SIZE, -EINVAL);
}

/* Their first instruction may run on a CPU that has no vectors yet. */
static void insn_refused_without_vectors(struct kunit *test)
{
	static const char * const names[] = {
		"__secondary_switched", "set_cpu_boot_mode_flag", "finalise_el2",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct kprobe kp = { .symbol_name = names[i], .pre_handler = log_pre };

		KUNIT_EXPECT_EQ_MSG(test, register_kprobe(&kp), -EINVAL, "%s", names[i]);
	}
}

/* For a uprobe too, the emulated instruction must consume the BTYPE of a branch to it. */
static void insn_clears_btype(struct kunit *test)
{
	static const struct {
		u32 insn;
		probes_handler_t *emulate;
	} cases[] = {
		{ 0xd503245f, kprobe_emulate_nop },		/* bti c */
		{ 0x14000002, kprobe_emulate_b_bl },
		{ 0xb4000040, kprobe_emulate_cbz_cbnz },
		{ 0x10000000, kprobe_emulate_adr_adrp },
		{ 0xd65f03c0, kprobe_emulate_br_blr_ret },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pt_regs regs = { .pstate = PSR_MODE_EL0t | PSR_BTYPE_JC };

		cases[i].emulate(cases[i].insn, 0, &regs);
		KUNIT_EXPECT_EQ_MSG(test, regs.pstate, PSR_MODE_EL0t, "%#x", cases[i].insn);
	}
}

/* Expected results of decoding; this CPU need not have all of the instructions. */
static const struct decoded {
	u32 insn;
	enum probe_insn user;
	probes_handler_t *kernel;	/* emulation for kprobes, or NULL */
	bool copied;			/* kprobes copy it */
	const char *name;
} decoded[] = {
	{ 0xd503201f, INSN_GOOD_NO_SLOT, kprobe_emulate_nop, false, "nop" },
	{ 0xd503245f, INSN_GOOD_NO_SLOT, kprobe_emulate_nop, false, "bti c" },
	{ 0xd503233f, INSN_GOOD, NULL, true, "paciasp" },
	{ 0x14000001, INSN_GOOD_NO_SLOT, kprobe_emulate_b_bl, false, "b" },
	{ 0x94000001, INSN_GOOD_NO_SLOT, kprobe_emulate_b_bl, false, "bl" },
	{ 0x54000041, INSN_GOOD_NO_SLOT, kprobe_emulate_b_cond, false, "b.ne" },
	/* Failure A2 */
	{ 0x54000051, INSN_GOOD_NO_SLOT, kprobe_emulate_b_cond, false, "bc.ne" },
	{ 0xd61f0200, INSN_GOOD_NO_SLOT, kprobe_emulate_br_blr_ret, false, "br" },
	{ 0xd63f0200, INSN_GOOD_NO_SLOT, kprobe_emulate_br_blr_ret, false, "blr" },
	{ 0xd65f03c0, INSN_GOOD_NO_SLOT, kprobe_emulate_br_blr_ret, false, "ret" },
	{ 0xd71f0801, INSN_REJECTED, kprobe_emulate_br_blr_ret_auth, false, "braa" },
	{ 0xd63f0c1f, INSN_REJECTED, kprobe_emulate_br_blr_ret_auth, false, "blrabz" },
	{ 0xd65f0bff, INSN_REJECTED, kprobe_emulate_br_blr_ret_auth, false, "retaa" },
	{ 0x58000040, INSN_REJECTED, kprobe_emulate_ldr_literal, false, "ldr x" },
	{ 0x18000040, INSN_REJECTED, kprobe_emulate_ldr_literal, false, "ldr w" },
	{ 0x98000040, INSN_REJECTED, kprobe_emulate_ldr_literal, false, "ldrsw" },
	{ 0xd8000040, INSN_GOOD_NO_SLOT, kprobe_emulate_nop, false, "prfm" },
	{ 0x1c000040, INSN_REJECTED, NULL, false, "ldr s" },
	{ 0x9c000040, INSN_REJECTED, NULL, false, "ldr q" },
	{ 0xd53b4220, INSN_REJECTED, kprobe_emulate_mrs_daif, false, "mrs daif" },
	{ 0xd51b4220, INSN_REJECTED, kprobe_emulate_msr_daif, false, "msr daif" },
	{ 0xd50342df, INSN_REJECTED, kprobe_emulate_msr_daif_imm, false, "msr daifset" },
	{ 0xd50342ff, INSN_REJECTED, kprobe_emulate_msr_daif_imm, false, "msr daifclr" },
	{ 0x00000000, INSN_REJECTED, NULL, false, "udf" },
	{ 0x464c457f, INSN_GOOD, NULL, false, "start of an ELF file" },
	{ 0xd4000001, INSN_REJECTED, NULL, false, "svc" },
	{ 0xd4000002, INSN_REJECTED, NULL, false, "hvc" },
	{ 0xd4000003, INSN_REJECTED, NULL, false, "smc" },
	{ 0xd4210000, INSN_REJECTED, NULL, false, "brk" },
	{ 0xd4400000, INSN_REJECTED, NULL, false, "hlt" },
	{ 0xd69f03e0, INSN_REJECTED, NULL, false, "eret" },
	{ 0xd69f0bff, INSN_REJECTED, NULL, false, "eretaa" },
	{ 0xd6bf03e0, INSN_REJECTED, NULL, false, "drps" },
	{ 0xd5384000, INSN_REJECTED, NULL, false, "mrs spsr_el1" },
	{ 0xd5384020, INSN_REJECTED, NULL, false, "mrs elr_el1" },
	{ 0xd5385200, INSN_REJECTED, NULL, false, "mrs esr_el1" },
	{ 0xd5386000, INSN_REJECTED, NULL, false, "mrs far_el1" },
	{ 0xd5384100, INSN_GOOD, NULL, true, "mrs sp_el0" },
	{ 0xd538d080, INSN_GOOD, NULL, true, "mrs tpidr_el1" },
	{ 0xd5184020, INSN_REJECTED, NULL, false, "msr elr_el1" },
	{ 0xd5184100, INSN_REJECTED, NULL, false, "msr sp_el0" },
	{ 0xd518d080, INSN_REJECTED, NULL, false, "msr tpidr_el1" },
	{ 0xd5182000, INSN_REJECTED, NULL, false, "msr ttbr0_el1" },
	{ 0xd5181000, INSN_REJECTED, NULL, false, "msr sctlr_el1" },
	{ 0xd518c000, INSN_REJECTED, NULL, false, "msr vbar_el1" },
	{ 0xd518c120, INSN_REJECTED, NULL, false, "msr disr_el1" },
	{ 0xd518cc20, INSN_GOOD, NULL, true, "msr icc_eoir1_el1" },
	{ 0xd51b4200, INSN_GOOD, NULL, true, "msr nzcv" },
	{ 0xd51b4420, INSN_GOOD, NULL, true, "msr fpsr" },
	{ 0xd51be320, INSN_GOOD, NULL, true, "msr cntv_ctl_el0" },
	{ 0xd50040bf, INSN_REJECTED, NULL, false, "msr spsel" },
	{ 0xd500419f, INSN_GOOD, NULL, true, "msr pan" },
	{ 0xd503477f, INSN_REJECTED, NULL, false, "smstart" },
	{ 0xd50b7a20, INSN_GOOD, NULL, true, "dc cvac" },
	{ 0xd508871f, INSN_GOOD, NULL, true, "tlbi vmalle1" },
	/* Failure A6 */
	{ 0xd50b7700, INSN_REJECTED, NULL, false, "gcspushm" },
	{ 0xd5033fdf, INSN_GOOD, NULL, true, "isb" },
	{ 0xc85f7c00, INSN_REJECTED, NULL, false, "ldxr" },
	{ 0xc8017c00, INSN_REJECTED, NULL, false, "stxr" },
	{ 0xc87f0400, INSN_REJECTED, NULL, false, "ldxp" },
	{ 0x48207c82, INSN_GOOD, NULL, true, "casp" },
	{ 0xc8dffc00, INSN_GOOD, NULL, true, "ldar" },
	{ 0xc8a07c01, INSN_GOOD, NULL, true, "cas" },
	/* Failure A3 */
	{ 0x1d010440, INSN_REJECTED, NULL, false, "cpyfp" },
	{ 0x19c10440, INSN_REJECTED, NULL, false, "setp" },
	{ 0xf380001f, INSN_REJECTED, NULL, false, "autiasppc" },
	{ 0xdac1a3fe, INSN_REJECTED, NULL, false, "paciasppc" },
	{ 0x5500001f, INSN_REJECTED, NULL, false, "retaasppc" },
	{ 0x74000000, INSN_REJECTED, NULL, false, "cbgt" },
	{ 0x91000400, INSN_GOOD, NULL, true, "add" },
	{ 0xf9400000, INSN_GOOD, NULL, true, "ldr" },
	{ 0xdac10000, INSN_GOOD, NULL, true, "pacia" },
	{ 0x4e20d400, INSN_GOOD, NULL, true, "fadd" },
	{ 0x04200000, INSN_GOOD, NULL, true, "add z" },
};

KUNIT_ARRAY_PARAM_DESC(decoded, decoded, name);

static void insn_decoded(struct kunit *test)
{
	const struct decoded *d = test->param_value;
	struct arch_probe_insn api = {};
	enum probe_insn how = arm_probe_decode_insn(d->insn, &api);
	probes_handler_t *kernel = kprobe_find_emulation(d->insn, true);

	KUNIT_EXPECT_EQ(test, how, d->user);
	KUNIT_EXPECT_PTR_EQ(test, kernel, d->kernel);
	if (!d->kernel)
		KUNIT_EXPECT_EQ(test, !kprobe_refusal_reason(d->insn), d->copied);
}

static const struct {
	u32 insn;
	const char *why;
} reasons[] = {
	{ 0xd4000002, "calls firmware or a hypervisor, which need not return" },	/* hvc */
	{ 0xd4000003, "calls firmware or a hypervisor, which need not return" },	/* smc */
	{ 0xd4000001, "traps, and would report its copy" },			/* svc */
	{ 0xd4210000, "traps, and would report its copy" },			/* brk */
	{ 0xd69f03e0, "switches between contexts" },				/* eret */
	{ 0xd5184020, "belongs to the context that it runs in" },		/* msr elr_el1 */
	{ 0xc85f7c00, "a trap would end the exclusive access" },		/* ldxr */
	{ 0x464c457f, "not an instruction" },
	{ 0xd503207f, NULL },							/* wfi */
};

/* The log must have the right reason for a refusal. */
static void insn_refusal_reasons(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		KUNIT_EXPECT_STREQ_MSG(test, kprobe_refusal_reason(reasons[i].insn) ?: "",
				       reasons[i].why ?: "", "%08x", reasons[i].insn);
}

/* -- jumps -- */

/* In percent; BTI allows fewer. The log names each probe that has no jump. */
#define MIN_JUMPS	98
#define MIN_JUMPS_BTI	95

static void insn_most_jumped(struct kunit *test)
{
	unsigned int least = system_supports_bti_kernel() ? MIN_JUMPS_BTI : MIN_JUMPS;

	if (!jumps.nr_tried)
		kunit_skip(test, "there have been no jumps");

	kunit_info(test, "%u of %u probes have had a jump\n", jumps.nr, jumps.nr_tried);
	KUNIT_EXPECT_GE(test, 100 * jumps.nr, least * jumps.nr_tried);
}

static struct kunit_case insn_test_cases[] = {
	KUNIT_CASE_PARAM(insn_same_with_probes, next_snippet),
	KUNIT_CASE_PARAM(insn_same_with_some, next_snippet),
	KUNIT_CASE_PARAM(insn_same_from_afar, next_snippet),
	KUNIT_CASE_SLOW(insn_same_as_found),
	KUNIT_CASE_PARAM(insn_same_when_missed, next_snippet),
	KUNIT_CASE(insn_most_jumped),
	KUNIT_CASE_PARAM(insn_refused_places, next_snippet),
	KUNIT_CASE(insn_refused_data),
	KUNIT_CASE(insn_refusal_reasons),
	KUNIT_CASE(insn_refused_without_vectors),
	KUNIT_CASE(insn_clears_btype),
	KUNIT_CASE_PARAM(insn_decoded, decoded_gen_params),
	{}
};

static struct kunit_suite insn_test_suite = {
	.name = "kprobes_arm64_insn",
	.suite_init = insn_suite_init,
	.suite_exit = insn_suite_exit,
	.init = insn_test_init,
	.test_cases = insn_test_cases,
};

kunit_test_suite(insn_test_suite);
