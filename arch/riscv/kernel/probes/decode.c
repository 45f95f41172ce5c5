// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding instructions for kprobes and uprobes: which must not be probed, and how
 * uprobes execute the others.
 */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/kprobes.h>
#include <asm/csr.h>
#include <asm/insn.h>

#include "common.h"
#include "decode-insn.h"
#include "decode.h"
#include "emulate.h"
#include "operands.h"

#define OPCODE_AMO	0x2f
#define FUNCT5_LR	2
#define FUNCT5_SC	3

static bool insn_is_amo(u32 insn, unsigned int funct5)
{
	return (insn & RV_INSN_OPCODE_MASK) == OPCODE_AMO && insn >> 27 == funct5;
}

bool kprobe_insn_is_lr(u32 insn)
{
	return insn_is_amo(insn, FUNCT5_LR);
}

bool kprobe_insn_is_sc(u32 insn)
{
	return insn_is_amo(insn, FUNCT5_SC);
}

/* wrs.nto and wrs.sto wait for another CPU's store to the reserved address. */
bool kprobe_insn_is_wrs(u32 insn)
{
	return insn == 0x00d00073 || insn == 0x01d00073;
}

/* Every trap writes these CSRs, or depends on them. */
static bool csr_belongs_to_traps(unsigned int csr)
{
	static const u16 csrs[] = {
		CSR_TVEC, CSR_SCRATCH, CSR_EPC, CSR_CAUSE, CSR_TVAL, CSR_SATP,
		CSR_HSTATUS, CSR_HTVAL, CSR_HTINST,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(csrs); i++) {
		if (csrs[i] == csr)
			return true;
	}

	return false;
}

/* Fences without a result are recognized by their funct7. */
static bool insn_is_memory_fence(u32 insn)
{
	static const u8 funct7s[] = {
		0x09, 0x0b, 0x0c, 0x11, 0x13, 0x31, 0x33,	/* [sh]fence, [sh]inval */
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(funct7s); i++) {
		if (funct7s[i] == insn >> 25)
			return true;
	}

	return false;
}

#define INSN_ECALL	0x00000073
#define INSN_EBREAK	0x00100073
#define INSN_WFI	0x10500073

static const char *system_refusal_reason(u32 insn)
{
	if (insn_is_csr(insn))
		return csr_belongs_to_traps(insn >> 20) ? "accesses a register of traps" : NULL;
	if (insn_field(insn, 12, 3) || insn_is_memory_fence(insn))
		return NULL;

	switch (insn) {
	case INSN_ECALL:
		/* The firmware may stop the CPU or resume it elsewhere: the hit would not end. */
		return "calls the firmware, which need not return";
	case INSN_EBREAK:
		return "traps";
	case INSN_WFI:
		/* WFI does the same in a copy. */
		return NULL;
	default:
		return "returns from a trap, or is unknown";
	}
}

/* Return why @insn must not be probed, or NULL. */
const char *kprobe_refusal_reason(u32 insn)
{
	if ((insn & 0x1f) == 0x1f)
		return "longer than 4 bytes";
	if (!insn || riscv_insn_is_c_ebreak(insn))
		return "traps";
	if (kprobe_insn_is_lr(insn) || kprobe_insn_is_sc(insn) || kprobe_insn_is_wrs(insn))
		return "the probe would break the reservation";
	if (riscv_insn_is_system(insn))
		return system_refusal_reason(insn);

	return NULL;
}

/**
 * riscv_probe_decode_insn() - decide how a uprobe executes an instruction
 * @addr: the instruction, and the bytes behind it
 * @asi: gets the handler that emulates it, or NULL
 *
 * Context: Any.
 * Return: whether it can be probed, and whether it is emulated.
 */
enum probe_insn riscv_probe_decode_insn(probe_opcode_t *addr, struct arch_probe_insn *asi)
{
	u32 insn = *addr;

	if (insn_len(insn) == 2)
		insn = (u16)insn;
	asi->handler = NULL;
	if (kprobe_refusal_reason(insn))
		return INSN_REJECTED;

	asi->handler = kprobe_find_emulation(insn);

	return asi->handler ? INSN_GOOD_NO_SLOT : INSN_GOOD;
}
