/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of the RISC-V port, and what they share: declarations are here, and in
 * function_map.h those of the files that find out what a jump may cover.
 *
 * Breakpoints and return probes:
 *
 *	text.c		writing breakpoints
 *	trap.c		handling their hits
 *	blacklist.c	code that must not be probed
 *	prepare.c	checking an address and preparing its probe
 *	decode.c	expanding and refusing instructions, for kprobes and uprobes
 *	emulate.c	emulating instructions instead of copying them, for both
 *	copy.c		out-of-line copies, and the return from them
 *	where.c		the original of an address in a copy or a detour
 *	ftrace.c	sharing the ftrace site of a function
 *	return.c	return probes
 *	jprobe.S	calling the handler of a jprobe
 *	entry.S		the entry code of detours and diverted returns
 *
 * Optimized probes, which have a jump in place of the breakpoint:
 *
 *	window.h	reading instructions as if there were no probes
 *	facts.c		which registers instructions use, and where they branch
 *	branches.c	branch targets in a function
 *	liveness.c	free registers in a function
 *	region.c	the instructions that a jump covers
 *	emit.c		generating the code that the jump leads to
 *	opt.c		planning, writing and removing jumps
 *	detour.c	maps between the probed code and a detour
 *	detour_hit.c	hits by a jump: the part that entry.S leaves to C
 *	preempt.c	keeping preempted tasks out of regions
 *
 * Files and functions with the same duty have the same name in all ports. What differs here:
 *
 *	emulate_*()			static: emulate.c has the tables of encodings, too
 *	kprobe_make_detour()		apart from kprobe_detour_write(), for the tests
 *	kprobe_map_function()		in liveness.c: a map has the free registers as well
 *	arch_fence_kprobes()		in preempt.c: only preemptible kernels fence
 *	kprobe_finish_and_follow()	not inline: hits without a post_handler stay short
 *	arch_kprobe_insn_pc()		what x86 calls ip is pc here
 */
#ifndef _RISCV_KERNEL_PROBES_COMMON_H
#define _RISCV_KERNEL_PROBES_COMMON_H

#include <linux/build_bug.h>
#include <linux/container_of.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/linkage.h>
#include <linux/list.h>
#include <linux/ptrace.h>
#include <linux/types.h>
#include <asm/bug.h>
#include <asm/probes.h>
#include <asm/vector.h>

/* The upper half of a 2-byte instruction's u32 is zero. */
static __always_inline unsigned int insn_len(u32 insn)
{
	return GET_INSN_LENGTH(insn);
}

/* -- decode.c -- */

u32 kprobe_expand_insn(u32 insn);
bool kprobe_insn_is_lr(u32 insn);
bool kprobe_insn_is_sc(u32 insn);
bool kprobe_insn_is_wrs(u32 insn);
const char *kprobe_refusal_reason(u32 insn);

/* -- emulate.c -- */

probes_handler_t *kprobe_find_emulation(u32 insn);
probes_handler_t *kprobe_find_kernel_emulation(u32 expanded);

/* Uprobes need nothing below. */
#ifdef CONFIG_KPROBES

/*
 * The instruction to emulate, as kprobe_expand_insn() returns it. It is in a field that struct
 * arch_probe_insn has for an address, which nobody uses.
 */
static __always_inline unsigned long *emulated_insn(struct kprobe *p)
{
	return &p->ainsn.api.restore;
}

/* -- text.c -- */

u32 kprobe_ebreak_for(u32 insn);
bool kprobe_text_is_ebreak(unsigned long addr);
void kprobe_write_text(void (*write)(struct list_head *list), struct list_head *list);

/* -- prepare.c, ftrace.c -- */

int kprobe_read_original(u32 *insn, unsigned long addr);
bool kprobe_is_ftrace_site(unsigned long addr);

/* -- copy.c -- */

#define COPY_PARCELS	(MAX_INSN_SIZE * sizeof(kprobe_opcode_t) / sizeof(u16))

/**
 * struct slot - contents of an instruction slot
 * @addr: address of the original instruction
 * @back: the copy, and an ebreak whose trap returns behind the original
 * @post: the copy, and an ebreak whose trap calls the post_handler
 */
struct slot {
	unsigned long addr;
	u16 back[COPY_PARCELS];
	u16 post[COPY_PARCELS];
};

static_assert(sizeof(struct slot) == KPROBE_INSN_SLOT_SIZE);

static __always_inline struct slot *slot_of_copy(probe_opcode_t *insn)
{
	return container_of((void *)insn, struct slot, back);
}

static __always_inline unsigned int slot_insn_len(const struct slot *slot)
{
	return GET_INSN_LENGTH(slot->back[0]);
}

int kprobe_prepare_copy(struct kprobe *p);
void kprobe_enter_post_copy(struct kprobe *p, struct pt_regs *regs);
void kprobe_finish_and_follow(struct kprobe *p, struct pt_regs *regs, bool nested);

/* Continue at the first copy. */
static __always_inline void kprobe_enter_copy(struct kprobe *p, struct pt_regs *regs)
{
	regs->epc = (unsigned long)p->ainsn.api.insn;
}

/* -- return.c, detour_hit.c -- */

/* Return whether the kernel uses vector registers in this task; only exceptions save them. */
static __always_inline bool kprobe_vectors_in_use(void)
{
#ifdef CONFIG_RISCV_ISA_V_PREEMPTIVE
	return riscv_preempt_v_started(current);
#else
	return false;
#endif
}

unsigned long kretprobe_trampoline_return(struct pt_regs *regs);

#ifdef CONFIG_OPTPROBES

/* -- detour.c -- */

/* Size of the code of a detour in bytes. */
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

/* Return the address of the copies in the detour. */
static __always_inline unsigned long detour_copies(const struct arch_optimized_insn *optinsn)
{
	return (unsigned long)detour_of(optinsn)->code + DETOUR_ENTRY;
}

bool kprobe_read_covered(u32 *insn, unsigned long addr);
void kprobe_detour_enter(struct pt_regs *regs);
void kprobe_detour_leave_copy(struct pt_regs *regs);
unsigned long kprobe_detour_insn_pc(unsigned long pc);
void kprobe_detour_site_read(struct kprobe *p, u32 *insns);
bool kprobe_detour_site_write(struct kprobe *p, u32 *insns);
bool kprobe_detour_fill_jump(struct kprobe *p, u32 *jump);

/* -- emit.c -- */

struct region;

bool kprobe_make_jump(u32 *jump, unsigned int reg, unsigned long from, unsigned long to);
bool kprobe_make_detour(struct detour *image, u8 *copy_at, const struct region *region,
			unsigned long slot);
bool kprobe_make_site_jump(u32 *jump, unsigned long from, unsigned long site, const u32 *insns);
int kprobe_detour_write(struct optimized_kprobe *op, const struct region *region);

/* Offset in the code of the final jump at an ftrace site. */
#define SITE_JUMP	(DETOUR_ENTRY + 8)

/* -- detour_hit.c, entry.S -- */

bool kprobe_detour_elsewhere(struct pt_regs *regs);
asmlinkage void kprobe_detour_entry(void);
asmlinkage void kprobe_detour_trap(void);
int kprobe_detour_hit(struct kprobe *p, struct pt_regs *regs);

/* -- preempt.c -- */

/* While preempt.c fences the region, a hit of the breakpoint continues in the detour. */
static __always_inline bool kprobe_enter_fenced(struct kprobe *p, struct pt_regs *regs)
{
	if (!IS_ENABLED(CONFIG_PREEMPTION) || !READ_ONCE(optinsn_of(p)->fenced))
		return false;

	regs->epc = detour_copies(optinsn_of(p));

	return true;
}

#else /* !CONFIG_OPTPROBES */

static inline bool kprobe_read_covered(u32 *insn, unsigned long addr)
{
	return false;
}

static inline void kprobe_detour_enter(struct pt_regs *regs)
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

static inline bool kprobe_detour_elsewhere(struct pt_regs *regs)
{
	return false;
}

static inline bool kprobe_enter_fenced(struct kprobe *p, struct pt_regs *regs)
{
	return false;
}

#endif /* CONFIG_OPTPROBES */

#endif /* CONFIG_KPROBES */
#endif /* _RISCV_KERNEL_PROBES_COMMON_H */
