// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading and classifying instructions: which must not be probed, and which are emulated. The
 * rest is copied. For emulation, choose the function of emulate.c and decode the operands.
 */
#include <linux/array_size.h>
#include <linux/cfi.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/uaccess.h>
#include <asm/insn-eval.h>

#include "copy.h"

/* The prefix for per-CPU memory, and that for user space's segment. */
#define PREFIX_PERCPU	(IS_ENABLED(CONFIG_X86_64) ? 0x65 : 0x64)
#define PREFIX_USER	(IS_ENABLED(CONFIG_X86_64) ? 0x64 : 0x65)

/* -- reading -- */

/**
 * arch_kprobe_read_insn() - read an instruction without the changes of probes
 * @buf: buffer for the bytes
 * @addr: the start of an instruction
 * @len: how many bytes
 *
 * Context: Any.
 * Return: 0, -%EFAULT, or -%ERANGE for an address that cannot be text.
 */
notrace int arch_kprobe_read_insn(u8 *buf, unsigned long addr, size_t len)
{
	unsigned long flags;
	struct kprobe *p;
	int ret;

	/* A jump that is written or removed meanwhile waits for this CPU between its steps. */
	raw_local_irq_save(flags);
	ret = copy_from_kernel_nofault(buf, (void *)addr, len);
	if (!ret && IS_ENABLED(CONFIG_OPTPROBES))
		kprobe_detour_undo(buf, addr, len);
	if (!ret && buf[0] == INT3_INSN_OPCODE) {
		p = get_kprobe((kprobe_opcode_t *)addr);
		if (p && !kprobe_ftrace(p))
			buf[0] = p->opcode;
	}
	raw_local_irq_restore(flags);

	return ret;
}

NOKPROBE_SYMBOL(arch_kprobe_read_insn);

static const char undecodable[] = "no instruction that can be decoded";

/*
 * Decode the instruction at @addr, whose bytes are at @bytes, up to @end at most. The breakpoints
 * that pad functions are instructions of one byte. A debugger's breakpoint hides the instruction,
 * and so the start of the next one.
 */
static int decode(struct insn *insn, const u8 *bytes, unsigned long addr, unsigned long end)
{
	if ((bytes[0] == INT3_INSN_OPCODE && kprobe_on_debuggers_breakpoint(addr)) ||
	    insn_decode(insn, bytes, min(MAX_INSN_SIZE, end - addr), INSN_MODE_KERN))
		return kprobe_refuse(-EILSEQ, (void *)addr, undecodable);

	return 0;
}

/*
 * Decode the instruction at @addr, which must not reach beyond @end, from original text.
 * @insn keeps pointers into @buf.
 */
int kprobe_decode_original(struct insn *insn, u8 *buf, unsigned long addr, unsigned long end)
{
	if (arch_kprobe_read_insn(buf, addr, min(MAX_INSN_SIZE, end - addr)))
		return kprobe_refuse(-EILSEQ, (void *)addr, undecodable);

	return decode(insn, buf, addr, end);
}

/*
 * The same for the text of a function, with text_mutex held. Where no probe is near, the text is
 * original: @insn keeps pointers into it.
 */
int kprobe_decode_text(struct insn *insn, u8 *buf, unsigned long addr, unsigned long end)
{
	/* A breakpoint, or a jump that covers the first byte. */
	if (kprobes_near(addr - JMP32_INSN_SIZE + 1, addr + arch_jump_lead_max()))
		return kprobe_decode_original(insn, buf, addr, end);

	return decode(insn, (const u8 *)addr, addr, end);
}

/*
 * Before an indirect call the compiler puts "movl; addl; je; ud2" to check the type of
 * the function, 6, 4, 2 and 2 bytes long. The handler of the ud2's trap reads the first
 * two instructions, so none of them may be a breakpoint. FineIBT puts others in their
 * place, of which only the last may trap, see kprobe_refusal_reason().
 */
bool kprobe_in_cfi_check(unsigned long addr)
{
	return is_cfi_trap(addr + 12) || is_cfi_trap(addr + 6) || is_cfi_trap(addr + 2);
}

bool kprobe_insn_has_prefix(struct insn *insn, u8 wanted)
{
	return memchr(insn->prefixes.bytes, wanted, sizeof(insn->prefixes.bytes));
}

/* -- refused -- */

/*
 * Instructions that cannot be executed elsewhere, by what kprobe_opcode() returns; an entry is for
 * those whose ModRM byte has @value under @mask.
 */
struct refusal {
	u16 opcode;
	u8 mask;
	u8 value;
	const char *why;
};

static const char refused_trap[] = "traps, and would report its copy";
static const char refused_far[] = "far branch";
static const char refused_gs[] = "handlers need the kernel's GS base";
static const char refused_switch[] = "switches between contexts";

/* In ascending order of the opcodes. */
static const struct refusal refusals[] = {
	{ 0x8e, 0x38, 0x28, refused_gs },		/* mov %gs */
	{ 0x9a, 0, 0, refused_far },
	{ 0xc7, 0xff, 0xf8, "the probe would abort the transaction" },
	{ 0xca, 0, 0, refused_far },
	{ 0xcb, 0, 0, refused_far },
	{ 0xcc, 0, 0, refused_trap },
	{ 0xcd, 0, 0, refused_trap },
	{ 0xce, 0, 0, refused_trap },
	{ 0xcf, 0, 0, refused_far },
	{ 0xd6, 0, 0, refused_trap },			/* udb */
	{ 0xea, 0, 0, refused_far },
	{ 0xf1, 0, 0, refused_trap },
	{ 0xff, 0x38, 0x18, refused_far },		/* call far */
	{ 0xff, 0x38, 0x28, refused_far },		/* jmp far */
	{ 0x0f01, 0xff, 0xc2, refused_switch },		/* vmlaunch */
	{ 0x0f01, 0xff, 0xc3, refused_switch },		/* vmresume */
	{ 0x0f01, 0xff, 0xd8, refused_switch },		/* vmrun */
	{ 0x0f01, 0xff, 0xda, refused_gs },		/* vmload */
	{ 0x0f01, 0xff, 0xf8, refused_gs },		/* swapgs */
	{ 0x0f05, 0, 0, refused_switch },		/* syscall */
	{ 0x0f07, 0, 0, refused_switch },		/* sysret */
	{ 0x0f0b, 0, 0, refused_trap },			/* ud2 */
	{ 0x0f34, 0, 0, refused_switch },		/* sysenter */
	{ 0x0f35, 0, 0, refused_switch },		/* sysexit */
	{ 0x0fa9, 0, 0, refused_gs },			/* pop %gs */
	{ 0x0faa, 0, 0, refused_switch },		/* rsm */
	{ 0x0fae, 0xf8, 0xd8, refused_gs },		/* wrgsbase */
	{ 0x0fb5, 0, 0, refused_gs },			/* lgs */
	{ 0x0fb9, 0, 0, refused_trap },			/* ud1 */
	{ 0x0fff, 0, 0, refused_trap },			/* ud0 */
};

/* Return why @insn must not be probed, or NULL. */
const char *kprobe_refusal_reason(struct insn *insn)
{
	unsigned int opcode = kprobe_opcode(insn);
	const struct refusal *r;

	if (insn_has_emulate_prefix(insn))
		return "marked for the hypervisor";
	if (insn_is_rex2(insn))
		return "struct pt_regs lacks its registers";
	/* ERETU and ERETS, which without their prefix would be CLAC. */
	if (opcode == 0x0f01 && insn->modrm.bytes[0] == 0xca &&
	    (kprobe_insn_has_prefix(insn, 0xf2) || kprobe_insn_has_prefix(insn, 0xf3)))
		return refused_switch;
	/* A CALL over a breakpoint. Emulated, or as a jump of a detour, it would fill nothing. */
	if (opcode == CALL_INSN_OPCODE && insn->immediate.value == INT3_INSN_SIZE)
		return "fills the CPU's return stack buffer";
	/* JNE to its LOCK prefix, which FineIBT may end a check with: decode_bug() reads both. */
	if (opcode == 0x75 && insn->immediate.value == -3)
		return "makes a trap together with the byte before it";

	for (r = refusals; r < refusals + ARRAY_SIZE(refusals) && r->opcode <= opcode; r++) {
		/* On 32 bits %gs is user space's, and each trap loads %fs. */
		if (IS_ENABLED(CONFIG_X86_32) && r->why == refused_gs)
			continue;
		if (r->opcode == opcode && (insn->modrm.bytes[0] & r->mask) == r->value)
			return r->why;
	}

	return NULL;
}

/* -- emulated -- */

/* For the prepare_*() below: the instruction will be emulated. */
static int emulate_with(struct kprobe *p, emulation_t *emulate)
{
	p->ainsn.emulate = emulate;

	return 0;
}

/* With 0x66 some CPUs branch to a 16-bit address; on 64 bits Intel's ignore the prefix. */
bool kprobe_branch_is_portable(struct insn *insn)
{
	return !kprobe_insn_has_prefix(insn, 0x66) && !kprobe_insn_has_prefix(insn, 0xf0);
}

static int prepare_branch(struct kprobe *p, struct insn *insn, emulation_t *emulate)
{
	if (!kprobe_branch_is_portable(insn))
		return kprobe_refuse(-EOPNOTSUPP, p->addr,
				     "a branch whose prefixes CPUs do not agree about");

	p->ainsn.disp = insn->immediate.value;

	return emulate_with(p, emulate);
}

/*
 * A copy works as well, and costs less, but does not come back for a post_handler, see
 * do_insn_and_call(). Where returns must go through thunks there is no plain copy.
 */
static int prepare_ret(struct kprobe *p, struct insn *insn)
{
	int ret = prepare_branch(p, insn, kprobe_emulate_ret);

	if (!ret && !insn->prefixes.nbytes && !insn->rex_prefix.nbytes &&
	    !kprobe_copy_wants_thunk(insn))
		p->ainsn.emulate = NULL;

	return ret;
}

/* The flags that each pair of conditions tests, 0x70 and 0x71 first. */
static const u16 conditions[8] = {
	X86_EFLAGS_OF,
	X86_EFLAGS_CF,
	X86_EFLAGS_ZF,
	X86_EFLAGS_CF | X86_EFLAGS_ZF,
	X86_EFLAGS_SF,
	X86_EFLAGS_PF,
	COND_LESS,
	COND_LESS | X86_EFLAGS_ZF,
};

/* 0xe0 LOOPNE, 0xe1 LOOPE, 0xe2 LOOP, 0xe3 JRCXZ */
static int prepare_loop(struct kprobe *p, struct insn *insn, u8 opcode)
{
	p->ainsn.arg = opcode & LOOP_KIND;
	if (insn->addr_bytes != sizeof(long))
		p->ainsn.arg |= COUNT_HALF;

	return prepare_branch(p, insn, opcode == 0xe3 ? kprobe_emulate_jcxz : kprobe_emulate_loop);
}

static void prepare_sib(struct kprobe *p, struct insn *insn)
{
	u8 sib = insn->sib.bytes[0], rex = insn->rex_prefix.bytes[0];
	unsigned int index = X86_SIB_INDEX(sib) | (X86_REX_X(rex) ? 8 : 0);

	p->ainsn.arg |= X86_SIB_SCALE(sib);
	if (index != 4)
		p->ainsn.index = pt_regs_offset(NULL, index);
	if (X86_MODRM_MOD(insn->modrm.bytes[0]) || X86_SIB_BASE(sib) != 5)
		p->ainsn.base = pt_regs_offset(NULL, X86_SIB_BASE(sib) | (X86_REX_B(rex) ? 8 : 0));
}

static void prepare_mem(struct kprobe *p, struct insn *insn)
{
	u8 modrm = insn->modrm.bytes[0];

	p->ainsn.disp = insn->displacement.value;
	p->ainsn.base = NO_REG;
	p->ainsn.index = NO_REG;

	if (insn_rip_relative(insn))
		p->ainsn.base = offsetof(struct pt_regs, ip);
	else if (insn->sib.nbytes)
		prepare_sib(p, insn);
	else if (X86_MODRM_MOD(modrm) || X86_MODRM_RM(modrm) != 5)
		p->ainsn.base = insn_get_modrm_rm_off(insn, NULL);

	if (kprobe_insn_has_prefix(insn, PREFIX_PERCPU))
		p->ainsn.arg |= MEM_PERCPU;
}

/* CALL and JMP through a register or memory, with the REX bits decoded. */
static int prepare_indirect(struct kprobe *p, struct insn *insn)
{
	u8 modrm = insn->modrm.bytes[0];
	bool call = X86_MODRM_REG(modrm) == 2;
	int ret;

	if (X86_MODRM_MOD(modrm) == 3) {
		p->ainsn.base = insn_get_modrm_rm_off(insn, NULL);
		return prepare_branch(p, insn,
				      call ? kprobe_emulate_call_reg : kprobe_emulate_jmp_reg);
	}

	ret = prepare_branch(p, insn, call ? kprobe_emulate_call_mem : kprobe_emulate_jmp_mem);
	if (ret)
		return ret;
	if (insn->addr_bytes != sizeof(long) || kprobe_insn_has_prefix(insn, PREFIX_USER))
		return kprobe_refuse(-EOPNOTSUPP, p->addr,
				     "an indirect branch through another segment or half an address");

	prepare_mem(p, insn);

	return 0;
}

static int prepare_flags(struct kprobe *p, struct insn *insn, emulation_t *emulate)
{
	bool half = kprobe_insn_has_prefix(insn, 0x66) && !X86_REX_W(insn->rex_prefix.bytes[0]);

	/* The decoder always reports an operand size of 64 bits for these. */
	p->ainsn.arg = half ? sizeof(u16) : sizeof(long);

	return emulate_with(p, emulate);
}

/*
 * HLT, MWAIT and MWAITX may end at any time, so ending at once is right. Waiting in a
 * copy is not: the interrupt that should end it may have come before the copy is reached,
 * or be masked there.
 */
bool kprobe_insn_waits(struct insn *insn)
{
	unsigned int opcode = kprobe_opcode(insn);
	u8 modrm = insn->modrm.bytes[0];

	return opcode == 0xf4 || (opcode == 0x0f01 && (modrm == 0xc9 || modrm == 0xfb));
}

bool kprobe_insn_is_nop(struct insn *insn)
{
	unsigned int opcode = kprobe_opcode(insn);

	/* 0x90 is XCHG with %rax, which does nothing except with %r8. */
	return opcode == 0x0f1f || (opcode == 0x90 && !X86_REX_B(insn->rex_prefix.bytes[0]));
}

/* Note the length of the next instruction if it waits. The longest that does has three bytes. */
static int prepare_sti(struct kprobe *p, struct insn *insn)
{
	struct insn next;
	u8 buf[3];

	if (!arch_kprobe_read_insn(buf, (unsigned long)p->addr + insn->length, sizeof(buf)) &&
	    !insn_decode(&next, buf, sizeof(buf), INSN_MODE_KERN) && kprobe_insn_waits(&next))
		p->ainsn.disp = next.length;

	return emulate_with(p, kprobe_emulate_sti);
}

/*
 * Choose how @insn is emulated, if it is. Return 0 either way, -EOPNOTSUPP for an
 * instruction that must be emulated but cannot be.
 */
int kprobe_prepare_emulation(struct kprobe *p, struct insn *insn)
{
	unsigned int opcode = kprobe_opcode(insn);
	u8 modrm = insn->modrm.bytes[0];

	if (kprobe_insn_is_nop(insn) || kprobe_insn_waits(insn))
		return emulate_with(p, kprobe_emulate_nop);

	switch (opcode) {
	case 0x70 ... 0x7f:
	case 0x0f80 ... 0x0f8f:
		p->ainsn.mask = conditions[(opcode & 0xf) >> 1];
		p->ainsn.arg = opcode & 1;
		return prepare_branch(p, insn, kprobe_emulate_jcc);
	case 0x9c:
		return prepare_flags(p, insn, kprobe_emulate_pushf);
	case 0x9d:
		return prepare_flags(p, insn, kprobe_emulate_popf);
	case 0xc2:
	case 0xc3:
		return prepare_ret(p, insn);
	case 0xe0 ... 0xe3:
		return prepare_loop(p, insn, opcode);
	case 0xe8:
		return prepare_branch(p, insn, kprobe_emulate_call);
	case 0xe9:
	case 0xeb:
		return prepare_branch(p, insn, kprobe_emulate_jmp);
	case 0xfa:
		return emulate_with(p, kprobe_emulate_cli);
	case 0xfb:
		return prepare_sti(p, insn);
	case 0xff:
		/* INC, DEC and PUSH share the opcode of indirect branches. */
		if (X86_MODRM_REG(modrm) == 2 || X86_MODRM_REG(modrm) == 4)
			return prepare_indirect(p, insn);
		return 0;
	case 0x0f1e:
		if (kprobe_insn_has_prefix(insn, 0xf3) && (modrm == 0xfa || modrm == 0xfb))
			return emulate_with(p, kprobe_emulate_endbr);
		return 0;
	default:
		return 0;
	}
}
