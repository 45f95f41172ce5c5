// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of probed instructions, and the ways out of them.
 *
 * A slot holds two copies of one instruction. After the first is a jump back
 * to the original code. After the second is a jump to kprobe_post_entry, which
 * calls the post_handler.
 *
 * The first copy runs after the hit has ended: the task may be preempted in it,
 * even migrate, and an RCU-tasks grace period keeps the slot until it has left.
 * The second runs with interrupts off and the probe current, so that the hit
 * stays on its CPU and is the only one there between its handlers: a hit in an
 * NMI meanwhile counts as missed.
 */
#include <linux/context_tracking_state.h>
#include <linux/entry-common.h>
#include <linux/execmem.h>
#include <linux/hardirq.h>
#include <linux/instrumentation.h>
#include <linux/mm.h>
#include <linux/set_memory.h>
#include <linux/string.h>
#include <asm/alternative.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/nospec-branch.h>

#include "copy.h"

void *alloc_insn_page(void)
{
	void *page;

	/* Such memory is full of INT3, and written only through another mapping. */
	if (execmem_is_rox(EXECMEM_KPROBES))
		return execmem_alloc(EXECMEM_KPROBES, PAGE_SIZE);

	page = kprobe_alloc_writable();
	if (!page)
		return NULL;

	memset(page, INT3_INSN_OPCODE, PAGE_SIZE);
	if (set_memory_rox((unsigned long)page, 1)) {
		execmem_free(page);
		return NULL;
	}

	return page;
}

bool kprobe_fits_rel32(long distance)
{
	return distance == (s32)distance;
}

/* Adjust an operand relative to %rip for the copy at @dest of the instruction at @addr. */
int kprobe_rebase_operand(u8 *image, const u8 *dest, unsigned long addr, struct insn *insn)
{
	long disp;
	s32 disp32;

	if (!insn_rip_relative(insn))
		return 0;

	disp = (s32)insn->displacement.value + (long)addr - (long)dest;
	disp32 = disp;
	if (insn->addr_bytes != sizeof(long) || !kprobe_fits_rel32(disp))
		return -EOPNOTSUPP;

	memcpy(image + insn_offset_displacement(insn), &disp32, sizeof(disp32));

	return 0;
}

/* Fill in the copy that will be at @dest, and after it a jump to @next. */
static int fill_copy(u8 *image, u8 *dest, struct kprobe *p, struct insn *insn, void *next)
{
	unsigned int len = insn->length;
	int ret;

	memcpy(image, insn->kaddr, len);
	ret = kprobe_rebase_operand(image, dest, (unsigned long)p->addr, insn);
	if (ret)
		return ret;

	/* A return does not come back from its copy, so no jump is after it. */
	if (copy_returns(insn->kaddr))
		return 0;
	if (!kprobe_fits_rel32((long)next - (long)dest))
		return -EOPNOTSUPP;
	__text_gen_insn(image + len, JMP32_INSN_OPCODE, dest + len, next, JMP32_INSN_SIZE);

	return 0;
}

static int write_slot(struct slot *slot, struct kprobe *p, struct insn *insn)
{
	/*
	 * An emulated instruction runs its copies only to fault, see
	 * kprobe_enter_fault_copy().
	 */
	void *after_post = p->ainsn.emulate ? (void *)ip_after(p) : (void *)kprobe_post_entry;
	struct slot image;
	int ret;

	memset(&image, INT3_INSN_OPCODE, sizeof(image));
	image.addr = (unsigned long)p->addr;
	ret = fill_copy(image.back, slot->back, p, insn, (void *)ip_after(p));
	if (!ret)
		ret = fill_copy(image.post, slot->post, p, insn, after_post);
	if (ret)
		return kprobe_refuse(ret, p->addr, "out of reach of its copy");

	kprobe_poke_text((u8 *)slot, &image, sizeof(image));

	return 0;
}

/* Make the copies of @insn, unless its emulation can do without. */
int kprobe_prepare_copy(struct kprobe *p, struct insn *insn)
{
	struct slot *slot;
	int ret;

	if (!kprobe_emulation_needs_copy(p))
		return 0;

	slot = (struct slot *)get_insn_slot();
	if (!slot)
		return -ENOMEM;

	ret = write_slot(slot, p, insn);
	if (ret) {
		free_insn_slot((kprobe_opcode_t *)slot, 0);
		return ret;
	}
	p->ainsn.insn = slot->back;

	return 0;
}

void arch_remove_kprobe(struct kprobe *p)
{
	if (p->ainsn.insn)
		free_insn_slot((kprobe_opcode_t *)slot_of_copy(p->ainsn.insn), 1);
}

/* Leave the trap for the second copy; @p stays current. */
void kprobe_enter_post_copy(struct kprobe *p, struct pt_regs *regs)
{
	clear_if(regs);
	regs->ip = (unsigned long)slot_of_copy(p->ainsn.insn)->post;
}

NOKPROBE_SYMBOL(kprobe_enter_post_copy);

static void finish_post_copy(struct pt_regs *regs)
{
	struct kprobe *p = kprobe_running();

	restore_if(regs);
	regs->ip = ip_after(p);

	kprobe_finish_and_follow(p, regs, true);
}

NOKPROBE_SYMBOL(finish_post_copy);

/*
 * May kprobe_post_trap() only bump preempt_count? Yes if RCU watches and irq flags are not
 * traced.
 */
static __always_inline bool post_trap_is_simple(void)
{
#if defined(CONFIG_CONTEXT_TRACKING_IDLE) && !defined(CONFIG_TRACE_IRQFLAGS)
	return raw_atomic_read(&raw_cpu_ptr(&context_tracking)->state) & CT_RCU_WATCHING;
#else
	return false;
#endif
}

#ifdef CONFIG_X86_FRED
/* Called by entry.S: fill in what an event would have set, although none came. */
__visible noinstr void kprobe_fred_frame(struct pt_regs *regs)
{
	regs->csx = fred_kernel_cs(__rdmsr(MSR_IA32_FRED_CONFIG));
	regs->ssx = __KERNEL_DS;
}
#endif

__visible noinstr void kprobe_post_trap(struct pt_regs *regs)
{
	irqentry_state_t state;

	if (likely(post_trap_is_simple())) {
		__preempt_count_nmi_enter();
		instrumentation_begin();
		finish_post_copy(regs);
		instrumentation_end();
		__preempt_count_nmi_exit();
		return;
	}

	state = irqentry_nmi_enter(regs);
	instrumentation_begin();
	finish_post_copy(regs);
	instrumentation_end();
	irqentry_nmi_exit(regs, state);
}

/* -- thunks -- */

/*
 * Copies of instructions that a CPU may mispredict: returns and indirect branches. Where
 * the kernel has bare ones in its text, they may be safe because of their place, or of
 * the code before them. A copy has neither, so it goes through a thunk.
 *
 * The kernel's mitigations of wrong predictions, and what makes them hold for probed code:
 *
 *	retpolines		Direct branches to a thunk. Copied and emulated ones go to
 *				the same.
 *	LFENCE before	A copy goes through a thunk with an LFENCE. Emulated ones end
 *	  indirect branches	with IRET or ERETS, which nothing predicts.
 *	ITS: indirect branches	A copy of an indirect branch goes through the thunk for the
 *	  and returns in the	register, or is not made. A bare return has no copy, but is
 *	  upper half of a	emulated, and in a detour goes through the return thunk:
 *	  cache line only	whichever is in use (untrained, SRSO, ITS, call depth).
 *	return thunks		Direct branches. Bare returns are in thunks only, which are
 *				on the blacklist, or where ITS has left them, see above.
 *	call depth tracking	Calls are counted before the callee, or in a thunk, and
 *				returns in theirs: in what copied and emulated branches lead
 *				to as well. But an emulated call leaves nothing in the return
 *				stack buffer, so the next return has to fill that. No detour
 *				has a copy of a call then: it would lack the same.
 *	RSB stuffing		The calls that do it are refused, and in no detour, see
 *				kprobe_refusal_reason().
 *	SLS			In copies a breakpoint is after each return and jump, too.
 *	BHI			The history is cleared where the kernel is entered. Nothing
 *				in probed code depends on it.
 *	IBT			An ENDBR stays where it is. The copy of an indirect branch is
 *				checked. An emulated one is not: IRET goes anywhere.
 *	kCFI, FineIBT		A check's trap is decoded from text that no probe changes, see
 *				kprobe_in_cfi_check().
 *	LFENCE, index masks	Copied as they are, and executed after the handlers.
 *	PTI, MDS, L1TF, IBPB	Entry code, which is on the blacklist.
 */

/* Must a copy of @insn, a near return or indirect branch, go through a thunk? */
bool kprobe_copy_wants_thunk(struct insn *insn)
{
	if (copy_returns(insn->opcode.bytes))
		return cpu_wants_rethunk();

	return cpu_feature_enabled(X86_FEATURE_INDIRECT_THUNK_ITS) ||
	       cpu_feature_enabled(X86_FEATURE_RETPOLINE_LFENCE);
}

/* Return the thunk to which a copy of @insn jumps, 0 when no thunk does the same. */
unsigned long kprobe_copy_thunk(struct insn *insn)
{
	u8 modrm = insn->modrm.bytes[0];
	unsigned int reg = X86_MODRM_RM(modrm) | (X86_REX_B(insn->rex_prefix.bytes[0]) ? 8 : 0);

	if (copy_returns(insn->opcode.bytes)) {
#ifdef CONFIG_MITIGATION_RETHUNK
		if (insn->opcode.bytes[0] == RET_INSN_OPCODE)
			return (unsigned long)x86_return_thunk;
#endif
		return 0;
	}
	/* There is no thunk for memory, nor for %rsp. */
	if (X86_MODRM_MOD(modrm) != 3 || reg == 4)
		return 0;

	/* Not its_static_thunk(), before which FineIBT may put the end of a check. */
	if (IS_ENABLED(CONFIG_MITIGATION_ITS) &&
	    cpu_feature_enabled(X86_FEATURE_INDIRECT_THUNK_ITS))
		return (unsigned long)__x86_indirect_its_thunk_array[reg];
#ifdef CONFIG_MITIGATION_RETPOLINE
	return (unsigned long)__x86_indirect_thunk_array[reg];
#else
	return 0;
#endif
}
