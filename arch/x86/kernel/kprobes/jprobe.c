// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a jprobe's handler is called where a call may be checked: 64 bits.
 */
#include <linux/cfi.h>
#include <linux/kprobes.h>

#include "common.h"

/*
 * With FineIBT the caller names the type, and what is called is a check before the
 * function, the only place there that an indirect call may come to. No caller's type
 * is known here but that of the handler itself. kCFI has its check in callers in C.
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
