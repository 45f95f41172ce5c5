/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A module that the kernel finds by its addresses, but that has no code: its state, and what
 * the notifiers of module.c are told of it, change as a test says.
 */
#ifndef _LIB_TEST_KPROBES_FAKE_MODULE_H
#define _LIB_TEST_KPROBES_FAKE_MODULE_H

#include <kunit/test.h>
#include <linux/execmem.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>

#include "../../kernel/module/internal.h"

#define TEXT_SIZE	256
#define INIT_OFFSET	1024

static struct mod_kallsyms no_symbols;

static inline unsigned long text_of(const struct module *mod)
{
	return (unsigned long)mod->mem[MOD_TEXT].base;
}

static inline unsigned long init_of(const struct module *mod)
{
	return text_of(mod) + INIT_OFFSET;
}

/* Call one of the two notifiers of module.c, as for an event of @mod. */
static inline int tell(const char *notifier, struct module *mod, unsigned long event)
{
	notifier_fn_t call = (notifier_fn_t)kprobe_lookup_name(notifier, 0);

	return call ? call(NULL, event, mod) : NOTIFY_BAD;
}

static inline int tell_first(struct module *mod, unsigned long event)
{
	return tell("module_event", mod, event);
}

static inline int tell_last(struct module *mod, unsigned long event)
{
	return tell("module_has_come", mod, event);
}

/* The bounds stay: they are only a hint, and other modules may have come meanwhile. */
static inline void remove_module(void *data)
{
	struct module *mod = data;

	scoped_guard(mutex, &module_mutex)
		mod_tree_remove(mod);
	synchronize_rcu();
	tell_first(mod, MODULE_STATE_GOING);
	execmem_free(mod->mem[MOD_TEXT].base);
}

static inline struct module *add_module(struct kunit *test, enum module_state state)
{
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, kprobe_lookup_name("module_event", 0));
	KUNIT_ASSERT_NOT_NULL(test, mod);
	mod->state = state;
	RCU_INIT_POINTER(mod->kallsyms, &no_symbols);
	atomic_set(&mod->refcnt, 1);
	mod->mem[MOD_TEXT].base = execmem_alloc(EXECMEM_MODULE_TEXT, PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, mod->mem[MOD_TEXT].base);
	mod->mem[MOD_TEXT].size = TEXT_SIZE;
	mod->mem[MOD_INIT_TEXT].base = (void *)init_of(mod);
	mod->mem[MOD_INIT_TEXT].size = TEXT_SIZE;

	scoped_guard(mutex, &module_mutex) {
		mod_tree.addr_min = min(mod_tree.addr_min, text_of(mod));
		mod_tree.addr_max = max(mod_tree.addr_max, init_of(mod) + TEXT_SIZE);
		mod_tree_insert(mod);
	}
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remove_module, mod), 0);

	return mod;
}

/* The loader does this when a module is LIVE. */
static inline void drop_init(struct module *mod)
{
	guard(mutex)(&module_mutex);
	mod_tree_remove_init(mod);
	synchronize_rcu();
	mod->mem[MOD_INIT_TEXT].size = 0;
}

#endif /* _LIB_TEST_KPROBES_FAKE_MODULE_H */
