// SPDX-License-Identifier: GPL-2.0-only
/*
 * May this address be probed? There is a row for each owner that has reserved text for
 * itself, with the errno for the caller and the reason for the log.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/bug.h>
#include <linux/cfi.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/kgdb.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <asm/sections.h>

#include "internal.h"

/* Protected by kprobe_mutex. */
static bool init_text_is_over;

/* The kernel's boot-time text is about to be freed. */
void kprobe_check_no_init_text(void)
{
	init_text_is_over = true;
}

static bool outside_text(struct probe_request *req)
{
	return !req->module && (!core_kernel_text(req->addr) ||
				(init_text_is_over && is_kernel_inittext(req->addr)));
}

static bool inside_gate_area(struct probe_request *req)
{
	return in_gate_area_no_mm(req->addr);
}

static bool function_is_blacklisted_clone(const struct kprobe_function *fn)
{
	return kprobe_blacklist_holds_origin(fn->name);
}

/* Like within_kprobe_blacklist(), but with the cached function. */
static bool in_blacklist(struct probe_request *req)
{
	return arch_within_kprobe_blacklist(req->addr) || kprobe_blacklist_holds(req->addr) ||
	       kprobe_function_is(req->addr, FUNCTION_IS_BLACKLISTED_CLONE,
				  function_is_blacklisted_clone);
}

static bool function_has_sites(const struct kprobe_function *fn)
{
	return kprobe_has_sites(fn->start, fn->end);
}

static bool in_jump_label(struct probe_request *req)
{
	return kprobe_function_is(req->addr, FUNCTION_HAS_SITES, function_has_sites) &&
	       kprobe_has_jump_labels(req->addr, req->addr + 1);
}

/* A static call's trampoline is patched like its call sites, but no table lists it. */
static bool in_static_call_trampoline(unsigned long addr)
{
	const struct kprobe_function *fn = kprobe_function_of(addr);

	return fn && str_has_prefix(fn->name, STATIC_CALL_TRAMP_PREFIX_STR);
}

static bool in_static_call(struct probe_request *req)
{
	if (in_static_call_trampoline(req->addr))
		return true;

	return kprobe_function_is(req->addr, FUNCTION_HAS_SITES, function_has_sites) &&
	       kprobe_has_static_calls(req->addr, req->addr + 1);
}

#ifdef CONFIG_KGDB
/**
 * kprobe_on_debuggers_breakpoint() - does the kernel's debugger have a breakpoint here?
 * @addr: an address of kernel text
 *
 * Context: Process context.
 * Return: true if it does.
 */
bool kprobe_on_debuggers_breakpoint(unsigned long addr)
{
	return kgdb_io_module_registered && kgdb_has_hit_break(addr);
}
#endif

/*
 * The debugger's breakpoint must not be mistaken for the original instruction or for an
 * ftrace site.
 */
static bool on_debuggers_breakpoint(struct probe_request *req)
{
	return kprobe_on_debuggers_breakpoint(req->addr);
}

/*
 * If the architecture refuses trapping instructions anyway, search the bug table only after
 * a refusal, for the errno: see kprobe_check_refused().
 */
static bool on_bug_entry(struct probe_request *req)
{
	return !__is_defined(ARCH_KPROBES_REFUSE_TRAPS) && find_bug(req->addr);
}

/*
 * The type hash and the patchable padding in front of a function have symbols of their
 * own, but hold no instructions.
 */
static bool in_cfi_preamble(struct probe_request *req)
{
	const struct kprobe_function *fn = kprobe_function_of(req->addr);

	return fn && (str_has_prefix(fn->name, "__cfi_") || str_has_prefix(fn->name, "__pfx_"));
}

static bool on_cfi_trap(struct probe_request *req)
{
	return is_cfi_trap(req->addr);
}

/*
 * A probe can be on an ftrace site if ftrace calls it, or if the architecture's ftrace
 * and breakpoints do not overwrite each other.
 */
#define CAN_BE_ON_FTRACE_SITE	\
	(IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) || __is_defined(ARCH_KPROBES_SHARE_FTRACE_SITE))

/* Return the ftrace site that contains @addr, or 0. */
static unsigned long ftrace_site_of(unsigned long addr)
{
#ifdef CONFIG_DYNAMIC_FTRACE
	return ftrace_location_range(addr, addr);
#else
	return 0;
#endif
}

/*
 * Only at the first byte of an ftrace site can there be a probe: ftrace writes the whole site at
 * once, on RISC-V two instructions.
 */
static bool inside_ftrace_site(struct probe_request *req)
{
	unsigned long site = ftrace_site_of(req->addr);

	if (!site || !CAN_BE_ON_FTRACE_SITE)
		return false;
	req->on_ftrace = IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) && req->addr == site;

	return req->addr > site;
}

static bool is_bare_ftrace_site(struct probe_request *req)
{
	return !CAN_BE_ON_FTRACE_SITE && ftrace_site_of(req->addr) == req->addr;
}

static const struct reservation {
	bool (*applies)(struct probe_request *req);
	int err;
	const char *reason;
} reservations[] = {
	{ outside_text,		-EINVAL, "not kernel text" },
	{ inside_gate_area,	-EINVAL, "in the gate area of user space" },
	{ in_blacklist,		-EINVAL, "must not be probed, see debugfs kprobes/blacklist" },
	{ in_jump_label,	-EINVAL, "rewritten by a static key" },
	{ in_static_call,	-EINVAL, "rewritten by a static call" },
	{ on_debuggers_breakpoint, -EBUSY, "a debugger's breakpoint" },
	{ on_bug_entry,		-EINVAL, "traps by itself, for BUG() or WARN()" },
	{ in_cfi_preamble,	-EINVAL, "in the data before a function" },
	{ on_cfi_trap,		-EINVAL, "traps by itself, for CFI" },
	{ inside_ftrace_site,	-EILSEQ, "inside an ftrace site" },
	{ is_bare_ftrace_site,	-EINVAL, "rewritten by ftrace" },
};

/*
 * The caller's locks keep every reservation stable, except the static calls of a module,
 * which have a private lock. kprobe_lifetime_hold() refuses a module while they are sorted.
 */
int kprobe_check(struct probe_request *req)
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

/*
 * Turn @err, with which the architecture refused the instruction, into the caller's
 * errno.
 */
int kprobe_check_refused(struct probe_request *req, int err)
{
	return find_bug(req->addr) ? -EINVAL : err;
}
