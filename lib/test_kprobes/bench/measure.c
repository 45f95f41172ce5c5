// SPDX-License-Identifier: GPL-2.0-only
/*
 * Costs of rounds, and the table of them in debugfs. On a machine a round takes a little more
 * or less each time, so there are many: the table has the median, and between which costs eight
 * of ten are. A round shorter than a tick is dropped if an interrupt came in it. An emulator
 * that counts instructions needs few rounds, of which the least counts: the others filled caches.
 */
#include <linux/debugfs.h>
#include <linux/irqflags.h>
#include <linux/kernel_stat.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched/clock.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "bench.h"

#define MAX_COSTS	256

/* A name, and what its rounds took. */
struct row {
	struct list_head list;
	char name[32];
	bool timed;		/* or only values, without a time */
	unsigned int nr, dropped;
	u64 cycles[MAX_COSTS], ns[MAX_COSTS];
};

static LIST_HEAD(rows);
static DEFINE_MUTEX(rows_lock);
static struct dentry *folder;

bool exact;

/* --- one round --- */

/* Interrupts of devices, softirqs, and ticks, which are counted only as time. */
static u64 interrupts(void)
{
	u64 nr = kstat_this_cpu->irqs_sum;
	unsigned int i;

	for (i = 0; i < NR_SOFTIRQS; i++)
		nr += kstat_this_cpu->softirqs[i];
	for (i = 0; i < NR_STATS; i++)
		nr += kcpustat_this_cpu->cpustat[i];
	return nr;
}

void cost_begin(struct cost *cost)
{
	cost->interrupts = interrupts();
	cost->ns = local_clock();
	cost->cycles = cycles();
}

void cost_end(struct cost *cost)
{
	cost->cycles = cycles() - cost->cycles;
	cost->ns = local_clock() - cost->ns;
	cost->interrupts = interrupts() - cost->interrupts;
}

static bool is_disturbed(const struct cost *cost)
{
	return !exact && cost->interrupts && cost->ns < TICK_NSEC;
}

static struct cost call_often(void (*fn)(void), unsigned int times)
{
	unsigned long flags;
	struct cost cost;
	unsigned int i;

	fn();
	local_irq_save(flags);
	cost_begin(&cost);
	for (i = 0; i < times; i++)
		fn();
	cost_end(&cost);
	local_irq_restore(flags);
	return cost;
}

/* --- several rounds --- */

static int by_size(const void *a, const void *b)
{
	u64 one = *(const u64 *)a, other = *(const u64 *)b;

	return one < other ? -1 : one > other;
}

/* Return the value that this many hundredths of the others are below. */
static u64 percentile(const u64 *values, unsigned int nr, unsigned int percent)
{
	static u64 sorted[MAX_COSTS];

	memcpy(sorted, values, nr * sizeof(*values));
	sort(sorted, nr, sizeof(*sorted), by_size, NULL);
	return sorted[percent * (nr - 1) / 100];
}

static u64 usual(const u64 *values, unsigned int nr)
{
	return nr ? percentile(values, nr, exact ? 0 : 50) : 0;
}

struct cost call_cost(void (*fn)(void), unsigned int times)
{
	static u64 all_cycles[ROUNDS], all_ns[ROUNDS];
	unsigned int i, nr = exact ? 5 : ROUNDS;

	for (i = 0; i < nr; i++) {
		struct cost cost = call_often(fn, times);

		all_cycles[i] = cost.cycles;
		all_ns[i] = cost.ns;
	}
	return (struct cost){ .cycles = usual(all_cycles, nr), .ns = usual(all_ns, nr) };
}

/* --- the table --- */

static struct row *row_of(const char *name, bool timed)
{
	struct row *row;

	list_for_each_entry(row, &rows, list) {
		if (!strcmp(row->name, name))
			return row;
	}
	row = kzalloc(sizeof(*row), GFP_KERNEL);
	if (row) {
		strscpy(row->name, name);
		row->timed = timed;
		list_add_tail(&row->list, &rows);
	}
	return row;
}

static void add(struct row *row, const struct cost *cost)
{
	if (is_disturbed(cost)) {
		row->dropped++;
	} else if (row->nr < MAX_COSTS) {
		row->cycles[row->nr] = cost->cycles;
		row->ns[row->nr++] = cost->ns;
	}
}

static void add_all(const char *name, const struct cost *costs, unsigned int nr, bool timed)
{
	unsigned int i, before;
	struct row *row;

	guard(mutex)(&rows_lock);
	row = row_of(name, timed);
	if (!row)
		return;
	before = row->nr;
	for (i = 0; i < nr; i++)
		add(row, &costs[i]);
	if (row->nr > before)
		pr_info("%s %llu\n", name, usual(row->cycles + before, row->nr - before));
}

void tell_costs(const char *name, const struct cost *costs, unsigned int nr)
{
	add_all(name, costs, nr, true);
}

void result(const char *name, u64 value)
{
	struct cost cost = { .cycles = value };

	add_all(name, &cost, 1, false);
}

static u64 per_call(u64 with, u64 without, unsigned int times)
{
	return with < without ? 0 : DIV_ROUND_CLOSEST_ULL(with - without, times);
}

void tell_calls(const char *name, void (*fn)(void), unsigned int times, struct cost without)
{
	static struct cost costs[ROUNDS];
	unsigned int i, nr = exact ? 5 : ROUNDS;

	for (i = 0; i < nr; i++) {
		costs[i] = call_often(fn, times);
		costs[i].cycles = per_call(costs[i].cycles, without.cycles, times);
		costs[i].ns = per_call(costs[i].ns, without.ns, times);
	}
	tell_costs(name, costs, nr);
}

static void show_values(struct seq_file *m, const u64 *values, unsigned int nr)
{
	if (!nr) {
		seq_printf(m, " %13s %13s %13s", "-", "-", "-");
		return;
	}
	seq_printf(m, " %13llu %13llu %13llu", percentile(values, nr, 50),
		   percentile(values, nr, 10), percentile(values, nr, 90));
}

static int table_show(struct seq_file *m, void *unused)
{
	struct row *row;

	guard(mutex)(&rows_lock);
	seq_printf(m, "%-28s %13s %13s %13s %13s %13s %13s %6s %7s\n", "",
		   exact ? "instructions" : "cycles", "10%", "90%", "ns", "10%", "90%",
		   "rounds", "dropped");
	list_for_each_entry(row, &rows, list) {
		seq_printf(m, "%-28s", row->name);
		show_values(m, row->cycles, row->nr);
		show_values(m, row->ns, row->timed ? row->nr : 0);
		seq_printf(m, " %6u %7u\n", row->nr, row->dropped);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(table);

/* --- beginning and end --- */

static void do_nothing(void)
{
	barrier();
}

/*
 * Find out whether the counter counts instructions, one for each nanosecond. Only in an emulator
 * do most rounds take the same. Where its firmware gets interrupts, some take more.
 */
static bool counts_instructions(void)
{
	struct cost first, cost;
	unsigned int i, same = 0;

	first = call_often(do_nothing, 1000);
	for (i = 0; i < 10; i++) {
		cost = call_often(do_nothing, 1000);
		same += cost.cycles == first.cycles;
	}
	return same > 5 && abs_diff(first.cycles, first.ns) < first.cycles / 4;
}

void measure_begin(void)
{
	exact = counts_instructions();
	folder = debugfs_create_dir("kprobes_benchmark", NULL);
	debugfs_create_file("table", 0400, folder, NULL, &table_fops);
}

void measure_end(void)
{
	struct row *row, *next;

	debugfs_remove(folder);
	list_for_each_entry_safe(row, next, &rows, list)
		kfree(row);
}
