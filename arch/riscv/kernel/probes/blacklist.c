// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a breakpoint of this architecture must not be.
 */
#include <linux/array_size.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>

/* What ftrace sites call has inner symbols that look like functions, and is rewritten. */
static int __init blacklist_ftrace(void)
{
#ifdef CONFIG_DYNAMIC_FTRACE
	return kprobe_add_area_blacklist((unsigned long)ftrace_caller,
					 (unsigned long)ftrace_stub_direct_tramp);
#else
	return 0;
#endif
}

static const char * const not_in_a_trap[] __initconst = {
	/* These run before a CPU that resumes has its trap vector, or with a guest's. */
	"__cpu_resume_enter",
	"cpu_suspend",
	"suspend_restore_csrs",
	"__hibernate_cpu_resume",
	"hibernate_core_restore_code",
	"__kvm_riscv_switch_to",
	"__kvm_riscv_unpriv_trap",
	"kvm_riscv_vcpu_unpriv_read",
	/* Each trap calls these when it starts and when it ends. */
	"riscv_v_context_nesting_start",
	"riscv_v_context_nesting_end",
	/* This writes breakpoints, perhaps in two halves. */
	"copy_to_kernel_nofault",
};

int __init arch_populate_kprobe_blacklist(void)
{
	int ret = kprobe_add_names_blacklist(not_in_a_trap, ARRAY_SIZE(not_in_a_trap));

	return ret ?: blacklist_ftrace();
}
