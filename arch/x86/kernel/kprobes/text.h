/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing text, in text.c. */
#ifndef _X86_KPROBES_TEXT_H
#define _X86_KPROBES_TEXT_H

#include <linux/types.h>

void kprobe_poke_text(u8 *addr, const void *bytes, size_t len);
void kprobe_poke_flush(void);
void kprobe_poke_sync(void);
bool kprobe_text_is_int3(unsigned long addr);

#endif /* _X86_KPROBES_TEXT_H */
