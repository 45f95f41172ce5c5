// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of optimized probes: the places that get a jump, its encoding, and the reasons
 * reported for other places; free registers; the decoded properties of instructions and
 * their copies, each form at the limits of its reach.
 */
#include <linux/context_tracking.h>
#include <linux/irqflags.h>
#include <linux/kprobes_port.h>
#include <linux/memory.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>

#include "common.h"
#include "opt_test.h"
#include "../../../../lib/test_kprobes/handlers.h"

/* -- all rules of opt_snippets.S -- */

/* A probe, and the original text before it and from there on. */
struct subject {
	struct kprobe kp;
	u8 before[MAX_OPTIMIZED_LENGTH];
	u8 text[MAX_OPTIMIZED_LENGTH];
	int err;
};

#include "../../../../lib/test_kprobes/opt_rules.h"

static void subject_follow(struct subject *s, const struct rule *rule)
{
	s->kp.addr = rule->addr;
	s->kp.pre_handler = ignore_hit;
	memcpy(s->text, s->kp.addr, sizeof(s->text));
	memcpy(s->before, (void *)s->kp.addr - sizeof(s->before), sizeof(s->before));
}

static struct optimized_kprobe *op_of(const struct subject *s)
{
	return container_of(get_kprobe(s->kp.addr), struct optimized_kprobe, kp);
}

static u32 read_u32(const void *addr)
{
	u32 value;

	memcpy(&value, addr, sizeof(value));

	return value;
}

/* Return the target of the two instructions in @text, as if they were at @at. */
static unsigned long jump_target(const void *text, unsigned long at)
{
	struct insn_facts auipc, jalr;

	kprobe_get_insn_facts(read_u32(text), &auipc);
	kprobe_get_insn_facts(read_u32(text + sizeof(u32)), &jalr);
	if (auipc.flow != FLOW_ADDRESS || jalr.flow != FLOW_JUMP_REGISTER ||
	    auipc.writes != BIT(jalr.base))
		return 0;

	return at + auipc.disp + jalr.disp;
}

static void expect_jump(struct kunit *test, const struct subject *s)
{
	const struct arch_optimized_insn *optinsn = &op_of(s)->optinsn;
	char text[64] = "";

	if (!optinsn->insn)
		kprobe_explain_obstacle(op_of(s), text, sizeof(text));
	KUNIT_ASSERT_STREQ(test, text, "");
	KUNIT_EXPECT_TRUE(test, op_of(s)->kp.flags & KPROBE_FLAG_OPTIMIZED);
	KUNIT_EXPECT_EQ(test, (unsigned long)optinsn->insn + sizeof(long) + optinsn->enter,
			jump_target((void *)s->kp.addr - optinsn->lead,
				    (unsigned long)s->kp.addr - optinsn->lead));
	KUNIT_EXPECT_EQ(test, !optinsn->lead, !optinsn->enter);
}

static void expect_breakpoint(struct kunit *test, const struct subject *s, const char *why)
{
	u8 text[MAX_OPTIMIZED_LENGTH];
	u32 ebreak = kprobe_ebreak_for(s->kp.opcode);
	char reason[64] = "";

	memcpy(text, s->text, sizeof(text));
	memcpy(text, &ebreak, insn_len(ebreak));
	KUNIT_EXPECT_MEMEQ(test, (void *)s->kp.addr, text, sizeof(text));
	KUNIT_EXPECT_FALSE(test, op_of(s)->kp.flags & KPROBE_FLAG_OPTIMIZED);
	kprobe_explain_obstacle(op_of(s), reason, sizeof(reason));
	KUNIT_EXPECT_STREQ(test, reason, why);
}

/* An address in a detour must be translated to the instruction that is copied there. */
static void expect_originals(struct kunit *test, const struct subject *s)
{
	const struct arch_optimized_insn *optinsn = &op_of(s)->optinsn;
	unsigned long code = (unsigned long)((struct detour *)optinsn->insn)->code;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, arch_kprobe_insn_ip(code), code);
	if (optinsn->post == POST_COPY)
		KUNIT_EXPECT_EQ(test, arch_kprobe_insn_ip(code + DETOUR_POST + DETOUR_RELEASE),
				(unsigned long)s->kp.addr);
	KUNIT_EXPECT_EQ(test, arch_kprobe_insn_ip(code + DETOUR_COPIES), (unsigned long)s->kp.addr);
	for (i = 0; i < ARRAY_SIZE(optinsn->copy_at); i++) {
		if (optinsn->copy_at[i])
			KUNIT_EXPECT_EQ(test, arch_kprobe_insn_ip(code + optinsn->copy_at[i]),
					(unsigned long)s->kp.addr - optinsn->lead + 2 * i);
	}
}

static void opt_rule(struct kunit *test)
{
	const struct rule *rule = test->param_value;
	struct subject *s = &subjects[rule - opt_rules];
	unsigned int lead;

	KUNIT_ASSERT_EQ(test, s->err, 0);
	lead = op_of(s)->optinsn.lead;
	if (strcmp(rule->why, "-")) {
		expect_breakpoint(test, s, rule->why);
	} else {
		expect_jump(test, s);
		expect_originals(test, s);
	}

	unregister_kprobe(&s->kp);
	s->err = -ENOENT;
	KUNIT_EXPECT_MEMEQ(test, (void *)s->kp.addr, s->text, sizeof(s->text));
	KUNIT_EXPECT_MEMEQ(test, (void *)s->kp.addr - lead, s->before + sizeof(s->before) - lead,
			   lead);
}

/* -- which registers are free -- */

DEFINE_STATIC_KEY_TRUE(opt_key);

static void opt_free_registers(struct kunit *test)
{
	const struct freedom *f;

	for (f = opt_freedoms; f < opt_freedoms_end; f++) {
		unsigned long dead = 0;

		mutex_lock(&kprobe_mutex);
		mutex_lock(&text_mutex);
		dead = kprobe_free_regs((unsigned long)f->addr);
		mutex_unlock(&text_mutex);
		mutex_unlock(&kprobe_mutex);
		KUNIT_EXPECT_EQ_MSG(test, f->dead, dead, "%pS", f->addr);
	}
}

/* -- properties of single instructions -- */

#define R(n)	BIT(n)

static const struct {
	u32 insn;
	struct insn_facts facts;
} known[] = {
	/* lui a0; auipc a1, the largest and the smallest */
	{ 0x12345537, { .flow = FLOW_ON, .len = 4, .writes = R(10) } },
	{ 0x7ffff597, { .flow = FLOW_ADDRESS, .len = 4, .writes = R(11), .disp = 0x7ffff000 } },
	{ 0x80000597, { .flow = FLOW_ADDRESS, .len = 4, .writes = R(11), .disp = S32_MIN } },
	/* jal zero, the largest and the smallest; jal ra */
	{ 0x7ffff06f, { .flow = FLOW_JUMP, .len = 4, .disp = SZ_1M - 2 } },
	{ 0x8000006f, { .flow = FLOW_JUMP, .len = 4, .disp = -SZ_1M } },
	{ 0x008000ef, { .flow = FLOW_CALL, .len = 4, .writes = R(1), .link = 1, .disp = 8 } },
	/* jalr zero, 2047(a0); jalr ra, -2048(ra); ret */
	{ 0x7ff50067, { .flow = FLOW_JUMP_REGISTER, .len = 4, .reads = R(10), .base = 10,
			.disp = 2047 } },
	{ 0x800080e7, { .flow = FLOW_CALL_REGISTER, .len = 4, .reads = R(1), .writes = R(1),
			.link = 1, .base = 1, .disp = -2048 } },
	{ 0x00008067, { .flow = FLOW_JUMP_REGISTER, .len = 4, .reads = R(1), .base = 1 } },
	/* beq a0, a1, the largest; bgeu t1, zero, the smallest */
	{ 0x7eb50fe3, { .flow = FLOW_BRANCH, .len = 4, .reads = R(10) | R(11), .disp = 4094 } },
	{ 0x80037063, { .flow = FLOW_BRANCH, .len = 4, .reads = R(6), .disp = -4096 } },
	/* ld a0, 0(a1); sd a0, 0(a1); addi; add; sraiw; mulw */
	{ 0x0005b503, { .flow = FLOW_ON, .len = 4, .reads = R(11), .writes = R(10) } },
	{ 0x00a5b023, { .flow = FLOW_ON, .len = 4, .reads = R(10) | R(11) } },
	{ 0x00158513, { .flow = FLOW_ON, .len = 4, .reads = R(11), .writes = R(10) } },
	{ 0x00c58533, { .flow = FLOW_ON, .len = 4, .reads = R(11) | R(12), .writes = R(10) } },
	{ 0x4055d51b, { .flow = FLOW_ON, .len = 4, .reads = R(11), .writes = R(10) } },
	{ 0x02c5853b, { .flow = FLOW_ON, .len = 4, .reads = R(11) | R(12), .writes = R(10) } },
	/* amoadd.w a0, a1, (a2); fence; csrr a0, sstatus; csrw sstatus, a0; csrsi */
	{ 0x00b6252f, { .flow = FLOW_ON, .len = 4, .reads = R(11) | R(12), .writes = R(10) } },
	{ 0x0ff0000f, { .flow = FLOW_ON, .len = 4 } },
	{ 0x10002573, { .flow = FLOW_ON, .len = 4, .writes = R(10) } },
	{ 0x10051073, { .flow = FLOW_ON, .len = 4, .reads = R(10) } },
	{ 0x10016073, { .flow = FLOW_ON, .len = 4 } },
	/* sfence.vma a0, a1; ecall; amocas.w; a vector addition */
	{ 0x12b50073, { .flow = FLOW_ON, .len = 4, .reads = R(10) | R(11) } },
	{ 0x00000073, { .flow = FLOW_UNKNOWN, .len = 4, .reads = ALL_REGS } },
	{ 0x28b6252f, { .flow = FLOW_UNKNOWN, .len = 4, .reads = ALL_REGS } },
	{ 0x022180d7, { .flow = FLOW_UNKNOWN, .len = 4, .reads = ALL_REGS } },
	/* c.addi4spn a0; c.lw a0, 0(a1); c.sw a0, 0(a1) */
	{ 0x0808, { .flow = FLOW_ON, .len = 2, .reads = R(2), .writes = R(10) } },
	{ 0x4188, { .flow = FLOW_ON, .len = 2, .reads = R(11), .writes = R(10) } },
	{ 0xc188, { .flow = FLOW_ON, .len = 2, .reads = R(10) | R(11) } },
	/* c.addi a0; c.nop; c.li a0; c.lui a0; c.addi16sp */
	{ 0x0505, { .flow = FLOW_ON, .len = 2, .reads = R(10), .writes = R(10) } },
	{ 0x0001, { .flow = FLOW_ON, .len = 2 } },
	{ 0x4505, { .flow = FLOW_ON, .len = 2, .writes = R(10) } },
	{ 0x6505, { .flow = FLOW_ON, .len = 2, .writes = R(10) } },
	{ 0x7179, { .flow = FLOW_ON, .len = 2, .reads = R(2), .writes = R(2) } },
	/* c.srli a0; c.and a0, a1 */
	{ 0x8105, { .flow = FLOW_ON, .len = 2, .reads = R(10), .writes = R(10) } },
	{ 0x8d6d, { .flow = FLOW_ON, .len = 2, .reads = R(10) | R(11), .writes = R(10) } },
	/* c.j, the largest and the smallest; c.beqz a0, the largest; c.bnez a0, the smallest */
	{ 0xaffd, { .flow = FLOW_JUMP, .len = 2, .disp = 2046 } },
	{ 0xb001, { .flow = FLOW_JUMP, .len = 2, .disp = -2048 } },
	{ 0xcd7d, { .flow = FLOW_BRANCH, .len = 2, .reads = R(10), .disp = 254 } },
	{ 0xf101, { .flow = FLOW_BRANCH, .len = 2, .reads = R(10), .disp = -256 } },
	/* c.slli t1; c.lwsp a0; c.swsp a0 */
	{ 0x0306, { .flow = FLOW_ON, .len = 2, .reads = R(6), .writes = R(6) } },
	{ 0x4502, { .flow = FLOW_ON, .len = 2, .reads = R(2), .writes = R(10) } },
	{ 0xc02a, { .flow = FLOW_ON, .len = 2, .reads = R(2) | R(10) } },
	/* c.jr a5; c.jalr a5; c.mv a0, t1; c.add a0, t1 */
	{ 0x8782, { .flow = FLOW_JUMP_REGISTER, .len = 2, .reads = R(15), .base = 15 } },
	{ 0x9782, { .flow = FLOW_CALL_REGISTER, .len = 2, .reads = R(15), .writes = R(1),
		    .link = 1, .base = 15 } },
	{ 0x851a, { .flow = FLOW_ON, .len = 2, .reads = R(6), .writes = R(10) } },
	{ 0x951a, { .flow = FLOW_ON, .len = 2, .reads = R(6) | R(10), .writes = R(10) } },
	/* illegal; an encoding reserved for later extensions */
	{ 0x0000, { .flow = FLOW_UNKNOWN, .len = 2, .reads = ALL_REGS } },
	{ 0x9c61, { .flow = FLOW_UNKNOWN, .len = 2, .reads = ALL_REGS } },
};

static void opt_facts(struct kunit *test)
{
	struct insn_facts facts;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		kprobe_get_insn_facts(known[i].insn, &facts);
		KUNIT_EXPECT_EQ_MSG(test, facts.flow, known[i].facts.flow, "%08x", known[i].insn);
		KUNIT_EXPECT_EQ_MSG(test, facts.len, known[i].facts.len, "%08x", known[i].insn);
		KUNIT_EXPECT_EQ_MSG(test, facts.reads, known[i].facts.reads, "%08x",
				    known[i].insn);
		KUNIT_EXPECT_EQ_MSG(test, facts.writes, known[i].facts.writes, "%08x",
				    known[i].insn);
		KUNIT_EXPECT_EQ_MSG(test, facts.disp, known[i].facts.disp, "%08x", known[i].insn);
		KUNIT_EXPECT_EQ_MSG(test, facts.link, known[i].facts.link, "%08x", known[i].insn);
		KUNIT_EXPECT_EQ_MSG(test, facts.base, known[i].facts.base, "%08x", known[i].insn);
	}
}

/* -- copies of single instructions -- */

/* An address from which all other targets are in reach. */
#define HERE		((unsigned long)opt_rules[0].addr)
#define CODE_AT		(HERE - SZ_16M)

static void expect_reach(struct kunit *test, long distance, bool reached)
{
	u32 jump[2];

	KUNIT_EXPECT_EQ_MSG(test, kprobe_make_jump(jump, 6, HERE, HERE + distance), reached, "%ld",
			    distance);
	if (reached)
		KUNIT_EXPECT_EQ(test, jump_target(jump, HERE), HERE + distance);
}

static void opt_jump_reach(struct kunit *test)
{
	expect_reach(test, 0, true);
	expect_reach(test, 2046, true);
	expect_reach(test, 2048, true);
	expect_reach(test, -2048, true);
	expect_reach(test, -2050, true);
#ifdef CONFIG_64BIT
	expect_reach(test, (long)SZ_2G - 2050, true);
	expect_reach(test, (long)SZ_2G - 2048, false);
	expect_reach(test, -(long)SZ_2G - 2048, true);
	expect_reach(test, -(long)SZ_2G - 2050, false);
#endif
}

/* Make the detour of one instruction and of the jump behind it; return the copy. */
static const u8 *copy_of(struct kunit *test, u32 insn, bool fits)
{
	static struct detour image;
	struct region region = {
		.addr = HERE,
		.insns = { { .insn = insn, .reg = 7 } },
		.nr = 1,
		.len = insn_len(insn),
		.optinsn.reg = 6,
		.out = 28,
	};

	kprobe_get_insn_facts(insn, &region.insns[0].facts);
	KUNIT_EXPECT_EQ_MSG(test,
			    kprobe_make_detour(&image, &region,
					       CODE_AT - offsetof(struct detour, code)),
			    fits, "%08x", insn);
	KUNIT_EXPECT_EQ(test, region.optinsn.copy_at[0], DETOUR_COPIES);

	return image.code + DETOUR_COPIES;
}

static void expect_way_back(struct kunit *test, const u8 *copy, unsigned int at, u32 insn)
{
	KUNIT_EXPECT_EQ_MSG(test, jump_target(copy + at, CODE_AT + DETOUR_COPIES + at),
			    HERE + insn_len(insn), "%08x", insn);
}

static void opt_copies(struct kunit *test)
{
	const u8 *copy;

	copy = copy_of(test, 0x00158513, true);		/* addi a0, a1, 1 */
	KUNIT_EXPECT_EQ(test, read_u32(copy), 0x00158513);
	expect_way_back(test, copy, 4, 0x00158513);
}

/* AUIPC and ADDI must yield the value of the original AUIPC. */
static void expect_address(struct kunit *test, const u8 *copy, unsigned int at, unsigned int reg,
			   unsigned long addr)
{
	u32 auipc = read_u32(copy + at), addi = read_u32(copy + at + sizeof(u32));

	KUNIT_EXPECT_EQ(test, auipc & 0xfff, 0x17 | reg << 7);
	KUNIT_EXPECT_EQ(test, addi & 0xfffff, 0x13 | reg << 7 | reg << 15);
	KUNIT_EXPECT_EQ(test, addr, CODE_AT + DETOUR_COPIES + at + (s32)(auipc & ~0xfff) +
				    ((s32)addi >> 20));
}

static void opt_address(struct kunit *test)
{
	const u8 *copy;

	copy = copy_of(test, 0x00000517, true);		/* auipc a0, 0 */
	expect_address(test, copy, 0, 10, HERE);
	expect_way_back(test, copy, 8, 0x00000517);
	copy = copy_of(test, 0x80000517, true);		/* the smallest */
	expect_address(test, copy, 0, 10, HERE - SZ_2G);
	/* The largest is out of reach of the detour. */
	copy_of(test, 0x7ffff517, !IS_ENABLED(CONFIG_64BIT));
}

/* Expect the negated branch over a jump to the target, and behind that the jump back. */
static void expect_branch(struct kunit *test, u32 insn, u32 over, long disp)
{
	const u8 *copy = copy_of(test, insn, true);

	KUNIT_EXPECT_EQ_MSG(test, read_u32(copy), over, "%08x", insn);
	KUNIT_EXPECT_EQ_MSG(test, jump_target(copy + 4, CODE_AT + DETOUR_COPIES + 4), HERE + disp,
			    "%08x", insn);
	KUNIT_EXPECT_EQ(test, read_u32(copy + 4) >> 7 & 31, 7);
	expect_way_back(test, copy, 12, insn);
}

static void opt_branches(struct kunit *test)
{
	expect_branch(test, 0x7eb50fe3, 0x00b51663, 4094);	/* beq a0, a1: bne */
	expect_branch(test, 0x80037063, 0x00036663, -4096);	/* bgeu t1, zero: bltu */
	expect_branch(test, 0xcd7d, 0x00051663, 254);		/* c.beqz a0: bne */
	expect_branch(test, 0xf101, 0x00050663, -256);		/* c.bnez a0: beq */
}

static void expect_jump_copy(struct kunit *test, u32 insn, long disp)
{
	const u8 *copy = copy_of(test, insn, true);

	KUNIT_EXPECT_EQ_MSG(test, jump_target(copy, CODE_AT + DETOUR_COPIES), HERE + disp, "%08x",
			    insn);
}

static void opt_jumps(struct kunit *test)
{
	const u8 *copy;

	expect_jump_copy(test, 0x7ffff06f, SZ_1M - 2);
	expect_jump_copy(test, 0x8000006f, -SZ_1M);
	expect_jump_copy(test, 0xaffd, 2046);
	expect_jump_copy(test, 0xb001, -2048);
	copy = copy_of(test, 0x8782, true);			/* c.jr a5 */
	KUNIT_EXPECT_EQ(test, *(const u16 *)copy, 0x8782);
}

/* A call must link to the address behind the original. */
static void opt_calls(struct kunit *test)
{
	const u8 *copy;

	copy = copy_of(test, 0x008000ef, true);			/* jal ra, 8 */
	expect_address(test, copy, 0, 1, HERE + 4);
	KUNIT_EXPECT_EQ(test, jump_target(copy + 8, CODE_AT + DETOUR_COPIES + 8), HERE + 8);

	copy = copy_of(test, 0x800780e7, true);			/* jalr ra, -2048(a5) */
	expect_address(test, copy, 0, 1, HERE + 4);
	KUNIT_EXPECT_EQ(test, read_u32(copy + 8), 0x80078067);

	copy = copy_of(test, 0x800080e7, true);			/* jalr ra, -2048(ra) */
	KUNIT_EXPECT_EQ(test, read_u32(copy), 0x00008393);	/* mv t2, ra */
	expect_address(test, copy, 4, 1, HERE + 4);
	KUNIT_EXPECT_EQ(test, read_u32(copy + 12), 0x80038067);

	copy = copy_of(test, 0x9782, true);			/* c.jalr a5 */
	expect_address(test, copy, 0, 1, HERE + 2);
	KUNIT_EXPECT_EQ(test, read_u32(copy + 8), 0x00078067);
}

/* -- a hit while RCU does not watch -- */

static noinline notrace int in_idle(int n)
{
	/* Room for a jump, also without a frame. */
	asm volatile("nop; nop; nop; nop");

	return n + 1;
}

static int (*call_in_idle)(int n) = in_idle;

static unsigned int nr_watched;

static int note_watching(struct kprobe *kp, struct pt_regs *regs)
{
	nr_watched += rcu_is_watching_curr_cpu();

	return 0;
}

/* RCU must watch while a handler runs, also when the CPU is idle. */
static void opt_rcu_watches(struct kunit *test)
{
	struct subject s = {
		.kp = { .addr = (kprobe_opcode_t *)in_idle, .pre_handler = note_watching },
	};
	unsigned long flags;
	bool watched;

	nr_watched = 0;
	KUNIT_ASSERT_EQ(test, register_kprobe(&s.kp), 0);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_NOT_NULL(test, op_of(&s)->optinsn.insn);
	local_irq_save(flags);
	ct_idle_enter();
	READ_ONCE(call_in_idle)(1);
	watched = rcu_is_watching_curr_cpu();
	ct_idle_exit();
	local_irq_restore(flags);
	unregister_kprobe(&s.kp);
	KUNIT_EXPECT_FALSE(test, watched);
	KUNIT_EXPECT_EQ(test, nr_watched, 1);
}

static struct kunit_case opt_cases[] = {
	KUNIT_CASE_PARAM(opt_rule, next_rule),
	KUNIT_CASE(opt_free_registers),
	KUNIT_CASE(opt_facts),
	KUNIT_CASE(opt_jump_reach),
	KUNIT_CASE(opt_copies),
	KUNIT_CASE(opt_address),
	KUNIT_CASE(opt_branches),
	KUNIT_CASE(opt_jumps),
	KUNIT_CASE(opt_calls),
	KUNIT_CASE(opt_rcu_watches),
	{}
};

static struct kunit_suite opt_suite = {
	.name = "kprobes_riscv_opt",
	.suite_init = opt_suite_init,
	.suite_exit = opt_suite_exit,
	.test_cases = opt_cases,
};

kunit_test_suite(opt_suite);
