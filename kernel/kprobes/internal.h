/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of kprobes know about one another, and nobody else.
 *
 * Every probed address has one struct kprobe_point. The struct kprobe inside it
 * is the one that architectures see; a user's struct kprobe is a member of it.
 * A change to a member, or to one of the global switches, changes what the
 * point wants of the text, and points_reconcile() makes the text follow.
 *
 * Lock order, outermost first. The trap side takes none of them.
 *
 *	kprobe_mutex
 *	  cpus_read_lock()
 *	    jump_label_lock()
 *	      text_mutex
 *	        slot_mutex, blacklist_mutex
 *	  the locks of ftrace (never with text_mutex held)
 *	  chunks_mutex
 *
 * No grace period is waited for with any of them held.
 */
#ifndef _KERNEL_KPROBES_INTERNAL_H
#define _KERNEL_KPROBES_INTERNAL_H

#include <linux/cleanup.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/objpool.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>

struct module;
struct seq_file;

/*
 * The life of a point, see point_edges[] in state.c for the legal steps.
 */
enum point_state {
	POINT_NEW,		/* prepared, not yet in the table */
	POINT_DISARMED,		/* in the table, text untouched */
	POINT_ARMED,		/* breakpoint written, or ftrace site taken */
	POINT_OPTIMIZING,	/* as ARMED, and queued for a jump */
	POINT_OPTIMIZED,	/* jump written */
	POINT_UNOPTIMIZING,	/* as OPTIMIZED, and queued to become ARMED */
	POINT_GONE,		/* text freed, never to be written again */
	POINT_DEAD,		/* no members; freed after a grace period */
	NR_POINT_STATES,
};

/* What stands, or should stand, at the probed address. */
enum point_text {
	POINT_PLAIN,		/* the original instruction */
	POINT_BREAK,		/* breakpoint or ftrace call */
	POINT_BREAK_LATER,	/* the same, but a jump may stay for a while */
	POINT_JUMP,		/* jump to a detour */
	NR_POINT_TEXTS,
};

/**
 * struct point_inputs - all that decides what a point wants of its text
 * @enabled: members that want to be called
 * @post: how many of those have a post_handler that no detour would call
 * @all_off: debugfs "enabled" is 0 and the point obeys it
 * @may_jump: the optimizer is allowed to run
 * @detour: a detour is prepared
 * @blocked: another point is armed in the region that a jump would cover
 */
struct point_inputs {
	unsigned int enabled;
	unsigned int post;
	bool all_off;
	bool may_jump;
	bool detour;
	bool blocked;
};

/**
 * struct kprobe_point - one probed address
 * @op: what architectures see; its pre_handler and post_handler dispatch to the
 *	members, its list links the point in the caller's work list
 * @callees: the members that are enabled and have a pre_handler, linked by their
 *	hlist in order of registration, and callees_end behind them
 * @members: the users' probes at this address, in order of registration
 * @ftrace_ops: the ftrace_ops that holds the site, NULL when none does
 * @enabled: members not disabled
 * @post: members not disabled that have a post_handler
 * @state: written by point_set_state() only
 * @detour_tried: whether there can be a detour is known, see optimize.c
 * @postponed: some members are callees only once nobody comes through a jump
 * @rcu: delays the freeing of a dead point that has had a detour
 */
struct kprobe_point {
#ifdef CONFIG_OPTPROBES
	struct optimized_kprobe op;
#else
	struct {
		struct kprobe kp;
	} op;
#endif
	struct hlist_head callees;
	struct list_head members;
	union {
		struct {
#ifdef CONFIG_KPROBES_ON_FTRACE
			struct ftrace_ops *ftrace_ops;
#endif
			unsigned int enabled;
			unsigned int post;
		};
		struct rcu_head rcu;
	};
	enum point_state state;
	bool detour_tried;
	bool postponed;
};

static __always_inline struct kprobe_point *point_of(struct kprobe *kp)
{
	return container_of(kp, struct kprobe_point, op.kp);
}

static inline unsigned long point_addr(const struct kprobe_point *point)
{
	return (unsigned long)point->op.kp.addr;
}

DEFINE_LOCK_GUARD_0(jump_label_lock, jump_label_lock(), jump_label_unlock())

/* kprobes.c */
extern struct mutex kprobe_mutex;

/**
 * struct probe_request - one probe on its way into a point
 * @kp: the user's probe, untouched until all that can fail has passed
 * @index: its place in the array that the caller has given
 * @addr: where it goes
 * @on_entry: @addr is the entry of a function
 * @on_ftrace: @addr is an ftrace site
 * @module: module that owns the text, held until the text is armed
 * @point: the point that @kp joins
 * @saved: what joining writes to @kp, as the caller handed it in
 */
struct probe_request {
	struct kprobe *kp;
	unsigned int index;
	unsigned long addr;
	bool on_entry;
	bool on_ftrace;
	struct module *module;
	struct kprobe_point *point;
	struct {
		kprobe_opcode_t *addr;
		kprobe_opcode_t opcode;
		unsigned long nmissed;
		u32 flags;
	} saved;
};

/* resolve.c: from what the user names to an address */
int resolve_probe(struct probe_request *req);

/* function.c: the function that an address is in */
enum function_fact {
	FUNCTION_IS_BLACKLISTED_CLONE,
	FUNCTION_HAS_JUMP_LABELS,
	FUNCTION_HAS_STATIC_CALLS,
};

void function_forget(void);
bool function_is(unsigned long addr, enum function_fact fact,
		 bool (*test)(const struct kprobe_function *fn));

/* check.c: may this address be probed? */
int check_probe(struct probe_request *req);
int check_refused(struct probe_request *req, int err);

/* blacklist.c: ranges that no probe may enter */
extern unsigned long __start_kprobe_blacklist[];
extern unsigned long __stop_kprobe_blacklist[];

int blacklist_init(void);
bool blacklist_holds(unsigned long addr);
bool blacklist_holds_origin(const char *name);
int blacklist_show(struct seq_file *m, bool show_addr);
#ifdef CONFIG_MODULES
int blacklist_add_module(struct module *mod);
void blacklist_forget_module(struct module *mod, enum mod_mem_type type);
#endif

/* slot.c: executable memory for copies of instructions */
unsigned int slot_pages_in_use(void);

/* state.c: pure, see there */
const char *point_state_name(enum point_state state);
bool point_edge_legal(enum point_state from, enum point_state to);
enum point_text point_wants(const struct point_inputs *in);
enum point_state point_next(enum point_state state, enum point_text wanted);
u32 point_state_flags(enum point_state state);

/*
 * The traps of the kernel's own ports look at the post_handler of a point twice in a
 * hit, and call what they find the second time: there it stays when the last member
 * that has one leaves, and calls nobody.
 */
#ifdef ARCH_KPROBES_TELL_CONTEXTS
#define POST_HANDLER_STAYS	0
#else
#define POST_HANDLER_STAYS	1
#endif

/* point.c: points, their members and their text */
int points_init(void);
struct kprobe_point *point_find(unsigned long addr);
struct kprobe_point *point_find_member(struct kprobe *kp);
struct kprobe_point *point_find_registered(struct probe_request *req);
bool point_has_member(const struct kprobe_point *point, const struct kprobe *kp);
struct kprobe_point *point_create(unsigned long addr, bool on_entry, bool on_ftrace);
int points_reserve(unsigned int nr);
void point_publish(struct kprobe_point *point);
void point_add_member(struct kprobe_point *point, struct kprobe *kp);
void point_del_member(struct kprobe_point *point, struct kprobe *kp);
bool point_enable_member(struct kprobe_point *point, struct kprobe *kp, bool enable);
void point_include_postponed(struct kprobe_point *point);
void point_queue(struct kprobe_point *point, struct list_head *work);
int points_reconcile(struct list_head *work);
int points_reconcile_most(struct list_head *work);
void points_bury(struct list_head *work, struct list_head *dead);
void points_free(struct list_head *dead);
void points_forget_text(unsigned long start, unsigned long end, bool can_write);
int points_for_each(int (*fn)(struct kprobe_point *point, void *data), void *data);
void point_set_state(struct kprobe_point *point, enum point_state state);
bool point_wants_text(struct kprobe_point *point);
bool point_wants_detour(struct kprobe_point *point);
int points_reconcile_all(void);
bool points_all_off(void);
int points_set_all_off(bool off);

/* arm.c: text of many points at once */
int arm_points(struct list_head *kps);
void disarm_points(struct list_head *kps);

/* ftrace.c: the same through ftrace sites */
#ifdef CONFIG_KPROBES_ON_FTRACE
int ftrace_arm_points(struct list_head *kps);
void ftrace_disarm_points(struct list_head *kps);
int ftrace_retarget_point(struct kprobe_point *point);
bool ftrace_point_misplaced(struct kprobe_point *point);
#else
static inline int ftrace_arm_points(struct list_head *kps)
{
	return 0;
}

static inline void ftrace_disarm_points(struct list_head *kps)
{
}

static inline int ftrace_retarget_point(struct kprobe_point *point)
{
	return 0;
}

static inline bool ftrace_point_misplaced(struct kprobe_point *point)
{
	return false;
}
#endif

/* optimize.c: jumps in place of breakpoints */
#ifdef CONFIG_OPTPROBES
bool optimize_allowed(void);
bool optimize_has_detour(struct kprobe_point *point);
bool optimize_calls_post(struct kprobe_point *point);
bool optimize_blocked(struct kprobe_point *point);
void optimize_init(struct kprobe_point *point);
void optimize_queue(struct kprobe_point *point);
void optimize_forget(struct kprobe_point *point);
void optimize_cancel(struct list_head *kps);
void optimize_add_outer(struct list_head *work);
bool optimize_covers(unsigned long addr);
void optimize_remove(struct kprobe_point *point);
void optimize_prepare_queued(void);
void optimize_explain(struct kprobe_point *point, char *buf, size_t size);
void optimize_set_knob(bool on);
#else
static inline bool optimize_allowed(void)
{
	return false;
}

static inline bool optimize_has_detour(struct kprobe_point *point)
{
	return false;
}

static inline bool optimize_calls_post(struct kprobe_point *point)
{
	return false;
}

static inline bool optimize_blocked(struct kprobe_point *point)
{
	return false;
}

static inline void optimize_init(struct kprobe_point *point)
{
}

static inline void optimize_queue(struct kprobe_point *point)
{
}

static inline void optimize_forget(struct kprobe_point *point)
{
}

static inline void optimize_cancel(struct list_head *kps)
{
}

static inline void optimize_add_outer(struct list_head *work)
{
}

static inline bool optimize_covers(unsigned long addr)
{
	return false;
}

static inline void optimize_remove(struct kprobe_point *point)
{
}

static inline void optimize_prepare_queued(void)
{
}

static inline void optimize_explain(struct kprobe_point *point, char *buf, size_t size)
{
	strscpy(buf, "no jumps in this kernel", size);
}
#endif

/* hit.c: what runs in traps */
extern struct kprobe callees_end;
bool hit_put_aside(struct kprobe *p);

int hit_pre_handlers(struct kprobe *p, struct pt_regs *regs);
void hit_post_handler(struct kprobe *p, struct pt_regs *regs, unsigned long flags);
int hit_init(void);

/* return.c and the files below it */
#ifdef CONFIG_KRETPROBES
int return_init(void);
int return_pools_init(void);
size_t return_each_cpu(int nr, size_t data_size);
int return_pool_create(struct kretprobe *rp, int nr);
void return_pool_retire(struct kretprobe *rp);
void return_pool_destroy(struct kretprobe *rp);
void return_pools_settle(void);
int return_entry_handler(struct kprobe *p, struct pt_regs *regs);

static inline bool return_is_probe(const struct kprobe *kp)
{
	return kp->pre_handler == return_entry_handler;
}
#else
static inline int return_init(void)
{
	return 0;
}

static inline bool return_is_probe(const struct kprobe *kp)
{
	return false;
}

static inline void return_pool_retire(struct kretprobe *rp)
{
}
#endif

#ifdef CONFIG_KRETPROBE_ON_RETHOOK
struct kretprobe_instance *return_pool_get(struct kretprobe *rp);

static inline struct kretprobe_instance *return_pool_pop(struct kretprobe *rp)
{
	return NULL;
}

static inline bool return_is_retired(const struct kretprobe *rp)
{
	return !rcu_access_pointer(rp->rh->handler);
}

static __always_inline int return_call_entry_handler(struct kretprobe *rp,
						     struct kretprobe_instance *ri,
						     struct pt_regs *regs)
{
	return rp->entry_handler(ri, regs);
}

void return_pool_keep(struct kretprobe_instance *ri);
void return_divert(struct kretprobe_instance *ri, struct pt_regs *regs, bool mcount);
#elif defined(CONFIG_KRETPROBES)
struct return_pool;

/**
 * struct return_chunk - instances of a return probe that were allocated together
 * @holder: tells the instances their return probe
 * @spare: that of the pool
 * @objects: the instances
 * @pool: which the chunk is part of, until the return probe is unregistered
 * @next: the chunk that came after this one, or NULL
 */
struct return_chunk {
	struct kretprobe_holder holder;
	struct kretprobe_instance * __percpu *spare;
	struct objpool_head objects;
	struct return_pool *pool;
	struct return_chunk *next;
};

struct kretprobe_instance *return_pool_pop(struct kretprobe *rp);
void return_pool_put(struct kretprobe_instance *ri);

static __always_inline struct return_chunk *return_chunk_of(struct kretprobe_holder *holder)
{
	return container_of(holder, struct return_chunk, holder);
}

static inline bool return_is_retired(const struct kretprobe *rp)
{
	return !rcu_access_pointer(rp->rph->rp);
}

/* For as long as it runs get_kretprobe() is to tell, even if @rp is retired meanwhile. */
static __always_inline int return_call_entry_handler(struct kretprobe *rp,
						     struct kretprobe_instance *ri,
						     struct pt_regs *regs)
{
	struct kretprobe_holder holder, *own = ri->rph;
	int ret;

	RCU_INIT_POINTER(holder.rp, rp);
	ri->rph = &holder;
	ret = rp->entry_handler(ri, regs);
	ri->rph = own;

	return ret;
}

/* An NMI may come in between, and other CPUs take a spare one when they have none. */
static __always_inline struct kretprobe_instance *return_pool_get(struct kretprobe *rp)
{
	return xchg(this_cpu_ptr(return_chunk_of(rp->rph)->spare), NULL);
}

/* The return probe has been there since preemption was disabled, so the pool stays. */
static __always_inline void return_pool_keep(struct kretprobe_instance *ri)
{
	struct kretprobe_instance *none = NULL;

	if (unlikely(!try_cmpxchg(this_cpu_ptr(return_chunk_of(ri->rph)->spare), &none, ri)))
		return_pool_put(ri);
}

static __always_inline void return_divert(struct kretprobe_instance *ri, struct pt_regs *regs,
					  bool mcount)
{
#ifdef arch_divert_return
	arch_divert_return(&ri->ret_addr, &ri->fp, regs);
#else
	arch_prepare_kretprobe(ri, regs);
#endif
	__llist_add(&ri->llist, &current->kretprobe_instances);
}
#endif

/* lifetime.c: text that comes and goes */
#ifdef CONFIG_MODULES
int lifetime_init(void);
int lifetime_hold(struct probe_request *req);
void lifetime_release(struct probe_request *req);
bool lifetime_is_going(unsigned long addr);
#else
static inline int lifetime_init(void)
{
	return 0;
}

static inline int lifetime_hold(struct probe_request *req)
{
	return 0;
}

static inline void lifetime_release(struct probe_request *req)
{
}

static inline bool lifetime_is_going(unsigned long addr)
{
	return false;
}
#endif

#endif /* _KERNEL_KPROBES_INTERNAL_H */
