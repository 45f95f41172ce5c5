// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions whose text is also changed by others than kprobes: ftrace, error injection, a
 * static key, a static call. Only writing to the parameter "call" calls them, each as
 * often as it says, so that each hit can be accounted for. The parameter "results" has
 * the results of the last calls, and the addresses of the functions. Reads and writes of a
 * module's parameters exclude each other.
 */
#include <linux/cleanup.h>
#include <linux/error-injection.h>
#include <linux/irqflags.h>
#include <linux/jhash.h>
#include <linux/jump_label.h>
#include <linux/module.h>
#include <linux/static_call.h>

#include "common.h"

static DEFINE_STATIC_KEY_FALSE(key);

DEFINE_TARGET(int, kp_shared_traced, (int n), n + 100001)
ALLOW_ERROR_INJECTION(kp_shared_traced, ERRNO);

DEFINE_TARGET(int, kp_shared_plain, (int n), n + 200002, notrace)
ALLOW_ERROR_INJECTION(kp_shared_plain, ERRNO);

/* Not on the list for error injection. */
DEFINE_TARGET(int, kp_shared_safe, (int n), n + 500005)

static noinline int kp_shared_key(int n)
{
	barrier();
	if (static_branch_unlikely(&key))
		n += 100;
	return n + 300003;
}

static int add_nothing(int n)
{
	return n;
}

static int add_hundred(int n)
{
	return n + 100;
}

DEFINE_STATIC_CALL(kp_shared_callee, add_nothing);

DEFINE_TARGET(int, kp_shared_call, (int n), static_call(kp_shared_callee)(n) + 400004)

static int kp_shared_deep(int n);
static int (*deeper)(int n) = kp_shared_deep;

/* Calls itself until @n calls are active at a time. */
static noinline int kp_shared_deep(int n)
{
	return n > 1 ? READ_ONCE(deeper)(n - 1) + 1 : 1;
}

static struct {
	const char *name;
	int (*function)(int n);
	int result;
} functions[] = {
	{ "traced", kp_shared_traced },
	{ "plain", kp_shared_plain },
	{ "key", kp_shared_key },
	{ "call", kp_shared_call },
	{ "safe", kp_shared_safe },
};

/* The results of a function must not change from call to call. */
static int call_set(const char *text, const struct kernel_param *param)
{
	unsigned int i, j, n;
	int err = kstrtouint(text, 0, &n);

	for (i = 0; !err && i < n; i++) {
		for (j = 0; j < ARRAY_SIZE(functions); j++) {
			int (*function)(int n) = READ_ONCE(functions[j].function);
			int result = function(0);

			if (i && result != functions[j].result)
				err = -EILSEQ;
			functions[j].result = result;
		}
	}
	return err;
}

module_param_call(call, call_set, NULL, NULL, 0200);

static int deep_set(const char *text, const struct kernel_param *param)
{
	int n, err = kstrtoint(text, 0, &n);

	if (err)
		return err;

	/* Interrupts off, so that no interrupt or worker adds instances to return probes. */
	guard(irqsave)();
	return kp_shared_deep(n) == n ? 0 : -EILSEQ;
}

module_param_call(deep, deep_set, NULL, NULL, 0200);
MODULE_PARM_DESC(deep, "how deep a function is to call itself");

static int results_get(char *buf, const struct kernel_param *param)
{
	int i, len = 0;

	for (i = 0; i < ARRAY_SIZE(functions); i++)
		len += scnprintf(buf + len, PAGE_SIZE - len, "%s %d\nkp_shared_%s %#lx\n",
				 functions[i].name, functions[i].result, functions[i].name,
				 (unsigned long)functions[i].function);
	return len;
}

module_param_call(results, NULL, results_get, NULL, 0400);

static int changed_set(const char *text, const struct kernel_param *param)
{
	bool on;
	int err = kstrtobool(text, &on);

	if (err)
		return err;
	if (on)
		static_branch_enable(&key);
	else
		static_branch_disable(&key);
	static_call_update(kp_shared_callee, on ? add_hundred : add_nothing);
	return 0;
}

module_param_call(changed, changed_set, NULL, NULL, 0200);
MODULE_PARM_DESC(changed, "is the static key on, and the static call to what adds 100?");

/* List the addresses of the instructions that the static key and the static call rewrite. */
static int sites_get(char *buf, const struct kernel_param *param)
{
	int len = 0;

#ifdef CONFIG_JUMP_LABEL
	for (int i = 0; i < THIS_MODULE->num_jump_entries; i++)
		len += scnprintf(buf + len, PAGE_SIZE - len, "key %#lx\n",
				 jump_entry_code(&THIS_MODULE->jump_entries[i]));
#endif
#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
	for (int i = 0; i < THIS_MODULE->num_static_call_sites; i++) {
		s32 *addr = &THIS_MODULE->static_call_sites[i].addr;

		len += scnprintf(buf + len, PAGE_SIZE - len, "call %#lx\n",
				 (unsigned long)addr + *addr);
	}
#endif
	return len;
}

module_param_call(sites, NULL, sites_get, NULL, 0400);
MODULE_PARM_DESC(sites, "addresses of the instructions that are rewritten");

static int text_get(char *buf, const struct kernel_param *param)
{
	struct module_memory *mem = &THIS_MODULE->mem[MOD_TEXT];

	return scnprintf(buf, PAGE_SIZE, "%08x\n", jhash(mem->base, mem->size, 0));
}

module_param_call(text, NULL, text_get, NULL, 0400);
MODULE_PARM_DESC(text, "a digest of this module's text");

MODULE_DESCRIPTION("Functions that probes share with others");
MODULE_LICENSE("GPL");
