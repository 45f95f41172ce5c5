// SPDX-License-Identifier: GPL-2.0-only
/*
 * Breakpoint handling: the hit of a probe.
 *
 * A hit calls the pre_handler and then executes the instruction in one of four ways,
 * which depend on how the probe was prepared and on what its users want: emulated here;
 * as a copy that jumps back after the original, and needs no further attention; when
 * a post_handler wants to see the result, as a copy that jumps to kprobe_post_entry; or,
 * while its region is fenced, as the copy in its detour. One whose emulation fails is executed
 * as a copy, where the CPU faults. No instruction is single-stepped.
 */
#include <linux/kprobes.h>
#include <linux/preempt.h>

#include "copy.h"

/*
 * A handler may have set an ip in the middle of a jump. If the probe is on the ENDBR that an
 * indirect branch has led to, the CPU has found that landing pad.
 */
static __always_inline void arch_hit_redirected(struct pt_regs *regs)
{
	kprobe_landed(regs);
	kprobe_detour_enter(regs->ip, regs);
}

static __always_inline bool arch_hit_emulate(struct kprobe *p, struct pt_regs *regs)
{
	return p->ainsn.emulate && p->ainsn.emulate(p, regs);
}

static noinline void do_insn_and_call(struct kprobe *p, struct pt_regs *regs)
{
	if (post_takes_copy(p)) {
		kprobe_enter_post_copy(p, regs);
	} else if (kprobe_emulate_any(p, regs)) {
		regs->orig_ax = 0;	/* see arch_kprobe_regs_ip() */
		kprobe_finish_and_follow(p, regs, true);
	} else {
		kprobe_hit_end(true);
		kprobe_enter_fault_copy(p, regs);
	}
}

NOKPROBE_SYMBOL(do_insn_and_call);

#define arch_hit_and_call arch_hit_and_call
static __always_inline void arch_hit_and_call(struct kprobe *p, struct pt_regs *regs, bool nested)
{
	do_insn_and_call(p, regs);
}

#include <linux/kprobes_hit.h>

/* How often in a row this CPU has retried the breakpoint at an address. */
struct stale_int3 {
	unsigned long addr;
	unsigned int tries;
};

static DEFINE_PER_CPU(struct stale_int3, stale_int3);

#define STALE_INT3_TRIES	100

/*
 * No probe has a breakpoint here. Perhaps one had when the CPU fetched the instruction,
 * or ftrace was changing the site: then the text shows something else by now, or a later
 * breakpoint that has an owner. Execute either. RF makes the CPU fetch again: an emulator
 * may have kept its translation of the breakpoint. A breakpoint that keeps coming back
 * has an owner whose notifier is called after ours.
 */
static int retry_stale_int3(unsigned long addr, struct pt_regs *regs)
{
	struct stale_int3 *stale = this_cpu_ptr(&stale_int3);

	if (stale->addr != addr || !kprobe_text_is_int3(addr))
		stale->tries = 0;
	stale->addr = addr;
	if (++stale->tries > STALE_INT3_TRIES) {
		stale->tries = 0;
		return 0;
	}
	regs->ip = addr;
	regs->flags |= X86_EFLAGS_RF;

	return 1;
}

NOKPROBE_SYMBOL(retry_stale_int3);

/*
 * The breakpoint is not the regular one of an armed probe: it may be part of a jump, or
 * stale.
 */
static noinline int odd_int3(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long addr = regs->ip - INT3_INSN_SIZE;

	if (kprobe_detour_enter(addr, regs))
		return 1;

	/*
	 * A probe on an ftrace site has no breakpoint, and one not armed yet may have no
	 * copy.
	 */
	if (!p || kprobe_ftrace(p) || !kprobe_text_is_int3(addr))
		return retry_stale_int3(addr, regs);

	hit_breakpoint(p, regs);

	return 1;
}

NOKPROBE_SYMBOL(odd_int3);

/* Not in a program's segment, where it can choose any ip, or in that of a 32-bit BIOS. */
static __always_inline bool in_kernel_segment(struct pt_regs *regs)
{
	return !user_mode(regs) && (IS_ENABLED(CONFIG_X86_64) || regs->cs == __KERNEL_CS);
}

/**
 * kprobe_int3_handler() - handle a breakpoint trap that may be the hit of a probe
 * @regs: registers at the trap, ip after the breakpoint
 *
 * Context: The #BP exception, of the kernel as in an NMI, or of a program.
 * Return: 1 when the trap is dealt with, 0 when no probe is involved.
 */
int kprobe_int3_handler(struct pt_regs *regs)
{
	struct kprobe *p;

	if (unlikely(!in_kernel_segment(regs)))
		return 0;

	p = get_kprobe((kprobe_opcode_t *)(regs->ip - INT3_INSN_SIZE));
	if (unlikely(!p || p->flags & (KPROBE_FLAG_FTRACE | KPROBE_FLAG_DISABLED |
				       KPROBE_FLAG_GONE)))
		return odd_int3(p, regs);

	hit_breakpoint(p, regs);

	return 1;
}

NOKPROBE_SYMBOL(kprobe_int3_handler);
