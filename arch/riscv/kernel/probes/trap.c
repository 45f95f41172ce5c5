// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens when a breakpoint is hit.
 *
 * A hit calls the pre_handler and then has the instruction done in one of two
 * ways, chosen when the probe was prepared: emulated here, or run as a copy that
 * ends in an ebreak. No register is free for a jump from the copy back to the
 * original, which is far away, so the second trap is what it takes.
 */
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/preempt.h>
#include <linux/uaccess.h>
#include <asm/cacheflush.h>

#include "common.h"

DEFINE_PER_CPU(struct kprobe *, current_kprobe);
DEFINE_PER_CPU(struct kprobe_ctlblk, kprobe_ctlblk);

/* @addr is kernel text, but the module that it belongs to may be on its way out. */
bool kprobe_text_is_ebreak(unsigned long addr)
{
	u16 first, second;

	__get_kernel_nofault(&first, (u16 *)addr, u16, gone);
	if (first == __BUG_INSN_16)
		return true;
	if (first != (__BUG_INSN_32 & U16_MAX))
		return false;
	__get_kernel_nofault(&second, (u16 *)(addr + 2), u16, gone);
	return second == __BUG_INSN_32 >> 16;
gone:
	return false;
}

NOKPROBE_SYMBOL(kprobe_text_is_ebreak);

/* The opcode is read at every hit: ftrace may have changed the one of its site. */
static __always_inline bool try_emulate(struct kprobe *p, struct pt_regs *regs)
{
	probes_handler_t *handler = p->ainsn.api.handler;

	return handler && handler(READ_ONCE(p->opcode), (unsigned long)p->addr, regs);
}

/* A hit, once @p is current. @aside: another hit was put aside for this one. */
static __always_inline void do_hit(struct kprobe *p, struct pt_regs *regs, bool aside)
{
	kprobe_post_handler_t post;

	if (hit_pre_handler(p, regs)) {
		hit_end(aside);
		kprobe_detour_follow(regs);
		return;
	}

	/* A user may add or remove the last post_handler at any time. */
	post = READ_ONCE(p->post_handler);
	if (!post && kprobe_enter_guarded(p, regs)) {
		hit_end(aside);
	} else if (try_emulate(p, regs)) {
		hit_finish(p, regs, aside);
	} else if (post) {
		kprobe_enter_post_copy(p, regs);
	} else {
		hit_end(aside);
		kprobe_enter_copy(p, regs);
	}
}

/* A hit while this CPU handles another. */
static void nested_hit(struct kprobe *p, struct pt_regs *regs)
{
	if (kprobe_hit_nested(p, KPROBE_TRAP_COUNT)) {
		do_hit(p, regs, true);
		return;
	}

	if (!kprobe_enter_guarded(p, regs) && !try_emulate(p, regs))
		kprobe_enter_copy(p, regs);
}

NOKPROBE_SYMBOL(nested_hit);

/**
 * kprobe_breakpoint_handler() - a breakpoint trap may be the hit of a probe
 * @regs: registers at the trap, epc at the breakpoint
 *
 * Text changes only while all CPUs stand still, but an emulator may have kept
 * its translation of a breakpoint that is gone: the text is to be executed then.
 *
 * Context: The breakpoint exception in the kernel, as in an NMI.
 * Return: true when the trap is dealt with, false when it has to do with no
 * probe.
 */
bool kprobe_breakpoint_handler(struct pt_regs *regs)
{
	struct kprobe *p = get_kprobe((kprobe_opcode_t *)regs->epc);

	if (unlikely(!p)) {
		if (kprobe_detour_is_elsewhere(regs))
			return true;
		if (kprobe_text_is_ebreak(regs->epc))
			return false;
		local_flush_icache_all();
		return true;
	}

	if (unlikely(kprobe_running())) {
		nested_hit(p, regs);
		return true;
	}

	hit_begin(p);
	do_hit(p, regs, false);

	return true;
}

NOKPROBE_SYMBOL(kprobe_breakpoint_handler);

/*
 * A handler has faulted: the exception tables have the fixup, if there is one.
 * Faults of copies were moved to their instruction before.
 */
int kprobe_fault_handler(struct pt_regs *regs, int trapnr)
{
	return 0;
}

NOKPROBE_SYMBOL(kprobe_fault_handler);

int __init arch_init_kprobes(void)
{
	return 0;
}
