// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of refusals: the error code must fit the reason, and the struct and the text must not
 * change.
 */
#include <linux/filter.h>
#include <linux/sched/task_stack.h>
#include <linux/vmalloc.h>
#include "targets.h"

/* A place that must be refused, and the function that finds it if it is not a constant. */
struct bad_input {
	const char *what;
	int err;
	int or_err;	/* another error that some configurations may return */
	const char *symbol;
	unsigned long addr;
	unsigned int offset;
	void (*find)(struct kunit *test, struct kprobe *kp);
};

static void find_plain(struct kunit *test, struct kprobe *kp)
{
	kp->addr = text_of(PLAIN);
}

static void find_data(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (kprobe_opcode_t *)kprobes_test_targets;
}

static void find_rodata(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (kprobe_opcode_t *)PLAIN->name;
}

static void find_stack(struct kunit *test, struct kprobe *kp)
{
	kp->addr = task_stack_page(current) + THREAD_SIZE / 2;
}

static void find_heap(struct kunit *test, struct kprobe *kp)
{
	kp->addr = must_alloc(test, 1, 64);
}

KUNIT_DEFINE_ACTION_WRAPPER(free_page_of_vmalloc, vfree, void *);

static void find_vmalloc(struct kunit *test, struct kprobe *kp)
{
	kp->addr = vzalloc(PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, kp->addr);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_page_of_vmalloc, kp->addr));
}

static void find_forbidden(struct kunit *test, struct kprobe *kp)
{
	kp->addr = text_of(FORBIDDEN);
}

/* Compilers give such names to the code and data that they put in front of a function. */
DEFINE_EMPTY_TARGET(__pfx_kprobes_test, notrace __used)

/* Only on x86 do compilers name the type hash. */
#if defined(CONFIG_KPROBES_CFI) && defined(CONFIG_X86)
#define CFI_SYMBOL	"__cfi_kprobes_test_plain"
#else
#define CFI_SYMBOL	"__cfi_kprobes_test"
DEFINE_EMPTY_TARGET(__cfi_kprobes_test, notrace __used)
#endif

static void find_trampoline(struct kunit *test, struct kprobe *kp)
{
	/* On these architectures the trampoline works by a kprobe on it. */
	if (IS_ENABLED(CONFIG_PPC) || IS_ENABLED(CONFIG_MIPS))
		kp->symbol_name = IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK) ?
				  "rethook_trampoline_handler" : "__kretprobe_trampoline_handler";
	else
		kp->symbol_name = IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK) ?
				  "arch_rethook_trampoline" : "__kretprobe_trampoline";
}

#if IS_ENABLED(CONFIG_BPF_JIT) && IS_ENABLED(CONFIG_NET)
KUNIT_DEFINE_ACTION_WRAPPER(free_filter, bpf_prog_destroy, struct bpf_prog *);

static void find_bpf(struct kunit *test, struct kprobe *kp)
{
	struct sock_filter insn = BPF_STMT(BPF_RET | BPF_K, 1);
	struct sock_fprog_kern program = { .len = 1, .filter = &insn };
	struct bpf_prog *filter;

	KUNIT_ASSERT_EQ(test, 0, bpf_prog_create(&filter, &program));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_filter, filter));
	if (!filter->jited)
		kunit_skip(test, "it is interpreted");
	kp->addr = (kprobe_opcode_t *)filter->bpf_func;
}
#endif

/* An instruction of more than two bytes, and its offset in the function. */
#if defined(CONFIG_X86)
#define LONG_INSN	"1:	movl $0x12345678, %0\n"	\
			"	mov $1b, %1\n"
#define MID_SITE	((IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 4 : 0) + 2)
#elif defined(CONFIG_RISCV)
#define LONG_INSN	"	.option push\n"		\
			"	.option norvc\n"		\
			"1:	lui %0, 0x12345\n"		\
			"	.option pop\n"			\
			"	la %1, 1b\n"
#define MID_SITE	4
#endif

#ifdef LONG_INSN

static unsigned long long_insn;

static noinline notrace u32 kprobes_test_long_insn(void)
{
	unsigned long at;
	u32 value;

	asm volatile(LONG_INSN : "=&r" (value), "=r" (at));
	long_insn = at;
	return value;
}

static void find_mid_insn(struct kunit *test, struct kprobe *kp)
{
	kprobes_test_long_insn();
	kp->addr = (kprobe_opcode_t *)(long_insn + 2);
}

static void find_mid_insn_offset(struct kunit *test, struct kprobe *kp)
{
	kprobes_test_long_insn();
	kp->offset = long_insn + 2 - (unsigned long)kprobes_test_long_insn;
}

#endif

static const struct bad_input bad_inputs[] = {
	{ "symbol and address", -EINVAL, .symbol = "kprobes_test_plain", .find = find_plain },
	{ "neither symbol nor address", -EINVAL },
	{ "offset alone", -EINVAL, .offset = SZ_4M },
	{ "unknown symbol", -ENOENT, .symbol = "there is no such symbol" },
	{ "empty symbol", -ENOENT, -EINVAL, .symbol = "" },
	{ "unknown module", -ENOENT, .symbol = "no_such_module:kprobes_test_plain" },
	{ "offset far beyond", -EINVAL, -ENOENT, .symbol = "kprobes_test_plain", .offset = SZ_1G },
	{ "offset overflows", -EINVAL, -ENOENT, .symbol = "kprobes_test_plain",
	  .offset = UINT_MAX },
	{ "address overflows", -EINVAL, -ENOENT, .addr = ULONG_MAX - 15, .offset = 64 },
	/* Failure C12, for this and the following */
	{ "user address", -EINVAL, -ENOENT, .addr = SZ_4M },
	{ "end of the address space", -EINVAL, -ENOENT, .addr = ULONG_MAX - 4095 },
	{ "the last address", -EINVAL, -ENOENT, .addr = ULONG_MAX },
	{ "data", -EINVAL, -ENOENT, .find = find_data },
	{ "read-only data", -EINVAL, -ENOENT, .find = find_rodata },
	{ "stack", -EINVAL, -ENOENT, .find = find_stack },
	{ "heap", -EINVAL, -ENOENT, .find = find_heap },
	{ "vmalloc", -EINVAL, -ENOENT, .find = find_vmalloc },
	{ "blacklisted address", -EINVAL, .find = find_forbidden },
	{ "blacklisted symbol", -EINVAL, .symbol = "kprobes_test_forbidden" },
	/* Failure C10 */
	{ "in front of a function, __pfx_", -EINVAL, .symbol = "__pfx_kprobes_test" },
	{ "in front of a function, __cfi_", -EINVAL, .symbol = CFI_SYMBOL },
	{ "return trampoline", -EINVAL, .find = find_trampoline },
#if IS_ENABLED(CONFIG_BPF_JIT) && IS_ENABLED(CONFIG_NET)
	{ "BPF program", -EINVAL, -ENOENT, .find = find_bpf },
#endif
#ifdef LONG_INSN
	{ "within an instruction", -EILSEQ, .find = find_mid_insn },
	{ "symbol, within an instruction", -EILSEQ, .symbol = "kprobes_test_long_insn",
	  .find = find_mid_insn_offset },
#ifdef CONFIG_FUNCTION_TRACER
	{ "within an ftrace site", -EILSEQ, -EINVAL, .symbol = "kprobes_test_traced",
	  .offset = MID_SITE },
#endif
#endif
};

KUNIT_ARRAY_PARAM_DESC(bad_input, bad_inputs, what);

static void fill(struct kunit *test, const struct bad_input *bad, struct kprobe *kp)
{
	kp->symbol_name = bad->symbol;
	kp->addr = (kprobe_opcode_t *)bad->addr;
	kp->offset = bad->offset;
	if (bad->find)
		bad->find(test, kp);
}

static void expect_error(struct kunit *test, const struct bad_input *bad, int err)
{
	KUNIT_EXPECT_TRUE_MSG(test, err == bad->err || (bad->or_err && err == bad->or_err),
			      "%s: error %d", bad->what, err);
}

static void bad_input_kprobe(struct kunit *test)
{
	const struct bad_input *bad = test->param_value;
	struct watch *w = new_watch(test, PLAIN, true);
	struct kprobe before;
	unsigned int i;

	fill(test, bad, &w->kp);
	before = w->kp;
	for (i = 0; i < 2; i++) {
		expect_error(test, bad, add(test, w));
		expect_clean(test, &w->kp, &before);
	}

	/* The struct can be corrected and used. */
	w->kp.addr = text_of(PLAIN);
	w->kp.symbol_name = NULL;
	w->kp.offset = 0;
	must_add(test, w);
	expect_call(test, PLAIN, w, 1, 1);
}

static void bad_input_batch(struct kunit *test)
{
	const struct bad_input *bad = test->param_value;
	struct watch *w[3] = {
		new_watch(test, PLAIN, true),
		new_watch(test, PLAIN, true),
		new_watch(test, TRACED, true),
	};
	struct kprobe *kps[3] = { &w[0]->kp, &w[1]->kp, &w[2]->kp };
	struct kprobe before;

	fill(test, bad, kps[1]);
	before = *kps[1];
	expect_error(test, bad, register_kprobes(kps, 3));
	expect_clean(test, kps[1], &before);
	KUNIT_EXPECT_FALSE(test, linked(kps[0]));
	KUNIT_EXPECT_FALSE(test, linked(kps[2]));
	KUNIT_EXPECT_PTR_EQ(test, kps[2]->addr, text_of(TRACED));
	expect_call(test, PLAIN, w[0], 0, 0);
	expect_call(test, TRACED, w[2], 0, 0);
}

#ifdef CONFIG_KRETPROBES
static void bad_input_kretprobe(struct kunit *test)
{
	struct kretprobe *rp = must_alloc(test, 1, sizeof(*rp));
	const struct bad_input *bad = test->param_value;
	struct kprobe before;
	int err;

	init_links(&rp->kp);
	rp->handler = ignore_return;
	fill(test, bad, &rp->kp);
	before = rp->kp;
	err = register_kretprobe(rp);
	/* A return probe may also fail with -EINVAL: not a function's entry. */
	if (err != -EINVAL)
		expect_error(test, bad, err);
	KUNIT_EXPECT_FALSE(test, linked(&rp->kp));
	KUNIT_EXPECT_PTR_EQ(test, rp->kp.addr, before.addr);
	KUNIT_EXPECT_PTR_EQ(test, rp->kp.symbol_name, before.symbol_name);
	unregister_kretprobe(rp);
}
#endif

/* Failure M8, for probes and for return probes. */
static void bad_input_null(struct kunit *test)
{
	struct kretprobe *rp = must_alloc(test, 1, sizeof(*rp));
	struct kprobe *kps[] = { &rp->kp, NULL, &rp->kp }, *null[] = { NULL };
	unsigned int returns;

	init_links(&rp->kp);
	rp->kp.addr = text_of(PLAIN);
	rp->kp.pre_handler = count_hit;
	rp->handler = count_return;
	hits = 0;
	for (returns = 0; returns <= IS_ENABLED(CONFIG_KRETPROBES); returns++) {
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, batch_register(null, 1, returns), "%u", returns);
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, batch_register(NULL, 2, returns), "%u", returns);
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, batch_register(kps, 3, returns), "%u", returns);
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, batch_register(kps, 0, returns), "%u", returns);
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, batch_register(kps, -1, returns), "%u", returns);
		batch_unregister(null, 1, returns);
		batch_unregister(NULL, 2, returns);
		batch_unregister(kps, 0, returns);
		batch_unregister(kps, -1, returns);
		KUNIT_EXPECT_FALSE(test, linked(&rp->kp));
	}
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobes(kps, INT_MIN));
	KUNIT_EXPECT_EQ(test, -EINVAL, enable_kprobe(NULL));
	KUNIT_EXPECT_EQ(test, -EINVAL, disable_kprobe(NULL));
	call(test, PLAIN, 1);
	KUNIT_EXPECT_EQ(test, hits, 0);
}

/* The registered probe must continue to work. */
static void bad_input_registered_twice(struct kunit *test)
{
	struct watch *w = added_watch(test, SUBJECT, true);
	struct kprobe *kps[] = { &w->kp, &w->kp };
	struct watch *fellow;

	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobe(&w->kp));
	expect_call(test, SUBJECT, w, 1, 1);
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobes(kps, 2));
	expect_call(test, SUBJECT, w, 1, 1);
	fellow = added_watch(test, SUBJECT, false);
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobe(&w->kp));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobe(&fellow->kp));
	KUNIT_EXPECT_TRUE(test, linked(&w->kp));
	expect_call(test, SUBJECT, w, 1, 1);
	expect_call(test, SUBJECT, fellow, 1, 0);
	drop(test, w);
	expect_call(test, SUBJECT, fellow, 1, 0);
	KUNIT_EXPECT_EQ(test, w->pre, 4);
}

/* The owner fills in its registered struct again, as before the address was resolved. */
static void bad_input_registered_anew(struct kunit *test)
{
	struct watch *w = added_watch(test, SUBJECT, true);
	struct watch *fellow = added_watch(test, SUBJECT, true);
	struct kprobe *kps[] = { &w->kp, NULL };

	w->kp.addr = text_of(SUBJECT);
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobe(&w->kp));
	expect_call(test, SUBJECT, w, 1, 1);
	w->kp.addr = NULL;
	w->kp.symbol_name = SUBJECT->name;
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobes(kps, 2));
	w->kp.symbol_name = NULL;
	expect_call(test, SUBJECT, w, 1, 1);
	expect_call(test, SUBJECT, fellow, 1, 1);
	drop(test, w);
	expect_call(test, SUBJECT, w, 0, 0);
	expect_call(test, SUBJECT, fellow, 1, 1);
}

/*
 * Registration has resolved the address: applied a second time, the offset leads to another
 * address, which may be an instruction as well.
 */
static void bad_input_registered_elsewhere(struct kunit *test)
{
	bool in_order = text_of(PLAIN) < text_of(TRACED);
	const struct target *low = in_order ? PLAIN : TRACED, *high = in_order ? TRACED : PLAIN;
	struct watch *w = new_watch(test, low, true), *twice = new_watch(test, low, true);
	struct kprobe *kps[] = { &twice->kp, &twice->kp };
	struct watch *fellow = added_watch(test, high, true);
	unsigned int offset = (char *)text_of(high) - (char *)text_of(low);

	w->kp.addr = (kprobe_opcode_t *)((char *)text_of(low) - offset);
	w->kp.offset = offset;
	must_add(test, w);
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobe(&w->kp));
	twice->kp.addr = (kprobe_opcode_t *)((char *)text_of(low) - offset);
	twice->kp.offset = offset;
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobes(kps, 2));
	KUNIT_EXPECT_FALSE(test, linked(&twice->kp));
	expect_call(test, low, w, 1, 1);
	expect_call(test, high, fellow, 1, 1);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
	drop(test, w);
	expect_call(test, high, fellow, 1, 1);
}

static void bad_input_twice_in_batch(struct kunit *test)
{
	struct watch *w = new_watch(test, SUBJECT, true);
	struct kprobe *kps[] = { &w->kp, &w->kp };

	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobes(kps, 2));
	KUNIT_EXPECT_FALSE(test, linked(&w->kp));
	expect_call(test, SUBJECT, w, 0, 0);
	must_add(test, w);
	expect_call(test, SUBJECT, w, 1, 1);
}

static void bad_input_unregistered_twice(struct kunit *test)
{
	struct watch *w = new_watch(test, SUBJECT, true);
	struct watch *fellow = added_watch(test, SUBJECT, true);

	unregister_kprobe(&w->kp);
	KUNIT_EXPECT_NULL(test, w->kp.addr);
	w->kp.addr = text_of(SUBJECT);
	must_add(test, w);
	drop(test, w);
	unregister_kprobe(&w->kp);
	unregister_kprobe(&w->kp);
	KUNIT_EXPECT_NULL(test, w->kp.addr);
	expect_call(test, SUBJECT, fellow, 1, 1);
	expect_call(test, SUBJECT, w, 0, 0);
}

static struct kunit_case refused_cases[] = {
	KUNIT_CASE_PARAM(bad_input_kprobe, bad_input_gen_params),
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE_PARAM(bad_input_kretprobe, bad_input_gen_params),
#endif
	KUNIT_CASE_PARAM(bad_input_batch, bad_input_gen_params),
	KUNIT_CASE(bad_input_null),
	KUNIT_CASE_PARAM(bad_input_registered_twice, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(bad_input_registered_anew, kprobes_test_next_subject),
	KUNIT_CASE(bad_input_registered_elsewhere),
	KUNIT_CASE_PARAM(bad_input_twice_in_batch, kprobes_test_next_subject),
	KUNIT_CASE_PARAM(bad_input_unregistered_twice, kprobes_test_next_subject),
	{}
};

static struct kunit_suite refused_suite = {
	.name = "kprobes_test_refused",
	.suite_init = kprobes_test_suite_init,
	.init = kprobes_test_init,
	.test_cases = refused_cases,
};

kunit_test_suite(refused_suite);
