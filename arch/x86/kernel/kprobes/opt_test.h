/* SPDX-License-Identifier: GPL-2.0-only */
/* Definitions that opt_test.c, where_test.c and opt_snippets.S share. */
#ifndef _ARCH_X86_KERNEL_KPROBES_OPT_TEST_H
#define _ARCH_X86_KERNEL_KPROBES_OPT_TEST_H

/* Offset of the return in opt_return(). */
#define OPT_RETURN_AT	33

#ifndef __ASSEMBLY__

#include <kunit/test.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/cpufeature.h>
#include <asm/text-patching.h>

/* A function and the expected jump of a probe in it. */
struct rule {
	u8 *start;
	unsigned long offset;	/* of the probe */
	const char *name;
	const char *why;	/* there is no jump, NULL where there is one */
	unsigned long lead;	/* by how many bytes the jump begins before the probe */
};

extern struct rule opt_rules[], opt_rules_end[];
extern const u32 opt_branch_probe, opt_branch_second;
extern const u32 opt_tail_start, opt_tail_probe, opt_tail_end;

extern const u32 opt_chain_start;

int opt_branch(int in);
long opt_tail(long n);
long opt_chain(long n, int in);
long opt_stack(long n);
long opt_stack_inner(long n);
extern const u32 opt_stack_call_at, opt_stack_inner_last_at;
void opt_stack_injected(void);

/* A return in a place where ITS allows a bare one. */
void opt_return(void);

/* Defined in where_test.c. */
int where_read(const void __user *from);
extern u8 where_read_at[], where_load_at[], where_landed_at[];

/* trap_test.c */
extern u8 trap_sti_hlt[], trap_sti_mwait[], trap_sti_nop[];

/* Hide the sum from objtool, which warns about calls into the middle of functions. */
static inline u8 *inside(const void *fn, u32 offset)
{
	OPTIMIZER_HIDE_VAR(fn);

	return (u8 *)fn + offset;
}

/* Return the target of the jump, if there is one. */
static inline unsigned long jump_target(const u8 *addr)
{
	s32 disp;

	memcpy(&disp, addr + 1, sizeof(disp));

	return (unsigned long)addr + JMP32_INSN_SIZE + disp;
}

/* With call depth tracking a call has no jump; behind an LFENCE, one by memory has none. */
static inline void skip_if_calls_have_no_jump(struct kunit *test)
{
	if (cpu_feature_enabled(X86_FEATURE_CALL_DEPTH))
		kunit_skip(test, "calls are counted");
	if (cpu_feature_enabled(X86_FEATURE_RETPOLINE_LFENCE))
		kunit_skip(test, "an LFENCE comes before calls by memory");
}

#endif /* !__ASSEMBLY__ */
#endif /* _ARCH_X86_KERNEL_KPROBES_OPT_TEST_H */
