/* SPDX-License-Identifier: GPL-2.0-only */
/* The detour that a jump leads to, and its maps in detour.c. */
#ifndef _RISCV_KPROBES_DETOUR_H
#define _RISCV_KPROBES_DETOUR_H

#include <linux/container_of.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/types.h>

#ifdef CONFIG_OPTPROBES

/* Size of the code of a detour in bytes. */
#define DETOUR_CODE	(MAX_OPTINSN_SIZE * sizeof(kprobe_opcode_t) - sizeof(long))

/**
 * struct detour - contents of a detour's slot
 * @kp: the probe that it belongs to
 * @code: the entry, the copies and the jump back
 */
struct detour {
	struct kprobe *kp;
	u8 code[DETOUR_CODE];
};

static __always_inline struct arch_optimized_insn *optinsn_of(struct kprobe *p)
{
	return &container_of(p, struct optimized_kprobe, kp)->optinsn;
}

static __always_inline struct detour *detour_of(const struct arch_optimized_insn *optinsn)
{
	return (struct detour *)optinsn->insn;
}

/* Return the address of the copies in the detour. */
static __always_inline unsigned long detour_copies(const struct arch_optimized_insn *optinsn)
{
	return (unsigned long)detour_of(optinsn)->code + DETOUR_ENTRY;
}

bool kprobe_read_covered(u32 *insn, unsigned long addr);
void kprobe_detour_enter(struct pt_regs *regs);
void kprobe_detour_leave_copy(struct pt_regs *regs);
unsigned long kprobe_detour_insn_pc(unsigned long pc);
void kprobe_detour_site_read(struct kprobe *p, u32 *insns);
bool kprobe_detour_site_write(struct kprobe *p, u32 *insns);
bool kprobe_detour_fill_jump(struct kprobe *p, u32 *jump);

#else /* !CONFIG_OPTPROBES */

static inline bool kprobe_read_covered(u32 *insn, unsigned long addr)
{
	return false;
}

static inline void kprobe_detour_enter(struct pt_regs *regs)
{
}

static inline void kprobe_detour_leave_copy(struct pt_regs *regs)
{
}

static inline unsigned long kprobe_detour_insn_pc(unsigned long pc)
{
	return pc;
}

static inline void kprobe_detour_site_read(struct kprobe *p, u32 *insns)
{
}

static inline bool kprobe_detour_site_write(struct kprobe *p, u32 *insns)
{
	return false;
}

#endif /* CONFIG_OPTPROBES */

#endif /* _RISCV_KPROBES_DETOUR_H */
