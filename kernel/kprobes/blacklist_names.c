// SPDX-License-Identifier: GPL-2.0-only
/*
 * The initial contents of the blacklist: functions that annotations exclude, those that are
 * named here, and those that the architecture adds.
 */
#include <linux/array_size.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>

#include "blacklist.h"

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
	"trace_event_raw_event_rcu_watching",
	"trace_event_raw_event_nmi_noise",
	"trace_event_ignore_this_pid",
	"trace_event_buffer_reserve",
	"trace_event_buffer_lock_reserve",
	"tracing_gen_ctx_irq_test",
	"trace_buffer_lock_reserve",
	"ring_buffer_lock_reserve",
	"perf_trace_rcu_watching",
	"perf_trace_nmi_noise",
	"perf_trace_buf_alloc",
	"bpf_trace_run3",
	"bpf_trace_run4",
#endif
#ifdef CONFIG_PROVE_LOCKING
	/*
	 * Traps call these at their end if lockdep had interrupts enabled at their start. Once
	 * lockdep is off that state no longer changes, so a nested trap calls them as well.
	 */
	"rcu_is_watching",
	"lockdep_hardirqs_on_prepare",
#endif
	/* Instrumented code calls these on the way to a handler, and while a CPU comes up. */
	"kasan_check_range",
	"__asan_memset",
	"__asan_memcpy",
	"__asan_memmove",
	"__asan_load1",
	"__asan_load1_noabort",
	"__asan_load2",
	"__asan_load2_noabort",
	"__asan_load4",
	"__asan_load4_noabort",
	"__asan_load8",
	"__asan_load8_noabort",
	"__asan_load16",
	"__asan_load16_noabort",
	"__asan_loadN",
	"__asan_loadN_noabort",
	"__asan_store1",
	"__asan_store1_noabort",
	"__asan_store2",
	"__asan_store2_noabort",
	"__asan_store4",
	"__asan_store4_noabort",
	"__asan_store8",
	"__asan_store8_noabort",
	"__asan_store16",
	"__asan_store16_noabort",
	"__asan_storeN",
	"__asan_storeN_noabort",
	"__sanitizer_cov_trace_pc",
	"check_kcov_mode",
	"canonicalize_ip",
	"__sanitizer_cov_trace_cmp1",
	"__sanitizer_cov_trace_cmp2",
	"__sanitizer_cov_trace_cmp4",
	"__sanitizer_cov_trace_cmp8",
	"__sanitizer_cov_trace_const_cmp1",
	"__sanitizer_cov_trace_const_cmp2",
	"__sanitizer_cov_trace_const_cmp4",
	"__sanitizer_cov_trace_const_cmp8",
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
	"__msan_metadata_ptr_for_load_1",
	"__msan_metadata_ptr_for_load_2",
	"__msan_metadata_ptr_for_load_4",
	"__msan_metadata_ptr_for_load_8",
	"__msan_metadata_ptr_for_store_n",
	"__msan_metadata_ptr_for_store_1",
	"__msan_metadata_ptr_for_store_2",
	"__msan_metadata_ptr_for_store_4",
	"__msan_metadata_ptr_for_store_8",
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
	int ret = kprobe_blacklist_add_kernel();

	ret = ret ?: kprobe_add_names_blacklist(blacklisted_everywhere,
						ARRAY_SIZE(blacklisted_everywhere));

	return ret ?: arch_populate_kprobe_blacklist();
}
