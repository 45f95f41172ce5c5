// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fault handlers: which of them is asked about a fault, and how the faulting code
 * continues. A fault that none of them deals with is an oops, and not tested here.
 */
#include <linux/objtool.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#if defined(CONFIG_X86) || defined(CONFIG_RISCV)
#include <asm/insn.h>
#endif

#include "internal.h"
#include "../../lib/test_kprobes/handlers.h"

static int *bad_pointer = (int *)8;
/* An address without memory that no program can have: see on_pre_nofault(). */
static int *bad_kernel_pointer = (int *)-8L;

/* -- the probed functions -- */

DEFINE_TARGET(u32, fault_test_plain, (u32 n), n * 5 + 7, notrace)
DEFINE_TARGET(u32, fault_test_traced, (u32 n), n * 5 + 7)

/*
 * The instruction at the label reads from @from; if it is skipped, the function returns
 * 77. There is room for a jump after it.
 */
extern u8 fault_test_load[];

#if defined(CONFIG_X86_64)
#define FROM_REGISTER		"rdi"
#define from_register(r)	((r)->di)
#elif defined(CONFIG_X86)
#define FROM_REGISTER		"edi"
#define from_register(r)	((r)->di)
#elif defined(CONFIG_ARM64)
#define FROM_REGISTER		"x0"
#define from_register(r)	((r)->regs[0])
#else
#define FROM_REGISTER		"a0"
#define from_register(r)	((r)->a0)
#endif

static noinline notrace u32 fault_test_reads(const u32 *from)
{
	register const u32 *at asm(FROM_REGISTER) = from;
	u32 n = 77;

	asm volatile(ANNOTATE_NOENDBR "\n\t"
		     ".globl fault_test_load\nfault_test_load: " LOAD
		     : "+r" (n) : "r" (at) : "memory");
	barrier();
	return n;
}

static unsigned long behind(unsigned long ip)
{
#if defined(CONFIG_X86)
	u8 bytes[MAX_INSN_SIZE];
	struct insn insn;

	arch_kprobe_read_insn(bytes, ip, sizeof(bytes));
	insn_decode_kernel(&insn, bytes);
	return ip + insn.length;
#elif defined(CONFIG_RISCV)
	/* A breakpoint may be there, which has the length of the instruction. */
	return ip + GET_INSN_LENGTH(*(u16 *)ip);
#else
	return ip + 4;
#endif
}

/* -- the handlers -- */

static unsigned int asked;
static struct kprobe *asked_of;
static int asked_trap;
static unsigned long asked_ip;

/* Skip the instruction that has faulted. */
static int on_fault(struct kprobe *kp, struct pt_regs *regs, int trapnr)
{
	asked++;
	asked_of = kp;
	asked_trap = trapnr;
	asked_ip = instruction_pointer(regs);
	instruction_pointer_set(regs, behind(instruction_pointer(regs)));
	return 1;
}

/* Let the instruction read memory that exists. */
static int on_fault_repair(struct kprobe *kp, struct pt_regs *regs, int trapnr)
{
	static u32 repaired = 99;

	asked++;
	from_register(regs) = (unsigned long)&repaired;
	return 1;
}

static int on_others_fault(struct kprobe *kp, struct pt_regs *regs, int trapnr)
{
	asked += 100;
	return 0;
}

static int on_pre_faulty(struct kprobe *kp, struct pt_regs *regs)
{
	WRITE_ONCE(*READ_ONCE(bad_pointer), 1);
	hits++;
	return 0;
}

static void on_post_faulty(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	WRITE_ONCE(*READ_ONCE(bad_pointer), 1);
	posts++;
}

/* For the entry and for the return. */
static int on_return_faulty(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	WRITE_ONCE(*READ_ONCE(bad_pointer), 1);
	hits++;
	return 0;
}

static int on_pre_nofault(struct kprobe *kp, struct pt_regs *regs)
{
	int value;

	/* Returns -ERANGE for an address that is not even read. */
	hits += copy_from_kernel_nofault(&value, bad_kernel_pointer, sizeof(value)) == -EFAULT;
	return 0;
}

static int fault_test_init(struct kunit *test)
{
	asked = 0;
	hits = 0;
	posts = 0;
	asked_of = NULL;

	return 0;
}

static const struct target {
	const char *name;
	u32 (*fn)(u32 n);
} targets[] = {
	{ "plain", fault_test_plain },
	{ "traced", fault_test_traced },
};

KUNIT_ARRAY_PARAM_DESC(target, targets, name);

/* Removed after the case, so they cannot be on its stack. */
static struct kprobe kp, fellow;

static struct kprobe on_target(struct kunit *test)
{
	const struct target *t = test->param_value;

	return (struct kprobe) {
		.addr = dereference_symbol_descriptor(t->fn),
		.fault_handler = on_fault,
	};
}

static struct kprobe on_load(kprobe_pre_handler_t pre, kprobe_fault_handler_t fault)
{
	return (struct kprobe) {
		.addr = (kprobe_opcode_t *)fault_test_load,
		.pre_handler = pre,
		.fault_handler = fault,
	};
}

static void expect_asked_about(struct kunit *test, const struct kprobe *kp, int trap)
{
	KUNIT_EXPECT_EQ(test, asked, 1);
	KUNIT_EXPECT_PTR_EQ(test, asked_of, kp);
	if (IS_ENABLED(CONFIG_X86))
		KUNIT_EXPECT_EQ(test, asked_trap, trap);
	KUNIT_EXPECT_NULL(test, this_cpu_read(kprobe_fault_member));
	asked = 0;
}

static void expect_asked(struct kunit *test, const struct kprobe *kp)
{
	expect_asked_about(test, kp, 14);
}

static void expect_call(struct kunit *test)
{
	const struct target *t = test->param_value;

	KUNIT_EXPECT_EQ(test, t->fn(3), 22);
}

static void expect_call_asks(struct kunit *test, const struct kprobe *kp)
{
	expect_call(test);
	expect_asked(test, kp);
}

/* A handler fixes up a pre_handler that writes to NULL, and execution continues. */
static void fault_in_pre_handler(struct kunit *test)
{
	kp = on_target(test);
	kp.pre_handler = on_pre_faulty;
	add_kprobe(test, &kp);
	expect_call_asks(test, &kp);
	expect_call_asks(test, &kp);
	KUNIT_EXPECT_EQ(test, hits, 2);
	KUNIT_EXPECT_EQ(test, kp.nmissed, 0);
}

static void fault_in_post_handler(struct kunit *test)
{
	kp = on_target(test);
	kp.post_handler = on_post_faulty;
	add_kprobe(test, &kp);
	expect_call_asks(test, &kp);
	KUNIT_EXPECT_EQ(test, posts, 1);
}

static void fault_in_return_probe(struct kunit *test)
{
	struct kretprobe rp = { .kp = on_target(test), .entry_handler = on_return_faulty };

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	expect_call_asks(test, &rp.kp);
	KUNIT_EXPECT_EQ(test, hits, 1);
	unregister_kretprobe(&rp);

	rp.entry_handler = NULL;
	rp.handler = on_return_faulty;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	expect_call_asks(test, &rp.kp);
	KUNIT_EXPECT_EQ(test, hits, 2);
	unregister_kretprobe(&rp);
}

static u32 on_call_faulty(u32 n)
{
	WRITE_ONCE(*READ_ONCE(bad_pointer), 1);
	hits += n;
	return 0;
}

static void fault_in_jprobe(struct kunit *test)
{
	struct jprobe jp = { .kp = on_target(test), .entry = JPROBE_ENTRY(on_call_faulty) };

	if (!IS_ENABLED(CONFIG_JPROBES))
		kunit_skip(test, "no jprobes in this kernel");
	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	expect_call_asks(test, &jp.kp);
	KUNIT_EXPECT_EQ(test, hits, 3);
	unregister_jprobe(&jp);
}

/* Of several probes at an address, only the one whose handler faults is asked. */
static void fault_of_one_of_several(struct kunit *test)
{
	static struct kprobe third;

	fellow = on_target(test);
	fellow.pre_handler = count_hit;
	fellow.fault_handler = on_others_fault;
	third = fellow;
	kp = on_target(test);
	kp.pre_handler = on_pre_faulty;
	add_kprobe(test, &fellow);
	add_kprobe(test, &kp);
	add_kprobe(test, &third);
	expect_call_asks(test, &kp);
	KUNIT_EXPECT_EQ(test, hits, 3);
}

/* No handler is asked about a fault with a fixup. */
static void fault_with_fixup(struct kunit *test)
{
	kp = on_target(test);
	kp.pre_handler = on_pre_nofault;
	add_kprobe(test, &kp);
	expect_call(test);
	KUNIT_EXPECT_EQ(test, hits, 1);
	KUNIT_EXPECT_EQ(test, asked, 0);
}

static void expect_jump(struct kunit *test, struct kprobe *kp)
{
	wait_for_kprobe_optimizer();
	scoped_guard(mutex, &kprobe_mutex)
		KUNIT_EXPECT_EQ(test, kprobe_point_find_member(kp)->state, POINT_OPTIMIZED);
}

/* The instruction that faults is in a copy at first, and with @jump in a detour. */
static void expect_instruction_asks(struct kunit *test, bool jump)
{
	const u32 good = 5;

	kp = on_load(count_hit, on_fault);
	add_kprobe(test, &kp);
	if (jump)
		expect_jump(test, &kp);
	KUNIT_EXPECT_EQ(test, ASK(fault_test_reads, &good), 5);
	KUNIT_EXPECT_EQ(test, asked, 0);
	KUNIT_EXPECT_EQ(test, ASK(fault_test_reads, bad_pointer), 77);
	expect_asked(test, &kp);
	KUNIT_EXPECT_EQ(test, asked_ip, (unsigned long)fault_test_load);
	KUNIT_EXPECT_EQ(test, hits, 2);

	/* The instruction is over for a post_handler as well. */
	fellow = on_load(count_hit, NULL);
	fellow.post_handler = count_post;
	add_kprobe(test, &fellow);
	if (jump)
		wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, ASK(fault_test_reads, bad_pointer), 77);
	expect_asked(test, &kp);
	KUNIT_EXPECT_EQ(test, posts, 1);
	kunit_release_action(test, drop_kprobe, &fellow);

	/* Handlers are asked one after the other, until one has dealt with the fault. */
	fellow = on_load(count_hit, on_others_fault);
	add_kprobe(test, &fellow);
	if (jump)
		expect_jump(test, &kp);
	KUNIT_EXPECT_EQ(test, ASK(fault_test_reads, bad_pointer), 77);
	KUNIT_EXPECT_EQ(test, asked, 101);
}

/* The probed instruction itself faults, after its pre_handlers have run. */
static void fault_of_instruction(struct kunit *test)
{
	expect_instruction_asks(test, false);
}

/* In a detour the handler sees the original instruction, and execution continues after it. */
static void fault_in_detour(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_OPTPROBES))
		kunit_skip(test, "no jumps in this kernel");
	expect_instruction_asks(test, true);
}

/* An address that is never valid causes another exception than a page fault. */
static void fault_in_nowhere(struct kunit *test)
{
	const u32 *nowhere = (u32 *)(0xdeadUL << (BITS_PER_LONG - 16));
	unsigned int i;

	if (!IS_ENABLED(CONFIG_X86_64))
		kunit_skip(test, "not on this architecture");
	kp = on_load(NULL, on_fault);
	add_kprobe(test, &kp);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, ASK(fault_test_reads, nowhere), 77);
		expect_asked_about(test, &kp, 13);
		KUNIT_EXPECT_EQ(test, asked_ip, (unsigned long)fault_test_load);
		expect_jump(test, &kp);
	}
}

/* The instruction has to run again, which is a new hit. */
static void fault_repaired(struct kunit *test)
{
	unsigned int i;

	kp = on_load(count_hit, on_fault_repair);
	add_kprobe(test, &kp);
	for (i = 1; i <= 2; i++) {
		KUNIT_EXPECT_EQ(test, ASK(fault_test_reads, bad_pointer), 99);
		KUNIT_EXPECT_EQ(test, asked, i);
		KUNIT_EXPECT_EQ(test, hits, 2 * i);
		wait_for_kprobe_optimizer();
	}
}

static int on_fault_spoil(struct kprobe *kp, struct pt_regs *regs, int trapnr)
{
	asked++;
	memset(regs, 0, sizeof(*regs));
	return 0;
}

/* The fault is handled as usual then, as if no handler had been asked. */
static void fault_declined(struct kunit *test)
{
	struct pt_regs regs, before;

	memset(&regs, 1, sizeof(regs));
	instruction_pointer_set(&regs, (unsigned long)fault_test_load);
	before = regs;
	kp = on_load(NULL, on_fault_spoil);
	add_kprobe(test, &kp);
	KUNIT_EXPECT_FALSE(test, kprobe_ask_fault_handlers(&regs, 0));
	KUNIT_EXPECT_EQ(test, asked, 1);
	KUNIT_EXPECT_MEMEQ(test, &regs, &before, sizeof(regs));
}

/*
 * A handler executes a probed instruction, and none of the probes there deals with its
 * fault.
 */
static int on_pre_reads(struct kprobe *kp, struct pt_regs *regs)
{
	hits += ASK(fault_test_reads, bad_pointer) == 77;
	return 0;
}

static void fault_of_instruction_in_handler(struct kunit *test)
{
	unsigned int i;

	fellow = on_load(count_hit, NULL);
	kp = on_target(test);
	kp.pre_handler = on_pre_reads;
	add_kprobe(test, &fellow);
	add_kprobe(test, &kp);
	for (i = 1; i <= 2; i++) {
		expect_call_asks(test, &kp);
		KUNIT_EXPECT_EQ(test, asked_ip, (unsigned long)fault_test_load);
		KUNIT_EXPECT_EQ(test, hits, i);
		KUNIT_EXPECT_EQ(test, fellow.nmissed, i);
		wait_for_kprobe_optimizer();
	}
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE_PARAM(fault_in_pre_handler, target_gen_params),
	KUNIT_CASE_PARAM(fault_in_post_handler, target_gen_params),
	KUNIT_CASE_PARAM(fault_in_return_probe, target_gen_params),
	KUNIT_CASE_PARAM(fault_in_jprobe, target_gen_params),
	KUNIT_CASE_PARAM(fault_of_one_of_several, target_gen_params),
	KUNIT_CASE_PARAM(fault_with_fixup, target_gen_params),
	KUNIT_CASE(fault_of_instruction),
	KUNIT_CASE(fault_in_detour),
	KUNIT_CASE(fault_in_nowhere),
	KUNIT_CASE(fault_repaired),
	KUNIT_CASE(fault_declined),
	KUNIT_CASE_PARAM(fault_of_instruction_in_handler, target_gen_params),
	{}
};

static struct kunit_suite fault_suite = {
	.name = "kprobes_fault",
	.init = fault_test_init,
	.test_cases = fault_cases,
};

kunit_test_suite(fault_suite);
