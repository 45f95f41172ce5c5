// SPDX-License-Identifier: GPL-2.0-only
/*
 * From what a user names, a symbol or an address plus an offset, to the address of an
 * instruction; and may it be probed?
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/bug.h>
#include <linux/cfi.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kgdb.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <asm/sections.h>

#include "internal.h"

/* As kprobe_lookup_name(), but use a module's sorted names; kprobe_mutex protects these. */
static kprobe_opcode_t *resolve_lookup_sorted(const char *name, unsigned int offset)
{
	unsigned long addr = 0;

	if (__is_defined(ARCH_KPROBES_NATIVE) && IS_ENABLED(CONFIG_MODULES) &&
	    strchr(name, ':'))
		addr = kprobe_module_symbol(name);

	return addr ? (kprobe_opcode_t *)addr : kprobe_lookup_name(name, offset);
}

/* Functions of vmlinux that share a name; those of the boot count until they are freed. */
struct namesakes {
	unsigned long first;
	bool ambiguous;
};

static int namesakes_count(void *data, unsigned long addr)
{
	struct namesakes *found = data;

	if (!core_kernel_text(addr))
		return 0;
	if (!found->first)
		found->first = addr;
	else if (found->first != addr)
		found->ambiguous = true;

	return found->ambiguous;
}

/* Print a form that can be probed, and that does not reveal where the kernel is. */
static int namesakes_report(void *data, unsigned long addr)
{
	if (core_kernel_text(addr))
		pr_debug("%s: one is at _stext+%#lx\n", (const char *)data,
			 addr - (unsigned long)_stext);

	return 0;
}

static int resolve_symbol(const char *name, unsigned int offset,
			  kprobe_opcode_t *(*lookup)(const char *name, unsigned int offset),
			  unsigned long *addr)
{
	struct namesakes found = {};

	*addr = (unsigned long)lookup(name, offset);
	if (!*addr) {
		pr_debug("%s: no such symbol\n", name);
		return kprobe_refuse(-ENOENT, NULL, "no such symbol");
	}

	if (strchr(name, ':'))
		return 0;

	/* Refuse to guess which of several functions is meant. */
	kallsyms_on_each_match_symbol(namesakes_count, name, &found);
	if (found.ambiguous) {
		pr_debug("%s: more than one function has this name\n", name);
		kallsyms_on_each_match_symbol(namesakes_report, name, (void *)name);
		return kprobe_refuse(-EADDRNOTAVAIL, NULL, "more than one function has this name");
	}
	/* The symbol found first may be a variable with the name of a function. */
	if (__is_defined(ARCH_KPROBES_NATIVE) && found.first)
		*addr = found.first;

	return 0;
}

/**
 * arch_adjust_kprobe_addr() - put a probe where an architecture needs it
 * @addr: start of a symbol
 * @offset: bytes from there to the probe
 * @on_func_entry: set to whether that is the entry of the function
 *
 * Context: Process context.
 * Return: the address to probe, NULL when there can be none.
 */
kprobe_opcode_t * __weak arch_adjust_kprobe_addr(unsigned long addr, unsigned long offset,
						 bool *on_func_entry)
{
	addr += offset;
	*on_func_entry = offset == 0;

	return (kprobe_opcode_t *)addr;
}

/*
 * Compilers move code that hardly ever runs to a symbol FUNC.cold. Functions jump there from
 * their middle: what lies where a call would have left its return address is something else.
 */
static bool symbol_is_called(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return !cold || (cold[5] && cold[5] != '.');
}

/*
 * Resolve to an address. Entry and blacklist checks use the symbol that contains the
 * address, which need not be the one named.
 */
static int resolve_probe_address(kprobe_opcode_t *addr, const char *name, unsigned long offset,
				 kprobe_opcode_t *(*lookup)(const char *name, unsigned int offset),
				 unsigned long *where)
{
	unsigned long base = (unsigned long)addr;
	int ret;

	if (!name == !addr)
		return kprobe_refuse(-EINVAL, NULL, "give either an address or a symbol");

	if (name) {
		ret = resolve_symbol(name, offset, lookup, &base);
		if (ret)
			return ret;
	}

	if (check_add_overflow(base, offset, where))
		return kprobe_refuse(-ENOENT, NULL, "beyond the end of memory");

	return 0;
}

/* Resolve the address that the probe of @req names, without writing to the probe. */
int kprobe_resolve_address(struct probe_request *req)
{
	const struct kprobe *kp = req->kp;

	return resolve_probe_address(kp->addr, kp->symbol_name, kp->offset,
				     resolve_lookup_sorted, &req->addr);
}

/* Move the address of @req to where the architecture puts the probe. */
int kprobe_resolve_place(struct probe_request *req)
{
	const struct kprobe_function *fn;
	unsigned long where = req->addr;

	fn = kprobe_function_of(where);
	if (!fn)
		return kprobe_refuse(-ENOENT, (void *)where, "not in any symbol");

	req->addr = (unsigned long)arch_adjust_kprobe_addr(fn->start, where - fn->start,
							   &req->on_entry);
	if (!req->addr)
		return kprobe_refuse(-EINVAL, (void *)where,
				     "the architecture has no place for a probe");
	req->on_entry = req->on_entry && symbol_is_called(fn->name);

	return 0;
}

#ifdef CONFIG_KRETPROBES
static bool return_is_blacklisted(unsigned long addr)
{
	const struct kprobe_function *fn = kprobe_function_of(addr);
	unsigned int i;

	/*
	 * Ports with a size of 0 do not define the array: the reference must be dead
	 * code there.
	 */
	if (!kretprobe_blacklist_size || !fn)
		return false;

	for (i = 0; i < kretprobe_blacklist_size && kretprobe_blacklist[i].name; i++) {
		if (!strcmp(kretprobe_blacklist[i].name, fn->name))
			return true;
	}

	return false;
}

/* Is it resolved to the entry of a function that returns to its caller? */
bool kprobe_return_is_possible(const struct probe_request *req)
{
	return req->on_entry && !return_is_blacklisted(req->addr);
}
#endif

/**
 * kprobe_on_func_entry() - is this the entry of a function?
 * @addr: an address, or NULL
 * @sym: a symbol, or NULL; exactly one of the two is given
 * @offset: bytes to add
 *
 * Where an architecture begins functions with a landing pad, the first
 * instruction after it is the entry too. The start of code that functions jump to, FUNC.cold, is
 * no entry.
 *
 * Context: Process context. Takes no lock of kprobes: perf calls this with a lock held
 * that CPU hotplug takes.
 * Return: 0 when it is, -%EINVAL when it is not or when not exactly one of @addr
 * and @sym is given, -%ENOENT when there is no such place, -%EADDRNOTAVAIL when
 * several functions have the name @sym.
 */
int kprobe_on_func_entry(kprobe_opcode_t *addr, const char *sym, unsigned long offset)
{
	char buffer[KSYM_NAME_LEN], *module;
	unsigned long where, size;
	const char *name;
	bool on_entry;
	int ret;

	ret = resolve_probe_address(addr, sym, offset, kprobe_lookup_name, &where);
	if (ret)
		return ret;
	name = kallsyms_lookup(where, &size, &offset, &module, buffer);
	if (!name)
		return -ENOENT;
	if (!arch_adjust_kprobe_addr(where - offset, offset, &on_entry) || !on_entry)
		return -EINVAL;

	return symbol_is_called(name) ? 0 : -EINVAL;
}

/* May this address be probed? */

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

/* Like within_kprobe_blacklist(), but look for the origin of a clone once for a function. */
static bool in_blacklist(unsigned long addr)
{
	struct kprobe_function *fn;

	if (arch_within_kprobe_blacklist(addr) || kprobe_blacklist_holds(addr))
		return true;
	fn = kprobe_function_of(addr);
	if (fn && fn->is_blacklisted_clone < 0)
		fn->is_blacklisted_clone = kprobe_blacklist_holds_origin(fn->name);

	return fn && fn->is_blacklisted_clone;
}

/* In most functions there is nothing to search for. */
static bool function_has_sites(unsigned long addr)
{
	struct kprobe_function *fn = kprobe_function_of(addr);

	if (fn && fn->has_sites < 0)
		fn->has_sites = kprobe_has_sites(fn->start, fn->end);

	return fn && fn->has_sites;
}

/* A static call's trampoline is patched like its call sites, but no table lists it. */
static bool in_static_call(unsigned long addr)
{
	const struct kprobe_function *fn = kprobe_function_of(addr);

	if (fn && str_has_prefix(fn->name, STATIC_CALL_TRAMP_PREFIX_STR))
		return true;

	return function_has_sites(addr) && kprobe_has_static_calls(addr, addr + 1);
}

/**
 * kprobe_on_debuggers_breakpoint() - does the kernel's debugger have a breakpoint here?
 * @addr: an address of kernel text
 *
 * Context: Process context.
 * Return: true if it does.
 */
bool kprobe_on_debuggers_breakpoint(unsigned long addr)
{
#ifdef CONFIG_KGDB
	return kgdb_io_module_registered && kgdb_has_hit_break(addr);
#else
	return false;
#endif
}

/*
 * The type hash and the patchable padding in front of a function have symbols of their
 * own, but hold no instructions.
 */
static bool in_cfi_preamble(unsigned long addr)
{
	const struct kprobe_function *fn = kprobe_function_of(addr);

	return fn && (str_has_prefix(fn->name, "__cfi_") || str_has_prefix(fn->name, "__pfx_"));
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

#define TRAPS_FOR_BUG	"traps by itself, for BUG() or WARN()"

/*
 * Ask each owner that has reserved text for itself. The caller's locks keep every reservation
 * stable, except the static calls of a module, which have a private lock. kprobe_module_hold()
 * refuses a module while they are sorted.
 */
int kprobe_check(struct probe_request *req)
{
	unsigned long addr = req->addr;
	void *where = (void *)addr;

	lockdep_assert_held(&text_mutex);

	if (outside_text(req))
		return kprobe_refuse(-EINVAL, where, "not kernel text");
	if (in_gate_area_no_mm(addr))
		return kprobe_refuse(-EINVAL, where, "in the gate area of user space");
	if (in_blacklist(addr))
		return kprobe_refuse(-EINVAL, where,
				     "must not be probed, see debugfs kprobes/blacklist");
	if (function_has_sites(addr) && kprobe_has_jump_labels(addr, addr + 1))
		return kprobe_refuse(-EINVAL, where, "rewritten by a static key");
	if (in_static_call(addr))
		return kprobe_refuse(-EINVAL, where, "rewritten by a static call");
	/* It must not be mistaken for the original instruction or for an ftrace site. */
	if (kprobe_on_debuggers_breakpoint(addr))
		return kprobe_refuse(-EBUSY, where, "a debugger's breakpoint");
	/*
	 * If the architecture refuses trapping instructions anyway, search the bug table only
	 * after a refusal, for the errno: see kprobe_check_refused().
	 */
	if (!__is_defined(ARCH_KPROBES_NATIVE) && find_bug(addr))
		return kprobe_refuse(-EINVAL, where, TRAPS_FOR_BUG);
	if (in_cfi_preamble(addr))
		return kprobe_refuse(-EINVAL, where, "in the data before a function");
	if (is_cfi_trap(addr))
		return kprobe_refuse(-EINVAL, where, "traps by itself, for CFI");
	if (inside_ftrace_site(req))
		return kprobe_refuse(-EILSEQ, where, "inside an ftrace site");
	if (!CAN_BE_ON_FTRACE_SITE && ftrace_site_of(addr) == addr)
		return kprobe_refuse(-EINVAL, where, "rewritten by ftrace");

	return 0;
}

/*
 * Turn @err, with which the architecture refused the instruction, into the caller's
 * errno.
 */
int kprobe_check_refused(struct probe_request *req, int err)
{
	void *where = (void *)req->addr;

	if (find_bug(req->addr))
		return kprobe_refuse(-EINVAL, where, TRAPS_FOR_BUG);
	/* The kernel's own ports give no reason. */
	if (!__is_defined(ARCH_KPROBES_NATIVE) && err != -ENOMEM)
		return kprobe_refuse(err, where, "the architecture refuses the instruction");

	return err;
}
