// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blacklist: code that must not be probed on arm64.
 */
#include <linux/array_size.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <asm/sections.h>

static const struct kprobe_area areas[] __initconst = {
	/* An exception in the entry code would overwrite the state of another. */
	{ __entry_text_start, __entry_text_end },
	{ __irqentry_text_start, __irqentry_text_end },
	/* The hypervisor's exception vectors do not handle breakpoints of kprobes. */
	{ __hyp_idmap_text_start, __hyp_idmap_text_end },
	{ __hyp_text_start, __hyp_text_end },
#ifdef CONFIG_DYNAMIC_FTRACE
	/* ftrace patches this trampoline; symbols inside it look like functions. */
	{ ftrace_caller, ftrace_stub },
#endif
};

/*
 * The trap's entry and exit code calls these, so a hit would recurse without end. The core's
 * list has the functions of lockdep that it calls. __memset() and the unwinder are here because
 * what traces changes of the interrupt state walks the stack for the caller's caller.
 */
static const char * const traps_call[] = {
#ifdef CONFIG_SHADOW_CALL_STACK
	/* No call can be made here: the firmware may have changed the pointer to this stack. */
	"__efi_rt_asm_wrapper",
#endif
	/* Entry code, but not in its section. The second is a symbol inside the first. */
	"__swpan_entry_el1",
	"__swpan_entry_el0",
	"__swpan_exit_el1",
	"__swpan_exit_el0",
	/* Inline, but not always; a detour calls them. */
	"uaccess_ttbr0_disable",
	"uaccess_ttbr0_enable",
	"__uaccess_ttbr0_disable",
	"__uaccess_ttbr0_enable",
#if defined(CONFIG_TRACE_IRQFLAGS) || defined(CONFIG_DEBUG_PREEMPT) || \
	defined(CONFIG_TRACE_PREEMPT_TOGGLE)
	"__memset",
#endif
	/* These are inline, but compilers may leave them out of line; the core has others. */
	"__kern_my_cpu_offset",
	"__percpu_read_32",
	"__percpu_read_64",
	"__percpu_write_32",
	"__percpu_write_64",
	"esr_brk_comment",
	"esr_is_cfi_brk",
	"esr_is_ubsan_brk",
	"stackinfo_get_irq",
	"stackinfo_get_task",
	"stackinfo_on_stack",
	"unwind_consume_stack",
	"unwind_find_next_stack",
	"unwind_find_stack",
	"unwind_init_common",
	"unwind_next_frame_record",
};

/*
 * These run before a CPU that comes up or resumes has its exception vectors, when it goes off,
 * or while it has the vectors for a guest's exits.
 */
static const char * const cannot_trap[] = {
	"__secondary_switched",
	/* Neither RCU nor text patching waits for a CPU that has reported itself dead. */
	"cpuhp_ap_report_dead",
	"cpu_die",
	"cpu_psci_cpu_die",
	"psci_0_1_cpu_off",
	"psci_0_2_cpu_off",
	"__psci_cpu_off",
	"set_cpu_boot_mode_flag",
	"finalise_el2",
	"_cpu_resume",
	"cpu_do_resume",
	"__guest_enter",
	"__guest_exit_restore_elr_and_panic",
	"__guest_exit_panic",
	"__guest_exit",
	"__kvm_hyp_vector",
	"__bp_harden_hyp_vecs",
	"abort_guest_exit_start",
	"abort_guest_exit_end",
	"el1_sync",
	"el1_trap",
	"el1_irq",
	"el1_error",
	"wa_epilogue",
	"el2_sync",
	"el2_error",
	"kvm_unexpected_el2_exception",
	"hyp_panic",
	"__kvm_adjust_pc",
	"enter_exception64",
	"enter_exception32",
	"kvm_skip_instr32",
	"kvm_condition_valid32",
	"vcpu_read_sys_reg",
	"vcpu_write_sys_reg",
	"get_el2_to_el1_mapping",
	"locate_register",
	"locate_direct_register",
	"locate_mapped_el2_register",
	"read_sr_from_cpu",
	"write_sr_to_cpu",
	"get_timer_map",
	"__debug_switch_to_guest",
	"__debug_save_state",
	"__debug_restore_state",
	"__debug_switch_to_guest_common",
	"__vcpu_debug_regs",
	"kvm_hyp_handle_exit",
	"kvm_hyp_handle_sysreg",
	"kvm_hyp_handle_tlbi_el2",
	"kvm_hyp_handle_cpacr_el1",
	"kvm_hyp_handle_zcr_el2",
	"kvm_hyp_handle_cntpct",
	"kvm_hyp_handle_fpsimd",
	"kvm_hyp_save_fpsimd_host",
	"__hyp_sve_save_host",
	"__hyp_sve_restore_guest",
	"handle_ampere1_tcr",
	"handle_tx2_tvm",
	"fixup_guest_exit",
	"__fixup_guest_exit",
	"fixup_nv_guest_exit",
	"synchronize_vcpu_pstate",
	"__populate_fault_info",
	"__get_fault_info",
	"__hpfar_valid",
	"__translate_far_to_hpfar",
	"kvm_inject_exception",
	"get_except32_cpsr",
	"to_hw_pstate",
	"host_spsr_to_spsr32",
	"ctxt_has_s1poe",
	"ctxt_to_vcpu",
	"___ctxt_sys_reg",
	"__sysreg_save_common_state",
	"__sysreg_restore_common_state",
	"__sysreg_save_el2_return_state",
	"__sysreg_restore_el2_return_state",
	"___deactivate_traps",
	"__vcpu_read_sys_reg",
	"__vcpu_read_sys_reg_from_cpu",
	"__vcpu_write_sys_reg",
	"__vcpu_write_sys_reg_to_cpu",
	"__is_hyp_ctxt",
	"is_hyp_ctxt",
	"vcpu_el2_e2h_is_set",
	"vcpu_has_nv",
	"kvm_supported_tlbi_s1e1_op",
	"kvm_supported_tlbi_s1e2_op",
	"__vcpu_write_spsr",
	"__vcpu_write_spsr_abt",
	"__vcpu_write_spsr_und",
	"kvm_skip_instr",
	"__kvm_skip_instr",
	"kvm_adjust_itstate",
	"__is_be",
	"kvm_hyp_handle_dabt_low",
	"kvm_hyp_handle_memory_fault",
	"kvm_hyp_handle_cp15_32",
	"kvm_hyp_handle_eret",
	"kvm_hyp_handle_mops",
	"kvm_hyp_handle_sysreg_vhe",
	"kvm_hyp_handle_impdef",
	"kvm_hyp_handle_timer",
	"compute_emulated_cntx_ctl_el0",
	"compute_counter_value",
	"kvm_handle_cntxct",
	"kvm_auth_eretax",
	"effective_tbi",
	"kvm_vcpu_sanitise_vncr_reg",
	"kvm_vcpu_apply_reg_masks",
	"__activate_cptr_traps",
	"__activate_cptr_traps_vhe",
	"__deactivate_cptr_traps_vhe",
	"__kvm_tlbi_s1e2",
	"__vgic_v2_perform_cpuif_access",
	"__vgic_v3_perform_cpuif_access",
	/* emulation of an interrupt controller whose accesses trap: */
	"__gic_v3_get_lr", "__gic_v3_set_lr", "__vgic_v3_read_ap0rn",
	"__vgic_v3_read_ap1rn", "__vgic_v3_read_vmcr", "__vgic_v3_write_ap0rn",
	"__vgic_v3_write_ap1rn", "__vgic_v3_write_vmcr", "__vgic_v3_bpr_min",
	"__vgic_v3_get_group", "__vgic_v3_highest_priority_lr", "__vgic_v3_find_active_lr",
	"__vgic_v3_get_highest_active_priority", "__vgic_v3_pri_to_pre",
	"__vgic_v3_set_active_priority", "__vgic_v3_clear_highest_active_priority",
	"__vgic_v3_read_iar", "__vgic_v3_clear_active_lr", "__vgic_v3_bump_eoicount",
	"__vgic_v3_write_dir", "___vgic_v3_write_dir", "__vgic_v3_write_eoir",
	"__vgic_v3_read_igrpen0",
	"__vgic_v3_read_igrpen1", "__vgic_v3_write_igrpen0", "__vgic_v3_write_igrpen1",
	"__vgic_v3_get_bpr0", "__vgic_v3_get_bpr1",
	"__vgic_v3_read_bpr0", "__vgic_v3_read_bpr1", "__vgic_v3_write_bpr0",
	"__vgic_v3_write_bpr1", "__vgic_v3_read_apxrn", "__vgic_v3_write_apxrn",
	"__vgic_v3_read_apxr0", "__vgic_v3_read_apxr1", "__vgic_v3_read_apxr2",
	"__vgic_v3_read_apxr3", "__vgic_v3_write_apxr0", "__vgic_v3_write_apxr1",
	"__vgic_v3_write_apxr2", "__vgic_v3_write_apxr3", "__vgic_v3_read_hppir",
	"__vgic_v3_read_pmr", "__vgic_v3_write_pmr", "__vgic_v3_read_rpr",
	"__vgic_v3_read_ctlr", "__vgic_v3_write_ctlr", "__vgic_v3_check_trap_forwarding",
	/* saving and restoring FP registers: */
	"__fpsimd_save_state",
	"__fpsimd_restore_state",
	"__sve_save_state",
	"__sve_restore_state",
};

int __init arch_populate_kprobe_blacklist(void)
{
	return kprobe_add_areas_blacklist(areas, ARRAY_SIZE(areas)) ?:
	       kprobe_add_names_blacklist(cannot_trap, ARRAY_SIZE(cannot_trap)) ?:
	       kprobe_add_names_blacklist(traps_call, ARRAY_SIZE(traps_call));
}
