// SPDX-License-Identifier: GPL-2.0-only
/* Calling a jprobe's handler on 64 bits, where indirect calls may be checked. */
#include <linux/cfi.h>

#include "common.h"

/*
 * With FineIBT the caller passes the type, and calls a check before the function,
 * the only place there that an indirect call may reach. Only the type of the handler
 * itself is known here. kCFI does its check in callers in C.
 */
void arch_call_jprobe(void *entry, struct pt_regs *regs, const unsigned long *stack)
{
	u32 hash = 0;

	if (IS_ENABLED(CONFIG_FINEIBT) && cfi_mode == CFI_FINEIBT) {
		hash = cfi_get_func_hash(entry);
		entry -= cfi_get_offset();
	}

	jprobe_thunk(entry, regs, stack, hash);
}

NOKPROBE_SYMBOL(arch_call_jprobe);
