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

static const char * const not_in_a_trap[] = {
	/* These run before a resuming CPU has its trap vector. */
	"__cpu_resume_enter",
	"cpu_suspend",
	"suspend_restore_csrs",
	"__hibernate_cpu_resume",
	"hibernate_core_restore_code",
	/* Nobody may wait for a CPU that has come this far: it is going off. */
	"cpuhp_ap_report_dead",
	"arch_cpu_idle_dead",
	"sbi_cpu_stop",
	"sbi_hsm_hart_stop",
#if defined(CONFIG_PROVE_LOCKING) && defined(CONFIG_FRAME_POINTER)
	/*
	 * What traces changes of the interrupt state walks the stack for the caller's caller. Once
	 * lockdep is off, the end of every trap does.
	 */
	"walk_stackframe",
	"fp_is_valid",
	"recover_ret_addr",
	"ftrace_graph_ret_addr",
	"__kernel_text_address",
	"kernel_text_address",
	"core_kernel_text",
	"is_kernel_text",
	"is_kprobe_insn_slot",
#endif
#ifdef CONFIG_SHADOW_CALL_STACK
	/* A label inside of handle_exception(). */
	"_skip_scs",
	/* Runs with the shadow call stack pointer of another stack. */
	"call_on_irq_stack",
#endif
	/* Writes breakpoints, perhaps in two halves. */
	"copy_to_kernel_nofault",
};

int __init arch_populate_kprobe_blacklist(void)
{
	return kprobe_add_areas_blacklist(areas, ARRAY_SIZE(areas)) ?:
	       kprobe_add_names_blacklist(not_in_a_trap, ARRAY_SIZE(not_in_a_trap));
}
