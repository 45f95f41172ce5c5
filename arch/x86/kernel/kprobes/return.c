// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return probes: diverting a function's return, and what happens when it comes
 * in at __kretprobe_trampoline, see entry.S.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>

#include "common.h"

/* One returns on another stack than it was called on, one has no return address. */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
	{ "__switch_to" },
	{ "ret_from_fork_asm" },
};

const int kretprobe_blacklist_size = ARRAY_SIZE(kretprobe_blacklist);

/* The trampoline is no probe. */
int arch_trampoline_kprobe(struct kprobe *p)
{
	return 0;
}

NOKPROBE_SYMBOL(arch_trampoline_kprobe);
