// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of stack traces through followed calls: they must show the callers, and not the
 * trampolines of return probes.
 */
#include <linux/completion.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/stacktrace.h>
#include "return_watch.h"

#define NR_FRAMES	3
#define MAX_TRACE	64

/* Return addresses of the frames, innermost first, recorded without probes. */
static unsigned long frames[NR_FRAMES];
static bool note_frames;

struct trace {
	unsigned int nr;
	unsigned long entries[MAX_TRACE];
};

/* Traces taken by each return handler, and in the body of the innermost function. */
static struct trace regs_trace[NR_FRAMES], own_trace[NR_FRAMES], body_trace;

/* The innermost function sleeps between these if @sleeps. */
static DECLARE_COMPLETION(reached);
static DECLARE_COMPLETION(go_on);
static bool sleeps;

static void note_frame(unsigned int i, unsigned long ret_addr)
{
	if (note_frames && i < NR_FRAMES)
		frames[i] = ret_addr;
}

static noinline u32 kprobes_test_inner(u32 n)
{
	note_frame(0, _RET_IP_);
	body_trace.nr = stack_trace_save(body_trace.entries, MAX_TRACE, 0);
	if (READ_ONCE(sleeps)) {
		complete(&reached);
		wait_for_completion(&go_on);
	}
	barrier();
	return n + 1;
}

/* A function that calls another, and is frame number @i if that is one. */
#define DEFINE_CALLER(name, callee, i)			\
	DEFINE_TARGET(u32, name, (u32 n), ({		\
		note_frame(i, _RET_IP_);		\
		n = ASK(callee, n);			\
		barrier();				\
		n + 1;					\
	}))

DEFINE_CALLER(kprobes_test_between, kprobes_test_inner, 1)
DEFINE_CALLER(kprobes_test_outer, kprobes_test_between, 2)
/* The only caller, which the outermost frame returns to. */
DEFINE_CALLER(call_frames, kprobes_test_outer, NR_FRAMES)

struct frame_probe {
	struct kretprobe rp;
	unsigned int frame;
	unsigned int returned;
};

static int take_traces(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct frame_probe *fp = container_of(get_kretprobe(ri), struct frame_probe, rp);
	struct trace *trace = &regs_trace[fp->frame];

	fp->returned++;
	trace->nr = stack_trace_save_regs(regs, trace->entries, MAX_TRACE, 0);
	trace = &own_trace[fp->frame];
	trace->nr = stack_trace_save(trace->entries, MAX_TRACE, 0);
	return 0;
}

static struct frame_probe frame_probes[NR_FRAMES];

static void probe_frame(struct kunit *test, unsigned int frame)
{
	void *functions[NR_FRAMES] = {
		kprobes_test_inner, kprobes_test_between, kprobes_test_outer,
	};
	struct frame_probe *fp = &frame_probes[frame];

	*fp = (struct frame_probe) {
		.rp.kp.addr = dereference_function_descriptor(functions[frame]),
		.rp.handler = take_traces,
		.frame = frame,
	};
	add_kretprobe(test, &fp->rp);
}

static void probe_frames(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < NR_FRAMES; i++)
		probe_frame(test, i);
}

static void learn_frames(struct kunit *test)
{
	note_frames = true;
	KUNIT_EXPECT_EQ(test, call_frames(0), 4);
	note_frames = false;
	memset(regs_trace, 0, sizeof(regs_trace));
	memset(own_trace, 0, sizeof(own_trace));
}

/* Return whether @trace has the frames from @first on in order, perhaps with others between. */
static bool shows_frames(const struct trace *trace, unsigned int first)
{
	unsigned int i;

	for (i = 0; i < trace->nr && first < NR_FRAMES; i++)
		if (trace->entries[i] == frames[first])
			first++;
	return first == NR_FRAMES;
}

static bool shows_trampoline(const struct trace *trace)
{
	unsigned int i;

	for (i = 0; i < trace->nr; i++)
		if (is_kretprobe_trampoline(trace->entries[i]))
			return true;
	return false;
}

static void expect_traces(struct kunit *test, unsigned int first)
{
	unsigned int i;

	for (i = first; i < NR_FRAMES; i++) {
		KUNIT_EXPECT_EQ(test, regs_trace[i].entries[0], frames[i]);
		KUNIT_EXPECT_TRUE_MSG(test, shows_frames(&regs_trace[i], i), "by regs, %u", i);
		KUNIT_EXPECT_TRUE_MSG(test, shows_frames(&own_trace[i], i), "its own, %u", i);
		KUNIT_EXPECT_FALSE(test, shows_trampoline(&regs_trace[i]));
	}
	KUNIT_EXPECT_TRUE(test, shows_frames(&body_trace, 0));
	KUNIT_EXPECT_FALSE(test, shows_trampoline(&body_trace));
}

static void stacktrace_in_return_handler(struct kunit *test)
{
	learn_frames(test);
	probe_frame(test, 2);
	KUNIT_EXPECT_EQ(test, call_frames(1), 5);
	KUNIT_EXPECT_EQ(test, frame_probes[2].returned, 1);
	expect_traces(test, 2);
}

static void stacktrace_nested(struct kunit *test)
{
	learn_frames(test);
	probe_frames(test);
	KUNIT_EXPECT_EQ(test, call_frames(1), 5);
	expect_traces(test, 0);
}

static void stacktrace_shared_function(struct kunit *test)
{
	struct return_watch *before = new_return_watch(test, PLAIN);
	struct return_watch *after = new_return_watch(test, PLAIN);

	learn_frames(test);
	before->rp.kp.addr = dereference_function_descriptor(kprobes_test_inner);
	after->rp.kp.addr = dereference_function_descriptor(kprobes_test_inner);
	must_add_return(test, before);
	probe_frames(test);
	must_add_return(test, after);
	KUNIT_EXPECT_EQ(test, call_frames(1), 5);
	KUNIT_EXPECT_EQ(test, before->returned, 1);
	KUNIT_EXPECT_EQ(test, after->returned, 1);
	expect_traces(test, 0);
}

static int call_frames_thread(void *unused)
{
	return call_frames(1);
}

/* As /proc/PID/stack shows it. */
static void stacktrace_of_sleeper(struct kunit *test)
{
	unsigned long end = jiffies + 10 * HZ;
	static struct trace trace;
	struct task_struct *task;

	learn_frames(test);
	probe_frames(test);
	reinit_completion(&reached);
	reinit_completion(&go_on);
	WRITE_ONCE(sleeps, true);
	task = kthread_run(call_frames_thread, NULL, "kprobes_test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wait_for_completion(&reached);
	WRITE_ONCE(sleeps, false);
	/* Until it has left its CPU, its calls are not told. */
	do {
		msleep(20);
		trace.nr = stack_trace_save_tsk(task, trace.entries, MAX_TRACE, 0);
	} while (!shows_frames(&trace, 0) && time_before(jiffies, end));
	complete(&go_on);

	KUNIT_EXPECT_TRUE(test, shows_frames(&trace, 0));
	KUNIT_EXPECT_FALSE(test, shows_trampoline(&trace));
	KUNIT_EXPECT_EQ(test, kthread_stop_put(task), 5);
}

static struct task_struct *tested;
static struct trace schedule_trace;

static int demand_preemption(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	WRITE_ONCE(tested, current);
	set_tsk_need_resched(current);
	set_preempt_need_resched();

	return 0;
}

static int trace_preempted(struct kprobe *kp, struct pt_regs *regs)
{
	struct trace *trace = &schedule_trace;

	if (current != READ_ONCE(tested))
		return 0;

	WRITE_ONCE(tested, NULL);
	trace->nr = stack_trace_save(trace->entries, MAX_TRACE, 0);

	return 0;
}

/* If a return handler requests a preemption, that happens at the end of the trampoline. */
static void stacktrace_preempted(struct kunit *test)
{
	struct kprobe *kp = must_alloc(test, 1, sizeof(*kp));

	if (!preempt_model_preemptible())
		kunit_skip(test, "nothing preempts this kernel");

	kp->symbol_name = "__schedule";
	kp->pre_handler = trace_preempted;
	add_kprobe(test, kp);

	learn_frames(test);
	probe_frame(test, 0);
	frame_probes[0].rp.handler = demand_preemption;
	schedule_trace.nr = 0;
	KUNIT_EXPECT_EQ(test, call_frames(1), 5);
	KUNIT_EXPECT_TRUE(test, shows_frames(&schedule_trace, 0));
	KUNIT_EXPECT_FALSE(test, shows_trampoline(&schedule_trace));
}

#ifdef CONFIG_FPROBE

static unsigned int fprobe_exits;

static void count_fprobe_exit(struct fprobe *fp, unsigned long entry_ip, unsigned long ret_ip,
			      struct fprobe_exit_regs *regs, void *entry_data)
{
	fprobe_exits++;
}

KUNIT_DEFINE_ACTION_WRAPPER(drop_frame_fprobe, unregister_fprobe, struct fprobe *);

/* An fprobe diverts the same returns to a trampoline of its own. */
static void add_frame_fprobe(struct kunit *test)
{
	unsigned long sites[] = {
		ftrace_location((unsigned long)kprobes_test_inner),
		ftrace_location((unsigned long)kprobes_test_outer),
	};
	struct fprobe *fp = must_alloc(test, 1, sizeof(*fp));

	/* Allocated, because ftrace keeps a static one in its list. */
	fp->exit_handler = count_fprobe_exit;
	KUNIT_ASSERT_EQ(test, 0, register_fprobe_ips(fp, sites, 2));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, drop_frame_fprobe, fp));
	fprobe_exits = 0;
}

static void trace_with_fprobe(struct kunit *test, bool fprobe_first)
{
	unsigned int i;

	learn_frames(test);
	if (fprobe_first)
		add_frame_fprobe(test);
	probe_frames(test);
	if (!fprobe_first)
		add_frame_fprobe(test);
	KUNIT_EXPECT_EQ(test, call_frames(1), 5);
	KUNIT_EXPECT_EQ(test, fprobe_exits, 2);
	for (i = 0; i < NR_FRAMES; i++)
		KUNIT_EXPECT_EQ(test, frame_probes[i].returned, 1);
	expect_traces(test, 0);
}

static void stacktrace_fprobe_first(struct kunit *test)
{
	trace_with_fprobe(test, true);
}

static void stacktrace_fprobe_last(struct kunit *test)
{
	trace_with_fprobe(test, false);
}

#endif /* CONFIG_FPROBE */

static struct kunit_case stacks_cases[] = {
	KUNIT_CASE(stacktrace_in_return_handler),
	KUNIT_CASE(stacktrace_nested),
	KUNIT_CASE(stacktrace_shared_function),
	KUNIT_CASE(stacktrace_of_sleeper),
	KUNIT_CASE(stacktrace_preempted),
#ifdef CONFIG_FPROBE
	KUNIT_CASE(stacktrace_fprobe_first),
	KUNIT_CASE(stacktrace_fprobe_last),
#endif
	{}
};

static struct kunit_suite stacks_suite = {
	.name = "kprobes_test_stacks",
	.suite_init = kprobes_test_suite_init,
	.init = kprobes_test_init,
	.test_cases = stacks_cases,
};

kunit_test_suite(stacks_suite);
