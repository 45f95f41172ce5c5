/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How an instruction is to be run when there is a probe on it: what kprobes and
 * uprobes have in common.
 */
#ifndef _RISCV_PROBES_DECODE_INSN_H
#define _RISCV_PROBES_DECODE_INSN_H

#include <linux/ptrace.h>
#include <linux/types.h>
#include <asm/bug.h>
#include <asm/probes.h>

enum probe_insn {
	INSN_REJECTED,		/* it must not be probed */
	INSN_GOOD_NO_SLOT,	/* arch_probe_insn::handler does it */
	INSN_GOOD,		/* a copy does it */
};

enum probe_insn riscv_probe_decode_insn(probe_opcode_t *addr, struct arch_probe_insn *asi);

#endif /* _RISCV_PROBES_DECODE_INSN_H */
