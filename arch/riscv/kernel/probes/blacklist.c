// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blacklist: code that must not be probed on RISC-V.
 */
#include <linux/array_size.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>

static const struct kprobe_area areas[] __initconst = {
#ifdef CONFIG_DYNAMIC_FTRACE
	/* ftrace patches these trampolines; symbols inside them look like functions. */
	{ ftrace_caller, ftrace_stub_direct_tramp },
#endif
};

/* Code in which no trap can be handled, or which traps call. */
static const char * const names[] = {
	/* These run before a resuming CPU has its trap vector. */
	"__cpu_resume_enter",
	"cpu_suspend",
	"suspend_restore_csrs",
	"riscv_clear_hypervisor_csr",
	"__hibernate_cpu_resume",
	"swsusp_arch_suspend",
	"hibernate_core_restore_code",
	/* Neither RCU nor text patching waits for a CPU that has reported itself dead. */
	"cpuhp_ap_report_dead",
	"arch_cpu_idle_dead",
	"sbi_cpu_stop",
	"sbi_hsm_hart_stop",
#ifdef CONFIG_SHADOW_CALL_STACK
	/* A label inside of handle_exception(). */
	"_skip_scs",
	/* Runs with the shadow call stack pointer of another stack. */
	"call_on_irq_stack",
#endif
	/* Writes breakpoints, perhaps in two halves. */
	"copy_to_kernel_nofault",
#ifdef CONFIG_RISCV_ISA_V_PREEMPTIVE
	/* The entry and exit of traps call these, where the compiler has not inlined them. */
	"riscv_preempt_v_started",
	"riscv_preempt_v_set_dirty",
	"riscv_preempt_v_restore",
	"riscv_preempt_v_reset_flags",
	"riscv_v_flags",
	"riscv_v_flags_set",
	"riscv_v_ctx_get_depth",
	"riscv_v_ctx_depth_inc",
	"riscv_v_ctx_depth_dec",
	"__riscv_v_vstate_restore",
	"__riscv_v_vstate_clean",
#endif
#if defined(CONFIG_TRACE_IRQFLAGS) && defined(CONFIG_FRAME_POINTER)
	/* Irq-flags tracing unwinds for CALLER_ADDR1; once lockdep is off, every trap exit does. */
	"walk_stackframe",
	"fp_is_valid",
	"recover_ret_addr",
	"ftrace_graph_ret_addr",
	"__kernel_text_address",
	"kernel_text_address",
	"core_kernel_text",
	"is_kernel_text",
#endif
};

int __init arch_populate_kprobe_blacklist(void)
{
	return kprobe_add_areas_blacklist(areas, ARRAY_SIZE(areas)) ?:
	       kprobe_add_names_blacklist(names, ARRAY_SIZE(names));
}
