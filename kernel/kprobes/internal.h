/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of kprobes share with each other, and with nobody else. The head of
 * kernel/kprobes.c says which may call which.
 *
 * Some files are not in every kernel. A caller of their functions tests IS_ENABLED() first, or
 * something else that the compiler knows then.
 */
#ifndef _KERNEL_KPROBES_INTERNAL_H
#define _KERNEL_KPROBES_INTERNAL_H

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/jump_label.h>
#include <linux/kconfig.h>
#include <linux/kmsan-checks.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/objpool.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/rethook.h>
#include <linux/sched.h>
#include <linux/static_call_types.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <asm/extable.h>

struct kprobe_point;
struct optimized_kprobe;
struct seq_file;

/* -- waiting until no hit uses what it may have found before -- */

/*
 * RCU does not wait for a CPU that is coming or going, which can run probed code. So wait for
 * the end of hotplug before a grace period.
 */
static inline void kprobe_wait_for_hotplug(void)
{
	cpus_read_lock();
	cpus_read_unlock();
}

/* Wait until all hits that are under way have ended. */
static inline void kprobe_wait_for_hits(void)
{
	kprobe_wait_for_hotplug();
	synchronize_rcu();
}

/* -- slot.c: executable memory for copies of instructions -- */

unsigned int kprobe_slot_pages_in_use(void);

/* Only with CONFIG_OPTPROBES. */
extern bool kprobe_optinsn_slots_withheld;

void kprobe_hide_detour(struct kprobe *p);

/* -- table.c: the points by address -- */

struct kprobe_point *kprobe_point_find(unsigned long addr);
int kprobe_points_reserve(unsigned int nr);
int kprobe_points_at(unsigned long addr, int (*fn)(struct kprobe_point *point, void *data),
		     void *data);
int kprobe_points_for_each(int (*fn)(struct kprobe_point *point, void *data), void *data);
bool kprobe_table_has(const struct kprobe_point *point, unsigned long addr);
void kprobe_table_add(struct kprobe_point *point);
void kprobe_table_del(struct kprobe_point *point);
void kprobe_table_set_gone(struct kprobe_point *point);

/* -- point.c: points, their states and members, and what they want -- */

/* OPTIMIZING to OPTIMIZED are those in which a jump is planned or written. */
enum point_state {
	POINT_DISARMED,		/* text untouched */
	POINT_ARMED,		/* breakpoint written, or ftrace site taken */
	POINT_OPTIMIZING,	/* as ARMED, and queued for its jump */
	POINT_FENCED,		/* as OPTIMIZING, its region fenced until a grace period ends */
	POINT_OPTIMIZED,	/* jump written */
	POINT_GONE,		/* text freed, never to be written again */
	POINT_DEAD,		/* no members; freed after a grace period */
	NR_POINT_STATES,
};

/* Has the architecture been asked for a detour? From DETOUR_NO_MEMORY on it has. */
enum point_detour {
	DETOUR_UNTRIED,
	DETOUR_TOO_EARLY,	/* the module is not ready, to be tried again */
	DETOUR_NO_MEMORY,	/* there was no memory, to be tried again */
	DETOUR_TRIED,		/* the architecture has one, or says why there is none */
};

const char *kprobe_point_state_name(enum point_state state);
bool kprobe_point_edge_legal(enum point_state from, enum point_state to);
u32 kprobe_point_state_flags(enum point_state state);

/**
 * struct kprobe_point - one probed address
 * @op: what architectures see; the pre_handler and post_handler of op.kp dispatch to the
 *	members, op.kp.list links the point in the caller's work list, and op.list in a list
 *	of text.c or optimize.c
 * @called: the members that are enabled and have a pre_handler, linked by their hlist in
 *	the order of @members, and kprobe_called_end after them
 * @members: the users' probes at this address, the one registered last first
 * @ftrace_ops: the ftrace_ops that holds the site, NULL when none does
 * @enabled: members not disabled
 * @post: members not disabled that have a post_handler
 * @state: written by kprobe_point_set_state() only
 * @missed_same: of the hits that members have missed, those while this address was being handled
 * @detour: what is known about a detour, see optimize.c
 * @owner: the point whose jump leads through this one's detour, NULL when this one has
 *	its own; see neighbours.c
 * @shared: other points have this one as their owner
 * @reserved: another ftrace_ops has the site as well, to keep users of IPMODIFY away
 * @calls_post: the jump, planned or written, leads to code that calls post_handlers
 * @quiet_after: number of the grace period after which no task is in the detour, see text.c
 * @rcu: delays the freeing of a dead point
 * @left: links such a point when no task is in its detour any more
 */
struct kprobe_point {
#ifdef CONFIG_OPTPROBES
	struct optimized_kprobe op;
#else
	struct {
		struct kprobe kp;
	} op;
#endif
	struct hlist_head called;
	struct list_head members;
	union {
		struct {
			struct ftrace_ops *ftrace_ops;
			unsigned int enabled;
			unsigned int post;
		};
		struct rcu_head rcu;
		struct llist_node left;
	};
	enum point_state state;
	unsigned int missed_same;
	struct kprobe_point *owner;
	enum point_detour detour : 8;
	bool shared;
	bool reserved;
	bool calls_post;
	unsigned int quiet_after;
};

static __always_inline struct kprobe_point *point_of(struct kprobe *kp)
{
	return container_of(kp, struct kprobe_point, op.kp);
}

static inline unsigned long point_addr(const struct kprobe_point *point)
{
	return (unsigned long)point->op.kp.addr;
}

/* kprobes.c: set once everything is set up that probes need to be registered */
extern bool kprobes_available;

/* Is a jump planned or written, whether at the point or at the owner of a shared one? */
static inline bool point_in_jump_state(struct kprobe_point *point)
{
	return point->state >= POINT_OPTIMIZING && point->state <= POINT_OPTIMIZED;
}

static inline void point_queue(struct kprobe_point *point, struct list_head *work)
{
	if (list_empty(&point->op.kp.list))
		list_add_tail(&point->op.kp.list, work);
}

int kprobe_points_init(void);
struct kprobe_point *kprobe_point_create(unsigned long addr, bool on_entry, bool on_ftrace);
void kprobe_point_set_state(struct kprobe_point *point, enum point_state state);
void kprobe_points_sort(struct list_head *work);
void kprobe_point_discard(struct kprobe_point *point);
void kprobe_points_free(struct list_head *dead);

#ifdef CONFIG_OPTPROBES
static inline void point_init_detour(struct kprobe_point *point)
{
	INIT_LIST_HEAD(&point->op.list);
}

static inline bool point_has_detour(struct kprobe_point *point)
{
	return arch_prepared_optinsn(&point->op.optinsn);
}

/* Can the detour call post_handlers? */
static inline bool point_detour_calls_post(struct kprobe_point *point)
{
	return arch_detour_calls_post(&point->op);
}

/* Have its probes been disabled so short a time ago that the worker has not removed the jump? */
static inline bool point_jump_lingers(struct kprobe_point *point)
{
	return point->state == POINT_OPTIMIZED && !list_empty(&point->op.list);
}

/* A grace period has passed since then. */
static inline void point_remove_detour(struct kprobe_point *point)
{
	arch_remove_optimized_kprobe(&point->op);
}
#else
static inline void point_init_detour(struct kprobe_point *point) { }
static inline bool point_has_detour(struct kprobe_point *point) { return false; }
static inline bool point_detour_calls_post(struct kprobe_point *point) { return false; }
static inline bool point_jump_lingers(struct kprobe_point *point) { return false; }
static inline void point_remove_detour(struct kprobe_point *point) { }
#endif

/*
 * The traps of the kernel's own ports read a point's post_handler twice during a hit and
 * call the second value. Leave the dispatcher in place there when the last member with a
 * post_handler leaves; it calls no member then.
 */
#define POST_HANDLER_STAYS	(!__is_defined(ARCH_KPROBES_NATIVE))

struct kprobe_point *kprobe_point_find_member(const struct kprobe *kp);
bool kprobe_is_registered(struct kprobe *kp);
bool kprobe_is_leaving(const struct kprobe *kp);
void kprobe_has_left(struct kprobe *kp);
void kprobe_point_add_member(struct kprobe_point *point, struct kprobe *kp);
void kprobe_point_del_member(struct kprobe_point *point, struct kprobe *kp);
bool kprobe_point_enable_member(struct kprobe_point *point, struct kprobe *kp, bool enable);

bool kprobe_point_wants_text(struct kprobe_point *point);
bool kprobe_point_wants_jump(struct kprobe_point *point);
bool kprobe_points_all_off(void);
void kprobe_want_all_off(bool off);
void kprobe_want_jumps(bool may);

/* -- neighbours.c, with CONFIG_OPTPROBES: points whose jumps cover one another's instructions -- */

struct kprobe_point *kprobe_point_in_the_way(struct kprobe_point *point);
bool kprobe_point_gets_jump(struct kprobe_point *point);
bool kprobe_point_can_take_over(struct kprobe_point *point);
bool kprobe_point_is_taken_over(struct kprobe_point *point);
struct kprobe_point *kprobe_jump_next_sharer(struct kprobe_point *owner,
					     struct kprobe_point *point);
struct kprobe_point *kprobe_jump_add_sharer(struct kprobe_point *owner,
					    struct kprobe_point *point);
bool kprobe_points_add_outer(struct list_head *work);
bool kprobe_points_cover(unsigned long addr);

/* -- ftrace.c, with CONFIG_KPROBES_ON_FTRACE: many points at once on ftrace sites -- */

int kprobe_ftrace_arm_points(struct list_head *kps, struct list_head *refused);
void kprobe_ftrace_disarm_points(struct list_head *kps);
int kprobe_ftrace_change_reservations(struct list_head *kps);
bool kprobe_ftrace_reservation_is_wrong(struct kprobe_point *point);

/* -- text.c: makes the text follow members and switches -- */

/* Only with CONFIG_OPTPROBES. */
extern struct delayed_work kprobe_optimizer;

struct kprobe_point *kprobe_jump_candidate(void);
void kprobe_jump_queue(struct kprobe_point *point);
bool kprobe_jumps_begin(void);
void kprobe_jumps_end(void);
bool kprobe_jumps_idle(void);
bool kprobe_detour_is_idle(const struct kprobe_point *point);
void kprobe_wait_for_detours(void);

/* In all kernels. */
int kprobe_points_reconcile(struct list_head *work);
int kprobe_points_reconcile_all(void);
void kprobe_list_unlink(struct list_head *list);
void kprobe_points_finish(struct list_head *work, struct list_head *dead);
void kprobe_points_forget_text(unsigned long start, unsigned long end);
bool kprobe_point_wants_detour(struct kprobe_point *point);

/* -- optimize.c, with CONFIG_OPTPROBES: the worker that plans jumps, and its switches -- */

/* What there is to say instead of kprobe_optimize_explain() without it. */
#define NO_JUMPS	"no jumps in this kernel"

/**
 * struct kprobe_verdict - what would become of a probe, see kprobe_try()
 * @addr: its address, if the place has been resolved
 * @err: the error with which register_kprobe() would refuse it, or 0
 * @why: the reason for @err, or NULL
 * @return_probe: one would be accepted
 * @on_ftrace: ftrace would call the probe
 * @emulated: the instruction would be emulated, at least mostly
 * @members: how many probes are there now
 * @covered: bytes of text that a jump would replace, 0 if there would be none
 * @lead: bytes from the start of that jump to the probe
 * @why_no_jump: as in debugfs "points"
 */
struct kprobe_verdict {
	unsigned long addr;
	int err;
	const char *why;
	bool return_probe;
	bool on_ftrace;
	bool emulated;
	unsigned int members;
	unsigned int covered;
	unsigned int lead;
	char why_no_jump[64];
};

void kprobe_optimize_set_knob(bool on);
void kprobe_optimize_prepare_queued(void);

extern int (*kprobe_optimize_prepare)(struct optimized_kprobe *op, struct kprobe *orig);

bool kprobe_optimize_explain(struct kprobe_point *point, char *buf, size_t size);
void kprobe_optimize_try(struct kprobe_point *point, struct kprobe_verdict *verdict);

/* -- hit.c: the dispatchers, which run in traps, detours and ftrace callbacks -- */

/* Several CPUs may miss hits of one probe at the same time; lose none of the counts. */
#define count_missed(counter, nr)						\
do {										\
	typeof(counter) __at = (counter);					\
	typeof(*__at) __old = READ_ONCE(*__at);					\
										\
	while (!try_cmpxchg_relaxed(__at, &__old, __old + (nr)))		\
		;								\
} while (0)

extern struct kprobe kprobe_called_end;
bool kprobe_hit_push(struct kprobe *p);

int kprobe_dispatch_pre(struct kprobe *p, struct pt_regs *regs);
void kprobe_dispatch_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags);

/* -- fault.c: records whose handler is running, so that its fault handler can be asked -- */

/* The dispatchers record whose handler is running, so every hit has to go through them. */
#define FAULTS_WATCHED	IS_ENABLED(CONFIG_KPROBES_FAULT_HANDLER)

DECLARE_PER_CPU(struct kprobe *, kprobe_fault_member);

/* A handler of @kp begins. Return the member that it interrupts, for fault_unwatch(). */
static __always_inline struct kprobe *fault_watch(struct kprobe *kp)
{
	return FAULTS_WATCHED ? __this_cpu_xchg(kprobe_fault_member, kp) : NULL;
}

static __always_inline void fault_unwatch(struct kprobe *before)
{
	if (FAULTS_WATCHED)
		__this_cpu_write(kprobe_fault_member, before);
}

/* -- kprobes.c: a probe on its way into a point -- */

/**
 * struct probe_request - one probe on its way into a point
 * @kp: the user's probe, not written to before all checks have passed
 * @index: its index in the caller's array
 * @addr: the address to probe
 * @order: where it is sorted: @addr, or what is after a landing pad there
 * @on_entry: @addr is the entry of a function
 * @on_ftrace: @addr is an ftrace site
 * @module: module that owns the text, held until the text is armed
 * @point: the point that @kp joins
 * @saved: @kp as it was before it joined
 */
struct probe_request {
	struct kprobe *kp;
	unsigned int index;
	unsigned long addr;
	unsigned long order;
	bool on_entry;
	bool on_ftrace;
	struct module *module;
	struct kprobe_point *point;
	struct kprobe saved;
};

/* -- function.c: the function that an address is in -- */

extern struct exception_table_entry __start___ex_table[];
extern struct exception_table_entry __stop___ex_table[];
extern struct static_call_site __start_static_call_sites[];
extern struct static_call_site __stop_static_call_sites[];

int kprobe_keys_make(struct kprobe_keys *list,
		     void (*collect)(struct kprobe_keys *list, const struct module *mod),
		     const struct module *mod);
void kprobe_function_forget(void);

/* Only with CONFIG_MODULES. */
unsigned long kprobe_module_symbol(const char *name);

/* -- check.c: where does a probe go, and may it be there? -- */

int kprobe_resolve_address(struct probe_request *req);
int kprobe_resolve_place(struct probe_request *req);
bool kprobe_return_is_possible(const struct probe_request *req);
void kprobe_check_no_init_text(void);
int kprobe_check(struct probe_request *req);
int kprobe_check_refused(struct probe_request *req, int err);

/* -- blacklist.c: ranges that no probe may enter -- */

extern unsigned long __start_kprobe_blacklist[];
extern unsigned long __stop_kprobe_blacklist[];

int kprobe_blacklist_init(void);
bool kprobe_blacklist_holds(unsigned long addr);
bool kprobe_blacklist_holds_origin(const char *name);
int kprobe_blacklist_show(struct seq_file *m, void *unused);

/* -- module.c, with CONFIG_MODULES: text that appears and disappears -- */

int kprobe_blacklist_add_module(struct module *mod);
#ifdef CONFIG_MODULES
void kprobe_blacklist_forget_module(struct module *mod, enum mod_mem_type type);
#endif
int kprobe_module_init(void);
int kprobe_module_hold(struct probe_request *req);
bool kprobe_module_is_settled(unsigned long addr, struct module **owner);
bool kprobe_module_is_going(struct module *mod);

/*
 * -- return_pool.c and return_trampoline.c: the instances of return probes, and how calls are
 * diverted; on some ports return_rethook.c instead --
 */

int kretprobe_pools_init(void);
int kretprobe_pool_create(struct kretprobe *rp, int nr);
void kretprobe_pool_retire(struct kretprobe *rp);
void kretprobe_pool_destroy(struct kretprobe *rp);
int kretprobe_pool_size(const struct kretprobe *rp);
void kretprobe_entry_oopsed(void);

#ifdef CONFIG_KRETPROBE_ON_RETHOOK
struct kretprobe_instance *kretprobe_pool_get(struct kretprobe *rp);

static inline struct kretprobe_instance *kretprobe_pool_pop(struct kretprobe *rp)
{
	return NULL;
}

static inline bool return_is_retired(const struct kretprobe *rp)
{
	return !rcu_access_pointer(rp->rh->handler);
}

static __always_inline int return_call_entry_handler(struct kretprobe *rp,
						     kretprobe_handler_t handler,
						     struct kretprobe_instance *ri,
						     struct pt_regs *regs)
{
	return handler(ri, regs);
}

void kretprobe_pool_keep(struct kretprobe_instance *ri);
void kretprobe_divert(struct kretprobe_instance *ri, struct pt_regs *regs, bool mcount);
#elif defined(CONFIG_KRETPROBES)

/**
 * struct return_chunk - instances of a return probe that were allocated together
 * @holder: leads from the instances to their return probe
 * @spare: @spare of the pool
 * @objects: the instances
 * @pool: the pool of the chunk, until the return probe is unregistered
 * @older: the chunk that came before this one, or NULL
 */
struct return_chunk {
	struct kretprobe_holder holder;
	struct kretprobe_instance * __percpu *spare;
	struct objpool_head objects;
	struct return_pool *pool;
	struct return_chunk *older;
};

void kretprobe_pools_settle(void);
struct kretprobe_instance *kretprobe_pool_pop(struct kretprobe *rp);
void kretprobe_pool_put(struct kretprobe_instance *ri);

static __always_inline struct return_chunk *return_chunk_of(struct kretprobe_holder *holder)
{
	return container_of(holder, struct return_chunk, holder);
}

static inline bool return_is_retired(const struct kretprobe *rp)
{
	return !rcu_access_pointer(rp->rph->rp);
}

/*
 * get_kretprobe() must work in the entry_handler even if @rp is retired meanwhile. If the handler
 * oopses, kretprobe_entry_oopsed() finds the instance in the task's list: with itself as the frame,
 * which no call has, and with its own holder as the address.
 */
static __always_inline int return_call_entry_handler(struct kretprobe *rp,
						     kretprobe_handler_t handler,
						     struct kretprobe_instance *ri,
						     struct pt_regs *regs)
{
	struct kretprobe_holder holder, *own = ri->rph;
	int ret;

	RCU_INIT_POINTER(holder.rp, rp);
	/* KMSAN does not see the stores of this file's users. */
	kmsan_unpoison_memory(&holder, sizeof(holder));
	ri->rph = &holder;
	ri->fp = ri;
	ri->ret_addr = (kprobe_opcode_t *)own;
	__llist_add(&ri->llist, &current->kretprobe_instances);
	ret = handler(ri, regs);
	current->kretprobe_instances.first = ri->llist.next;
	ri->rph = own;

	return ret;
}

/* xchg(): an NMI may interrupt, and other CPUs without a spare may take this one. */
static __always_inline struct kretprobe_instance *kretprobe_pool_get(struct kretprobe *rp)
{
	return xchg(this_cpu_ptr(return_chunk_of(rp->rph)->spare), NULL);
}

/*
 * The return probe was still registered after preemption was disabled, so its pool
 * exists.
 */
static __always_inline void kretprobe_pool_keep(struct kretprobe_instance *ri)
{
	struct kretprobe_instance *none = NULL;

	if (unlikely(!try_cmpxchg(this_cpu_ptr(return_chunk_of(ri->rph)->spare), &none, ri)))
		kretprobe_pool_put(ri);
}

static __always_inline void kretprobe_divert(struct kretprobe_instance *ri, struct pt_regs *regs,
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

/* -- return.c: return probes, as the rest of kprobes sees them -- */

int kretprobe_entry_handler(struct kprobe *p, struct pt_regs *regs);

/* Upper bound of what objpool needs for a CPU: each ring can hold all @nr instances. */
static inline size_t return_each_cpu(int nr, size_t data_size)
{
	size_t size = ALIGN(sizeof(struct kretprobe_instance) + data_size, sizeof(long));

	return size_add(size_mul(DIV_ROUND_UP(nr, num_possible_cpus()), size),
			size_mul(nr, 2 * sizeof(void *)));
}

static inline bool return_is_probe(const struct kprobe *kp)
{
	return IS_ENABLED(CONFIG_KRETPROBES) && kp->hit_pre == kretprobe_entry_handler;
}

/* -- jprobe.c, and the kinds of probes -- */

int jprobe_pre_handler(struct kprobe *kp, struct pt_regs *regs);

/*
 * Tell return probes and jprobes from other probes by the pre_handler that their registration
 * sets, in the words of debugfs "list". The hit_pre of a member does not change when its owner
 * changes the pre_handler, but is not set before.
 */
static inline char kprobe_kind(kprobe_pre_handler_t handler)
{
	if (IS_ENABLED(CONFIG_KRETPROBES) && handler == kretprobe_entry_handler)
		return 'r';

	return IS_ENABLED(CONFIG_JPROBES) && handler == jprobe_pre_handler ? 'j' : 'k';
}

/* -- oops.c: disables a probe whose handler has oopsed -- */

extern struct notifier_block kprobe_oops_nb;

/* -- refused.c: records of what was refused -- */

int kprobe_refused_show(struct seq_file *m, void *unused);
int kprobe_refuse_call(int err, char kind, const char *why);
const char *kprobe_refusal_noted(int err);
void kprobe_record_refusal(const struct kprobe *kp, char kind, int err, unsigned int which,
			   unsigned int of);

/* -- try.c, with CONFIG_DEBUG_FS: for debugfs.c -- */

extern const struct file_operations kprobe_try_fops;

/* -- kprobes.c for return.c and jprobe.c; and for try.c: what would become of a probe -- */

int kprobe_request_place(struct probe_request *req);
void kprobe_try(struct kprobe *kp, struct kprobe_verdict *verdict);

#endif /* _KERNEL_KPROBES_INTERNAL_H */
