/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of the RISC-V port, and what they share.
 *
 * Breakpoints and return probes:
 *
 *	text.c		writing breakpoints
 *	trap.c		handling their hits
 *	blacklist.c	code that must not be probed
 *	prepare.c	checking an address and preparing its probe
 *	decode.c	what an instruction does, and which are refused, for kprobes and uprobes
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
 *	region.c	what a jump may cover: branch targets and free registers of a function
 *	emit.c		generating the code that the jump leads to
 *	opt.c		planning, writing and removing jumps, with no task inside
 *	detour.c	hits by a jump, and maps from the probed code to a detour
 *
 * Files and functions with the same duty have the same name in all ports. What differs here:
 *
 *	emulate_*()			static: emulate.c has the tables of encodings, too
 *	kprobe_make_detour()		apart from kprobe_detour_write(), for the tests
 *	kprobe_finish_and_follow()	not inline: hits without a post_handler stay short
 */
#ifndef _RISCV_KERNEL_PROBES_COMMON_H
#define _RISCV_KERNEL_PROBES_COMMON_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/kconfig.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/linkage.h>
#include <linux/list.h>
#include <linux/ptrace.h>
#include <linux/types.h>
#include <asm/bug.h>
#include <asm/insn.h>
#include <asm/kprobes_base.h>
#include <asm/probes.h>
#include <asm/vector.h>

/* The upper half of a 2-byte instruction's u32 is zero. */
static __always_inline unsigned int insn_len(u32 insn)
{
	return GET_INSN_LENGTH(insn);
}

/* -- decode.c -- */

static __always_inline unsigned int insn_field(u32 insn, unsigned int shift, unsigned int bits)
{
	return insn >> shift & (BIT(bits) - 1);
}

static __always_inline unsigned int rd(u32 insn)
{
	return insn_field(insn, 7, 5);
}

static __always_inline unsigned int rs1(u32 insn)
{
	return insn_field(insn, 15, 5);
}

static __always_inline unsigned int rs2(u32 insn)
{
	return insn_field(insn, 20, 5);
}

static __always_inline long imm_i(u32 insn)
{
	return (s32)insn >> 20;
}

static __always_inline long imm_u(u32 insn)
{
	return (s32)(insn & GENMASK(31, 12));
}

#define INSN_ADDI	0x00000013

/* Number of the stack pointer. */
#define SP		2

/* I-type; also R-type, with rs2 for @imm */
static __always_inline u32 insn_i(u32 base, unsigned int rd, unsigned int rs1, u32 imm)
{
	return base | rd << 7 | rs1 << 15 | imm << 20;
}

static __always_inline u32 insn_s(u32 base, unsigned int rs1, unsigned int rs2, u32 imm)
{
	return base | (imm & 0x1f) << 7 | rs1 << 15 | rs2 << 20 | imm >> 5 << 25;
}

/* JAL */
static __always_inline u32 insn_j(unsigned int rd, s32 distance)
{
	u32 insn = 0x0000006f | rd << 7;

	riscv_insn_insert_jtype_imm(&insn, distance);

	return insn;
}

static __always_inline bool insn_is_csr(u32 insn)
{
	return riscv_insn_is_system(insn) && (insn_field(insn, 12, 3) & 3);
}

/* A set of registers has bit N for register N, but for x0. */
#define REG_RA		BIT(1)
#define T_REGS		(GENMASK(7, 5) | GENMASK(31, 28))
#define A_REGS		GENMASK(17, 10)

/* LLVM passes the ninth argument of a static function, and those after it, in t2 to t6. */
#define T_ARGS		(IS_ENABLED(CONFIG_CC_IS_CLANG) ? BIT(7) | GENMASK(31, 28) : 0)
#define ALL_REGS	GENMASK(31, 1)

/* The order counts: region.c compares with FLOW_ADDRESS and with FLOW_BRANCH. */
enum insn_flow {
	FLOW_ON,		/* to the next instruction; does not use its own address */
	FLOW_ADDRESS,		/* AUIPC: to the next instruction */
	FLOW_BRANCH,		/* conditional branch */
	FLOW_JUMP,		/* unconditional jump */
	FLOW_CALL,
	FLOW_JUMP_REGISTER,	/* includes returns */
	FLOW_CALL_REGISTER,
	FLOW_UNKNOWN,
};

/**
 * struct insn_facts - properties of an instruction that moving it depends on
 * @reads: registers that it may read
 * @writes: registers that it always writes
 * @disp: distance from the instruction, or from the contents of @base if there is
 *	one, to the branch target or the computed address
 * @flow: where the CPU continues, of &enum insn_flow
 * @len: length in bytes
 * @link: number of the link register of a call
 * @base: number of the register that holds the target address
 */
struct insn_facts {
	u32 reads;
	u32 writes;
	s32 disp;
	u8 flow;
	u8 len;
	u8 link;
	u8 base;
};

u32 kprobe_expand_insn(u32 insn);
bool kprobe_insn_is_lr(u32 insn);
bool kprobe_insn_ends_reservation(u32 insn);
const char *kprobe_refusal_reason(u32 insn);
void kprobe_get_insn_facts(u32 insn, struct insn_facts *facts);

/* -- emulate.c -- */

probes_handler_t *kprobe_find_kernel_emulation(u32 expanded);

/* Uprobes need nothing below. Where there are kprobes, there is always CONFIG_OPTPROBES. */
#ifdef CONFIG_KPROBES

/*
 * The instruction to emulate, as kprobe_expand_insn() returns it. It is in a field that struct
 * arch_probe_insn has for an address, which nobody uses.
 */
static __always_inline u32 *emulated_insn(struct kprobe *p)
{
	return (u32 *)&p->ainsn.api.restore;
}

/* -- text.c -- */

u32 kprobe_ebreak_for(u32 insn);
bool kprobe_text_is_ebreak(unsigned long addr);
void kprobe_write_text(void (*write)(struct list_head *list), struct list_head *list);

/* -- prepare.c, ftrace.c -- */

int kprobe_read_original(u32 *insn, unsigned long addr);

/* A jump that covers an instruction begins at most this many parcels in front of it. */
#define COVER		(MAX_OPTIMIZED_LENGTH / sizeof(u16) - 1)

/*
 * Look for breakpoints and for jumps, which do not begin before @start. An AUIPC may also be the
 * compiler's. This and the function below are inlined: they run thousands of times for each
 * function that is analysed, and would be slow if they were functions and probed themselves.
 */
static __always_inline bool may_be_probed(const u16 *parcel, unsigned long start)
{
	unsigned long addr = (unsigned long)parcel, jump;

	if (*parcel == __BUG_INSN_16 || *parcel == (__BUG_INSN_32 & U16_MAX))
		return true;
	for (jump = addr; jump >= start && jump >= addr - COVER * sizeof(u16); jump -= 2) {
		if ((*(u16 *)jump & 0x7f) == 0x17 &&
		    kprobes_near(jump, jump + COVER * sizeof(u16)))
			return true;
	}

	return false;
}

/*
 * Do as kprobe_read_original(), which is slow, but call it only where text may have changed. The
 * code in [@start, @end) stays mapped, since its module has a probe or is held.
 */
static __always_inline int kprobe_read_text(u32 *insn, unsigned long addr, unsigned long start,
					    unsigned long end)
{
	const u16 *parcels = (const u16 *)addr;

	if (end - addr < sizeof(u32) || may_be_probed(parcels, start))
		return kprobe_read_original(insn, addr);

	*insn = parcels[0];
	if (insn_len(*insn) == 4)
		*insn |= (u32)parcels[1] << 16;

	return 0;
}

unsigned long kprobe_code_end(const struct kprobe_function *fn);
bool kprobe_is_ftrace_site(unsigned long addr);

/* -- copy.c -- */

#define COPY_PARCELS	(MAX_INSN_SIZE * sizeof(kprobe_opcode_t) / sizeof(u16))

/**
 * struct slot - contents of an instruction slot
 * @addr: address of the original instruction
 * @back: the copy, and an ebreak whose trap returns after the original
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
bool kprobe_end_of_copy(struct pt_regs *regs);
void kprobe_finish_and_follow(struct kprobe *p, struct pt_regs *regs, bool nested);

/* Continue at the first copy. */
static __always_inline void kprobe_enter_copy(struct kprobe *p, struct pt_regs *regs)
{
	regs->epc = (unsigned long)p->ainsn.api.insn;
}

/* -- return.c, detour.c -- */

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

/* -- detour.c -- */

/* Size of the code of a detour in bytes. */
#define DETOUR_CODE	(MAX_OPTINSN_SIZE * sizeof(kprobe_opcode_t) - sizeof(long))

/**
 * struct detour - contents of a detour's slot
 * @kp: the probe that it belongs to
 * @code: the calls of handlers, the copies and the jump back
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

/* Return the address of the jump, which may begin before its probe. */
static __always_inline unsigned long jump_addr(struct kprobe *p)
{
	return (unsigned long)p->addr - optinsn_of(p)->lead;
}

/* Return the address of the copies in the detour. */
static __always_inline unsigned long detour_copies(const struct arch_optimized_insn *optinsn)
{
	return (unsigned long)detour_of(optinsn)->code + DETOUR_COPIES;
}

bool kprobe_read_covered(u32 *insn, unsigned long addr);
bool kprobe_detour_enter(struct pt_regs *regs);
bool kprobe_detour_fill_jump(struct kprobe *p, u32 *jump);

/* -- region.c -- */

/**
 * struct region_insn - one instruction that a jump covers
 * @insn: the instruction
 * @facts: its properties
 * @at: offset from the jump
 * @reg: number of a register that is free at the target of its branch, jump or call
 */
struct region_insn {
	u32 insn;
	struct insn_facts facts;
	u8 at;
	u8 reg;
};

/* Largest number of instructions in a region. */
#define REGION_INSNS	(MAX_OPTIMIZED_LENGTH / 2)

/**
 * struct region - the instructions that a jump covers
 * @addr: address of the jump
 * @insns: the instructions
 * @nr: number of instructions
 * @len: length in bytes
 * @out: number of the register that the jump back overwrites, 0 without a jump back
 * @exit: number of a register that is free wherever the probed instruction may lead, or 0
 * @optinsn: what the probe keeps of the plan; @why_at is set with an obstacle
 */
struct region {
	unsigned long addr;
	struct region_insn insns[REGION_INSNS];
	u8 nr;
	u8 len;
	u8 out;
	u8 exit;
	struct arch_optimized_insn optinsn;
};

static __always_inline const struct region_insn *probed_insn(const struct region *region)
{
	const struct region_insn *ri = region->insns;

	while (ri->at < region->optinsn.lead)
		ri++;

	return ri;
}

u32 kprobe_free_regs(unsigned long addr);
enum detour_obstacle kprobe_plan_region(struct region *region, unsigned long addr);

/* -- emit.c -- */

bool kprobe_make_jump(u32 *jump, unsigned int reg, unsigned long from, unsigned long to);
bool kprobe_make_detour(struct detour *image, struct region *region, unsigned long slot);
bool kprobe_make_site_jump(u32 *jump, unsigned long from, unsigned long site, const u32 *insns);
int kprobe_detour_write(struct optimized_kprobe *op, struct region *region);

/* Offset in the code of the final jump at an ftrace site. */
#define SITE_JUMP	(DETOUR_COPIES + 8)

/* -- detour.c, entry.S -- */

bool kprobe_detour_elsewhere(struct pt_regs *regs);
asmlinkage void kprobe_detour_entry(void);
asmlinkage void kprobe_detour_post_entry(void);
asmlinkage void kprobe_detour_trap(void);
int kprobe_detour_hit(struct kprobe *p, struct pt_regs *regs);
int kprobe_detour_post(struct kprobe *p, struct pt_regs *regs);

/* -- opt.c -- */

/* While a grace period fences the region, a hit of the breakpoint continues in the detour. */
static __always_inline bool kprobe_is_fenced(struct kprobe *p)
{
	return IS_ENABLED(CONFIG_PREEMPTION) && READ_ONCE(optinsn_of(p)->fenced);
}

#endif /* CONFIG_KPROBES */
#endif /* _RISCV_KERNEL_PROBES_COMMON_H */
