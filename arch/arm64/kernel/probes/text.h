/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing breakpoints, in text.c. */
#ifndef _ARM64_KPROBES_TEXT_H
#define _ARM64_KPROBES_TEXT_H

#include <linux/types.h>

bool kprobe_text_is_brk(unsigned long addr);

#endif /* _ARM64_KPROBES_TEXT_H */
