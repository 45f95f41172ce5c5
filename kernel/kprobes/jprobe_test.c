// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jprobes: handlers see the arguments of the probed function, wherever these are passed,
 * the function sees its own, and all other probes work as before.
 */
#include <kunit/test.h>
#include <linux/irq_work.h>
#include <linux/kprobes_port.h>
#include <linux/linkage.h>
#include <linux/stdarg.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "internal.h"
#include "../../lib/test_kprobes/common.h"

#define ARGS_MAX	14

/* Arguments of the last handler, and number of handlers that have run. */
static long seen[ARGS_MAX];
static unsigned int calls;

#define SEE(...)						\
do {								\
	const long given[] = { __VA_ARGS__ };			\
								\
	memcpy(seen, given, sizeof(given));			\
	calls++;						\
} while (0)

static void expect_seen(struct kunit *test, const long *args, unsigned int nr)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, calls, 1);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, seen[i], args[i], "argument %u", i + 1);
	calls = 0;
	memset(seen, 0, sizeof(seen));
}

#define EXPECT_SEEN(test, ...)						\
do {									\
	const long expected[] = { __VA_ARGS__ };			\
									\
	expect_seen(test, expected, ARRAY_SIZE(expected));		\
} while (0)

static struct jprobe jprobe_at(void *function, void *handler)
{
	return (struct jprobe) {
		.kp.addr = dereference_symbol_descriptor(function),
		.entry = JPROBE_ENTRY(handler),
	};
}

/* -- 1 to 14 arguments: the last ones are on the stack on any architecture -- */

DEFINE_TARGET(long, take1, (long a), a, notrace)
DEFINE_TARGET(long, take2, (long a, long b), a + 2 * b)
DEFINE_TARGET(long, take3, (long a, long b, long c), a + 2 * b + 3 * c, notrace)
DEFINE_TARGET(long, take4, (long a, long b, long c, long d), a + 2 * b + 3 * c + 4 * d, notrace)
DEFINE_TARGET(long, take5, (long a, long b, long c, long d, long e),
	      a + 2 * b + 3 * c + 4 * d + 5 * e)
DEFINE_TARGET(long, take6, (long a, long b, long c, long d, long e, long f),
	      a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f, notrace)
DEFINE_TARGET(long, take7, (long a, long b, long c, long d, long e, long f, long g),
	      a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g, notrace)
DEFINE_TARGET(long, take8, (long a, long b, long c, long d, long e, long f, long g, long h),
	      a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h, notrace)
DEFINE_TARGET(long, take14, (long a, long b, long c, long d, long e, long f, long g, long h,
			     long i, long j, long k, long l, long m, long n),
	      a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j +
	      11 * k + 12 * l + 13 * m + 14 * n)

static long on_take1(long a)
{
	SEE(a);
	jprobe_return();
	return 0;
}

/* From here on some omit jprobe_return(), and all return values that must be ignored. */
static long on_take3(long a, long b, long c)
{
	SEE(a, b, c);
	jprobe_return();
	return 99;
}

static long on_take8(long a, long b, long c, long d, long e, long f, long g, long h)
{
	SEE(a, b, c, d, e, f, g, h);
	jprobe_return();
	return 99;
}

#define DEFINE_HANDLER(name, params, ...)	\
	DEFINE_TARGET(long, name, params, ({ SEE(__VA_ARGS__); 99; }))

DEFINE_HANDLER(on_take2, (long a, long b), a, b)
DEFINE_HANDLER(on_take4, (long a, long b, long c, long d), a, b, c, d)
DEFINE_HANDLER(on_take5, (long a, long b, long c, long d, long e), a, b, c, d, e)
DEFINE_HANDLER(on_take6, (long a, long b, long c, long d, long e, long f), a, b, c, d, e, f)
DEFINE_HANDLER(on_take7, (long a, long b, long c, long d, long e, long f, long g),
	       a, b, c, d, e, f, g)
DEFINE_HANDLER(on_take14, (long a, long b, long c, long d, long e, long f, long g, long h,
			   long i, long j, long k, long l, long m, long n),
	       a, b, c, d, e, f, g, h, i, j, k, l, m, n)

/*
 * Call @function with a jprobe on it: @handler sees the arguments, and the function
 * returns @sum.
 */
#define TRY(test, function, handler, sum, ...)				\
do {									\
	struct jprobe jp = jprobe_at(function, handler);		\
									\
	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);			\
	KUNIT_EXPECT_EQ(test, ASK(function, __VA_ARGS__), sum);		\
	EXPECT_SEEN(test, __VA_ARGS__);					\
	unregister_jprobe(&jp);						\
	KUNIT_EXPECT_EQ(test, ASK(function, __VA_ARGS__), sum);		\
	KUNIT_EXPECT_EQ(test, calls, 0);				\
} while (0)

static void jprobe_arguments(struct kunit *test)
{
	TRY(test, take1, on_take1, -1, -1);
	TRY(test, take2, on_take2, 33, 11, 11);
	TRY(test, take3, on_take3, 14, 1, 2, 3);
	TRY(test, take4, on_take4, 30, 1, 2, 3, 4);
	TRY(test, take5, on_take5, 55, 1, 2, 3, 4, 5);
	TRY(test, take6, on_take6, 91, 1, 2, 3, 4, 5, 6);
	TRY(test, take7, on_take7, 140, 1, 2, 3, 4, 5, 6, 7);
	TRY(test, take8, on_take8, 204, 1, 2, 3, 4, 5, 6, 7, 8);
	TRY(test, take14, on_take14, 1015, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
}

/* No memory follows the two words on this stack. */
static void jprobe_end_of_stack(struct kunit *test)
{
	struct jprobe jp = jprobe_at(take14, on_take14);
	unsigned long *page = vmalloc(PAGE_SIZE), *words = page + PAGE_SIZE / sizeof(*page) - 2;
	struct pt_regs regs = { .sp = (unsigned long)words - JPROBE_STACK_OFFSET };
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	words[0] = 71;
	words[1] = 72;
	jprobe_pre_handler(&jp.kp, &regs);
	KUNIT_EXPECT_EQ(test, calls, 1);
	for (i = 0; i < ARGS_MAX - 3 && seen[i] != 71; i++)
		;
	KUNIT_EXPECT_EQ(test, seen[i], 71);
	KUNIT_EXPECT_EQ(test, seen[i + 1], 72);
	KUNIT_EXPECT_EQ(test, seen[i + 2], 0);
	vfree(page);
}

/* -- 64 bits each among smaller ones: pairs of registers or of words, with 32 bits -- */

DEFINE_TARGET(u64, take_wide, (u32 a, u64 b, u8 c, u64 d, s16 e, u64 f), a + b + c + d + e + f,
	      notrace)

static u64 wide[6];

static u64 on_wide(u32 a, u64 b, u8 c, u64 d, s16 e, u64 f)
{
	const u64 given[] = { a, b, c, d, e, f };

	memcpy(wide, given, sizeof(given));
	calls++;
	return 0;
}

static void jprobe_wide_arguments(struct kunit *test)
{
	static const u64 expected[] = {
		0xfffffff1, 0x123456789abcdef0, 0x7f, 0xfedcba9876543210, -3, 1ULL << 40,
	};
	struct jprobe jp = jprobe_at(take_wide, on_wide);
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(expected); i++)
		sum += expected[i];
	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	KUNIT_EXPECT_EQ(test, ASK(take_wide, expected[0], expected[1], expected[2], expected[3],
				  (s16)expected[4], expected[5]), sum);
	unregister_jprobe(&jp);
	KUNIT_EXPECT_EQ(test, calls, 1);
	KUNIT_EXPECT_MEMEQ(test, wide, expected, sizeof(expected));
}

/* -- a structure by value, arguments without a name, and all of them on the stack -- */

struct three {
	long a, b, c;
};

DEFINE_TARGET(long, take_struct, (long n, struct three t, long m), n + t.a + t.b + t.c + m, notrace)

static long on_struct(long n, struct three t, long m)
{
	SEE(n, t.a, t.b, t.c, m);
	/* The structure is the handler's own, unless it is passed by reference. */
	jprobe_return();
	return 0;
}

static noinline notrace long take_variadic(int nr, ...)
{
	long sum = 0;
	va_list args;

	va_start(args, nr);
	while (nr--)
		sum += va_arg(args, long);
	va_end(args);

	return sum;
}

static long on_variadic(int nr, ...)
{
	long args[10] = { };
	va_list ap;
	int i;

	va_start(ap, nr);
	for (i = 0; i < nr && i < ARRAY_SIZE(args); i++)
		args[i] = va_arg(ap, long);
	va_end(ap);
	SEE(nr, args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[7], args[8],
	    args[9]);
	return 0;
}

DEFINE_TARGET(long, take_asmlinkage, (long a, long b, long c), a - b + c, asmlinkage notrace)

static asmlinkage long on_asmlinkage(long a, long b, long c)
{
	SEE(a, b, c);
	return 0;
}

static void jprobe_conventions(struct kunit *test)
{
	struct jprobe jp = jprobe_at(take_struct, on_struct);

	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	KUNIT_EXPECT_EQ(test, ASK(take_struct, 1, ((struct three) { 2, 3, 4 }), 5), 15);
	EXPECT_SEEN(test, 1, 2, 3, 4, 5);
	unregister_jprobe(&jp);

	jp = jprobe_at(take_variadic, on_variadic);
	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	KUNIT_EXPECT_EQ(test, ASK(take_variadic, 10, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L), 55);
	EXPECT_SEEN(test, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	KUNIT_EXPECT_EQ(test, ASK(take_variadic, 1, 7L), 7);
	EXPECT_SEEN(test, 1, 7, 0);
	unregister_jprobe(&jp);

	TRY(test, take_asmlinkage, on_asmlinkage, 2, 1, 2, 3);
}

/* -- changes that a handler makes to its arguments stay its own -- */

#define SPOIL(n)	WRITE_ONCE(n, -1)

static long on_take14_spoil(long a, long b, long c, long d, long e, long f, long g, long h,
			    long i, long j, long k, long l, long m, long n)
{
	SEE(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
	/* The compiler may write these to where the arguments came from. */
	SPOIL(a);
	SPOIL(b);
	SPOIL(c);
	SPOIL(d);
	SPOIL(e);
	SPOIL(f);
	SPOIL(g);
	SPOIL(h);
	SPOIL(i);
	SPOIL(j);
	SPOIL(k);
	SPOIL(l);
	SPOIL(m);
	SPOIL(n);
	return 99;
}

static void jprobe_arguments_stay(struct kunit *test)
{
	TRY(test, take14, on_take14_spoil, 1015, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
}

/* -- a recursive function: the handler runs for each call -- */

static long take_deep(long n);
static long (*deeper)(long n) = take_deep;

static noinline long take_deep(long n)
{
	return n ? READ_ONCE(deeper)(n - 1) + n : 0;
}

static long sum_seen;

static long on_deep(long n)
{
	calls++;
	sum_seen += n;
	jprobe_return();
	return 0;
}

static void jprobe_recursive(struct kunit *test)
{
	struct jprobe jp = jprobe_at(take_deep, on_deep);

	sum_seen = 0;
	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	KUNIT_EXPECT_EQ(test, ASK(take_deep, 10), 55);
	unregister_jprobe(&jp);
	KUNIT_EXPECT_EQ(test, calls, 11);
	KUNIT_EXPECT_EQ(test, sum_seen, 55);
	KUNIT_EXPECT_EQ(test, jp.kp.nmissed, 0);
}

/* -- an interrupt handler -- */

static struct irq_work *interrupted_with;

static noinline void take_interrupt(struct irq_work *work)
{
	barrier();
}

static void on_interrupt(struct irq_work *work)
{
	interrupted_with = work;
	calls++;
}

static struct irq_work irq_work = IRQ_WORK_INIT_HARD(take_interrupt);

static void jprobe_interrupt(struct kunit *test)
{
	struct jprobe jp = jprobe_at(take_interrupt, on_interrupt);

	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	irq_work_queue(&irq_work);
	irq_work_sync(&irq_work);
	unregister_jprobe(&jp);
	KUNIT_EXPECT_EQ(test, calls, 1);
	KUNIT_EXPECT_PTR_EQ(test, interrupted_with, &irq_work);
}

/* -- several at one entry: two jprobes, a probe and a return probe -- */

static char order[6];

static void note_order(char who)
{
	if (strlen(order) < sizeof(order) - 1)
		order[strlen(order)] = who;
}

static long on_first(long a, long b)
{
	note_order('1');
	SEE(a, b);
	return 0;
}

static int on_kprobe(struct kprobe *kp, struct pt_regs *regs)
{
	note_order('2');
	return 0;
}

static long on_second(long a, long b)
{
	note_order('3');
	return a != 11 || b != 11;
}

static long returned;

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	note_order('4');
	returned = regs_return_value(regs);
	return 0;
}

/* Probes without a post_handler are reached in any way that the architecture has. */
static void with_others(struct kunit *test, long (*function)(long a, long b))
{
	struct jprobe second = jprobe_at(function, on_second);
	struct jprobe first = jprobe_at(function, on_first);
	struct kprobe kp = { .addr = first.kp.addr, .pre_handler = on_kprobe };
	struct kretprobe rp = { .kp.addr = first.kp.addr, .handler = on_return };
	unsigned int i;

	KUNIT_ASSERT_EQ(test, register_jprobe(&first), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_ASSERT_EQ(test, register_jprobe(&second), 0);
	for (i = 0; i < 2; i++) {
		memset(order, 0, sizeof(order));
		returned = 0;
		KUNIT_EXPECT_EQ(test, ASK(function, 11, 11), 33);
		EXPECT_SEEN(test, 11, 11);
		KUNIT_EXPECT_STREQ(test, order, "3214");
		KUNIT_EXPECT_EQ(test, returned, 33);
		wait_for_kprobe_optimizer();
	}
	unregister_jprobe(&first);
	unregister_kretprobe(&rp);
	unregister_kprobe(&kp);
	unregister_jprobe(&second);
}

DEFINE_TARGET(long, take2_plain, (long a, long b), a + 2 * b, notrace)

static void jprobe_with_others(struct kunit *test)
{
	with_others(test, take2);
	with_others(test, take2_plain);
}

/* -- a jump, whose detour has no trap to find the registers in -- */

static void jprobe_by_jump(struct kunit *test)
{
	struct jprobe jp = jprobe_at(take8, on_take8);
	enum point_state state;

	if (!IS_ENABLED(CONFIG_OPTPROBES))
		kunit_skip(test, "no jumps in this kernel");
	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	wait_for_kprobe_optimizer();
	scoped_guard(mutex, &kprobe_mutex)
		state = kprobe_point_find_member(&jp.kp)->state;
	KUNIT_EXPECT_EQ(test, ASK(take8, 1, 2, 3, 4, 5, 6, 7, 8), 204);
	EXPECT_SEEN(test, 1, 2, 3, 4, 5, 6, 7, 8);
	unregister_jprobe(&jp);
	if (IS_ENABLED(CONFIG_X86))
		KUNIT_EXPECT_EQ(test, state, POINT_OPTIMIZED);
	else if (state != POINT_OPTIMIZED)
		kunit_skip(test, "no jump there");
}

/* -- a handler that hits a jprobe: the hit is missed, and changes nothing -- */

static long on_take1_nested(long a)
{
	SEE(a);
	return ASK(take3, a, a, a);
}

static void jprobe_nested(struct kunit *test)
{
	struct jprobe outer = jprobe_at(take1, on_take1_nested), inner = jprobe_at(take3, on_take3);

	KUNIT_ASSERT_EQ(test, register_jprobe(&inner), 0);
	KUNIT_ASSERT_EQ(test, register_jprobe(&outer), 0);
	KUNIT_EXPECT_EQ(test, ASK(take1, 5), 5);
	EXPECT_SEEN(test, 5);
	KUNIT_EXPECT_EQ(test, inner.kp.nmissed, 1);
	KUNIT_EXPECT_EQ(test, outer.kp.nmissed, 0);
	unregister_jprobe(&outer);
	unregister_jprobe(&inner);
}

/* -- the functions of the interface -- */

static void jprobe_switches(struct kunit *test)
{
	struct jprobe jp = jprobe_at(take1, on_take1);

	jp.kp.flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	ASK(take1, 1);
	KUNIT_EXPECT_EQ(test, calls, 0);
	KUNIT_EXPECT_EQ(test, enable_jprobe(&jp), 0);
	ASK(take1, 2);
	EXPECT_SEEN(test, 2);
	KUNIT_EXPECT_EQ(test, disable_jprobe(&jp), 0);
	ASK(take1, 3);
	KUNIT_EXPECT_EQ(test, calls, 0);
	unregister_jprobe(&jp);
	KUNIT_EXPECT_EQ(test, enable_jprobe(&jp), -EINVAL);
	KUNIT_EXPECT_EQ(test, enable_jprobe(NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, disable_jprobe(NULL), -EINVAL);
}

static void jprobe_arrays(struct kunit *test)
{
	struct jprobe a = jprobe_at(take1, on_take1), b = jprobe_at(take2, on_take2), bad = b;
	struct jprobe *both[] = { &a, &b }, *with_bad[] = { &a, &bad }, *twice[] = { &a, &a };

	bad.kp.addr = NULL;
	bad.kp.symbol_name = "no_such_function_is_there";
	KUNIT_EXPECT_EQ(test, register_jprobes(with_bad, 2), -ENOENT);
	KUNIT_EXPECT_EQ(test, register_jprobes(twice, 2), -EINVAL);
	KUNIT_EXPECT_NULL(test, a.kp.pre_handler);
	ASK(take1, 1);
	KUNIT_EXPECT_EQ(test, calls, 0);

	KUNIT_ASSERT_EQ(test, register_jprobes(both, 2), 0);
	ASK(take1, 1);
	EXPECT_SEEN(test, 1);
	ASK(take2, 1, 2);
	EXPECT_SEEN(test, 1, 2);
	unregister_jprobes(both, 2);
	ASK(take1, 1);
	ASK(take2, 1, 2);
	KUNIT_EXPECT_EQ(test, calls, 0);

	KUNIT_EXPECT_EQ(test, register_jprobes(NULL, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_jprobes(both, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_jprobes(both, -1), -EINVAL);
	unregister_jprobes(NULL, 1);
	unregister_jprobes(both, 0);
}

static void jprobe_refused(struct kunit *test)
{
	struct jprobe jp = jprobe_at(take14, on_take14), before;

	KUNIT_EXPECT_EQ(test, register_jprobe(NULL), -EINVAL);
	unregister_jprobe(NULL);

	jp.entry = NULL;
	KUNIT_EXPECT_EQ(test, register_jprobe(&jp), -EINVAL);
	jp.entry = &calls;
	KUNIT_EXPECT_EQ(test, register_jprobe(&jp), -EINVAL);

	jp.entry = on_take14;
	jp.kp.offset = 32;
	before = jp;
	KUNIT_EXPECT_EQ(test, register_jprobe(&jp), -EINVAL);
	KUNIT_EXPECT_MEMEQ(test, &jp, &before, sizeof(jp));
	unregister_jprobe(&jp);
	KUNIT_EXPECT_NULL(test, jp.kp.addr);

	/* A registered jprobe is refused a second time, and keeps working. */
	jp = jprobe_at(take14, on_take14);
	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	KUNIT_EXPECT_EQ(test, register_jprobe(&jp), -EINVAL);
	ASK(take14, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
	EXPECT_SEEN(test, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
	KUNIT_EXPECT_EQ(test, kprobe_kind(jp.kp.hit_pre), 'j');
	unregister_jprobe(&jp);
	KUNIT_EXPECT_NE(test, kprobe_kind(jp.kp.hit_pre), 'j');
}

static int jprobe_test_init(struct kunit *test)
{
	calls = 0;

	return 0;
}

static struct kunit_case jprobe_cases[] = {
	KUNIT_CASE(jprobe_arguments),
	KUNIT_CASE(jprobe_end_of_stack),
	KUNIT_CASE(jprobe_wide_arguments),
	KUNIT_CASE(jprobe_conventions),
	KUNIT_CASE(jprobe_arguments_stay),
	KUNIT_CASE(jprobe_recursive),
	KUNIT_CASE(jprobe_interrupt),
	KUNIT_CASE(jprobe_with_others),
	KUNIT_CASE(jprobe_by_jump),
	KUNIT_CASE(jprobe_nested),
	KUNIT_CASE(jprobe_switches),
	KUNIT_CASE(jprobe_arrays),
	KUNIT_CASE(jprobe_refused),
	{}
};

static struct kunit_suite jprobe_suite = {
	.name = "kprobes_jprobe",
	.init = jprobe_test_init,
	.test_cases = jprobe_cases,
};

kunit_test_suite(jprobe_suite);
