// SPDX-License-Identifier: GPL-2.0-only
/*
 * Benchmark of kprobes. It uses the public interface only, so that it measures any
 * implementation. Writing to the parameter "run" runs a measurement, on the CPU of the
 * writer; each result is a line "bench NAME VALUE" in the log, and see measure.c. Costs are
 * in units of the CPU's cycle counter, which counts instructions in an emulator that is set so.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "../common.h"
#include "bench.h"
#include "targets.h"

#define CALLS		1000	/* in a round */
#define CHANGES		25	/* rounds that wait for grace periods */
#define MANY		(FIELD_FUNCTIONS * FIELD_INSNS)
#define TOGETHER	64

static struct kprobe probe, crowd[TOGETHER];
static struct kprobe *crowd_list[TOGETHER];
static struct kretprobe return_probe;

/* Sorted by address; the first @nr_many are registered. */
static struct kretprobe many[MANY];	/* plain probes use only its kprobe */
static struct kprobe *many_list[MANY];
static unsigned int nr_many;
static bool many_return;
static bool many_disabled;
static const char *many_what = "";
static ktime_t many_since;

#ifdef CONFIG_ARM64

bool has_counter;

/* The version of the PMU in ID_AA64DFR0_EL1: its place, and that of one that is not Arm's. */
#define PMU_VERSION_SHIFT	8
#define PMU_VERSION_OTHER	0xf

static void start_counter(void *unused)
{
	unsigned int version = cpuid_feature_extract_unsigned_field(read_cpuid(ID_AA64DFR0_EL1),
								    PMU_VERSION_SHIFT);

	if (!version || version == PMU_VERSION_OTHER)
		return;
	write_sysreg(0, pmccfiltr_el0);
	write_sysreg(BIT(31), pmcntenset_el0);
	write_sysreg(BIT(0) | BIT(6), pmcr_el0);
	has_counter = true;
}

#else

static void start_counter(void *unused)
{
}

#endif

/* Return whether there is an error, and report it: the measurement of this name has no result. */
static bool has_failed(const char *name, int err)
{
	if (err)
		pr_info("%s failed %d\n", name, err);
	return err;
}

/* -- one hit -- */

/* Prepare a probe at an address or on a symbol. */
static void set_probe(struct kprobe *kp, void *addr, const char *symbol,
		      kprobe_post_handler_t post)
{
	*kp = (struct kprobe){
		.addr = addr,
		.symbol_name = symbol,
		.pre_handler = count_hit,
		.post_handler = post,
	};
}

DEFINE_EMPTY_TARGET(traced)

/* No instruction probed here begins like a jump. */
int wait_for_jump(const u8 *at)
{
	unsigned int i;

	for (i = 0; IS_ENABLED(CONFIG_OPTPROBES) && i < 1000; i++) {
		if (begins_jump(at))
			return 0;
		usleep_range(1000, 2000);
	}
	return -ETIME;
}

/*
 * Print how much more than @without @fn costs, if it calls @per_call handlers, after there is a
 * jump at the address @jump, if any, unless registering returned @err.
 */
static void tell_hit(const char *name, void (*fn)(void), struct cost without,
		     unsigned int per_call, int err, const u8 *jump)
{
	if (!err && jump)
		err = wait_for_jump(jump);
	/* The compiler may see that @fn itself does not change hits. */
	WRITE_ONCE(hits, 0);
	fn();
	if (!err && READ_ONCE(hits) != per_call)
		err = -ENOENT;
	if (!has_failed(name, err))
		tell_calls(name, fn, CALLS, without);
}

/* Measure a return probe, perhaps with a probe on the entry. @jump: address of the jump, if any */
static void return_of(const char *name, void (*fn)(void), const char *symbol, bool entry,
		      const u8 *jump, kretprobe_handler_t entry_handler)
{
	struct cost without = call_cost(fn, CALLS);
	int err;

	return_probe = (struct kretprobe){
		.kp.symbol_name = symbol,
		.handler = count_return,
		.entry_handler = entry_handler,
	};
	err = register_kretprobe(&return_probe);
	if (has_failed(name, err))
		return;
	set_probe(&probe, NULL, symbol, NULL);
	if (entry)
		err = register_kprobe(&probe);
	tell_hit(name, fn, without, entry ? 2 : 1, err, jump);
	if (entry && probe.addr)
		unregister_kprobe(&probe);
	unregister_kretprobe(&return_probe);
}

/* Measure @nr probes at one address; @jump: by a jump. */
static void hit_of(const char *name, void (*fn)(void), void *at, kprobe_post_handler_t post,
		   unsigned int nr, bool jump)
{
	struct cost without = call_cost(fn, CALLS);
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		set_probe(&crowd[i], at, NULL, post);
		crowd_list[i] = &crowd[i];
	}
	err = register_kprobes(crowd_list, nr);
	tell_hit(name, fn, without, nr, err, jump ? at : NULL);
	if (!err)
		unregister_kprobes(crowd_list, nr);
}

/* Called with debug.kprobes-optimization off. */
static void run_hits(unsigned int unused)
{
	hit_of("hit-b", kp_bench_move, kp_bench_move_at, NULL, 1, false);
	hit_of("hit-k", kp_bench_move, kp_bench_move_at, ignore_post, 1, false);
	hit_of("hit-call", kp_bench_call, kp_bench_call_at, NULL, 1, false);
	hit_of("hit-jmp", kp_bench_jump, kp_bench_jump_at, NULL, 1, false);
	hit_of("hit-jcc", kp_bench_branch, kp_bench_branch_at, NULL, 1, false);
	hit_of("hit-ret", kp_bench_ret, kp_bench_ret_at, NULL, 1, false);
	hit_of("hit-ret-k", kp_bench_ret, kp_bench_ret_at, ignore_post, 1, false);
	hit_of("hit-f", traced, traced, NULL, 1, false);
	hit_of("hit-fk", traced, traced, ignore_post, 1, false);
	return_of("hit-r", kp_bench_entry, "kp_bench_entry", false, NULL, NULL);
	return_of("hit-rf", traced, KBUILD_MODNAME ":traced", false, NULL, NULL);
	return_of("hit-re", kp_bench_entry, "kp_bench_entry", false, NULL, ignore_return);
	return_of("hit-rfe", traced, KBUILD_MODNAME ":traced", false, NULL, ignore_return);
	return_of("hit-kr", kp_bench_entry, "kp_bench_entry", true, NULL, NULL);
	return_of("hit-krf", traced, KBUILD_MODNAME ":traced", true, NULL, NULL);
	hit_of("hit-2-b", kp_bench_move, kp_bench_move_at, NULL, 2, false);
	hit_of("hit-64-b", kp_bench_move, kp_bench_move_at, NULL, TOGETHER, false);
	hit_of("hit-64-k", kp_bench_move, kp_bench_move_at, ignore_post, TOGETHER, false);
}

/* Called with debug.kprobes-optimization on. */
static void run_jumps(unsigned int unused)
{
	hit_of("hit-o", kp_bench_move, kp_bench_move_at, NULL, 1, true);
	hit_of("hit-ko", kp_bench_move, kp_bench_move_at, ignore_post, 1, true);
	return_of("hit-ro", kp_bench_entry, "kp_bench_entry", false, kp_bench_entry_at, NULL);
	return_of("hit-roe", kp_bench_entry, "kp_bench_entry", false, kp_bench_entry_at,
		  ignore_return);
	return_of("hit-kro", kp_bench_entry, "kp_bench_entry", true, kp_bench_entry_at, NULL);
	hit_of("hit-2-o", kp_bench_move, kp_bench_move_at, NULL, 2, true);
	hit_of("hit-64-o", kp_bench_move, kp_bench_move_at, NULL, TOGETHER, true);
}

/* -- registration -- */

static void register_cost(const char *name, void *addr, const char *symbol)
{
	struct cost cost;
	int err;

	set_probe(&probe, addr, symbol, NULL);
	cost_begin(&cost);
	err = register_kprobe(&probe);
	cost_end(&cost);
	if (has_failed(name, err))
		return;
	unregister_kprobe(&probe);
	tell_costs(name, &cost, 1);
}

/* Return the address of the first instruction at or behind @offset. */
static void *boundary(const char *symbol, unsigned int offset)
{
	unsigned int end = offset + 64;

	for (; offset < end; offset++) {
		set_probe(&probe, NULL, symbol, NULL);
		probe.offset = offset;
		if (!register_kprobe(&probe)) {
			unregister_kprobe(&probe);
			return probe.addr;
		}
	}

	return NULL;
}

static void run_one(unsigned int unused)
{
	void *near = boundary("load_elf_binary", 32), *far = boundary("load_elf_binary", 3000);
	unsigned int i, nr = exact ? 2 : CHANGES;

	/* In turn: what is remembered of a place must not help its next registration. */
	for (i = 0; i < nr; i++) {
		register_cost("one-module", kp_bench_move_at, NULL);
		register_cost("one-name", NULL, KBUILD_MODNAME ":kp_bench_move");
		register_cost("one-core-near", near, NULL);
		register_cost("one-core-far", far, NULL);
		register_cost("one-site", traced, NULL);
	}
}

/* Switch a probe off and on, and remove it. @jump: it has a jump each time. */
static int change_once(void *addr, bool jump, struct cost *toggle, struct cost *leave)
{
	int err;

	set_probe(&probe, addr, NULL, NULL);
	err = register_kprobe(&probe);
	if (err)
		return err;
	if (jump)
		err = wait_for_jump(addr);
	cost_begin(toggle);
	err = err ?: disable_kprobe(&probe);
	err = err ?: enable_kprobe(&probe);
	cost_end(toggle);
	if (jump)
		err = err ?: wait_for_jump(addr);
	cost_begin(leave);
	unregister_kprobe(&probe);
	cost_end(leave);
	return err;
}

static void change_cost(const char *way, void *addr, bool jump)
{
	static struct cost toggle[CHANGES], leave[CHANGES];
	unsigned int i, nr = exact ? 4 : CHANGES;
	char name[32];
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		err = change_once(addr, jump, &toggle[i], &leave[i]);
	snprintf(name, sizeof(name), "toggle-%s", way);
	if (has_failed(name, err))
		return;
	tell_costs(name, toggle, nr);
	snprintf(name, sizeof(name), "leave-%s", way);
	tell_costs(name, leave, nr);
}

/* Remove a return probe, by a breakpoint or @jump. */
static void return_leave_cost(const char *name, bool jump)
{
	static struct cost leave[CHANGES];
	unsigned int i, nr = exact ? 4 : CHANGES;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		return_probe = (struct kretprobe){
			.kp.addr = (void *)kp_bench_entry_at,
			.handler = count_return,
		};
		err = register_kretprobe(&return_probe);
		if (err)
			break;
		if (jump)
			err = wait_for_jump(kp_bench_entry_at);
		cost_begin(&leave[i]);
		unregister_kretprobe(&return_probe);
		cost_end(&leave[i]);
	}
	if (!has_failed(name, err))
		tell_costs(name, leave, nr);
}

static void run_change(unsigned int jumps)
{
	if (jumps) {
		change_cost("o", kp_bench_move_at, true);
		return_leave_cost("leave-ro", true);
	} else {
		change_cost("b", kp_bench_move_at, false);
		change_cost("f", traced, false);
		return_leave_cost("leave-r", false);
	}
}

static kprobe_opcode_t *field_addr(unsigned int n)
{
	return (kprobe_opcode_t *)(kp_bench_field_first +
				   n / FIELD_INSNS * FIELD_STRIDE +
				   n % FIELD_INSNS * kp_bench_insn_size);
}

static kprobe_opcode_t *each_addr(unsigned int n)
{
	return (kprobe_opcode_t *)(kp_bench_each_first + n * EACH_STRIDE);
}

static void many_set(unsigned int i, kprobe_opcode_t *addr)
{
	many[i] = (struct kretprobe){
		.kp.addr = addr,
		.kp.flags = many_disabled ? KPROBE_FLAG_DISABLED : 0,
		.kp.pre_handler = many_return ? NULL : count_hit,
		.handler = count_return,
	};
	many_list[i] = &many[i].kp;
}

/* Print the cost of each of @nr probes, and the time of all. */
static void tell_batch(const char *what, unsigned int nr, struct cost cost)
{
	char name[32];

	if (is_watched())
		return;
	snprintf(name, sizeof(name), "%s%s-%u-ms", many_what, what, nr);
	result(name, div_u64(cost.ns, NSEC_PER_MSEC));
	*strrchr(name, '-') = '\0';
	cost.cycles = div_u64(cost.cycles, nr);
	cost.ns = div_u64(cost.ns, nr);
	cost.interrupts = 0;	/* they are unavoidable */
	tell_costs(name, &cost, 1);
}

static void register_many(const char *what, unsigned int nr,
			  kprobe_opcode_t *(*addr_of)(unsigned int n), bool returns)
{
	struct cost cost;
	unsigned int i;
	int err;

	many_return = returns;
	for (i = 0; i < nr; i++)
		many_set(i, addr_of(i));

	many_since = ktime_get();
	cost_begin(&cost);
	err = batch_register(many_list, nr, many_return);
	cost_end(&cost);
	if (has_failed("register", err))
		return;
	nr_many = nr;
	many_what = what;
	tell_batch("register", nr, cost);
}

static void run_register(unsigned int nr)
{
	if (nr <= MANY)
		register_many("", nr, field_addr, false);
}

/* Register one probe in each of many functions. */
static void run_each(unsigned int nr)
{
	if (nr <= EACH_FUNCTIONS)
		register_many("each-", nr, each_addr, false);
}

/* The same for probes that stay disabled. */
static void run_disabled(unsigned int nr)
{
	many_disabled = true;
	if (nr <= EACH_FUNCTIONS)
		register_many("disabled-", nr, each_addr, false);
	many_disabled = false;
}

/* The same for return probes with the default maxactive. */
static void run_returns(unsigned int nr)
{
	if (nr <= EACH_FUNCTIONS)
		register_many("returns-", nr, each_addr, true);
}

/* Unregister one probe while the others stay, and register it again. */
static void run_leave(unsigned int unused)
{
	struct kprobe *kp = many_list[nr_many / 2];
	kprobe_opcode_t *addr = kp->addr;
	struct cost cost;
	char name[32];

	cost_begin(&cost);
	unregister_kprobe(kp);
	cost_end(&cost);
	snprintf(name, sizeof(name), "leave-%u", nr_many);
	tell_costs(name, &cost, 1);

	many_set(nr_many / 2, addr);
	has_failed(name, register_kprobe(kp));
}

static void run_unregister(unsigned int nr)
{
	struct cost cost;

	if (!nr_many)
		return;
	cost_begin(&cost);
	batch_unregister(many_list, nr_many, many_return);
	cost_end(&cost);
	tell_batch("unregister", nr_many, cost);
	nr_many = 0;
}

static void call_all(void *unused)
{
	unsigned int i;

	for (i = 0; i < nr_many; i++)
		((void (*)(void))many[i].kp.addr)();
}

/* One CPU after the other, so that no count is lost, and then all at once. */
static void run_everywhere(unsigned int unused)
{
	unsigned long missed = 0;
	unsigned int cpu, i;

	hits = 0;
	for_each_online_cpu(cpu)
		smp_call_function_single(cpu, call_all, NULL, 1);
	result("hits", hits);

	on_each_cpu(call_all, NULL, 1);
	for (i = 0; i < nr_many; i++)
		missed += many[i].kp.nmissed;
	result("missed", missed);
}

static void call_traced(void *unused)
{
	traced();
}

/* Calls that come one after the other, on whatever CPU, need one instance together. */
static void run_in_turn(unsigned int unused)
{
	unsigned int cpu;
	int err;

	return_probe = (struct kretprobe){
		.kp.symbol_name = KBUILD_MODNAME ":traced",
		.handler = count_return,
		.maxactive = 1,
	};
	err = register_kretprobe(&return_probe);
	if (has_failed("lost", err))
		return;
	for_each_online_cpu(cpu)
		smp_call_function_single(cpu, call_traced, NULL, 1);
	result("lost", return_probe.nmissed);
	unregister_kretprobe(&return_probe);
}

static bool all_are_jumps(void)
{
	unsigned int i;

	for (i = 0; i < nr_many; i++) {
		if (has_failed("jumped", wait_for_jump((u8 *)many[i].kp.addr)))
			return false;
	}

	return true;
}

static void run_wait(unsigned int unused)
{
	all_are_jumps();
}

/* Tell the time since the registration of the probes, or since run_since(). */
static void tell_since(const char *what)
{
	/* What it takes may wait: only time tells it. */
	u64 ns = ktime_to_ns(ktime_sub(ktime_get(), many_since));

	tell_batch(what, nr_many, (struct cost){ .cycles = ns, .ns = ns });
}

/* Measure the time until all have jumps. */
static void run_jumped(unsigned int unused)
{
	if (all_are_jumps())
		tell_since("jumped");
}

/* Start the clock for run_jumped() here. */
static void run_since(unsigned int unused)
{
	many_what = "knob-";
	many_since = ktime_get();
}

/* Measure what it took to write to the sysctl debug.kprobes-optimization meanwhile. */
static void run_switched(unsigned int unused)
{
	tell_since("switched");
}

/* Measure hits of a probe that was registered before the others. */
static void run_oldest(unsigned int unused)
{
	static struct kprobe oldest;
	static struct cost without;
	char name[32];

	if (!oldest.addr) {
		without = call_cost(kp_bench_move, CALLS);
		set_probe(&oldest, kp_bench_move_at, NULL, NULL);
		if (register_kprobe(&oldest))
			return;
	} else if (!nr_many) {
		unregister_kprobe(&oldest);
		memset(&oldest, 0, sizeof(oldest));
		return;
	}

	snprintf(name, sizeof(name), "oldest-%u", nr_many + 1);
	tell_hit(name, kp_bench_move, without, 1, 0, NULL);
}

/* A thousand functions that ftrace can attach to. */
#define SITE(n)		static noinline void site_##n(void) { barrier(); }
#define SITE_OF(n)	site_##n,
#define HUNDRED(m, n)	TEN(m, n##0) TEN(m, n##1) TEN(m, n##2) TEN(m, n##3) TEN(m, n##4) \
			TEN(m, n##5) TEN(m, n##6) TEN(m, n##7) TEN(m, n##8) TEN(m, n##9)
#define THOUSAND(m)	HUNDRED(m, 0) HUNDRED(m, 1) HUNDRED(m, 2) HUNDRED(m, 3) HUNDRED(m, 4) \
			HUNDRED(m, 5) HUNDRED(m, 6) HUNDRED(m, 7) HUNDRED(m, 8) HUNDRED(m, 9)

THOUSAND(SITE)
static void (* const sites[])(void) = { THOUSAND(SITE_OF) };

static kprobe_opcode_t *site_addr(unsigned int n)
{
	return (kprobe_opcode_t *)sites[n];
}

static void run_sites(unsigned int unused)
{
	register_many("sites-", ARRAY_SIZE(sites), site_addr, false);
	if (nr_many)
		run_unregister(0);
}

/* Counts how often all CPUs are stopped. */
static struct kprobe stops = {
	.symbol_name = "stop_machine_cpuslocked",
	.pre_handler = count_hit,
};

static void run_count(unsigned int unused)
{
	has_failed("stops", register_kprobe(&stops));
	hits = 0;
}

static void run_counted(unsigned int unused)
{
	result(nr_many ? "stops-register" : "stops-unregister", hits);
	unregister_kprobe(&stops);
	stops.addr = NULL;
	stops.flags = 0;
}

static const struct action {
	const char *name;
	void (*run)(unsigned int arg);
} actions[] = {
	{ "hits", run_hits },
	{ "jumps", run_jumps },
	{ "loops", run_loops },
	{ "one", run_one },
	{ "change", run_change },
	{ "sites", run_sites },
	{ "returns", run_returns },
	{ "register", run_register },
	{ "each", run_each },
	{ "disabled", run_disabled },
	{ "leave", run_leave },
	{ "attach", run_attach },
	{ "since", run_since },
	{ "switched", run_switched },
	{ "everywhere", run_everywhere },
	{ "in-turn", run_in_turn },
	{ "jumped", run_jumped },
	{ "wait", run_wait },
	{ "oldest", run_oldest },
	{ "unregister", run_unregister },
	{ "count", run_count },
	{ "counted", run_counted },
	{ "watch", run_watch },
	{ "watched", run_watched },
};

static int run_set(const char *text, const struct kernel_param *param)
{
	unsigned int i, arg = 0;
	char name[16];

	if (sscanf(text, "%15s %u", name, &arg) < 1)
		return -EINVAL;

	for (i = 0; i < ARRAY_SIZE(actions); i++) {
		if (!strcmp(actions[i].name, name)) {
			migrate_disable();
			actions[i].run(arg);
			migrate_enable();
			return 0;
		}
	}

	return -EINVAL;
}

module_param_call(run, run_set, NULL, NULL, 0200);
MODULE_PARM_DESC(run, "a measurement, and the number of its probes");

/* What user space measures belongs into the table as well. */
static int figure_set(const char *text, const struct kernel_param *param)
{
	char name[32];
	u64 value;

	if (sscanf(text, "%31s %llu", name, &value) != 2)
		return -EINVAL;
	result(name, value);
	return 0;
}

module_param_call(figure, figure_set, NULL, NULL, 0200);
MODULE_PARM_DESC(figure, "a name and a value that were measured elsewhere, for the table");

static int __init kprobes_benchmark_init(void)
{
	on_each_cpu(start_counter, NULL, 1);
	measure_begin();
	return 0;
}

static void __exit kprobes_benchmark_exit(void)
{
	if (nr_many)
		batch_unregister(many_list, nr_many, many_return);
	measure_end();
}

module_init(kprobes_benchmark_init);
module_exit(kprobes_benchmark_exit);
MODULE_DESCRIPTION("What probes cost");
MODULE_LICENSE("GPL");
