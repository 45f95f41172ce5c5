// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text that comes and goes: modules, and what is only needed for booting.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/module.h>
#include <linux/notifier.h>
#include <asm/sections.h>

#include "internal.h"

/**
 * kprobe_free_init_mem() - the kernel's boot-time text is about to be freed
 *
 * Context: Process context, at the end of boot. Takes kprobe_mutex.
 */
void kprobe_free_init_mem(void)
{
	guard(mutex)(&kprobe_mutex);
	function_forget();
	points_forget_text((unsigned long)__init_begin, (unsigned long)__init_end, false);
}

#ifdef CONFIG_MODULES

static void forget_module_text(struct module *mod, enum mod_mem_type type)
{
	unsigned long base = (unsigned long)mod->mem[type].base;

	blacklist_forget_module(mod, type);

	guard(mutex)(&kprobe_mutex);
	function_forget();
	/* A parameter may be read until its file goes, and asynchronous calls may be late. */
	points_forget_text(base, base + mod->mem[type].size, true);
}

static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;

	switch (event) {
	case MODULE_STATE_COMING:
		scoped_guard(mutex, &kprobe_mutex)
			function_forget();
		return notifier_from_errno(blacklist_add_module(mod));
	case MODULE_STATE_LIVE:
		forget_module_text(mod, MOD_INIT_TEXT);
		break;
	case MODULE_STATE_GOING:
		forget_module_text(mod, MOD_INIT_TEXT);
		forget_module_text(mod, MOD_TEXT);
		break;
	}

	return NOTIFY_DONE;
}

/* Tracers register their probes from a notifier too, with priority 2. */
static struct notifier_block module_nb = {
	.notifier_call = module_event,
	.priority = 3,
};

int __init lifetime_init(void)
{
	return register_module_notifier(&module_nb);
}

/*
 * Keep the module that owns the text, if one does, from going away until the
 * text is armed; from then on the notifier above looks after the point.
 */
int lifetime_hold(struct probe_request *req)
{
	struct module *mod;
	bool init_text;

	guard(preempt)();
	mod = __module_text_address(req->addr);
	if (!mod)
		return 0;

	init_text = within_module_init(req->addr, mod) && mod->state != MODULE_STATE_COMING;
	if (init_text || !try_module_get(mod)) {
		pr_debug("%pS: module text that is being freed\n", (void *)req->addr);
		return -ENOENT;
	}
	req->module = mod;

	return 0;
}

void lifetime_release(struct probe_request *req)
{
	module_put(req->module);
	req->module = NULL;
}

#endif /* CONFIG_MODULES */
