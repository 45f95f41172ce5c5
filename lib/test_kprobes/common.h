/* SPDX-License-Identifier: GPL-2.0-only */
/* What several tests, and modules for them, need. */
#ifndef _KP_COMMON_H
#define _KP_COMMON_H

#include <linux/compiler.h>
#include <linux/kprobes.h>

/* A function to probe, and one that does nothing. What follows are attributes. */
#define DEFINE_TARGET(type, name, params, result, ...)	\
static noinline __VA_ARGS__ type name params		\
{							\
	barrier();					\
	return result;					\
}

#define DEFINE_EMPTY_TARGET(name, ...)			\
static noinline __VA_ARGS__ void name(void)		\
{							\
	barrier();					\
}

/* A load of %0 from the address %1, with room for a jump. */
#if defined(CONFIG_X86)
#define LOAD	"movl (%1), %0; .byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#elif defined(CONFIG_ARM64)
#define LOAD	"ldr %w0, [%1]"
#else
#define LOAD	"lw %0, 0(%1); nop; nop"
#endif

/* Call a function of which the compiler knows nothing, and so cannot change how. */
#define ASK(function, ...)						\
({									\
	typeof(*(function)) *_function = function;			\
									\
	OPTIMIZER_HIDE_VAR(_function);					\
	_function(__VA_ARGS__);						\
})

/* Handlers that count or do nothing. Each file has counters of its own. */
static unsigned int hits, posts;

static inline int count_hit(struct kprobe *kp, struct pt_regs *regs)
{
	hits++;
	return 0;
}

static inline void count_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	posts++;
}

static inline int ignore_hit(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

static inline void ignore_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

static inline int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	hits++;
	return 0;
}

static inline int ignore_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
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
