/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing text, in poke.c. */
#ifndef _X86_KPROBES_POKE_H
#define _X86_KPROBES_POKE_H

#include <linux/types.h>

void kprobe_poke_text(u8 *addr, const void *bytes, size_t len);
void kprobe_poke_flush(void);
void kprobe_poke_sync(void);

#endif /* _X86_KPROBES_POKE_H */
