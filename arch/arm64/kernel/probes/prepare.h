/* SPDX-License-Identifier: GPL-2.0-only */
/* Checking the address of a probe, in prepare.c. */
#ifndef _ARM64_KPROBES_PREPARE_H
#define _ARM64_KPROBES_PREPARE_H

#include <linux/types.h>

bool kprobe_is_before_function(unsigned long addr);

#endif /* _ARM64_KPROBES_PREPARE_H */
