// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ftrace site of a function, for a probe on the entry.
 *
 * A function begins with an AUIPC, which never changes after ftrace has been initialized, and
 * ftrace's site after it, one instruction: a NOP, or a JALR that calls ftrace with t0 as the
 * link register. ftrace rewrites the site while CPUs run, and reads the AUIPC only to see
 * whether it is a breakpoint. So a probe on the entry has its breakpoint on the AUIPC, a hit
 * emulates that, and the probe and ftrace do not see each other. There is no probe on the site.
 *
 * A jump would cover the site, and ftrace overwrite its second half: the breakpoint stays.
 */
#include <linux/ftrace.h>

#include "common.h"

/*
 * Return whether @addr is the first instruction before a site. ftrace_location() would be slow:
 * it also looks up a symbol, among all those of a module.
 */
bool kprobe_is_ftrace_site(unsigned long addr)
{
#ifdef CONFIG_DYNAMIC_FTRACE
	unsigned long site = addr + MCOUNT_AUIPC_SIZE;

	return ftrace_location_range(site, site) == site;
#else
	return false;
#endif
}
