/* SPDX-License-Identifier: GPL-2.0-only */
/* Instances and diverted calls on ports that use rethook: return_rethook.c. */
#ifndef _KERNEL_KPROBES_RETURN_RETHOOK_H
#define _KERNEL_KPROBES_RETURN_RETHOOK_H

#include <linux/kprobes.h>
#include <linux/rcupdate.h>
#include <linux/rethook.h>

struct kretprobe_instance *kretprobe_pool_get(struct kretprobe *rp);

static inline struct kretprobe_instance *kretprobe_pool_pop(struct kretprobe *rp)
{
	return NULL;
}

static inline bool return_is_retired(const struct kretprobe *rp)
{
	return !rcu_access_pointer(rp->rh->handler);
}

static __always_inline int return_call_entry_handler(struct kretprobe *rp,
						     kretprobe_handler_t handler,
						     struct kretprobe_instance *ri,
						     struct pt_regs *regs)
{
	return handler(ri, regs);
}

/* rethook has no list of nodes that are taken, but not hooked: the instance is lost. */
static inline void kretprobe_entry_oopsed(void)
{
}

void kretprobe_pool_keep(struct kretprobe_instance *ri);
void kretprobe_divert(struct kretprobe_instance *ri, struct pt_regs *regs, bool mcount);

#endif /* _KERNEL_KPROBES_RETURN_RETHOOK_H */
