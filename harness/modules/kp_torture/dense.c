// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that kp_torture probes at each instruction: compiled ones here, and assembly code
 * with instructions that compilers emit rarely in dense_x86_64.S.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/sched.h>

#include "targets.h"

/* Callers sleep here, so that they return to text that has been changed meanwhile. */
noinline notrace unsigned long kp_target_sleeper(unsigned long n)
{
	static atomic_t calls;

	if (n % 4 == 1)
		schedule();
	if (n % 4 == 3 && !(atomic_inc_return(&calls) % 64))
		schedule_timeout_uninterruptible(1);

	return n + 1;
}

noinline notrace unsigned long kp_target_leaf(unsigned long n, unsigned long *mem)
{
	barrier();
	return 3 * n;
}

static noinline notrace unsigned long kp_target_switch(unsigned long n, unsigned long *mem)
{
	switch (n) {
	case 0:
		return kp_target_leaf(7, mem);
	case 1:
		WRITE_ONCE(*mem, 5);
		return READ_ONCE(*mem) + 1;
	case 2:
		return 1000;
	case 3:
		return kp_target_leaf(n, mem) ^ 0x55;
	case 4:
		WRITE_ONCE(*mem, n);
		break;
	case 5:
		return n << 5;
	case 6:
		return kp_target_sleeper(n) + kp_target_leaf(n, mem);
	}
	return 77;
}

static noinline notrace unsigned long kp_target_crc(unsigned long n, unsigned long *mem)
{
	unsigned long crc = n;
	unsigned int i;

	for (i = 0; i < n + 3; i++) {
		crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
		if (i == 5)
			crc += kp_target_leaf(crc, mem);
		mem[i % 4] = crc;
		barrier();
	}

	return crc + READ_ONCE(mem[1]);
}

static noinline notrace unsigned long kp_target_calls(unsigned long n, unsigned long *mem)
{
	unsigned long sum = kp_target_leaf(n, mem);

	mem[2] = n;
	if (sum > 9)
		sum += kp_target_sleeper(n);
	else
		sum -= kp_target_leaf(mem[2], mem);

	return sum + kp_target_sleeper(sum & 2);
}

#define TARGET(name)	{ #name, kp_target_##name }

const struct target_function dense_functions[] = {
	TARGET(switch),
	TARGET(crc),
	TARGET(calls),
	{ "leaf", kp_target_leaf, .shared = true },
#ifdef CONFIG_X86_64
	TARGET(short),
	TARGET(branch),
	TARGET(callback),
	TARGET(load),
	TARGET(store),
	TARGET(flags),
	TARGET(returns),
	TARGET(tail),
	TARGET(stack),
#endif
};

const unsigned int nr_dense_functions = ARRAY_SIZE(dense_functions);
