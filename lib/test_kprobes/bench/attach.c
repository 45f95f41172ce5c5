// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes on the entries of all functions of the kernel in one batch, as a tracer may attach
 * them, and for comparison what ftrace alone takes for those entries that are its sites.
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/vmalloc.h>

#include "../common.h"
#include "../functions.h"
#include "bench.h"

static struct kprobe *entries;
static struct kprobe **list;
static unsigned int nr_entries;

/*
 * Find out which functions can be probed, and leave them without probes. Leave only the sites in
 * functions[], and return their number.
 */
static unsigned int find_entries(void)
{
	unsigned int i, nr_sites = 0;

	for (i = 0; i < nr_functions; i++) {
		struct kprobe *kp = &entries[nr_entries];

		/* To find out whether this can be probed, no text needs to be written. */
		*kp = (struct kprobe){
			.addr = (kprobe_opcode_t *)functions[i],
			.pre_handler = count_hit,
			.flags = KPROBE_FLAG_DISABLED,
		};
		if (register_kprobe(kp))
			continue;
		list[nr_entries++] = kp;
		if (kprobe_ftrace(kp))
			functions[nr_sites++] = (unsigned long)kp->addr;
	}
	unregister_kprobes(list, nr_entries);
	for (i = 0; i < nr_entries; i++) {
		kprobe_opcode_t *addr = list[i]->addr;

		*list[i] = (struct kprobe){ .addr = addr, .pre_handler = count_hit };
	}

	return nr_sites;
}

static void tell_since(const char *name, ktime_t since)
{
	result(name, ktime_ms_delta(ktime_get(), since));
}

static void measure_entries(void)
{
	ktime_t since = ktime_get();

	if (register_kprobes(list, nr_entries))
		return;
	tell_since("attach-ms", since);

	since = ktime_get();
	unregister_kprobes(list, nr_entries);
	tell_since("detach-ms", since);
}

#ifdef CONFIG_FUNCTION_TRACER

static void trace_nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			  struct ftrace_regs *fregs)
{
}

static void measure_ftrace(unsigned int nr_sites)
{
	static struct ftrace_ops ops;
	ktime_t since = ktime_get();

	/* Its filter is gone after ftrace_free_filter(). */
	ops = (struct ftrace_ops){ .func = trace_nothing };
	if (ftrace_set_filter_ips(&ops, functions, nr_sites, 0, 1) ||
	    register_ftrace_function(&ops))
		return;
	tell_since("attach-ftrace-ms", since);

	since = ktime_get();
	unregister_ftrace_function(&ops);
	tell_since("detach-ftrace-ms", since);
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
	int err = find_functions();

	nr_entries = 0;
	entries = vcalloc(nr_functions, sizeof(*entries));
	list = vcalloc(nr_functions, sizeof(*list));
	if (!err && entries && list) {
		nr_sites = find_entries();
		result("attach-functions", nr_entries);
		measure_entries();
		if (nr_sites)
			measure_ftrace(nr_sites);
	}
	vfree(list);
	vfree(entries);
	vfree(functions);
}
