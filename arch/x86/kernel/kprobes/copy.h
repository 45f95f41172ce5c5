/* SPDX-License-Identifier: GPL-2.0-only */
/* A single instruction: checking, emulating and copying it, and writing text. */
#ifndef _X86_KPROBES_COPY_H
#define _X86_KPROBES_COPY_H

#include <linux/bits.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <asm/ptrace.h>
#include <asm/segment.h>
#include <asm/text-patching.h>

#include "detour.h"

/*
 * The opcode of @insn; one of two bytes has 0x0f00 added. 0 for vector instructions, whose bytes
 * mean something else, and for opcodes of three bytes.
 */
static inline unsigned int kprobe_opcode(struct insn *insn)
{
	if (insn_is_avx_or_xop(insn) || insn->opcode.nbytes > 2)
		return 0;

	return insn->opcode.nbytes == 2 ? insn->opcode.bytes[0] << 8 | insn->opcode.bytes[1] :
					  insn->opcode.bytes[0];
}

/* decode.c */
int kprobe_decode_original(struct insn *insn, u8 *buf, unsigned long addr, unsigned long end);
int kprobe_decode_text(struct insn *insn, u8 *buf, unsigned long addr, unsigned long end);
bool kprobe_in_cfi_check(unsigned long addr);
const char *kprobe_refusal_reason(struct insn *insn);
int kprobe_prepare_emulation(struct kprobe *p, struct insn *insn);
bool kprobe_insn_has_prefix(struct insn *insn, u8 wanted);
bool kprobe_insn_is_nop(struct insn *insn);
bool kprobe_insn_waits(struct insn *insn);
bool kprobe_branch_is_portable(struct insn *insn);

/* text.c */
u8 *kprobe_poke_reserve(u8 *addr, size_t len);
void kprobe_poke_flush(void);
void kprobe_poke_sync(void);
bool kprobe_text_is_int3(unsigned long addr);

/* Write @len bytes at @addr, at the latest when kprobe_poke_flush() is called. */
static inline void kprobe_poke_text(u8 *addr, const void *bytes, size_t len)
{
	memcpy(kprobe_poke_reserve(addr, len), bytes, len);
	/* Nothing is pending here that has not been written: no caller writes twice in between. */
	perf_event_text_poke(addr, addr, len, bytes, len);
}

/* emulate.c, with the operands as decode.c prepares them */

/* arch_specific_insn::mask: the condition is met as well when SF != OF; no flag has this bit */
#define COND_LESS	BIT(15)

/* arch_specific_insn::arg of loops; that of a conditional branch is 1 if it is negated */
#define LOOP_KIND	(BIT(0) | BIT(1))	/* 0 LOOPNE, 1 LOOPE, 2 LOOP */
#define COUNT_HALF	BIT(2)	/* count in half a register: %ecx, on 32 bits %cx */

/* arch_specific_insn::arg of a memory operand */
#define MEM_SCALE	(BIT(0) | BIT(1))	/* shift of the index */
#define MEM_PERCPU	BIT(2)			/* relative to this CPU's per-CPU memory */

/* arch_specific_insn::base and ::index: no such register */
#define NO_REG		0xff

/* Executes the instruction of a probe. Returns false if its copy has to run instead. */
typedef bool emulation_t(struct kprobe *p, struct pt_regs *regs);

emulation_t kprobe_emulate_ret;
emulation_t kprobe_emulate_any;
emulation_t kprobe_emulate_nop;
emulation_t kprobe_emulate_endbr;
emulation_t kprobe_emulate_jmp;
emulation_t kprobe_emulate_jcc;
emulation_t kprobe_emulate_loop;
emulation_t kprobe_emulate_jcxz;
emulation_t kprobe_emulate_call;
emulation_t kprobe_emulate_jmp_reg;
emulation_t kprobe_emulate_call_reg;
emulation_t kprobe_emulate_jmp_mem;
emulation_t kprobe_emulate_call_mem;
emulation_t kprobe_emulate_pushf;
emulation_t kprobe_emulate_popf;
emulation_t kprobe_emulate_cli;
emulation_t kprobe_emulate_sti;

/* The CPU need not wait for an ENDBR any more. With FRED the frame says whether it does. */
static __always_inline void kprobe_landed(struct pt_regs *regs)
{
#ifdef CONFIG_X86_64
	regs->fred_cs.wfe = 0;
#endif
}

bool kprobe_emulation_pushes(const struct kprobe *p);
bool kprobe_emulation_needs_copy(const struct kprobe *p);

/* copy.c */

/**
 * struct slot - contents of an instruction slot
 * @addr: the original instruction
 * @back: copy, and a jump after the original
 * @post: copy, and a jump to kprobe_post_entry
 */
struct slot {
	unsigned long addr;
	u8 back[MAX_INSN_SIZE + JMP32_INSN_SIZE];
	u8 post[MAX_INSN_SIZE + JMP32_INSN_SIZE];
};

static_assert(sizeof(struct slot) == KPROBE_INSN_SLOT_SIZE);

/* In a Xen guest the flag is set whether interrupts are on or off, so save what it was. */
static __always_inline void clear_if(struct pt_regs *regs)
{
	__this_cpu_write(kprobe_ctlblk.saved_flags, regs->flags);
	regs->flags &= ~X86_EFLAGS_IF;
}

static __always_inline void restore_if(struct pt_regs *regs)
{
	regs->flags &= ~X86_EFLAGS_IF;
	regs->flags |= __this_cpu_read(kprobe_ctlblk.saved_flags) & X86_EFLAGS_IF;
}

/* A RET, which does not come back from its copy. */
static __always_inline bool copy_returns(const u8 *insn)
{
	return insn[0] == RET_INSN_OPCODE || insn[0] == 0xc2;
}

/* Is a copy the only way to execute the instruction and come back for a post_handler? */
static __always_inline bool post_takes_copy(const struct kprobe *p)
{
	return !p->ainsn.emulate && !copy_returns(&p->opcode);
}

bool kprobe_fits_rel32(long distance);
int kprobe_rebase_operand(u8 *image, const u8 *dest, unsigned long addr, struct insn *insn);
int kprobe_prepare_copy(struct kprobe *p, struct insn *insn);
bool kprobe_copy_wants_thunk(struct insn *insn);
unsigned long kprobe_copy_thunk(struct insn *insn);

static __always_inline struct slot *slot_of_copy(kprobe_opcode_t *insn)
{
	return container_of((void *)insn, struct slot, back);
}

/* Continue at the first copy. */
static __always_inline void kprobe_enter_copy(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = (unsigned long)p->ainsn.insn;
}

/*
 * Leave the trap for the second copy of an instruction whose emulation has failed, so that the
 * CPU faults there. The hit is over; if the fault has a fixup, that calls the post_handler.
 */
static __always_inline void kprobe_enter_fault_copy(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = (unsigned long)slot_of_copy(p->ainsn.insn)->post;
}

void kprobe_enter_post_copy(struct kprobe *p, struct pt_regs *regs);
asmlinkage void kprobe_post_entry(void);
void kprobe_post_trap(struct pt_regs *regs);
void kprobe_fred_frame(struct pt_regs *regs);

/* A handler that was called at @ip may have set another one, in the middle of a jump. */
static __always_inline void follow_handler(struct pt_regs *regs, unsigned long ip)
{
	if (unlikely(regs->ip != ip))
		kprobe_detour_enter(regs->ip, regs);
}

/* As follow_handler(). If the jump is that of @p, its instruction may lead into the middle, too. */
static __always_inline void kprobe_finish_and_follow(struct kprobe *p, struct pt_regs *regs,
						     bool nested)
{
	unsigned long ip = regs->ip;

	kprobe_hit_finish(p, regs, nested);
	if (unlikely(regs->ip != ip || detour_is_fenced(p)))
		kprobe_detour_enter(regs->ip, regs);
}

#ifdef CONFIG_X86_64
/*
 * The CS with which ERETS stays in the kernel; @config is IA32_FRED_CONFIG. The stack
 * level is the present one, which the register has in its lowest bits. With a lower one
 * the next event of this level would use its stack from the start, where this code runs.
 * The CPU does not wait for an ENDBR. The upper half of SS says that no event came, so
 * that NMIs stay as they are and nothing is held off after ERETS.
 */
static __always_inline u64 fred_kernel_cs(u64 config)
{
	union {
		struct fred_cs fields;
		u64 whole;
	} cs = { .fields = { .cs = __KERNEL_CS, .sl = config & 3 } };

	return cs.whole;
}
#endif

#endif /* _X86_KPROBES_COPY_H */
