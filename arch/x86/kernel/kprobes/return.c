// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return probes: the functions whose return must not be diverted. The trampoline is in
 * entry.S.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>

#include "common.h"

/* __switch_to() returns on another stack, ret_from_fork_asm() has no return address. */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
	{ "__switch_to" },
	{ "ret_from_fork_asm" },
};

const int kretprobe_blacklist_size = ARRAY_SIZE(kretprobe_blacklist);
