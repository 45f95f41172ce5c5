// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blacklist: functions that no probe may enter, because a trap there would recurse,
 * or would come where the kernel cannot handle one.
 *
 * It is a maple tree of ranges, which can be searched at any time, in any context. A range that
 * overlaps others replaces a part of them, and what is covered stays covered.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/array_size.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/maple_tree.h>
#include <linux/seq_file.h>
#include <linux/xarray.h>
#include <asm/sections.h>

#include "internal.h"

static struct maple_tree blacklist = MTREE_INIT(blacklist, MT_FLAGS_USE_RCU);

/* The value means nothing, but neighbours must differ to stay two ranges. */
static int blacklist_add_range(unsigned long start, unsigned long end)
{
	return mtree_store_range(&blacklist, start, end - 1, xa_mk_value(start >> 1), GFP_KERNEL);
}

/* Add the symbol at @entry, and return its size in bytes. */
static int blacklist_add_symbol(unsigned long entry, unsigned long limit)
{
	unsigned long size = 0, offset = 0;
	int ret;

	if (!kernel_text_address(entry) ||
	    !kallsyms_lookup_size_offset(entry, &size, &offset) || size <= offset)
		return -EINVAL;

	/* kallsyms lets the last symbol of a section extend up to the next section. */
	size = min(size - offset, limit - entry);
	ret = blacklist_add_range(entry, entry + size);

	return ret ?: size;
}

/**
 * kprobe_add_ksym_blacklist() - keep probes out of a function
 * @entry: address of its first instruction
 *
 * Context: Process context, may sleep.
 * Return: the size of the function in bytes, -%EINVAL when @entry is not in the
 * text of a symbol, -%ENOMEM.
 */
int kprobe_add_ksym_blacklist(unsigned long entry)
{
	return blacklist_add_symbol(entry, ULONG_MAX);
}

/**
 * kprobe_add_area_blacklist() - keep probes out of a piece of text
 * @start: its first byte
 * @end: the first byte after it
 *
 * Context: Process context, may sleep.
 * Return: 0, -%EINVAL when @end lies before @start, -%ENOMEM.
 */
int kprobe_add_area_blacklist(unsigned long start, unsigned long end)
{
	unsigned long entry = start;
	int size;

	if (end < start)
		return -EINVAL;

	while (entry < end) {
		size = blacklist_add_symbol(entry, end);
		/* No symbol covers the rest of the area: add it as a single range. */
		if (size == -EINVAL)
			return blacklist_add_range(entry, end);
		if (size < 0)
			return size;
		entry += size;
	}

	return 0;
}

/**
 * kprobe_add_areas_blacklist() - keep probes out of pieces of the kernel's text
 * @areas: the pieces
 * @nr: how many
 *
 * For architectures, in arch_populate_kprobe_blacklist().
 *
 * Context: Process context, may sleep; while booting.
 * Return: 0, -%EINVAL when one ends before it starts, -%ENOMEM.
 */
int __init kprobe_add_areas_blacklist(const struct kprobe_area *areas, unsigned int nr)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++)
		ret = kprobe_add_area_blacklist((unsigned long)areas[i].start,
						(unsigned long)areas[i].end);

	return ret;
}

/*
 * The names that were added. Of some functions there are only clones, made by the compiler:
 * kprobe_blacklist_holds_origin() looks for their names here.
 */
static struct {
	const char * const *names;
	unsigned int nr;
} blacklist_named[4] __ro_after_init;

static int __init blacklist_add_namesake(void *data, unsigned long addr)
{
	int *ret = data;

	*ret = blacklist_add_symbol(addr, ULONG_MAX);

	return *ret == -ENOMEM;
}

/**
 * kprobe_add_names_blacklist() - keep probes out of functions given by name
 * @names: their symbols; each may match several functions, such as the copies of an
 *	inline function, or none; must not be freed
 * @nr: how many
 *
 * For architectures: a function can be named here without a declaration.
 *
 * Context: Process context, may sleep; while booting.
 * Return: 0 or -%ENOMEM.
 */
int __init kprobe_add_names_blacklist(const char * const *names, unsigned int nr)
{
	static unsigned int nr_named __initdata;
	unsigned int i;
	int ret = 0;

	if (!WARN_ON(nr_named == ARRAY_SIZE(blacklist_named))) {
		blacklist_named[nr_named].names = names;
		blacklist_named[nr_named++].nr = nr;
	}
	for (i = 0; i < nr && ret != -ENOMEM; i++)
		kallsyms_on_each_match_symbol(blacklist_add_namesake, names[i], &ret);

	return ret == -ENOMEM ? ret : 0;
}

bool kprobe_blacklist_holds(unsigned long addr)
{
	return mtree_load(&blacklist, addr);
}

static bool blacklist_is_named(const char *name)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(blacklist_named); i++) {
		for (j = 0; j < blacklist_named[i].nr; j++) {
			if (!strcmp(blacklist_named[i].names[j], name))
				return true;
		}
	}

	return false;
}

/* Is the function named by the first @len bytes of @name blacklisted? Rarely called. */
static noinline bool blacklist_holds_name(const char *name, size_t len)
{
	char origin[KSYM_NAME_LEN];
	unsigned long addr;

	strscpy(origin, name, len + 1);
	addr = (unsigned long)kprobe_lookup_name(origin, 0);

	return addr ? kprobe_blacklist_holds(addr) : blacklist_is_named(origin);
}

/* A clone made by the compiler, foo.isra.0, is blacklisted with its origin. */
bool kprobe_blacklist_holds_origin(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot && blacklist_holds_name(name, dot - name);
}

/**
 * arch_within_kprobe_blacklist() - is this text that the architecture reserves?
 * @addr: an address
 *
 * Context: Any.
 * Return: true when no probe may be there.
 */
bool __weak arch_within_kprobe_blacklist(unsigned long addr)
{
	return addr >= (unsigned long)__kprobes_text_start &&
	       addr < (unsigned long)__kprobes_text_end;
}

/**
 * within_kprobe_blacklist() - is this text that must not be probed?
 * @addr: an address
 *
 * Context: Any.
 * Return: true when no probe may be there.
 */
bool within_kprobe_blacklist(unsigned long addr)
{
	char name[KSYM_NAME_LEN];

	return arch_within_kprobe_blacklist(addr) || kprobe_blacklist_holds(addr) ||
	       (!lookup_symbol_name(addr, name) && kprobe_blacklist_holds_origin(name));
}

/* The entries are pointers to functions, descriptors on some architectures. */
static int blacklist_add_entries(const unsigned long *entry, const unsigned long *end)
{
	int ret;

	for (; entry < end; entry++) {
		unsigned long addr = (unsigned long)dereference_symbol_descriptor((void *)*entry);

		ret = blacklist_add_symbol(addr, ULONG_MAX);
		if (ret == -EINVAL)
			pr_err("no function at %pS to blacklist\n", (void *)addr);
		else if (ret < 0)
			return ret;
	}

	return 0;
}

int __weak __init arch_populate_kprobe_blacklist(void)
{
	return 0;
}

static const struct kprobe_area blacklisted_areas[] __initconst = {
	{ __kprobes_text_start, __kprobes_text_end },
	{ __noinstr_text_start, __noinstr_text_end },
};

/* The functions for each size of an access. A name that no function has does no harm. */
#define EACH_SIZE(before, after)						\
	before "1" after, before "2" after, before "4" after,			\
	before "8" after, before "16" after, before "N" after

/* Functions that cannot be probed on any architecture; a name needs no declaration. */
static const char * const blacklisted_everywhere[] = {
	/* With branch profiling every unlikely() in a trap handler calls this. */
	"ftrace_likely_update",
	/* A hit in one of these ends with a preemption, which calls the same function again. */
	"preempt_schedule_notrace",
	"dynamic_preempt_schedule_notrace",
	/*
	 * Functions return to it through a replaced address: it has no return address to
	 * replace.
	 */
	"return_to_handler",
	/* These are inline, but compilers may leave them out of line, also for entry code. */
	"__preempt_count_add",
	"__preempt_count_sub",
	"__preempt_count_dec_and_test",
	"preempt_count",
	"arch_irqs_disabled",
	"arch_irqs_disabled_flags",
	"arch_local_save_flags",
	"arch_local_irq_save",
	"arch_local_irq_restore",
	"arch_local_irq_disable",
	"arch_local_irq_enable",
#ifdef CONFIG_HIBERNATION
	/* These copy all memory for the image: in it a hit of theirs would be half done. */
	"swsusp_save",
	"copy_data_pages",
	"copy_data_page",
	"safe_copy_page",
	"do_copy_page",
#endif
#if defined(CONFIG_GENERIC_ENTRY) && \
	(defined(CONFIG_HWLAT_TRACER) || defined(CONFIG_OSNOISE_TRACER))
	/* irqentry_nmi_enter() calls these before a breakpoint's handler runs. */
	"trace_hwlat_callback",
	"trace_osnoise_callback",
	"trace_clock_local",
#endif
#if defined(CONFIG_RCU_TRACE) || defined(CONFIG_OSNOISE_TRACER)
	/*
	 * irqentry_nmi_enter() and irqentry_nmi_exit() have events. Until it has a place in the
	 * buffer, an event does not see that it interrupts itself.
	 */
	"__traceiter_rcu_watching",
	"__traceiter_nmi_noise",
	"trace_event_raw_event_rcu_watching",
	"trace_event_raw_event_nmi_noise",
	"__trace_trigger_soft_disabled",
	"trace_event_ignore_this_pid",
	"trace_event_buffer_reserve",
	"trace_event_buffer_lock_reserve",
	"tracing_gen_ctx_irq_test",
	"trace_buffer_lock_reserve",
	"ring_buffer_lock_reserve",
	"perf_trace_rcu_watching",
	"perf_trace_nmi_noise",
	"do_perf_trace_rcu_watching",
	"do_perf_trace_nmi_noise",
	"perf_trace_buf_alloc",
	"perf_swevent_get_recursion_context",
	"__bpf_trace_rcu_watching",
	"__bpf_trace_nmi_noise",
	"bpf_trace_run2",
	"bpf_trace_run4",
	/* A program that interrupts itself calls this, and is not run. */
	"bpf_prog_inc_misses_counter",
#endif
#ifdef CONFIG_PROVE_LOCKING
	/*
	 * Traps call these at their end if lockdep had interrupts enabled at their start. Once
	 * lockdep is off that state no longer changes, so a nested trap calls them as well. On
	 * arm64 it does not change in a trap that comes while lockdep itself runs, either.
	 */
	"rcu_is_watching",
	"lockdep_hardirqs_on_prepare",
	/* The event of that; the first is inline, but compilers may leave it out of line. */
	"trace_irq_enable",
	"__traceiter_irq_enable",
	"trace_event_raw_event_preemptirq_template",
	"perf_trace_preemptirq_template",
	"do_perf_trace_preemptirq_template",
	"__bpf_trace_preemptirq_template",
	"bpf_trace_run2",
#endif
	/* Instrumented code calls these on the way to a handler, and while a CPU comes up. */
	"kasan_check_range",
	"__asan_memset",
	"__asan_memcpy",
	"__asan_memmove",
	EACH_SIZE("__asan_load", ""),
	EACH_SIZE("__asan_load", "_noabort"),
	EACH_SIZE("__asan_store", ""),
	EACH_SIZE("__asan_store", "_noabort"),
	"__sanitizer_cov_trace_pc",
	"check_kcov_mode",
	"canonicalize_ip",
	EACH_SIZE("__sanitizer_cov_trace_cmp", ""),
	EACH_SIZE("__sanitizer_cov_trace_const_cmp", ""),
	"__sanitizer_cov_trace_switch",
	"write_comp_data",
	/* irqentry_nmi_enter() and instrumented code on the way to a handler call these. */
	"kmsan_unpoison_entry_regs",
	"kmsan_unpoison_memory",
	"kmsan_internal_unpoison_memory",
	"kmsan_internal_poison_memory",
	"kmsan_internal_set_shadow_origin",
	"kmsan_internal_memmove_metadata",
	"kmsan_internal_chain_origin",
	"kmsan_metadata_is_contiguous",
	"kmsan_get_metadata",
	"kmsan_get_shadow_origin_ptr",
	"kmsan_save_stack_with_flags",
	"kmsan_vmalloc_to_page_or_null",
	"vmalloc_meta",
	"virt_to_page_or_null",
	"get_shadow_origin_ptr",
	"__msan_get_context_state",
	"__msan_metadata_ptr_for_load_n",
	EACH_SIZE("__msan_metadata_ptr_for_load_", ""),
	"__msan_metadata_ptr_for_store_n",
	EACH_SIZE("__msan_metadata_ptr_for_store_", ""),
	"__msan_instrument_asm_store",
	"__msan_memcpy",
	"__msan_memmove",
	"__msan_memset",
	"__msan_chain_origin",
	"__msan_poison_alloca",
	"__msan_unpoison_alloca",
	"__msan_warning",
};

int __init kprobe_blacklist_init(void)
{
	int ret = blacklist_add_entries(__start_kprobe_blacklist, __stop_kprobe_blacklist);

	ret = ret ?: kprobe_add_areas_blacklist(blacklisted_areas, ARRAY_SIZE(blacklisted_areas));
	ret = ret ?: kprobe_add_names_blacklist(blacklisted_everywhere,
						ARRAY_SIZE(blacklisted_everywhere));

	return ret ?: arch_populate_kprobe_blacklist();
}

#ifdef CONFIG_MODULES

/* Without memory stale ranges stay: they only refuse too many probes. */
void kprobe_blacklist_forget_module(struct module *mod, enum mod_mem_type type)
{
	unsigned long base = (unsigned long)mod->mem[type].base;

	if (mod->mem[type].size)
		mtree_store_range(&blacklist, base, base + mod->mem[type].size - 1, NULL,
				  GFP_KERNEL);
}

int kprobe_blacklist_add_module(struct module *mod)
{
	unsigned long kprobes_text = (unsigned long)mod->kprobes_text_start;
	unsigned long noinstr_text = (unsigned long)mod->noinstr_text_start;
	int ret;

	ret = blacklist_add_entries(mod->kprobe_blacklist,
				    mod->kprobe_blacklist + mod->num_kprobe_blacklist);
	ret = ret ?: kprobe_add_area_blacklist(kprobes_text,
					       kprobes_text + mod->kprobes_text_size);
	ret = ret ?: kprobe_add_area_blacklist(noinstr_text,
					       noinstr_text + mod->noinstr_text_size);
	if (ret) {
		for_class_mod_mem_type(type, text)
			kprobe_blacklist_forget_module(mod, type);
	}

	return ret;
}

#endif /* CONFIG_MODULES */

/* Print debugfs "blacklist"; perf parses this format. */
int kprobe_blacklist_show(struct seq_file *m, void *unused)
{
	MA_STATE(mas, &blacklist, 0, 0);
	bool show_addr = kallsyms_show_value(m->file->f_cred);
	void *range;

	guard(rcu)();
	mas_for_each(&mas, range, ULONG_MAX) {
		void *start = (void *)mas.index, *end = (void *)(mas.last + 1);

		seq_printf(m, "0x%px-0x%px\t%ps\n", show_addr ? start : NULL,
			   show_addr ? end : NULL, start);
	}

	return 0;
}
