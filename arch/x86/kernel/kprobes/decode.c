// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preparing a probe: is its address the start of an instruction, may that be
 * probed, and how will a hit get it done?
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/cfi.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/minmax.h>
#include <linux/uaccess.h>
#include <asm/alternative.h>
#include <asm/ibt.h>

#include "common.h"

static notrace void undo_breakpoint(u8 *buf, unsigned long addr)
{
	struct kprobe *p = get_kprobe((kprobe_opcode_t *)addr);

	if (p && !kprobe_ftrace(p))
		buf[0] = p->opcode;
}

NOKPROBE_SYMBOL(undo_breakpoint);

/**
 * arch_kprobe_read_insn() - read an instruction as it is without its probe
 * @buf: where to
 * @addr: the start of an instruction
 * @len: how many bytes
 *
 * Context: Any.
 * Return: 0, -%EFAULT, or -%ERANGE for an address that cannot be text.
 */
notrace int arch_kprobe_read_insn(u8 *buf, unsigned long addr, size_t len)
{
	unsigned long flags;
	int ret;

	/* A jump that comes or goes meanwhile waits for this CPU between its steps. */
	raw_local_irq_save(flags);
	ret = copy_from_kernel_nofault(buf, (void *)addr, len);
	if (!ret)
		kprobe_detour_undo(buf, addr, len);
	if (!ret && buf[0] == INT3_INSN_OPCODE)
		undo_breakpoint(buf, addr);
	raw_local_irq_restore(flags);

	return ret;
}

NOKPROBE_SYMBOL(arch_kprobe_read_insn);

/* It hides what instruction is there, and so where the next one starts. */
static bool is_debuggers_breakpoint(u8 opcode, unsigned long addr)
{
	return opcode == INT3_INSN_OPCODE && kprobe_on_debuggers_breakpoint(addr);
}

/*
 * Decode the instruction at @addr, which does not reach to @end, from original
 * text. @insn goes on to refer to @buf. The breakpoints that pad functions are
 * instructions of one byte.
 */
int kprobe_decode_original(struct insn *insn, u8 *buf, unsigned long addr, unsigned long end)
{
	size_t len = min_t(unsigned long, MAX_INSN_SIZE, end - addr);

	if (arch_kprobe_read_insn(buf, addr, len) || is_debuggers_breakpoint(buf[0], addr) ||
	    insn_decode(insn, buf, len, INSN_MODE_KERN)) {
		pr_debug("%pS: no instruction that can be decoded\n", (void *)addr);
		return -EILSEQ;
	}

	return 0;
}

/* The last instruction probed: the next one may be behind it in its function. */
static struct {
	unsigned long serial;
	unsigned long addr;
} last_decoded;

static unsigned long decode_from(const struct kprobe_function *fn, unsigned long addr)
{
	if (last_decoded.serial == fn->serial && last_decoded.addr <= addr)
		return last_decoded.addr;

	return fn->start;
}

/* Decode what is at @addr, if an instruction of its function starts there. */
static int decode_probed(struct insn *insn, u8 *buf, unsigned long addr)
{
	const struct kprobe_function *fn = kprobe_function_of(addr);
	unsigned long at;
	int ret;

	if (!fn) {
		pr_debug("%pS: not in a function\n", (void *)addr);
		return -EILSEQ;
	}

	for (at = decode_from(fn, addr); at < addr; at += insn->length) {
		ret = kprobe_decode_original(insn, buf, at, fn->end);
		if (ret)
			return ret;
	}
	if (at > addr) {
		pr_debug("%pS: inside an instruction\n", (void *)addr);
		return -EILSEQ;
	}

	ret = kprobe_decode_original(insn, buf, addr, fn->end);
	if (!ret) {
		last_decoded.serial = fn->serial;
		last_decoded.addr = addr;
	}

	return ret;
}

/*
 * Instructions that cannot be done elsewhere. Two-byte opcodes have 0x0f00
 * added; an entry is for those whose ModRM byte has @value under @mask.
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
	{ 0xea, 0, 0, refused_far },
	{ 0xf1, 0, 0, refused_trap },
	{ 0xff, 0x38, 0x18, refused_far },		/* call far */
	{ 0xff, 0x38, 0x28, refused_far },		/* jmp far */
	{ 0x0f01, 0xff, 0xc2, refused_switch },		/* vmlaunch */
	{ 0x0f01, 0xff, 0xc3, refused_switch },		/* vmresume */
	{ 0x0f01, 0xff, 0xd8, refused_switch },		/* vmrun */
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

static bool refusal_matches(const struct refusal *r, struct insn *insn)
{
	/* On 32 bits %gs is user space's, and each trap loads %fs. */
	if (IS_ENABLED(CONFIG_X86_32) && r->why == refused_gs)
		return false;

	return (insn->modrm.bytes[0] & r->mask) == r->value;
}

/* ERETU and ERETS, which without their prefix would be CLAC. */
static bool insn_is_fred_return(struct insn *insn)
{
	return insn->opcode.value == 0x010f && insn->modrm.bytes[0] == 0xca &&
	       (kprobe_insn_has_prefix(insn, 0xf2) || kprobe_insn_has_prefix(insn, 0xf3));
}

/* Why @insn must not be probed, or NULL. */
const char *kprobe_refusal_reason(struct insn *insn)
{
	u16 opcode = insn->opcode.bytes[0];
	const struct refusal *r;

	if (insn_has_emulate_prefix(insn))
		return "marked for the hypervisor";
	if (insn_is_rex2(insn))
		return "struct pt_regs lacks its registers";
	if (insn_is_avx(insn) || insn->opcode.nbytes > 2)
		return NULL;
	if (insn_is_fred_return(insn))
		return refused_switch;

	if (insn->opcode.nbytes == 2)
		opcode = opcode << 8 | insn->opcode.bytes[1];
	for (r = refusals; r < refusals + ARRAY_SIZE(refusals) && r->opcode <= opcode; r++) {
		if (r->opcode == opcode && refusal_matches(r, insn))
			return r->why;
	}

	return NULL;
}

/*
 * Before an indirect call the compiler puts "movl; addl; je; ud2" to check the
 * type of the function, 6, 4, 2 and 2 bytes long. Who handles the trap of the
 * ud2 reads the first two instructions, so none of them may be a breakpoint.
 */
bool kprobe_in_cfi_check(unsigned long addr)
{
	return is_cfi_trap(addr + 12) || is_cfi_trap(addr + 6) || is_cfi_trap(addr + 2);
}

/* A lock prefix comes and goes with the second CPU, and leaves one without effect. */
static bool may_lock(struct insn *insn)
{
	return kprobe_insn_has_prefix(insn, 0xf0) || kprobe_insn_has_prefix(insn, 0x3e);
}

static int check_insn(struct kprobe *p, struct insn *insn)
{
	const char *why;

	if (IS_ENABLED(CONFIG_CFI_CLANG) && kprobe_in_cfi_check((unsigned long)p->addr)) {
		pr_debug("%pS: part of a type check\n", p->addr);
		return -EINVAL;
	}

	if (may_lock(insn) && alternatives_text_reserved(p->addr, p->addr + 1)) {
		pr_debug("%pS: rewritten for one CPU or several\n", p->addr);
		return -EINVAL;
	}

	why = kprobe_refusal_reason(insn);
	if (why) {
		pr_debug("%pS: %s\n", p->addr, why);
		return -EOPNOTSUPP;
	}

	return 0;
}

int arch_prepare_kprobe(struct kprobe *p)
{
	u8 buf[MAX_INSN_SIZE];
	struct insn insn;
	int ret;

	lockdep_assert_held(&text_mutex);

	ret = decode_probed(&insn, buf, (unsigned long)p->addr);
	if (ret)
		return ret;

	ret = check_insn(p, &insn);
	if (ret)
		return ret;

	p->opcode = buf[0];
	memset(&p->ainsn, 0, sizeof(p->ainsn));
	p->ainsn.size = insn.length;

	ret = kprobe_prepare_emulation(p, &insn);
	if (ret)
		return ret;

	return kprobe_prepare_copy(p, &insn);
}

void arch_remove_kprobe(struct kprobe *p)
{
	kprobe_remove_copy(p);
}

static bool starts_with_endbr(unsigned long func)
{
	u32 insn;

	if (!IS_ENABLED(CONFIG_X86_KERNEL_IBT))
		return false;

	/* The address is the user's word so far. */
	return !get_kernel_nofault(insn, (u32 *)func) && is_endbr(insn);
}

/*
 * A function that may be the target of an indirect branch begins with ENDBR,
 * and the probe goes behind it: the function's own address and the one behind
 * ENDBR are both its entry.
 */
kprobe_opcode_t *arch_adjust_kprobe_addr(unsigned long addr, unsigned long offset,
					 bool *on_func_entry)
{
	if ((offset == 0 || offset == ENDBR_INSN_SIZE) && starts_with_endbr(addr)) {
		*on_func_entry = true;
		return (kprobe_opcode_t *)(addr + ENDBR_INSN_SIZE);
	}

	*on_func_entry = !offset;

	return (kprobe_opcode_t *)(addr + offset);
}
