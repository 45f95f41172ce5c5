// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hits in an NMI, where nothing can wait, and state of the CPU and text that belong to
 * others.
 */
#include <linux/cfi.h>
#include <linux/ftrace.h>
#include <linux/irq_work.h>
#include <linux/kernel_stat.h>
#include <linux/objtool.h>
#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/irqflags.h>
#include <asm/irq_vectors.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/sections.h>
#include <asm/segment.h>

#include "common.h"
#include "opt_test.h"
#include "../../../../lib/test_kprobes/handlers.h"

DEFINE_TARGET(unsigned int, plain, (unsigned int x), x + 1, notrace)
DEFINE_TARGET(unsigned int, traced, (unsigned int x), x + 2)

/* Not const: the compiler must not know the functions where they are called. */
static unsigned int (*functions[])(unsigned int x) = { plain, traced };

#define NR_IN_NMI	2

static unsigned int call(unsigned int i, unsigned int x)
{
	return ASK(functions[i], x);
}

/* -- calls from an NMI -- */

static bool nmi_is_due;
static unsigned int nmis, wrong;

static int call_in_nmi(unsigned int type, struct pt_regs *regs)
{
	unsigned int i;

	if (!READ_ONCE(nmi_is_due))
		return NMI_DONE;

	for (i = 0; i < NR_IN_NMI; i++)
		wrong += call(i, 5) != 5 + i + 1;
	nmis++;
	WRITE_ONCE(nmi_is_due, false);

	return NMI_HANDLED;
}

/* Called while the caller stays on its CPU. */
static void send_nmi(void)
{
	unsigned int i;

	WRITE_ONCE(nmi_is_due, true);
	__apic_send_IPI(smp_processor_id(), NMI_VECTOR);
	for (i = 0; i < 10000000 && READ_ONCE(nmi_is_due); i++)
		cpu_relax();
}

struct watch {
	struct kretprobe rp;
	unsigned int entered;
	unsigned int returned;
};

static struct watch watches[NR_IN_NMI];

static int watch_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	container_of(get_kretprobe(ri), struct watch, rp)->entered++;

	return 0;
}

static int watch_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	container_of(get_kretprobe(ri), struct watch, rp)->returned++;

	return 0;
}

static void remove_watches(void *unused)
{
	unsigned int i;

	unregister_nmi_handler(NMI_LOCAL, "kprobes_test");
	for (i = 0; i < NR_IN_NMI; i++)
		unregister_kretprobe(&watches[i].rp);
}

static void add_watches(struct kunit *test)
{
	unsigned int i;

	nmis = 0;
	wrong = 0;
	memset(watches, 0, sizeof(watches));
	KUNIT_ASSERT_EQ(test, 0, register_nmi_handler(NMI_LOCAL, call_in_nmi, 0, "kprobes_test"));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, remove_watches, NULL));
	for (i = 0; i < NR_IN_NMI; i++) {
		watches[i].rp.kp.addr = (kprobe_opcode_t *)functions[i];
		watches[i].rp.entry_handler = watch_entry;
		watches[i].rp.handler = watch_return;
		KUNIT_ASSERT_EQ(test, 0, register_kretprobe(&watches[i].rp));
	}
}

#define NR_NMIS		50

/*
 * Failure C14: hits take no lock whose holder the NMI could have interrupted. Half of the
 * NMIs hit breakpoints, and the others jumps, where there are any.
 */
static void trap_in_nmi(struct kunit *test)
{
	unsigned int i;

	add_watches(test);
	for (i = 0; i < NR_NMIS; i++) {
		if (i == NR_NMIS / 2)
			wait_for_kprobe_optimizer();
		guard(preempt)();
		send_nmi();
	}

	KUNIT_EXPECT_EQ(test, nmis, NR_NMIS);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	for (i = 0; i < NR_IN_NMI; i++) {
		KUNIT_EXPECT_EQ(test, watches[i].entered, NR_NMIS);
		KUNIT_EXPECT_EQ(test, watches[i].returned, NR_NMIS);
		KUNIT_EXPECT_EQ(test, watches[i].rp.kp.nmissed, 0);
		KUNIT_EXPECT_EQ(test, watches[i].rp.nmissed, 0);
	}
}

/* -- single steps, which belong to others -- */

/* Failure X4: probes do not single-step, so the flag for stepping by branches stays. */
static void trap_leaves_btf(struct kunit *test)
{
	u64 old, now = 0;

	add_watches(test);
	guard(preempt)();
	if (!rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &old)) {
		wrmsrq(MSR_IA32_DEBUGCTLMSR, old | DEBUGCTLMSR_BTF);
		rdmsrq(MSR_IA32_DEBUGCTLMSR, now);
	}
	if (!(now & DEBUGCTLMSR_BTF)) {
		kunit_mark_skipped(test, "this CPU has no such flag");
		return;
	}

	call(0, 1);
	call(1, 1);
	rdmsrq(MSR_IA32_DEBUGCTLMSR, now);
	wrmsrq(MSR_IA32_DEBUGCTLMSR, old);
	KUNIT_EXPECT_TRUE(test, now & DEBUGCTLMSR_BTF);
}

/* -- interrupts that STI holds off -- */

/* Wait for an interrupt as an idle CPU does. The rest is only decoded. */
static noinline notrace void wait_for_interrupt(void)
{
	asm volatile(ANNOTATE_NOENDBR "\n\t"
		     ".globl trap_sti_hlt\n"
		     "trap_sti_hlt: sti; hlt\n"
		     "jmp 1f\n"
		     ANNOTATE_NOENDBR "\n\t"
		     ".globl trap_sti_mwait\n"
		     "trap_sti_mwait: sti; mwait\n"
		     ANNOTATE_NOENDBR "\n\t"
		     ".globl trap_sti_nop\n"
		     "trap_sti_nop: sti; nop\n"
		     "1:" : : : "memory");
}

static unsigned int works;

static void count_work(struct irq_work *work)
{
	works++;
}

/* Interrupts that this CPU has had. */
static u64 nr_interrupts(void)
{
	return arch_irq_stat_cpu(smp_processor_id()) + kstat_cpu_irqs_sum(smp_processor_id());
}

/* Return whether the interrupt that was pending ended the wait, rather than another one. */
static bool wait_is_short(void)
{
	static DEFINE_IRQ_WORK(work, count_work);
	u64 before;

	guard(preempt)();
	raw_local_irq_disable();
	irq_work_queue(&work);
	before = nr_interrupts();
	wait_for_interrupt();

	return nr_interrupts() - before == 1;
}

#define NR_WAITS	20

/* Other interrupts may come too, but not each time. */
static void expect_short_waits(struct kunit *test, const char *what)
{
	unsigned int i, nr_short = 0;

	works = 0;
	for (i = 0; i < NR_WAITS; i++)
		nr_short += wait_is_short();
	KUNIT_EXPECT_EQ_MSG(test, works, NR_WAITS, "%s", what);
	KUNIT_EXPECT_GT_MSG(test, nr_short, 0, "%s", what);
}

/* An interrupt between STI and HLT would be the one that should end the wait. */
static void trap_leaves_sti_shadow(struct kunit *test)
{
	struct kprobe sti = { .addr = trap_sti_hlt, .pre_handler = count_hit };
	struct kprobe hlt = { .addr = trap_sti_hlt + 1, .pre_handler = count_hit };
	struct kprobe post = { .addr = trap_sti_hlt, .post_handler = count_post };

	hits = 0;
	posts = 0;
	expect_short_waits(test, "no probe");
	KUNIT_ASSERT_EQ(test, register_kprobe(&sti), 0);
	expect_short_waits(test, "sti");
	KUNIT_EXPECT_EQ(test, hits, NR_WAITS);
	KUNIT_EXPECT_EQ(test, register_kprobe(&hlt), 0);
	expect_short_waits(test, "both");
	KUNIT_EXPECT_EQ(test, hits, 3 * NR_WAITS);
	unregister_kprobe(&sti);
	expect_short_waits(test, "hlt");
	KUNIT_EXPECT_EQ(test, hits, 4 * NR_WAITS);
	unregister_kprobe(&hlt);
	KUNIT_ASSERT_EQ(test, register_kprobe(&post), 0);
	expect_short_waits(test, "post_handler");
	KUNIT_EXPECT_EQ(test, posts, NR_WAITS);
	unregister_kprobe(&post);
}

static void expect_sti(struct kunit *test, kprobe_opcode_t *addr, unsigned int skipped)
{
	struct kprobe kp = { .addr = addr, .pre_handler = count_hit };
	struct pt_regs regs = { .ip = (unsigned long)addr + INT3_INSN_SIZE, .cs = __KERNEL_CS };

	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	scoped_guard(preempt)
		KUNIT_EXPECT_EQ(test, kprobe_int3_handler(&regs), 1);
	unregister_kprobe(&kp);
	KUNIT_EXPECT_TRUE(test, regs.flags & X86_EFLAGS_IF);
#ifdef CONFIG_X86_64
	if (cpu_feature_enabled(X86_FEATURE_FRED)) {
		KUNIT_EXPECT_EQ(test, (u64)regs.fred_ss.sti, 1);
		skipped = 0;
	}
#endif
	KUNIT_EXPECT_EQ(test, regs.ip, (unsigned long)addr + 1 + skipped);
}

/* Only what waits is not executed. */
static void trap_of_sti(struct kunit *test)
{
	expect_sti(test, trap_sti_hlt, 1);
	expect_sti(test, trap_sti_mwait, 3);
	expect_sti(test, trap_sti_nop, 0);
}

/* -- checks before indirect calls -- */

#define MAX_CFI_TRAPS	100

/* Failure X6: movl, addl, je, ud2: the handler of the last one's trap reads the others. */
static void trap_leaves_cfi_checks(struct kunit *test)
{
	static const u8 je_ud2[] = { 0x74, 0x02, 0x0f, 0x0b };
	const char *at = _stext;
	unsigned int nr = 0;

	if (!IS_ENABLED(CONFIG_KPROBES_CFI))
		kunit_skip(test, "this compiler makes none");
	if (IS_ENABLED(CONFIG_FINEIBT) && cfi_mode == CFI_FINEIBT)
		kunit_skip(test, "they are where the callee begins");

	while (nr < MAX_CFI_TRAPS && ++at < _etext - sizeof(je_ud2)) {
		if (memcmp(at, je_ud2, sizeof(je_ud2)) || !is_cfi_trap((unsigned long)at + 2))
			continue;
		nr++;
		expect_refused(test, (void *)at - 10, -EINVAL);
		expect_refused(test, (void *)at - 4, -EINVAL);
		expect_refused(test, (void *)at, -EINVAL);
		expect_refused(test, (void *)at + 2, -EINVAL);
	}
	KUNIT_EXPECT_GT(test, nr, 0);
}

/* A CPU that comes up has no gate for breakpoints yet when it runs these. */
static void trap_leaves_bringup(struct kunit *test)
{
	struct kprobe kp = { .symbol_name = "start_secondary" };

	if (!IS_ENABLED(CONFIG_SMP))
		kunit_skip(test, "no other CPUs");

	KUNIT_EXPECT_EQ(test, register_kprobe(&kp), -EINVAL);
	kp.symbol_name = "cr4_init";
	KUNIT_EXPECT_EQ(test, register_kprobe(&kp), -EINVAL);
}

/* -- user memory -- */

static bool called, user_memory_open;

static int note_user_memory(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	called = true;
	user_memory_open = native_save_fl() & X86_EFLAGS_AC;

	return 0;
}

static void load_flags(unsigned long flags)
{
	asm volatile("push %0; popf" : : "r" (flags) : "memory", "cc");
}

/* A function may return while it may access user memory; its handlers may not. */
static void trap_return_closes_user_memory(struct kunit *test)
{
	struct kretprobe rp = {
		.kp.addr = (kprobe_opcode_t *)plain,
		.handler = note_user_memory,
	};
	unsigned long flags;

	if (!boot_cpu_has(X86_FEATURE_SMAP))
		kunit_skip(test, "this CPU does not keep it closed");

	called = false;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	flags = native_save_fl();
	load_flags(flags | X86_EFLAGS_AC);
	call(0, 5);
	flags = native_save_fl();
	load_flags(flags & ~X86_EFLAGS_AC);
	unregister_kretprobe(&rp);

	KUNIT_EXPECT_TRUE(test, called);
	KUNIT_EXPECT_FALSE(test, user_memory_open);
	KUNIT_EXPECT_TRUE(test, flags & X86_EFLAGS_AC);
}

/* These run before a CPU that comes up can take a breakpoint: a tracer may call what is probed. */
static void trap_bringup_is_untraced(struct kunit *test)
{
	static const char * const names[] = {
		"early_setup_idt",
		"cr4_init",
		"cpu_init_exception_handling",
		"cpu_init_fred_exceptions",
		"load_current_idt",
#ifdef CONFIG_X86_32
		"__flush_tlb_all",
		"native_flush_tlb_global",
		"native_flush_tlb_local",
#endif
	};
	unsigned long addr;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		addr = (unsigned long)kprobe_lookup_name(names[i], 0);
		KUNIT_EXPECT_EQ_MSG(test, ftrace_location(addr), 0, "%s", names[i]);
	}
}

#ifdef CONFIG_X86_32
/* In the segment of a BIOS an address is not that of a probe, nor of text to retry. */
static void trap_of_bios(struct kunit *test)
{
	unsigned long ip = (unsigned long)plain + INT3_INSN_SIZE;
	struct pt_regs regs = { .ip = ip, .cs = 8 * GDT_ENTRY_PNPBIOS_CS32 };

	KUNIT_EXPECT_EQ(test, kprobe_int3_handler(&regs), 0);
	KUNIT_EXPECT_EQ(test, regs.ip, ip);
}
#endif

static struct kunit_case trap_test_cases[] = {
	KUNIT_CASE(trap_in_nmi),
	KUNIT_CASE(trap_leaves_btf),
	KUNIT_CASE(trap_leaves_sti_shadow),
	KUNIT_CASE(trap_of_sti),
	KUNIT_CASE(trap_leaves_cfi_checks),
	KUNIT_CASE(trap_leaves_bringup),
	KUNIT_CASE(trap_bringup_is_untraced),
	KUNIT_CASE(trap_return_closes_user_memory),
#ifdef CONFIG_X86_32
	KUNIT_CASE(trap_of_bios),
#endif
	{}
};

static struct kunit_suite trap_test_suite = {
	.name = "kprobes_x86_trap",
	.test_cases = trap_test_cases,
};

kunit_test_suite(trap_test_suite);
