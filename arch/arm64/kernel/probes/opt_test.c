// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of optimized probes beyond insn_test.c: re-encoding instructions at the limits
 * of reach, probes that get no jump and the reported reasons, the state that handlers see
 * in a detour, and the changes that they can make there.
 */
#include <linux/bottom_half.h>
#include <linux/context_tracking.h>
#include <linux/irqflags.h>
#include <linux/kprobes_port.h>
#include <linux/mman.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include <asm/daifflags.h>
#include <asm/debug-monitors.h>
#include <asm/insn.h>
#include <asm/mmu.h>
#include <asm/neon.h>
#include <asm/simd.h>
#include <asm/sysreg.h>
#include <asm/uaccess.h>

#include "common.h"
#include "opt_test.h"
#include "../../../../lib/test_kprobes/handlers.h"

/* -- instructions encoded for another address -- */

/* Address of the instructions; 4G in either direction must be valid addresses. */
#define ADDR	0xffff800181234560UL

static struct user_fpsimd_state neon_state;

/* The literal of the loads, and its distance from them. */
static u64 literal = 0x8badf00dcafef00d;

#define LITERAL_OFFSET	0xffffc
#define IMM19(offset)	((((offset) >> 2) & 0x7ffff) << 5)
#define IMM14(offset)	((((offset) >> 2) & 0x3fff) << 5)
#define IMM26(offset)	(((offset) >> 2) & 0x3ffffff)

/* An instruction, and the address that it is encoded for. */
struct place {
	const char *name;
	u32 insn;
	long away;			/* distance from its address to the other one */
	enum detour_obstacle obstacle;	/* expected result */
};

static const struct place places[] = {
	{ "add", 0x91000400, SZ_64M },
	{ "add, farthest behind", 0x91000400, SZ_128M },
	{ "add, too far behind", 0x91000400, SZ_128M + 4, DETOUR_OUT_OF_REACH },
	{ "add, farthest before", 0x91000400, -SZ_128M + 4 },
	{ "add, too far before", 0x91000400, -SZ_128M, DETOUR_OUT_OF_REACH },
	{ "nop", 0xd503201f, SZ_1M },
	{ "bti c", 0xd503245f, SZ_1M },
	{ "prfm", 0xd8000040, -SZ_1M },
	{ "b", 0x14000000 | IMM26(SZ_64M), SZ_1M },
	{ "b, farthest before", 0x14000000 | IMM26(SZ_64M), -SZ_64M + 4 },
	{ "b, too far before", 0x14000000 | IMM26(SZ_64M), -SZ_64M, DETOUR_OUT_OF_REACH },
	{ "b, farthest behind", 0x14000000 | IMM26(-SZ_64M), SZ_64M },
	{ "b, too far behind", 0x14000000 | IMM26(-SZ_64M), SZ_64M + 4, DETOUR_OUT_OF_REACH },
	{ "bl", 0x94000000 | IMM26(-SZ_1M), SZ_64M },
	{ "bl, farthest before", 0x94000000 | IMM26(SZ_64M), -SZ_64M - 4 },
	{ "bl, too far before", 0x94000000 | IMM26(SZ_64M), -SZ_64M - 8, DETOUR_OUT_OF_REACH },
	{ "bl, farthest behind", 0x94000000 | IMM26(-SZ_64M), SZ_64M - 8 },
	{ "bl, too far behind", 0x94000000 | IMM26(-SZ_64M), SZ_64M - 4, DETOUR_OUT_OF_REACH },
	{ "b.eq", 0x54000000 | IMM19(SZ_1M - 4), SZ_64M },
	{ "b.ne", 0x54000001 | IMM19(-SZ_1M), SZ_64M },
	{ "bc.hi", 0x54000018 | IMM19(8), -SZ_64M },
	{ "b.lt, farthest behind", 0x5400000b | IMM19(-SZ_1M), SZ_128M - SZ_1M - 8 },
	{ "b.lt, too far behind", 0x5400000b | IMM19(-SZ_1M), SZ_128M - SZ_1M - 4,
	  DETOUR_OUT_OF_REACH },
	{ "b.lt, farthest before", 0x5400000b | IMM19(SZ_1M - 4), -SZ_128M + SZ_1M - 8 },
	{ "b.lt, too far before", 0x5400000b | IMM19(SZ_1M - 4), -SZ_128M + SZ_1M - 12,
	  DETOUR_OUT_OF_REACH },
	{ "cbz w", 0x34000003 | IMM19(SZ_1M - 4), SZ_64M },
	{ "cbnz x", 0xb5000003 | IMM19(-SZ_1M), SZ_64M },
	{ "cbz xzr", 0xb400001f | IMM19(SZ_1M - 4), SZ_64M },
	{ "tbz, bit 3", 0x36180003 | IMM14(SZ_32K - 4), SZ_64M },
	{ "tbnz, bit 63", 0xb7f80003 | IMM14(-SZ_32K), -SZ_64M },
	{ "adr", 0x10000003, SZ_1M },
	{ "adr, highest", 0x707fffe3, SZ_64M },
	{ "adr, lowest", 0x10800003, SZ_64M },
	{ "adrp", 0xb0000003, SZ_64M },
	{ "adrp, highest", 0xf07fffe3, 64 },
	{ "adrp, too high", 0xf07fffe3, -SZ_4K, DETOUR_OUT_OF_REACH },
	{ "adrp, lowest", 0x90800003, 64 },
	{ "adrp, too low", 0x90800003, SZ_4K, DETOUR_OUT_OF_REACH },
	{ "adr xzr", 0x1000001f, SZ_1M },
	{ "ldr x", 0x58000003 | IMM19(LITERAL_OFFSET), SZ_1M },
	{ "ldr w", 0x18000003 | IMM19(LITERAL_OFFSET), -SZ_1M },
	{ "ldrsw", 0x98000003 | IMM19(LITERAL_OFFSET), SZ_1M },
	{ "ldr xzr", 0x5800001f | IMM19(LITERAL_OFFSET), SZ_1M },
	{ "ldr q", 0x9c000003 | IMM19(LITERAL_OFFSET), 64, DETOUR_NOT_RELOCATABLE },
	{ "br", 0xd61f0060, SZ_64M },
	{ "blr x16", 0xd63f0200, SZ_64M },
	{ "blr x30", 0xd63f03c0, SZ_64M, DETOUR_NOT_RELOCATABLE },
	{ "blraa x1, x30", 0xd73f083e, SZ_64M, DETOUR_NOT_RELOCATABLE },
	{ "ret", 0xd65f03c0, SZ_64M },
};

static unsigned long addr_of(const struct place *place)
{
	if ((place->insn & 0x3b000000) == 0x18000000 && place->insn >> 24 != 0xd8)
		return (unsigned long)&literal - LITERAL_OFFSET;

	return ADDR;
}

/* Execute @insn at regs->pc. Returns false unless emit.c generates such instructions. */
static bool step(u32 insn, struct pt_regs *regs)
{
	probes_handler_t *emulate = kprobe_find_emulation(insn, true);
	u64 *rd = &regs->regs[insn & 31], *rn = &regs->regs[insn >> 5 & 31];

	if (emulate) {
		emulate(insn, regs->pc, regs);
		return true;
	}

	switch (insn & 0xffc00000) {
	case 0x91000000:	/* ADD (immediate), no shift; also as an unchanged instruction */
		*rd = *rn + (insn >> 10 & 0xfff);
		break;
	case 0xb9400000:	/* LDR (immediate), W */
		*rd = *(u32 *)*rn;
		break;
	case 0xf9400000:	/* LDR (immediate), X */
		*rd = *(u64 *)*rn;
		break;
	case 0xb9800000:	/* LDRSW (immediate) */
		*rd = *(s32 *)*rn;
		break;
	default:
		return false;
	}
	regs->pc += AARCH64_INSN_SIZE;

	return true;
}

static bool run_relocated(const struct relocation *r, struct pt_regs *regs)
{
	unsigned long end = r->at + r->nr * AARCH64_INSN_SIZE;
	unsigned int steps;

	regs->pc = r->at;
	for (steps = 0; steps < MAX_RELOCATED && regs->pc >= r->at && regs->pc < end; steps++) {
		if (!step(r->insns[(regs->pc - r->at) / AARCH64_INSN_SIZE], regs))
			return false;
	}

	return true;
}

/* Vary NZCV and the registers, so that each condition is both true and false. */
static void make_regs(struct pt_regs *regs, unsigned int i)
{
	static const u64 values[] = { 0, 8, 1UL << 63, 1UL << 32 };
	unsigned int n;

	memset(regs, 0, sizeof(*regs));
	regs->pstate = PSR_MODE_EL1h | (unsigned long)(i & 15) << 28;
	for (n = 0; n < 31; n++)
		regs->regs[n] = ADDR + 64 * n;
	regs->regs[3] = values[i / 16];
}

static void expect_same(struct kunit *test, const struct place *place,
			const struct relocation *r)
{
	struct pt_regs want, have;
	unsigned int i;

	for (i = 0; i < 64; i++) {
		make_regs(&want, i);
		make_regs(&have, i);
		want.pc = r->addr;
		KUNIT_ASSERT_TRUE(test, step(place->insn, &want));
		KUNIT_ASSERT_TRUE(test, run_relocated(r, &have));
		/* BLR Xn has become BR Xn, which sets another BTYPE. */
		want.pstate &= ~PSR_BTYPE_MASK;
		have.pstate &= ~PSR_BTYPE_MASK;
		KUNIT_ASSERT_EQ_MSG(test, memcmp(&want, &have, sizeof(want)), 0, "case %u", i);
	}
}

static void opt_relocated(struct kunit *test)
{
	const struct place *place = test->param_value;
	struct relocation r = { .addr = addr_of(place), .at = addr_of(place) + place->away };
	enum detour_obstacle obstacle;

	obstacle = kprobe_relocate_insn(&r, place->insn, kprobe_find_emulation(place->insn, true));
	KUNIT_ASSERT_EQ(test, obstacle, place->obstacle);
	KUNIT_ASSERT_LE(test, r.nr, MAX_RELOCATED);
	if (!obstacle)
		expect_same(test, place, &r);
}

KUNIT_ARRAY_PARAM_DESC(place, places, name);

/* -- one probe, and its handlers -- */

static struct {
	struct kprobe kp;
	unsigned int hits;
	unsigned int posts;
	unsigned long pstate;
	bool watching;
	bool interrupts;
	bool open;
	bool vectors;
	unsigned long entries[32];
	unsigned int nr_entries;
} seen;

static bool user_memory_is_open(void)
{
	return read_sysreg(ttbr0_el1) & TTBR_ASID;
}

static int on_pre(struct kprobe *kp, struct pt_regs *regs)
{
	seen.hits++;
	seen.pstate = regs->pstate;
	seen.watching = rcu_is_watching();
	seen.interrupts = !irqs_disabled();
	seen.vectors = IS_ENABLED(CONFIG_KERNEL_MODE_NEON) && may_use_simd();
	seen.nr_entries = stack_trace_save(seen.entries, ARRAY_SIZE(seen.entries), 0);

	return 0;
}

static void on_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	seen.posts++;
	seen.watching = rcu_is_watching();
	seen.interrupts = !irqs_disabled();
}

/* Close user memory as at the end of an access; record whether it was open before. */
static void close_user_memory(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	seen.posts++;
	seen.open = user_memory_is_open();
	uaccess_ttbr0_disable();
}

static int go_elsewhere(struct kprobe *kp, struct pt_regs *regs)
{
	seen.hits++;
	regs->pc = (unsigned long)opt_add_elsewhere;

	return 1;
}

static void go_elsewhere_behind(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	seen.posts++;
	regs->pc = (unsigned long)opt_add_elsewhere;
}

static int mask_interrupts(struct kprobe *kp, struct pt_regs *regs)
{
	seen.hits++;
	regs->pstate |= PSR_I_BIT;

	return 0;
}

static int count_only(struct kprobe *kp, struct pt_regs *regs)
{
	seen.hits++;

	return 0;
}

/* Changes the condition, in case the branch is executed again after the post_handler. */
static void turn_flags(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	seen.posts++;
	regs->pstate ^= PSR_C_BIT;
}

static void add_probe(struct kunit *test, u32 *addr, kprobe_pre_handler_t pre,
		      kprobe_post_handler_t post)
{
	memset(&seen, 0, sizeof(seen));
	seen.kp.addr = addr;
	seen.kp.pre_handler = pre;
	seen.kp.post_handler = post;
	add_kprobe(test, &seen.kp);
	wait_for_kprobe_optimizer();
}

static void expect_jump(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, aarch64_insn_is_b(*seen.kp.addr));
}

/* Add a probe, and expect it to get a jump. */
static void add_jump(struct kunit *test, u32 *addr, kprobe_pre_handler_t pre,
		     kprobe_post_handler_t post)
{
	add_probe(test, addr, pre, post);
	expect_jump(test);
}

static void end_probe(struct kunit *test)
{
	kunit_release_action(test, drop_kprobe, &seen.kp);
}

static void expect_no_jump(struct kunit *test, const char *why)
{
	struct kprobe *p = get_kprobe(seen.kp.addr);
	char text[32];

	KUNIT_EXPECT_EQ(test, *seen.kp.addr, BRK64_OPCODE_KPROBES);
	kprobe_explain_obstacle(container_of(p, struct optimized_kprobe, kp), text, sizeof(text));
	KUNIT_EXPECT_STREQ(test, text, why);
}

static void restore_reach(void *unused)
{
	WRITE_ONCE(kprobe_detour_reach, SZ_128M);
}

static void opt_far_away(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, restore_reach, NULL), 0);
	WRITE_ONCE(kprobe_detour_reach, SZ_4K);
	add_probe(test, opt_add_at, count_only, NULL);
	expect_no_jump(test, "out of reach");
	KUNIT_EXPECT_EQ(test, opt_add(1), 2);
	KUNIT_EXPECT_EQ(test, seen.hits, 1);
}

DEFINE_TARGET(int, may_be_called_by_pointer, (int x), x + 1)

static int (*pointer)(int x) = may_be_called_by_pointer;

static void opt_landing_pad(struct kunit *test)
{
	if (!system_supports_bti_kernel())
		kunit_skip(test, "branches need no landing pads");

	add_probe(test, (u32 *)may_be_called_by_pointer, count_only, NULL);
	expect_no_jump(test, "landing pad");
	KUNIT_EXPECT_EQ(test, READ_ONCE(pointer)(1), 2);
	KUNIT_EXPECT_EQ(test, seen.hits, 1);
}

/* Failure C15 */
static void opt_goes_elsewhere(struct kunit *test)
{
	add_jump(test, opt_add_at, go_elsewhere, NULL);
	KUNIT_EXPECT_EQ(test, opt_add(1), 1000);
	end_probe(test);

	add_jump(test, opt_add_at, go_elsewhere, on_post);
	KUNIT_EXPECT_EQ(test, opt_add(1), 1000);
	KUNIT_EXPECT_EQ(test, seen.posts, 0);
	end_probe(test);

	add_jump(test, opt_add_at, count_only, go_elsewhere_behind);
	KUNIT_EXPECT_EQ(test, opt_add(1), 1000);
	KUNIT_EXPECT_EQ(test, seen.posts, 1);
	end_probe(test);

	add_jump(test, opt_branch_at, count_only, go_elsewhere_behind);
	KUNIT_EXPECT_EQ(test, opt_branch(1), 1000);
	KUNIT_EXPECT_EQ(test, opt_branch(100), 1000);
	KUNIT_EXPECT_EQ(test, seen.posts, 2);
}

/* The second copy in the slot of a breakpoint ends in code that detours have, too. */
static void opt_slot_goes_elsewhere(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, restore_reach, NULL), 0);
	WRITE_ONCE(kprobe_detour_reach, 0);
	add_probe(test, opt_add_at, count_only, go_elsewhere_behind);
	KUNIT_EXPECT_EQ(test, opt_add(1), 1000);
	KUNIT_EXPECT_EQ(test, seen.posts, 1);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	end_probe(test);

	add_probe(test, opt_add_at, on_pre, on_post);
	KUNIT_EXPECT_EQ(test, opt_add(1), 2);
	KUNIT_EXPECT_EQ(test, seen.posts, 1);
	KUNIT_EXPECT_FALSE(test, seen.interrupts);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

static void opt_masks_interrupts(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, opt_daif() & PSR_I_BIT);
	add_jump(test, opt_daif_at, mask_interrupts, NULL);
	KUNIT_EXPECT_TRUE(test, opt_daif() & PSR_I_BIT);
	end_probe(test);

	add_jump(test, opt_daif_at, mask_interrupts, on_post);
	KUNIT_EXPECT_TRUE(test, opt_daif() & PSR_I_BIT);
	KUNIT_EXPECT_EQ(test, seen.posts, 1);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

/* A branch must not be executed again after the post_handler. */
static void opt_turns_flags(struct kunit *test)
{
	add_jump(test, opt_branch_at, count_only, turn_flags);
	KUNIT_EXPECT_EQ(test, opt_branch(1), 2);
	KUNIT_EXPECT_EQ(test, opt_branch(100), 100);
	KUNIT_EXPECT_EQ(test, seen.posts, 2);
}

/* -- the state that handlers see -- */

/* The bits that entry.S saves. */
#define PSR_KNOWN	(PSR_N_BIT | PSR_Z_BIT | PSR_C_BIT | PSR_V_BIT | DAIF_MASK | \
			 PSR_PAN_BIT | PSR_MODE_MASK)

static void opt_same_pstate(struct kunit *test)
{
	unsigned long pstate;

	KUNIT_ASSERT_EQ(test, kunit_add_action(test, restore_reach, NULL), 0);
	WRITE_ONCE(kprobe_detour_reach, 0);
	add_probe(test, opt_branch_at, on_pre, NULL);
	opt_branch(100);
	pstate = seen.pstate;
	KUNIT_EXPECT_FALSE(test, seen.interrupts);
	end_probe(test);

	WRITE_ONCE(kprobe_detour_reach, SZ_128M);
	add_jump(test, opt_branch_at, on_pre, NULL);
	opt_branch(100);
	KUNIT_EXPECT_EQ(test, seen.pstate & PSR_KNOWN, pstate & PSR_KNOWN);
	KUNIT_EXPECT_EQ(test, seen.pstate & ~PSR_KNOWN, 0);
	KUNIT_EXPECT_TRUE(test, seen.interrupts);
}

static bool is_traced(const void *fn, unsigned long size)
{
	unsigned int i;

	for (i = 0; i < seen.nr_entries; i++) {
		if (seen.entries[i] - (unsigned long)fn < size)
			return true;
	}

	return false;
}

static noinline void call_with_frame(void)
{
	opt_frame();
	barrier();
}

static void opt_unwinds(struct kunit *test)
{
	add_jump(test, opt_frame_at, on_pre, on_post);
	call_with_frame();
	KUNIT_EXPECT_EQ(test, seen.posts, 1);
	KUNIT_EXPECT_TRUE(test, is_traced(opt_frame_at, 4));
	KUNIT_EXPECT_TRUE(test, is_traced(call_with_frame, 64));
	KUNIT_EXPECT_TRUE(test, is_traced(opt_unwinds, 512));
}

static void expect_named(struct kunit *test, const __le32 *place, unsigned int from,
			 unsigned int to, unsigned long addr)
{
	for (; from < to; from++)
		KUNIT_EXPECT_EQ_MSG(test, arch_kprobe_insn_ip((unsigned long)(place + from)), addr,
				    "instruction %u", from);
}

/* Each place of a slot must be named like the instruction before, in or after which it is. */
static void opt_names_originals(struct kunit *test)
{
	unsigned long addr = (unsigned long)opt_add_at, behind = addr + AARCH64_INSN_SIZE;
	const struct detour *d;
	const struct slot *slot;
	struct kprobe *p;

	add_jump(test, opt_add_at, count_only, on_post);
	p = get_kprobe(opt_add_at);
	d = (struct detour *)container_of(p, struct optimized_kprobe, kp)->optinsn.insn;
	expect_named(test, d->entry, 0, ARRAY_SIZE(d->entry), addr);
	expect_named(test, d->copy, 0, RELEASE_INSNS + 1, addr);
	expect_named(test, d->post, 0, RELEASE_INSNS + 1, addr);
	expect_named(test, d->post, RELEASE_INSNS + 1, ARRAY_SIZE(d->post), behind);
	expect_named(test, d->after, 0, ARRAY_SIZE(d->after), behind);

	slot = slot_of(p);
	expect_named(test, slot->back, 0, 1, addr);
	expect_named(test, slot->back, 1, 2, behind);
	expect_named(test, slot->post, 0, 1, addr);
	expect_named(test, slot->post, 1, 2, behind);
	expect_named(test, slot->after, 0, ARRAY_SIZE(slot->after), behind);
	KUNIT_EXPECT_EQ(test, arch_kprobe_insn_ip(addr), addr);
}

/* preempt_count is changed by a load and a store: a hit between them must not lose a count. */
static void opt_stores_preempt_count(struct kunit *test)
{
	int before = preempt_count(), after;

	add_jump(test, opt_store_at, count_only, on_post);
	opt_store(&current_thread_info()->preempt.count);
	after = preempt_count();
	preempt_count_set(before);
	KUNIT_EXPECT_EQ(test, after, before);
	KUNIT_EXPECT_EQ(test, seen.posts, 1);
}

/* RCU must watch while a handler runs, also when the CPU is idle. */
static void expect_rcu_watches(struct kunit *test)
{
	unsigned long flags;
	bool watched;

	local_irq_save(flags);
	ct_idle_enter();
	opt_add(1);
	watched = rcu_is_watching_curr_cpu();
	ct_idle_exit();
	local_irq_restore(flags);
	KUNIT_EXPECT_FALSE(test, watched);
	KUNIT_EXPECT_TRUE(test, seen.watching);
}

static void opt_rcu_watches(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, restore_reach, NULL), 0);
	add_jump(test, opt_add_at, on_pre, NULL);
	expect_rcu_watches(test);
	end_probe(test);

	add_jump(test, opt_add_at, on_pre, on_post);
	expect_rcu_watches(test);
	KUNIT_EXPECT_EQ(test, seen.posts, 1);
	end_probe(test);

	WRITE_ONCE(kprobe_detour_reach, 0);
	add_probe(test, opt_add_at, on_pre, on_post);
	expect_rcu_watches(test);
	KUNIT_EXPECT_EQ(test, seen.posts, 1);
}

static void expect_user_memory_stays_open(struct kunit *test)
{
	bool open;

	uaccess_ttbr0_enable();
	opt_add(1);
	open = user_memory_is_open();
	uaccess_ttbr0_disable();
	KUNIT_EXPECT_TRUE(test, open);
	KUNIT_EXPECT_FALSE(test, seen.open);
	KUNIT_EXPECT_EQ(test, seen.posts, 1);
}

/* User memory is closed to handlers, and open again when the probed code goes on. */
static void opt_user_memory_stays_open(struct kunit *test)
{
	if (!system_uses_ttbr0_pan())
		kunit_skip(test, "this CPU has PAN, or the kernel does without");

	KUNIT_ASSERT_EQ(test, kunit_add_action(test, restore_reach, NULL), 0);
	KUNIT_ASSERT_NE(test, kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ,
					    MAP_ANONYMOUS | MAP_PRIVATE, 0), 0);
	add_jump(test, opt_add_at, on_pre, close_user_memory);
	expect_user_memory_stays_open(test);
	end_probe(test);

	WRITE_ONCE(kprobe_detour_reach, 0);
	add_probe(test, opt_add_at, on_pre, close_user_memory);
	expect_user_memory_stays_open(test);
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	seen.hits++;
	seen.open = user_memory_is_open();
	seen.vectors = IS_ENABLED(CONFIG_KERNEL_MODE_NEON) && may_use_simd();

	return 0;
}

static void add_return_probe(struct kunit *test)
{
	struct kretprobe *rp = must_alloc(test, 1, sizeof(*rp));

	rp->kp.addr = (kprobe_opcode_t *)may_be_called_by_pointer;
	rp->handler = on_return;
	add_kretprobe(test, rp);
	seen.hits = 0;
}

/* The same for a function that returns while user memory is open. */
static void opt_return_closes_user_memory(struct kunit *test)
{
	bool open;

	if (!system_uses_ttbr0_pan())
		kunit_skip(test, "this CPU has PAN, or the kernel does without");

	KUNIT_ASSERT_NE(test, kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ,
					    MAP_ANONYMOUS | MAP_PRIVATE, 0), 0);
	add_return_probe(test);

	uaccess_ttbr0_enable();
	READ_ONCE(pointer)(1);
	open = user_memory_is_open();
	uaccess_ttbr0_disable();
	KUNIT_EXPECT_TRUE(test, open);
	KUNIT_EXPECT_EQ(test, seen.hits, 1);
	KUNIT_EXPECT_FALSE(test, seen.open);
}

/* The handler must not use vector registers that the caller of the function is using. */
static void opt_return_to_vectors(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_KERNEL_MODE_NEON))
		kunit_skip(test, "the kernel does not use vector registers");

	add_return_probe(test);
	READ_ONCE(pointer)(1);
	KUNIT_EXPECT_TRUE(test, seen.vectors);

	kprobe_neon_begin(&neon_state);
	READ_ONCE(pointer)(1);
	kprobe_neon_end(&neon_state);
	KUNIT_EXPECT_EQ(test, seen.hits, 2);
	KUNIT_EXPECT_FALSE(test, seen.vectors);
}

/* What get_cpu_fpsimd_context() does, which is private to the kernel's fpsimd.c. */
static void fpsimd_context_get(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_disable();
	else
		local_bh_disable();
}

static void fpsimd_context_put(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable();
	else
		local_bh_enable();
}

/*
 * Nor may one whose hit is in get_cpu_fpsimd_context(), where what is known of the registers
 * may not be true, or in a softirq that uses them.
 */
static void opt_vectors_in_use(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_KERNEL_MODE_NEON))
		kunit_skip(test, "the kernel does not use vector registers");

	add_jump(test, opt_add_at, on_pre, on_post);
	KUNIT_EXPECT_EQ(test, opt_add(1), 2);
	KUNIT_EXPECT_TRUE(test, seen.vectors);

	fpsimd_context_get();
	KUNIT_EXPECT_EQ(test, opt_add(1), 2);
	fpsimd_context_put();
	KUNIT_EXPECT_FALSE(test, seen.vectors);

	kprobe_neon_begin(&neon_state);
	KUNIT_EXPECT_EQ(test, opt_add(1), 2);
	kprobe_neon_end(&neon_state);
	KUNIT_EXPECT_FALSE(test, seen.vectors);
	KUNIT_EXPECT_EQ(test, seen.hits, 3);
	KUNIT_EXPECT_EQ(test, seen.posts, 3);
}

static struct kunit_case opt_cases[] = {
	KUNIT_CASE_PARAM(opt_relocated, place_gen_params),
	KUNIT_CASE(opt_far_away),
	KUNIT_CASE(opt_landing_pad),
	KUNIT_CASE(opt_goes_elsewhere),
	KUNIT_CASE(opt_slot_goes_elsewhere),
	KUNIT_CASE(opt_masks_interrupts),
	KUNIT_CASE(opt_turns_flags),
	KUNIT_CASE(opt_same_pstate),
	KUNIT_CASE(opt_unwinds),
	KUNIT_CASE(opt_names_originals),
	KUNIT_CASE(opt_stores_preempt_count),
	KUNIT_CASE(opt_rcu_watches),
	KUNIT_CASE(opt_user_memory_stays_open),
	KUNIT_CASE(opt_return_closes_user_memory),
	KUNIT_CASE(opt_return_to_vectors),
	KUNIT_CASE(opt_vectors_in_use),
	{}
};

static struct kunit_suite opt_suite = {
	.name = "kprobes_arm64_opt",
	.test_cases = opt_cases,
};

kunit_test_suite(opt_suite);
