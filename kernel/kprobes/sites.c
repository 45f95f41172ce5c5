// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text that static keys and static calls rewrite in place. The predicates of jump labels and
 * of static calls scan whole tables, so call them only if the index has a site nearby.
 */
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/module.h>
#include <linux/static_call.h>

#include "internal.h"

static void collect_sites(struct kprobe_addrs *list, const struct module *mod)
{
#ifdef CONFIG_JUMP_LABEL
	const struct jump_entry *e, *last;

	e = kprobe_index_of(mod, mod->jump_entries, __start___jump_table);
	last = kprobe_index_of(mod, e + mod->num_jump_entries, __stop___jump_table);
	for (; e < last; e++)
		kprobe_index_add(list, jump_entry_code(e));
#endif
#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
	const struct static_call_site *site, *end;

	site = kprobe_index_of(mod, mod->static_call_sites, __start_static_call_sites);
	end = kprobe_index_of(mod, site + mod->num_static_call_sites, __stop_static_call_sites);
	for (; site < end; site++)
		kprobe_index_add(list, (unsigned long)&site->addr + site->addr);
#endif
}

static struct kprobe_index site_index = { .collect = collect_sites };

/**
 * kprobe_has_sites() - may static keys or static calls rewrite part of a piece of text?
 * @start: its first byte
 * @end: the byte behind it
 *
 * Context: Process context, kprobe_mutex held.
 * Return: false if they do not.
 */
bool kprobe_has_sites(unsigned long start, unsigned long end)
{
	const unsigned long reach = MAX_INSN_SIZE * sizeof(kprobe_opcode_t);
	const unsigned long *first;

	/* An error counts as true: then the predicates of both subsystems decide. */
	return kprobe_index_find(&site_index, start, start - reach + 1, end, &first);
}

/**
 * kprobe_has_jump_labels() - does a static key rewrite anything in a piece of text?
 * @start: its first byte
 * @end: the byte behind it
 *
 * Does what jump_label_text_reserved() does, but does not scan the table to say no.
 *
 * Context: Process context, kprobe_mutex and jump_label_lock() held.
 * Return: true if it does.
 */
bool kprobe_has_jump_labels(unsigned long start, unsigned long end)
{
	return kprobe_has_sites(start, end) &&
	       jump_label_text_reserved((void *)start, (void *)end - 1);
}

/**
 * kprobe_has_static_calls() - does a static call rewrite anything in a piece of text?
 * @start: its first byte
 * @end: the byte behind it
 *
 * Does what static_call_text_reserved() does, but does not scan the table to say no.
 *
 * Context: Process context, kprobe_mutex held.
 * Return: true if it does.
 */
bool kprobe_has_static_calls(unsigned long start, unsigned long end)
{
	return kprobe_has_sites(start, end) &&
	       static_call_text_reserved((void *)start, (void *)end - 1);
}
