// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of instructions that a CPU may mispredict: returns and indirect branches. Where
 * the kernel has bare ones in its text, they may be safe because of their place, or of
 * the code in front of them. A copy has neither, so it goes through a thunk.
 *
 * The kernel's mitigations of wrong predictions, and what makes them hold for probed code:
 *
 *	retpolines		Direct branches to a thunk. Copied and emulated ones go to
 *				the same.
 *	LFENCE in front of	A copy goes through a thunk with an LFENCE. Emulated ones end
 *	  indirect branches	with IRET or ERETS, which nothing predicts.
 *	ITS: indirect branches	A copy of an indirect branch goes through the thunk for the
 *	  and returns in the	register, or is not made. A bare return has no copy, but is
 *	  upper half of a	emulated, and in a detour goes through the return thunk:
 *	  cache line only	whichever is in use (untrained, SRSO, ITS, call depth).
 *	return thunks		Direct branches. Bare returns are in thunks only, which are
 *				on the blacklist, or where ITS has left them, see above.
 *	call depth tracking	Calls are counted in front of the callee, or in a thunk, and
 *				returns in theirs: in what copied and emulated branches lead
 *				to as well. But an emulated call leaves nothing in the return
 *				stack buffer, so the next return has to fill that. No detour
 *				has a copy of a call then: it would lack the same.
 *	SLS			In copies a breakpoint is behind each return and jump, too.
 *	BHI			The history is cleared where the kernel is entered. Nothing
 *				in probed code depends on it.
 *	IBT			An ENDBR stays where it is. The copy of an indirect branch is
 *				checked. An emulated one is not: IRET goes anywhere.
 *	kCFI, FineIBT		No probe is in a check, see kprobe_in_cfi_check().
 *	LFENCE, index masks	Copied as they are, and executed behind the handlers.
 *	PTI, MDS, L1TF, IBPB	Entry code, which is on the blacklist.
 */
#include <linux/kprobes.h>
#include <asm/alternative.h>
#include <asm/cpufeature.h>
#include <asm/nospec-branch.h>

#include "copy.h"

static bool is_return(struct insn *insn)
{
	return insn->opcode.bytes[0] == RET_INSN_OPCODE || insn->opcode.bytes[0] == 0xc2;
}

/* Must a copy of @insn, a near return or indirect branch, go through a thunk? */
bool kprobe_copy_wants_thunk(struct insn *insn)
{
	if (is_return(insn))
		return cpu_wants_rethunk();

	return cpu_feature_enabled(X86_FEATURE_INDIRECT_THUNK_ITS) ||
	       cpu_feature_enabled(X86_FEATURE_RETPOLINE_LFENCE);
}

static unsigned long return_thunk(struct insn *insn)
{
#ifdef CONFIG_MITIGATION_RETHUNK
	if (insn->opcode.bytes[0] == RET_INSN_OPCODE)
		return (unsigned long)x86_return_thunk;
#endif
	return 0;
}

static unsigned long register_thunk(unsigned int reg)
{
	if (cpu_feature_enabled(X86_FEATURE_INDIRECT_THUNK_ITS))
		return (unsigned long)its_static_thunk(reg);
#ifdef CONFIG_MITIGATION_RETPOLINE
	return (unsigned long)__x86_indirect_thunk_array[reg];
#else
	return 0;
#endif
}

/* Return the thunk to which a copy of @insn jumps, 0 when no thunk does the same. */
unsigned long kprobe_copy_thunk(struct insn *insn)
{
	u8 modrm = insn->modrm.bytes[0];
	unsigned int reg = X86_MODRM_RM(modrm) | (X86_REX_B(insn->rex_prefix.bytes[0]) ? 8 : 0);

	if (is_return(insn))
		return return_thunk(insn);
	/* There is no thunk for memory, nor for %rsp. */
	if (X86_MODRM_MOD(modrm) != 3 || reg == 4)
		return 0;

	return register_thunk(reg);
}
