/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges that no probe may enter.
 */
#ifndef _KERNEL_KPROBES_BLACKLIST_H
#define _KERNEL_KPROBES_BLACKLIST_H

#include <linux/module.h>
#include <linux/types.h>

struct seq_file;

extern unsigned long __start_kprobe_blacklist[];
extern unsigned long __stop_kprobe_blacklist[];

int kprobe_blacklist_init(void);
bool kprobe_blacklist_holds(unsigned long addr);
bool kprobe_blacklist_holds_origin(const char *name);
int kprobe_blacklist_show(struct seq_file *m, bool show_addr);
#ifdef CONFIG_MODULES
int kprobe_blacklist_add_module(struct module *mod);
void kprobe_blacklist_forget_module(struct module *mod, enum mod_mem_type type);
#endif

#endif /* _KERNEL_KPROBES_BLACKLIST_H */
