/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading instructions one after the other, without the breakpoints and jumps of probes. */
#ifndef _RISCV_KPROBES_WINDOW_H
#define _RISCV_KPROBES_WINDOW_H

#include <linux/cleanup.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/bug.h>

#include "common.h"

/* A jump that covers an instruction begins at most this many parcels in front of it. */
#define COVER		3

/**
 * struct window - a buffered piece of text
 * @start: its address
 * @nr: number of parcels
 * @parcels: the text
 */
struct window {
	unsigned long start;
	unsigned int nr;
	u16 parcels[64];
};

/*
 * Return the parcels at @addr with COVER parcels readable in front of them, or NULL. This
 * and the functions below are inlined: they run thousands of times for each function that is
 * analysed, and would be slow if they were functions and probed themselves.
 */
static __always_inline const u16 *window_at(struct window *window, unsigned long addr,
					    unsigned long end)
{
	unsigned int at = (addr - window->start) / 2;
	size_t size;

	if (window->nr && at + 1 < window->nr)
		return &window->parcels[at];

	window->start = addr - COVER * 2;
	window->nr = 0;
	size = min(sizeof(window->parcels), end - window->start);
	if (copy_from_kernel_nofault(window->parcels, (void *)window->start, size))
		return NULL;
	window->nr = size / 2;

	return window->nr > COVER + 1 ? &window->parcels[COVER] : NULL;
}

/* Look for breakpoints and for jumps. An AUIPC may also be the compiler's. */
static __always_inline bool may_be_probed(const u16 *parcels, unsigned long addr)
{
	unsigned int i;

	if (parcels[0] == __BUG_INSN_16 || parcels[0] == (__BUG_INSN_32 & U16_MAX))
		return true;
	for (i = 0; i <= COVER; i++) {
		unsigned long jump = addr - i * sizeof(u16);

		if ((parcels[-(int)i] & 0x7f) == 0x17 &&
		    kprobes_near(jump, jump + COVER * sizeof(u16)))
			return true;
	}

	return false;
}

/* Do as kprobe_read_original(), which is slow, but call it only where text may have changed. */
static __always_inline int read_next(u32 *insn, struct window *window, unsigned long addr,
				     unsigned long end)
{
	const u16 *parcels = window_at(window, addr, end);

	if (!parcels || may_be_probed(parcels, addr))
		return kprobe_read_original(insn, addr);

	*insn = parcels[0];
	if (insn_len(*insn) == 4)
		*insn |= (u32)parcels[1] << 16;

	return 0;
}

#endif /* _RISCV_KPROBES_WINDOW_H */
