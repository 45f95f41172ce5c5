// SPDX-License-Identifier: GPL-2.0-only
/* Text of this architecture that must not have a breakpoint. */
#include <linux/array_size.h>
#include <linux/cc_platform.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <asm/kprobes_base.h>
#include <asm/sections.h>

static const struct kprobe_area areas[] __initconst = {
	/*
	 * Last in the kernel's text are the thunks that branches and returns may go through,
	 * also during a hit, and the trampolines of static calls, which are rewritten.
	 */
	{ __softirqentry_text_end, _etext },
	/*
	 * The entry code, in which %gs, the page tables and the stack may be those of user
	 * space. It is in the area above, or the first of the text.
	 */
	{ __entry_text_start, kprobe_entry_text_end },
#ifdef CONFIG_DYNAMIC_FTRACE
	/*
	 * ftrace rewrites the calls in this code, and copies it together with any
	 * breakpoint; symbols inside it look like functions.
	 */
	{ ftrace_caller, ftrace_stub_direct_tramp },
#endif
};

/* Code in which no trap can be handled. */
static const char * const cannot_trap[] = {
	/* Returns of the entry code may go through these, which may be before and after it. */
	"srso_alias_untrain_ret",
	"srso_alias_safe_ret",
	/* These run before a CPU that comes up has an IDT entry for breakpoints. */
	"startup_32_smp",
	"secondary_startup_64",
	"secondary_startup_64_no_verify",
	"common_startup_64",
	"verify_cpu",
	"startup_64_load_idt",
	"__pi_startup_64_load_idt",
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
	/* The address in the trap is relative to a segment that begins here. */
	"pnp_bios_callfunc",
	"__flush_tlb_all",
	"native_flush_tlb_global",
	"native_flush_tlb_local",
#endif
	"cpu_init_exception_handling",
	"cpu_init_fred_exceptions",
	"early_cpu_to_node",
	"native_load_tr_desc",
	"native_write_gdt_entry",
	"setup_ghcb",
	"load_current_idt",
	/* Its first instructions raise #VC. */
	"vc_boot_ghcb",
	"vc_raw_handle_exception",
	"vc_init_em_ctxt",
	"vc_decode_insn",
	"__vc_decode_kern_insn",
	"vc_check_opcode_bytes",
	"vc_handle_exitcode",
	"vc_handle_cpuid",
	"vc_handle_cpuid_snp",
	"vc_handle_msr",
	"__vc_handle_msr",
	"vc_finish_insn",
	"snp_cpuid",
	"__pi_snp_cpuid",
	"snp_cpuid_hv",
	"snp_cpuid_hv_ghcb",
	"__sev_cpuid_hv_ghcb",
	"snp_cpuid_postprocess",
	"__pi_snp_cpuid_postprocess",
	"snp_register_per_cpu_ghcb",
	"snp_register_ghcb_early",
	"sev_cpuid_hv",
	"sev_es_ghcb_hv_call",
	"verify_exception_info",
	/* Hyper-V starts a CPU here, without its %gs. */
	"hv_vtl_ap_entry",
	/* These run before a CPU that resumes has an IDT entry for breakpoints. */
	"wakeup_long64",
	"wakeup_pmode_return",
	"wakeup_start",
	"do_suspend_lowlevel",
	"ret_point",
	"restore_registers",
	"restore_processor_state",
	"__restore_processor_state",
	"native_write_cr0",
	"native_write_cr2",
	"native_write_cr3",
	/* The image goes on in these with the %gs base of the kernel that has loaded it. */
	"swsusp_arch_suspend",
	"create_image",
	"hibernation_snapshot",
#ifdef CONFIG_KASAN_STACK
	"kasan_unpoison_task_stack_below",
	"kasan_unpoison",
	"kasan_poison",
	"kasan_poison_last_granule",
#endif
	/* A guest of Xen returns from traps through these. */
	"xen_iret",
	"xenpv_restore_regs_and_return_to_usermode",
	/* It comes from user space through these, before RCU watches. */
	"xen_entry_SYSCALL_64",
	"xen_entry_SYSCALL_compat",
	"xen_entry_SYSENTER_compat",
	/* These run when there is no IDT entry for breakpoints any more. */
	"machine_kexec",
	"relocate_kernel",
	"identity_mapped",
	"virtual_mapped",
	"swap_pages",
	"restore_image",
	"core_restore_code",
	"asm_acpi_mp_play_dead",
	/* These keep a CPU idle for good: neither grace periods nor text changes wait for it. */
	"hlt_play_dead",
	"mwait_play_dead",
	"cpuhp_ap_report_dead",
	"play_dead_common",
	"native_play_dead",
	"resume_play_dead",
	"intel_idle_enter_dead",
	"acpi_idle_play_dead",
	"acpi_processor_ffh_play_dead",
	"acpi_mp_play_dead",
	"acpi_mp_stop_this_cpu",
	"cpuidle_play_dead",
	"cpuidle_get_cpu_driver",
	"xen_pv_play_dead",
	"sev_es_ap_hlt_loop",
	"sev_es_play_dead",
	"stop_this_cpu",
	"tboot_shutdown",
	/* These handle the breakpoints of the kernel's debugger. */
	"kgdb_ll_trap",
	"__kgdb_notify",
};

/* In an encrypted guest the #VC of a CPU that comes up calls these. */
static const char * const traps_call[] = {
	"copy_from_kernel_nofault",
	"copy_from_kernel_nofault_allowed",
	"insn_init",
	"insn_decode",
	"insn_get_prefixes",
	"insn_get_opcode",
	"insn_get_modrm",
	"insn_get_sib",
	"insn_get_displacement",
	"insn_get_immediate",
	"insn_get_length",
	"inat_get_opcode_attribute",
	"inat_get_last_prefix_id",
	"inat_get_escape_attribute",
	"inat_get_group_attribute",
	"inat_get_avx_attribute",
};

int __init arch_populate_kprobe_blacklist(void)
{
	int ret;

	ret = kprobe_add_areas_blacklist(areas, ARRAY_SIZE(areas)) ?:
	      kprobe_add_names_blacklist(cannot_trap, ARRAY_SIZE(cannot_trap));
	if (!ret && cc_platform_has(CC_ATTR_GUEST_STATE_ENCRYPT))
		ret = kprobe_add_names_blacklist(traps_call, ARRAY_SIZE(traps_call));

	return ret;
}

/* __switch_to() returns on another stack, ret_from_fork_asm() has no return address. */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
	{ "__switch_to" },
	{ "ret_from_fork_asm" },
};

const int kretprobe_blacklist_size = ARRAY_SIZE(kretprobe_blacklist);
