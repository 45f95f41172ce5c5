/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KPROBES_BENCHMARK_H
#define _KPROBES_BENCHMARK_H

#include <linux/timex.h>
#include <linux/types.h>

#if defined(CONFIG_ARM64)
static inline u64 cycles(void)
{
	isb();

	return read_sysreg(pmccntr_el0);
}
#elif defined(CONFIG_RISCV)
static inline u64 cycles(void)
{
	return csr_read(CSR_CYCLE);
}
#else
static inline u64 cycles(void)
{
	return get_cycles();
}
#endif

/* Print a figure. */
void result(const char *name, u64 value);

struct kprobe;
struct pt_regs;

/* Wait until the text begins like a jump; for how long there may be none. */
int wait_for_jump(const u8 *at);

/* A pre_handler that counts its hits. */
int bench_on_pre(struct kprobe *kp, struct pt_regs *regs);

/* Measure probes on all functions of the kernel, see attach.c. */
void run_attach(unsigned int unused);

/* Measure what a probe adds to loops behind it, see loops.c. */
void run_loops(unsigned int unused);

/* Measure how long others wait meanwhile, see others.c, instead of anything else. */
bool is_watched(void);
void run_watch(unsigned int unused);
void run_watched(unsigned int unused);

#endif /* _KPROBES_BENCHMARK_H */
