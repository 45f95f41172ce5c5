/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jprobes: a handler with the parameters of the probed function. Included by
 * <linux/kprobes.h>; the functions are described in kernel/kprobes/jprobe.c.
 */
#ifndef _LINUX_JPROBES_H
#define _LINUX_JPROBES_H

#ifndef _LINUX_KPROBES_H
#error "Include <linux/kprobes.h>"
#endif

/**
 * struct jprobe - a probe whose handler has the parameters of the probed function
 * @kp: names the function; its pre_handler is set by kprobes
 * @entry: the handler, a function of the same type as the probed one
 */
struct jprobe {
	struct kprobe kp;
	void *entry;
};

/**
 * JPROBE_ENTRY() - the value of jprobe::entry for a handler
 * @handler: a function
 */
#define JPROBE_ENTRY(handler)	((void *)(handler))

/**
 * jprobe_return() - last statement of a handler, once required
 *
 * Does nothing: the handler simply returns, and may omit this.
 *
 * Context: A jprobe's handler.
 */
static inline void jprobe_return(void)
{
}

#ifdef CONFIG_JPROBES
int register_jprobe(struct jprobe *jp);
int register_jprobes(struct jprobe **jps, int num);
void unregister_jprobe(struct jprobe *jp);
void unregister_jprobes(struct jprobe **jps, int num);

/* Implemented by the architecture, and described there. */
void arch_call_jprobe(void *entry, struct pt_regs *regs, const unsigned long *stack);
#else
static inline int register_jprobe(struct jprobe *jp) { return -EOPNOTSUPP; }
static inline int register_jprobes(struct jprobe **jps, int num) { return -EOPNOTSUPP; }
static inline void unregister_jprobe(struct jprobe *jp) { }
static inline void unregister_jprobes(struct jprobe **jps, int num) { }
#endif

/**
 * enable_jprobe() - let a disabled jprobe be called again
 * @jp: the jprobe
 *
 * Context: As enable_kprobe().
 * Return: As enable_kprobe(); -%EOPNOTSUPP without CONFIG_JPROBES.
 */
static inline int enable_jprobe(struct jprobe *jp)
{
	return IS_ENABLED(CONFIG_JPROBES) ? enable_kprobe(&jp->kp) : -EOPNOTSUPP;
}

/**
 * disable_jprobe() - keep a registered jprobe from being called
 * @jp: the jprobe
 *
 * Context: As disable_kprobe().
 * Return: As disable_kprobe(); -%EOPNOTSUPP without CONFIG_JPROBES.
 */
static inline int disable_jprobe(struct jprobe *jp)
{
	return IS_ENABLED(CONFIG_JPROBES) ? disable_kprobe(&jp->kp) : -EOPNOTSUPP;
}

#endif /* _LINUX_JPROBES_H */
