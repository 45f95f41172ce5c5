/* SPDX-License-Identifier: GPL-2.0-only */
/* Encodings that are emulated, and finding their emulations, in emulate.c and emulate_c.c. */
#ifndef _RISCV_KPROBES_EMULATE_H
#define _RISCV_KPROBES_EMULATE_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/probes.h>

/**
 * struct form - an encoding that is emulated
 * @mask: bits that identify it
 * @value: value of these bits
 * @operand: bits that must not all be 0, or it is another form; 0 if any operand
 *	is allowed
 * @handler: emulates it
 */
struct form {
	u32 mask;
	u32 value;
	u32 operand;
	probes_handler_t *handler;
};

static __always_inline probes_handler_t *find_form(const struct form *forms, unsigned int nr,
						   u32 insn)
{
	const struct form *form;

	for (form = forms; form < forms + nr; form++) {
		if ((insn & form->mask) == form->value &&
		    (!form->operand || insn & form->operand))
			return form->handler;
	}

	return NULL;
}

/* emulate.c */
probes_handler_t *kprobe_find_emulation(u32 insn);
probes_handler_t *kprobe_find_kernel_emulation(u32 insn);

/* emulate_c.c */
probes_handler_t *kprobe_find_c_emulation(u32 insn);
probes_handler_t *kprobe_find_kernel_c_emulation(u32 insn);

#endif /* _RISCV_KPROBES_EMULATE_H */
