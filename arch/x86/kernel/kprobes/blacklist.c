// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a breakpoint of this architecture must not be.
 */
#include <linux/array_size.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <asm/sections.h>

/*
 * What ftrace sites call has inner symbols that look like functions, and is rewritten.
 * All of it may be copied as well, with a breakpoint that nobody would know.
 */
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
	/* These run before a CPU that comes up has an IDT entry for breakpoints. */
	"startup_32_smp",
	"secondary_startup_64",
	"secondary_startup_64_no_verify",
	"common_startup_64",
	"verify_cpu",
	"startup_64_load_idt",
	"early_setup_idt",
	"soft_restart_cpu",
	"start_secondary",
	"cr4_init",
	"cr4_set_bits",
	"cr4_update_irqsoff",
	"native_write_cr4",
	"native_write_msr",
	"do_trace_write_msr",
	"native_load_idt",
#ifdef CONFIG_X86_32
	"__flush_tlb_all",
	"native_flush_tlb_global",
	"native_flush_tlb_local",
#endif
	"cpu_init_exception_handling",
	"cpu_init_fred_exceptions",
	"native_load_tr_desc",
	"native_write_gdt_entry",
	"setup_ghcb",
	"load_current_idt",
	/* These run before a CPU that resumes has one. */
	"wakeup_long64",
	"wakeup_pmode_return",
	"do_suspend_lowlevel",
	"ret_point",
	"restore_registers",
	"restore_processor_state",
	"__restore_processor_state",
	"native_write_cr0",
	"native_write_cr2",
	"native_write_cr3",
#ifdef CONFIG_KASAN_STACK
	"kasan_unpoison_task_stack_below",
	"kasan_unpoison",
	"kasan_poison",
	"kasan_poison_last_granule",
#endif
	/* A guest of Xen returns from traps through these. */
	"xen_iret",
	"xenpv_restore_regs_and_return_to_usermode",
	/* These run when there is no IDT entry any more. */
	"machine_kexec",
	"relocate_kernel",
	"identity_mapped",
	"virtual_mapped",
	"swap_pages",
	"restore_image",
	"core_restore_code",
	/* These keep a CPU idle for good, and nobody waits for it there. */
	"hlt_play_dead",
	"mwait_play_dead",
	"play_dead_common",
	"native_play_dead",
	"resume_play_dead",
	"acpi_idle_play_dead",
	"stop_this_cpu",
	/* These handle the breakpoints of the kernel's debugger. */
	"kgdb_ll_trap",
	"__kgdb_notify",
};

/*
 * The linker puts last what no probe may enter: the thunks that branches and
 * returns may be made through, those of a hit as well; the trampolines of
 * static calls, which are rewritten; and the entry code, in which %gs, the page
 * tables and the stack may be those of user space.
 */
int __init arch_populate_kprobe_blacklist(void)
{
	int ret;

	ret = kprobe_add_area_blacklist((unsigned long)__softirqentry_text_end,
					(unsigned long)_etext);
	if (!ret)
		ret = kprobe_add_names_blacklist(not_in_a_trap, ARRAY_SIZE(not_in_a_trap));

	return ret ?: blacklist_ftrace();
}
