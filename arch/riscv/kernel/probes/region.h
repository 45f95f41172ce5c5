/* SPDX-License-Identifier: GPL-2.0-only */
/* The instructions that a jump covers, in region.c. */
#ifndef _RISCV_KPROBES_REGION_H
#define _RISCV_KPROBES_REGION_H

#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/types.h>

/**
 * struct region_insn - one instruction that a jump covers
 * @insn: the instruction
 * @at: offset from the probe
 * @reg: number of a register that is free at the target of its branch, jump or call
 */
struct region_insn {
	u32 insn;
	u8 at;
	u8 reg;
};

/* Largest number of instructions in a region. */
#define REGION_INSNS	(MAX_OPTIMIZED_LENGTH / 2)

/**
 * struct region - the instructions that a jump covers
 * @addr: address of the probe
 * @insns: the instructions
 * @nr: number of instructions
 * @len: length in bytes
 * @in: number of the register that the jump overwrites
 * @out: number of the register that the jump back overwrites, 0 without a jump back
 * @extable: the first instruction may fault and have a fixup
 * @site: the region is an ftrace site
 * @why_at: the offset of the obstacle, if it has one
 */
struct region {
	unsigned long addr;
	struct region_insn insns[REGION_INSNS];
	u8 nr;
	u8 len;
	u8 in;
	u8 out;
	bool extable;
	bool site;
	u8 why_at;
};

enum detour_obstacle kprobe_plan_region(struct region *region, unsigned long addr);

#endif /* _RISCV_KPROBES_REGION_H */
