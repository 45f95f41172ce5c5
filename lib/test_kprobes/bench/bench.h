/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KPROBES_BENCHMARK_H
#define _KPROBES_BENCHMARK_H

/* A tool reads these lines in the log of a guest. */
#undef pr_fmt
#define pr_fmt(fmt) "kp: bench " fmt

#include <linux/timex.h>
#include <linux/types.h>

#if defined(CONFIG_ARM64)
extern bool has_counter;	/* not in every virtual machine */

static inline u64 cycles(void)
{
	if (!has_counter)
		return get_cycles();
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

/* --- measure.c --- */

#define ROUNDS		101

/* What one round took. */
struct cost {
	u64 cycles, ns, interrupts;
};

/* Whether the counter counts instructions, so that few rounds suffice. */
extern bool exact;

void cost_begin(struct cost *cost);
void cost_end(struct cost *cost);

/* Return what a round of so many calls usually takes. */
struct cost call_cost(void (*fn)(void), unsigned int times);

/* Print a figure, and add it to the table: of rounds, of calls beside @without, or another. */
void tell_costs(const char *name, const struct cost *costs, unsigned int nr);
void tell_calls(const char *name, void (*fn)(void), unsigned int times, struct cost without);
void result(const char *name, u64 value);

void measure_begin(void);
void measure_end(void);

/* --- bench.c --- */

/* Wait until the text begins like a jump; for how long there may be none. */
int wait_for_jump(const u8 *at);

/* --- the others --- */

/* Measure probes on all functions of the kernel, see attach.c. */
void run_attach(unsigned int unused);

/* Measure what a probe adds to loops behind it, see loops.c. */
void run_loops(unsigned int unused);

/* Measure how long others wait meanwhile, see others.c, instead of anything else. */
bool is_watched(void);
void run_watch(unsigned int unused);
void run_watched(unsigned int unused);

#endif /* _KPROBES_BENCHMARK_H */
