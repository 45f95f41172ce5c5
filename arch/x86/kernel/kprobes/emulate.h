/* SPDX-License-Identifier: GPL-2.0-only */
/* Operands of emulations as decode.c prepares them, and the functions of emulate.c. */
#ifndef _X86_KERNEL_KPROBES_EMULATE_H
#define _X86_KERNEL_KPROBES_EMULATE_H

#include <linux/bits.h>
#include <asm/ptrace.h>

struct kprobe;

/* arch_specific_insn::arg of conditional branches and of loops */
#define COND_NOT	BIT(0)	/* branch when the condition is not met */
#define COND_LESS	BIT(1)	/* it is met as well when SF != OF */
#define COUNT_HALF	BIT(2)	/* count in half a register: %ecx, on 32 bits %cx */

/* arch_specific_insn::arg of a memory operand */
#define MEM_SCALE	(BIT(0) | BIT(1))	/* shift of the index */
#define MEM_PERCPU	BIT(2)			/* relative to this CPU's per-CPU memory */

/* arch_specific_insn::base and ::index: no such register */
#define NO_REG		0xff

/* Executes the instruction of a probe. Returns false if its copy has to run instead. */
typedef bool emulation_t(struct kprobe *p, struct pt_regs *regs);

emulation_t kprobe_emulate_ret;
emulation_t kprobe_emulate_any;
emulation_t kprobe_emulate_nop;
emulation_t kprobe_emulate_endbr;
emulation_t kprobe_emulate_jmp;
emulation_t kprobe_emulate_jcc;
emulation_t kprobe_emulate_loop;
emulation_t kprobe_emulate_jcxz;
emulation_t kprobe_emulate_call;
emulation_t kprobe_emulate_jmp_reg;
emulation_t kprobe_emulate_call_reg;
emulation_t kprobe_emulate_jmp_mem;
emulation_t kprobe_emulate_call_mem;
emulation_t kprobe_emulate_pushf;
emulation_t kprobe_emulate_popf;
emulation_t kprobe_emulate_cli;
emulation_t kprobe_emulate_sti;

/* The CPU need not wait for an ENDBR any more. With FRED the frame says whether it does. */
static __always_inline void kprobe_landed(struct pt_regs *regs)
{
#ifdef CONFIG_X86_64
	regs->fred_cs.wfe = 0;
#endif
}

bool kprobe_emulation_pushes(const struct kprobe *p);
bool kprobe_emulation_needs_copy(const struct kprobe *p);

#endif /* _X86_KERNEL_KPROBES_EMULATE_H */
