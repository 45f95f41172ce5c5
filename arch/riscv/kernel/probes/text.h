/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing breakpoints, in text.c. */
#ifndef _RISCV_KPROBES_TEXT_H
#define _RISCV_KPROBES_TEXT_H

#include <linux/list.h>
#include <linux/types.h>

u32 kprobe_ebreak_for(u32 insn);
bool kprobe_text_is_ebreak(unsigned long addr);
void kprobe_write_text(void (*write)(struct list_head *list), struct list_head *list);

#endif /* _RISCV_KPROBES_TEXT_H */
