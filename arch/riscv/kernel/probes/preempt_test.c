// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test of tasks that are preempted inside a jump or a region: at a chosen instruction, where
 * the test keeps them as long as it needs, and many times at random ones.
 */
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kprobes_port.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/csr.h>
#include <asm/irq_regs.h>
#include <asm/simd.h>
#include <asm/vector.h>

#include "common.h"
#include "preempt_test.h"
#include "../../../../lib/test_kprobes/handlers.h"

/* -- a probe, and one that prevents its jump -- */

static atomic_long_t nr_hits;

static int count_on_all_cpus(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_long_inc(&nr_hits);

	return 0;
}

struct pair {
	struct kprobe kp;
	kprobe_pre_handler_t handler;
};

static int call_handler(struct kprobe *kp, struct pt_regs *regs)
{
	return container_of(kp, struct pair, kp)->handler(kp, regs);
}

static void let_jumps_come(void *unused)
{
	kprobe_optimize_set_knob(true);
}

static void keep_jumps_away(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, let_jumps_come, NULL), 0);
	kprobe_optimize_set_knob(false);
}

static struct pair *probe_add(struct kunit *test, unsigned long addr)
{
	struct pair *pair = must_alloc(test, 1, sizeof(*pair));

	pair->kp.addr = (kprobe_opcode_t *)addr;
	pair->kp.pre_handler = call_handler;
	pair->handler = count_on_all_cpus;
	atomic_long_set(&nr_hits, 0);
	add_kprobe(test, &pair->kp);

	return pair;
}

/* The point stays while a member is registered. */
static struct arch_optimized_insn *optinsn_at(unsigned long addr)
{
	guard(preempt)();

	return optinsn_of(get_kprobe((void *)addr));
}

static void expect_jump(struct kunit *test, unsigned long addr)
{
	char why[64] = "";

	wait_for_kprobe_optimizer();
	if (!optinsn_at(addr)->jump)
		kprobe_explain_obstacle(container_of(optinsn_at(addr), struct optimized_kprobe,
						     optinsn), why, sizeof(why));
	KUNIT_EXPECT_STREQ(test, why, "");
	KUNIT_ASSERT_TRUE(test, optinsn_at(addr)->jump);
}

/* -- which tasks are set back, and which are not -- */

/* Return the address where a task continues that was interrupted at @epc. */
static unsigned long rewound(unsigned long epc, unsigned long status)
{
	struct pt_regs regs = { .epc = epc, .status = status };
	unsigned long flags;

	local_irq_save(flags);
	kprobe_rewind_jump(&regs);
	local_irq_restore(flags);

	return regs.epc;
}

static void expect_kept(struct kunit *test, unsigned long epc)
{
	KUNIT_EXPECT_EQ_MSG(test, rewound(epc, SR_PP), epc, "%pS", (void *)epc);
}

static void preempt_rewind(struct kunit *test)
{
	const struct arch_optimized_insn *optinsn;
	unsigned int at;

	probe_add(test, ONCE);
	expect_jump(test, ONCE);
	KUNIT_EXPECT_EQ(test, rewound(ONCE_INSIDE, SR_PP), ONCE);
	expect_kept(test, ONCE);
	expect_kept(test, ONCE_INSIDE + sizeof(u32));
	/* A user address may equal a kernel one. */
	KUNIT_EXPECT_EQ(test, rewound(ONCE_INSIDE, 0), ONCE_INSIDE);
	/* A detour is never rewritten, so it may be preempted anywhere. */
	optinsn = optinsn_at(ONCE);
	for (at = 0; at < DETOUR_CODE; at += sizeof(u32))
		expect_kept(test, (unsigned long)detour_of(optinsn)->code + at);

	keep_jumps_away(test);
	expect_kept(test, ONCE_INSIDE);
}

/* A compiler's jump must not be set back, not even with a breakpoint on its AUIPC. */
static void preempt_rewind_others(struct kunit *test)
{
	unsigned long jalr = TAIL_PAIR + sizeof(u32);

	expect_kept(test, jalr);
	probe_add(test, TAIL_PAIR);
	keep_jumps_away(test);
	wait_for_kprobe_optimizer();
	expect_kept(test, jalr);
	KUNIT_EXPECT_EQ(test, preempt_tail(1), 2);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&nr_hits), 1);
}

/* -- a task that is preempted at one instruction, for as long as the test needs -- */

/* The scheduler does not let a real-time task run for much longer at a time. */
#define BLOCK_LIMIT	(HZ * 4 / 5)
#define BLOCKED_CPU	1

/* A task that goes to an instruction and is preempted there. */
struct visit {
	struct irq_work poke;		/* the interrupt, which wakes up the blocker */
	struct task_struct *visitor;
	struct task_struct *blocker;	/* a real-time task that keeps @visitor from running */
	unsigned long at;		/* address of the instruction */
	unsigned long t1;		/* value of register t1 there */
	unsigned long seen;		/* address that the interrupt hit */
	unsigned long result;		/* of preempt_once(1) */
	bool blocking;			/* @blocker runs */
	bool over;			/* @blocker should end */
	bool late;			/* @blocker has timed out */
};

static void poke_blocker(struct irq_work *work)
{
	struct visit *v = container_of(work, struct visit, poke);

	v->seen = get_irq_regs()->epc;
	wake_up_process(v->blocker);
}

static int block(void *data)
{
	struct visit *v = data;
	unsigned long end = jiffies + BLOCK_LIMIT;

	WRITE_ONCE(v->blocking, true);
	while (!READ_ONCE(v->over) && time_before(jiffies, end))
		cpu_relax();
	WRITE_ONCE(v->late, !READ_ONCE(v->over));
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);

	return 0;
}

/* Raw, so that lockdep considers interrupts on all the time: they are on at return. */
static int visit(void *data)
{
	struct visit *v = data;
	unsigned int i;

	raw_local_irq_disable();
	irq_work_queue(&v->poke);
	for (i = 0; i < 100000 && !(csr_read(CSR_IP) & IE_SIE); i++)
		cpu_relax();
	v->result = preempt_enter(1, v->at, v->t1);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);

	return 0;
}

static void visit_end(void *data)
{
	struct visit *v = data;

	WRITE_ONCE(v->over, true);
	if (v->visitor)
		kthread_stop(v->visitor);
	if (v->blocker)
		kthread_stop(v->blocker);
	v->visitor = NULL;
	v->blocker = NULL;
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

static struct task_struct *bound_kthread(int (*fn)(void *data), struct visit *v)
{
	struct task_struct *task = kthread_create(fn, v, "kprobes_%ps", fn);

	if (IS_ERR(task))
		return NULL;
	kthread_bind(task, BLOCKED_CPU);

	return task;
}

/* Start a visit; returns when the visitor has been preempted at @at. */
static struct visit *visit_begin(struct kunit *test, unsigned long at, unsigned long t1)
{
	struct visit *v = must_alloc(test, 1, sizeof(*v));
	unsigned int i;

	if (!cpu_online(0) || !cpu_online(BLOCKED_CPU))
		kunit_skip(test, "needs two CPUs");
	*v = (struct visit){ .poke = IRQ_WORK_INIT_HARD(poke_blocker), .at = at, .t1 = t1 };
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, visit_end, v), 0);
	set_cpus_allowed_ptr(current, cpumask_of(0));
	v->blocker = bound_kthread(block, v);
	v->visitor = bound_kthread(visit, v);
	KUNIT_ASSERT_TRUE(test, v->blocker && v->visitor);
	sched_set_fifo(v->blocker);
	wake_up_process(v->visitor);
	for (i = 0; i < 50000 && !READ_ONCE(v->blocking); i++)
		usleep_range(100, 200);
	KUNIT_ASSERT_TRUE(test, READ_ONCE(v->blocking));
	KUNIT_ASSERT_EQ(test, v->seen, at);

	return v;
}

/* The result of a task that continued too early proves nothing. */
static void skip_if_late(struct kunit *test, const struct visit *v)
{
	if (READ_ONCE(v->late))
		kunit_skip(test, "too slow for the task to stay there so long");
}

/* Return the value that the AUIPC of the jump at @addr puts into t1. */
static unsigned long jump_t1(unsigned long addr)
{
	struct insn_facts auipc;
	u32 insn;

	memcpy(&insn, (void *)addr, sizeof(insn));
	kprobe_get_insn_facts(insn, &auipc);

	return auipc.flow == FLOW_ADDRESS && auipc.writes == BIT(6) ? addr + auipc.disp : 0;
}

/* A task behind the AUIPC when the jump is removed must start again, at the breakpoint. */
static void preempt_at_jump(struct kunit *test)
{
	struct visit *v;
	long early;

	probe_add(test, ONCE);
	expect_jump(test, ONCE);
	KUNIT_ASSERT_NE(test, jump_t1(ONCE), 0);
	v = visit_begin(test, ONCE_INSIDE, jump_t1(ONCE));
	early = atomic_long_read(&nr_hits);
	keep_jumps_away(test);
	KUNIT_EXPECT_FALSE(test, optinsn_at(ONCE)->jump);
	visit_end(v);
	skip_if_late(test, v);
	KUNIT_EXPECT_EQ(test, early, 0);
	KUNIT_EXPECT_EQ(test, v->result, 8);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&nr_hits), 1);
}

/* -- a hit while a task is inside a region that is fenced -- */

static unsigned long hit_goes_on(unsigned long addr)
{
	struct pt_regs regs = { .epc = addr, .status = SR_PP };
	unsigned long flags;

	local_irq_save(flags);
	__preempt_count_nmi_enter();
	kprobe_breakpoint_handler(&regs);
	__preempt_count_nmi_exit();
	local_irq_restore(flags);

	return regs.epc;
}

static int go_inside(struct kprobe *kp, struct pt_regs *regs)
{
	regs->epc = ONCE_INSIDE;

	return 1;
}

/* Expect a plain hit, a nested hit, and one that a handler redirects to @second. */
static void expect_hits_go(struct kunit *test, struct pair *pair, unsigned long next,
			   unsigned long second)
{
	unsigned long nested, missed = pair->kp.nmissed;

	KUNIT_EXPECT_EQ(test, hit_goes_on(ONCE), next);
	kprobe_busy_begin();
	nested = hit_goes_on(ONCE);
	kprobe_busy_end();
	KUNIT_EXPECT_EQ(test, nested, next);
	KUNIT_EXPECT_EQ(test, pair->kp.nmissed, missed + 1);
	pair->handler = go_inside;
	KUNIT_EXPECT_EQ(test, hit_goes_on(ONCE), second);
	pair->handler = count_on_all_cpus;
	atomic_long_set(&nr_hits, 0);
	KUNIT_EXPECT_EQ(test, preempt_once(5), 24);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&nr_hits), 1);
}

static void post_go_inside(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	regs->epc = ONCE_INSIDE;
}

/* A post_handler may redirect as well, behind an instruction that is emulated. */
static void preempt_post_goes_inside(struct kunit *test)
{
	struct kprobe kp = {
		.addr = (kprobe_opcode_t *)LOOP_BRANCH,
		.post_handler = post_go_inside,
	};
	const struct arch_optimized_insn *optinsn;

	probe_add(test, ONCE);
	expect_jump(test, ONCE);
	optinsn = optinsn_at(ONCE);
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	KUNIT_EXPECT_EQ(test, hit_goes_on(LOOP_BRANCH),
			(unsigned long)detour_of(optinsn)->code + optinsn->copy_at[2]);
	unregister_kprobe(&kp);
}

static bool becomes_fenced(unsigned long addr)
{
	const struct arch_optimized_insn *optinsn = optinsn_at(addr);
	unsigned long end = jiffies + HZ / 2;

	while (!READ_ONCE(optinsn->fenced) && time_before(jiffies, end))
		usleep_range(100, 200);

	return READ_ONCE(optinsn->fenced);
}

/* Start a visit, and let the jump at @addr come, which has to wait for the visitor. */
static struct visit *visit_fenced(struct kunit *test, unsigned long at, unsigned long addr)
{
	struct visit *v = visit_begin(test, at, 0);
	bool fenced;

	kunit_release_action(test, let_jumps_come, NULL);
	fenced = becomes_fenced(addr);
	skip_if_late(test, v);
	KUNIT_EXPECT_TRUE(test, fenced);

	return v;
}

/* Longer than a grace period that does not have to wait for a task. */
#define LONG_ENOUGH	200	/* ms */

/* The jump at @addr must wait until the visitor has left the region, with this result. */
static void expect_jump_after_visit(struct kunit *test, struct visit *v, unsigned long addr,
				    unsigned long result)
{
	bool jump;

	msleep(LONG_ENOUGH);
	jump = READ_ONCE(optinsn_at(addr)->jump);
	visit_end(v);
	skip_if_late(test, v);
	KUNIT_EXPECT_FALSE(test, jump);
	KUNIT_EXPECT_EQ(test, v->result, result);
	expect_jump(test, addr);
	KUNIT_EXPECT_EQ(test, preempt_once(5), 24);
}

static void preempt_inside(struct kunit *test)
{
	struct pair *pair = probe_add(test, ONCE);
	const struct arch_optimized_insn *optinsn;
	struct visit *v;

	expect_jump(test, ONCE);
	optinsn = optinsn_at(ONCE);
	keep_jumps_away(test);
	v = visit_fenced(test, ONCE_INSIDE, ONCE);
	expect_hits_go(test, pair, detour_copies(optinsn),
		       (unsigned long)detour_of(optinsn)->code + optinsn->copy_at[2]);
	expect_jump_after_visit(test, v, ONCE, 4);
}

/* Add a probe whose jump begins before it, and take the jump away again. */
static void add_lead(struct kunit *test)
{
	probe_add(test, ONCE_LAST);
	expect_jump(test, ONCE_LAST);
	KUNIT_EXPECT_EQ(test, optinsn_at(ONCE_LAST)->lead, ONCE_LAST - ONCE_INSIDE);
	KUNIT_EXPECT_EQ(test, rewound(ONCE_LAST, SR_PP), ONCE_INSIDE);
	keep_jumps_away(test);
}

/* Until the jump is there again, hits of its start continue in the detour. */
static void expect_lead_fenced(struct kunit *test)
{
	const struct arch_optimized_insn *optinsn = optinsn_at(ONCE_LAST);
	struct visit *v = visit_fenced(test, ONCE_LAST, ONCE_LAST);

	KUNIT_EXPECT_TRUE(test, kprobe_text_is_ebreak(ONCE_INSIDE));
	KUNIT_EXPECT_EQ(test, hit_goes_on(ONCE_INSIDE),
			(unsigned long)detour_of(optinsn)->code + optinsn->enter);
	KUNIT_EXPECT_EQ(test, hit_goes_on(ONCE_LAST), detour_copies(optinsn));
	atomic_long_set(&nr_hits, 0);
	KUNIT_EXPECT_EQ(test, preempt_once(5), 24);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&nr_hits), 1);
	expect_jump_after_visit(test, v, ONCE_LAST, 1);
}

static void preempt_lead(struct kunit *test)
{
	add_lead(test);
	KUNIT_EXPECT_EQ(test, hit_goes_on(ONCE_INSIDE), ONCE_INSIDE);
	expect_lead_fenced(test);
}

/* The breakpoint at the start of the jump is not that of the probe there, which is disabled. */
static void preempt_lead_at_disabled(struct kunit *test)
{
	struct pair *pair = probe_add(test, ONCE_INSIDE);

	KUNIT_ASSERT_EQ(test, disable_kprobe(&pair->kp), 0);
	add_lead(test);
	expect_lead_fenced(test);
}

/* A jump is cancelled while its region is fenced: hits must continue as without a fence. */
static void preempt_unfenced(struct kunit *test)
{
	struct pair *pair = probe_add(test, ONCE);
	const struct arch_optimized_insn *optinsn;
	struct visit *v;

	expect_jump(test, ONCE);
	optinsn = optinsn_at(ONCE);
	keep_jumps_away(test);
	KUNIT_EXPECT_FALSE(test, optinsn->fenced);
	v = visit_fenced(test, ONCE_INSIDE, ONCE);
	keep_jumps_away(test);
	KUNIT_EXPECT_FALSE(test, optinsn->fenced);
	expect_hits_go(test, pair, ONCE_INSIDE, ONCE_INSIDE);
	visit_end(v);
	KUNIT_EXPECT_EQ(test, v->result, 4);
}

/* -- hits while the kernel itself uses vector registers -- */

#ifdef CONFIG_RISCV_ISA_V_PREEMPTIVE
static void fill_vector(unsigned long value)
{
	asm volatile(".option push\n"
		     ".option arch, +v\n"
		     "vsetivli zero, 1, e32, m1, ta, ma\n"
		     "vmv.s.x v8, %0\n"
		     ".option pop\n" : : "r" (value));
}

static unsigned long read_vector(void)
{
	unsigned long value;

	asm volatile(".option push\n"
		     ".option arch, +v\n"
		     "vmv.x.s %0, v8\n"
		     ".option pop\n" : "=r" (value));

	return value;
}

/* A task that preempts the test and overwrites the vector registers. */
static struct task_struct *spoiler;
static unsigned int nr_spoilt;

static int spoil(void *data)
{
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		schedule();
		kernel_vector_begin();
		fill_vector(99);
		kernel_vector_end();
		nr_spoilt++;
	}
	__set_current_state(TASK_RUNNING);

	return 0;
}

static void wake_spoiler(struct irq_work *work)
{
	wake_up_process(spoiler);
}

static struct irq_work spoiler_work = IRQ_WORK_INIT_HARD(wake_spoiler);

static void spoiler_end(void *task)
{
	irq_work_sync(&spoiler_work);
	kthread_stop(task);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

static void spoiler_begin(struct kunit *test)
{
	if (!has_vector())
		kunit_skip(test, "the CPU has no vector registers");
	spoiler = kthread_create(spoil, NULL, "kprobes_spoiler");
	KUNIT_ASSERT_FALSE(test, IS_ERR(spoiler));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, spoiler_end, spoiler), 0);
	kthread_bind(spoiler, 0);
	sched_set_fifo(spoiler);
	wake_up_process(spoiler);
	set_cpus_allowed_ptr(current, cpumask_of(0));
	msleep(20);
	nr_spoilt = 0;
}

/* Call preempt_once(), with the vector registers in use or not. */
static void expect_unspoilt(struct kunit *test, bool in_use)
{
	unsigned long expected = get_random_u32_below(1000) + 1000;
	unsigned long at_once = expected, vector = expected, result;

	if (in_use) {
		kernel_vector_begin();
		fill_vector(expected);
	}
	result = preempt_once(2);
	if (in_use)
		at_once = read_vector();
	/* If the end of the hit does not preempt, the next interrupt does. */
	mdelay(50);
	if (in_use) {
		vector = read_vector();
		kernel_vector_end();
	}
	KUNIT_EXPECT_EQ(test, result, 12);
	KUNIT_EXPECT_EQ(test, at_once, expected);
	KUNIT_EXPECT_EQ(test, vector, expected);
}

static unsigned int nr_nmis;

static int hit_and_wake(struct kprobe *kp, struct pt_regs *regs)
{
	nr_nmis += in_nmi() && !may_use_simd();
	irq_work_queue(&spoiler_work);

	return 0;
}

/* The hit of a jump must preempt from a trap only, which saves the registers. */
static void expect_trap_for_vectors(struct kunit *test, unsigned long addr)
{
	struct pair *pair = probe_add(test, addr);

	spoiler_begin(test);
	pair->handler = hit_and_wake;
	expect_jump(test, addr);
	nr_nmis = 0;
	expect_unspoilt(test, false);
	KUNIT_EXPECT_EQ(test, nr_nmis, 0);
	KUNIT_EXPECT_EQ(test, nr_spoilt, 1);
	expect_unspoilt(test, true);
	KUNIT_EXPECT_EQ(test, nr_nmis, 1);
	KUNIT_EXPECT_EQ(test, nr_spoilt, 2);
	KUNIT_EXPECT_EQ(test, pair->kp.nmissed, 0);
}

static void preempt_vectors(struct kunit *test)
{
	expect_trap_for_vectors(test, ONCE);
}

/* The jump begins before the probe, but the hit must not begin there again. */
static void preempt_vectors_after_lead(struct kunit *test)
{
	expect_trap_for_vectors(test, ONCE_LAST);
}

static unsigned int nr_simd;

static int return_and_wake(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	nr_simd += may_use_simd();
	irq_work_queue(&spoiler_work);

	return 0;
}

static void preempt_vectors_at_return(struct kunit *test)
{
	static struct kretprobe rp;

	spoiler_begin(test);
	rp = (struct kretprobe){
		.kp.addr = (kprobe_opcode_t *)ONCE,
		.handler = return_and_wake,
	};
	add_kretprobe(test, &rp);
	expect_jump(test, ONCE);
	expect_unspoilt(test, false);
	KUNIT_EXPECT_EQ(test, nr_spoilt, 1);
	nr_simd = 0;
	expect_unspoilt(test, true);
	KUNIT_EXPECT_EQ(test, nr_spoilt, 2);
	KUNIT_EXPECT_EQ(test, nr_simd, 0);
}

static int note_simd(struct kprobe *kp, struct pt_regs *regs)
{
	nr_simd += may_use_simd();

	return 0;
}

/* With interrupts off the registers may be changing hands. */
static void preempt_vectors_masked(struct kunit *test)
{
	struct pair *pair = probe_add(test, ONCE);

	if (!has_vector())
		kunit_skip(test, "the CPU has no vector registers");
	pair->handler = note_simd;
	expect_jump(test, ONCE);
	nr_simd = 0;
	preempt_once(2);
	KUNIT_EXPECT_EQ(test, nr_simd, 1);
	scoped_guard(irqsave)
		preempt_once(2);
	KUNIT_EXPECT_EQ(test, nr_simd, 1);
}
#endif

/* -- preemption at random instructions -- */

#define NR_LOOPERS	4
#define LOOPS		200
#define RACE_TIME	(4 * HZ)

struct looper {
	struct task_struct *task;
	unsigned long loops;
	unsigned long wrong;
};

static int keep_looping(void *data)
{
	struct looper *l = data;

	while (!kthread_should_stop()) {
		l->wrong += preempt_loop(LOOPS) != LOOPS;
		l->loops += LOOPS;
		cond_resched_tasks_rcu_qs();
	}

	return 0;
}

/* Several tasks are preempted somewhere in the loop each time that the jump changes. */
static void preempt_race(struct kunit *test)
{
	unsigned long end, loops = 0, wrong = 0;
	unsigned int i, rounds = 0;
	struct looper *loopers = must_alloc(test, NR_LOOPERS, sizeof(*loopers));

	KUNIT_ASSERT_EQ(test, offset_in_page(LOOP_BODY), PAGE_SIZE - sizeof(u32));
	probe_add(test, LOOP_BODY);
	expect_jump(test, LOOP_BODY);
	for (i = 0; i < NR_LOOPERS; i++)
		loopers[i].task = begin_thread(test, keep_looping, &loopers[i]);
	for (end = jiffies + RACE_TIME; time_before(jiffies, end); rounds++) {
		keep_jumps_away(test);
		usleep_range(100, 5000);
		kunit_release_action(test, let_jumps_come, NULL);
		expect_jump(test, LOOP_BODY);
		usleep_range(100, 5000);
	}
	for (i = 0; i < NR_LOOPERS; i++) {
		kunit_release_action(test, end_thread, loopers[i].task);
		loops += loopers[i].loops;
		wrong += loopers[i].wrong;
	}
	kunit_info(test, "%u times, %lu loops\n", rounds, loops);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&nr_hits), loops);
}

static struct kunit_case preempt_cases[] = {
	KUNIT_CASE(preempt_rewind),
	KUNIT_CASE(preempt_rewind_others),
	KUNIT_CASE(preempt_at_jump),
	KUNIT_CASE(preempt_post_goes_inside),
	KUNIT_CASE(preempt_inside),
	KUNIT_CASE(preempt_lead),
	KUNIT_CASE(preempt_lead_at_disabled),
	KUNIT_CASE(preempt_unfenced),
#ifdef CONFIG_RISCV_ISA_V_PREEMPTIVE
	KUNIT_CASE(preempt_vectors),
	KUNIT_CASE(preempt_vectors_after_lead),
	KUNIT_CASE(preempt_vectors_at_return),
	KUNIT_CASE(preempt_vectors_masked),
#endif
	KUNIT_CASE_SLOW(preempt_race),
	{}
};

static struct kunit_suite preempt_suite = {
	.name = "kprobes_riscv_preempt",
	.test_cases = preempt_cases,
};

kunit_test_suite(preempt_suite);
