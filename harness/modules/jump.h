/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Detecting, from a module, that a probe has a jump and not a breakpoint.
 */
#ifndef _KP_JUMP_H
#define _KP_JUMP_H

#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/types.h>

/* Return whether the text begins like a jump to a detour, as some instructions also do. */
static inline bool begins_jump(const void *text)
{
	if (IS_ENABLED(CONFIG_ARM64))
		return (READ_ONCE(*(const u32 *)text) & 0xfc000000) == 0x14000000;	/* B */
	if (IS_ENABLED(CONFIG_RISCV))
		return (READ_ONCE(*(const u8 *)text) & 0x7f) == 0x17;		/* AUIPC */

	return IS_ENABLED(CONFIG_X86) && READ_ONCE(*(const u8 *)text) == 0xe9;	/* JMP32 */
}

#endif /* _KP_JUMP_H */
