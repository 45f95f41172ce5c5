// SPDX-License-Identifier: GPL-2.0-only
/*
 * Implements the functions of return_pool.c and return_trampoline.c for ports that can
 * divert a return only through rethook, whose nodes are the instances.
 */
#include "internal.h"

static void return_rethook_handler(struct rethook_node *node, void *data,
				   unsigned long ret_addr, struct pt_regs *regs)
{
	struct kretprobe *rp = data;
	kretprobe_handler_t handler = rp ? READ_ONCE(rp->handler) : NULL;
	struct kprobe_ctlblk *kcb;
	struct kprobe *outer;
	unsigned long status;

	if (!handler)
		return;

	guard(preempt_notrace)();
	kcb = get_kprobe_ctlblk();
	outer = kprobe_running();
	status = kcb->kprobe_status;

	__this_cpu_write(current_kprobe, &rp->kp);
	kcb->kprobe_status = KPROBE_HIT_ACTIVE;
	handler(container_of(node, struct kretprobe_instance, node), regs);
	kcb->kprobe_status = status;
	__this_cpu_write(current_kprobe, outer);
}

NOKPROBE_SYMBOL(return_rethook_handler);

int kretprobe_pool_create(struct kretprobe *rp, int maxactive)
{
	struct rethook *rh;

	rh = rethook_alloc(rp, return_rethook_handler,
			   sizeof(struct kretprobe_instance) + rp->data_size, maxactive);
	if (IS_ERR(rh))
		return PTR_ERR(rh);
	rp->rh = rh;

	return 0;
}

int kretprobe_pool_size(const struct kretprobe *rp)
{
	return rp->rh->pool.nr_objs;
}

void kretprobe_pool_retire(struct kretprobe *rp)
{
	rethook_stop(rp->rh);
}

void kretprobe_pool_destroy(struct kretprobe *rp)
{
	struct rethook *rh = rp->rh;

	if (!rh)
		return;

	/* Nodes outlive the return probe: break their link to it. */
	WRITE_ONCE(rh->data, NULL);
	rp->rh = NULL;
	rethook_free(rh);
}

struct kretprobe_instance *kretprobe_pool_get(struct kretprobe *rp)
{
	struct rethook_node *node = rethook_try_get(rp->rh);

	return node ? container_of(node, struct kretprobe_instance, node) : NULL;
}

NOKPROBE_SYMBOL(kretprobe_pool_get);

void kretprobe_pool_keep(struct kretprobe_instance *ri)
{
	rethook_recycle(&ri->node);
}

NOKPROBE_SYMBOL(kretprobe_pool_keep);

void kretprobe_divert(struct kretprobe_instance *ri, struct pt_regs *regs, bool mcount)
{
	rethook_hook(&ri->node, regs, mcount);
}

NOKPROBE_SYMBOL(kretprobe_divert);
