/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Resolve what a user names to an address, and decide whether it may be probed.
 */
#ifndef _KERNEL_KPROBES_CHECK_H
#define _KERNEL_KPROBES_CHECK_H

#include <linux/static_call_types.h>
#include <linux/types.h>

struct kprobe_function;
struct probe_request;

/* resolve.c: symbol or address plus offset to an address */
int kprobe_resolve_address(struct probe_request *req);
int kprobe_resolve_place(struct probe_request *req);

/* function.c: the function that contains an address */
enum function_fact {
	FUNCTION_IS_BLACKLISTED_CLONE,
	FUNCTION_HAS_SITES,
};

void kprobe_function_forget(void);
bool kprobe_function_is(unsigned long addr, enum function_fact fact,
			bool (*test)(const struct kprobe_function *fn));

/* symbols.c: the symbols of a module */
#ifdef CONFIG_MODULES
void kprobe_symbols_forget(void);
bool kprobe_symbols_find(unsigned long addr, struct kprobe_function *fn, char *name, bool *found);
unsigned long kprobe_symbols_nth_named(unsigned long addr, const char *name, unsigned int n);
unsigned long kprobe_symbols_lookup(const char *name);
#else
static inline void kprobe_symbols_forget(void)
{
}

static inline bool kprobe_symbols_find(unsigned long addr, struct kprobe_function *fn, char *name,
				       bool *found)
{
	return false;
}

static inline unsigned long kprobe_symbols_nth_named(unsigned long addr, const char *name,
						     unsigned int n)
{
	return 0;
}

static inline unsigned long kprobe_symbols_lookup(const char *name)
{
	return 0;
}
#endif

/* index.c: sorted copies of address tables that other subsystems have */
void kprobe_indexes_forget(void);

/* sites.c: text that static keys and static calls rewrite */
extern struct static_call_site __start_static_call_sites[];
extern struct static_call_site __stop_static_call_sites[];

/* check.c: may this address be probed? */
void kprobe_check_no_init_text(void);
int kprobe_check(struct probe_request *req);
int kprobe_check_refused(struct probe_request *req, int err);

#endif /* _KERNEL_KPROBES_CHECK_H */
