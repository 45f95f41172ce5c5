/* SPDX-License-Identifier: GPL-2.0-only */
/* Free registers in a function, in liveness.c. */
#ifndef _RISCV_KPROBES_LIVENESS_H
#define _RISCV_KPROBES_LIVENESS_H

#include <linux/types.h>

struct function_map;

const struct function_map *kprobe_map_function(unsigned long addr);
int kprobe_map_error(const struct function_map *map);
bool kprobe_map_is_indirect(const struct function_map *map);
bool kprobe_map_is_target(const struct function_map *map, unsigned long addr);
unsigned long kprobe_map_end(const struct function_map *map);
u32 kprobe_map_dead_regs(const struct function_map *map, unsigned long addr);

#endif /* _RISCV_KPROBES_LIVENESS_H */
