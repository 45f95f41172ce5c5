/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing breakpoints, in text.c. */
#ifndef _X86_KPROBES_TEXT_H
#define _X86_KPROBES_TEXT_H

#include <linux/types.h>

bool kprobe_text_is_int3(unsigned long addr);

#endif /* _X86_KPROBES_TEXT_H */
