/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface between kprobes and its ports, beyond what <linux/kprobes.h> has always had
 * for every architecture: how a hit begins and ends, what an architecture may do better
 * than by default, and what the core knows about the kernel's text.
 *
 * A port has its own of
 *
 *	a function		by defining it: the default is weak, because the ports that the
 *				kernel had before override so, without a word in a header
 *	what is inlined		by a macro of the same name in its <asm/kprobes.h>: what hits and
 *				the search for neighbours call, and constants
 *
 * and says by ARCH_KPROBES_NATIVE that it is written for this core.
 */
#ifndef _LINUX_KPROBES_PORT_H
#define _LINUX_KPROBES_PORT_H

#include <linux/kprobes.h>
#include <linux/kprobes_base.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/string.h>

#ifdef CONFIG_KPROBES

struct module;

/* kprobes.c: serializes changes of points, of their members and of the global switches */
extern struct mutex kprobe_mutex;

/* hit.c: for ports with ARCH_KPROBES_NATIVE */
bool kprobe_hit_nested(struct kprobe *p, unsigned int trap_count);
void kprobe_hit_fixed_up(unsigned long addr, struct pt_regs *regs, unsigned int trap_count);
void kprobe_hit_pop(void);

DECLARE_PER_CPU(unsigned int, kprobe_nr_interrupted);

#ifdef ARCH_KPROBES_NATIVE
/**
 * struct kprobe_hit_place - where this CPU notes the hit that it handles
 * @running: its current_kprobe
 * @context: its kprobe_ctlblk.context
 *
 * Kept from the beginning of a hit to its end, since most architectures take several instructions
 * to find per-CPU variables. One that needs none defines kprobe_hit_note() by the variable.
 */
struct kprobe_hit_place {
	struct kprobe **running;
	unsigned int *context;
};

#ifndef kprobe_hit_note
#define kprobe_hit_note(place, variable, value)	\
	do { (void)sizeof(variable); *(place) = (value); } while (0)
#endif

/* Begin a hit of @p, in the context that preempt_count() describes. */
static __always_inline struct kprobe_hit_place kprobe_hit_begin(struct kprobe *p)
{
	struct kprobe_hit_place here = {
		.running = raw_cpu_ptr(&current_kprobe),
		.context = raw_cpu_ptr(&kprobe_ctlblk.context),
	};

	kprobe_hit_note(here.running, current_kprobe, p);
	/*
	 * A hit that interrupts in between finds this one current, with the context of the hit that
	 * this one interrupts, or with none, and leaves both as they are. The other way round it
	 * would clear the context.
	 */
	barrier();
	kprobe_hit_note(here.context, kprobe_ctlblk.context, arch_hit_context());

	return here;
}
#else
static __always_inline void kprobe_hit_begin(struct kprobe *p)
{
	__this_cpu_write(current_kprobe, p);
	__this_cpu_write(kprobe_ctlblk.kprobe_status, KPROBE_HIT_ACTIVE);
}
#endif

/* End a hit. @nested: it may have interrupted another one, see kprobe_hit_push(). */
static __always_inline void kprobe_hit_end(bool nested)
{
	if (__is_defined(ARCH_KPROBES_NATIVE) && nested &&
	    unlikely(__this_cpu_read(kprobe_nr_interrupted)))
		kprobe_hit_pop();
	else
		reset_current_kprobe();
}

#ifdef ARCH_KPROBES_NATIVE
/* As kprobe_hit_end(), on the CPU on which the hit began. @here is only used without @nested. */
static __always_inline void kprobe_hit_end_here(struct kprobe_hit_place here, bool nested)
{
	if (nested) {
		kprobe_hit_end(true);
		return;
	}

	kprobe_hit_note(here.running, current_kprobe, NULL);
	kprobe_hit_note(here.context, kprobe_ctlblk.context, 0);
}
#endif

/**
 * kprobe_call_pre_handler() - call the pre_handlers of the probes at an address
 * @p: the probe that get_kprobe() found, set as current
 * @regs: registers at the probed instruction
 *
 * Context: A trap or a detour, preemption disabled.
 * Return: 0, or the result of the first handler that has set another instruction pointer.
 */
static __always_inline int kprobe_call_pre_handler(struct kprobe *p, struct pt_regs *regs)
{
	/* Address dependency: pairs with the release in point_update_handler_probe(). */
	struct kprobe *handler_probe = READ_ONCE(p->handler_probe);

	return handler_probe->hit_pre(handler_probe, regs);
}

/**
 * kprobe_call_post_handler() - call the post_handlers of the probes at an address, if there are any
 * @called: the handler_probe of the probe that get_kprobe() found
 * @regs: registers after the probed instruction
 *
 * The last user with a post_handler may have come or gone during the hit.
 *
 * Context: As kprobe_call_pre_handler(), or the code that runs after the instruction.
 */
static __always_inline void kprobe_call_post_handler(struct kprobe *called, struct pt_regs *regs)
{
	kprobe_post_handler_t post = READ_ONCE(called->post_handler);

	if (post)
		post(called, regs, 0);
}

/**
 * kprobe_hit_finish() - call the post_handlers, if there are any, and end a hit
 * @p: the probe, set as current
 * @regs: registers after the probed instruction
 * @nested: this hit may have interrupted another one
 *
 * Context: As kprobe_call_post_handler().
 */
static __always_inline void kprobe_hit_finish(struct kprobe *p, struct pt_regs *regs, bool nested)
{
	/* Pairs with point_update_handler_probe(), as in kprobe_call_pre_handler(). */
	kprobe_call_post_handler(READ_ONCE(p->handler_probe), regs);
	kprobe_hit_end(nested);
}

/*
 * Mark for a word of @regs that kernel exceptions neither use nor set: the fault at @addr has
 * ended a hit. The word may still hold the mark of an earlier exception, which differs if that
 * was at another place on the stack or at another address.
 */
static __always_inline unsigned long kprobe_fault_mark(const struct pt_regs *regs,
						       unsigned long addr)
{
	return (unsigned long)regs ^ addr;
}

/* Return the slot that contains @addr: slots tile a page from its start. */
static __always_inline void *kprobe_insn_slot_at(unsigned long addr)
{
	return (void *)(addr - offset_in_page(addr) % KPROBE_INSN_SLOT_SIZE);
}

bool kprobe_slots_span(unsigned long addr);	/* kernel/kprobes/slot.c */

/* Text patching for many probes at once. */
void arch_arm_kprobes(struct list_head *kps);
void arch_disarm_kprobes(struct list_head *kps);
void arch_finish_prepare_kprobes(void);

unsigned int arch_kprobe_insn_bytes(u8 *buf, unsigned long addr, unsigned long end);

/**
 * arch_kprobe_is_emulated() - does a breakpoint's hit emulate the instruction?
 * @p: a prepared probe
 *
 * An architecture that may emulate one defines this in its <asm/kprobes.h>.
 *
 * Context: Process context.
 * Return: true if it does, at least mostly; false if it executes a copy.
 */
#ifndef arch_kprobe_is_emulated
#define arch_kprobe_is_emulated(p)	false
#endif

/*
 * For fault handlers: arch_kprobe_leave_detour() moves a fault in a detour to the original, if
 * arch_kprobe_leave_copy() has not; arch_kprobe_resume() enters the detour again if a jump
 * covers the new instruction pointer.
 */
#ifndef arch_kprobe_leave_detour
static inline void arch_kprobe_leave_detour(struct pt_regs *regs) { }
#endif
#ifndef arch_kprobe_resume
static inline void arch_kprobe_resume(struct pt_regs *regs) { }
#endif

/*
 * Bytes between the stack pointer and the arguments on the stack at a function's entry.
 * Architectures whose calls push the return address define this.
 */
#ifndef JPROBE_STACK_OFFSET
#define JPROBE_STACK_OFFSET	0
#endif

/**
 * struct kprobe_area - a piece of the kernel's text
 * @start: its first byte
 * @end: the first byte after it
 */
struct kprobe_area {
	const void *start;
	const void *end;
};

/* kernel/kprobes/blacklist.c */
int kprobe_add_areas_blacklist(const struct kprobe_area *areas, unsigned int nr);
int kprobe_add_names_blacklist(const char * const *names, unsigned int nr);

#ifdef CONFIG_KPROBES_ON_FTRACE
/* kernel/kprobes/ftrace.c */
bool kprobe_ftrace_claims(struct kprobe *p, struct ftrace_ops *ops);
#endif

/**
 * struct kprobe_function - a function, as the symbol table knows it, and what is known about it
 * @start: its first byte
 * @end: the byte after it
 * @name: its name
 * @decoded: an instruction starts there: @start, or what the port has decoded
 * @mapped: the port's maps of branches that are of this function, a bit for each
 * @has_sites: may static keys or static calls rewrite some of it? Negative until check.c asks
 * @is_blacklisted_clone: is it a clone of a function on the blacklist? As @has_sites
 *
 * kprobe_find_symbol() fills in only the first three.
 */
struct kprobe_function {
	unsigned long start;
	unsigned long end;
	const char *name;
	unsigned long decoded;
	u8 mapped;
	signed char has_sites;
	signed char is_blacklisted_clone;
};

/* kernel/kprobes/function.c */
struct kprobe_function *kprobe_function_of(unsigned long addr);
bool kprobe_find_symbol(unsigned long addr, struct kprobe_function *fn);
int kprobe_each_named(unsigned long addr, const char *name,
		      int (*fn)(void *data, unsigned long addr), void *data);
int kprobe_each_other_part(unsigned long addr, const char *name,
			   int (*fn)(void *data, unsigned long addr), void *data);

/* Suffix of the name of a function's rarely executed part. */
#define KPROBE_COLD	".cold"

/* Find that suffix in @name, or return NULL. Most names have no dot: test for that first. */
static inline char *kprobe_cold_suffix(const char *name)
{
	char *dot = strchr(name, '.');

	return dot ? strstr(dot, KPROBE_COLD) : NULL;
}

/**
 * struct kprobe_keys - keys in ascending order
 * @keys: the keys
 * @nr: how many there are
 * @room: how many there is room for
 */
struct kprobe_keys {
	u64 *keys;
	unsigned int nr;
	unsigned int room;
};

/**
 * struct kprobe_index - a table that the kernel and each module have, sorted
 * @collect: calls kprobe_index_add() for each key of @mod, or of the kernel if @mod is
 *	NULL; called twice, to count them first
 * @second: sort that of a module only at the second question in a row about it
 * @kernel: keys of the kernel, mostly addresses
 * @module: keys of @mod
 * @mod: the module asked about last, NULL after text has come or gone
 * @link: links all indexes that have been asked about a module
 */
struct kprobe_index {
	void (*collect)(struct kprobe_keys *list, const struct module *mod);
	bool second;
	struct kprobe_keys kernel;
	struct kprobe_keys module;
	const struct module *mod;
	struct hlist_node link;
};

/* Select the table that @collect reads: @modules for a module, @kernels for the kernel. */
#ifdef CONFIG_MODULES
#define kprobe_index_of(mod, modules, kernels)	((mod) ? (modules) : (kernels))
#else
#define kprobe_index_of(mod, modules, kernels)	(kernels)
#endif

/* Told of control that may come from @from to @to, by a fixup or by a static key. */
typedef void kprobe_listed_t(void *data, unsigned long from, unsigned long to, bool fixup);

/* kernel/kprobes/function.c */
void kprobe_each_listed(const struct module *mod, kprobe_listed_t *note, void *data);
void kprobe_index_add(struct kprobe_keys *list, u64 key);
int kprobe_index_find(struct kprobe_index *index, unsigned long text, unsigned long start,
		      unsigned long end, const u64 **first);

/* kernel/kprobes/function.c */
bool kprobe_has_sites(unsigned long start, unsigned long end);
bool kprobe_has_jump_labels(unsigned long start, unsigned long end);
bool kprobe_has_static_calls(unsigned long start, unsigned long end);

int kprobe_refuse(int err, const void *addr, const char *why);	/* kernel/kprobes/refused.c */

/* Size of a block of text whose probes are counted together. */
#define KPROBE_BLOCK	16UL

/* kernel/kprobes/table.c */
unsigned int kprobes_in_block(unsigned long addr);

/* Upper limit of the number of probes in [@first, @last]. */
static __always_inline unsigned int kprobes_near(unsigned long first, unsigned long last)
{
	unsigned int nr = 0;

	for (first &= -KPROBE_BLOCK; first <= last; first += KPROBE_BLOCK)
		nr += kprobes_in_block(first);

	return nr;
}

bool kprobe_on_debuggers_breakpoint(unsigned long addr);	/* kernel/kprobes/check.c */

/* Upper limit of the leads of all probes. It may rise, but never falls. */
#if !defined(CONFIG_OPTPROBES) || !defined(arch_jump_lead)
#define arch_jump_lead_max()	0U
#endif

#ifdef CONFIG_OPTPROBES

/*
 * Why a probe has no detour. Each port uses some of these, and notes one in the member why of
 * struct arch_optimized_insn; in why_at its distance in bytes from the start of the jump, 0 if it
 * has no particular place.
 */
enum detour_obstacle {
	DETOUR_POSSIBLE,
	DETOUR_NO_FUNCTION,
	DETOUR_UNDECODABLE,
	DETOUR_TOO_SHORT,
	DETOUR_NOT_RELOCATABLE,
	DETOUR_RESERVED,
	DETOUR_JUMP_INTO,
	DETOUR_INDIRECT_JUMP,
	DETOUR_RETURN_INTO,
	DETOUR_FAULT_INSIDE,
	DETOUR_PREEMPTED,
	DETOUR_BACKWARDS,
	DETOUR_LANDING_PAD,
	DETOUR_NO_REGISTER,
	DETOUR_TOO_LONG,
	DETOUR_OUT_OF_REACH,
	DETOUR_NO_ROOM,
	NR_DETOUR_OBSTACLES,
};

/* kernel/kprobes/optimize.c */
int kprobe_explain_obstacle(const struct optimized_kprobe *op, char *buf, size_t size);

void arch_fence_kprobes(struct list_head *oplist);
void arch_unfence_kprobes(struct list_head *oplist);

/**
 * arch_jump_needs_no_fence() - is a jump written, and removed, without a fence?
 * @optinsn: a prepared detour
 *
 * An architecture answers true in its <asm/kprobes.h> if no task can be inside what the
 * jump covers while it is written or removed: because it covers nothing but the probed
 * instruction, and a CPU executes either the breakpoint or the jump; or because all CPUs
 * are stopped meanwhile, and none of them can be stopped there. Then the jump is written
 * without arch_fence_kprobes() and without a grace period.
 *
 * Context: Process context.
 * Return: whether it does.
 */
#ifndef arch_jump_needs_no_fence
#define arch_jump_needs_no_fence(optinsn)	false
#endif

/**
 * arch_detour_calls_post() - does a detour call the post_handlers of its probe?
 * @op: the probe; whether it gets a detour may not be known yet
 *
 * An architecture answers true in its <asm/kprobes.h> when the detour looks for a
 * post_handler after the pre_handlers have run, as a breakpoint's trap does. Then a
 * post_handler does not keep the probe from being reached by a jump. For a probe without
 * a detour it may answer true, and then false once there is a detour.
 *
 * Context: Process context.
 * Return: whether it does.
 */
#ifndef arch_detour_calls_post
#define arch_detour_calls_post(op)	false
#endif

/**
 * arch_jump_lead() - how far before its probe does a jump begin?
 * @op: a probe with a prepared detour
 *
 * If there can be no jump at the probe, an architecture may write it at an earlier
 * instruction, from which the code runs straight to the probe. Then it defines this and
 * arch_jump_lead_max() in its <asm/kprobes.h>. arch_within_optimized_kprobe() is true
 * from that instruction on.
 *
 * Context: Any.
 * Return: bytes.
 */
#ifndef arch_jump_lead
#define arch_jump_lead(op)	0U
#endif

/* kernel/kprobes/neighbours.c */
bool arch_jump_can_share(const struct optimized_kprobe *op, const struct optimized_kprobe *other);

/* kernel/kprobes/text.c */
bool arch_chain_detour(struct optimized_kprobe *op, struct optimized_kprobe *owner,
		       struct optimized_kprobe *next, bool post, bool unused);

/* kernel/kprobes/slot.c */
void kprobe_publish_optinsn_slot(kprobe_opcode_t *slot);
kprobe_opcode_t *kprobe_optinsn_slot_of(unsigned long addr);
#endif

#endif /* CONFIG_KPROBES */

#endif /* _LINUX_KPROBES_PORT_H */
