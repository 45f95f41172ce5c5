/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text that appears and disappears.
 */
#ifndef _KERNEL_KPROBES_LIFETIME_H
#define _KERNEL_KPROBES_LIFETIME_H

#include <linux/types.h>

struct module;
struct probe_request;

#ifdef CONFIG_MODULES
int kprobe_lifetime_init(void);
int kprobe_lifetime_hold(struct probe_request *req);
void kprobe_lifetime_release(struct probe_request *req);
bool kprobe_lifetime_is_settled(unsigned long addr, struct module **owner);
bool kprobe_lifetime_is_going(struct module *mod);
#else
static inline int kprobe_lifetime_init(void)
{
	return 0;
}

static inline int kprobe_lifetime_hold(struct probe_request *req)
{
	return 0;
}

static inline void kprobe_lifetime_release(struct probe_request *req)
{
}

static inline bool kprobe_lifetime_is_settled(unsigned long addr, struct module **owner)
{
	*owner = NULL;

	return true;
}

static inline bool kprobe_lifetime_is_going(struct module *mod)
{
	return false;
}
#endif

#endif /* _KERNEL_KPROBES_LIFETIME_H */
