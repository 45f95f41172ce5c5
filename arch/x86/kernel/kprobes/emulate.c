// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions that a hit does by itself, on the saved registers.
 *
 * Branches have to be here, for they would start from their copy, and so would
 * whatever shows or changes the flags of the probed code, which a copy may run
 * with others. No-operations are here because that is all there is to do.
 *
 * The first half of the file runs in the trap: one function for each kind of
 * instruction, with operands that the second half decoded into struct
 * arch_specific_insn when the probe was prepared.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/kprobes.h>
#include <linux/stddef.h>
#include <linux/uaccess.h>
#include <asm/insn-eval.h>
#include <asm/msr.h>

#include "common.h"

/* arch_specific_insn::arg of conditional branches and of loops */
#define COND_NOT	BIT(0)	/* branch when the condition is not met */
#define COND_LESS	BIT(1)	/* it is met as well when SF != OF */
#define COUNT_HALF	BIT(2)	/* count in half a register: %ecx, on 32 bits %cx */

/* arch_specific_insn::arg of a memory operand */
#define MEM_SCALE	(BIT(0) | BIT(1))	/* shift of the index */
#define MEM_PERCPU	BIT(2)			/* relative to this CPU's per-CPU memory */

/* The prefix that says so, and the one of user space's segment. */
#define PREFIX_PERCPU	(IS_ENABLED(CONFIG_X86_64) ? 0x65 : 0x64)
#define PREFIX_USER	(IS_ENABLED(CONFIG_X86_64) ? 0x64 : 0x65)

/* arch_specific_insn::base and ::index: no such register */
#define NO_REG		0xff

/* What POPF changes at privilege level 0, RF apart, which it clears. */
#define POPF_FLAGS	(X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF |	\
			 X86_EFLAGS_ZF | X86_EFLAGS_SF | X86_EFLAGS_TF |	\
			 X86_EFLAGS_IF | X86_EFLAGS_DF | X86_EFLAGS_OF |	\
			 X86_EFLAGS_IOPL | X86_EFLAGS_NT | X86_EFLAGS_AC |	\
			 X86_EFLAGS_ID)

static __always_inline unsigned long *reg_at(struct pt_regs *regs, u8 offset)
{
	return (void *)regs + offset;
}

static bool emulate_nop(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = ip_behind(p);

	return true;
}

NOKPROBE_SYMBOL(emulate_nop);

static bool emulate_endbr(struct kprobe *p, struct pt_regs *regs)
{
#ifdef CONFIG_X86_64
	/* Or a return by FRED has the CPU wait for one still. */
	regs->fred_cs.wfe = 0;
#endif

	return emulate_nop(p, regs);
}

NOKPROBE_SYMBOL(emulate_endbr);

static bool emulate_jmp(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = ip_behind(p) + p->ainsn.disp;

	return true;
}

NOKPROBE_SYMBOL(emulate_jmp);

static __always_inline bool condition_holds(const struct arch_specific_insn *ainsn,
					    unsigned long flags)
{
	bool met = flags & ainsn->mask;

	if (ainsn->arg & COND_LESS)
		met |= !(flags & X86_EFLAGS_SF) != !(flags & X86_EFLAGS_OF);

	return met != !!(ainsn->arg & COND_NOT);
}

static bool emulate_jcc(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = ip_behind(p);
	if (condition_holds(&p->ainsn, regs->flags))
		regs->ip += p->ainsn.disp;

	return true;
}

NOKPROBE_SYMBOL(emulate_jcc);

static __always_inline unsigned long count_mask(const struct arch_specific_insn *ainsn)
{
	if (ainsn->arg & COUNT_HALF)
		return IS_ENABLED(CONFIG_X86_64) ? U32_MAX : U16_MAX;

	return ULONG_MAX;
}

/* LOOP and its like: the counter goes down first, whatever the flags say. */
static bool emulate_loop(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long mask = count_mask(&p->ainsn);
	unsigned long count = (regs->cx - 1) & mask;

	/* Writing %ecx clears the half above it, writing %cx does not. */
	if (mask == U16_MAX)
		regs->cx = (regs->cx & ~mask) | count;
	else
		regs->cx = count;

	regs->ip = ip_behind(p);
	if (count && condition_holds(&p->ainsn, regs->flags))
		regs->ip += p->ainsn.disp;

	return true;
}

NOKPROBE_SYMBOL(emulate_loop);

static bool emulate_jcxz(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = ip_behind(p);
	if (!(regs->cx & count_mask(&p->ainsn)))
		regs->ip += p->ainsn.disp;

	return true;
}

NOKPROBE_SYMBOL(emulate_jcxz);

static bool emulate_call(struct kprobe *p, struct pt_regs *regs)
{
	int3_emulate_push(regs, ip_behind(p));

	return emulate_jmp(p, regs);
}

NOKPROBE_SYMBOL(emulate_call);

bool kprobe_emulate_ret(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = int3_emulate_pop(regs);
	regs->sp += (u16)p->ainsn.disp;

	return true;
}

NOKPROBE_SYMBOL(kprobe_emulate_ret);

/* A return may have no emulation of its own, but only for post_handlers. */
bool kprobe_emulate_any(struct kprobe *p, struct pt_regs *regs)
{
	return p->ainsn.emulate ? p->ainsn.emulate(p, regs) : kprobe_emulate_ret(p, regs);
}

NOKPROBE_SYMBOL(kprobe_emulate_any);

static bool emulate_jmp_reg(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = *reg_at(regs, p->ainsn.base);

	return true;
}

NOKPROBE_SYMBOL(emulate_jmp_reg);

static bool emulate_call_reg(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long target = *reg_at(regs, p->ainsn.base);

	int3_emulate_push(regs, ip_behind(p));
	regs->ip = target;

	return true;
}

NOKPROBE_SYMBOL(emulate_call_reg);

/* What %gs starts from in the kernel, on 32 bits %fs. */
static __always_inline unsigned long percpu_base(void)
{
	if (IS_ENABLED(CONFIG_X86_64))
		return __rdmsr(MSR_GS_BASE);

	return IS_ENABLED(CONFIG_SMP) ? __this_cpu_read(this_cpu_off) : 0;
}

/* The base may be %rip, which has to be behind the instruction already. */
static __always_inline unsigned long operand_addr(const struct arch_specific_insn *ainsn,
						  struct pt_regs *regs)
{
	unsigned long addr = ainsn->disp;

	if (ainsn->base != NO_REG)
		addr += *reg_at(regs, ainsn->base);
	if (ainsn->index != NO_REG)
		addr += *reg_at(regs, ainsn->index) << (ainsn->arg & MEM_SCALE);
	if (ainsn->arg & MEM_PERCPU)
		addr += percpu_base();

	return addr;
}

/*
 * When the operand cannot be read the copy is to run, so that the CPU finds out
 * and reports what is wrong.
 */
static bool emulate_jmp_mem(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long target;

	regs->ip = ip_behind(p);
	if (copy_from_kernel_nofault(&target, (void *)operand_addr(&p->ainsn, regs),
				     sizeof(target)))
		return false;

	regs->ip = target;

	return true;
}

NOKPROBE_SYMBOL(emulate_jmp_mem);

static bool emulate_call_mem(struct kprobe *p, struct pt_regs *regs)
{
	if (!emulate_jmp_mem(p, regs))
		return false;

	int3_emulate_push(regs, ip_behind(p));

	return true;
}

NOKPROBE_SYMBOL(emulate_call_mem);

static bool emulate_pushf(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long flags = regs->flags & ~(X86_EFLAGS_RF | X86_EFLAGS_VM);

	if (p->ainsn.arg == sizeof(u16)) {
		regs->sp -= sizeof(u16);
		*(u16 *)regs->sp = flags;
	} else {
		int3_emulate_push(regs, flags);
	}

	return emulate_nop(p, regs);
}

NOKPROBE_SYMBOL(emulate_pushf);

static bool emulate_popf(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long flags, change = POPF_FLAGS;

	if (p->ainsn.arg == sizeof(u16)) {
		change &= U16_MAX;
		flags = *(u16 *)regs->sp;
		regs->sp += sizeof(u16);
	} else {
		flags = int3_emulate_pop(regs);
	}
	regs->flags &= ~(change | X86_EFLAGS_RF);
	regs->flags |= flags & change;

	return emulate_nop(p, regs);
}

NOKPROBE_SYMBOL(emulate_popf);

static bool emulate_cli(struct kprobe *p, struct pt_regs *regs)
{
	regs->flags &= ~X86_EFLAGS_IF;

	return emulate_nop(p, regs);
}

NOKPROBE_SYMBOL(emulate_cli);

static bool emulate_sti(struct kprobe *p, struct pt_regs *regs)
{
	regs->flags |= X86_EFLAGS_IF;

	return emulate_nop(p, regs);
}

NOKPROBE_SYMBOL(emulate_sti);

bool kprobe_insn_has_prefix(struct insn *insn, u8 wanted)
{
	insn_byte_t prefix;
	int i;

	for_each_insn_prefix(insn, i, prefix) {
		if (prefix == wanted)
			return true;
	}

	return false;
}

static int refuse(struct kprobe *p, const char *why)
{
	pr_debug("%pS: %s\n", p->addr, why);

	return -EOPNOTSUPP;
}

/* How a prepare_*() below says that the instruction will be emulated. */
static int emulate_with(struct kprobe *p, bool (*emulate)(struct kprobe *p, struct pt_regs *regs))
{
	p->ainsn.emulate = emulate;

	return 0;
}

/* Intel's CPUs ignore 0x66 on a near branch, AMD's branch to a 16-bit address. */
bool kprobe_branch_is_portable(struct insn *insn)
{
	return !kprobe_insn_has_prefix(insn, 0x66) && !kprobe_insn_has_prefix(insn, 0xf0);
}

static int prepare_branch(struct kprobe *p, struct insn *insn,
			  bool (*emulate)(struct kprobe *p, struct pt_regs *regs))
{
	if (!kprobe_branch_is_portable(insn))
		return refuse(p, "a branch whose prefixes CPUs do not agree about");

	p->ainsn.disp = insn->immediate.value;

	return emulate_with(p, emulate);
}

/*
 * A copy does it as well, and for less, but does not come back for a post_handler,
 * see do_insn_and_call(). Where returns go through thunks it would be none.
 */
static int prepare_ret(struct kprobe *p, struct insn *insn)
{
	int ret = prepare_branch(p, insn, kprobe_emulate_ret);

	if (!ret && !insn->prefixes.nbytes && !insn->rex_prefix.nbytes &&
	    !kprobe_copy_wants_thunk(insn))
		p->ainsn.emulate = NULL;

	return ret;
}

/* What each pair of conditions tests, 0x70 and 0x71 first. */
static const struct {
	u16 mask;
	u8 arg;
} conditions[] = {
	{ X86_EFLAGS_OF },			/* o no */
	{ X86_EFLAGS_CF },			/* b ae */
	{ X86_EFLAGS_ZF },			/* e ne */
	{ X86_EFLAGS_CF | X86_EFLAGS_ZF },	/* be a */
	{ X86_EFLAGS_SF },			/* s ns */
	{ X86_EFLAGS_PF },			/* p np */
	{ 0, COND_LESS },			/* l ge */
	{ X86_EFLAGS_ZF, COND_LESS },		/* le g */
};

static_assert(ARRAY_SIZE(conditions) == 8);

static int prepare_jcc(struct kprobe *p, struct insn *insn, u8 condition)
{
	p->ainsn.mask = conditions[condition >> 1].mask;
	p->ainsn.arg = conditions[condition >> 1].arg;
	if (condition & 1)
		p->ainsn.arg |= COND_NOT;

	return prepare_branch(p, insn, emulate_jcc);
}

/* 0xe0 LOOPNE, 0xe1 LOOPE, 0xe2 LOOP, 0xe3 JRCXZ */
static int prepare_loop(struct kprobe *p, struct insn *insn, u8 opcode)
{
	/* A condition with no flag to look at is never met. */
	p->ainsn.mask = opcode == 0xe2 ? 0 : X86_EFLAGS_ZF;
	p->ainsn.arg = opcode == 0xe1 ? 0 : COND_NOT;
	if (insn->addr_bytes != sizeof(long))
		p->ainsn.arg |= COUNT_HALF;

	return prepare_branch(p, insn, opcode == 0xe3 ? emulate_jcxz : emulate_loop);
}

static u8 prepare_reg(unsigned int nr)
{
	return pt_regs_offset(NULL, nr);
}

static void prepare_sib(struct kprobe *p, struct insn *insn)
{
	u8 sib = insn->sib.bytes[0], rex = insn->rex_prefix.bytes[0];
	unsigned int index = X86_SIB_INDEX(sib) | (X86_REX_X(rex) ? 8 : 0);

	p->ainsn.arg |= X86_SIB_SCALE(sib);
	if (index != 4)
		p->ainsn.index = prepare_reg(index);
	if (X86_MODRM_MOD(insn->modrm.bytes[0]) || X86_SIB_BASE(sib) != 5)
		p->ainsn.base = prepare_reg(X86_SIB_BASE(sib) | (X86_REX_B(rex) ? 8 : 0));
}

static void prepare_mem(struct kprobe *p, struct insn *insn)
{
	u8 modrm = insn->modrm.bytes[0], rex = insn->rex_prefix.bytes[0];

	p->ainsn.disp = insn->displacement.value;
	p->ainsn.base = NO_REG;
	p->ainsn.index = NO_REG;

	if (insn_rip_relative(insn))
		p->ainsn.base = offsetof(struct pt_regs, ip);
	else if (insn->sib.nbytes)
		prepare_sib(p, insn);
	else if (X86_MODRM_MOD(modrm) || X86_MODRM_RM(modrm) != 5)
		p->ainsn.base = prepare_reg(X86_MODRM_RM(modrm) | (X86_REX_B(rex) ? 8 : 0));

	if (kprobe_insn_has_prefix(insn, PREFIX_PERCPU))
		p->ainsn.arg |= MEM_PERCPU;
}

static bool mem_is_plain(struct insn *insn)
{
	return insn->addr_bytes == sizeof(long) && !kprobe_insn_has_prefix(insn, PREFIX_USER);
}

/* CALL and JMP through a register or memory, with the REX bits decoded. */
static int prepare_indirect(struct kprobe *p, struct insn *insn)
{
	u8 modrm = insn->modrm.bytes[0], rex = insn->rex_prefix.bytes[0];
	bool call = X86_MODRM_REG(modrm) == 2;

	if (!kprobe_branch_is_portable(insn))
		return refuse(p, "a branch whose prefixes CPUs do not agree about");

	if (X86_MODRM_MOD(modrm) == 3) {
		p->ainsn.base = prepare_reg(X86_MODRM_RM(modrm) | (X86_REX_B(rex) ? 8 : 0));
		return emulate_with(p, call ? emulate_call_reg : emulate_jmp_reg);
	}
	if (!mem_is_plain(insn))
		return refuse(p, "an indirect branch through another segment or half an address");

	prepare_mem(p, insn);

	return emulate_with(p, call ? emulate_call_mem : emulate_jmp_mem);
}

/* INC, DEC and PUSH share the opcode of indirect branches. */
static int prepare_group5(struct kprobe *p, struct insn *insn)
{
	switch (X86_MODRM_REG(insn->modrm.bytes[0])) {
	case 2:
	case 4:
		return prepare_indirect(p, insn);
	default:
		return 0;
	}
}

static int prepare_flags(struct kprobe *p, struct insn *insn,
			 bool (*emulate)(struct kprobe *p, struct pt_regs *regs))
{
	bool half = kprobe_insn_has_prefix(insn, 0x66) && !X86_REX_W(insn->rex_prefix.bytes[0]);

	/* The decoder has no other operand size than 64 bits for these. */
	p->ainsn.arg = half ? sizeof(u16) : sizeof(long);

	return emulate_with(p, emulate);
}

/*
 * HLT, MWAIT and MWAITX may end at any time, so ending at once is right, whereas
 * waiting in a copy is not: the interrupt that was to end it may have come
 * before the copy is reached, or be masked there.
 */
bool kprobe_insn_waits(struct insn *insn)
{
	const u8 *opcode = insn->opcode.bytes;
	u8 modrm = insn->modrm.bytes[0];

	if (insn_is_avx(insn))
		return false;

	return opcode[0] == 0xf4 || (opcode[0] == 0x0f && opcode[1] == 0x01 &&
				     (modrm == 0xc9 || modrm == 0xfb));
}

/* 0x90 is XCHG with %rax, which is no operation but for %r8. */
static int prepare_xchg(struct kprobe *p, struct insn *insn)
{
	return X86_REX_B(insn->rex_prefix.bytes[0]) ? 0 : emulate_with(p, emulate_nop);
}

static int prepare_endbr(struct kprobe *p, struct insn *insn)
{
	u8 modrm = insn->modrm.bytes[0];
	bool endbr = kprobe_insn_has_prefix(insn, 0xf3) && (modrm == 0xfa || modrm == 0xfb);

	return endbr ? emulate_with(p, emulate_endbr) : 0;
}

static int prepare_two_byte(struct kprobe *p, struct insn *insn)
{
	u8 opcode = insn->opcode.bytes[1];

	switch (opcode) {
	case 0x1e:
		return prepare_endbr(p, insn);
	case 0x1f:
		return emulate_with(p, emulate_nop);
	case 0x80 ... 0x8f:
		return prepare_jcc(p, insn, opcode & 0xf);
	default:
		return 0;
	}
}

static int prepare_one_byte(struct kprobe *p, struct insn *insn)
{
	u8 opcode = insn->opcode.bytes[0];

	switch (opcode) {
	case 0x70 ... 0x7f:
		return prepare_jcc(p, insn, opcode & 0xf);
	case 0x90:
		return prepare_xchg(p, insn);
	case 0x9c:
		return prepare_flags(p, insn, emulate_pushf);
	case 0x9d:
		return prepare_flags(p, insn, emulate_popf);
	case 0xc2:
	case 0xc3:
		return prepare_ret(p, insn);
	case 0xe0 ... 0xe3:
		return prepare_loop(p, insn, opcode);
	case 0xe8:
		return prepare_branch(p, insn, emulate_call);
	case 0xe9:
	case 0xeb:
		return prepare_branch(p, insn, emulate_jmp);
	case 0xfa:
		return emulate_with(p, emulate_cli);
	case 0xfb:
		return emulate_with(p, emulate_sti);
	case 0xff:
		return prepare_group5(p, insn);
	default:
		return 0;
	}
}

/*
 * Choose how @insn is emulated, if it is. Returns 0 either way, -EOPNOTSUPP for
 * an instruction that would have to be and cannot.
 */
int kprobe_prepare_emulation(struct kprobe *p, struct insn *insn)
{
	/* The opcode maps of vector instructions give the bytes other meanings. */
	if (insn_is_avx(insn))
		return 0;
	if (kprobe_insn_waits(insn))
		return emulate_with(p, emulate_nop);

	switch (insn->opcode.nbytes) {
	case 1:
		return prepare_one_byte(p, insn);
	case 2:
		return prepare_two_byte(p, insn);
	default:
		return 0;
	}
}

/* Does the emulation write below the stack pointer? */
bool kprobe_emulation_pushes(const struct kprobe *p)
{
	return p->ainsn.emulate == emulate_call || p->ainsn.emulate == emulate_call_reg ||
	       p->ainsn.emulate == emulate_call_mem || p->ainsn.emulate == emulate_pushf;
}

NOKPROBE_SYMBOL(kprobe_emulation_pushes);

/* Is there a way for the emulation to fail? Then the copy stands by. */
bool kprobe_emulation_needs_copy(const struct kprobe *p)
{
	return !p->ainsn.emulate || p->ainsn.emulate == emulate_jmp_mem ||
	       p->ainsn.emulate == emulate_call_mem;
}
