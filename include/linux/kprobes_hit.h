/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handling a hit of a breakpoint: included by the file of a port that handles the trap.
 * How the probed instruction is executed is up to the architecture: before it includes
 * this, the file defines:
 *
 *	arch_hit_redirected(regs)	a handler has set another instruction pointer
 *	arch_hit_detour(p, regs)	continue in the detour, if a jump may cover the text after
 *	arch_hit_emulate(p, regs)	emulate the instruction, if it can be emulated
 *	kprobe_enter_copy(p, regs)	continue at the copy that returns by itself
 *	kprobe_enter_post_copy(p, regs)	continue at the copy whose end calls the post_handlers
 *	kprobe_finish_and_follow()	as kprobe_hit_finish(), and enter the detour if a jump may
 *					cover the text where the hit continues
 */
#ifndef _LINUX_KPROBES_HIT_H
#define _LINUX_KPROBES_HIT_H

#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>

static __always_inline void hit_do_insn(struct kprobe *p, struct pt_regs *regs)
{
	if (!arch_hit_detour(p, regs) && !arch_hit_emulate(p, regs))
		kprobe_enter_copy(p, regs);
}

/*
 * Execute the instruction one way or the other, call the post_handlers after it, and end the
 * hit. An architecture that does so in another way defines its own.
 */
#ifndef arch_hit_and_call
static __always_inline void arch_hit_and_call(struct kprobe *p, struct pt_regs *regs, bool nested)
{
	if (arch_hit_emulate(p, regs))
		kprobe_finish_and_follow(p, regs, nested);
	else
		kprobe_enter_post_copy(p, regs);
}
#endif

/* Called with @p current. @nested: this hit has interrupted another one. */
static __always_inline void hit_handle(struct kprobe *p, struct pt_regs *regs,
				       struct kprobe_hit_place here, bool nested)
{
	if (kprobe_call_pre_handler(p, regs)) {
		kprobe_hit_end_here(here, nested);
		arch_hit_redirected(regs);
		return;
	}

	/* A user may add or remove the last post_handler at any time. */
	if (unlikely(READ_ONCE(p->post_handler))) {
		arch_hit_and_call(p, regs, nested);
		return;
	}

	kprobe_hit_end_here(here, nested);
	hit_do_insn(p, regs);
}

/* A hit while this CPU handles another: call its handlers only if the other can be pushed. */
static void hit_nested(struct kprobe *p, struct pt_regs *regs)
{
	if (kprobe_hit_nested(p, KPROBE_TRAP_COUNT))
		hit_handle(p, regs, (struct kprobe_hit_place){}, true);
	else
		hit_do_insn(p, regs);
}

NOKPROBE_SYMBOL(hit_nested);

/**
 * hit_breakpoint() - the breakpoint of a probe was hit
 * @p: the probe
 * @regs: registers at the trap
 *
 * Context: The trap, where the restrictions of an NMI apply.
 */
static __always_inline void hit_breakpoint(struct kprobe *p, struct pt_regs *regs)
{
	if (unlikely(kprobe_running())) {
		hit_nested(p, regs);
		return;
	}

	hit_handle(p, regs, kprobe_hit_begin(p), false);
}

#endif /* _LINUX_KPROBES_HIT_H */
