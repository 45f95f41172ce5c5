/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The instances of return probes, and how calls are diverted: return_pool.c with
 * return_trampoline.c, or return_rethook.h instead of everything that uses chunks here.
 */
#ifndef _KERNEL_KPROBES_RETURN_POOL_H
#define _KERNEL_KPROBES_RETURN_POOL_H

#include <linux/kmsan-checks.h>
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/objpool.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#ifdef CONFIG_KRETPROBES
int kretprobe_pools_init(void);
int kretprobe_pool_create(struct kretprobe *rp, int nr);
void kretprobe_pool_retire(struct kretprobe *rp);
void kretprobe_pool_destroy(struct kretprobe *rp);
void kretprobe_pools_settle(void);
#else
static inline void kretprobe_pool_retire(struct kretprobe *rp)
{
}

static inline void kretprobe_entry_oopsed(void)
{
}
#endif

#ifdef CONFIG_KRETPROBE_ON_RETHOOK
#include "return_rethook.h"
#elif defined(CONFIG_KRETPROBES)
struct return_pool;

/**
 * struct return_chunk - instances of a return probe that were allocated together
 * @holder: leads from the instances to their return probe
 * @spare: @spare of the pool
 * @objects: the instances
 * @pool: the pool of the chunk, until the return probe is unregistered
 * @older: the chunk that came before this one, or NULL
 */
struct return_chunk {
	struct kretprobe_holder holder;
	struct kretprobe_instance * __percpu *spare;
	struct objpool_head objects;
	struct return_pool *pool;
	struct return_chunk *older;
};

struct kretprobe_instance *kretprobe_pool_pop(struct kretprobe *rp);
void kretprobe_pool_put(struct kretprobe_instance *ri);
void kretprobe_entry_oopsed(void);

static __always_inline struct return_chunk *return_chunk_of(struct kretprobe_holder *holder)
{
	return container_of(holder, struct return_chunk, holder);
}

static inline bool return_is_retired(const struct kretprobe *rp)
{
	return !rcu_access_pointer(rp->rph->rp);
}

/*
 * get_kretprobe() must work in the entry_handler even if @rp is retired meanwhile. If the handler
 * oopses, kretprobe_entry_oopsed() finds the instance as the task's innermost: without a frame,
 * and with its own holder as the address.
 */
static __always_inline int return_call_entry_handler(struct kretprobe *rp,
						     kretprobe_handler_t handler,
						     struct kretprobe_instance *ri,
						     struct pt_regs *regs)
{
	struct kretprobe_holder holder, *own = ri->rph;
	int ret;

	RCU_INIT_POINTER(holder.rp, rp);
	/* KMSAN does not see the stores of this file's users. */
	kmsan_unpoison_memory(&holder, sizeof(holder));
	ri->rph = &holder;
	ri->fp = NULL;
	ri->ret_addr = (kprobe_opcode_t *)own;
	__llist_add(&ri->llist, &current->kretprobe_instances);
	ret = handler(ri, regs);
	current->kretprobe_instances.first = ri->llist.next;
	ri->rph = own;

	return ret;
}

/* xchg(): an NMI may interrupt, and other CPUs without a spare may take this one. */
static __always_inline struct kretprobe_instance *kretprobe_pool_get(struct kretprobe *rp)
{
	return xchg(this_cpu_ptr(return_chunk_of(rp->rph)->spare), NULL);
}

/*
 * The return probe was still registered after preemption was disabled, so its pool
 * exists.
 */
static __always_inline void kretprobe_pool_keep(struct kretprobe_instance *ri)
{
	struct kretprobe_instance *none = NULL;

	if (unlikely(!try_cmpxchg(this_cpu_ptr(return_chunk_of(ri->rph)->spare), &none, ri)))
		kretprobe_pool_put(ri);
}

static __always_inline void kretprobe_divert(struct kretprobe_instance *ri, struct pt_regs *regs,
					     bool mcount)
{
#ifdef arch_divert_return
	arch_divert_return(&ri->ret_addr, &ri->fp, regs);
#else
	arch_prepare_kretprobe(ri, regs);
#endif
	__llist_add(&ri->llist, &current->kretprobe_instances);
}
#endif

#endif /* _KERNEL_KPROBES_RETURN_POOL_H */
