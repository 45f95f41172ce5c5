// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes on the entries of all functions of the kernel in one batch, as a tracer may attach
 * them, and for comparison what ftrace alone takes for those entries that are its sites.
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "../functions.h"
#include "bench.h"

#define MAX_FUNCTIONS	60000

/* Addresses of _stext, _etext and kallsyms_on_each_symbol(), which are not exported. */
static ulong text_start, text_end, each_symbol;
module_param(text_start, ulong, 0400);
module_param(text_end, ulong, 0400);
module_param(each_symbol, ulong, 0400);

static struct kprobe *entries;
static struct kprobe **list;
static unsigned long *sites;
static unsigned int nr_entries;

static int add_entry(void *unused, const char *name, unsigned long addr)
{
	struct kprobe *kp = &entries[nr_entries];

	if (!is_function(name, addr, text_start, text_end))
		return 0;

	/* To find out whether this can be probed, no text needs to be written. */
	*kp = (struct kprobe){
		.addr = (kprobe_opcode_t *)addr,
		.pre_handler = bench_on_pre,
		.flags = KPROBE_FLAG_DISABLED,
	};
	if (!register_kprobe(kp))
		nr_entries++;

	return nr_entries == MAX_FUNCTIONS;
}

/* Find out which functions can be probed, and leave them without probes. Return the sites. */
static unsigned int find_entries(void)
{
	unsigned int i, nr_sites = 0;

	for_each_symbol(each_symbol, add_entry);
	for (i = 0; i < nr_entries; i++) {
		list[i] = &entries[i];
		if (kprobe_ftrace(list[i]))
			sites[nr_sites++] = (unsigned long)list[i]->addr;
	}
	unregister_kprobes(list, nr_entries);
	for (i = 0; i < nr_entries; i++) {
		kprobe_opcode_t *addr = list[i]->addr;

		*list[i] = (struct kprobe){ .addr = addr, .pre_handler = bench_on_pre };
	}

	return nr_sites;
}

static void tell_since(const char *name, ktime_t start)
{
	result(name, ktime_ms_delta(ktime_get(), start));
}

static void measure_entries(void)
{
	ktime_t start = ktime_get();

	if (register_kprobes(list, nr_entries))
		return;
	tell_since("attach-ms", start);

	start = ktime_get();
	unregister_kprobes(list, nr_entries);
	tell_since("detach-ms", start);
}

#ifdef CONFIG_FUNCTION_TRACER

static void trace_nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			  struct ftrace_regs *fregs)
{
}

NOKPROBE_SYMBOL(trace_nothing);

static void measure_ftrace(unsigned int nr_sites)
{
	static struct ftrace_ops ops;
	ktime_t start = ktime_get();

	/* Its filter is gone after ftrace_free_filter(). */
	ops = (struct ftrace_ops){ .func = trace_nothing };
	if (ftrace_set_filter_ips(&ops, sites, nr_sites, 0, 1) || register_ftrace_function(&ops))
		return;
	tell_since("attach-ftrace-ms", start);

	start = ktime_get();
	unregister_ftrace_function(&ops);
	tell_since("detach-ftrace-ms", start);
	ftrace_free_filter(&ops);
}

#else

static void measure_ftrace(unsigned int nr_sites)
{
}

#endif

void run_attach(unsigned int unused)
{
	unsigned int nr_sites;

	entries = vcalloc(MAX_FUNCTIONS, sizeof(*entries));
	list = vcalloc(MAX_FUNCTIONS, sizeof(*list));
	sites = vcalloc(MAX_FUNCTIONS, sizeof(*sites));
	if (entries && list && sites && each_symbol) {
		nr_sites = find_entries();
		result("attach-functions", nr_entries);
		measure_entries();
		if (nr_sites)
			measure_ftrace(nr_sites);
	}
	vfree(sites);
	vfree(list);
	vfree(entries);
}
