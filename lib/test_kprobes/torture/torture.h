/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KP_TORTURE_H
#define _KP_TORTURE_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/torture.h>
#include <linux/types.h>

#define MAX_CALLERS	8
#define MAX_DISTURBERS	12
#define MAX_SPOTS	64	/* in one function, the addresses that have probes */
#define FEW_SPOTS	12	/* in one of many functions */
#define NR_RETURNS	3	/* return probes of one function */
#define NR_MORE		6	/* at one address of each function, unless probes are dense */
#define MAX_PROBES	(2 * MAX_SPOTS + NR_RETURNS)
/* Those of many functions, which are more than those that are dense. */
#define ALL_PROBES	(MAX_TARGETS * (2 * FEW_SPOTS + NR_RETURNS + NR_MORE))
#define MAX_TEXT	512
#define MAX_TARGETS	200
/* Results and paths depend only on the lower bits of the first argument. */
#define NR_INPUTS	8

/* --- targets.c --- */

typedef unsigned long (target_code)(unsigned long n, unsigned long *mem);
typedef unsigned long (*target_fn)(unsigned long n, unsigned long *mem);

struct target_function {
	const char *name;
	target_fn fn;
	bool shared;		/* others in the table call it, too, with any argument */
};

extern const struct target_function many_functions[], dense_functions[];
extern const unsigned int nr_many_functions, nr_dense_functions;

/* Let some of the many functions take other paths, with the same results. */
void targets_flip(bool key, bool call);

/* Called by the others. The first one may sleep. */
unsigned long kp_target_sleeper(unsigned long n);
target_code kp_target_leaf;

/* --- dense_x86_64.S --- */

target_code kp_target_short, kp_target_branch, kp_target_callback, kp_target_load,
	    kp_target_flags, kp_target_returns, kp_target_tail, kp_target_stack;

/* Store its first argument at the second, which may be user memory. Returns 0, or -1 on a fault. */
target_code kp_target_store;

/* --- versions --- */

/* The count is odd while a change is in progress. Callers compare it before and after a call. */
struct version {
	unsigned int count;
	bool on;
};

static inline void change_begin(struct version *version)
{
	WRITE_ONCE(version->count, version->count + 1);
	/* A caller that sees any effect of the change must see the odd count. */
	smp_mb();
}

static inline void change_end(struct version *version, bool on)
{
	WRITE_ONCE(version->on, on);
	/* Pairs with read_version(). */
	smp_store_release(&version->count, version->count + 1);
}

static inline struct version read_version(const struct version *version)
{
	struct version seen;

	/* Pairs with change_end(). */
	seen.count = smp_load_acquire(&version->count);
	seen.on = READ_ONCE(version->on);
	return seen;
}

static inline bool has_changed(const struct version *version, const struct version *seen)
{
	return seen->count & 1 || READ_ONCE(version->count) != seen->count;
}

/* --- what is probed and called --- */

/* Data that an entry handler passes to the return handler. */
struct mark {
	struct probe *probe;
	unsigned long n;
};

/* Hits of one probe. */
struct tally {
	unsigned int hits;
	unsigned int posts;		/* of its post_handler or return handler */
};

enum kind { PLAIN, POST, RETURN };	/* POST is with a post_handler */
enum state { OUT, IN, CHANGING };	/* only one task changes a probe at a time */

struct probe {
	struct kretprobe rp;		/* other kinds use only its kprobe */
	struct kretprobe left;		/* copy of rp when it was unregistered */
	struct target *target;
	void *addr;
	const char *symbol;		/* in the prey instead of an address */
	enum kind kind;
	unsigned int linger;		/* rounds of its handlers */
	unsigned long skip;		/* an input that its entry handler does not follow */
	struct tally wanted[NR_INPUTS];	/* in a call with this input */
	atomic_t state;
	struct version version;
	bool live;			/* a handler may run */
};

struct target {
	const struct target_function *function;
	unsigned long results[NR_INPUTS];
	struct probe *probes;
	unsigned int nr_probes;
	bool varies;			/* the number of hits depends on a static key */
	unsigned int len;
	u8 text[MAX_TEXT];
};

struct snapshot {
	struct version version;
	struct tally tally;
};

/* Tallies need no lock: only the task itself counts its hits. */
struct caller {
	struct task_struct *task;	/* NULL when it has been stopped */
	struct torture_random_state rnd;
	unsigned long mem[4];
	struct target *target;		/* which it calls */
	struct tally tallies[ALL_PROBES];	/* of its hits, in the order of probes[] */
	struct version all;		/* these two from before the call */
	struct snapshot before[MAX_PROBES];
	unsigned long calls;
};

/* --- torture.c --- */

/* What is counted and reported at the end. */
enum count {
	BAD_RESULT, BAD_COUNT, BAD_LATE, BAD_MISSED, BAD_ERROR, BAD_TEXT,
	CALLS, CHECKS, JUMPS, TRAPS, RETURNS,
	REGISTERED, BATCHES, REFUSED, SWITCHED, FLIPS, PREY, WATCHED, NR_COUNTS
};

extern atomic_long_t counts[NR_COUNTS];
extern bool dense;
extern ulong seed;
extern struct version all;
extern unsigned int nr_targets, nr_probes;
extern struct target targets[MAX_TARGETS];
extern struct probe probes[ALL_PROBES];

__printf(2, 3)
void complain(enum count fault, const char *fmt, ...);

static __always_inline void count(enum count what)
{
	atomic_long_inc(&counts[what]);
}

static inline unsigned int max_spots(void)
{
	return dense ? MAX_SPOTS : FEW_SPOTS;
}

/* Begin numbers that are the same each time: only a refresh brings in the clock. */
static inline void random_begin(struct torture_random_state *rnd, unsigned long from)
{
	*rnd = (struct torture_random_state){ .trs_state = from, .trs_count = LONG_MAX };
}

static inline unsigned int pick(struct torture_random_state *rnd, unsigned int below)
{
	return torture_random(rnd) % below;
}

static inline bool one_in(struct torture_random_state *rnd, unsigned int n)
{
	return !pick(rnd, n);
}

/* --- prepare.c --- */

int prepare_targets(void);
void check_texts(void);

/* --- callers.c --- */

extern struct caller callers[MAX_CALLERS];

int on_pre(struct kprobe *kp, struct pt_regs *regs);
void on_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags);
int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs);
int on_return(struct kretprobe_instance *ri, struct pt_regs *regs);

struct tally tally_since(struct caller *caller, const struct target *target, unsigned int i);
void call_target(struct caller *caller, struct target *target, unsigned long n);
int start_callers(unsigned int nr);
void stop_callers(void);

/* --- changes.c --- */

static __always_inline struct probe *probe_of(struct kprobe *kp)
{
	return container_of(kp, struct probe, rp.kp);
}

void probe_fill(struct probe *probe, bool on);
void probe_came(struct probe *probe);
void probe_was_refused(struct probe *probe);
void probe_went(struct probe *probe);
int register_batch(struct kprobe **kps, unsigned int nr, bool returns,
		   struct torture_random_state *rnd);
void unregister_batch(struct kprobe **kps, unsigned int nr, bool returns);

int start_disturbers(unsigned int nr);
void stop_disturbers(void);

/* --- prey.c --- */

extern struct notifier_block prey_nb;

void disturb_prey(struct probe *probe, struct torture_random_state *rnd);

#endif
