// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which places can have a jump, what the jump looks like, and why other places have none:
 * one row of opt_snippets.S for each rule of region.c. Only the text counts, whatever the
 * flags say.
 *
 * All rows are probed before the first of them is checked, because they can wait
 * together.
 */
#include <linux/jump_label.h>
#include <linux/kprobes_port.h>
#include <linux/memory.h>
#include <linux/static_call.h>
#include <linux/workqueue.h>
#include <asm/ibt.h>
#include <asm/insn.h>
#include <asm/text-patching.h>

#include "internal.h"
#include "opt_test.h"
#include "../../../../lib/test_kprobes/handlers.h"

/* Bytes to compare: more than a jump has, but none of the next row. */
#define WINDOW		(MAX_OPTIMIZED_LENGTH + 3)

static u8 *in_opt_branch(u32 offset)
{
	return inside(opt_branch, offset);
}

/* A probe, and the former text from where its jump should begin. */
struct subject {
	struct kprobe kp;
	u8 *jump;
	u8 text[WINDOW];
	int err;
};

#include "../../../../lib/test_kprobes/opt_rules.h"

static void subject_init(struct subject *s, u8 *addr, unsigned int lead)
{
	s->kp.addr = addr;
	s->kp.pre_handler = count_hit;
	s->jump = addr - lead;
	memcpy(s->text, s->jump, WINDOW);
}

static void subject_follow(struct subject *s, const struct rule *rule)
{
	subject_init(s, rule->start + rule->offset, rule->lead);
}

static struct subject *subject_add_handlers(struct kunit *test, u8 *addr, unsigned int lead,
					    kprobe_pre_handler_t pre, kprobe_post_handler_t post)
{
	struct subject *s = must_alloc(test, 1, sizeof(*s));

	subject_init(s, addr, lead);
	s->kp.pre_handler = pre;
	s->kp.post_handler = post;
	add_kprobe(test, &s->kp);

	return s;
}

static struct subject *subject_add_with(struct kunit *test, u8 *addr, unsigned int lead,
					kprobe_post_handler_t post)
{
	return subject_add_handlers(test, addr, lead, count_hit, post);
}

static struct subject *subject_add(struct kunit *test, u8 *addr)
{
	return subject_add_with(test, addr, 0, NULL);
}

static void subject_remove(struct kunit *test, struct subject *s)
{
	kunit_release_action(test, drop_kprobe, &s->kp);
}

static struct optimized_kprobe *op_of(const struct subject *s)
{
	struct kprobe *p = get_kprobe(s->kp.addr);

	return p ? container_of(p, struct optimized_kprobe, kp) : NULL;
}

static bool has_jump(const struct subject *s)
{
	return *s->jump == JMP32_INSN_OPCODE;
}

static bool has_flag(const struct subject *s)
{
	return op_of(s)->kp.flags & KPROBE_FLAG_OPTIMIZED;
}

static void expect_original(struct kunit *test, const struct subject *s)
{
	KUNIT_EXPECT_MEMEQ(test, s->jump, s->text, WINDOW);
}

/* Remove the last probe in its part of the text. */
static void subject_end(struct kunit *test, struct subject *s)
{
	subject_remove(test, s);
	expect_original(test, s);
}

/* -- one row after the other -- */

/* Return the target that the jump should have. */
static unsigned long wanted_target(const struct arch_optimized_insn *optinsn)
{
	return (unsigned long)optinsn->insn + (optinsn->lead ? optinsn->copy_at[0] : sizeof(long));
}

/* As has_jump(), for a place where the last byte of another jump may look like the first. */
static bool has_own_jump(const struct subject *s)
{
	const struct arch_optimized_insn *optinsn = &op_of(s)->optinsn;

	return has_jump(s) && jump_target(s->jump) == wanted_target(optinsn);
}

static void expect_jump(struct kunit *test, const struct subject *s)
{
	const struct arch_optimized_insn *optinsn = &op_of(s)->optinsn;
	unsigned int lead = s->kp.addr - s->jump;
	u8 after[WINDOW], *addr = s->jump;

	KUNIT_EXPECT_TRUE(test, has_flag(s));
	KUNIT_EXPECT_EQ(test, optinsn->lead, lead);
	KUNIT_ASSERT_EQ(test, addr[0], JMP32_INSN_OPCODE);
	KUNIT_EXPECT_EQ(test, jump_target(addr), wanted_target(optinsn));

	memcpy(after, s->text, WINDOW);
	after[lead] = INT3_INSN_OPCODE;
	KUNIT_EXPECT_MEMEQ(test, addr + JMP32_INSN_SIZE, after + JMP32_INSN_SIZE,
			   WINDOW - JMP32_INSN_SIZE);
}

static void expect_jump_soon(struct kunit *test, const struct subject *s)
{
	wait_for_kprobe_optimizer();
	expect_jump(test, s);
}

static void expect_breakpoint(struct kunit *test, const struct subject *s, const char *why)
{
	char text[64] = "";

	KUNIT_EXPECT_FALSE(test, has_flag(s));
	KUNIT_EXPECT_EQ(test, *s->kp.addr, INT3_INSN_OPCODE);
	KUNIT_EXPECT_MEMEQ(test, s->kp.addr + 1, s->text + 1, WINDOW - 1);

	kprobe_explain_obstacle(op_of(s), text, sizeof(text));
	KUNIT_EXPECT_STREQ(test, text, why);
}

static void opt_rule(struct kunit *test)
{
	const struct rule *rule = test->param_value;
	struct subject *s = &subjects[rule - opt_rules];

	KUNIT_ASSERT_EQ(test, s->err, 0);
	if (strstarts(rule->name, "call_"))
		skip_if_calls_have_no_jump(test);
	if (rule->why)
		expect_breakpoint(test, s, rule->why);
	else
		expect_jump(test, s);

	unregister_kprobe(&s->kp);
	s->err = -ENOENT;
	expect_original(test, s);
}

/* -- text that others rewrite -- */

static DEFINE_STATIC_KEY_FALSE(opt_test_key);

static noinline notrace int opt_keyed(int n)
{
	barrier();
	asm volatile("nop");
	if (static_branch_unlikely(&opt_test_key))
		return n;

	return n + 1;
}

static int opt_callee(int n)
{
	return n;
}

DEFINE_STATIC_CALL(opt_test_call, opt_callee);

static noinline notrace int opt_calling(int n)
{
	barrier();
	asm volatile("nop");

	return static_call(opt_test_call)(n) + 1;
}

static bool is_reserved(u8 *addr)
{
	bool reserved;

	jump_label_lock();
	mutex_lock(&text_mutex);
	reserved = jump_label_text_reserved(addr, addr) || static_call_text_reserved(addr, addr);
	mutex_unlock(&text_mutex);
	jump_label_unlock();

	return reserved;
}

/* Find the instruction in front of text that others rewrite in the function at @addr. */
static u8 *in_front_of_reserved(u8 *addr, unsigned int *len)
{
	struct insn insn;
	unsigned int i;

	for (i = 0; i < 16; i++) {
		if (insn_decode_kernel(&insn, addr))
			return NULL;
		*len = insn.length;
		if (is_reserved(addr + insn.length))
			return addr;
		addr += insn.length;
	}

	return NULL;
}

static void expect_reserved(struct kunit *test, void *function)
{
	const struct arch_optimized_insn *optinsn;
	struct subject *s;
	unsigned int len;
	char why[64];
	u8 *addr;

	addr = in_front_of_reserved(function, &len);
	if (!addr || len >= JMP32_INSN_SIZE)
		kunit_skip(test, "the compiler has left no place in front");

	snprintf(why, sizeof(why), "rewritten by others at +%u", len);
	s = subject_add(test, addr);
	wait_for_kprobe_optimizer();
	/* A jump may begin before it. */
	optinsn = &op_of(s)->optinsn;
	if (optinsn->lead)
		KUNIT_EXPECT_LE(test, JMP32_INSN_SIZE, optinsn->lead + len);
	else
		expect_breakpoint(test, s, why);
	KUNIT_EXPECT_MEMEQ(test, addr + len, s->text + len, WINDOW - len);
	subject_end(test, s);
}

static void opt_static_key(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, opt_keyed(1), 2);
	expect_reserved(test, opt_keyed);
}

static void opt_static_call(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_HAVE_STATIC_CALL_INLINE))
		kunit_skip(test, "no static calls in line");
	skip_if_calls_have_no_jump(test);
	KUNIT_EXPECT_EQ(test, opt_calling(1), 2);
	expect_reserved(test, opt_calling);
}

/* -- while the jump is planned -- */

/* Code that skips the region does not come to the probes in it. */
static void expect_branch(struct kunit *test, unsigned int from_above)
{
	hits = 0;
	KUNIT_EXPECT_EQ(test, opt_branch(0), 5);
	KUNIT_EXPECT_EQ(test, hits, from_above);
	hits = 0;
	KUNIT_EXPECT_EQ(test, opt_branch(1), 4);
	KUNIT_EXPECT_EQ(test, hits, 0);
}

static void enable_worker(void *unused)
{
	enable_delayed_work(&kprobe_optimizer);
}

/*
 * Add a probe for which a jump is planned. The worker's part is done here, so that this lasts
 * until there is other work for it.
 */
static struct subject *add_fenced(struct kunit *test, u8 *addr, u32 lead,
				  kprobe_post_handler_t post)
{
	struct subject *s;

	disable_delayed_work_sync(&kprobe_optimizer);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, enable_worker, NULL), 0);
	s = subject_add_with(test, addr, lead, post);
	kprobe_optimize_prepare_queued();
	scoped_guard(mutex, &kprobe_mutex)
		KUNIT_EXPECT_TRUE(test, kprobe_jumps_begin());
	kunit_release_action(test, enable_worker, NULL);

	KUNIT_EXPECT_TRUE(test, op_of(s)->optinsn.fenced);
	KUNIT_EXPECT_EQ(test, *addr, INT3_INSN_OPCODE);
	KUNIT_EXPECT_EQ(test, *s->jump, INT3_INSN_OPCODE);

	return s;
}

static struct subject *add_branch_fenced(struct kunit *test, kprobe_post_handler_t post)
{
	return add_fenced(test, in_opt_branch(opt_branch_probe), 0, post);
}

static void opt_disabled_while_fenced(struct kunit *test)
{
	struct subject *s = add_branch_fenced(test, NULL);

	KUNIT_EXPECT_EQ(test, disable_kprobe(&s->kp), 0);
	expect_original(test, s);
	expect_branch(test, 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&s->kp), 0);
	expect_jump_soon(test, s);
	subject_end(test, s);
}

/* -- neighbours in the region -- */

/* One jump serves both probes. */
static void expect_shared(struct kunit *test, const struct subject *outer,
			  const struct subject *inner)
{
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, has_own_jump(outer));
	KUNIT_EXPECT_TRUE(test, has_flag(inner));
}

/* The bytes that the jump replaces are not those that were there with the neighbour. */
static void opt_neighbour_came_first(struct kunit *test)
{
	struct subject *outer, *inner;
	u8 text[WINDOW];

	memcpy(text, in_opt_branch(opt_branch_probe), WINDOW);
	inner = subject_add(test, in_opt_branch(opt_branch_second));
	outer = subject_add(test, in_opt_branch(opt_branch_probe));
	expect_shared(test, outer, inner);
	expect_branch(test, 2);

	subject_remove(test, inner);
	KUNIT_EXPECT_FALSE(test, has_jump(outer));
	expect_branch(test, 1);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, has_jump(outer));
	expect_branch(test, 1);
	subject_remove(test, outer);
	KUNIT_EXPECT_MEMEQ(test, text, in_opt_branch(opt_branch_probe), WINDOW);
	expect_branch(test, 0);
}

/* A jump covers the instruction of a disabled neighbour, and makes room when it is enabled. */
static void opt_disabled_neighbour(struct kunit *test)
{
	struct subject *outer, *inner;

	inner = subject_add(test, in_opt_branch(opt_branch_second));
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, disable_kprobe(&inner->kp), 0);
	wait_for_kprobe_optimizer();

	outer = subject_add(test, in_opt_branch(opt_branch_probe));
	wait_for_kprobe_optimizer();
	KUNIT_ASSERT_TRUE(test, has_jump(outer));
	expect_branch(test, 1);

	KUNIT_EXPECT_EQ(test, enable_kprobe(&inner->kp), 0);
	KUNIT_EXPECT_FALSE(test, has_jump(outer));
	expect_branch(test, 2);
	expect_shared(test, outer, inner);
	expect_branch(test, 2);
	subject_remove(test, outer);
	subject_remove(test, inner);
	expect_original(test, outer);
}

/* -- jumps that begin before the probe -- */

static u8 *in_opt_tail(u32 offset)
{
	return inside(opt_tail, offset);
}

static struct subject *add_tail(struct kunit *test, kprobe_post_handler_t post)
{
	return subject_add_with(test, in_opt_tail(opt_tail_probe), opt_tail_probe - opt_tail_start,
				post);
}

static struct subject *add_tail_jump(struct kunit *test, kprobe_post_handler_t post)
{
	struct subject *s = add_tail(test, post);

	expect_jump_soon(test, s);

	return s;
}

static void expect_tail(struct kunit *test, unsigned int expected)
{
	hits = 0;
	KUNIT_EXPECT_EQ(test, opt_tail(5), 7);
	KUNIT_EXPECT_EQ(test, hits, expected);
}

static void opt_lead(struct kunit *test)
{
	struct subject *s;
	unsigned int i;

	s = add_tail(test, NULL);
	expect_tail(test, 1);
	expect_jump_soon(test, s);
	expect_tail(test, 1);
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, disable_kprobe(&s->kp), 0);
		expect_tail(test, 0);
		if (i % 2)
			wait_for_kprobe_optimizer();
		KUNIT_EXPECT_EQ(test, enable_kprobe(&s->kp), 0);
		expect_tail(test, 1);
	}
	expect_jump_soon(test, s);
	subject_end(test, s);
	expect_tail(test, 0);
}

/* Readers of the text see the original, whatever is written there. */
static void opt_lead_read(struct kunit *test)
{
	struct subject *s;
	unsigned int i;
	u8 byte;
	int err;

	s = add_tail_jump(test, NULL);
	guard(mutex)(&text_mutex);
	for (i = 0; i < WINDOW; i++) {
		err = arch_kprobe_read_insn(&byte, (unsigned long)s->jump + i, 1);
		KUNIT_EXPECT_EQ(test, err, 0);
		KUNIT_EXPECT_EQ_MSG(test, byte, s->text[i], "at +%u", i);
	}
}

/* The breakpoint in front belongs to no probe, and is there before the jump is. */
static void opt_lead_fenced(struct kunit *test)
{
	const u32 lead = opt_tail_probe - opt_tail_start;
	struct subject *s = add_fenced(test, in_opt_tail(opt_tail_probe), lead, NULL);

	expect_tail(test, 1);
	subject_end(test, s);
	expect_tail(test, 0);
}

/* A probe at the start of the jump, between, or after the probe needs its own text. */
static void expect_lead_neighbour(struct kunit *test, u32 offset)
{
	struct subject *s, *other;

	s = add_tail_jump(test, NULL);
	other = subject_add(test, in_opt_tail(offset));
	KUNIT_EXPECT_FALSE(test, has_jump(s));
	wait_for_kprobe_optimizer();
	expect_tail(test, 2);

	subject_remove(test, other);
	expect_jump_soon(test, s);
	expect_tail(test, 1);
	subject_end(test, s);
}

static void opt_lead_neighbours(struct kunit *test)
{
	expect_lead_neighbour(test, opt_tail_start);
	expect_lead_neighbour(test, opt_tail_start + 1);
	expect_lead_neighbour(test, opt_tail_end);
}

/* Neither probe is in the other's jump, but the jumps would overlap. */
static void expect_overlap(struct kunit *test, bool lead_first)
{
	struct subject *lead, *plain;

	/* The other probe is at the first test, with the second and the start of this jump. */
	if (lead_first)
		lead = add_tail(test, NULL);
	wait_for_kprobe_optimizer();
	plain = subject_add(test, in_opt_tail(opt_tail_start - 2 - 2));
	wait_for_kprobe_optimizer();
	if (!lead_first)
		lead = add_tail(test, NULL);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, has_own_jump(lead), lead_first);
	KUNIT_EXPECT_EQ(test, has_own_jump(plain), !lead_first);
	expect_tail(test, 2);

	subject_remove(test, lead_first ? lead : plain);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, has_own_jump(lead_first ? plain : lead));
	expect_tail(test, 1);
	subject_remove(test, lead_first ? plain : lead);
	expect_tail(test, 0);
	expect_original(test, lead_first ? lead : plain);
}

static void opt_lead_overlaps(struct kunit *test)
{
	expect_overlap(test, false);
	expect_overlap(test, true);
}

static int refuse_detour(struct optimized_kprobe *op, struct kprobe *orig)
{
	return -EINVAL;
}

static void allow_detours(void *unused)
{
	WRITE_ONCE(kprobe_optimize_prepare, arch_prepare_optimized_kprobe);
}

/* A third probe, without a jump, removes the jump that prevents another one. */
static void opt_lead_makes_way(struct kunit *test)
{
	struct subject *lead, *plain, *between;

	lead = add_tail(test, NULL);
	wait_for_kprobe_optimizer();
	plain = subject_add(test, in_opt_tail(opt_tail_start - 2 - 2));
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, has_own_jump(lead));
	KUNIT_EXPECT_FALSE(test, has_own_jump(plain));

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, allow_detours, NULL), 0);
	WRITE_ONCE(kprobe_optimize_prepare, refuse_detour);
	between = subject_add(test, in_opt_tail(opt_tail_start + 1));
	wait_for_kprobe_optimizer();
	kunit_release_action(test, allow_detours, NULL);
	KUNIT_EXPECT_FALSE(test, has_own_jump(lead));
	KUNIT_EXPECT_TRUE(test, has_own_jump(plain));
	expect_tail(test, 3);

	subject_remove(test, between);
	subject_remove(test, plain);
	subject_remove(test, lead);
	expect_tail(test, 0);
	expect_original(test, lead);
}

/* The address to which a handler of another probe sends the CPU. */
static unsigned long sent_to;

static int send(struct kprobe *kp, struct pt_regs *regs)
{
	regs->ip = sent_to;

	return 1;
}

/* Jump from @from to @to, before the probe or at it, and hit the probe. */
static void expect_sent(struct kunit *test, u32 from, u32 to)
{
	struct subject *sender;

	sent_to = (unsigned long)in_opt_tail(to);
	sender = subject_add_handlers(test, in_opt_tail(from), 0, send, NULL);
	hits = 0;
	KUNIT_EXPECT_EQ(test, opt_tail(5), 7);
	KUNIT_EXPECT_EQ_MSG(test, hits, 1, "sent to +%u", to);
	subject_remove(test, sender);
}

static void opt_lead_sent_to(struct kunit *test)
{
	u32 to, behind_push = opt_tail_start - 2 - 2 - 2;
	struct subject *s = add_tail_jump(test, NULL);

	for (to = opt_tail_start; to <= opt_tail_probe; to++)
		expect_sent(test, behind_push, to);
	subject_end(test, s);

	/* The same from before a longer lead. */
	s = subject_add_with(test, in_opt_tail(opt_tail_end), opt_tail_end - opt_tail_start, NULL);
	expect_jump_soon(test, s);
	expect_sent(test, behind_push - 1, opt_tail_end);
	subject_end(test, s);
}

static unsigned int behind;

static void count_behind_tail(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	behind += regs->ip == (unsigned long)in_opt_tail(opt_tail_end) && regs->ax == 7;
}

static void opt_lead_post(struct kunit *test)
{
	add_tail_jump(test, count_behind_tail);
	behind = 0;
	expect_tail(test, 1);
	KUNIT_EXPECT_EQ(test, behind, 1);
}

/* Each place in the slot stands for one of the instructions, in their order. */
static void opt_lead_originals(struct kunit *test)
{
	struct subject *s = add_tail_jump(test, NULL);
	const struct arch_optimized_insn *optinsn = &op_of(s)->optinsn;
	unsigned long slot, start, probe;

	slot = (unsigned long)optinsn->insn;
	start = (unsigned long)s->jump;
	probe = (unsigned long)s->kp.addr;
	KUNIT_EXPECT_EQ(test, arch_kprobe_original_ip(slot + optinsn->copy_at[0]), start);
	KUNIT_EXPECT_EQ(test, arch_kprobe_original_ip(slot + optinsn->copy_at[1]), start + 1);
	KUNIT_EXPECT_EQ(test, arch_kprobe_original_ip(slot + optinsn->enter), probe);
	KUNIT_EXPECT_EQ(test, arch_kprobe_original_ip(slot + sizeof(long)), probe);
	KUNIT_EXPECT_EQ(test, arch_kprobe_original_ip(slot + optinsn->copy_at[2]), probe);
	KUNIT_EXPECT_EQ(test, arch_kprobe_original_ip(slot + optinsn->copy_at[3]), probe + 1);
	KUNIT_EXPECT_EQ(test, arch_kprobe_original_ip(slot + optinsn->back), start + 5);
	KUNIT_EXPECT_EQ(test, arch_kprobe_original_sp(slot + optinsn->copy_at[0], 8), 8);
}

/* -- handlers that set another ip, failure C15 -- */

static u8 *behind_endbr(long (*fn)(long n))
{
	return inside(fn, ENDBR_INSN_SIZE);
}

static int return_at_once(struct kprobe *kp, struct pt_regs *regs)
{
	hits++;
	regs->ip = *(unsigned long *)regs->sp;
	regs->sp += sizeof(long);
	regs->ax = 77;

	return 1;
}

/* A hit of opt_stack_inner() with @handler gives @result by a breakpoint and by a jump. */
static void expect_result(struct kunit *test, kprobe_pre_handler_t handler, long result)
{
	bool by_trap = false;
	struct subject *s = NULL;
	unsigned int i;

	for (i = 0; i < 10 && !by_trap; i++) {
		if (i)
			subject_remove(test, s);
		s = subject_add_handlers(test, behind_endbr(opt_stack_inner), 0, handler, NULL);
		hits = 0;
		KUNIT_EXPECT_EQ_MSG(test, opt_stack(5), result, "%ps", handler);
		/* Otherwise the jump came early. */
		by_trap = !has_jump(s);
	}
	KUNIT_EXPECT_TRUE(test, by_trap);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, has_jump(s));
	KUNIT_EXPECT_EQ_MSG(test, opt_stack(5), result, "%ps, by a jump", handler);
	KUNIT_EXPECT_EQ(test, hits, 2);
	subject_end(test, s);
}

/* Continue at the displacement of the jump. */
static void skip_to_last(struct pt_regs *regs)
{
	hits++;
	regs->ip = (unsigned long)inside(opt_stack_inner, opt_stack_inner_last_at);
	regs->ax = 99;
}

static int skip_insns(struct kprobe *kp, struct pt_regs *regs)
{
	skip_to_last(regs);

	return 1;
}

static void opt_handler_goes_elsewhere(struct kunit *test)
{
	expect_result(test, return_at_once, 77);
	expect_result(test, skip_insns, 99);
}

/* Where calls are counted, this is done in front of the function. */
static void skip_behind_call(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	if ((unsigned long)opt_stack_inner - regs->ip <= CONFIG_FUNCTION_PADDING_BYTES)
		skip_to_last(regs);
}

static int skip_with_call(struct kprobe *kp, struct pt_regs *regs)
{
	regs->sp -= sizeof(long);
	*(unsigned long *)regs->sp = (unsigned long)kp->addr + CALL_INSN_SIZE;
	skip_to_last(regs);

	return 1;
}

/* Skip from the probe @into, hit by a breakpoint or, mostly, by a jump, into another jump. */
static void expect_skip_into(struct kunit *test, kprobe_pre_handler_t pre, bool jump)
{
	struct kprobe into = {
		.addr = inside(opt_stack, opt_stack_call_at),
		.pre_handler = pre,
		.post_handler = skip_behind_call,
	};
	struct subject *s = subject_add(test, behind_endbr(opt_stack_inner));

	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, has_jump(s));

	KUNIT_ASSERT_EQ(test, register_kprobe(&into), 0);
	if (jump) {
		wait_for_kprobe_optimizer();
		KUNIT_EXPECT_EQ(test, *into.addr, JMP32_INSN_OPCODE);
	}
	hits = 0;
	KUNIT_EXPECT_EQ(test, opt_stack(5), 99);
	KUNIT_EXPECT_EQ(test, hits, 1);
	unregister_kprobe(&into);
	subject_end(test, s);
}

static void opt_handler_skips_into(struct kunit *test)
{
	skip_if_calls_have_no_jump(test);
	expect_skip_into(test, skip_with_call, false);
	expect_skip_into(test, skip_with_call, true);
	expect_skip_into(test, NULL, false);
	expect_skip_into(test, NULL, true);
}

static void push_word(struct pt_regs *regs)
{
	unsigned long ret = *(unsigned long *)regs->sp;

	hits++;
	regs->sp -= sizeof(long);
	*(unsigned long *)regs->sp = ret;
}

static int push_only(struct kprobe *kp, struct pt_regs *regs)
{
	push_word(regs);

	return 0;
}

static int inject_call(struct kprobe *kp, struct pt_regs *regs)
{
	push_word(regs);
	regs->ip = (unsigned long)opt_stack_injected;

	return 1;
}

static void inject_call_behind(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	inject_call(kp, regs);
}

static void opt_handler_pushes(struct kunit *test)
{
	struct kprobe behind = {
		.addr = inside(opt_stack_inner, opt_stack_inner_last_at),
		.post_handler = inject_call_behind,
	};

	expect_result(test, push_only, 5 + sizeof(long));
	expect_result(test, inject_call, 42);

	KUNIT_ASSERT_EQ(test, register_kprobe(&behind), 0);
	KUNIT_EXPECT_EQ(test, opt_stack(5), 42);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, opt_stack(5), 42);
	unregister_kprobe(&behind);
}

/* Less than opt_stack() can spare. */
#define HIGHER	32

static int move_stack(struct kprobe *kp, struct pt_regs *regs)
{
	unsigned long ret = *(unsigned long *)regs->sp;

	hits++;
	regs->sp += HIGHER;
	*(unsigned long *)regs->sp = ret;

	return 0;
}

static void opt_handler_moves_stack(struct kunit *test)
{
	struct subject *s;

	s = subject_add_handlers(test, behind_endbr(opt_stack_inner), 0, move_stack, NULL);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, has_jump(s));

	hits = 0;
	KUNIT_EXPECT_EQ(test, opt_stack(5), 5 - HIGHER);
	KUNIT_EXPECT_EQ(test, hits, 1);
	subject_end(test, s);
}

/* -- post_handlers, called from the detour -- */

/* One letter for each call. */
static char calls[16];
static unsigned int nr_calls;

struct caller_probe {
	struct kprobe kp;
	char pre;
	char post;
	kprobe_pre_handler_t then;
};

static void note_call(char letter)
{
	if (nr_calls < sizeof(calls) - 1)
		calls[nr_calls++] = letter;
}

static int note_pre(struct kprobe *kp, struct pt_regs *regs)
{
	struct caller_probe *c = container_of(kp, struct caller_probe, kp);

	note_call(c->pre);

	return c->then ? c->then(kp, regs) : 0;
}

static void note_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	note_call(container_of(kp, struct caller_probe, kp)->post);
}

static struct caller_probe *caller_add(struct kunit *test, u8 *addr, char pre, char post)
{
	struct caller_probe *c = must_alloc(test, 1, sizeof(*c));

	c->pre = pre;
	c->post = post;
	c->kp.addr = addr;
	c->kp.pre_handler = note_pre;
	c->kp.post_handler = post ? note_post : NULL;
	add_kprobe(test, &c->kp);

	return c;
}

static void expect_calls(struct kunit *test, const struct caller_probe *c, long result,
			 const char *expected)
{
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, *c->kp.addr, JMP32_INSN_OPCODE);
	nr_calls = 0;
	memset(calls, 0, sizeof(calls));
	KUNIT_EXPECT_EQ(test, opt_stack(5), result);
	KUNIT_EXPECT_STREQ(test, calls, expected);
}

/* The last registered is called first, whichever member joins, leaves or is disabled. */
static void opt_post_members(struct kunit *test)
{
	struct caller_probe *a, *b, *c;
	u8 *addr = behind_endbr(opt_stack_inner);

	a = caller_add(test, addr, 'a', 0);
	expect_calls(test, a, 5, "a");
	b = caller_add(test, addr, 'b', 'B');
	expect_calls(test, a, 5, "baB");
	c = caller_add(test, addr, 'c', 'C');
	expect_calls(test, a, 5, "cbaCB");
	KUNIT_EXPECT_EQ(test, disable_kprobe(&b->kp), 0);
	expect_calls(test, a, 5, "caC");
	KUNIT_EXPECT_EQ(test, disable_kprobe(&c->kp), 0);
	expect_calls(test, a, 5, "a");
	KUNIT_EXPECT_EQ(test, enable_kprobe(&b->kp), 0);
	expect_calls(test, a, 5, "baB");
	kunit_release_action(test, drop_kprobe, &a->kp);
	expect_calls(test, b, 5, "bB");
	kunit_release_action(test, drop_kprobe, &b->kp);
}

/*
 * If a handler continues elsewhere, the instruction is not executed, and no post_handler
 * runs.
 */
static void opt_post_after_redirect(struct kunit *test)
{
	struct caller_probe *a, *b;
	u8 *addr = behind_endbr(opt_stack_inner);

	a = caller_add(test, addr, 'a', 'A');
	b = caller_add(test, addr, 'b', 'B');
	expect_calls(test, a, 5, "baBA");
	a->then = return_at_once;
	expect_calls(test, a, 77, "ba");
	a->then = NULL;
	b->then = return_at_once;
	expect_calls(test, a, 77, "b");
	b->then = push_only;
	expect_calls(test, a, 5 + sizeof(long), "baBA");
}

/* The instruction is emulated, and pushes where a handler may have pushed. */
static void opt_post_of_call(struct kunit *test)
{
	struct caller_probe *c, *i;

	skip_if_calls_have_no_jump(test);
	c = caller_add(test, inside(opt_stack, opt_stack_call_at), 'c', 'C');
	expect_calls(test, c, 5, "cC");
	i = caller_add(test, behind_endbr(opt_stack_inner), 'i', 'I');
	expect_calls(test, i, 5, "cCiI");
	c->then = push_only;
	expect_calls(test, i, 5 + sizeof(long), IS_ENABLED(CONFIG_X86_64) ? "ciI" : "cCiI");
	i->then = return_at_once;
	c->then = NULL;
	expect_calls(test, c, 77, "cCi");
}

static void count_behind(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	posts += regs->ip == (unsigned long)in_opt_branch(opt_branch_second);
}

/* First by the breakpoint while the jump is planned, and then by the jump. */
static void opt_post_while_fenced(struct kunit *test)
{
	struct subject *s = add_branch_fenced(test, count_behind);

	posts = 0;
	expect_branch(test, 1);
	KUNIT_EXPECT_EQ(test, posts, 1);
	expect_jump_soon(test, s);
	expect_branch(test, 1);
	KUNIT_EXPECT_EQ(test, posts, 2);
	subject_end(test, s);
}

/* -- a static key may branch into the region, though it does not now -- */

#ifdef CONFIG_JUMP_LABEL
#define NR_KEYED	64

static struct optimized_kprobe *op_at(unsigned long addr)
{
	struct kprobe *p;

	guard(preempt)();
	p = get_kprobe((void *)addr);

	return p ? container_of(p, struct optimized_kprobe, kp) : NULL;
}

/* The probes are anywhere in the kernel here. */
NOKPROBE_SYMBOL(ignore_hit);

/* Probe the instruction before the target of one of the kernel's static keys. */
static unsigned int probe_before(struct kprobe *kp, unsigned long target)
{
	unsigned int at;

	for (at = 1; at < JMP32_INSN_SIZE; at++) {
		*kp = (struct kprobe){ .addr = (u8 *)target - at, .pre_handler = ignore_hit };
		if (!register_kprobe(kp))
			return at;
	}

	return 0;
}

static void opt_static_branches(struct kunit *test)
{
	struct kprobe *kps = must_alloc(test, NR_KEYED, sizeof(*kps));
	u8 at[NR_KEYED] = {};
	struct jump_entry *e;
	unsigned int i, nr = 0, jumps = 0;

	for (e = __start___jump_table; e < __stop___jump_table && nr < NR_KEYED; e++) {
		at[nr] = probe_before(&kps[nr], jump_entry_target(e));
		nr += !!at[nr];
	}

	wait_for_kprobe_optimizer();
	for (i = 0; i < nr; i++) {
		struct optimized_kprobe *op = op_at((unsigned long)kps[i].addr);

		if (!op || !op->optinsn.insn)
			continue;
		KUNIT_EXPECT_GE_MSG(test, at[i] + op->optinsn.lead, JMP32_INSN_SIZE,
				    "%pS, jump at -%u", kps[i].addr, op->optinsn.lead);
		jumps++;
	}
	kunit_info(test, "%u of %u have a jump that ends where a key may branch to\n", jumps, nr);
	while (nr)
		unregister_kprobe(&kps[--nr]);
}
#endif

static struct kunit_case opt_cases[] = {
	KUNIT_CASE_PARAM(opt_rule, next_rule),
	KUNIT_CASE(opt_static_key),
	KUNIT_CASE(opt_static_call),
#ifdef CONFIG_JUMP_LABEL
	KUNIT_CASE(opt_static_branches),
#endif
	KUNIT_CASE(opt_disabled_while_fenced),
	KUNIT_CASE(opt_neighbour_came_first),
	KUNIT_CASE(opt_disabled_neighbour),
	KUNIT_CASE(opt_lead),
	KUNIT_CASE(opt_lead_read),
	KUNIT_CASE(opt_lead_fenced),
	KUNIT_CASE(opt_lead_neighbours),
	KUNIT_CASE(opt_lead_overlaps),
	KUNIT_CASE(opt_lead_makes_way),
	KUNIT_CASE(opt_lead_sent_to),
	KUNIT_CASE(opt_lead_post),
	KUNIT_CASE(opt_lead_originals),
	KUNIT_CASE(opt_handler_goes_elsewhere),
	KUNIT_CASE(opt_handler_skips_into),
	KUNIT_CASE(opt_handler_pushes),
	KUNIT_CASE(opt_handler_moves_stack),
	KUNIT_CASE(opt_post_members),
	KUNIT_CASE(opt_post_after_redirect),
	KUNIT_CASE(opt_post_of_call),
	KUNIT_CASE(opt_post_while_fenced),
	{}
};

static struct kunit_suite opt_suite = {
	.name = "kprobes_x86_opt",
	.suite_init = opt_suite_init,
	.suite_exit = opt_suite_exit,
	.test_cases = opt_cases,
};

kunit_test_suite(opt_suite);
