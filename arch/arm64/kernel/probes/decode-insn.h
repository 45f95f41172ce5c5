/* SPDX-License-Identifier: GPL-2.0-only */
/* Decoding for kprobes and uprobes: can an instruction be probed, and must it be emulated? */
#ifndef _ARM_KERNEL_PROBES_DECODE_INSN_H
#define _ARM_KERNEL_PROBES_DECODE_INSN_H

#include <asm/probes.h>

enum probe_insn {
	INSN_REJECTED,		/* must not be probed */
	INSN_GOOD_NO_SLOT,	/* emulated by arch_probe_insn::handler */
	INSN_GOOD,		/* does the same at any address */
};

enum probe_insn arm_probe_decode_insn(u32 insn, struct arch_probe_insn *api);

#endif /* _ARM_KERNEL_PROBES_DECODE_INSN_H */
