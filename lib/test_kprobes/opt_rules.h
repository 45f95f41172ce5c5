/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The common part of the ports' opt_test.c: there is a probe at the place of each rule from
 * before the first of them is checked, because all can wait together for their jumps.
 *
 * This is for one file of a kernel. Before it that defines
 *
 *	struct rule		with name
 *	opt_rules[]		all of them, up to opt_rules_end
 *	struct subject		with the kprobe kp, and err, what registering it has returned
 */
#ifndef _LIB_TEST_KPROBES_OPT_RULES_H
#define _LIB_TEST_KPROBES_OPT_RULES_H

#include <linux/slab.h>
#include <linux/string.h>
#include "handlers.h"

/* Fill in the subject, which is all 0, as the rule says. */
static void subject_follow(struct subject *s, const struct rule *rule);

static struct subject *subjects;

static KUNIT_GENERATOR(next_rule)
{
	const struct rule *rule = prev ? (const struct rule *)prev + 1 : opt_rules;

	if (rule >= opt_rules_end)
		return NULL;
	strscpy(desc, rule->name, KUNIT_PARAM_DESC_SIZE);

	return rule;
}

static int opt_suite_init(struct kunit_suite *suite)
{
	unsigned int i, nr = opt_rules_end - opt_rules;

	subjects = kcalloc(nr, sizeof(*subjects), GFP_KERNEL);
	if (!subjects)
		return -ENOMEM;

	for (i = 0; i < nr; i++)
		subject_follow(&subjects[i], &opt_rules[i]);
	for (i = 0; i < nr; i++)
		subjects[i].err = register_kprobe(&subjects[i].kp);
	wait_for_kprobe_optimizer();

	return 0;
}

static void opt_suite_exit(struct kunit_suite *suite)
{
	unsigned int i, nr = opt_rules_end - opt_rules;

	for (i = 0; subjects && i < nr; i++) {
		if (!subjects[i].err)
			unregister_kprobe(&subjects[i].kp);
	}
	kfree(subjects);
	subjects = NULL;
}

#endif /* _LIB_TEST_KPROBES_OPT_RULES_H */
