// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing text: breakpoints, jumps, copies and detours, and the original instructions again.
 *
 * The main cost is mapping a page for writing, so writes are collected until one goes to
 * another page, or until they must be done.
 */
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "copy.h"

#define MAX_PIECES	128
#define MAX_BYTES	1024

/**
 * struct piece - bytes to be written
 * @at: offset in the page
 * @len: how many
 */
struct piece {
	u16 at;
	u16 len;
};

/* Protected by text_mutex. Pieces, and their bytes, are in the order in which they were added. */
static struct {
	u8 *page;
	unsigned int end;	/* of all pieces, from the start of the page */
	unsigned int nr;
	unsigned int used;
	struct piece pieces[MAX_PIECES];
	u8 bytes[MAX_BYTES];
} pending;

static void write_pieces(void *dst, const void *src, size_t len)
{
	u8 *page = dst - pending.pieces[0].at;
	const struct piece *piece;
	const u8 *bytes = pending.bytes;

	/* The page is mapped in the users' half, and nothing may be called with AC set. */
	for (piece = pending.pieces; piece < pending.pieces + pending.nr; piece++) {
		lass_stac();
		__inline_memcpy(page + piece->at, bytes, piece->len);
		lass_clac();
		bytes += piece->len;
	}
}

/* Write everything that is pending. CPUs may continue with what they have fetched before. */
void kprobe_poke_flush(void)
{
	unsigned int first = pending.pieces[0].at;

	lockdep_assert_held(&text_mutex);
	if (pending.nr)
		__text_poke(write_pieces, pending.page + first, NULL, pending.end - first);

	pending.end = 0;
	pending.nr = 0;
	pending.used = 0;
}

/* Return where to put @len bytes for @addr. kprobe_poke_flush() writes them, at the latest. */
u8 *kprobe_poke_reserve(u8 *addr, size_t len)
{
	u8 *page = (u8 *)PAGE_ALIGN_DOWN((unsigned long)addr);
	struct piece *piece;

	if (pending.nr && (page != pending.page || pending.nr == MAX_PIECES ||
			   pending.used + len > MAX_BYTES))
		kprobe_poke_flush();

	piece = &pending.pieces[pending.nr++];
	piece->at = addr - page;
	piece->len = len;

	pending.page = page;
	pending.end = max_t(unsigned int, pending.end, piece->at + len);
	pending.used += len;

	return pending.bytes + pending.used - len;
}

/* Write everything that is pending, if anything is, and make all CPUs see it. */
void kprobe_poke_sync(void)
{
	if (!pending.nr)
		return;

	kprobe_poke_flush();
	smp_text_poke_sync_each_cpu();
}

/* Copies of instructions must be written before the breakpoints are. */
void arch_finish_prepare_kprobes(void)
{
	kprobe_poke_flush();
}

/* @addr is kernel text, but its module may be going. */
bool kprobe_text_is_int3(unsigned long addr)
{
	u8 byte;

	__get_kernel_nofault(&byte, (u8 *)addr, u8, gone);
	return byte == INT3_INSN_OPCODE;
gone:
	return false;
}

NOKPROBE_SYMBOL(kprobe_text_is_int3);

/* One byte changes, so every CPU sees either the old or the new instruction. */
void arch_arm_kprobes(struct list_head *kps)
{
	const u8 int3 = INT3_INSN_OPCODE;
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		kprobe_poke_text(p->addr, &int3, sizeof(int3));
	kprobe_poke_sync();
}

void arch_disarm_kprobes(struct list_head *kps)
{
	struct kprobe *p;

	list_for_each_entry(p, kps, list)
		kprobe_poke_text(p->addr, &p->opcode, sizeof(p->opcode));
	/* A CPU that still executes the breakpoint retries it: see retry_stale_int3(). */
	kprobe_poke_flush();
}
