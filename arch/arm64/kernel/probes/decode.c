// SPDX-License-Identifier: GPL-2.0-only
/*
 * Classifying instructions. Most do the same at any address and are copied. Those
 * that read or write the PC are emulated. Some can be neither copied nor
 * emulated, and are refused.
 *
 * The names are those of the A64 instruction set in the Arm Architecture
 * Reference Manual.
 */
#include <linux/kernel.h>

#include "common.h"
#include "decode-insn.h"

/* An instruction matches if it has @value under @mask. */
struct insn_pattern {
	u32 mask;
	u32 value;
};

static bool insn_matches(const struct insn_pattern *p, u32 insn)
{
	return (insn & p->mask) == p->value;
}

/*
 * Instructions that are emulated. Those that use the kernel's text, keys or exception mask are
 * @kernel ones, for kprobes only; the others serve uprobes as well.
 */
static const struct {
	struct insn_pattern pattern;
	probes_handler_t *handler;
	bool kernel;
} emulations[] = {
	{ { 0xffffffff, 0xd503201f }, kprobe_emulate_nop },		/* NOP */
	{ { 0xffffff3f, 0xd503241f }, kprobe_emulate_nop },		/* BTI */
	{ { 0x7c000000, 0x14000000 }, kprobe_emulate_b_bl },		/* B, BL */
	{ { 0xff000000, 0x54000000 }, kprobe_emulate_b_cond },	/* B.cond, BC.cond */
	{ { 0x7e000000, 0x34000000 }, kprobe_emulate_cbz_cbnz },	/* CBZ, CBNZ */
	{ { 0x7e000000, 0x36000000 }, kprobe_emulate_tbz_tbnz },	/* TBZ, TBNZ */
	{ { 0x1f000000, 0x10000000 }, kprobe_emulate_adr_adrp },	/* ADR, ADRP */
	{ { 0xfffffc1f, 0xd61f0000 }, kprobe_emulate_br_blr_ret },	/* BR */
	{ { 0xfffffc1f, 0xd63f0000 }, kprobe_emulate_br_blr_ret },	/* BLR */
	{ { 0xfffffc1f, 0xd65f0000 }, kprobe_emulate_br_blr_ret },	/* RET */
	{ { 0xff000000, 0xd8000000 }, kprobe_emulate_nop },		/* PRFM (literal) */
	{ { 0x3f000000, 0x18000000 }, kprobe_emulate_ldr_literal, true }, /* LDR, LDRSW (literal) */
	{ { 0xfedff800, 0xd61f0800 }, kprobe_emulate_br_blr_ret_auth, true }, /* BRAA and so on */
	{ { 0xfffffbff, 0xd65f0bff }, kprobe_emulate_br_blr_ret_auth, true }, /* RETAA, RETAB */
	{ { 0xffffffe0, 0xd53b4220 }, kprobe_emulate_mrs_daif, true }, /* MRS Xt, DAIF */
	{ { 0xffffffe0, 0xd51b4220 }, kprobe_emulate_msr_daif, true }, /* MSR DAIF, Xt */
	{ { 0xfffff0df, 0xd50340df }, kprobe_emulate_msr_daif_imm, true }, /* DAIFSet, DAIFClr */
};

static const char refused_trap[] = "traps, and would report its copy";
/* The call may stop the CPU or resume it elsewhere, and the hit would never end. */
static const char refused_call[] = "calls firmware or a hypervisor, which need not return";
static const char refused_switch[] = "switches between contexts";
static const char refused_auth[] = "signs or checks a pointer by its own address";
static const char refused_mops[] = "one of three that have to stay together";
static const char refused_exclusive[] = "a trap would end the exclusive access";
static const char refused_literal[] = "loads from where it is";
static const char refused_unknown[] = "unknown instruction";
static const char refused_data[] = "not an instruction";

static const struct {
	struct insn_pattern pattern;
	const char *why;
} refusals[] = {
	{ { 0x9e000000, 0x00000000 }, refused_trap },		/* UDF */
	{ { 0x1a000000, 0x02000000 }, refused_data },		/* not allocated */
	{ { 0xffe0001e, 0xd4000002 }, refused_call },		/* HVC, SMC */
	{ { 0xff000000, 0xd4000000 }, refused_trap },		/* SVC, BRK, HLT, DCPS */
	{ { 0xff800000, 0xd6800000 }, refused_switch },		/* ERET and the like, DRPS */
	{ { 0xfe000000, 0xd6000000 }, refused_unknown },	/* other branches to registers */
	{ { 0xff000000, 0x55000000 }, refused_auth },		/* RETAASPPC, RETABSPPC */
	{ { 0xff800000, 0xf3800000 }, refused_auth },		/* AUTIASPPC, AUTIBSPPC */
	{ { 0xffff8000, 0xdac18000 }, refused_auth },		/* PACIASPPC and the like */
	{ { 0xffffffff, 0xd50324ff }, refused_auth },		/* PACM */
	{ { 0x7e000000, 0x74000000 }, refused_unknown },	/* CB<cc> */
	{ { 0x3b200c00, 0x19000400 }, refused_mops },		/* CPY*, SET* */
	{ { 0x3f000000, 0x1c000000 }, refused_literal },	/* LDR (literal, SIMD&FP) */
};

/* Masks for the op0, op1, CRn, CRm and op2 of a system instruction. */
#define SYS_ALL		sys_reg(3, 7, 15, 15, 7)
#define SYS_UP_TO_CRN	sys_reg(3, 7, 15, 0, 0)
#define SYS_UP_TO_CRM	sys_reg(3, 7, 15, 15, 0)

/*
 * Registers that an exception writes. The trap of the probe overwrites them before a
 * copy can read the value that the probed code would have read. Those of EL1 and EL2 differ
 * only in the highest bit of op1.
 */
static const struct insn_pattern mrs_refused[] = {
	{ sys_reg(3, 3, 15, 15, 0), sys_reg(3, 0, 4, 0, 0) },	/* SPSR_ELx, ELR_ELx */
	{ sys_reg(3, 3, 15, 0, 0), sys_reg(3, 0, 5, 0, 0) },	/* ESR_ELx, AFSRn_ELx, ... */
	{ sys_reg(3, 3, 15, 0, 0), sys_reg(3, 0, 6, 0, 0) },	/* FAR_ELx */
};

/* Only these may be written: a trap right after the write does no harm. */
static const struct insn_pattern msr_allowed[] = {
	{ SYS_ALL, sys_reg(3, 3, 4, 2, 0) },		/* NZCV */
	{ SYS_UP_TO_CRM, sys_reg(3, 3, 4, 4, 0) },	/* FPCR, FPSR */
	{ SYS_UP_TO_CRM, sys_reg(3, 3, 13, 0, 0) },	/* TPIDR_EL0, ... */
	{ SYS_UP_TO_CRN, sys_reg(3, 3, 14, 0, 0) },	/* timers, event counters */
	{ SYS_UP_TO_CRN, sys_reg(3, 3, 9, 0, 0) },	/* performance monitors */
	{ SYS_UP_TO_CRM, sys_reg(3, 0, 4, 6, 0) },	/* ICC_PMR_EL1 */
	{ sys_reg(3, 7, 15, 8, 0), sys_reg(3, 0, 12, 8, 0) },	/* ICC_*_EL1 */
};

/* PSTATE fields that an exception saves and restores, selected by op1 and op2. */
static const struct insn_pattern pstate_allowed[] = {
	{ 0xffffffff, 0xd500401f },			/* CFINV */
	{ 0xffffffff, 0xd500403f },			/* XAFLAG */
	{ 0xffffffff, 0xd500405f },			/* AXFLAG */
	{ 0xfffff0ff, 0xd500407f },			/* UAO */
	{ 0xfffff0ff, 0xd500409f },			/* PAN */
	{ 0xfffff0ff, 0xd503403f },			/* SSBS */
	{ 0xfffff0ff, 0xd503405f },			/* DIT */
	{ 0xfffff0ff, 0xd503409f },			/* TCO */
};

static bool insn_matches_any(const struct insn_pattern *patterns, unsigned int nr, u32 value)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (insn_matches(&patterns[i], value))
			return true;
	}

	return false;
}

/* Cache and TLB maintenance and address translation do not depend on the PC. */
static bool sys_may_move(u32 insn)
{
	u32 crn = (insn >> 12) & 15;

	/* The guarded control stack is at CRn 7, CRm 7. */
	return (crn == 7 && ((insn >> 8) & 15) != 7) || crn == 8;
}

static const char *system_refusal(u32 insn)
{
	static const char why[] = "belongs to the context that it runs in";
	u32 reg = insn & SYS_ALL;

	/* Hints, barriers, WFET and WFIT. */
	if ((insn & 0xfffff000) == 0xd5032000 || (insn & 0xfffff000) == 0xd5033000 ||
	    (insn & 0xfffff000) == 0xd5031000)
		return NULL;

	switch ((insn >> 19) & 7) {
	case 0:				/* MSR (immediate) */
		return insn_matches_any(pstate_allowed, ARRAY_SIZE(pstate_allowed), insn) ?
		       NULL : why;
	case 1:				/* SYS */
		return sys_may_move(insn) ? NULL : why;
	case 3:				/* MSR */
		return insn_matches_any(msr_allowed, ARRAY_SIZE(msr_allowed), reg) ? NULL : why;
	case 6:				/* MRS, debug registers */
		return NULL;
	case 7:				/* MRS */
		return insn_matches_any(mrs_refused, ARRAY_SIZE(mrs_refused), reg) ? why : NULL;
	default:			/* MSR, debug registers; SYSL */
		return why;
	}
}

/* Loads and stores with an exclusive monitor. CASP is not one, but has their encoding. */
bool kprobe_insn_is_exclusive(u32 insn)
{
	return (insn & 0x3e800000) == 0x08000000 && (insn & 0x80200000) != 0x00200000;
}

bool kprobe_insn_is_load_exclusive(u32 insn)
{
	return kprobe_insn_is_exclusive(insn) && (insn & BIT(22));
}

/**
 * kprobe_refusal_reason() - tell why an instruction can neither be copied nor emulated
 * @insn: an instruction that has no emulation
 *
 * Return: the reason, NULL when it can be copied.
 */
const char *kprobe_refusal_reason(u32 insn)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		if (insn_matches(&refusals[i].pattern, insn))
			return refusals[i].why;
	}

	if ((insn & 0xff000000) == 0xd5000000)
		return insn & BIT(22) ? refused_unknown : system_refusal(insn);

	return kprobe_insn_is_exclusive(insn) ? refused_exclusive : NULL;
}

/* struct pt_regs has no SIMD registers, so such a load of a literal cannot be emulated. */
bool kprobe_insn_is_simd_literal(u32 insn)
{
	return (insn & 0x3f000000) == 0x1c000000 && insn >> 30 != 3;
}

/* Find the function that emulates @insn, in the kernel or in a program, or return NULL. */
probes_handler_t *kprobe_find_emulation(u32 insn, bool kernel)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(emulations); i++) {
		if (insn_matches(&emulations[i].pattern, insn))
			return kernel || !emulations[i].kernel ? emulations[i].handler : NULL;
	}

	return NULL;
}

/**
 * arm_probe_decode_insn() - decide how a hit executes the probed instruction
 * @insn: the instruction
 * @api: gets the handler that emulates @insn, or NULL
 *
 * Context: Any.
 * Return: whether it can be probed, and whether it is emulated.
 */
enum probe_insn arm_probe_decode_insn(u32 insn, struct arch_probe_insn *api)
{
	const char *why = kprobe_refusal_reason(insn);

	api->handler = kprobe_find_emulation(insn, false);
	if (api->handler)
		return INSN_GOOD_NO_SLOT;

	/* The kernel cannot use the literals and keys of user space. */
	if (kprobe_find_emulation(insn, true))
		return INSN_REJECTED;

	/* Users may name any offset of a file: uprobes accept data, whose copy traps as well. */
	return why && why != refused_data ? INSN_REJECTED : INSN_GOOD;
}
