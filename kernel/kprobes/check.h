/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Resolve what a user names to an address, and decide whether it may be probed.
 */
#ifndef _KERNEL_KPROBES_CHECK_H
#define _KERNEL_KPROBES_CHECK_H

#include <linux/types.h>

struct kprobe_function;
struct probe_request;

/* resolve.c: symbol or address plus offset to an address */
int resolve_probe(struct probe_request *req);

/* function.c: the function that contains an address */
enum function_fact {
	FUNCTION_IS_BLACKLISTED_CLONE,
	FUNCTION_HAS_JUMP_LABELS,
	FUNCTION_HAS_STATIC_CALLS,
};

void function_forget(void);
bool function_is(unsigned long addr, enum function_fact fact,
		 bool (*test)(const struct kprobe_function *fn));

/* check.c: may this address be probed? */
int check_probe(struct probe_request *req);
int check_refused(struct probe_request *req, int err);

#endif /* _KERNEL_KPROBES_CHECK_H */
