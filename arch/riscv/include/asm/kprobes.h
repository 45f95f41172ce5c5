/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kprobes on RISC-V: types that the core embeds, and the hooks of traps, of
 * exception fixups and of ftrace. How to run one probed instruction is told by
 * struct arch_specific_insn in <asm/probes.h>, which uprobes share. What the
 * files of the port share is in its common.h.
 */
#ifndef _ASM_RISCV_KPROBES_H
#define _ASM_RISCV_KPROBES_H

#include <asm-generic/kprobes.h>

#ifndef __ASSEMBLY__

#include <linux/types.h>

struct pt_regs;

#ifdef CONFIG_KPROBES

#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <asm/probes.h>

struct kprobe;

/* EBREAK and its like cannot be probed. */
#define ARCH_KPROBES_REFUSE_TRAPS

/* A hit that interrupts another is handled, see hit_interrupt(). */
#define ARCH_KPROBES_TELL_CONTEXTS

/* preempt_count(), of which only the contexts are of interest. */
#define arch_hit_context()	preempt_count()

/* What the exception of a breakpoint adds to preempt_count(). */
#define KPROBE_TRAP_COUNT	(NMI_OFFSET + HARDIRQ_OFFSET)

/* Units of kprobe_opcode_t: the longest instruction, and an ebreak behind it. */
#define MAX_INSN_SIZE		2

/* The probed address, and two copies of its instruction with ebreaks behind. */
#define KPROBE_INSN_SLOT_SIZE	\
	(sizeof(long) + 2 * MAX_INSN_SIZE * sizeof(kprobe_opcode_t))

/* A probe and ftrace can both have the site at a function's entry. */
#define ARCH_KPROBES_SHARE_FTRACE_SITE

/**
 * struct kprobe_ctlblk - the hit that this CPU is handling
 * @context: preempt_count() when it began
 * @saved_pie: SR_PIE of the probed code, which its copy runs without
 */
struct kprobe_ctlblk {
	unsigned int context;
	unsigned long saved_pie;
};

extern const int kretprobe_blacklist_size;

void arch_remove_kprobe(struct kprobe *p);

bool kprobe_breakpoint_handler(struct pt_regs *regs);
bool kprobe_single_step_handler(struct pt_regs *regs);
int kprobe_fault_handler(struct pt_regs *regs, int trapnr);

#define arch_kprobe_leave_copy arch_kprobe_leave_copy
void arch_kprobe_leave_copy(struct pt_regs *regs);
void arch_kprobe_fixed_up(struct pt_regs *regs, unsigned long addr);

void arch_kprobe_site_read(unsigned long site, u32 *insn);
void arch_kprobe_site_write(unsigned long site, u32 *insn);

#else /* !CONFIG_KPROBES */

static inline bool kprobe_breakpoint_handler(struct pt_regs *regs)
{
	return false;
}

static inline bool kprobe_single_step_handler(struct pt_regs *regs)
{
	return false;
}

static inline void arch_kprobe_fixed_up(struct pt_regs *regs, unsigned long addr)
{
}

static inline void arch_kprobe_site_read(unsigned long site, u32 *insn)
{
}

static inline void arch_kprobe_site_write(unsigned long site, u32 *insn)
{
}

#endif /* CONFIG_KPROBES */
#endif /* !__ASSEMBLY__ */
#endif /* _ASM_RISCV_KPROBES_H */
