/* SPDX-License-Identifier: GPL-2.0-only */
/* Decoding for uprobes: can an instruction be probed, and must it be emulated? */
#ifndef _RISCV_PROBES_DECODE_INSN_H
#define _RISCV_PROBES_DECODE_INSN_H

#include <linux/ptrace.h>
#include <linux/types.h>
#include <asm/bug.h>
#include <asm/probes.h>

enum probe_insn {
	INSN_REJECTED,		/* must not be probed */
	INSN_GOOD_NO_SLOT,	/* emulated by arch_probe_insn::handler */
	INSN_GOOD,		/* executed as a copy */
};

enum probe_insn riscv_probe_decode_insn(probe_opcode_t *addr, struct arch_probe_insn *asi);

#endif /* _RISCV_PROBES_DECODE_INSN_H */
