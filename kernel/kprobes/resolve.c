// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resolve what a user names, a symbol or an address plus an offset, to the address of an
 * instruction.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <asm/sections.h>

#include "internal.h"

/* Does the architecture keep the default kprobe_lookup_name()? */
#ifndef ARCH_KPROBES_PLAIN_NAMES
#define ARCH_KPROBES_PLAIN_NAMES	false
#endif

/* As kprobe_lookup_name(), but use a module's sorted names; kprobe_mutex protects these. */
static kprobe_opcode_t *resolve_lookup_sorted(const char *name, unsigned int offset)
{
	unsigned long addr = 0;

	if (ARCH_KPROBES_PLAIN_NAMES && strchr(name, ':'))
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
		return -ENOENT;
	}

	if (strchr(name, ':'))
		return 0;

	/* Refuse to guess which of several functions is meant. */
	kallsyms_on_each_match_symbol(namesakes_count, name, &found);
	if (found.ambiguous) {
		pr_debug("%s: more than one function has this name\n", name);
		kallsyms_on_each_match_symbol(namesakes_report, name, (void *)name);
		return -EADDRNOTAVAIL;
	}
	/* The symbol found first may be a variable with the name of a function. */
	if (ARCH_KPROBES_PLAIN_NAMES && found.first)
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

	if (!name == !addr) {
		pr_debug("give either an address or a symbol\n");
		return -EINVAL;
	}

	if (name) {
		ret = resolve_symbol(name, offset, lookup, &base);
		if (ret)
			return ret;
	}

	return check_add_overflow(base, offset, where) ? -ENOENT : 0;
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
	if (!fn) {
		pr_debug("%#lx: not in any symbol\n", where);
		return -ENOENT;
	}

	req->addr = (unsigned long)arch_adjust_kprobe_addr(fn->start, where - fn->start,
							   &req->on_entry);
	if (!req->addr) {
		pr_debug("%pS: the architecture has no place for a probe\n", (void *)where);
		return -EINVAL;
	}
	req->on_entry = req->on_entry && symbol_is_called(fn->name);

	return 0;
}

/**
 * kprobe_on_func_entry() - is this the entry of a function?
 * @addr: an address, or NULL
 * @sym: a symbol, or NULL; exactly one of the two is given
 * @offset: bytes to add
 *
 * Where an architecture begins functions with a landing pad, the first
 * instruction behind it is the entry too. The start of code that functions jump to, FUNC.cold, is
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
