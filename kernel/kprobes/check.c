// SPDX-License-Identifier: GPL-2.0-only
/*
 * May this address be probed? One row per owner that has reserved text for
 * itself, with the errno that a caller gets and the reason that the log tells.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/bug.h>
#include <linux/cfi.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/static_call.h>
#include <linux/string.h>

#include "internal.h"

static bool outside_text(struct probe_request *req)
{
	return !req->module && !core_kernel_text(req->addr);
}

static bool in_gate(struct probe_request *req)
{
	return in_gate_area_no_mm(req->addr);
}

static bool in_blacklist(struct probe_request *req)
{
	return within_kprobe_blacklist(req->addr);
}

static bool in_jump_label(struct probe_request *req)
{
	return jump_label_text_reserved((void *)req->addr, (void *)req->addr);
}

static bool in_static_call(struct probe_request *req)
{
	return static_call_text_reserved((void *)req->addr, (void *)req->addr);
}

static bool on_bug_entry(struct probe_request *req)
{
	return find_bug(req->addr);
}

/*
 * The bytes before a function that hold its type hash, and the room that is
 * kept there for patching, have symbols of their own, but are not instructions.
 */
static bool in_cfi_preamble(struct probe_request *req)
{
	static const char * const prefixes[] = { "__cfi_", "__pfx_" };
	char name[KSYM_NAME_LEN];
	unsigned int i;

	if (lookup_symbol_name(req->addr, name))
		return false;

	for (i = 0; i < ARRAY_SIZE(prefixes); i++) {
		if (str_has_prefix(name, prefixes[i]))
			return true;
	}

	return false;
}

static bool on_cfi_trap(struct probe_request *req)
{
	return is_cfi_trap(req->addr);
}

/*
 * Probes can be on ftrace sites where they are called by ftrace, and where the
 * architecture's breakpoints and its ftrace leave each other alone.
 */
#ifdef ARCH_KPROBES_SHARE_FTRACE_SITE
#define CAN_BE_ON_FTRACE_SITE	1
#else
#define CAN_BE_ON_FTRACE_SITE	IS_ENABLED(CONFIG_KPROBES_ON_FTRACE)
#endif

/* Only the first byte of an ftrace site is an instruction boundary. */
static bool inside_ftrace_site(struct probe_request *req)
{
	unsigned long site = ftrace_location(req->addr);

	if (!site || !CAN_BE_ON_FTRACE_SITE)
		return false;
	req->on_ftrace = IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) && req->addr == site;

	return req->addr > site;
}

static bool is_bare_ftrace_site(struct probe_request *req)
{
	return !CAN_BE_ON_FTRACE_SITE && ftrace_location(req->addr) == req->addr;
}

static const struct reservation {
	bool (*applies)(struct probe_request *req);
	int err;
	const char *reason;
} reservations[] = {
	{ outside_text,		-EINVAL, "not kernel text" },
	{ in_gate,		-EINVAL, "in the gate area of user space" },
	{ in_blacklist,		-EINVAL, "must not be probed, see debugfs kprobes/blacklist" },
	{ in_jump_label,	-EINVAL, "rewritten by a static key" },
	{ in_static_call,	-EINVAL, "rewritten by a static call" },
	{ on_bug_entry,		-EINVAL, "traps by itself, for BUG() or WARN()" },
	{ in_cfi_preamble,	-EINVAL, "in the data before a function" },
	{ on_cfi_trap,		-EINVAL, "traps by itself, for CFI" },
	{ inside_ftrace_site,	-EILSEQ, "inside an ftrace site" },
	{ is_bare_ftrace_site,	-EINVAL, "rewritten by ftrace" },
};

/* Called with the locks that keep every reservation as it is. */
int check_probe(struct probe_request *req)
{
	const struct reservation *r;

	lockdep_assert_held(&text_mutex);

	for (r = reservations; r < reservations + ARRAY_SIZE(reservations); r++) {
		if (r->applies(req)) {
			pr_debug("%pS: %s\n", (void *)req->addr, r->reason);
			return r->err;
		}
	}

	return 0;
}
