/* SPDX-License-Identifier: GPL-2.0-only */
/* Branches in a function, in branches.c. */
#ifndef _X86_KPROBES_BRANCHES_H
#define _X86_KPROBES_BRANCHES_H

#include <linux/kprobes_port.h>
#include <linux/types.h>
#include <asm/extable.h>

/* From the linker; no header declares them. */
extern struct exception_table_entry __start___ex_table[];
extern struct exception_table_entry __stop___ex_table[];

/**
 * struct function_map - branches in the function mapped last
 * @serial: identifies the function, see struct kprobe_function
 * @start: its first byte
 * @end: the byte behind it
 * @cold: a piece of code that it branches into and that may branch back
 * @cold_end: the byte behind that
 * @targets: bit N: offset N may be the target of a branch or of a fixup
 * @heads: bit N: at offset N an instruction starts
 * @size: bits in @targets, and in @heads
 * @indirect: a branch may lead anywhere
 * @backwards: the direction flag may be set
 * @err: 0, or why the rest is not valid
 */
struct function_map {
	unsigned long serial;
	unsigned long start;
	unsigned long end;
	unsigned long cold;
	unsigned long cold_end;
	unsigned long *targets;
	unsigned long *heads;
	unsigned long size;
	bool indirect;
	bool backwards;
	int err;
};

const struct function_map *kprobe_map_function(const struct kprobe_function *fn);
bool kprobe_is_fixed_up(unsigned long addr);

#endif /* _X86_KPROBES_BRANCHES_H */
