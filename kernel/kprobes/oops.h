/* SPDX-License-Identifier: GPL-2.0-only */
/* Disables a probe whose handler has oopsed. */
#ifndef _KERNEL_KPROBES_OOPS_H
#define _KERNEL_KPROBES_OOPS_H

int kprobe_oops_init(void);

#endif /* _KERNEL_KPROBES_OOPS_H */
