/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of preempt_snippets.S, for preempt_test.c.
 */
#ifndef _RISCV_PROBES_PREEMPT_TEST_H
#define _RISCV_PROBES_PREEMPT_TEST_H

unsigned long preempt_enter(unsigned long x, unsigned long at, unsigned long t1);
unsigned long preempt_tail(unsigned long x);
unsigned long preempt_loop(unsigned long n);
unsigned long preempt_once(unsigned long x);

/* The AUIPC and JALR, the loop and its branch, and the instructions after the first one. */
#define TAIL_PAIR	((unsigned long)preempt_tail + sizeof(u32))
#define LOOP_BODY	((unsigned long)preempt_loop + 2 * sizeof(u32))
#define LOOP_BRANCH	(LOOP_BODY + 3 * sizeof(u32))
#define ONCE		((unsigned long)preempt_once)
#define ONCE_INSIDE	(ONCE + sizeof(u32))
#define ONCE_LAST	(ONCE + 2 * sizeof(u32))

#endif /* _RISCV_PROBES_PREEMPT_TEST_H */
