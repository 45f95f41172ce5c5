// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions to probe in text that is freed: that of a module, and that of its init
 * function, which is freed as soon as it has run. Writing a number to the parameter "call"
 * calls the functions that often. For kprobes_torture, which has probes in them meanwhile, they
 * are also called when the module comes and goes.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/objtool.h>
#ifdef CONFIG_X86_64
#include <asm/nospec-branch.h>
#endif

#include "common.h"

module_param_named(init_hits, hits, uint, 0444);
MODULE_PARM_DESC(init_hits, "hits of the probe on a function that is gone");

static unsigned int calls;
module_param(calls, uint, 0444);
MODULE_PARM_DESC(calls, "how often to call the functions when the module comes and goes");

DEFINE_TARGET(int, kp_victim_traced, (int n), n + 1)
DEFINE_TARGET(int, kp_victim_plain, (int n), n + 2, notrace)
DEFINE_TARGET(int, kp_victim_forbidden, (int n), n + 3, notrace)
NOKPROBE_SYMBOL(kp_victim_forbidden);

DEFINE_TARGET(int, kp_victim_at_init, (int n), n + 4, __init)

#ifdef CONFIG_X86_64
/*
 * int kp_victim_table(int n): as DEFINE_TARGET(). As if from an object that was built without
 * IBT: if @n is negative, a jump by an address leads to a label that is no landing pad. A probe
 * on the first CMC, at offset 13, must not have a jump that covers this label.
 */
int kp_victim_table(int n);
asm("	.pushsection .text\n"
	"	.balign 16, 0xcc\n"
	"	.type kp_victim_table, @function\n"
	"kp_victim_table:\n"
	ANNOTATE_NOENDBR "\n\t"
	"	lea	2f(%rip), %rax\n"
	"	test	%edi, %edi\n"
	"	jns	1f\n"
	ANNOTATE_RETPOLINE_SAFE "\n\t"
	"	jmp	*%rax\n"
	"1:	cmc\n	cmc\n	cmc\n"
	"2:\n"
	ANNOTATE_NOENDBR "\n\t"
	"	lea	4(%rdi), %eax\n"
	ASM_RET
	"	.size kp_victim_table, . - kp_victim_table\n"
	"	.popsection\n");
STACK_FRAME_NON_STANDARD(kp_victim_table);
#else
static int kp_victim_table(int n)
{
	return n + 4;
}
#endif

/* void kp_victim_never(void): not called; begins with an instruction that no probe may be on. */
#if defined(CONFIG_X86)
#define NEVER	".byte 0x0f, 0x01, 0xd8\n" ASM_RET	/* vmrun */
#elif defined(CONFIG_ARM64)
#define NEVER	"eret\n"
#elif defined(CONFIG_RISCV)
#define NEVER	"sret\n"
#else
#define NEVER	".long 0\n"
#endif
void kp_victim_never(void);
asm("	.pushsection .text\n"
	"	.balign 16\n"
	"	.type kp_victim_never, %function\n"
	"kp_victim_never:\n"
	"	" NEVER
	"	.size kp_victim_never, . - kp_victim_never\n"
	"	.popsection\n");
STACK_FRAME_NON_STANDARD(kp_victim_never);

static int (*functions[])(int n) = {
	kp_victim_traced, kp_victim_plain, kp_victim_forbidden,
};

static int call_function(unsigned int which, int n)
{
	int (*function)(int n) = READ_ONCE(functions[which]);

	return function(n) == n + 1 + which ? 0 : -EILSEQ;
}

static int call_all(unsigned int times)
{
	unsigned int i, j;
	int err = 0;

	for (i = 0; !err && i < times; i++) {
		for (j = 0; j < ARRAY_SIZE(functions); j++)
			err = err ?: call_function(j, i);
		if (kp_victim_table(i) != i + 4 || kp_victim_table(~i) != ~i + 4)
			err = err ?: -EILSEQ;
	}
	return err;
}

static int call_set(const char *text, const struct kernel_param *param)
{
	unsigned int n;

	return kstrtouint(text, 0, &n) ?: call_all(n);
}

module_param_call(call, call_set, NULL, NULL, 0200);

static struct kprobe init_probe = {
	.symbol_name = "kp_victim_at_init",
	.pre_handler = count_hit,
};

static int enable_set(const char *text, const struct kernel_param *param)
{
	return enable_kprobe(&init_probe);
}

module_param_call(enable_init_probe, enable_set, NULL, NULL, 0200);
MODULE_PARM_DESC(enable_init_probe, "must fail: its text is gone");

static int __init kp_victim_init(void)
{
	int (*function)(int n) = kp_victim_at_init;
	int err = register_kprobe(&init_probe);

	OPTIMIZER_HIDE_VAR(function);
	if (err)
		return err;
	/* Only when kprobes_torture is loaded, too, may all probes be off. */
	if (function(1) != 5 || (!calls && hits != 1) || call_all(calls)) {
		unregister_kprobe(&init_probe);
		return -EILSEQ;
	}
	return 0;
}

static void __exit kp_victim_exit(void)
{
	/* WARN() would be a breakpoint in text that modules.sh probes. */
	if (call_all(calls))
		pr_warn("WARNING: wrong results in kp_victim\n");
	unregister_kprobe(&init_probe);
}

module_init(kp_victim_init)
module_exit(kp_victim_exit)
MODULE_DESCRIPTION("Text that goes away");
MODULE_LICENSE("GPL");
