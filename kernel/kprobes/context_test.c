// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hits that interrupt hits: while a handler runs, a softirq, an interrupt or an NMI comes
 * and hits probes of all kinds. Those hits are handled (Failure C17), but not hits that
 * come from a handler, in whatever context. The interrupted handler waits for the
 * interrupt, so nothing here depends on timing.
 */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/apic.h>
#include <asm/nmi.h>
#endif

#include "internal.h"
#include "../../lib/test_kprobes/handlers.h"

/* -- the probed functions -- */

DEFINE_TARGET(u32, context_test_outer, (u32 n), n * 5 + 7, notrace)
DEFINE_TARGET(u32, context_test_outer_traced, (u32 n), n * 5 + 7)
DEFINE_TARGET(u32, context_test_inner, (u32 n), n * 5 + 7, notrace)
DEFINE_TARGET(u32, context_test_inner_traced, (u32 n), n * 5 + 7)
DEFINE_TARGET(u32, context_test_inner_jump, (u32 n), n * 5 + 7, notrace)
DEFINE_TARGET(u32, context_test_inner_returns, (u32 n), n * 5 + 7, notrace)
DEFINE_TARGET(u32, context_test_innermost, (u32 n), n * 5 + 7, notrace)

typedef u32 (*target_t)(u32 n);

static target_t outer = context_test_outer;
static target_t outer_traced = context_test_outer_traced;
static target_t innermost = context_test_innermost;

/* The functions that an interrupt calls. */
static target_t inner[] = {
	context_test_inner,
	context_test_inner_traced,
	context_test_inner_jump,
	context_test_inner_returns,
};

enum { POST, FTRACE, JUMP, RETURN, NR_INNER };

static_assert(ARRAY_SIZE(inner) == NR_INNER);

static unsigned int wrong;

static notrace void ask(target_t *function, u32 n)
{
	wrong += READ_ONCE(*function)(n) != n * 5 + 7;
}

static kprobe_opcode_t *text_of(target_t function)
{
	return dereference_symbol_descriptor(function);
}

/* -- the inner probes: each handler hits one more, which is missed -- */

static struct kprobe inner_probes[NR_INNER], innermost_probe, outer_probe;
static unsigned int pres, returns;

static int on_inner(struct kprobe *kp, struct pt_regs *regs)
{
	pres++;
	ask(&innermost, 1);
	return 0;
}

static void on_inner_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	posts++;
	ask(&innermost, 2);
}

/* -- the interrupting contexts -- */

static target_t *interrupts;
static bool interrupted;

static notrace void in_context(void)
{
	unsigned int i;

	/* The handlers of these are running, and are not called again within themselves. */
	ask(interrupts, 7);
	for (i = 0; i < NR_INNER; i++)
		ask(&inner[i], i);
	WRITE_ONCE(interrupted, true);
}

static void softirq_comes(struct tasklet_struct *unused)
{
	in_context();
}

static DECLARE_TASKLET(tasklet, softirq_comes);

static bool raise_softirq_here(void)
{
	/* With PREEMPT_RT softirqs are threads, which come to no CPU that is in a handler. */
	if (irqs_disabled() || IS_ENABLED(CONFIG_PREEMPT_RT))
		return false;

	local_bh_disable();
	tasklet_schedule(&tasklet);
	local_bh_enable();

	return true;
}

#ifdef CONFIG_IRQ_WORK
static void interrupt_comes(struct irq_work *unused)
{
	in_context();
}

static struct irq_work irq_work = IRQ_WORK_INIT_HARD(interrupt_comes);

static bool raise_interrupt(void)
{
	return !irqs_disabled() && irq_work_queue(&irq_work);
}
#else
static bool raise_interrupt(void)
{
	return false;
}
#endif

#ifdef CONFIG_X86_LOCAL_APIC
static bool nmi_wanted;

static int nmi_comes(unsigned int type, struct pt_regs *regs)
{
	if (!xchg(&nmi_wanted, false))
		return NMI_DONE;
	in_context();

	return NMI_HANDLED;
}

static bool raise_nmi(void)
{
	WRITE_ONCE(nmi_wanted, true);
	apic->send_IPI(smp_processor_id(), NMI_VECTOR);

	return true;
}

static int listen_for_nmi(struct kunit_suite *suite)
{
	return register_nmi_handler(NMI_LOCAL, nmi_comes, 0, "kprobes_context_test");
}

static void ignore_nmi(struct kunit_suite *suite)
{
	unregister_nmi_handler(NMI_LOCAL, "kprobes_context_test");
}
#else
static bool raise_nmi(void)
{
	return false;
}
#endif

static bool (*raise)(void);
static bool raised;

static void be_interrupted(void)
{
	unsigned int i;

	/* If this nests in itself, report that and do not repeat it. */
	if (raised)
		return;
	raised = true;
	raised = raise();
	for (i = 0; raised && !READ_ONCE(interrupted) && i < 20000; i++)
		udelay(5);
}

/* -- the interrupted handlers -- */

static int pre_is_interrupted(struct kprobe *kp, struct pt_regs *regs)
{
	be_interrupted();
	/* The interrupt is over, and the hit is the same as before. */
	ask(&innermost, 3);
	return 0;
}

static void post_is_interrupted(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	pre_is_interrupted(kp, regs);
}

static int return_is_interrupted(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return pre_is_interrupted(NULL, regs);
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	returns++;
	ask(&innermost, 4);
	return 0;
}

static struct kretprobe outer_return, inner_return;

static void add_return_probe(struct kunit *test, struct kretprobe *rp, target_t function,
			     kretprobe_handler_t handler)
{
	*rp = (struct kretprobe){ .kp.addr = text_of(function), .handler = handler };
	add_kretprobe(test, rp);
}

struct context_case {
	const char *name;
	kprobe_pre_handler_t pre;
	kprobe_post_handler_t post;
	enum { BY_BREAK, BY_JUMP, BY_FTRACE, BY_RETURN } way;
	bool (*raise)(void);
};

#define CASES(what, pre, post, way)					\
	{ what " by softirq", pre, post, way, raise_softirq_here },	\
	{ what " by interrupt", pre, post, way, raise_interrupt },	\
	{ what " by NMI", pre, post, way, raise_nmi }

static const struct context_case context_cases[] = {
	CASES("pre_handler", pre_is_interrupted, NULL, BY_BREAK),
	CASES("post_handler", ignore_hit, post_is_interrupted, BY_BREAK),
	CASES("detour", pre_is_interrupted, NULL, BY_JUMP),
	CASES("post_handler of a detour", ignore_hit, post_is_interrupted, BY_JUMP),
	CASES("ftrace site", pre_is_interrupted, NULL, BY_FTRACE),
	CASES("return handler", NULL, NULL, BY_RETURN),
};

KUNIT_ARRAY_PARAM_DESC(context, context_cases, name);

static void add_probe(struct kunit *test, struct kprobe *kp, target_t function,
		      kprobe_pre_handler_t pre, kprobe_post_handler_t post)
{
	*kp = (struct kprobe){
		.addr = text_of(function), .pre_handler = pre, .post_handler = post,
	};
	add_kprobe(test, kp);
}

static void add_inner_probes(struct kunit *test)
{
	add_probe(test, &innermost_probe, innermost, count_hit, NULL);
	add_probe(test, &inner_probes[POST], inner[POST], on_inner, on_inner_post);
	add_probe(test, &inner_probes[FTRACE], inner[FTRACE], on_inner, NULL);
	add_probe(test, &inner_probes[JUMP], inner[JUMP], on_inner, NULL);
	add_probe(test, &inner_probes[RETURN], inner[RETURN], on_inner, on_inner_post);
	if (IS_ENABLED(CONFIG_KRETPROBES))
		add_return_probe(test, &inner_return, inner[RETURN], on_return);
}

static void add_outer_probe(struct kunit *test, const struct context_case *c)
{
	if (c->way == BY_RETURN) {
		if (!IS_ENABLED(CONFIG_KRETPROBES))
			kunit_skip(test, "no return probes");
		add_return_probe(test, &outer_return, outer, return_is_interrupted);
		return;
	}

	add_probe(test, &outer_probe, c->way == BY_FTRACE ? outer_traced : outer, c->pre, c->post);
	if (c->way == BY_FTRACE && !kprobe_ftrace(&outer_probe))
		kunit_skip(test, "no probes on ftrace sites");
}

static bool is_jump(const struct kprobe *kp)
{
	guard(mutex)(&kprobe_mutex);
	return kprobe_point_find((unsigned long)kp->addr)->state == POINT_OPTIMIZED;
}

static void hits_in_context(struct kunit *test)
{
	const struct context_case *c = test->param_value;
	unsigned int asked;

#ifndef ARCH_KPROBES_NATIVE
	kunit_skip(test, "this port counts them as missed");
#endif
	pres = 0;
	posts = 0;
	returns = 0;
	hits = 0;
	wrong = 0;
	raised = false;
	interrupts = c->way == BY_FTRACE ? &outer_traced : &outer;
	interrupted = false;
	raise = c->raise;
	add_inner_probes(test);
	wait_for_kprobe_optimizer();
	add_outer_probe(test, c);
	/* Otherwise the probe still has its breakpoint when it is hit. */
	if (c->way != BY_BREAK)
		wait_for_kprobe_optimizer();
	if (c->way == BY_JUMP && !is_jump(&outer_probe))
		kunit_skip(test, "no jumps");

	ask(interrupts, 5);
	if (!raised)
		kunit_skip(test, "cannot come there");

	KUNIT_EXPECT_TRUE(test, interrupted);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, pres, 4);
	KUNIT_EXPECT_EQ(test, posts, 2);
	asked = 1 + pres + posts + returns;
	if (IS_ENABLED(CONFIG_KRETPROBES))
		KUNIT_EXPECT_EQ(test, returns, 1);
	KUNIT_EXPECT_EQ(test, 1, c->way == BY_RETURN ? outer_return.kp.nmissed :
						       outer_probe.nmissed);
	KUNIT_EXPECT_EQ(test, hits, 0);
	KUNIT_EXPECT_EQ(test, innermost_probe.nmissed, asked);

	/* No hit is under way any more. */
	ask(&innermost, 6);
	KUNIT_EXPECT_EQ(test, hits, 1);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/*
 * An interrupt may come between the two stores that begin a hit. Earlier hits, in whatever
 * context, must not make it look like one that was there before.
 */
static void hits_while_one_begins(struct kunit *test)
{
	static bool (*const raises[])(void) = { raise_softirq_here, raise_interrupt, raise_nmi };
	unsigned int i, times, missed = 0;

#ifndef ARCH_KPROBES_NATIVE
	kunit_skip(test, "this port counts them as missed");
#endif
	interrupts = &outer;
	add_inner_probes(test);
	add_probe(test, &outer_probe, outer, ignore_hit, NULL);
	for (i = 0; i < ARRAY_SIZE(raises); i++) {
		raise = raises[i];
		for (times = 0; times < 2; times++) {
			pres = 0;
			raised = false;
			interrupted = false;
			scoped_guard(preempt) {
				if (times)
					__this_cpu_write(current_kprobe, &outer_probe);
				be_interrupted();
				if (times)
					reset_current_kprobe();
			}
			KUNIT_EXPECT_EQ(test, interrupted, raised);
			KUNIT_EXPECT_EQ(test, pres, raised ? NR_INNER : 0);
			missed += raised && times;
		}
	}
	/* The hit that begins is one of this address. */
	KUNIT_EXPECT_EQ(test, outer_probe.nmissed, missed);
	KUNIT_EXPECT_GT(test, missed, 0);
}

/* -- hits that come from a handler -- */

/* Calls a function whose handlers are running, and another. */
static int call_probed(struct kprobe *kp, struct pt_regs *regs)
{
	ask(&outer, 1);
	ask(&innermost, 2);
	ask(&innermost, 3);

	return 0;
}

static unsigned int missed_same(const struct kprobe *kp)
{
	return point_of(get_kprobe(kp->addr))->missed_same;
}

static void hits_missed_by_cause(struct kunit *test)
{
#ifndef ARCH_KPROBES_NATIVE
	kunit_skip(test, "this port does not tell them apart");
#endif
	add_probe(test, &outer_probe, outer, call_probed, NULL);
	add_probe(test, &innermost_probe, innermost, ignore_hit, NULL);
	ask(&outer, 4);
	KUNIT_EXPECT_EQ(test, outer_probe.nmissed, 1);
	KUNIT_EXPECT_EQ(test, missed_same(&outer_probe), 1);
	KUNIT_EXPECT_EQ(test, innermost_probe.nmissed, 2);
	KUNIT_EXPECT_EQ(test, missed_same(&innermost_probe), 0);
}

static struct kunit_case context_kunit_cases[] = {
	KUNIT_CASE_PARAM(hits_in_context, context_gen_params),
	KUNIT_CASE(hits_while_one_begins),
	KUNIT_CASE(hits_missed_by_cause),
	{}
};

static struct kunit_suite context_suite = {
	.name = "kprobes_context",
#ifdef CONFIG_X86_LOCAL_APIC
	.suite_init = listen_for_nmi,
	.suite_exit = ignore_nmi,
#endif
	.test_cases = context_kunit_cases,
};

kunit_test_suite(context_suite);
