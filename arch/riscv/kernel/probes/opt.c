// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps in place of breakpoints: when they are written, and what happens when
 * one is taken.
 *
 * A jump is not one instruction, but nobody can be inside of it or of what it
 * covers, see region.c, and for kernels with preemption preempt.c. So all of it is
 * written at once, while all CPUs stand still, and so is the breakpoint that comes in
 * its place.
 *
 * A detour is entered with preemption and interrupts as they are in the probed
 * code. From the handlers it goes on to the copies. A handler that wants to go on
 * elsewhere, or has changed what no detour can restore, is obeyed by a breakpoint:
 * the return from a trap loads all there is.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/build_bug.h>
#include <linux/cleanup.h>
#include <linux/context_tracking.h>
#include <linux/execmem.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/set_memory.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/patch.h>

#include "common.h"
#include "window.h"

/* entry.S relies on these. */
static_assert(offsetof(struct kprobe, addr) == KPROBE_ADDR);
static_assert(offsetof(struct detour, code) == sizeof(long));
/* So does window.h on this. */
static_assert(MAX_OPTIMIZED_LENGTH / sizeof(u16) - 1 == COVER);

/* From the module area there is a way to all text, and from all text to there. */
void *alloc_optinsn_page(void)
{
	void *page = execmem_alloc(EXECMEM_DEFAULT, PAGE_SIZE);

	if (!page)
		return NULL;

	/* Zeros are no instruction. */
	memset(page, 0, PAGE_SIZE);
	if (set_memory_rox((unsigned long)page, 1)) {
		execmem_free(page);
		return NULL;
	}

	return page;
}

int arch_explain_optimized_kprobe(struct optimized_kprobe *op, char *buf, size_t size)
{
	return kprobe_explain_obstacle(op->optinsn.why, op->optinsn.why_at, buf, size);
}

static int obstruct(struct optimized_kprobe *op, enum detour_obstacle why, unsigned int at)
{
	op->optinsn = (struct arch_optimized_insn){ .why = why, .why_at = at };

	return why == DETOUR_NO_ROOM ? -ENOMEM : -EOPNOTSUPP;
}

/* Keep the bytes that the jump replaces, without the breakpoints of probes in them. */
static void keep_originals(struct arch_optimized_insn *optinsn, const struct region *region)
{
	u16 originals[REGION_INSNS + 1];
	const struct region_insn *ri;

	for (ri = region->insns; ri < region->insns + region->nr; ri++)
		memcpy((void *)originals + ri->at, &ri->insn, insn_len(ri->insn));
	memcpy(optinsn->original, originals, sizeof(optinsn->original));
}

/* Other CPUs see it when they get to see the jump. */
static int write_detour(struct optimized_kprobe *op, const struct region *region)
{
	unsigned long slot = (unsigned long)op->optinsn.insn;
	struct detour image = { .kp = &op->kp };

	if (!kprobe_make_detour(&image, op->optinsn.copy_at, region, slot))
		return -ERANGE;
	if (patch_insn_write((void *)slot, &image, sizeof(image)))
		return -EFAULT;

	return 0;
}

/* With text_mutex held, and what keeps the reservations of others as they are. */
int arch_prepare_optimized_kprobe(struct optimized_kprobe *op, struct kprobe *orig)
{
	struct arch_optimized_insn *optinsn = &op->optinsn;
	enum detour_obstacle obstacle;
	struct region region;

	obstacle = kprobe_plan_region(&region, (unsigned long)op->kp.addr);
	if (obstacle)
		return obstruct(op, obstacle, region.why_at);

	*optinsn = (struct arch_optimized_insn){
		.reg = region.in,
		.extable = region.extable,
		.site = region.site,
	};
	keep_originals(optinsn, &region);
	optinsn->insn = get_optinsn_slot();
	if (!optinsn->insn)
		return obstruct(op, DETOUR_NO_ROOM, 0);
	if (write_detour(op, &region)) {
		free_optinsn_slot(optinsn->insn, 0);
		return obstruct(op, DETOUR_OUT_OF_REACH, 0);
	}
	kprobe_publish_optinsn_slot(optinsn->insn);

	return 0;
}

int arch_within_optimized_kprobe(struct optimized_kprobe *op, kprobe_opcode_t *addr)
{
	return addr >= op->kp.addr && (void *)addr < (void *)op->kp.addr + MAX_OPTIMIZED_LENGTH;
}

static bool fill_jump(struct kprobe *p, u32 *jump)
{
	const struct arch_optimized_insn *optinsn = optinsn_of(p);

	return kprobe_make_jump(jump, optinsn->reg, (unsigned long)p->addr,
				(unsigned long)detour_of(optinsn)->code);
}

NOKPROBE_SYMBOL(fill_jump);

/* The breakpoint of the probe, and behind it what the jump has replaced. */
static void fill_breakpoint(struct kprobe *p, u16 *parcels)
{
	u32 ebreak = kprobe_ebreak_for(p->opcode);

	memcpy(parcels, optinsn_of(p)->original, MAX_OPTIMIZED_LENGTH);
	memcpy(parcels, &ebreak, insn_len(ebreak));
}

/* Called while all CPUs stand still. */
static void write_jumps(struct list_head *oplist)
{
	struct optimized_kprobe *op;
	u32 jump[2];

	list_for_each_entry(op, oplist, list) {
		if (WARN_ON_ONCE(!fill_jump(&op->kp, jump)))
			continue;
		WARN_ON_ONCE(patch_insn_write(op->kp.addr, jump, sizeof(jump)));
		WRITE_ONCE(op->optinsn.jump, true);
	}
}

/* Called while all CPUs stand still. */
static void write_breakpoints(struct list_head *oplist)
{
	u16 parcels[MAX_OPTIMIZED_LENGTH / sizeof(u16)];
	struct optimized_kprobe *op;

	list_for_each_entry(op, oplist, list) {
		fill_breakpoint(&op->kp, parcels);
		WARN_ON_ONCE(patch_insn_write(op->kp.addr, parcels, sizeof(parcels)));
		WRITE_ONCE(op->optinsn.jump, false);
		WRITE_ONCE(op->optinsn.guarded, false);
	}
}

void arch_optimize_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op, *next;

	kprobe_write_text(write_jumps, oplist);
	list_for_each_entry_safe(op, next, oplist, list)
		list_del_init(&op->list);
}

/* Leaves the breakpoints of the probes in place. */
void arch_unoptimize_kprobes(struct list_head *oplist, struct list_head *done_list)
{
	kprobe_write_text(write_breakpoints, oplist);
	list_splice_tail_init(oplist, done_list);
}

/* Does a jump cover the instructions, or will it as soon as nobody is there any more? */
static __always_inline bool are_covered(const struct arch_optimized_insn *optinsn)
{
	return READ_ONCE(optinsn->jump) ||
	       (IS_ENABLED(CONFIG_PREEMPTION) && READ_ONCE(optinsn->guarded));
}

/* The probe whose jump covers @addr, or will soon, which is not its first byte. */
static struct kprobe *covering_probe(unsigned long addr)
{
	struct kprobe *p;
	unsigned int at;

	for (at = 2; at < MAX_OPTIMIZED_LENGTH; at += 2) {
		p = get_kprobe((kprobe_opcode_t *)(addr - at));
		if (p && are_covered(optinsn_of(p)))
			return p;
	}

	return NULL;
}

NOKPROBE_SYMBOL(covering_probe);

#define AUIPC_MASK	0x7f
#define AUIPC_MATCH	0x17

/* May one of the three parcels in front of @addr be the start of a jump? */
static bool may_be_covered(unsigned long addr)
{
	u16 parcels[3];

	if (copy_from_kernel_nofault(parcels, (void *)addr - sizeof(parcels), sizeof(parcels)))
		return true;

	return (parcels[0] & AUIPC_MASK) == AUIPC_MATCH ||
	       (parcels[1] & AUIPC_MASK) == AUIPC_MATCH ||
	       (parcels[2] & AUIPC_MASK) == AUIPC_MATCH;
}

/**
 * kprobe_read_covered() - read an instruction that a jump has replaced
 * @insn: set to it
 * @addr: where it was, not the first one
 *
 * Context: Process context, text_mutex held.
 * Return: whether there is a jump.
 */
bool kprobe_read_covered(u32 *insn, unsigned long addr)
{
	const u16 *parcel;
	struct kprobe *p;
	unsigned int at;

	if (!may_be_covered(addr))
		return false;

	guard(preempt_notrace)();
	p = covering_probe(addr);
	if (!p)
		return false;

	at = (addr - (unsigned long)p->addr) / sizeof(u16);
	parcel = &optinsn_of(p)->original[at];
	*insn = *parcel;
	if (insn_len(*insn) == 2)
		return true;
	/* The last one may have its second half behind the jump. */
	if (++at == ARRAY_SIZE(optinsn_of(p)->original))
		parcel = (u16 *)addr;
	*insn |= (u32)parcel[1] << 16;

	return true;
}

/* A handler may want to go on inside of what a jump covers: the copy of that. */
void kprobe_detour_follow(struct pt_regs *regs)
{
	struct kprobe *p = covering_probe(regs->epc);
	unsigned int at, copy;

	if (likely(!p))
		return;

	at = (regs->epc - (unsigned long)p->addr) / sizeof(u16);
	copy = optinsn_of(p)->copy_at[at];
	if (optinsn_of(p)->site && at == 2)
		copy = DETOUR_ENTRY;
	if (copy)
		regs->epc = (unsigned long)detour_of(optinsn_of(p))->code + copy;
}

NOKPROBE_SYMBOL(kprobe_detour_follow);

/*
 * A fault in a copy whose original is in an exception table is moved there: it
 * may sleep, and it may be fixed up. Coming back it finds the jump. All other
 * faults are fatal, or are over at once and come back to the copy.
 */
void kprobe_detour_leave_copy(struct pt_regs *regs)
{
	struct detour *detour = (struct detour *)kprobe_optinsn_slot_of(regs->epc);

	if (likely(!detour) || !optinsn_of(detour->kp)->extable)
		return;

	if (regs->epc == (unsigned long)detour->code + DETOUR_ENTRY)
		regs->epc = (unsigned long)detour->kp->addr;
}

NOKPROBE_SYMBOL(kprobe_detour_leave_copy);

/* The instruction whose copy is at @pc or begins before it, if that is in a detour. */
unsigned long kprobe_detour_insn_pc(unsigned long pc)
{
	struct detour *detour = (struct detour *)kprobe_optinsn_slot_of(pc);
	const struct arch_optimized_insn *optinsn;
	unsigned long code;
	unsigned int at;

	if (likely(!detour))
		return pc;

	code = (unsigned long)detour->code;
	if (pc < code + DETOUR_ENTRY)
		return pc;

	optinsn = optinsn_of(detour->kp);
	for (at = MAX_OPTIMIZED_LENGTH / 2; at--;) {
		if (optinsn->copy_at[at] && pc >= code + optinsn->copy_at[at])
			return (unsigned long)detour->kp->addr + 2 * at;
	}

	return (unsigned long)detour->kp->addr;
}

NOKPROBE_SYMBOL(kprobe_detour_insn_pc);

/* What ftrace would find at its site if there were no jump. */
void kprobe_detour_site_read(struct kprobe *p, u32 *insns)
{
	if (optinsn_of(p)->jump)
		memcpy(insns, optinsn_of(p)->original, MAX_OPTIMIZED_LENGTH);
}

NOKPROBE_SYMBOL(kprobe_detour_site_read);

/*
 * ftrace writes @insns to its site, and nobody is in the detour. Returns whether
 * the jump is to stay there in place of them, which is in @insns then.
 */
bool kprobe_detour_site_write(struct kprobe *p, u32 *insns)
{
	struct arch_optimized_insn *optinsn = optinsn_of(p);
	unsigned long addr = (unsigned long)p->addr;
	u8 *end;
	u32 jump[2];

	if (!optinsn->site || !optinsn->insn)
		return false;

	memcpy(optinsn->original, insns, MAX_OPTIMIZED_LENGTH);
	end = detour_of(optinsn)->code + SITE_JUMP;
	WARN_ON_ONCE(!kprobe_make_site_jump(jump, (unsigned long)end, addr, insns));
	WARN_ON_ONCE(patch_insn_write(end, jump, sizeof(jump)));
	if (!optinsn->jump)
		return false;

	fill_jump(p, insns);

	return true;
}

NOKPROBE_SYMBOL(kprobe_detour_site_write);

/* A hit while this CPU handles another. */
static int nested_detour_hit(struct kprobe *p, struct pt_regs *regs, unsigned int trap_count)
{
	int ret;

	if (!kprobe_hit_nested(p, trap_count))
		return 0;

	ret = hit_pre_handler(p, regs);
	kprobe_hit_resume();

	return ret;
}

NOKPROBE_SYMBOL(nested_detour_hit);

static __always_inline int any_detour_hit(struct kprobe *p, struct pt_regs *regs,
					  unsigned int trap_count)
{
	int ret;

	if (unlikely(kprobe_running()))
		return nested_detour_hit(p, regs, trap_count);

	hit_begin(p);
	ret = hit_pre_handler(p, regs);
	reset_current_kprobe();

	return ret;
}

/* RCU takes this CPU for idle, and no trap has told it otherwise. */
static noinline int detour_hit_of_idle(struct kprobe *p, struct pt_regs *regs)
{
	int ret;

	ct_nmi_enter();
	ret = any_detour_hit(p, regs, 0);
	ct_nmi_exit();

	return ret;
}

NOKPROBE_SYMBOL(detour_hit_of_idle);

/*
 * From kprobe_detour_entry(). Returns 0 to go on in the detour.
 *
 * Where the kernel itself uses vector registers, an exception has to keep them, for a
 * handler that uses them and for a task that is preempted. There the hit waits for the
 * trap.
 */
__visible int kprobe_detour_hit(struct kprobe *p, struct pt_regs *regs)
{
	if (unlikely(kprobe_vectors_in_use()))
		return 1;

	guard(preempt_notrace)();
	if (unlikely(!rcu_is_watching_curr_cpu()))
		return detour_hit_of_idle(p, regs);

	return any_detour_hit(p, regs, 0);
}

NOKPROBE_SYMBOL(kprobe_detour_hit);

/* A hit that had to wait for the trap. s1 has the return address of the detour's call. */
static void detour_hit_in_trap(struct pt_regs *regs)
{
	struct detour *detour = container_of((u8 *)regs->s1 - DETOUR_CALL, struct detour, code[0]);

	*regs = *(struct pt_regs *)regs->sp;
	if (any_detour_hit(detour->kp, regs, KPROBE_TRAP_COUNT))
		kprobe_detour_follow(regs);
	else
		regs->epc = detour_copies(optinsn_of(detour->kp));
}

NOKPROBE_SYMBOL(detour_hit_in_trap);

/* Is this the breakpoint by which a detour is left for elsewhere? Then obey it. */
bool kprobe_detour_is_elsewhere(struct pt_regs *regs)
{
	if (regs->epc != (unsigned long)kprobe_detour_trap)
		return false;

	if (unlikely(kprobe_vectors_in_use())) {
		detour_hit_in_trap(regs);
		return true;
	}
	*regs = *(struct pt_regs *)regs->sp;
	kprobe_detour_follow(regs);

	return true;
}

NOKPROBE_SYMBOL(kprobe_detour_is_elsewhere);
