// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes on ftrace sites. The probed instruction is the site itself, which does nothing:
 * there is nothing to copy, and nothing to execute.
 */
#include <linux/ftrace.h>
#include <linux/kmsan.h>

#include "copy.h"

int arch_prepare_kprobe_ftrace(struct kprobe *p)
{
	return 0;
}

/* Handlers see what they would see at a breakpoint on the site. */
static __always_inline void ftrace_hit(struct kprobe *p, struct pt_regs *regs, bool nested)
{
	unsigned long after = regs->ip;

	kmsan_unpoison_entry_regs(regs);
	regs->ip = (unsigned long)p->addr + INT3_INSN_SIZE;
	if (kprobe_call_pre_handler(p, regs)) {
		kprobe_hit_end(nested);
		kprobe_detour_enter(regs->ip, regs);
		return;
	}

	regs->ip = after;
	if (unlikely(READ_ONCE(p->post_handler)))
		kprobe_finish_and_follow(p, regs, nested);
	else
		kprobe_hit_end(nested);
}

static noinline void nested_ftrace_hit(struct kprobe *p, struct pt_regs *regs)
{
	if (kprobe_hit_nested(p, 0))
		ftrace_hit(p, regs, true);
}

NOKPROBE_SYMBOL(nested_ftrace_hit);

/* @ops may be coming or going, or serve another probe at the same site. */
static __always_inline void call_from_site(unsigned long site, struct ftrace_ops *ops,
					   struct pt_regs *regs)
{
	struct kprobe *p = get_kprobe((kprobe_opcode_t *)site);

	if (unlikely(!p || !kprobe_ftrace_claims(p, ops) || kprobe_disabled(p)))
		return;

	if (unlikely(kprobe_running())) {
		nested_ftrace_hit(p, regs);
		return;
	}

	kprobe_hit_begin(p);
	ftrace_hit(p, regs, false);
}

/**
 * kprobe_ftrace_handler() - handle ftrace's call for a site that may have a probe
 * @ip: the site
 * @parent_ip: caller of the function
 * @ops: the ftrace_ops that ftrace calls
 * @fregs: registers, ip after the site
 *
 * Context: Any that is traced.
 */
void kprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	/*
	 * This cannot recurse: code that runs before the probe is current is not traced, and
	 * later hits are missed.
	 */
	guard(preempt_notrace)();
	if (likely(!kprobe_ftrace_disabled))
		call_from_site(ip, ops, ftrace_get_regs(fregs));
}

NOKPROBE_SYMBOL(kprobe_ftrace_handler);
