/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel probes: run a handler at almost any kernel instruction, or when a
 * function returns, without rebuilding or rebooting.
 *
 * Documentation/trace/kprobes.rst describes how to use this interface; the functions are
 * described where they are defined, in kernel/kprobes.c and kernel/kprobes/return.c.
 */
#ifndef _LINUX_KPROBES_H
#define _LINUX_KPROBES_H

#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/linkage.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/objpool.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/rethook.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <asm/kprobes.h>

struct kprobe;
struct pt_regs;
struct kretprobe;
struct kretprobe_instance;
struct task_struct;

/* Values of kprobe_ctlblk::kprobe_status, single bits so that they can be masked. */
#define KPROBE_HIT_ACTIVE	0x00000001	/* a pre_handler runs */
#define KPROBE_HIT_SS		0x00000002	/* the instruction's copy runs */
#define KPROBE_REENTER		0x00000004	/* a hit within a hit */
#define KPROBE_HIT_SSDONE	0x00000008	/* a post_handler runs */

#ifndef CONFIG_KPROBES
typedef int kprobe_opcode_t;
struct arch_specific_insn {
	int dummy;
};
#endif

typedef int (*kretprobe_handler_t)(struct kretprobe_instance *ri, struct pt_regs *regs);
typedef int (*kprobe_pre_handler_t)(struct kprobe *p, struct pt_regs *regs);
typedef void (*kprobe_post_handler_t)(struct kprobe *p, struct pt_regs *regs,
				      unsigned long flags);
typedef int (*kprobe_fault_handler_t)(struct kprobe *p, struct pt_regs *regs, int trapnr);

/**
 * struct kprobe - a probe on one kernel instruction
 * @addr: address of the probed instruction; set this or @symbol_name
 * @pre_handler: runs before the instruction; a result other than 0 says that
 *	the handler has set a new instruction pointer: the instruction is skipped
 * @post_handler: runs after the instruction
 * @list: links the registered probes of one address
 * @flags: %KPROBE_FLAG_DISABLED may be set before registration
 * @offset: bytes to add to @addr or to the address of @symbol_name
 * @symbol_name: symbol to look the address up by, or NULL
 * @nmissed: hits since registration that could not run the handlers
 * @hit_pre: private, the pre_handler that hits call: the one that was registered, whatever its
 *	owner does to @pre_handler meanwhile
 * @handler_probe: in the probe that get_kprobe() finds: the probe whose handlers a hit calls
 * @registration: private, in a user's probe as long as it is registered
 * @hlist: links the probes at an address whose pre_handlers a hit calls
 * @opcode: the instruction's first opcode unit, as it was before the probe; 0 on an ftrace
 *	site
 * @ainsn: architecture's preparation of the instruction
 * @fault_handler: with CONFIG_KPROBES_FAULT_HANDLER, asked when a handler of the probe or
 *	the probed instruction faults and there is no fixup, with the registers of the fault
 *	and the architecture's number for it; a result of 1 says that the fault has been
 *	dealt with and that execution continues with these registers
 */
struct kprobe {
	struct hlist_node hlist;
	kprobe_opcode_t *addr;
	kprobe_pre_handler_t pre_handler;
	kprobe_post_handler_t post_handler;
	kprobe_pre_handler_t hit_pre;
	union {
		struct kprobe *handler_probe;
		unsigned long registration;
	};
	struct list_head list;
	u32 flags;
	unsigned int offset;
	const char *symbol_name;
	unsigned long nmissed;
	kprobe_opcode_t opcode;
	struct arch_specific_insn ainsn;
#ifdef CONFIG_KPROBES_FAULT_HANDLER
	kprobe_fault_handler_t fault_handler;
#endif
};

#define KPROBE_FLAG_GONE	1	/* the probed text has been freed */
#define KPROBE_FLAG_DISABLED	2	/* registered, but asked not to fire */
#define KPROBE_FLAG_OPTIMIZED	4	/* reached by a jump, or queued for one */
#define KPROBE_FLAG_FTRACE	8	/* reached through an ftrace site */
#define KPROBE_FLAG_ON_FUNC_ENTRY 16	/* addr is the entry of a function */
#define KPROBE_FLAG_POST	32	/* private, registered with a post_handler */
#define KPROBE_FLAG_OOPSED	64	/* private, to be disabled: a handler has oopsed */

static inline bool kprobe_ftrace(struct kprobe *p)
{
	/* Hits read this, and READ_ONCE() would cost them an instruction. */
	return data_race(p->flags) & KPROBE_FLAG_FTRACE;
}

static inline bool kprobe_gone(struct kprobe *p)
{
	return READ_ONCE(p->flags) & KPROBE_FLAG_GONE;
}

static inline bool kprobe_optimized(struct kprobe *p)
{
	return READ_ONCE(p->flags) & KPROBE_FLAG_OPTIMIZED;
}

/* A disabled probe must not run a handler, nor must one whose text is gone. */
static inline bool kprobe_disabled(struct kprobe *p)
{
	/* As in kprobe_ftrace(). */
	return data_race(p->flags) & (KPROBE_FLAG_DISABLED | KPROBE_FLAG_GONE);
}

/**
 * struct kretprobe_blackpoint - a function that return probes must not divert
 * @name: its symbol
 * @addr: not used
 */
struct kretprobe_blackpoint {
	const char *name;
	void *addr;
};

/* Outlives its return probe, until the last diverted function has returned. */
struct kretprobe_holder {
	struct kretprobe __rcu *rp;
};

/**
 * struct kretprobe - a probe on the return of a function
 * @kp: names the function; its handlers are set by kprobes
 * @rh: source of the instances on architectures that use rethook
 * @rph: source of the instances on the others
 * @entry_handler: runs when the function is entered; a result other than 0
 *	leaves this call alone, @handler does not run for it
 * @handler: runs when the function returns, result ignored
 * @data_size: bytes of private data in each &struct kretprobe_instance
 * @maxactive: calls that can be followed at one time from the start; 0 or less
 *	leaves it to kprobes, which writes twice the number of possible CPUs here, but at
 *	least 10
 * @nmissed: calls not followed because too many others were under way
 */
struct kretprobe {
	struct kprobe kp;
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	struct rethook *rh;
#else
	struct kretprobe_holder *rph;
#endif
	kretprobe_handler_t entry_handler;
	kretprobe_handler_t handler;
	size_t data_size;
	int maxactive;
	int nmissed;
};

#define KRETPROBE_MAX_DATA_SIZE	4096

/**
 * struct kretprobe_instance - one followed call of a function
 * @node: all of the below, on architectures that use rethook
 * @llist: links the calls that a task has under way, innermost first
 * @rph: leads to the return probe, see get_kretprobe()
 * @ret_addr: real return address of the function
 * @fp: identifies the frame; NULL on architectures that do not need it
 * @data: private data of the user, kretprobe::data_size bytes, not cleared
 */
struct kretprobe_instance {
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	struct rethook_node node;
#else
	struct llist_node llist;
	struct kretprobe_holder *rph;
	kprobe_opcode_t *ret_addr;
	void *fp;
#endif
	char data[] __aligned(sizeof(void *));
};

#ifdef CONFIG_KPROBES

/* hit.c defines these two for ports with ARCH_KPROBES_NATIVE, each other architecture itself. */
DECLARE_PER_CPU(struct kprobe *, current_kprobe);
DECLARE_PER_CPU(struct kprobe_ctlblk, kprobe_ctlblk);

/**
 * kprobe_running() - the probe whose hit is being handled on this CPU
 *
 * Context: Preemption disabled.
 * Return: the probe, or NULL. It carries the address and flags of the probed
 * instruction, but need not be a registered struct kprobe. Between kprobe_busy_begin() and
 * kprobe_busy_end() it is a placeholder without an address.
 */
static inline struct kprobe *kprobe_running(void)
{
	return __this_cpu_read(current_kprobe);
}

static inline struct kprobe_ctlblk *get_kprobe_ctlblk(void)
{
	return this_cpu_ptr(&kprobe_ctlblk);
}

static inline void reset_current_kprobe(void)
{
	__this_cpu_write(current_kprobe, NULL);
#ifdef ARCH_KPROBES_NATIVE
	/* Until kprobe_hit_begin() has stored both, any interrupt is later than this. */
	__this_cpu_write(kprobe_ctlblk.context, 0);
#endif
}

/* kernel/kprobes.c */
int register_kprobe(struct kprobe *p);
int register_kprobes(struct kprobe **kps, int num);
void unregister_kprobe(struct kprobe *p);
void unregister_kprobes(struct kprobe **kps, int num);
int enable_kprobe(struct kprobe *kp);
int disable_kprobe(struct kprobe *kp);

/* kernel/kprobes/check.c and function.c */
int kprobe_on_func_entry(kprobe_opcode_t *addr, const char *sym, unsigned long offset);
kprobe_opcode_t *kprobe_lookup_name(const char *name, unsigned int offset);
kprobe_opcode_t *arch_adjust_kprobe_addr(unsigned long addr, unsigned long offset,
					 bool *on_func_entry);

/* kernel/kprobes/blacklist.c */
bool within_kprobe_blacklist(unsigned long addr);
int kprobe_add_ksym_blacklist(unsigned long entry);
int kprobe_add_area_blacklist(unsigned long start, unsigned long end);
bool arch_within_kprobe_blacklist(unsigned long addr);
int arch_populate_kprobe_blacklist(void);

/* kernel/kprobes/refused.c */
const char **kprobe_refusal_text(const struct kprobe *kp, int err);

/* kernel/kprobes/table.c */
struct kprobe *get_kprobe(void *addr);

/* kernel/kprobes/hit.c */
void kprobes_inc_nmissed_count(struct kprobe *p);
void dump_kprobe(struct kprobe *kp);
void kprobe_busy_begin(void);
void kprobe_busy_end(void);

/* kernel/kprobes/module.c */
void kprobe_free_init_mem(void);

/* kernel/kprobes/text.c */
bool kprobe_keeps_text(unsigned long addr);

/* Implemented by the architecture: text patching and copies of instructions. */
int arch_init_kprobes(void);
int arch_prepare_kprobe(struct kprobe *p);
int arch_prepare_kprobe_ftrace(struct kprobe *p);
void arch_arm_kprobe(struct kprobe *p);
void arch_disarm_kprobe(struct kprobe *p);
int kprobe_exceptions_notify(struct notifier_block *self, unsigned long val, void *data);
#ifdef ARCH_KPROBES_NATIVE
void arch_remove_kprobe(struct kprobe *p);
extern const int kretprobe_blacklist_size;
#endif

/* Implemented by architectures. Their own code calls them, and fault.c arch_kprobe_fixed_up(). */
void arch_kprobe_fixed_up(struct pt_regs *regs, unsigned long ip);
unsigned long arch_kprobe_insn_ip(unsigned long ip);

/*
 * Bytes of one out-of-line slot. An architecture whose slots hold more than a copy of the
 * longest instruction defines this in its <asm/kprobes.h>.
 */
#ifndef KPROBE_INSN_SLOT_SIZE
#define KPROBE_INSN_SLOT_SIZE	(MAX_INSN_SIZE * sizeof(kprobe_opcode_t))
#endif

/* kernel/kprobes/slot.c */
kprobe_opcode_t *get_insn_slot(void);
void free_insn_slot(kprobe_opcode_t *slot, int dirty);
bool is_kprobe_insn_slot(unsigned long addr);
int kprobe_get_kallsym(unsigned int symnum, unsigned long *value, char *type, char *sym);
void *alloc_insn_page(void);

#ifdef CONFIG_OPTPROBES
/**
 * struct optimized_kprobe - a probe that may be reached by a jump
 * @kp: the probe
 * @list: the optimizer's queue, or one that it hands to the architecture
 * @optinsn: architecture's detour
 */
struct optimized_kprobe {
	struct kprobe kp;
	struct list_head list;
	struct arch_optimized_insn optinsn;
};

#ifdef ARCH_KPROBES_NATIVE
static inline int arch_prepared_optinsn(struct arch_optimized_insn *optinsn)
{
	return !!optinsn->insn;
}
#else
int arch_prepared_optinsn(struct arch_optimized_insn *optinsn);
#endif
/* arch/arm and arch/powerpc define this, but no one calls it. */
int arch_check_optimized_kprobe(struct optimized_kprobe *op);
int arch_prepare_optimized_kprobe(struct optimized_kprobe *op, struct kprobe *orig);
void arch_remove_optimized_kprobe(struct optimized_kprobe *op);
void arch_optimize_kprobes(struct list_head *oplist);
void arch_unoptimize_kprobes(struct list_head *oplist, struct list_head *done_list);
void arch_unoptimize_kprobe(struct optimized_kprobe *op);
int arch_within_optimized_kprobe(struct optimized_kprobe *op, kprobe_opcode_t *addr);

/* kernel/kprobes/optimize.c */
void wait_for_kprobe_optimizer(void);

/* kernel/kprobes/hit.c */
void opt_pre_handler(struct kprobe *p, struct pt_regs *regs);

/* kernel/kprobes/slot.c */
kprobe_opcode_t *get_optinsn_slot(void);
void free_optinsn_slot(kprobe_opcode_t *slot, int dirty);
bool is_kprobe_optinsn_slot(unsigned long addr);
void *alloc_optinsn_page(void);
void free_optinsn_page(void *page);
#endif /* CONFIG_OPTPROBES */

#ifdef CONFIG_KPROBES_ON_FTRACE
/* kernel/kprobes/ftrace.c */
extern bool kprobe_ftrace_disabled;
void kprobe_ftrace_kill(void);

void kprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs);
#endif

#else /* !CONFIG_KPROBES */

struct kprobe_ctlblk;

static inline int register_kprobe(struct kprobe *p) { return -EOPNOTSUPP; }
static inline void unregister_kprobe(struct kprobe *p) { }
static inline int register_kprobes(struct kprobe **kps, int num) { return -EOPNOTSUPP; }
static inline void unregister_kprobes(struct kprobe **kps, int num) { }
static inline int enable_kprobe(struct kprobe *kp) { return -EOPNOTSUPP; }
static inline int disable_kprobe(struct kprobe *kp) { return -EOPNOTSUPP; }

static inline struct kprobe *kprobe_running(void) { return NULL; }
static inline struct kprobe *get_kprobe(void *addr) { return NULL; }
static inline void kprobe_busy_begin(void) { }
static inline void kprobe_busy_end(void) { }
static inline void kprobe_free_init_mem(void) { }
static inline void arch_kprobe_fixed_up(struct pt_regs *regs, unsigned long ip) { }
static inline unsigned long arch_kprobe_insn_ip(unsigned long ip) { return ip; }

/* Without a blacklist, callers must expect any address to be unsafe. */
static inline bool within_kprobe_blacklist(unsigned long addr) { return true; }

static inline bool is_kprobe_insn_slot(unsigned long addr) { return false; }
static inline int kprobe_get_kallsym(unsigned int symnum, unsigned long *value, char *type,
				     char *sym)
{
	return -ERANGE;
}

#ifndef kprobe_fault_handler
static inline int kprobe_fault_handler(struct pt_regs *regs, int trapnr) { return 0; }
#endif

#endif /* CONFIG_KPROBES */

#ifndef CONFIG_OPTPROBES
static inline void wait_for_kprobe_optimizer(void) { }
static inline bool is_kprobe_optinsn_slot(unsigned long addr) { return false; }
#endif

#ifndef CONFIG_KPROBES_ON_FTRACE
static inline void kprobe_ftrace_kill(void) { }
#endif

int arch_trampoline_kprobe(struct kprobe *p);

#ifdef CONFIG_KRETPROBES

/* kernel/kprobes/return.c */
int register_kretprobe(struct kretprobe *rp);
int register_kretprobes(struct kretprobe **rps, int num);
void unregister_kretprobe(struct kretprobe *rp);
void unregister_kretprobes(struct kretprobe **rps, int num);

/* A port that blacklists functions defines the array; the others define the size as 0. */
extern struct kretprobe_blackpoint kretprobe_blacklist[];

#else /* !CONFIG_KRETPROBES */

static inline int register_kretprobe(struct kretprobe *rp) { return -EOPNOTSUPP; }
static inline void unregister_kretprobe(struct kretprobe *rp) { }
static inline int register_kretprobes(struct kretprobe **rps, int num) { return -EOPNOTSUPP; }
static inline void unregister_kretprobes(struct kretprobe **rps, int num) { }

#endif /* CONFIG_KRETPROBES */

/**
 * get_kretprobe() - the return probe that follows a call
 * @ri: the followed call, as handed to a handler
 *
 * Context: Any, with RCU watching.
 * Return: the probe; when the function returns, NULL if it is being unregistered.
 */
static __always_inline struct kretprobe *get_kretprobe(struct kretprobe_instance *ri)
{
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	return READ_ONCE(ri->node.rethook->data);
#else
	const struct kretprobe_holder *holder = ri->rph;

	/* No check that RCU protects this: the function that checks may itself return here. */
	return rcu_dereference_raw(holder->rp);
#endif
}

/**
 * get_kretprobe_retaddr() - where a followed call returns to
 * @ri: the followed call, as handed to the return handler
 *
 * Context: Any, but not in an entry_handler, which runs before the address is noted.
 * Return: the real address, whatever the return address on the stack says now.
 */
static __always_inline unsigned long get_kretprobe_retaddr(struct kretprobe_instance *ri)
{
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	return ri->node.ret_addr;
#else
	return (unsigned long)ri->ret_addr;
#endif
}

/* The architecture's trampoline for diverted returns, unless rethook has it. */
void __kretprobe_trampoline(void);

static nokprobe_inline bool is_kretprobe_trampoline(unsigned long addr)
{
	if (IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK))
		return is_rethook_trampoline(addr);

	return IS_ENABLED(CONFIG_KRETPROBES) &&
	       (void *)addr == dereference_kernel_function_descriptor(__kretprobe_trampoline);
}

#if defined(CONFIG_KRETPROBES) && !defined(CONFIG_KRETPROBE_ON_RETHOOK)

void arch_prepare_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs);
#ifndef arch_kretprobe_fixup_return
void arch_kretprobe_fixup_return(struct pt_regs *regs, kprobe_opcode_t *correct_ret_addr);
#endif

unsigned long __kretprobe_trampoline_handler(struct pt_regs *regs, void *frame_pointer);
unsigned long kretprobe_trampoline_handler(struct pt_regs *regs, void *frame_pointer);
unsigned long kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
				      struct llist_node **cur);
unsigned long kretprobe_find_caller(void *fp, unsigned long addr, struct llist_node *cur,
				    struct llist_node *rethook_cur);
void kprobe_flush_task(struct task_struct *task);

#else

static nokprobe_inline unsigned long kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
							     struct llist_node **cur)
{
	if (IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK))
		return rethook_find_ret_addr(tsk, (unsigned long)fp, cur);

	return 0;
}

static nokprobe_inline unsigned long kretprobe_find_caller(void *fp, unsigned long addr,
							   struct llist_node *cur,
							   struct llist_node *rethook_cur)
{
	return addr;
}

static inline void kprobe_flush_task(struct task_struct *task) { }

#endif

/**
 * enable_kretprobe() - let a disabled return probe follow calls again
 * @probe: the return probe
 *
 * Context: As enable_kprobe().
 * Return: As enable_kprobe().
 */
static inline int enable_kretprobe(struct kretprobe *probe)
{
	return enable_kprobe(&probe->kp);
}

/**
 * disable_kretprobe() - keep a registered return probe from following more calls
 * @probe: the return probe
 *
 * The handler still runs for calls that it follows already.
 *
 * Context: As disable_kprobe().
 * Return: As disable_kprobe().
 */
static inline int disable_kretprobe(struct kretprobe *probe)
{
	return disable_kprobe(&probe->kp);
}

#ifdef ARCH_KPROBES_NATIVE
/* Copies run with no probe current: this names the probed instruction in @regs. */
void arch_kprobe_leave_copy(struct pt_regs *regs);

/*
 * Nothing to do: arch_kprobe_leave_copy() has moved a fault in a copy, and one in a handler has
 * an entry of its own in the exception table, if any.
 */
static inline int kprobe_fault_handler(struct pt_regs *regs, int trapnr) { return 0; }
#else
static inline void arch_kprobe_leave_copy(struct pt_regs *regs) { }
#endif

#ifdef CONFIG_KPROBES_FAULT_HANDLER
/* kernel/kprobes/fault.c */
bool kprobe_ask_fault_handlers(struct pt_regs *regs, int trapnr);
#else
static inline bool kprobe_ask_fault_handlers(struct pt_regs *regs, int trapnr) { return false; }
#endif

/**
 * kprobe_page_fault() - let kprobes see a page fault before it is handled
 * @regs: registers at the fault; a fault in an instruction's copy is moved to
 *	the instruction
 * @trap: the architecture's number for the fault
 *
 * Context: A page fault, preemptible or not.
 * Return: true when the fault is dealt with.
 */
static __always_inline bool kprobe_page_fault(struct pt_regs *regs, unsigned int trap)
{
	if (!IS_ENABLED(CONFIG_KPROBES) || user_mode(regs))
		return false;

	arch_kprobe_leave_copy(regs);
	if (IS_ENABLED(CONFIG_KPROBES_FAULT_HANDLER))
		return kprobe_ask_fault_handlers(regs, trap);

	/* kprobe_running() is meaningful only for a task that cannot migrate. */
	return !preemptible() && kprobe_running() && kprobe_fault_handler(regs, trap);
}

#include <linux/jprobes.h>

#endif /* _LINUX_KPROBES_H */
