// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that is loaded and unloaded while kp_torture has probes in it. It calls its
 * functions at both times.
 */
#include <linux/compiler.h>
#include <linux/module.h>

#define CALLS	3	/* PREY_CALLS of kp_torture */

static noinline unsigned long kp_prey_traced(unsigned long n)
{
	barrier();
	return 3 * n + 1;
}

static noinline notrace unsigned long kp_prey_plain(unsigned long n)
{
	unsigned long i, sum = n;

	for (i = 0; i < n; i++) {
		sum += i ^ n;
		barrier();
	}
	return sum;
}

static noinline __init unsigned long kp_prey_at_init(unsigned long n)
{
	barrier();
	return 5 * n + 7;
}

static bool call(unsigned long n)
{
	unsigned long i, sum = n;

	for (i = 0; i < n; i++)
		sum += i ^ n;
	return kp_prey_traced(n) == 3 * n + 1 && kp_prey_plain(n) == sum;
}

static int __init kp_prey_init(void)
{
	unsigned long n;

	for (n = 0; n < CALLS; n++) {
		if (!call(n) || kp_prey_at_init(n) != 5 * n + 7)
			return -EILSEQ;
	}
	return 0;
}

static void __exit kp_prey_exit(void)
{
	unsigned long n;

	for (n = 0; n < CALLS; n++)
		WARN(!call(n), "wrong result for %lu\n", n);
}

module_init(kp_prey_init);
module_exit(kp_prey_exit);
MODULE_DESCRIPTION("Text that goes away while it is probed");
MODULE_LICENSE("GPL");
