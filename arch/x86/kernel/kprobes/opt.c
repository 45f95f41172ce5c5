// SPDX-License-Identifier: GPL-2.0-only
/*
 * Detours: the jump that is written at a probe, and where it leads.
 *
 * A detour begins with a call of kprobe_detour_entry(), which saves the
 * registers and has the handlers called. On 64 bits it is inside the detour that
 * struct pt_regs is begun and ended, because there the stack pointer is restored
 * last and can be any. Behind it are copies of the instructions that the jump
 * covers, and a jump behind the last of them. To the copies nothing
 * shows that they are elsewhere: what depends on the place is encoded anew, see
 * emit_insn(). A call in particular pushes the address behind the original, so
 * nobody sleeps with the address of a detour on the stack. A jump that begins before
 * its probe leads to copies of what is before it, which end in a jump to the call.
 *
 * The text goes from breakpoint to jump and back in steps that every CPU has seen
 * before the next is made. There is a breakpoint at the start, and one wherever
 * region.c asks for one, while anything else changes.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/build_bug.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/set_memory.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "common.h"

#define CS_PREFIX	0x2e
#define PUSH_IMM8	0x6a
#define PUSH_IMM32	0x68
#define JCC32_INSN_SIZE	6
#define LOOP_OVER_SIZE	(JMP8_INSN_SIZE + JMP32_INSN_SIZE)
#define PUSH_IMM32_SIZE	5
/* The CPU may run on behind a jump or a return that it has not decoded yet. */
#define STOP_SIZE	IS_ENABLED(CONFIG_MITIGATION_SLS)

/**
 * struct detour - contents of a detour's slot
 * @op: the probe that it belongs to
 * @code: the frame and the call, copies and jump back
 */
struct detour {
	struct optimized_kprobe *op;
	u8 code[MAX_OPTINSN_SIZE - sizeof(long)];
};

static_assert(sizeof(struct detour) == MAX_OPTINSN_SIZE);

/* What entry.S knows. */
static_assert(offsetof(struct kprobe, addr) == KPROBE_ADDR);
static_assert(offsetof(struct kprobe, pre_handler) == KPROBE_PRE_HANDLER);
static_assert(offsetof(struct kprobe, callee) == KPROBE_CALLEE);
static_assert(offsetof(struct kprobe_ctlblk, context) == KPROBE_CONTEXT);
static_assert(offsetof(struct pcpu_hot, preempt_count) == PCPU_PREEMPT_COUNT);

/* The most bytes before a probe at which a jump begins. Never falls. */
static unsigned int lead_max;

unsigned int arch_jump_lead(const struct optimized_kprobe *op)
{
	return op->optinsn.lead;
}

/* Pairs with the release in note_lead(): 0 is right as long as no detour has another. */
unsigned int arch_jump_lead_max(void)
{
	return smp_load_acquire(&lead_max);
}

NOKPROBE_SYMBOL(arch_jump_lead_max);

static unsigned long jump_addr(struct kprobe *p)
{
	return (unsigned long)p->addr - optinsn_of(p)->lead;
}

NOKPROBE_SYMBOL(jump_addr);

/**
 * struct emitter - a detour under construction
 * @image: what will be in the slot
 * @slot: where that is
 * @pos: offset of the next byte
 * @addr: the original of the instruction that is being copied
 */
struct emitter {
	u8 image[MAX_OPTINSN_SIZE];
	u8 *slot;
	unsigned int pos;
	unsigned long addr;
};

static unsigned int copied_size(const struct region_insn *ri)
{
	switch (ri->kind) {
	case REGION_JCC:
		return JCC32_INSN_SIZE;
	case REGION_JMP:
	case REGION_END_THUNK:
		return JMP32_INSN_SIZE + STOP_SIZE;
	case REGION_LOOP:
		return ri->len + LOOP_OVER_SIZE;
	case REGION_CALL:
		return PUSH_IMM32_SIZE + JMP32_INSN_SIZE;
	case REGION_CALL_THUNK:
		return PUSH_IMM32_SIZE + JMP32_INSN_SIZE + STOP_SIZE;
	case REGION_CALL_INDIRECT:
		return PUSH_IMM32_SIZE + ri->len + STOP_SIZE;
	case REGION_END:
		return ri->len + STOP_SIZE;
	case REGION_PADDING:
		return 0;
	default:
		return ri->len;
	}
}

/* Frame and call, as the detour begins with. */
#define POST_CALL_SIZE	(DETOUR_RETURN - sizeof(long))

/*
 * The post way ends at the end of the slot. Of what is emulated there is nothing but its
 * end. What leaves the region in another way has none. @end is where the copies end.
 */
static unsigned int post_way(struct kprobe *p, const struct region_insn *ri, unsigned int end)
{
	unsigned int size = 0;

	if (post_takes_copy(p)) {
		if (ri->kind != REGION_PLAIN)
			return 0;
		size = DETOUR_UNFRAME + ri->len + POST_CALL_SIZE;
	}

	return end + size <= DETOUR_POST_RETURN ? DETOUR_POST_RETURN - size : 0;
}

/* The copies of the instructions in [@ri, @end) begin at @pos. Returns where they end. */
static unsigned int lay_out_copies(struct arch_optimized_insn *optinsn, unsigned int pos,
				   const struct region_insn *ri, const struct region_insn *end)
{
	for (; ri < end; ri++) {
		if (ri->at < MAX_OPTIMIZED_LENGTH && ri->kind != REGION_PADDING)
			optinsn->copy_at[ri->at] = pos;
		pos += copied_size(ri);
	}

	return pos;
}

/* Say where each copy will be. Returns false when they need too much room. */
static bool lay_out(struct optimized_kprobe *op, const struct region *region)
{
	struct arch_optimized_insn *optinsn = &op->optinsn;
	const struct region_insn *probed = region->insns + region->probed;
	unsigned int pos;

	memset(optinsn->copy_at, 0, sizeof(optinsn->copy_at));
	pos = lay_out_copies(optinsn, DETOUR_COPIES, probed, region->insns + region->nr);
	optinsn->back = pos;
	pos += JMP32_INSN_SIZE;

	optinsn->enter = 0;
	if (region->lead) {
		pos = lay_out_copies(optinsn, pos, region->insns, probed);
		optinsn->enter = pos;
		pos += JMP8_INSN_SIZE;
	}

	optinsn->post = post_way(&op->kp, probed, pos);
	optinsn->lead = region->lead;
	optinsn->len = region->len;
	optinsn->traps = region->traps;
	optinsn->extable = region->extable;
	optinsn->calls = region->calls;
	optinsn->why = DETOUR_POSSIBLE;
	optinsn->why_at = 0;

	return pos <= MAX_OPTINSN_SIZE;
}

static void emit_byte(struct emitter *e, u8 byte)
{
	e->image[e->pos++] = byte;
}

static void emit_u32(struct emitter *e, u32 value)
{
	memcpy(e->image + e->pos, &value, sizeof(value));
	e->pos += sizeof(value);
}

/* The operand of a branch to @target, which ends an instruction. */
static int emit_rel32(struct emitter *e, unsigned long target)
{
	long distance = (long)target - (long)(e->slot + e->pos + sizeof(s32));

	emit_u32(e, distance);

	return fits_rel32(distance) ? 0 : -ERANGE;
}

static int emit_jmp(struct emitter *e, unsigned long target)
{
	emit_byte(e, JMP32_INSN_OPCODE);

	return emit_rel32(e, target);
}

static int emit_copy(struct emitter *e, struct insn *insn)
{
	u8 *copy = e->image + e->pos;
	int ret;

	memcpy(copy, insn->kaddr, insn->length);
	ret = rebase_operand(copy, e->slot + e->pos, e->addr, insn);
	e->pos += insn->length;

	return ret;
}

static u8 condition_of(struct insn *insn)
{
	return insn->opcode.bytes[insn->opcode.nbytes - 1] & 0xf;
}

/* Behind what does not go on to the next. */
static int emit_stop(struct emitter *e)
{
	if (STOP_SIZE)
		emit_byte(e, INT3_INSN_OPCODE);

	return 0;
}

/* The branch goes over a short jump, to a long one; otherwise that is skipped. */
static int emit_loop(struct emitter *e, struct insn *insn, unsigned long target)
{
	emit_copy(e, insn);
	e->image[e->pos - 1] = JMP8_INSN_SIZE;
	emit_byte(e, JMP8_INSN_OPCODE);
	emit_byte(e, JMP32_INSN_SIZE);

	return emit_jmp(e, target);
}

static int emit_push(struct emitter *e, unsigned long value)
{
	emit_byte(e, PUSH_IMM32);
	emit_u32(e, value);

	return fits_rel32(value) ? 0 : -ERANGE;
}

/* CALL becomes JMP, which is two further in the same group of opcodes. */
static int emit_call_indirect(struct emitter *e, struct insn *insn, unsigned long behind)
{
	unsigned int modrm;
	int ret;

	ret = emit_push(e, behind);
	modrm = e->pos + insn_offset_modrm(insn);
	ret = ret ?: emit_copy(e, insn);
	e->image[modrm] += 2 << 3;

	return ret ?: emit_stop(e);
}

static int emit_insn(struct emitter *e, const struct region_insn *ri, struct insn *insn)
{
	unsigned long behind = e->addr + ri->len;
	unsigned long target = behind + insn->immediate.value;

	switch (ri->kind) {
	case REGION_JCC:
		emit_byte(e, 0x0f);
		emit_byte(e, 0x80 | condition_of(insn));
		return emit_rel32(e, target);
	case REGION_JMP:
		return emit_jmp(e, target) ?: emit_stop(e);
	case REGION_LOOP:
		return emit_loop(e, insn, target);
	case REGION_CALL:
		return emit_push(e, behind) ?: emit_jmp(e, target);
	case REGION_CALL_INDIRECT:
		return emit_call_indirect(e, insn, behind);
	case REGION_CALL_THUNK:
		return emit_push(e, behind) ?: emit_jmp(e, copy_thunk(insn)) ?: emit_stop(e);
	case REGION_END:
		return emit_copy(e, insn) ?: emit_stop(e);
	case REGION_END_THUNK:
		return emit_jmp(e, copy_thunk(insn)) ?: emit_stop(e);
	case REGION_PADDING:
		return 0;
	default:
		return emit_copy(e, insn);
	}
}

static int emit_original(struct emitter *e, const struct region *region,
			 const struct region_insn *ri)
{
	u8 buf[MAX_INSN_SIZE];
	struct insn insn;

	e->addr = region->addr + ri->at;

	return decode_original(&insn, buf, e->addr, region->end) ?: emit_insn(e, ri, &insn);
}

/* The jump is one in the slot, to @pos there. */
static void emit_jmp8(struct emitter *e, unsigned int pos)
{
	emit_byte(e, JMP8_INSN_OPCODE);
	emit_byte(e, pos - (e->pos + 1));
}

/* The copies from the probed instruction on, and then those of what is before it. */
static int emit_region(struct emitter *e, const struct region *region)
{
	const struct region_insn *ri, *probed = region->insns + region->probed;
	int ret = 0;

	for (ri = probed; !ret && ri < region->insns + region->nr; ri++)
		ret = emit_original(e, region, ri);
	ret = ret ?: emit_jmp(e, region->addr + region->len);
	if (!region->lead)
		return ret;

	for (ri = region->insns; !ret && ri < probed; ri++)
		ret = emit_original(e, region, ri);
	emit_jmp8(e, offsetof(struct detour, code));

	return ret;
}

#ifdef CONFIG_X86_64
/* What a trap saves; the return address of the call stands for its error code. */
static int emit_frame(struct emitter *e, unsigned long ip)
{
	static const u8 push_sp_twice_and_flags[] = { 0x54, 0xff, 0x34, 0x24, 0x9c };
	unsigned int i;

	for (i = 0; i < sizeof(push_sp_twice_and_flags); i++)
		emit_byte(e, push_sp_twice_and_flags[i]);
	emit_byte(e, PUSH_IMM8);
	emit_byte(e, __KERNEL_CS);

	return emit_push(e, ip);
}

static void emit_unframe(struct emitter *e)
{
	static const u8 drop_ip_and_cs_pop_flags_and_sp[] = { 0x48, 0x83, 0xc4, 0x10, 0x9d, 0x5c };
	unsigned int i;

	for (i = 4 - DETOUR_DROPS; i < sizeof(drop_ip_and_cs_pop_flags_and_sp); i++)
		emit_byte(e, drop_ip_and_cs_pop_flags_and_sp[i]);
}

/* Bytes that are on the stack before each instruction of these. */
static const u8 frame_size_at[DETOUR_COPIES] = {
	[8 + 1] = 8, [8 + 4] = 16, [8 + 5] = 24, [8 + 7] = 32, [8 + 12] = 40,
#if DETOUR_DROPS
	[DETOUR_RETURN] = 40,
#endif
	[DETOUR_RETURN + DETOUR_DROPS] = 24, [DETOUR_RETURN + DETOUR_DROPS + 1] = 16,
};

static_assert(DETOUR_COPIES + 1 + JMP32_INSN_SIZE - DETOUR_SIZE >= S8_MIN);
#else
static int emit_frame(struct emitter *e, unsigned long ip)
{
	return 0;
}

static void emit_unframe(struct emitter *e)
{
}

static const u8 frame_size_at[DETOUR_COPIES];
#endif

/* Handlers see the ip that is behind a breakpoint. */
static int emit_entry(struct emitter *e, unsigned long ip)
{
	int ret;

	ret = emit_frame(e, ip + INT3_INSN_SIZE);
	emit_byte(e, CALL_INSN_OPCODE);
	ret = ret ?: emit_rel32(e, (unsigned long)kprobe_detour_entry);
	emit_unframe(e);

	return ret;
}

/* Run the copy, call, and go on with the next. */
static int emit_post(struct emitter *e, const struct region *region,
		     const struct region_insn *ri)
{
	int ret;

	emit_unframe(e);
	ret = emit_original(e, region, ri);
	ret = ret ?: emit_frame(e, e->addr + ri->len);
	emit_byte(e, CALL_INSN_OPCODE);

	return ret ?: emit_rel32(e, (unsigned long)kprobe_detour_post_entry);
}

static int emit_post_way(struct emitter *e, const struct region *region, unsigned int post)
{
	const struct region_insn *probed = region->insns + region->probed;
	int ret = 0;

	if (!post)
		return 0;

	e->pos = post;
	if (post != DETOUR_POST_RETURN)
		ret = emit_post(e, region, probed);
	emit_unframe(e);
	emit_jmp8(e, DETOUR_COPIES + copied_size(probed));

	return ret;
}

static int write_detour(struct optimized_kprobe *op, const struct region *region)
{
	struct emitter e = { .slot = op->optinsn.insn };
	int ret;

	memset(e.image, INT3_INSN_OPCODE, sizeof(e.image));
	memcpy(e.image, &op, sizeof(op));
	e.pos = offsetof(struct detour, code);

	ret = emit_entry(&e, region->addr + region->lead);
	ret = ret ?: emit_region(&e, region);
	ret = ret ?: emit_post_way(&e, region, op->optinsn.post);
	if (ret)
		return ret;

	poke_text(e.slot, e.image, sizeof(e.image));
	perf_event_text_poke(e.slot, NULL, 0, e.image, sizeof(e.image));

	return 0;
}

/* Where in the slot the jump leads. */
static unsigned int jump_target(const struct arch_optimized_insn *optinsn)
{
	return optinsn->lead ? optinsn->copy_at[0] : offsetof(struct detour, code);
}

/* The slots from which the jump has a breakpoint in each place that needs one. */
static struct optinsn_place suitable_place(const struct arch_optimized_insn *optinsn,
					   const struct region *region)
{
	unsigned int disp = region->size - sizeof(s32), i;
	struct optinsn_place place = {
		.origin = region->addr + region->size - jump_target(optinsn),
	};

	for (i = 0; i < sizeof(s32); i++) {
		if (region->traps & BIT(disp + i)) {
			place.mask |= 0xffU << 8 * i;
			place.value |= (u32)INT3_INSN_OPCODE << 8 * i;
		}
	}

	return place;
}

static kprobe_opcode_t *get_slot(const struct arch_optimized_insn *optinsn,
				 const struct region *region)
{
	struct optinsn_place place = suitable_place(optinsn, region);

	return place.mask ? get_optinsn_slot_at(&place) : get_optinsn_slot();
}

/* The first suitable distance at or after @distance. */
static u32 next_suitable(const struct optinsn_place *place, u32 distance)
{
	u32 wrong = (distance & place->mask) ^ place->value;
	u32 first, below;

	if (!wrong)
		return distance;

	/* Above the first wrong bit all can stay, unless it is to become smaller. */
	first = BIT(fls(wrong) - 1);
	below = first | (first - 1);
	if (place->value & first)
		distance &= ~below;
	else
		distance = (distance | place->mask | below) + 1;

	return (distance & ~place->mask) | place->value;
}

static void *alloc_pages_at(unsigned long addr, unsigned int nr)
{
	/* Behind the pages there is a guard page. */
	void *pages = __vmalloc_node_range(nr * PAGE_SIZE, 1, addr, addr + (nr + 1) * PAGE_SIZE,
					   GFP_KERNEL | __GFP_NOWARN, PAGE_KERNEL,
					   VM_FLUSH_RESET_PERMS, NUMA_NO_NODE,
					   __builtin_return_address(0));

	if (!pages)
		return NULL;

	/* There may be no shadow for KASAN here, so write without it. */
	__memset(pages, INT3_INSN_OPCODE, nr * PAGE_SIZE);
	if (set_memory_rox((unsigned long)pages, nr)) {
		vfree(pages);
		return NULL;
	}

	return pages;
}

/* Places tried before giving up. */
#define PLACE_TRIES	64

/*
 * Modules are loaded from the lower end of their area, so look for a page in the
 * upper half: a jump reaches that from all text. Start anywhere, for pages that
 * suited other probes may be close together.
 */
void *alloc_optinsn_page_at(const struct optinsn_place *place, size_t size)
{
	const unsigned long start = MODULES_VADDR + (MODULES_END - MODULES_VADDR) / 2;
	const unsigned long end = MODULES_END - 3 * PAGE_SIZE;
	unsigned long addr, from = start + get_random_u32_below(end - start);
	unsigned int tries;

	for (tries = 0; tries < PLACE_TRIES; tries++) {
		addr = place->origin + next_suitable(place, from - place->origin);
		if (addr < from || addr > end) {
			from = start;
			continue;
		}
		if (alloc_pages_at(addr & PAGE_MASK, PFN_UP(offset_in_page(addr) + size)))
			return (void *)addr;
		from = (addr & PAGE_MASK) + PAGE_SIZE;
	}

	return NULL;
}

static const char * const obstacles[] = {
	[DETOUR_POSSIBLE]	= "-",
	[DETOUR_NO_FUNCTION]	= "not in a function",
	[DETOUR_UNDECODABLE]	= "function cannot be decoded",
	[DETOUR_TOO_SHORT]	= "too short",
	[DETOUR_NOT_RELOCATABLE] = "not relocatable",
	[DETOUR_RESERVED]	= "rewritten by others",
	[DETOUR_JUMP_INTO]	= "jump into the region",
	[DETOUR_INDIRECT_JUMP]	= "indirect jump",
	[DETOUR_BACKWARDS]	= "direction flag set",
	[DETOUR_PREEMPTED]	= "preempted anywhere",
	[DETOUR_TOO_LONG]	= "copies too long",
	[DETOUR_NO_ROOM]	= "no memory in reach",
};

static_assert(ARRAY_SIZE(obstacles) == NR_DETOUR_OBSTACLES);

int arch_explain_optimized_kprobe(struct optimized_kprobe *op, char *buf, size_t size)
{
	const struct arch_optimized_insn *optinsn = &op->optinsn;

	if (!optinsn->why_at)
		return scnprintf(buf, size, "%s", obstacles[optinsn->why]);

	return scnprintf(buf, size, "%s at +%u", obstacles[optinsn->why], optinsn->why_at);
}

static int obstruct(struct optimized_kprobe *op, enum detour_obstacle why, unsigned int at)
{
	struct arch_optimized_insn *optinsn = &op->optinsn;

	optinsn->insn = NULL;
	optinsn->why = why;
	optinsn->why_at = at;

	return -EOPNOTSUPP;
}

/* Any of the instructions may be probed, so read them one by one. */
static int read_originals(u8 *original, const struct region *region)
{
	const struct region_insn *ri;
	int ret = 0;

	for (ri = region->insns; !ret && ri < region->insns + region->nr; ri++) {
		if (ri->at < region->size)
			ret = arch_kprobe_read_insn(original + ri->at, region->addr + ri->at,
						    min_t(size_t, ri->len, region->size - ri->at));
	}

	return ret;
}

/* Before anybody can find the detour. Pairs with the acquire in arch_jump_lead_max(). */
static void note_lead(const struct arch_optimized_insn *optinsn)
{
	if (optinsn->lead > lead_max)
		smp_store_release(&lead_max, optinsn->lead);
}

/* With text_mutex held, and what keeps the reservations of others as they are. */
int arch_prepare_optimized_kprobe(struct optimized_kprobe *op, struct kprobe *orig)
{
	struct arch_optimized_insn *optinsn = &op->optinsn;
	enum detour_obstacle obstacle;
	struct region region;

	obstacle = plan_region(&region, (unsigned long)op->kp.addr);
	if (obstacle)
		return obstruct(op, obstacle, region.why_at);

	if (!lay_out(op, &region))
		return obstruct(op, DETOUR_TOO_LONG, 0);
	if (read_originals(optinsn->original, &region))
		return obstruct(op, DETOUR_UNDECODABLE, 0);
	optinsn->insn = get_slot(optinsn, &region);
	if (!optinsn->insn) {
		obstruct(op, DETOUR_NO_ROOM, 0);
		return -ENOMEM;
	}
	if (write_detour(op, &region)) {
		free_optinsn_slot(optinsn->insn, 0);
		return obstruct(op, DETOUR_NOT_RELOCATABLE, 0);
	}

	note_lead(optinsn);
	/* All that covering_probe() gives access to is there, and the text is as it was. */
	smp_store_release(&optinsn->size, region.size);

	return 0;
}

void arch_remove_optimized_kprobe(struct optimized_kprobe *op)
{
	if (!op->optinsn.insn)
		return;

	free_optinsn_slot(op->optinsn.insn, 1);
	op->optinsn.insn = NULL;
}

int arch_check_optimized_kprobe(struct optimized_kprobe *op)
{
	return 0;
}

int arch_within_optimized_kprobe(struct optimized_kprobe *op, kprobe_opcode_t *addr)
{
	unsigned long offset = (unsigned long)addr - jump_addr(&op->kp);

	return op->optinsn.size && offset < max(op->optinsn.size, op->optinsn.lead + 1);
}

/* Where there is a breakpoint beside the jump, the probe's own and those of guards. */
static u8 guards_at(const struct arch_optimized_insn *optinsn)
{
	return optinsn->traps | BIT(0);
}

/* The guards' breakpoints, or the original bytes there. The probe's own stays. */
static bool poke_guards(struct optimized_kprobe *op, bool trap)
{
	const struct arch_optimized_insn *optinsn = &op->optinsn;
	u8 guards = guards_at(optinsn) & ~BIT(optinsn->lead);
	static const u8 int3 = INT3_INSN_OPCODE;
	u8 *addr = (u8 *)jump_addr(&op->kp);
	const u8 *old, *new;
	unsigned int at;

	for (at = 0; at < optinsn->size; at++) {
		if (!(guards & BIT(at)))
			continue;
		old = trap ? &optinsn->original[at] : &int3;
		new = trap ? &int3 : &optinsn->original[at];
		poke_text(addr + at, new, 1);
		perf_event_text_poke(addr + at, old, 1, new, 1);
	}

	return guards;
}

/* What there is in the text of a guarded jump until it is written. */
static void fill_guarded(struct optimized_kprobe *op, u8 *bytes)
{
	const struct arch_optimized_insn *optinsn = &op->optinsn;
	u8 traps = guards_at(optinsn) | BIT(optinsn->lead);
	unsigned int at;

	for (at = 0; at < optinsn->size; at++)
		bytes[at] = traps & BIT(at) ? INT3_INSN_OPCODE : optinsn->original[at];
}

/* All bytes behind the first. The jump has a breakpoint wherever one is to stay. */
static void poke_tail(struct optimized_kprobe *op, const u8 *bytes)
{
	poke_text((u8 *)jump_addr(&op->kp) + 1, bytes + 1, op->optinsn.size - 1);
}

static void poke_first(struct optimized_kprobe *op, u8 byte)
{
	poke_text((u8 *)jump_addr(&op->kp), &byte, sizeof(byte));
}

static void fill_jump(struct optimized_kprobe *op, u8 *jump)
{
	unsigned int prefixes = op->optinsn.size - JMP32_INSN_SIZE;
	u8 *addr = (u8 *)jump_addr(&op->kp) + prefixes;

	memset(jump, CS_PREFIX, prefixes);
	__text_gen_insn(jump + prefixes, JMP32_INSN_OPCODE, addr,
			op->optinsn.insn + jump_target(&op->optinsn), JMP32_INSN_SIZE);
}

void arch_guard_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;
	bool any = false;

	list_for_each_entry(op, oplist, list) {
		WRITE_ONCE(op->optinsn.guarded, true);
		any |= poke_guards(op, true);
	}
	if (any)
		poke_sync();
}

/* But for the probes' breakpoints, all that the jumps would cover is original again. */
void arch_unguard_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op;
	bool any = false;

	list_for_each_entry(op, oplist, list) {
		if (op->optinsn.guarded)
			any |= poke_guards(op, false);
	}
	if (any)
		poke_sync();

	list_for_each_entry(op, oplist, list)
		WRITE_ONCE(op->optinsn.guarded, false);
}

/* To perf: a jump has come or gone, and the guards were or are there. */
static void announce_jump(struct optimized_kprobe *op, bool made)
{
	u8 jump[MAX_OPTIMIZED_LENGTH], none[MAX_OPTIMIZED_LENGTH];
	unsigned int size = op->optinsn.size;

	fill_jump(op, jump);
	fill_guarded(op, none);
	perf_event_text_poke((void *)jump_addr(&op->kp), made ? none : jump, size, made ? jump : none,
			     size);
}

void arch_optimize_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op, *next;
	u8 jump[MAX_OPTIMIZED_LENGTH];

	list_for_each_entry(op, oplist, list) {
		fill_jump(op, jump);
		poke_tail(op, jump);
	}
	poke_sync();

	list_for_each_entry_safe(op, next, oplist, list) {
		fill_jump(op, jump);
		poke_first(op, jump[0]);
		announce_jump(op, true);
		list_del_init(&op->list);
	}
	poke_sync();
}

/* Leaves the breakpoints of the probes in place. */
void arch_unoptimize_kprobes(struct list_head *oplist, struct list_head *done_list)
{
	struct optimized_kprobe *op;
	u8 none[MAX_OPTIMIZED_LENGTH];

	list_for_each_entry(op, oplist, list)
		poke_first(op, INT3_INSN_OPCODE);
	poke_sync();

	list_for_each_entry(op, oplist, list) {
		fill_guarded(op, none);
		poke_tail(op, none);
		announce_jump(op, false);
	}
	poke_sync();

	arch_unguard_kprobes(oplist);
	list_splice_tail_init(oplist, done_list);
}

/*
 * The probe at @probe, if its jump covers @addr, or would. The size is what
 * arch_prepare_optimized_kprobe() writes last, and never takes back.
 */
static notrace struct kprobe *covering_probe(unsigned long probe, unsigned long addr)
{
	struct kprobe *p = get_kprobe((kprobe_opcode_t *)probe);
	unsigned int size;

	if (!p || kprobe_ftrace(p))
		return NULL;

	/* Pairs with the release in arch_prepare_optimized_kprobe(). */
	size = smp_load_acquire(&optinsn_of(p)->size);

	return addr - probe + optinsn_of(p)->lead < size ? p : NULL;
}

NOKPROBE_SYMBOL(covering_probe);

static __always_inline bool may_begin_jump(u8 byte)
{
	return byte == JMP32_INSN_OPCODE || byte == CS_PREFIX || byte == INT3_INSN_OPCODE;
}

/* The same in @buf of a jump that begins at @addr - @at, if there is one. */
static notrace void undo_jump(u8 *buf, unsigned long addr, size_t len, unsigned int at)
{
	const struct arch_optimized_insn *optinsn;
	unsigned int lead, max = arch_jump_lead_max();
	struct kprobe *p;

	for (lead = 0; lead <= max; lead++) {
		p = covering_probe(addr - at + lead, addr);
		if (!p)
			continue;
		optinsn = optinsn_of(p);
		if (optinsn->lead == lead)
			memcpy(buf, optinsn->original + at, min_t(size_t, len, optinsn->size - at));
	}
}

NOKPROBE_SYMBOL(undo_jump);

/* Replace in @buf, read from @addr, the bytes that detours' jumps have there. */
notrace void detour_undo(u8 *buf, unsigned long addr, size_t len)
{
	u8 text[MAX_OPTIMIZED_LENGTH];
	unsigned int at;

	/* The text may begin just here: then ask for each of the places. */
	if (copy_from_kernel_nofault(text, (void *)addr - MAX_OPTIMIZED_LENGTH + 1, sizeof(text)))
		memset(text, INT3_INSN_OPCODE, sizeof(text));

	for (at = 0; at < MAX_OPTIMIZED_LENGTH; at++) {
		if (may_begin_jump(text[MAX_OPTIMIZED_LENGTH - 1 - at]))
			undo_jump(buf, addr, len, at);
	}
}

NOKPROBE_SYMBOL(detour_undo);

/*
 * Where in the detour to go on for @addr, which the jump of @p covers, 0 if it is not
 * planned. At the probe its handlers are to be called, if the jump does not begin there.
 */
static unsigned long place_in_detour(struct kprobe *p, unsigned long addr)
{
	if (addr != (unsigned long)p->addr)
		return detour_copy(p, addr - jump_addr(p));
	if (!optinsn_of(p)->lead || !detour_is_guarded(p))
		return 0;

	return (unsigned long)((struct detour *)optinsn_of(p)->insn)->code;
}

NOKPROBE_SYMBOL(place_in_detour);

/* A jump may cover @addr, which was come to by a breakpoint of its or by a handler's word. */
bool detour_enter(unsigned long addr, struct pt_regs *regs)
{
	unsigned long probe = addr + arch_jump_lead_max(), copy = 0;
	struct kprobe *p;

	for (; probe > addr - MAX_OPTIMIZED_LENGTH && !copy; probe--) {
		p = covering_probe(probe, addr);
		if (p)
			copy = place_in_detour(p, addr);
	}
	if (!copy)
		return false;
	regs->ip = copy;

	return true;
}

NOKPROBE_SYMBOL(detour_enter);

/*
 * The offset of the instruction whose copy is at @pos in the slot, or before. The call of
 * the handlers, and the jump to it, stand for the probed one.
 */
static unsigned int copied_insn(const struct arch_optimized_insn *optinsn, unsigned int pos)
{
	unsigned int at, copy, best = 0, found = optinsn->lead;

	if (optinsn->enter && pos >= optinsn->enter)
		return found;

	for (at = 0; at < MAX_OPTIMIZED_LENGTH; at++) {
		copy = optinsn->copy_at[at];
		if (copy > best && copy <= pos) {
			best = copy;
			found = at;
		}
	}

	return found;
}

NOKPROBE_SYMBOL(copied_insn);

/* Where the copy of a post way is, if @post is that of a detour which has one. */
static unsigned int post_copy(unsigned int post)
{
	return post && post != DETOUR_POST_RETURN ? post + DETOUR_UNFRAME : 0;
}

NOKPROBE_SYMBOL(post_copy);

/* Is @pos in the slot that of the jump back? */
static bool is_jump_back(const struct arch_optimized_insn *optinsn, unsigned int pos)
{
	return pos >= optinsn->back && pos < optinsn->back + JMP32_INSN_SIZE;
}

NOKPROBE_SYMBOL(is_jump_back);

/* The instruction that @pos in the slot stands for. */
static unsigned long original_insn(struct optimized_kprobe *op, unsigned int pos)
{
	const struct arch_optimized_insn *optinsn = &op->optinsn;

	if (optinsn->post && pos >= optinsn->post)
		return pos < DETOUR_POST_RETURN - POST_CALL_SIZE ? (unsigned long)op->kp.addr :
								   ip_behind(&op->kp);

	return jump_addr(&op->kp) +
	       (is_jump_back(optinsn, pos) ? optinsn->len : copied_insn(optinsn, pos));
}

NOKPROBE_SYMBOL(original_insn);

/* Bytes that are on the stack at @pos in the slot. */
static unsigned int frame_size(const struct arch_optimized_insn *optinsn, unsigned int pos)
{
	unsigned int post = optinsn->post;

	if (post && pos >= post) {
		if (pos < post + DETOUR_UNFRAME)
			pos += DETOUR_RETURN - post;
		else if (pos >= DETOUR_POST_RETURN - POST_CALL_SIZE)
			pos += DETOUR_RETURN - DETOUR_POST_RETURN;
	}

	return pos < DETOUR_COPIES ? frame_size_at[pos] : 0;
}

NOKPROBE_SYMBOL(frame_size);

/**
 * detour_insn_ip() - which instruction code in a detour is a part of
 * @ip: an instruction pointer
 *
 * Context: Any, with RCU watching.
 * Return: the instruction that @ip stands for; @ip if it is in no detour.
 */
unsigned long detour_insn_ip(unsigned long ip)
{
	struct detour *detour;

	guard(rcu)();
	detour = (struct detour *)optinsn_slot_of(ip);
	if (likely(!detour))
		return ip;

	return original_insn(detour->op, ip - (unsigned long)detour);
}

NOKPROBE_SYMBOL(detour_insn_ip);

/**
 * detour_original_ip() - where the original of code in a detour is
 * @ip: an instruction pointer
 *
 * Context: Any, with RCU watching.
 * Return: the instruction that @ip stands for; kprobe_detour_callee() where that
 * is a call which has pushed its return address; @ip if it is in no detour.
 */
unsigned long detour_original_ip(unsigned long ip)
{
	const struct arch_optimized_insn *optinsn;
	struct detour *detour;
	unsigned int at, pos;

	/* An unwinder may have found an old address: see optinsn_slot_of(). */
	guard(rcu)();
	detour = (struct detour *)optinsn_slot_of(ip);
	if (likely(!detour))
		return ip;

	optinsn = &detour->op->optinsn;
	pos = ip - (unsigned long)detour;
	at = copied_insn(optinsn, pos);
	if (pos < optinsn->back && optinsn->calls & BIT(at) && pos > optinsn->copy_at[at])
		return (unsigned long)kprobe_detour_callee;

	return detour_insn_ip(ip);
}

NOKPROBE_SYMBOL(detour_original_ip);

/*
 * The probe whose detour calls kprobe_detour_entry() and goes on at @ret, without having
 * done the instruction, or 0.
 */
unsigned long detour_entered_for(unsigned long ret)
{
	struct detour *detour;
	unsigned int pos;

	guard(rcu)();
	detour = (struct detour *)optinsn_slot_of(ret);
	if (likely(!detour))
		return 0;

	pos = ret - (unsigned long)detour;
	if (pos != DETOUR_RETURN &&
	    (pos != detour->op->optinsn.post || pos == DETOUR_POST_RETURN))
		return 0;

	return (unsigned long)detour->op->kp.addr;
}

NOKPROBE_SYMBOL(detour_entered_for);

/**
 * detour_original_sp() - what the stack pointer of the probed code is
 * @ip: an instruction pointer
 * @sp: the stack pointer there
 *
 * Context: Any, with RCU watching.
 * Return: @sp, less what the detour that @ip may be in keeps there.
 */
unsigned long detour_original_sp(unsigned long ip, unsigned long sp)
{
	struct detour *detour;

	guard(rcu)();
	detour = (struct detour *)optinsn_slot_of(ip);
	if (likely(!detour))
		return sp;

	return sp + frame_size(&detour->op->optinsn, ip - (unsigned long)detour);
}

NOKPROBE_SYMBOL(detour_original_sp);

static void leave_copy(struct detour *detour, struct pt_regs *regs, unsigned int pos)
{
	const struct arch_optimized_insn *optinsn = &detour->op->optinsn;
	unsigned int at = copied_insn(optinsn, pos);

	if (!(optinsn->extable & BIT(at)))
		return;

	/* A call loads its target when it has already pushed. */
	if (optinsn->calls & BIT(at) && pos == optinsn->copy_at[at] + PUSH_IMM32_SIZE) {
		regs->sp += sizeof(long);
		pos -= PUSH_IMM32_SIZE;
	}
	if (pos == optinsn->copy_at[at])
		regs->ip = jump_addr(&detour->op->kp) + at;
}

NOKPROBE_SYMBOL(leave_copy);

/*
 * A fault in a copy whose original is in an exception table is moved there: it
 * may sleep, and it may be fixed up. Coming back it finds the jump or a trap. All
 * other faults are fatal, or are over at once and come back to the copy.
 *
 * That of a post way is always left, for what is waiting behind it. Returns whether it
 * was that one.
 */
bool detour_leave(struct pt_regs *regs)
{
	struct detour *detour = (struct detour *)optinsn_slot_of(regs->ip);
	unsigned int pos;

	if (likely(!detour))
		return false;

	pos = regs->ip - (unsigned long)detour;
	if (pos != post_copy(detour->op->optinsn.post)) {
		leave_copy(detour, regs, pos);
		return false;
	}
	regs->ip = (unsigned long)detour->op->kp.addr;

	return true;
}

NOKPROBE_SYMBOL(detour_leave);

/*
 * From kprobe_detour_entry() when this CPU handles another hit. Returns 0 to go
 * on in the detour, something else to go to where @regs say.
 */
__visible int kprobe_detour_nested(struct kprobe *p, struct pt_regs *regs)
{
	int ret;

	if (!hit_interrupt(p, 0)) {
		kprobes_inc_nmissed_count(p);
		return 0;
	}

	ret = hit_pre_handler(p, regs);
	/* Else the hit ends elsewhere. */
	if (!ret)
		hit_resume();

	return ret;
}

NOKPROBE_SYMBOL(kprobe_detour_nested);

#ifdef CONFIG_CFI_CLANG
/* From kprobe_detour_entry(), which cannot call functions by pointer itself. */
__visible int kprobe_detour_call(struct kprobe *callee, struct pt_regs *regs)
{
	return callee->pre_handler(callee, regs);
}

NOKPROBE_SYMBOL(kprobe_detour_call);
#endif

#ifdef CONFIG_PREEMPTION
/* Which function this calls, if any, may be up to the boot. */
__visible void kprobe_detour_preempt(void)
{
	__preempt_schedule_notrace();
}

NOKPROBE_SYMBOL(kprobe_detour_preempt);
#endif

bool arch_detour_calls_post(const struct optimized_kprobe *op)
{
	return !op->optinsn.insn || op->optinsn.post;
}

/* Did the hit with these registers, before any handler saw them, come by the detour? */
bool arch_hit_in_detour(struct kprobe *p, const struct pt_regs *regs)
{
	return regs->orig_ax == (unsigned long)optinsn_of(p)->insn + DETOUR_RETURN;
}

NOKPROBE_SYMBOL(arch_hit_in_detour);

/*
 * A hit for which there is a post_handler goes on in the slot, but elsewhere. Until it
 * does so its ip is that of the copy of the post way, or of the jump at its end: where it
 * would go on if the stack pointer was what the registers say.
 */
#define DETOUR_POST_END	(DETOUR_POST_RETURN + DETOUR_UNFRAME)

/* Between registers and stack there is one word, which a handler may have taken. */
static __always_inline bool has_room_to_push(const struct pt_regs *regs)
{
	return regs->sp > (unsigned long)&regs->sp + sizeof(long);
}

/*
 * Where it is emulated the instruction is done here. If it does not go away the end of the
 * post way leads behind it, which does not take an IRET.
 */
static int emulate_in_detour(struct kprobe *p, struct pt_regs *regs)
{
	kprobe_post_handler_t post;

	if (emulation_pushes(p) && !has_room_to_push(regs))
		return 0;
	if (!emulate_any(p, regs)) {
		enter_fault_copy(p, regs);
		return 1;
	}

	regs->orig_ax = 0;	/* see arch_kprobe_regs_ip() */
	post = READ_ONCE(p->post_handler);
	if (post)
		post(p, regs, 0);
	if (regs->ip == ip_behind(p))
		regs->ip = (unsigned long)optinsn_of(p)->insn + DETOUR_POST_END;

	return 1;
}

NOKPROBE_SYMBOL(emulate_in_detour);

/*
 * From hit_all_handlers(): choose how to go on when a post_handler is to be called. A
 * detour without a post way may be hit until its jump is gone; then no pre_handler has
 * been called that belongs to a post_handler.
 */
int arch_detour_post(struct kprobe *p, struct pt_regs *regs)
{
	const struct arch_optimized_insn *optinsn = optinsn_of(p);

	if (!optinsn->post)
		return 0;
	if (optinsn->post == DETOUR_POST_RETURN)
		return emulate_in_detour(p, regs);
	regs->ip = (unsigned long)optinsn->insn + post_copy(optinsn->post);

	return 1;
}

NOKPROBE_SYMBOL(arch_detour_post);

/* As enter_post_copy(): the probe stays current, and the CPU with it. */
static unsigned long enter_post_way(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long way = regs->ip - DETOUR_UNFRAME;

	regs->ip = (unsigned long)p->addr + INT3_INSN_SIZE;
	__this_cpu_write(kprobe_ctlblk.saved_if, regs->flags & X86_EFLAGS_IF);
	regs->flags &= ~X86_EFLAGS_IF;
	raw_local_irq_disable();
	preempt_enable_no_resched_notrace();

	return way;
}

NOKPROBE_SYMBOL(enter_post_way);

/* The rest of the hit of an emulated instruction, and of one that goes anywhere. */
static unsigned long leave_detour(struct kprobe *p, struct pt_regs *regs, unsigned long end)
{
	bool ends = regs->ip == end;

	hit_end(true);
	if (ends)
		regs->ip = ip_behind(p);
	else
		detour_enter(regs->ip, regs);
	preempt_enable_notrace();

	return ends ? end - DETOUR_UNFRAME : 0;
}

NOKPROBE_SYMBOL(leave_detour);

/*
 * From kprobe_detour_entry(), which goes on at @ret, when a handler wants to go on
 * elsewhere, or a post_handler is to be called. Returns where in the slot to go on, 0 to
 * go where @regs say. The flags of a guest of Xen say that interrupts are on, and IRET
 * believes it.
 */
__visible unsigned long kprobe_detour_elsewhere(struct pt_regs *regs, unsigned long ret)
{
	struct detour *detour = (struct detour *)(ret - DETOUR_RETURN);
	unsigned int copy = post_copy(detour->op->optinsn.post);
	struct kprobe *p = &detour->op->kp;

	if (cpu_feature_enabled(X86_FEATURE_XENPV) && irqs_disabled())
		regs->flags &= ~X86_EFLAGS_IF;

	if (copy && regs->ip == (unsigned long)detour + copy)
		return enter_post_way(p, regs);

	return leave_detour(p, regs, (unsigned long)detour + DETOUR_POST_END);
}

NOKPROBE_SYMBOL(kprobe_detour_elsewhere);

/*
 * From kprobe_detour_post_entry(), interrupts off: the same conditions as before the
 * copy. Returns 0 to go on in the detour, something else to go to where @regs say.
 */
__visible int kprobe_detour_post(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long ip = ip_behind(p);

	preempt_disable_notrace();
	restore_if(regs);
	if (regs->flags & X86_EFLAGS_IF)
		raw_local_irq_enable();

	regs->ip = ip;
	hit_finish(p, regs, true);
	follow_handler(regs, ip);
	preempt_enable_notrace();

	return regs->ip != ip;
}

NOKPROBE_SYMBOL(kprobe_detour_post);

#ifdef CONFIG_X86_32
/* A hit that goes on elsewhere ends there, and does not come back from here. */
static __always_inline void leave_if(int ret, struct kprobe *p, struct pt_regs *regs)
{
	if (unlikely(ret))
		kprobe_detour_leave(regs, (unsigned long)optinsn_of(p)->insn + DETOUR_RETURN);
}

/* All that kprobe_detour_entry() does itself on 64 bits. */
__visible void kprobe_detour_hit(struct kprobe *p, struct pt_regs *regs)
{
	preempt_disable_notrace();
	if (unlikely(kprobe_running())) {
		leave_if(kprobe_detour_nested(p, regs), p, regs);
	} else {
		hit_begin(p);
		leave_if(hit_pre_handler(p, regs), p, regs);
		reset_current_kprobe();
	}
	preempt_enable_notrace();
}

NOKPROBE_SYMBOL(kprobe_detour_hit);
#endif
