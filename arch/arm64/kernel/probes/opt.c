// SPDX-License-Identifier: GPL-2.0-only
/*
 * Detours: the branch that is written in place of a breakpoint, and where it leads.
 *
 * A detour makes room for a struct pt_regs on the stack of the probed code and calls
 * kprobe_detour_entry(), which has the handlers called. Then it does the instruction,
 * as relocate.c has encoded it, and branches to where the original would have gone on.
 * For a post_handler there is a second copy with a second call behind it, as in
 * copy.c; what a breakpoint's trap simulates is simulated here too, so that the
 * post_handler can be called from the first call.
 *
 * The branch takes the place of one instruction, the breakpoint, and B and BRK are
 * among those that the architecture lets one CPU exchange while others execute them.
 * So the jumps of a batch are written one after the other, and then all CPUs are made
 * to fetch anew, once.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/build_bug.h>
#include <linux/context_tracking.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/cacheflush.h>
#include <asm/cpufeature.h>
#include <asm/daifflags.h>
#include <asm/debug-monitors.h>
#include <asm/insn.h>
#include <asm/patching.h>
#include <asm/sysreg.h>

#include "common.h"

/**
 * struct detour - contents of a detour's slot
 * @op: the probe that it belongs to
 * @entry: room for the registers, and the call of kprobe_detour_entry()
 * @copy: takes back the link register and the room, then the instruction
 * @post: the same, then the call of kprobe_detour_post_entry()
 * @behind: the same, then the branch behind the original
 */
struct detour {
	struct optimized_kprobe *op;
	__le32 entry[3];
	__le32 copy[2 + MAX_RELOCATED];
	__le32 post[2 + 1 + 3];
	__le32 behind[2 + 1];
};

static_assert(sizeof(struct detour) == MAX_OPTINSN_SIZE * sizeof(kprobe_opcode_t));

/* entry.S relies on these. */
static_assert(offsetof(struct kprobe, addr) == KPROBE_ADDR);
static_assert(offsetof(struct optimized_kprobe, kp) == 0);
static_assert(offsetof(struct detour, copy) == DETOUR_COPY);
static_assert(offsetof(struct detour, behind) == DETOUR_BEHIND);

/* Words of @copy and @post before the instruction. */
#define UNFRAME		2

#define INSN_BL		BIT(31)		/* makes a BL of a B */

static struct detour *detour_of(const struct optimized_kprobe *op)
{
	return (struct detour *)op->optinsn.insn;
}

static __always_inline unsigned long place_of(const __le32 *place)
{
	return (unsigned long)place;
}

static __always_inline unsigned long op_addr(const struct optimized_kprobe *op)
{
	return (unsigned long)op->kp.addr;
}

/* -- making one -- */

int arch_explain_optimized_kprobe(struct optimized_kprobe *op, char *buf, size_t size)
{
	return kprobe_explain_obstacle(op->optinsn.why, 0, buf, size);
}

/* A breakpoint is as good a target of an indirect branch as BTI, a branch is none. */
static bool is_landing_pad(u32 insn)
{
	bool pad = (insn & 0xffffff3f) == 0xd503241f ||		/* BTI */
		   (insn & 0xffffffbf) == 0xd503233f;		/* PACIASP, PACIBSP */

	return pad && system_supports_bti_kernel();
}

/* ADD or SUB of the room for a struct pt_regs. */
static __le32 insn_move_sp(enum aarch64_insn_adsb_type type)
{
	u32 insn = aarch64_insn_gen_add_sub_imm(AARCH64_INSN_REG_SP, AARCH64_INSN_REG_SP,
						sizeof(struct pt_regs),
						AARCH64_INSN_VARIANT_64BIT, type);

	return cpu_to_le32(insn);
}

/* LDR or STR of the link register from or to there. */
static __le32 insn_move_lr(enum aarch64_insn_ldst_type type)
{
	u32 insn = aarch64_insn_gen_load_store_imm(AARCH64_INSN_REG_LR, AARCH64_INSN_REG_SP,
						   offsetof(struct pt_regs, regs[30]),
						   AARCH64_INSN_SIZE_64, type);

	return cpu_to_le32(insn);
}

static void fill_call(__le32 *image, const __le32 *at, void (*entry)(void))
{
	image[0] = insn_move_sp(AARCH64_INSN_ADSB_SUB);
	image[1] = insn_move_lr(AARCH64_INSN_LDST_STORE_IMM_OFFSET);
	image[2] =
		cpu_to_le32(INSN_BL | kprobe_branch_insn(place_of(at + 2), (unsigned long)entry));
}

static void fill_unframe(__le32 *image)
{
	image[0] = insn_move_lr(AARCH64_INSN_LDST_LOAD_IMM_OFFSET);
	image[1] = insn_move_sp(AARCH64_INSN_ADSB_ADD);
}

static enum detour_obstacle fill_copy(struct detour *image, const struct detour *d,
				      struct kprobe *p)
{
	struct relocation r = {
		.addr = (unsigned long)p->addr,
		.at = place_of(d->copy + UNFRAME),
	};
	enum detour_obstacle obstacle = kprobe_relocate_insn(&r, p->opcode, p->ainsn.api.handler);
	unsigned int i;

	fill_unframe(image->copy);
	for (i = 0; i < r.nr; i++)
		image->copy[UNFRAME + i] = cpu_to_le32(r.insns[i]);

	return obstacle;
}

/* A simulated instruction has no second copy. */
static void fill_post(struct detour *image, const struct detour *d, struct kprobe *p)
{
	if (p->ainsn.api.handler)
		return;

	fill_unframe(image->post);
	image->post[UNFRAME] = cpu_to_le32(p->opcode);
	fill_call(image->post + UNFRAME + 1, d->post + UNFRAME + 1, kprobe_detour_post_entry);
}

/* The branches to the detour and out of it, but for that of the copy. */
static bool all_in_reach(const struct detour *d, struct kprobe *p)
{
	return kprobe_branch_reaches((unsigned long)p->addr, place_of(d->entry)) &&
	       kprobe_branch_reaches(place_of(d->behind + UNFRAME), pc_behind(p)) &&
	       kprobe_branch_reaches(place_of(d->entry), (unsigned long)kprobe_detour_entry) &&
	       kprobe_branch_reaches(place_of(d->behind), (unsigned long)kprobe_detour_post_entry);
}

static enum detour_obstacle fill_detour(struct detour *image, const struct detour *d,
					struct optimized_kprobe *op)
{
	struct kprobe *p = &op->kp;

	if (!all_in_reach(d, p))
		return DETOUR_OUT_OF_REACH;

	memset32((u32 *)image, (__force u32)cpu_to_le32(AARCH64_BREAK_FAULT), MAX_OPTINSN_SIZE);
	image->op = op;
	fill_call(image->entry, d->entry, kprobe_detour_entry);
	fill_post(image, d, p);
	fill_unframe(image->behind);
	image->behind[UNFRAME] =
		cpu_to_le32(kprobe_branch_insn(place_of(d->behind + UNFRAME), pc_behind(p)));

	return fill_copy(image, d, p);
}

/* CPUs are made to fetch this before a jump leads here. */
static void write_detour(struct detour *d, struct detour *image)
{
	size_t i;

	for (i = 0; i < sizeof(*image) / sizeof(u64); i++)
		aarch64_insn_write_literal_u64((u64 *)d + i, ((u64 *)image)[i]);
	caches_clean_inval_pou((unsigned long)d, (unsigned long)(d + 1));
	perf_event_text_poke(d, NULL, 0, image, sizeof(*image));
}

static enum detour_obstacle prepare_detour(struct optimized_kprobe *op)
{
	enum detour_obstacle obstacle;
	struct detour image, *d;

	if (is_landing_pad(op->kp.opcode))
		return DETOUR_LANDING_PAD;

	d = (struct detour *)get_optinsn_slot();
	if (!d)
		return DETOUR_NO_ROOM;

	obstacle = fill_detour(&image, d, op);
	if (obstacle) {
		free_optinsn_slot((kprobe_opcode_t *)d, 0);
		return obstacle;
	}
	write_detour(d, &image);
	op->optinsn.insn = (kprobe_opcode_t *)d;
	kprobe_publish_optinsn_slot(op->optinsn.insn);

	return DETOUR_POSSIBLE;
}

int arch_prepare_optimized_kprobe(struct optimized_kprobe *op, struct kprobe *orig)
{
	op->optinsn.why = prepare_detour(op);
	if (op->optinsn.why == DETOUR_NO_ROOM)
		return -ENOMEM;

	return op->optinsn.why ? -EOPNOTSUPP : 0;
}

int arch_within_optimized_kprobe(struct optimized_kprobe *op, kprobe_opcode_t *addr)
{
	return addr == op->kp.addr;
}

/* -- jumps and breakpoints -- */

static void write_insn(struct optimized_kprobe *op, u32 old, u32 new)
{
	__le32 before = cpu_to_le32(old), after = cpu_to_le32(new);

	aarch64_insn_patch_text_nosync(op->kp.addr, new);
	perf_event_text_poke(op->kp.addr, &before, sizeof(before), &after, sizeof(after));
}

static u32 jump_of(const struct optimized_kprobe *op)
{
	return kprobe_branch_insn(op_addr(op), place_of(detour_of(op)->entry));
}

void arch_optimize_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op, *next;

	/* No CPU may still hold what was in the slots before. */
	kick_all_cpus_sync();
	list_for_each_entry_safe(op, next, oplist, list) {
		write_insn(op, BRK64_OPCODE_KPROBES, jump_of(op));
		list_del_init(&op->list);
	}
	kick_all_cpus_sync();
}

void arch_unoptimize_kprobes(struct list_head *oplist, struct list_head *done_list)
{
	struct optimized_kprobe *op;

	list_for_each_entry(op, oplist, list)
		write_insn(op, jump_of(op), BRK64_OPCODE_KPROBES);
	kick_all_cpus_sync();
	list_splice_tail_init(oplist, done_list);
}

/* -- a hit -- */

/* The bits of PSTATE that a detour restores without an exception. */
#define PSR_FLAGS	(PSR_N_BIT | PSR_Z_BIT | PSR_C_BIT | PSR_V_BIT)

/* A handler may have changed what only the return from an exception can load. */
static __always_inline bool can_stay(const struct pt_regs *regs, unsigned long pstate)
{
	return !((regs->pstate ^ pstate) & ~PSR_FLAGS);
}

/* Go on at one of the copies, if need be by an exception, which takes back the room. */
static __always_inline unsigned long go_on(const __le32 *copy, struct pt_regs *regs,
					   unsigned long pstate)
{
	if (likely(can_stay(regs, pstate)))
		return (unsigned long)copy;
	regs->pc = (unsigned long)(copy + UNFRAME);

	return 0;
}

/*
 * The instruction has been simulated. Where that is what the copy does, or what is
 * behind it, no exception is needed.
 */
static unsigned long go_on_simulated(struct detour *d, struct pt_regs *regs, unsigned long pstate)
{
	unsigned long pc = regs->pc, lr = regs->regs[30];
	struct kprobe *p = &d->op->kp;

	if (!can_stay(regs, pstate))
		return 0;
	if (pc == pc_behind(p))
		return (unsigned long)d->behind;

	/* A post_handler may have changed what the branch depends on. */
	p->ainsn.api.handler(p->opcode, (long)p->addr, regs);
	if (regs->pc == pc && regs->regs[30] == lr && can_stay(regs, pstate))
		return (unsigned long)d->copy;
	regs->pc = pc;
	regs->regs[30] = lr;

	return 0;
}

NOKPROBE_SYMBOL(go_on_simulated);

static noinline unsigned long do_insn_and_call(struct detour *d, struct pt_regs *regs,
					       unsigned long pstate)
{
	struct kprobe *p = &d->op->kp;

	/* The probe stays current until the copy has run, so the hit stays on its CPU. */
	if (!p->ainsn.api.handler) {
		preempt_disable_notrace();
		return go_on(d->post, regs, pstate);
	}

	p->ainsn.api.handler(p->opcode, (long)p->addr, regs);
	hit_finish(p, regs, true);

	return go_on_simulated(d, regs, pstate);
}

NOKPROBE_SYMBOL(do_insn_and_call);

/* A hit, once the probe is current; compare do_hit() of a breakpoint's trap. */
static __always_inline unsigned long do_detour(struct detour *d, struct pt_regs *regs, bool aside)
{
	unsigned long pstate = regs->pstate;
	struct kprobe *p = &d->op->kp;

	if (hit_pre_handler(p, regs)) {
		hit_end(aside);
		return 0;
	}

	/* A user may add or remove the last post_handler at any time. */
	if (unlikely(READ_ONCE(p->post_handler)))
		return do_insn_and_call(d, regs, pstate);

	hit_end(aside);

	return go_on(d->copy, regs, pstate);
}

/* A hit while this CPU handles another, see nested_hit() of a breakpoint's trap. */
static noinline unsigned long nested_detour(struct detour *d, struct pt_regs *regs)
{
	struct kprobe *p = &d->op->kp;

	if (kprobe_hit_nested(p, 0))
		return do_detour(d, regs, true);

	return (unsigned long)d->copy;
}

NOKPROBE_SYMBOL(nested_detour);

static __always_inline unsigned long any_detour(struct detour *d, struct pt_regs *regs)
{
	if (unlikely(kprobe_running()))
		return nested_detour(d, regs);

	hit_begin(&d->op->kp);

	return do_detour(d, regs, false);
}

/* RCU takes this CPU for idle, and no exception has told it otherwise. */
static noinline unsigned long detour_of_idle(struct detour *d, struct pt_regs *regs)
{
	unsigned long place;

	ct_nmi_enter();
	place = any_detour(d, regs);
	ct_nmi_exit();

	return place;
}

NOKPROBE_SYMBOL(detour_of_idle);

/*
 * Some states are kept for a preempted task by the exception that preempts it, and by
 * nothing else: PAN where it is made of TTBR0, and DAIF where interrupts are masked by
 * their priority. There the next exception has to do it.
 */
static __always_inline bool may_preempt(const struct pt_regs *regs)
{
	if (system_uses_ttbr0_pan())
		return false;

	return !system_uses_irq_prio_masking() || !(regs->pstate & DAIF_MASK);
}

static __always_inline void allow_preemption(const struct pt_regs *regs)
{
	if (may_preempt(regs))
		preempt_enable_notrace();
	else
		preempt_enable_no_resched_notrace();
}

/**
 * struct detour_exit - where a hit goes on that cannot stay in its detour
 * @pc: the address
 * @pstate: the state there
 */
struct detour_exit {
	unsigned long pc;
	unsigned long pstate;
};

static DEFINE_PER_CPU(struct detour_exit, detour_exit);

/* With interrupts off until the trap no other hit of this CPU comes between. */
static noinline unsigned long leave_detour(const struct pt_regs *regs)
{
	write_sysreg(read_sysreg(daif) | PSR_I_BIT | PSR_F_BIT, daif);
	raw_cpu_write(detour_exit.pc, regs->pc);
	raw_cpu_write(detour_exit.pstate, regs->pstate);

	return (unsigned long)kprobe_detour_leave;
}

NOKPROBE_SYMBOL(leave_detour);

static __always_inline void save_pmr(struct pt_regs *regs)
{
	if (system_uses_irq_prio_masking())
		regs->pmr_save = read_sysreg_s(SYS_ICC_PMR_EL1);
}

/**
 * kprobe_detour_hit() - the pre_handlers of a hit
 * @detour: the detour that has been entered
 * @regs: registers at the probed instruction
 *
 * Context: kprobe_detour_entry(), which is wherever the probed code is.
 * Return: the part of the detour to go on at, or kprobe_detour_leave().
 */
asmlinkage unsigned long kprobe_detour_hit(struct detour *detour, struct pt_regs *regs)
{
	unsigned long place;

	save_pmr(regs);
	preempt_disable_notrace();
	if (likely(rcu_is_watching_curr_cpu()))
		place = any_detour(detour, regs);
	else
		place = detour_of_idle(detour, regs);
	allow_preemption(regs);

	return likely(place) ? place : leave_detour(regs);
}

NOKPROBE_SYMBOL(kprobe_detour_hit);

static void finish_detour(struct kprobe *p, struct pt_regs *regs)
{
	bool watching = rcu_is_watching_curr_cpu();

	if (unlikely(!watching))
		ct_nmi_enter();
	hit_finish(p, regs, true);
	if (unlikely(!watching))
		ct_nmi_exit();
}

NOKPROBE_SYMBOL(finish_detour);

/**
 * kprobe_detour_post() - the post_handlers of a hit
 * @detour: the detour, whose second copy has run
 * @regs: registers behind the probed instruction
 *
 * Context: kprobe_detour_post_entry(), preemption disabled by do_insn_and_call().
 * Return: the part of the detour to go on at, or kprobe_detour_leave().
 */
asmlinkage unsigned long kprobe_detour_post(struct detour *detour, struct pt_regs *regs)
{
	struct kprobe *p = &detour->op->kp;
	unsigned long pstate = regs->pstate;

	save_pmr(regs);
	finish_detour(p, regs);
	allow_preemption(regs);

	if (regs->pc == pc_behind(p) && can_stay(regs, pstate))
		return (unsigned long)detour->behind;

	return leave_detour(regs);
}

NOKPROBE_SYMBOL(kprobe_detour_post);

/* The bits of PSTATE that entry.S saves, and BTYPE, which a simulated branch sets. */
#define PSR_OF_DETOUR	(PSR_FLAGS | DAIF_MASK | PSR_PAN_BIT | PSR_BTYPE_MASK)

/**
 * kprobe_detour_load() - go where a hit goes that cannot stay in its detour
 * @regs: registers at a breakpoint
 *
 * Context: The exception of the breakpoint.
 * Return: whether it was that of kprobe_detour_leave().
 */
bool kprobe_detour_load(struct pt_regs *regs)
{
	unsigned long pstate = raw_cpu_read(detour_exit.pstate);

	if (regs->pc != (unsigned long)kprobe_detour_leave + DETOUR_LEAVE_BRK)
		return false;

	regs->pc = raw_cpu_read(detour_exit.pc);
	regs->pstate &= ~PSR_OF_DETOUR;
	regs->pstate |= pstate & PSR_OF_DETOUR;

	return true;
}

NOKPROBE_SYMBOL(kprobe_detour_load);

/**
 * kprobe_detour_leave_copy() - move a fault in a detour's copy to the probed instruction
 * @regs: registers at the fault, in the kernel
 *
 * Context: An exception, before anything is done about it.
 */
void kprobe_detour_leave_copy(struct pt_regs *regs)
{
	struct detour *d = (struct detour *)kprobe_optinsn_slot_of(regs->pc);
	unsigned long pc = regs->pc;

	if (likely(!d))
		return;

	if (pc >= (unsigned long)(d->copy + UNFRAME) && pc < (unsigned long)d->post) {
		regs->pc = op_addr(d->op);
	} else if (pc == (unsigned long)(d->post + UNFRAME)) {
		regs->pc = op_addr(d->op);
		hit_end(true);
		preempt_enable_no_resched_notrace();
	}
}

NOKPROBE_SYMBOL(kprobe_detour_leave_copy);
