// SPDX-License-Identifier: GPL-2.0-only
/*
 * Optimized probes: writing jumps in place of breakpoints, and running detours.
 *
 * A jump is two instructions, but no task can be inside of it or of its region, see
 * region.c, and for kernels with preemption preempt.c. So the whole jump is written
 * at once while all CPUs are stopped, and so is the breakpoint that replaces it.
 *
 * A detour is entered with preemption and interrupts as they are in the probed
 * code. After the handlers it runs the copies. If a handler wants to continue
 * elsewhere, or has changed a register that the detour cannot restore, an ebreak
 * follows: the return from its trap loads all registers.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/build_bug.h>
#include <linux/cleanup.h>
#include <linux/context_tracking.h>
#include <linux/execmem.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
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
/* window.h relies on this. */
static_assert(MAX_OPTIMIZED_LENGTH / sizeof(u16) - 1 == COVER);

/* AUIPC and JALR reach the module area from all text, and all text from there. */
void *alloc_optinsn_page(void)
{
	void *page = execmem_alloc(EXECMEM_DEFAULT, PAGE_SIZE);

	if (!page)
		return NULL;

	/* Zeros are an illegal instruction. */
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

/* Writing the jump, or fencing its region, flushes all instruction caches later. */
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

/* The caller holds text_mutex, and locks that keep reservations stable, see kprobe_check(). */
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

/* Fill @parcels with the breakpoint and the rest of the bytes that the jump replaced. */
static void fill_breakpoint(struct kprobe *p, u16 *parcels)
{
	u32 ebreak = kprobe_ebreak_for(p->opcode);

	memcpy(parcels, optinsn_of(p)->original, MAX_OPTIMIZED_LENGTH);
	memcpy(parcels, &ebreak, insn_len(ebreak));
}

/* Called while all CPUs are stopped. */
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

/* Called while all CPUs are stopped. */
static void write_breakpoints(struct list_head *oplist)
{
	u16 parcels[MAX_OPTIMIZED_LENGTH / sizeof(u16)];
	struct optimized_kprobe *op;

	list_for_each_entry(op, oplist, list) {
		fill_breakpoint(&op->kp, parcels);
		WARN_ON_ONCE(patch_insn_write(op->kp.addr, parcels, sizeof(parcels)));
		WRITE_ONCE(op->optinsn.jump, false);
		WRITE_ONCE(op->optinsn.fenced, false);
	}
}

void arch_optimize_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op, *next;

	kprobe_write_text(write_jumps, oplist);
	list_for_each_entry_safe(op, next, oplist, list)
		list_del_init(&op->list);
}

/* Replace the jumps by the breakpoints of the probes. */
void arch_unoptimize_kprobes(struct list_head *oplist, struct list_head *done_list)
{
	kprobe_write_text(write_breakpoints, oplist);
	list_splice_tail_init(oplist, done_list);
}

/* Return whether the jump covers its region, or will after a grace period. */
static __always_inline bool are_covered(const struct arch_optimized_insn *optinsn)
{
	return READ_ONCE(optinsn->jump) ||
	       (IS_ENABLED(CONFIG_PREEMPTION) && READ_ONCE(optinsn->fenced));
}

/* Find the probe whose region contains @addr, but does not begin there. */
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

/* Return whether a jump may start in the three parcels in front of @addr. */
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
 * @insn: gets the instruction
 * @addr: its address, not that of the probe
 *
 * Context: Process context, text_mutex held.
 * Return: whether a jump covers @addr.
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
	/* The second half of the last instruction may be behind the jump. */
	if (++at == ARRAY_SIZE(optinsn_of(p)->original))
		parcel = (u16 *)addr;
	*insn |= (u32)parcel[1] << 16;

	return true;
}

/* If a handler wants to continue inside a region, continue at the copy instead. */
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
 * A fault in a copy is reported at the original if that is in an exception table,
 * because its handler may sleep or fix it up. If retried, it enters the jump again. All
 * other faults are fatal, or are resolved without sleeping and return to the copy.
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

/* Translate an address in the copies of a detour to that of the original instruction. */
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

/* Set @insns to ftrace's instructions, if a jump covers the site. */
void kprobe_detour_site_read(struct kprobe *p, u32 *insns)
{
	if (optinsn_of(p)->jump)
		memcpy(insns, optinsn_of(p)->original, MAX_OPTIMIZED_LENGTH);
}

NOKPROBE_SYMBOL(kprobe_detour_site_read);

/*
 * ftrace is about to write @insns to its site, while no task is in the detour.
 * If the site has a jump, return true with the jump in @insns, so that ftrace rewrites it.
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

/* Handle a hit that interrupts another on this CPU. */
static int nested_detour_hit(struct kprobe *p, struct pt_regs *regs, unsigned int trap_count)
{
	int ret;

	if (!kprobe_hit_nested(p, trap_count))
		return 0;

	ret = kprobe_call_pre_handler(p, regs);
	kprobe_hit_pop();

	return ret;
}

NOKPROBE_SYMBOL(nested_detour_hit);

static __always_inline int any_detour_hit(struct kprobe *p, struct pt_regs *regs,
					  unsigned int trap_count)
{
	int ret;

	if (unlikely(kprobe_running()))
		return nested_detour_hit(p, regs, trap_count);

	kprobe_hit_begin(p);
	ret = kprobe_call_pre_handler(p, regs);
	reset_current_kprobe();

	return ret;
}

/* RCU does not watch this CPU: a detour runs without the entry code of a trap. */
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
 * kprobe_detour_entry() calls this. Returns 0 to continue in the detour, 1 for a trap.
 *
 * If the kernel itself uses vector registers, only an exception saves them, for a handler
 * that uses them and for a task that is preempted. In this case the trap of
 * kprobe_detour_trap() handles the hit.
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

/*
 * Load the registers that the detour has saved. An assignment may become a call of
 * memcpy(), which may have a probe.
 */
static void load_regs(struct pt_regs *regs)
{
	const unsigned long *from = (unsigned long *)regs->sp;
	unsigned long *to = (unsigned long *)regs;
	unsigned int i;

	for (i = 0; i < sizeof(*regs) / sizeof(*to); i++)
		WRITE_ONCE(to[i], from[i]);
}

NOKPROBE_SYMBOL(load_regs);

/* Handle a hit deferred to the trap. s1 has the return address of the detour's call. */
static void detour_hit_in_trap(struct pt_regs *regs)
{
	struct detour *detour = container_of((u8 *)regs->s1 - DETOUR_CALL, struct detour, code[0]);

	load_regs(regs);
	if (any_detour_hit(detour->kp, regs, KPROBE_TRAP_COUNT))
		kprobe_detour_follow(regs);
	else
		regs->epc = detour_copies(optinsn_of(detour->kp));
}

NOKPROBE_SYMBOL(detour_hit_in_trap);

/* Handle the ebreak of kprobe_detour_trap(); return false for any other. */
bool kprobe_detour_is_elsewhere(struct pt_regs *regs)
{
	if (regs->epc != (unsigned long)kprobe_detour_trap)
		return false;

	if (unlikely(kprobe_vectors_in_use())) {
		detour_hit_in_trap(regs);
		return true;
	}
	load_regs(regs);
	kprobe_detour_follow(regs);

	return true;
}

NOKPROBE_SYMBOL(kprobe_detour_is_elsewhere);
