/* SPDX-License-Identifier: GPL-2.0-only */
/* What several of these modules need. */
#ifndef _KP_COMMON_H
#define _KP_COMMON_H

#include <linux/compiler.h>
#include <linux/kprobes.h>

/* A function to probe, which returns @k more than its argument. The rest are its attributes. */
#define DEFINE_TARGET(name, type, k, ...)		\
static noinline __VA_ARGS__ int name(type n)		\
{							\
	barrier();					\
	return n + (k);					\
}

/* Expand @m with each number that is @n and one more digit, and with the other arguments. */
#define TEN(m, n, ...)								\
	m(n##0, ##__VA_ARGS__) m(n##1, ##__VA_ARGS__) m(n##2, ##__VA_ARGS__)	\
	m(n##3, ##__VA_ARGS__) m(n##4, ##__VA_ARGS__) m(n##5, ##__VA_ARGS__)	\
	m(n##6, ##__VA_ARGS__) m(n##7, ##__VA_ARGS__) m(n##8, ##__VA_ARGS__)	\
	m(n##9, ##__VA_ARGS__)

/*
 * Register probes or return probes, several at once or one by the function for one. An array of
 * return probes is one of kprobes, too: these are their first members.
 */
static inline int batch_register(struct kprobe **kps, int nr, bool returns)
{
	struct kretprobe **rps = (struct kretprobe **)kps;

	if (returns)
		return nr == 1 ? register_kretprobe(rps[0]) : register_kretprobes(rps, nr);
	return nr == 1 ? register_kprobe(kps[0]) : register_kprobes(kps, nr);
}

static inline void batch_unregister(struct kprobe **kps, int nr, bool returns)
{
	struct kretprobe **rps = (struct kretprobe **)kps;

	if (returns && nr == 1)
		unregister_kretprobe(rps[0]);
	else if (returns)
		unregister_kretprobes(rps, nr);
	else if (nr == 1)
		unregister_kprobe(kps[0]);
	else
		unregister_kprobes(kps, nr);
}

/* Return whether the text begins like a jump to a detour, as some instructions also do. */
static inline bool begins_jump(const void *text)
{
	if (IS_ENABLED(CONFIG_ARM64))
		return (READ_ONCE(*(const u32 *)text) & 0xfc000000) == 0x14000000;	/* B */
	if (IS_ENABLED(CONFIG_RISCV))
		return (READ_ONCE(*(const u8 *)text) & 0x7f) == 0x17;		/* AUIPC */

	return IS_ENABLED(CONFIG_X86) && READ_ONCE(*(const u8 *)text) == 0xe9;	/* JMP32 */
}

#endif /* _KP_COMMON_H */
