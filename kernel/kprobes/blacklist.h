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

int blacklist_init(void);
bool blacklist_holds(unsigned long addr);
bool blacklist_holds_origin(const char *name);
int blacklist_show(struct seq_file *m, bool show_addr);
#ifdef CONFIG_MODULES
int blacklist_add_module(struct module *mod);
void blacklist_forget_module(struct module *mod, enum mod_mem_type type);
#endif

#endif /* _KERNEL_KPROBES_BLACKLIST_H */
