/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the RISC-V port share.
 *
 * A hit, in the order in which it passes through the files:
 *
 *	text.c		breakpoints written
 *	trap.c		breakpoints hit, handlers called
 *	blacklist.c	where no breakpoint may be
 *	decode.c	at registration: is this an instruction, may it be probed?
 *	emulate.c	instructions that must not or need not run elsewhere
 *	copy.c		all others: the out-of-line copy, and the way out of it
 *	ftrace.c	the instruction that a probe shares with ftrace
 *	return.c	diverted returns
 *	entry.S		where those arrive, and detours
 *
 * In place of the breakpoint there may be a jump:
 *
 *	facts.c		what instructions read and write, and where they go
 *	branches.c	who branches where in a function?
 *	liveness.c	which registers are free in it
 *	region.c	may a jump cover what follows the probe?
 *	detour.c	the code that the jump leads to
 *	opt.c		jumps written, and detours taken
 *	preempt.c	nobody is preempted where a jump is to be written
 */
#ifndef _RISCV_KPROBES_COMMON_H
#define _RISCV_KPROBES_COMMON_H

#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <asm/bug.h>
#include <asm/vector.h>

#include "decode-insn.h"

/* text.c */
u32 kprobe_ebreak_for(u32 insn);
void kprobe_write_text(void (*write)(struct list_head *list), struct list_head *list);

/* trap.c */
bool kprobe_text_is_ebreak(unsigned long addr);

/* decode.c */
int kprobe_read_original(u32 *insn, unsigned long addr);

/* emulate.c */
const char *kprobe_refusal_reason(u32 insn);
bool kprobe_insn_is_lr(u32 insn);
bool kprobe_insn_is_sc(u32 insn);
bool kprobe_insn_is_wrs(u32 insn);
probes_handler_t *kprobe_find_emulation(u32 insn);
probes_handler_t *kprobe_find_kernel_emulation(u32 insn);

/* copy.c */
int kprobe_prepare_copy(struct kprobe *p);
void kprobe_remove_copy(struct kprobe *p);
void kprobe_enter_copy(struct kprobe *p, struct pt_regs *regs);
void kprobe_enter_post_copy(struct kprobe *p, struct pt_regs *regs);

/* ftrace.c */
bool kprobe_is_ftrace_site(unsigned long addr);
bool kprobe_emulate_site(u32 insn, unsigned long addr, struct pt_regs *regs);

#ifdef CONFIG_OPTPROBES

/* A set of registers has bit N for register N, but for x0. */
#define REG_RA		BIT(1)
#define REG_T0		BIT(5)
#define T_REGS		(GENMASK(7, 5) | GENMASK(31, 28))
#define A_REGS		GENMASK(17, 10)
#define ALL_REGS	GENMASK(31, 1)

enum insn_flow {
	FLOW_ON,		/* to the next instruction, nothing depends on the place */
	FLOW_ADDRESS,		/* AUIPC */
	FLOW_BRANCH,		/* on a condition */
	FLOW_JUMP,		/* always */
	FLOW_CALL,
	FLOW_JUMP_REGISTER,	/* a return is one */
	FLOW_CALL_REGISTER,
	FLOW_UNKNOWN,		/* not known */
};

/**
 * struct insn_facts - what has to be known of an instruction to move it
 * @reads: registers that it reads
 * @writes: registers that it writes, for sure
 * @disp: from the instruction to where it goes, or to the address it makes; from
 *	the register @base if there is one
 * @flow: where the CPU goes
 * @len: bytes
 * @link: number of the register that a call links in
 * @base: number of the register with the address that it goes to
 */
struct insn_facts {
	u32 reads;
	u32 writes;
	s32 disp;
	enum insn_flow flow;
	u8 len;
	u8 link;
	u8 base;
};

/* facts.c */
void kprobe_get_insn_facts(u32 insn, struct insn_facts *facts);

struct function_map;

/* The linker's; nobody declares them for others. */
extern struct exception_table_entry __start___ex_table[];
extern struct exception_table_entry __stop___ex_table[];

/* liveness.c */
const struct function_map *kprobe_map_function(unsigned long addr);
int kprobe_map_error(const struct function_map *map);
bool kprobe_map_is_indirect(const struct function_map *map);
bool kprobe_map_is_target(const struct function_map *map, unsigned long addr);
unsigned long kprobe_map_end(const struct function_map *map);
u32 kprobe_map_dead_regs(const struct function_map *map, unsigned long addr);

/**
 * struct region_insn - one instruction that a jump covers
 * @insn: the instruction
 * @at: offset from the probe
 * @reg: number of a register that is free where it branches, jumps or calls to
 */
struct region_insn {
	u32 insn;
	u8 at;
	u8 reg;
};

/* In a jump of two instructions. */
#define REGION_INSNS	(MAX_OPTIMIZED_LENGTH / 2)

/**
 * struct region - what a jump covers
 * @addr: the probe
 * @insns: the instructions
 * @nr: how many there are
 * @len: bytes of all of them
 * @in: number of the register that the jump overwrites
 * @out: number of the one that the jump back overwrites, 0 when there is none
 * @extable: the first instruction may fault and have a fixup
 * @site: it is an ftrace site
 * @why_at: the offset of the obstacle, if it has one
 */
struct region {
	unsigned long addr;
	struct region_insn insns[REGION_INSNS];
	u8 nr;
	u8 len;
	u8 in;
	u8 out;
	bool extable;
	bool site;
	u8 why_at;
};

/* region.c */
enum detour_obstacle kprobe_plan_region(struct region *region, unsigned long addr);

/* Bytes of the code that a detour consists of. */
#define DETOUR_CODE	(MAX_OPTINSN_SIZE * sizeof(kprobe_opcode_t) - sizeof(long))

/**
 * struct detour - contents of a detour's slot
 * @kp: the probe that it belongs to
 * @code: the entry, the copies and the jump back
 */
struct detour {
	struct kprobe *kp;
	u8 code[DETOUR_CODE];
};

static __always_inline struct arch_optimized_insn *optinsn_of(struct kprobe *p)
{
	return &container_of(p, struct optimized_kprobe, kp)->optinsn;
}

static __always_inline struct detour *detour_of(const struct arch_optimized_insn *optinsn)
{
	return (struct detour *)optinsn->insn;
}

/* Where the copies of the instructions begin that the jump covers. */
static __always_inline unsigned long detour_copies(const struct arch_optimized_insn *optinsn)
{
	return (unsigned long)detour_of(optinsn)->code + DETOUR_ENTRY;
}

/* detour.c */
bool kprobe_make_jump(u32 *jump, unsigned int reg, unsigned long from, unsigned long to);
bool kprobe_make_detour(struct detour *image, u8 *copy_at, const struct region *region,
			unsigned long slot);
bool kprobe_make_site_jump(u32 *jump, unsigned long from, unsigned long site, const u32 *insns);
#define SITE_JUMP	(DETOUR_ENTRY + 8)

/* opt.c */
bool kprobe_read_covered(u32 *insn, unsigned long addr);
bool kprobe_detour_is_elsewhere(struct pt_regs *regs);
void kprobe_detour_follow(struct pt_regs *regs);
void kprobe_detour_leave_copy(struct pt_regs *regs);
unsigned long kprobe_detour_insn_pc(unsigned long pc);
void kprobe_detour_site_read(struct kprobe *p, u32 *insns);
bool kprobe_detour_site_write(struct kprobe *p, u32 *insns);
asmlinkage void kprobe_detour_entry(void);
asmlinkage void kprobe_detour_trap(void);
int kprobe_detour_hit(struct kprobe *p, struct pt_regs *regs);

/* preempt.c guards: a hit of the breakpoint goes on in the detour. */
static __always_inline bool kprobe_enter_guarded(struct kprobe *p, struct pt_regs *regs)
{
	if (!IS_ENABLED(CONFIG_PREEMPTION) || !READ_ONCE(optinsn_of(p)->guarded))
		return false;

	regs->epc = detour_copies(optinsn_of(p));

	return true;
}

#else /* !CONFIG_OPTPROBES */

static inline bool kprobe_read_covered(u32 *insn, unsigned long addr)
{
	return false;
}

static inline bool kprobe_detour_is_elsewhere(struct pt_regs *regs)
{
	return false;
}

static inline bool kprobe_enter_guarded(struct kprobe *p, struct pt_regs *regs)
{
	return false;
}

static inline void kprobe_detour_follow(struct pt_regs *regs)
{
}

static inline void kprobe_detour_leave_copy(struct pt_regs *regs)
{
}

static inline unsigned long kprobe_detour_insn_pc(unsigned long pc)
{
	return pc;
}

static inline void kprobe_detour_site_read(struct kprobe *p, u32 *insns)
{
}

static inline bool kprobe_detour_site_write(struct kprobe *p, u32 *insns)
{
	return false;
}

#endif /* CONFIG_OPTPROBES */

/* Does the kernel use vector registers in this task, which an exception has to keep? */
static __always_inline bool kprobe_vectors_in_use(void)
{
#ifdef CONFIG_RISCV_ISA_V_PREEMPTIVE
	return riscv_preempt_v_started(current);
#else
	return false;
#endif
}

/* return.c */
unsigned long kretprobe_trampoline_return(struct pt_regs *regs);

/* An instruction of 2 bytes leaves the upper half of its u32 clear. */
static __always_inline unsigned int insn_len(u32 insn)
{
	return GET_INSN_LENGTH(insn);
}

#endif /* _RISCV_KPROBES_COMMON_H */
