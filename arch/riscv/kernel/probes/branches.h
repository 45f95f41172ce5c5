/* SPDX-License-Identifier: GPL-2.0-only */
/* Branch targets in a function, in branches.c. */
#ifndef _RISCV_KPROBES_BRANCHES_H
#define _RISCV_KPROBES_BRANCHES_H

#include <asm/extable.h>

struct function_map;

/* The linker script defines these; no header declares them. */
extern struct exception_table_entry __start___ex_table[];
extern struct exception_table_entry __stop___ex_table[];

int kprobe_find_targets(struct function_map *map, const char *name);

#endif /* _RISCV_KPROBES_BRANCHES_H */
