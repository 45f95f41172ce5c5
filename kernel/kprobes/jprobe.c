// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jprobes: a handler that is called like the probed function, with its arguments.
 *
 * A jprobe is a probe on a function's entry. Its pre_handler copies the stack words that
 * may hold further arguments, and the architecture calls the user's handler with the
 * registers of the entry and this copy. The handler returns to the pre_handler, and the
 * function does not see what the handler does to its arguments. So a jprobe works
 * together with any other probe at the address, whether hits come by breakpoint, by jump
 * or from ftrace.
 */
#include <linux/build_bug.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>

#include "internal.h"

/* register_jprobes() passes its array on as an array of struct kprobe pointers. */
static_assert(offsetof(struct jprobe, kp) == 0);

/* The stack may end earlier: the function may have fewer arguments than words are copied. */
static __always_inline void copy_stack(unsigned long *to, struct pt_regs *regs)
{
	unsigned long *from = (unsigned long *)(kernel_stack_pointer(regs) + JPROBE_STACK_OFFSET);
	unsigned int i;

	for (i = 0; i < JPROBE_STACK_WORDS; i++)
		__get_kernel_nofault(&to[i], &from[i], unsigned long, end_of_stack);
	return;

end_of_stack:
	memset(&to[i], 0, (JPROBE_STACK_WORDS - i) * sizeof(*to));
}

int jprobe_pre_handler(struct kprobe *kp, struct pt_regs *regs)
{
	void *entry = READ_ONCE(container_of(kp, struct jprobe, kp)->entry);
	unsigned long stack[JPROBE_STACK_WORDS];

	/* Its owner may have cleared it. */
	if (!entry)
		return 0;
	copy_stack(stack, regs);
	arch_call_jprobe(entry, regs, stack);

	return 0;
}

NOKPROBE_SYMBOL(jprobe_pre_handler);

static int jprobe_check(struct jprobe *jp)
{
	struct probe_request req;
	int ret;

	if (!jp || !kernel_text_address((unsigned long)jp->entry))
		return kprobe_refuse(-EINVAL, NULL, "no jprobe, or its entry is not in text");

	guard(mutex)(&kprobe_mutex);
	req.kp = &jp->kp;
	ret = kprobe_request_place(&req);
	if (ret)
		return ret;
	if (!req.on_entry)
		return kprobe_refuse(-EINVAL, (void *)req.addr,
				     "no entry of a function, where its arguments are");

	return 0;
}

static void jprobes_set_handler(struct jprobe **jps, int num, kprobe_pre_handler_t handler)
{
	int i;

	for (i = 0; i < num; i++)
		jps[i]->kp.pre_handler = handler;
}

/**
 * register_jprobes() - register an array of jprobes, all or none
 * @jps: the jprobes
 * @num: how many there are
 *
 * Context: As register_kprobe().
 * Return: 0, -%EINVAL when @jps is NULL or @num not positive, -%EOPNOTSUPP without
 * CONFIG_JPROBES, -%ENOMEM, or the error of one that could not be registered; see
 * register_jprobe().
 */
int register_jprobes(struct jprobe **jps, int num)
{
	int i, ret;

	if (!jps || num <= 0)
		return kprobe_refuse_call(-EINVAL, 'j', "no probes");

	for (i = 0; i < num; i++) {
		ret = jprobe_check(jps[i]);
		if (ret) {
			kprobe_record_refusal(jps[i] ? &jps[i]->kp : NULL, 'j', ret, i + 1, num);
			return ret;
		}
		cond_resched();
	}

	jprobes_set_handler(jps, num, jprobe_pre_handler);
	ret = register_kprobes((struct kprobe **)jps, num);
	if (ret)
		jprobes_set_handler(jps, num, NULL);

	return ret;
}
EXPORT_SYMBOL_GPL(register_jprobes);

/**
 * register_jprobe() - call a handler with the arguments of a function
 * @jp: the jprobe; @jp->kp names the function, as for register_kprobe(), and @jp->entry
 *	is the handler. Registration sets the pre_handler in @jp->kp.
 *
 * Each call of the function first calls the handler, with a copy of the arguments. The
 * handler must have the type of the function: number and types of the parameters, and
 * attributes that change how they are passed, such as asmlinkage. Arguments on the stack
 * are passed if they are in its first %JPROBE_STACK_WORDS words. The handler runs as any
 * pre_handler does; what it returns is ignored.
 *
 * Context: As register_kprobe().
 * Return: 0. On failure the pre_handler in @jp->kp may have been cleared, nothing else
 * has changed; the error is one of register_kprobe() or
 *
 * * -%EINVAL - @jp is NULL, @jp->entry is not a function, or the probed address is not
 *   the entry of one
 * * -%EOPNOTSUPP - a kernel without CONFIG_JPROBES
 */
int register_jprobe(struct jprobe *jp)
{
	return register_jprobes(&jp, 1);
}
EXPORT_SYMBOL_GPL(register_jprobe);

/**
 * unregister_jprobes() - unregister an array of jprobes
 * @jps: the jprobes; the address of one that is not registered is cleared
 * @num: how many there are
 *
 * Context: As unregister_kprobes(). When it returns, no handler of these jprobes runs
 * any more.
 */
void unregister_jprobes(struct jprobe **jps, int num)
{
	int i;

	if (!jps || num <= 0)
		return;

	unregister_kprobes((struct kprobe **)jps, num);
	for (i = 0; i < num; i++) {
		if (jps[i] && jps[i]->kp.addr)
			jps[i]->kp.pre_handler = NULL;
	}
}
EXPORT_SYMBOL_GPL(unregister_jprobes);

/**
 * unregister_jprobe() - remove a jprobe
 * @jp: the jprobe; when it is not registered its address is cleared
 *
 * Context: As unregister_jprobes().
 */
void unregister_jprobe(struct jprobe *jp)
{
	unregister_jprobes(&jp, 1);
}
EXPORT_SYMBOL_GPL(unregister_jprobe);
