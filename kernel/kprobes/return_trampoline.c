// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diverted calls: the instances of each task, and the code that runs when a call returns.
 *
 * A task's instances form a stack, innermost call first. Several return probes
 * on one function give several instances with one frame: the first of them knows
 * the real return address, the later ones found the trampoline there already.
 * rethook may divert the same frame too, before or after; its trampoline then
 * stands for the real address, or the other way round.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/bug.h>
#include <linux/ftrace.h>
#include <linux/kmsan.h>
#include <linux/preempt.h>
#include <asm/sections.h>

#include "internal.h"

/*
 * Starting at @node, find the instance that has the real return address of the function
 * with frame @fp. Instances of other frames that come first were left behind by functions
 * that never returned.
 */
static struct kretprobe_instance *return_find_last_of_frame(struct llist_node *node, void *fp)
{
	struct kretprobe_instance *ri;

	for (; node; node = READ_ONCE(node->next)) {
		ri = llist_entry(node, struct kretprobe_instance, llist);
		if (ri->fp == fp && !is_kretprobe_trampoline((unsigned long)ri->ret_addr))
			return ri;
	}

	return NULL;
}

NOKPROBE_SYMBOL(return_find_last_of_frame);

/* True from before @tsk becomes current until the switch away from it is complete. */
static bool return_task_is_on_cpu(const struct task_struct *tsk)
{
#ifdef CONFIG_SMP
	/* Pairs with the release in finish_task(): off the CPU, its list is complete. */
	return smp_load_acquire(&tsk->on_cpu);
#else
	return false;
#endif
}

NOKPROBE_SYMBOL(return_task_is_on_cpu);

/**
 * kretprobe_find_ret_addr() - where a diverted function really returns to
 * @tsk: the task that called it, current or one that is not running
 * @fp: its frame, as the architecture has noted it in kretprobe_instance::fp
 * @cur: the instance that an unwinder's search has reached; NULL at first
 *
 * Context: Any, an NMI included; for another task under rcu_read_lock(), which keeps the
 * instance of @cur.
 * Return: the address, 0 when the task has no such call under way, or is running.
 */
unsigned long kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
				      struct llist_node **cur)
{
	struct llist_node *from;
	struct kretprobe_instance *ri;

	if (tsk != current) {
		RCU_LOCKDEP_WARN(!rcu_read_lock_any_held(), "another task's stack without RCU");
		/* A running task may return, and its instances be reused, at any time. */
		if (return_task_is_on_cpu(tsk))
			return 0;
	}
	from = *cur ? (*cur)->next : tsk->kretprobe_instances.first;
	ri = return_find_last_of_frame(from, fp);
	if (!ri)
		return 0;
	*cur = &ri->llist;

	return (unsigned long)ri->ret_addr;
}

NOKPROBE_SYMBOL(kretprobe_find_ret_addr);

/* The function graph tracer, by which fprobes divert calls where they do not use rethook. */
static __always_inline bool is_graph_trampoline(unsigned long addr)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	return addr == (unsigned long)dereference_kernel_function_descriptor(return_to_handler);
#else
	return false;
#endif
}

static __always_inline bool return_is_to_trampoline(unsigned long addr)
{
	return is_kretprobe_trampoline(addr) || is_graph_trampoline(addr) ||
	       (IS_ENABLED(CONFIG_RETHOOK) && is_rethook_trampoline(addr));
}

/**
 * kretprobe_find_caller() - look through all kinds of trampolines for a caller
 * @fp: the frame of the call; NULL for the innermost one that return probes follow
 * @addr: its return address, which may be a trampoline
 * @cur: the instance that the search for return probes has reached; NULL at first
 * @rethook_cur: the same for rethook
 *
 * Context: A trampoline's handler, preemption disabled.
 * Return: the address that handlers have to see.
 */
unsigned long kretprobe_find_caller(void *fp, unsigned long addr, struct llist_node *cur,
				    struct llist_node *rethook_cur)
{
	struct llist_node *first = current->kretprobe_instances.first;
	unsigned long prev;
	int graph = 0;

	if (!fp && first)
		fp = llist_entry(first, struct kretprobe_instance, llist)->fp;
	do {
		prev = addr;
		if (is_kretprobe_trampoline(addr))
			addr = kretprobe_find_ret_addr(current, fp, &cur);
		else if (IS_ENABLED(CONFIG_RETHOOK) && is_rethook_trampoline(addr))
			addr = rethook_find_ret_addr(current, (unsigned long)fp, &rethook_cur);
		else if (is_graph_trampoline(addr))
			addr = ftrace_graph_ret_addr(current, &graph, addr, fp);
	} while (addr != prev);

	return addr;
}

NOKPROBE_SYMBOL(kretprobe_find_caller);

#ifndef arch_kretprobe_fixup_return
/**
 * arch_kretprobe_fixup_return() - give the real return address to a caller
 * @regs: registers at the return
 * @correct_ret_addr: the address
 *
 * For architectures with a place where unwinders look for the return address, which has
 * been that of the trampoline so far: from now on they find no instance for it.
 *
 * Context: The trampoline, preemption disabled.
 */
void __weak arch_kretprobe_fixup_return(struct pt_regs *regs, kprobe_opcode_t *correct_ret_addr)
{
}

NOKPROBE_SYMBOL(arch_kretprobe_fixup_return);
#endif

static __always_inline void return_call_watched(struct kretprobe *rp, kretprobe_handler_t handler,
						struct kretprobe_instance *ri,
						struct pt_regs *regs)
{
	struct kprobe *before = fault_watch(&rp->kp);

	handler(ri, regs);
	fault_unwatch(before);
}

/* Make the return probe current: bpf_get_func_ip() reads kprobe_running(). */
static __always_inline void return_run_handler(struct kretprobe *rp, kretprobe_handler_t handler,
					       struct kretprobe_instance *ri,
					       struct pt_regs *regs)
{
	kprobe_hit_begin(&rp->kp);
	return_call_watched(rp, handler, ri, regs);
}

/* The function that returned was called by a handler, or by code that interrupted one. */
static noinline void return_run_nested_handler(struct kretprobe *rp, kretprobe_handler_t handler,
					       struct kretprobe_instance *ri,
					       struct pt_regs *regs)
{
	struct kprobe_ctlblk ctlblk = *get_kprobe_ctlblk();
	struct kprobe *outer = kprobe_running();

	if (__is_defined(ARCH_KPROBES_NATIVE) && kprobe_hit_push(&rp->kp)) {
		return_call_watched(rp, handler, ri, regs);
		kprobe_hit_pop();
		return;
	}
	return_run_handler(rp, handler, ri, regs);
	*get_kprobe_ctlblk() = ctlblk;
	/* As in kprobe_hit_pop(): an interrupt that finds @outer current finds its state, too. */
	barrier();
	__this_cpu_write(current_kprobe, outer);
}

NOKPROBE_SYMBOL(return_run_nested_handler);

static __always_inline void return_call_handler(struct kretprobe *rp, struct kretprobe_instance *ri,
						struct pt_regs *regs)
{
	/* Its owner may clear it at any time. */
	kretprobe_handler_t handler = READ_ONCE(rp->handler);

	if (!handler)
		return;

	if (unlikely(kprobe_running())) {
		return_run_nested_handler(rp, handler, ri, regs);
		return;
	}

	return_run_handler(rp, handler, ri, regs);
	reset_current_kprobe();
}

/* Recycle only now: an unwinder in a handler needs the instances. */
static void return_recycle_until(struct kretprobe_instance *last)
{
	struct llist_node *node, *next = current->kretprobe_instances.first;

	current->kretprobe_instances.first = last->llist.next;
	do {
		node = next;
		next = node->next;
		kretprobe_pool_put(llist_entry(node, struct kretprobe_instance, llist));
	} while (node != &last->llist);
}

NOKPROBE_SYMBOL(return_recycle_until);

/* Print all instances: one of them most likely has the address of the lost call's caller. */
static void return_report_lost(struct llist_node *node, void *frame_pointer)
{
	struct kretprobe_instance *ri;
	struct kretprobe *rp;

	pr_err("a return came to the trampoline, and no return probe has its frame %p\n",
	       frame_pointer);
	llist_for_each_entry(ri, node, llist) {
		rp = get_kretprobe(ri);
		pr_err("return probe on %pS: a call with frame %p returns to %pS\n",
		       rp ? rp->kp.addr : NULL, ri->fp, ri->ret_addr);
	}
}

NOKPROBE_SYMBOL(return_report_lost);

/* Restore the address before its instance is recycled: an unwinder needs one of the two. */
static __always_inline void fixup_return(struct pt_regs *regs, unsigned long ret_addr)
{
	arch_kretprobe_fixup_return(regs, (kprobe_opcode_t *)ret_addr);
	barrier();
}

/*
 * Called for several return probes on one function, after calls that never returned, or
 * when the return probe has been unregistered.
 */
static noinline unsigned long return_to_caller_slow(struct pt_regs *regs, void *frame_pointer)
{
	struct llist_node *node = current->kretprobe_instances.first;
	struct kretprobe_instance *last = return_find_last_of_frame(node, frame_pointer);
	unsigned long ret_addr, caller;
	struct kretprobe_instance *ri;
	struct kretprobe *rp;

	if (!last) {
		return_report_lost(node, frame_pointer);
		BUG();
	}
	ret_addr = (unsigned long)last->ret_addr;
	caller = kretprobe_find_caller(frame_pointer, ret_addr, &last->llist, NULL);
	instruction_pointer_set(regs, caller);

	/* Handlers read ri->ret_addr: show the real caller to each of them. */
	for (;; node = node->next) {
		ri = llist_entry(node, struct kretprobe_instance, llist);
		if (ri->fp == frame_pointer)
			ri->ret_addr = (kprobe_opcode_t *)caller;
		rp = get_kretprobe(ri);
		if (rp && ri->fp == frame_pointer)
			return_call_handler(rp, ri, regs);
		if (ri == last)
			break;
	}

	fixup_return(regs, ret_addr);
	return_recycle_until(last);

	return ret_addr;
}

NOKPROBE_SYMBOL(return_to_caller_slow);

static __always_inline unsigned long return_to_caller(struct pt_regs *regs, void *frame_pointer)
{
	struct llist_node *first = current->kretprobe_instances.first;
	struct kretprobe_instance *ri = llist_entry(first, struct kretprobe_instance, llist);
	unsigned long ret_addr;
	struct kretprobe *rp;

	kmsan_unpoison_entry_regs(regs);

	/*
	 * ri->ret_addr may be a trampoline itself, if another user diverted the call
	 * before.
	 */
	if (unlikely(!first || ri->fp != frame_pointer ||
		     return_is_to_trampoline((unsigned long)ri->ret_addr)))
		return return_to_caller_slow(regs, frame_pointer);
	rp = get_kretprobe(ri);
	if (unlikely(!rp))
		return return_to_caller_slow(regs, frame_pointer);

	instruction_pointer_set(regs, (unsigned long)ri->ret_addr);
	return_call_handler(rp, ri, regs);
	ret_addr = (unsigned long)ri->ret_addr;
	fixup_return(regs, ret_addr);
	current->kretprobe_instances.first = ri->llist.next;
	kretprobe_pool_keep(ri);

	return ret_addr;
}

/**
 * __kretprobe_trampoline_handler() - a diverted function has returned
 * @regs: registers as the function left them
 * @frame_pointer: the frame of the call, as for kretprobe_find_ret_addr()
 *
 * Context: The architecture's trampoline, preemption disabled.
 * Return: the address at which to continue.
 */
unsigned long __kretprobe_trampoline_handler(struct pt_regs *regs, void *frame_pointer)
{
	return return_to_caller(regs, frame_pointer);
}

NOKPROBE_SYMBOL(__kretprobe_trampoline_handler);

/*
 * preempt_enable_notrace() would call the scheduler even with interrupts off. The scheduler
 * returns at once then, but a return probe on the function called would recurse without end.
 */
static __always_inline void allow_preemption(void)
{
#ifdef CONFIG_PREEMPTION
	barrier();
	if (unlikely(__preempt_count_dec_and_test()) && !irqs_disabled())
		__preempt_schedule_notrace();
#else
	preempt_enable_no_resched_notrace();
#endif
}

/**
 * kretprobe_trampoline_handler() - handle a return in a trampoline that is not a probe
 * @regs: registers as the function left them
 * @frame_pointer: the frame of the call
 *
 * Context: The architecture's trampoline.
 * Return: the address at which to continue.
 */
unsigned long kretprobe_trampoline_handler(struct pt_regs *regs, void *frame_pointer)
{
	unsigned long ret;

	preempt_disable_notrace();
	ret = return_to_caller(regs, frame_pointer);
	allow_preemption();

	return ret;
}

NOKPROBE_SYMBOL(kretprobe_trampoline_handler);

/**
 * kprobe_flush_task() - take back the instances of a task that has died
 * @task: the task, which will never run again
 *
 * Context: An RCU callback.
 */
void kprobe_flush_task(struct task_struct *task)
{
	struct llist_node *node = __llist_del_all(&task->kretprobe_instances);
	struct kretprobe_instance *ri, *next;

	llist_for_each_entry_safe(ri, next, node, llist)
		kretprobe_pool_put(ri);
}

NOKPROBE_SYMBOL(kprobe_flush_task);
