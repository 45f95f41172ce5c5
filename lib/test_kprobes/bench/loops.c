// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one probe adds to a function that loops: of the kernel's string functions, on its entry
 * or on each of its instructions in turn. A jump must not make the loop slow. Prints what
 * one call takes in addition, and for the instructions the number of hits as well.
 */
#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/string.h>

#include "../common.h"
#include "bench.h"

#define SIZE	4096

/* Equal characters, and a terminator. The compiler must not know more of them. */
static char this[SIZE], same[SIZE], target[SIZE];
static char *this_at = this, *same_at = same, *target_at = target;

#define THIS	READ_ONCE(this_at)
#define SAME	READ_ONCE(same_at)
#define TARGET	READ_ONCE(target_at)

/* The results, so that they are of use. */
static unsigned long sink;

#define LOOP(name, expr)	static void loop_##name(void) { sink += (unsigned long)(expr); }

LOOP(strcmp, strcmp(THIS, SAME))
LOOP(strlen, strlen(THIS))
LOOP(strrchr, strrchr(THIS, 'a'))
LOOP(memcmp, memcmp(THIS, SAME, SIZE))
LOOP(memchr, memchr(THIS, 'b', SIZE))
LOOP(strcpy, strcpy(TARGET, THIS))
LOOP(strncmp, strncmp(THIS, SAME, SIZE))
LOOP(strchr, strchr(THIS, 'b'))
LOOP(strnlen, strnlen(THIS, SIZE))
LOOP(strcasecmp, strcasecmp(THIS, SAME))
LOOP(strspn, strspn(THIS, "ba"))
LOOP(memchr_inv, memchr_inv(THIS, 'a', SIZE))

#define LOOP_OF(name)	{ #name, loop_##name }

static const struct loop {
	const char *name;
	void (*call)(void);
} loops[] = {
	/* The entries of these are measured. */
	LOOP_OF(strcmp),
	LOOP_OF(strlen),
	LOOP_OF(strrchr),
	LOOP_OF(memcmp),
	LOOP_OF(memchr),
	LOOP_OF(strcpy),
#define NR_ENTRIES	6
	LOOP_OF(strncmp),
	LOOP_OF(strchr),
	LOOP_OF(strnlen),
	LOOP_OF(strcasecmp),
	LOOP_OF(strspn),
	LOOP_OF(memchr_inv),
};

static struct kprobe probe;
static struct cost without;

/* The place of the probe, and the size of its function. */
static const struct loop *loop;
static unsigned int offset, size;

static int add_probe(void)
{
	probe = (struct kprobe){
		.symbol_name = loop->name,
		.offset = offset,
		.pre_handler = count_hit,
	};

	return register_kprobe(&probe);
}

/* Begin with a function: measure it without a probe, and find its size. */
static bool begin(unsigned int nr)
{
	char name[KSYM_SYMBOL_LEN];

	memset(this, 'a', SIZE - 1);
	memset(same, 'a', SIZE - 1);
	loop = &loops[nr];
	offset = 0;
	without = call_cost(loop->call, 1);
	if (add_probe())
		return false;
	sprint_symbol(name, (unsigned long)probe.addr);
	unregister_kprobe(&probe);

	return sscanf(strrchr(name, '/') ?: "", "/%x", &size) == 1;
}

/* Called with debug.kprobes-optimization on. */
void run_loops(unsigned int unused)
{
	char name[32];
	unsigned int i;

	for (i = 0; i < NR_ENTRIES; i++) {
		if (!begin(i) || add_probe())
			continue;
		/* There may be none. */
		wait_for_jump((const u8 *)probe.addr);
		snprintf(name, sizeof(name), "loop-%s", loop->name);
		tell_calls(name, loop->call, 1, without);
		unregister_kprobe(&probe);
	}
}

/* Register a probe on the next instruction of these functions. Return -ENOENT behind the last. */
static int next_place(void)
{
	for (;; offset++) {
		while (offset >= size) {
			if (loop == &loops[ARRAY_SIZE(loops) - 1])
				return -ENOENT;
			if (!begin(loop - loops + 1))
				return -ENODEV;
		}
		if (!add_probe())
			return 0;
	}
}

static void measure_place(void)
{
	u64 cost = call_cost(loop->call, 1).cycles - without.cycles;
	unsigned long flags;

	/* Others call these functions, too, but not with interrupts off. */
	local_irq_save(flags);
	hits = 0;
	loop->call();
	local_irq_restore(flags);
	pr_info("place %s+%u %u %llu\n", loop->name, offset, hits, cost);
	unregister_kprobe(&probe);
	offset++;
}

/* Written to in turn: "first" or "next" places a probe, "measure" measures and removes it. */
static int place_set(const char *text, const struct kernel_param *param)
{
	if (sysfs_streq(text, "first"))
		return begin(0) ? next_place() : -ENODEV;
	if (sysfs_streq(text, "next"))
		return next_place();
	measure_place();

	return 0;
}

module_param_call(place, place_set, NULL, NULL, 0200);
