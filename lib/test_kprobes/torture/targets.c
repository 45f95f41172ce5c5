// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions that are probed. The many ones: ten shapes, and of each shape ten functions
 * that ftrace can trace and ten that it cannot, which differ by a constant. The few ones that it
 * probes at each instruction: some of those, and assembly code with instructions that compilers
 * emit rarely in dense_x86_64.S.
 */
#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/static_call.h>

#include "../common.h"
#include "torture.h"

static DEFINE_STATIC_KEY_FALSE(flipped);

noinline notrace unsigned long kp_target_leaf(unsigned long n, unsigned long *mem)
{
	barrier();
	return 3 * n;
}

DEFINE_TARGET(unsigned long, triple_otherwise, (unsigned long n, unsigned long *mem),
	      (n << 1) + n)

DEFINE_STATIC_CALL(kp_torture_triple, kp_target_leaf);

void targets_flip(bool key, bool call)
{
	if (key)
		static_branch_enable(&flipped);
	else
		static_branch_disable(&flipped);
	static_call_update(kp_torture_triple, call ? triple_otherwise : kp_target_leaf);
}

/* --- shapes; @k is a constant, @self the function itself --- */

#define SHAPE(name)								\
static __always_inline unsigned long name(unsigned long n, unsigned long *mem,	\
					  unsigned long k, target_fn self)

SHAPE(leaf)
{
	return n * k + (k << 3);
}

SHAPE(loop)
{
	unsigned long i, crc = n ^ k;

	for (i = 0; i < n + k % 5; i++) {
		crc = crc & 1 ? (crc >> 1) ^ (0xedb88320 + k) : crc >> 1;
		barrier();
	}
	return crc;
}

SHAPE(calls)
{
	unsigned long sum = kp_target_leaf(n + k, mem);

	if (k % 3)
		sum -= triple_otherwise(sum ^ n, mem);
	return sum + (n < k % 8 ? kp_target_leaf(k, mem) : 1);
}

SHAPE(branch)
{
	unsigned long x = k;

	OPTIMIZER_HIDE_VAR(x);
	if (n & 1)
		x += 7;
	barrier();
	if ((long)(n - k % 8) < 0)
		x ^= n;
	barrier();
	if (n > k % 6 && x % 2)
		return x - n;
	return x << (n & 3);
}

SHAPE(choose)
{
	switch (n) {
	case 0:
		return kp_target_leaf(k, mem);
	case 1:
		WRITE_ONCE(*mem, k);
		return READ_ONCE(*mem) + 1;
	case 3:
		return kp_target_leaf(n, mem) ^ k;
	case 4:
		WRITE_ONCE(*mem, n);
		break;
	case 6:
		return k << 5;
	}
	return k + 77;
}

SHAPE(memory)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		WRITE_ONCE(mem[i], n + i * k);
	WRITE_ONCE(mem[k % 4], READ_ONCE(mem[1]) - READ_ONCE(mem[n % 4]));
	return READ_ONCE(mem[0]) ^ READ_ONCE(mem[1]) ^ READ_ONCE(mem[2]) ^ READ_ONCE(mem[3]);
}

SHAPE(key)
{
	unsigned long x = n + k;

	if (static_branch_unlikely(&flipped))
		x = kp_target_leaf(x, mem);
	else
		x += 2 * x;
	barrier();
	return k % 2 && static_branch_likely(&flipped) ? x + n : n + x;
}

SHAPE(static_calls)
{
	unsigned long x = static_call(kp_torture_triple)(n, mem);

	return k % 2 ? x - static_call(kp_torture_triple)(x + k, mem) : x + k;
}

SHAPE(recursive)
{
	unsigned long below = n ? self(n - 1, mem) : k;

	barrier();
	return below + (n ^ k);
}

/* Sleep in some calls. Out of line, so that it adds no branch to the path of its caller. */
static noinline void nap(unsigned long jiffies)
{
	static atomic_t times;

	if (!(atomic_inc_return(&times) % 32))
		schedule_timeout_uninterruptible(jiffies);
}

/* Callers sleep here, so that they return to text that has been changed meanwhile. */
SHAPE(sleeper)
{
	if (n == k % 8)
		schedule();
	if (n == (k + 4) % 8)
		nap(1 + k % 3);
	return n + k;
}

noinline notrace unsigned long kp_target_sleeper(unsigned long n)
{
	return sleeper(n, NULL, 1, NULL);
}

#define TWENTY(each, shape)	\
	TEN(each, 1, shape, noinline) TEN(each, 2, shape, noinline notrace)

#define ALL_FUNCTIONS(each)						\
	TWENTY(each, leaf) TWENTY(each, loop) TWENTY(each, calls)	\
	TWENTY(each, branch) TWENTY(each, choose) TWENTY(each, memory)	\
	TWENTY(each, key) TWENTY(each, static_calls)			\
	TWENTY(each, recursive) TWENTY(each, sleeper)

#define DEFINE_FUNCTION(k, shape, attributes)						\
static attributes unsigned long kp_##shape##_##k(unsigned long n, unsigned long *mem)	\
{											\
	return shape(n, mem, k, kp_##shape##_##k);					\
}

#define LIST_FUNCTION(k, shape, ...)	{ #shape "_" #k, kp_##shape##_##k },

ALL_FUNCTIONS(DEFINE_FUNCTION)

const struct target_function many_functions[] = {
	ALL_FUNCTIONS(LIST_FUNCTION)
};

const unsigned int nr_many_functions = ARRAY_SIZE(many_functions);
static_assert(ARRAY_SIZE(many_functions) <= MAX_TARGETS);

#define ASSEMBLY(name)	{ #name, kp_target_##name }

const struct target_function dense_functions[] = {
	LIST_FUNCTION(24, loop)
	LIST_FUNCTION(20, calls)
	LIST_FUNCTION(25, branch)
	LIST_FUNCTION(20, choose)
	LIST_FUNCTION(20, recursive)
	LIST_FUNCTION(21, sleeper)
	{ "leaf", kp_target_leaf, .shared = true },
#ifdef CONFIG_X86_64
	ASSEMBLY(short), ASSEMBLY(branch), ASSEMBLY(callback), ASSEMBLY(load), ASSEMBLY(store),
	ASSEMBLY(flags), ASSEMBLY(returns), ASSEMBLY(tail), ASSEMBLY(stack),
#endif
};

const unsigned int nr_dense_functions = ARRAY_SIZE(dense_functions);
