// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text that appears and disappears: modules, and the kernel's init sections.
 */
#include <linux/limits.h>
#include <linux/notifier.h>
#include <linux/xarray.h>
#include <asm/sections.h>

#include "internal.h"

/**
 * kprobe_free_init_mem() - the kernel's boot-time text is about to be freed
 *
 * Some of it has yet to run, so restore it while it can still be written.
 *
 * Context: Process context, at the end of boot, before SYSTEM_FREEING_INITMEM. Takes
 * kprobe_mutex.
 */
void kprobe_free_init_mem(void)
{
	guard(mutex)(&kprobe_mutex);
	kprobe_check_no_init_text();
	kprobe_function_forget();
	kprobe_points_forget_text((unsigned long)__init_begin, (unsigned long)__init_end);
}

#ifdef CONFIG_MODULES

/*
 * Modules in MODULE_STATE_COMING that may be probed. At first the entry is the task that loads
 * the module: no other task may probe it while other notifiers sort its jump labels and static
 * calls. Then the entry is the module itself, and all tasks may.
 */
static DEFINE_XARRAY(modules_coming);

static int module_comes(struct module *mod)
{
	int ret;

	/* This task may probe it from here on, for the notifier will report LIVE or GOING. */
	ret = xa_err(xa_store(&modules_coming, (unsigned long)mod, current, GFP_KERNEL));
	if (ret)
		return ret;

	ret = kprobe_blacklist_add_module(mod);
	if (ret) {
		xa_erase(&modules_coming, (unsigned long)mod);
		return ret;
	}

	scoped_guard(mutex, &kprobe_mutex)
		kprobe_function_forget();

	return 0;
}

static void module_forget_text(struct module *mod, enum mod_mem_type type)
{
	unsigned long base = (unsigned long)mod->mem[type].base;

	guard(mutex)(&kprobe_mutex);
	kprobe_function_forget();
	/* Restore the text: module parameters and asynchronous calls may still run it. */
	kprobe_points_forget_text(base, base + mod->mem[type].size);
	/* Until here a registration may have held the module, and have checked addresses in it. */
	kprobe_blacklist_forget_module(mod, type);
}

static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;

	if (event == MODULE_STATE_COMING)
		return notifier_from_errno(module_comes(mod));

	/* It is LIVE or GOING. */
	xa_erase(&modules_coming, (unsigned long)mod);
	module_forget_text(mod, MOD_INIT_TEXT);
	if (event == MODULE_STATE_GOING)
		module_forget_text(mod, MOD_TEXT);

	return NOTIFY_DONE;
}

/* Run before other notifiers, which may register probes. */
static struct notifier_block module_nb = {
	.notifier_call = module_event,
	.priority = 3,
};

static int module_has_come(struct notifier_block *nb, unsigned long event, void *data)
{
	if (event == MODULE_STATE_COMING)
		xa_store(&modules_coming, (unsigned long)data, data, GFP_KERNEL);

	return NOTIFY_DONE;
}

/* Run after all others but trace_kprobe's, which registers the events that wait for the module. */
static struct notifier_block last_module_nb = {
	.notifier_call = module_has_come,
	.priority = INT_MIN + 1,
};

int __init kprobe_module_init(void)
{
	return register_module_notifier(&module_nb) ?: register_module_notifier(&last_module_nb);
}

/*
 * Must the text at @addr not be probed now? A module that is COMING may still fail to load, and
 * has no blacklist before it is in modules_coming; one that is LIVE frees its init text.
 */
static bool module_is_changing(struct module *mod, unsigned long addr)
{
	void *prober = xa_load(&modules_coming, (unsigned long)mod);

	/*
	 * Pairs with xa_erase() in module_event(), a release after the state has become LIVE:
	 * if the entry is gone, that state is seen.
	 */
	smp_rmb();
	if (READ_ONCE(mod->state) == MODULE_STATE_COMING)
		return prober != mod && prober != current;

	/* Test for core text: mod->mem[MOD_INIT_TEXT] is emptied before the init text is freed. */
	return !within_module_mem_type(addr, mod, MOD_TEXT);
}

/*
 * Pin the module that owns the text until the text is armed. From then on the notifier
 * above retires the point when the module goes.
 */
int kprobe_module_hold(struct probe_request *req)
{
	struct module *mod;

	guard(preempt)();
	mod = __module_text_address(req->addr);
	if (!mod)
		return 0;

	if (module_is_changing(mod, req->addr) || !try_module_get(mod))
		return kprobe_refuse(-ENOENT, (void *)req->addr, "module text that comes or goes");
	req->module = mod;

	return 0;
}

/*
 * As long as a module that is LIVE has init text, trim_init_extable() may be about to cut
 * the entries for it from the exception table, without a lock.
 */
static bool module_drops_init(const struct module *mod)
{
	bool drops = READ_ONCE(mod->state) == MODULE_STATE_LIVE &&
		     READ_ONCE(mod->mem[MOD_INIT_TEXT].size);

	/*
	 * Pairs with the write barriers in mod_tree_remove_init(), which runs after
	 * trim_init_extable() and before the size is cleared. It has none without
	 * CONFIG_MODULES_TREE_LOOKUP, which is on with PERF_EVENTS or TRACING.
	 */
	smp_rmb();

	return drops;
}

/*
 * Are the jump labels, static calls and exception table entries of the text at @addr final?
 * Those of a module are when the last notifier of its coming has run. Set @owner to that
 * module, or to NULL.
 */
bool kprobe_module_is_settled(unsigned long addr, struct module **owner)
{
	struct module *mod;

	lockdep_assert_held(&kprobe_mutex);
	guard(preempt)();
	mod = __module_text_address(addr);
	*owner = mod;

	return !mod || (!module_is_changing(mod, addr) && !module_drops_init(mod));
}

/*
 * Has the module begun to go, so that what others patch in its text is not known any more?
 * Try to get a reference: mod->state may change later than the count of references.
 */
bool kprobe_module_is_going(struct module *mod)
{
	if (!try_module_get(mod))
		return true;
	module_put(mod);

	return false;
}

#endif /* CONFIG_MODULES */
