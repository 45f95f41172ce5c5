// SPDX-License-Identifier: GPL-2.0-only
/* KUnit tests of kprobe_try(): does a registration end as it says? */
#include <kunit/test.h>
#include <linux/align.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/sections.h>

#include "internal.h"

/* Some kernels take long for each. */
#define SLOW	(IS_ENABLED(CONFIG_KASAN) || IS_ENABLED(CONFIG_KCSAN) || \
		 IS_ENABLED(CONFIG_KMSAN) || IS_ENABLED(CONFIG_PROVE_LOCKING))

#define NR_RANDOM	(SLOW ? 500 : 5000)
#define EACH_ENTRY	(SLOW ? 16 : 1)

/* Probes that are registered together. */
#define BATCH		256

/* A probe that has been tried, to be registered with others, and what has been told of it. */
struct tried {
	struct kprobe kp;
	struct kprobe_verdict verdict;
};

struct trial {
	struct kunit *test;
	struct tried batch[BATCH];	/* probes that are to be registered */
	struct kprobe *kps[BATCH];	/* pointers to them */
	unsigned int nr;
	unsigned int nr_accepted;	/* probes that were registered */
	unsigned int nr_refused;
	u32 flags;			/* of all of them */
};

static struct trial *trial_create(struct kunit *test, u32 flags)
{
	struct trial *trial = kunit_kzalloc(test, sizeof(*trial), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, trial);
	trial->test = test;
	trial->flags = flags;
	for (i = 0; i < BATCH; i++)
		trial->kps[i] = &trial->batch[i].kp;

	return trial;
}

#ifdef CONFIG_OPTPROBES
/* Neighbours in the batch may keep a jump away, or share it. */
static void compare_jump(struct trial *trial, const struct tried *tried)
{
	struct kprobe *p = get_kprobe(tried->kp.addr);
	struct kprobe_point *point;
	char why[64];

	KUNIT_ASSERT_NOT_NULL(trial->test, p);
	point = point_of(p);
	kprobe_optimize_explain(point, why, sizeof(why));
	if (strstarts(why, "neighbour") || strstarts(why, "+"))
		return;
	KUNIT_EXPECT_STREQ_MSG(trial->test, why, tried->verdict.why_no_jump, "%pS", p->addr);
	KUNIT_EXPECT_EQ_MSG(trial->test, point->state == POINT_OPTIMIZED,
			    !!tried->verdict.covered, "%pS: %s", p->addr, why);
}

static void compare_jumps(struct trial *trial)
{
	unsigned int i;

	wait_for_kprobe_optimizer();
	guard(mutex)(&kprobe_mutex);
	for (i = 0; i < trial->nr; i++)
		compare_jump(trial, &trial->batch[i]);
}
#else
static void compare_jumps(struct trial *trial) { }
#endif

static void compare_return(struct kunit *test, const struct kprobe_verdict *verdict)
{
	struct kretprobe rp = {
		.kp.addr = (kprobe_opcode_t *)verdict->addr,
		.kp.flags = KPROBE_FLAG_DISABLED,
	};

	if (!IS_ENABLED(CONFIG_KRETPROBES)) {
		KUNIT_EXPECT_FALSE(test, verdict->return_probe);
		return;
	}
	KUNIT_EXPECT_EQ_MSG(test, register_kretprobe(&rp), verdict->return_probe ? 0 : -EINVAL,
			    "%pS", (void *)verdict->addr);
	unregister_kretprobe(&rp);
}

static void trial_register(struct trial *trial)
{
	unsigned int i;

	if (!trial->nr)
		return;
	KUNIT_ASSERT_EQ(trial->test, register_kprobes(trial->kps, trial->nr), 0);
	for (i = 0; i < trial->nr; i++) {
		const struct tried *tried = &trial->batch[i];
		const struct kprobe *kp = &tried->kp;

		KUNIT_EXPECT_EQ_MSG(trial->test, (unsigned long)kp->addr, tried->verdict.addr,
				    "%pS", kp->addr);
		if (i % 16 == 0 ||
		    !!(kp->flags & KPROBE_FLAG_ON_FUNC_ENTRY) != tried->verdict.return_probe)
			compare_return(trial->test, &tried->verdict);
		KUNIT_EXPECT_EQ_MSG(trial->test, !!(kp->flags & KPROBE_FLAG_FTRACE),
				    tried->verdict.on_ftrace, "%pS", kp->addr);
	}
	if (!(trial->flags & KPROBE_FLAG_DISABLED))
		compare_jumps(trial);
	unregister_kprobes(trial->kps, trial->nr);
	trial->nr_accepted += trial->nr;
	trial->nr = 0;
}

static void trial_add(struct trial *trial, unsigned long addr)
{
	struct tried *tried = &trial->batch[trial->nr];

	tried->kp = (struct kprobe){ .addr = (kprobe_opcode_t *)addr, .flags = trial->flags };
	kprobe_try(&tried->kp, &tried->verdict);
	if (tried->verdict.err) {
		trial->nr_refused++;
		KUNIT_EXPECT_EQ_MSG(trial->test, register_kprobe(&tried->kp), tried->verdict.err,
				    "%pS", (void *)addr);
		KUNIT_EXPECT_NOT_NULL_MSG(trial->test, tried->verdict.why, "%pS", (void *)addr);
		unregister_kprobe(&tried->kp);
	} else if (++trial->nr == BATCH) {
		trial_register(trial);
	}
}

/* The addresses of all symbols, in an array that is as large as this says. */
struct entries {
	unsigned long *addrs;
	unsigned int nr;
	unsigned int max;
};

static int entries_add(void *data, const char *name, unsigned long addr)
{
	struct entries *entries = data;

	if (core_kernel_text(addr)) {
		if (entries->nr < entries->max)
			entries->addrs[entries->nr] = addr;
		entries->nr++;
	}

	return 0;
}

/* They are not armed: that would take long on ftrace sites. */
static void try_all_entries(struct kunit *test)
{
	struct trial *trial = trial_create(test, KPROBE_FLAG_DISABLED);
	struct entries entries = {};
	unsigned int i;

	kallsyms_on_each_symbol(entries_add, &entries);
	entries.max = entries.nr;
	entries.nr = 0;
	entries.addrs = kvmalloc_array(entries.max, sizeof(*entries.addrs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, entries.addrs);
	kallsyms_on_each_symbol(entries_add, &entries);

	for (i = 0; i < min(entries.nr, entries.max); i += EACH_ENTRY)
		trial_add(trial, entries.addrs[i]);
	trial_register(trial);
	kvfree(entries.addrs);
	kunit_info(test, "%u accepted, %u refused\n", trial->nr_accepted, trial->nr_refused);
	KUNIT_EXPECT_GT(test, trial->nr_accepted, 100);
	KUNIT_EXPECT_GT(test, trial->nr_refused, 10);
}

static void try_random_places(struct kunit *test)
{
	struct trial *trial = trial_create(test, 0);
	struct rnd_state rnd;
	unsigned int i;

	prandom_seed_state(&rnd, 1);
	for (i = 0; i < NR_RANDOM; i++) {
		unsigned long offset = prandom_u32_state(&rnd) % (_etext - _stext);

		trial_add(trial, (unsigned long)_stext +
				 ALIGN_DOWN(offset, sizeof(kprobe_opcode_t)));
	}
	trial_register(trial);
	kunit_info(test, "%u accepted, %u refused\n", trial->nr_accepted, trial->nr_refused);
	KUNIT_EXPECT_GT(test, trial->nr_accepted, NR_RANDOM / 10);
	KUNIT_EXPECT_GT(test, trial->nr_refused, 0);
}

/* Whether a place is found, what is told of a probed one, and that nothing is left there. */
static void try_leaves_nothing(struct kunit *test)
{
	struct kprobe kp = { .symbol_name = "vfs_read" }, none = { .symbol_name = "no such" };
	struct kprobe_verdict verdict;

	kprobe_try(&none, &verdict);
	KUNIT_EXPECT_EQ(test, verdict.err, -ENOENT);
	KUNIT_EXPECT_EQ(test, verdict.addr, 0);

	kprobe_try(&kp, &verdict);
	KUNIT_ASSERT_EQ(test, verdict.err, 0);
	KUNIT_EXPECT_EQ(test, verdict.members, 0);
	KUNIT_EXPECT_NULL(test, kp.addr);
	KUNIT_EXPECT_NULL(test, get_kprobe((void *)verdict.addr));

	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	KUNIT_EXPECT_EQ(test, (unsigned long)kp.addr, verdict.addr);
	kprobe_try(&(struct kprobe){ .symbol_name = "vfs_read" }, &verdict);
	KUNIT_EXPECT_EQ(test, verdict.err, 0);
	KUNIT_EXPECT_EQ(test, verdict.members, 1);
	kprobe_try(&kp, &verdict);
	KUNIT_EXPECT_EQ(test, verdict.err, -EINVAL);
	unregister_kprobe(&kp);
	KUNIT_EXPECT_NULL(test, get_kprobe((void *)verdict.addr));
}

static struct kunit_case try_cases[] = {
	KUNIT_CASE_SLOW(try_all_entries),
	KUNIT_CASE_SLOW(try_random_places),
	KUNIT_CASE(try_leaves_nothing),
	{}
};

static struct kunit_suite try_suite = {
	.name = "kprobes_try",
	.test_cases = try_cases,
};

kunit_test_suite(try_suite);
