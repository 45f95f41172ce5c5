/* SPDX-License-Identifier: GPL-2.0-only */
/* Properties of instructions, in facts.c. */
#ifndef _RISCV_KPROBES_FACTS_H
#define _RISCV_KPROBES_FACTS_H

#include <linux/bits.h>
#include <linux/kconfig.h>
#include <linux/types.h>

/* A set of registers has bit N for register N, but for x0. */
#define REG_RA		BIT(1)
#define T_REGS		(GENMASK(7, 5) | GENMASK(31, 28))
#define A_REGS		GENMASK(17, 10)

/* LLVM passes the ninth argument of a static function, and those behind it, in t2 to t6. */
#define T_ARGS		(IS_ENABLED(CONFIG_CC_IS_CLANG) ? BIT(7) | GENMASK(31, 28) : 0)
#define ALL_REGS	GENMASK(31, 1)

enum insn_flow {
	FLOW_ON,		/* to the next instruction; does not use its own address */
	FLOW_ADDRESS,		/* AUIPC: to the next instruction */
	FLOW_BRANCH,		/* conditional branch */
	FLOW_JUMP,		/* unconditional jump */
	FLOW_CALL,
	FLOW_JUMP_REGISTER,	/* includes returns */
	FLOW_CALL_REGISTER,
	FLOW_UNKNOWN,
};

/**
 * struct insn_facts - properties of an instruction that moving it depends on
 * @reads: registers that it may read
 * @writes: registers that it always writes
 * @disp: distance from the instruction, or from the contents of @base if there is
 *	one, to the branch target or the computed address
 * @flow: where the CPU continues
 * @len: length in bytes
 * @link: number of the link register of a call
 * @base: number of the register that holds the target address
 */
struct insn_facts {
	u32 reads;
	u32 writes;
	s32 disp;
	enum insn_flow flow;
	u8 len;
	u8 link;
	u8 base;
};

void kprobe_get_insn_facts(u32 insn, struct insn_facts *facts);

#endif /* _RISCV_KPROBES_FACTS_H */
