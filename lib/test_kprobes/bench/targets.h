/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KPROBES_BENCHMARK_TARGETS_H
#define _KPROBES_BENCHMARK_TARGETS_H

/* Many equal functions, of instructions that can each be replaced by a jump. */
#define FIELD_FUNCTIONS		500
#define FIELD_INSNS		100	/* in each, before it returns */
#define FIELD_STRIDE		512	/* bytes */

/* Short functions, for one probe in each. */
#define EACH_FUNCTIONS		10000
#define EACH_STRIDE		32	/* bytes */

#ifndef __ASSEMBLY__

/* The label NAME_at marks the instruction to be probed. */
#define TARGET(name)			\
	void kp_bench_##name(void);	\
	extern u8 kp_bench_##name##_at[]

TARGET(move);
TARGET(call);
TARGET(jump);
TARGET(branch);
TARGET(ret);
TARGET(entry);

extern u8 kp_bench_field_first[];
extern u8 kp_bench_each_first[];
extern const unsigned int kp_bench_insn_size;

#endif /* __ASSEMBLY__ */
#endif /* _KPROBES_BENCHMARK_TARGETS_H */
