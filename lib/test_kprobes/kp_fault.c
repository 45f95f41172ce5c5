// SPDX-License-Identifier: GPL-2.0-only
/*
 * A handler with a bad pointer, or probed code with one. The parameters select which, and
 * how the probe is reached. Writing to the debugfs file kp_fault calls the probed
 * function. Reading it calls another one, which has a probe as well, and returns the
 * number of calls, of handler calls, and of missed hits.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "common.h"

#define CALLS	5

static char *which = "pre";
module_param(which, charp, 0400);
MODULE_PARM_DESC(which, "what faults, see the table");

static char *way = "break";
module_param(way, charp, 0400);
MODULE_PARM_DESC(way, "how the probe is reached: break, jump or ftrace");

static int *bad_pointer = (int *)8;

/* Addresses to load from; on 64 bits the second is not canonical. */
#define BAD	8UL
#define WILD	(0xdeadUL << (BITS_PER_LONG - 16))

DEFINE_TARGET(int, kp_fault_traced, (unsigned long n), n + 1)
DEFINE_TARGET(int, kp_fault_plain, (unsigned long n), n + 2, notrace)
DEFINE_TARGET(int, kp_fault_other, (unsigned long n), n + 3, notrace)

static noinline notrace int kp_fault_in_code(unsigned long address)
{
	return READ_ONCE(*(int *)address);
}

/* Code of a function that is probed at @insn, whose address is then in the variable @at. */
#define PROBED(insn, at)			\
	"1:	" insn "\n"			\
	"	.pushsection .data, \"aw\"\n"	\
	"	.balign	%c[size]\n"		\
	"	.globl	" #at "\n"		\
	#at ":\n"				\
	"	.dc.a	1b\n"			\
	"	.popsection"

extern kprobe_opcode_t *kp_fault_load_at, *kp_fault_undefined_at;

static noinline notrace __maybe_unused int kp_fault_in_load(unsigned long address)
{
	int n;

	asm volatile(PROBED(LOAD, kp_fault_load_at)
		     : "=r" (n) : "r" (address), [size] "i" (sizeof(long)) : "memory");

	return n;
}

#ifdef CONFIG_ARM64
/* No processor has a system register of this number. */
static noinline notrace int kp_fault_in_undefined(unsigned long unused)
{
	unsigned long n;

	asm volatile(PROBED("mrs %0, s3_7_c15_c15_7", kp_fault_undefined_at)
		     : "=r" (n) : [size] "i" (sizeof(long)));

	return n;
}
#endif

/* Enters the trampoline from another frame than the one whose return is diverted. */
static noinline notrace int kp_fault_lost(unsigned long n)
{
	void (*trampoline)(void) = __builtin_return_address(0);

	trampoline();
	barrier();
	return n + 4;
}

static int kp_fault_in_pre(struct kprobe *kp, struct pt_regs *regs)
{
	return READ_ONCE(*READ_ONCE(bad_pointer));
}

static void kp_fault_in_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	WRITE_ONCE(*READ_ONCE(bad_pointer), 1);
}

static int kp_fault_in_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return READ_ONCE(*READ_ONCE(bad_pointer));
}

static int kp_fault_in_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return READ_ONCE(*READ_ONCE(bad_pointer));
}

static void kp_fault_in_jprobe(unsigned long n)
{
	READ_ONCE(*READ_ONCE(bad_pointer));
}

static void on_jprobe(unsigned long n)
{
}

#ifdef CONFIG_KPROBES_FAULT_HANDLER
static int on_fault(struct kprobe *kp, struct pt_regs *regs, int trapnr)
{
	pr_info("kp_fault: asked about trap %#x in %pS, declined\n", trapnr,
		(void *)instruction_pointer(regs));
	return 0;
}
#endif

static struct jprobe faulty_jprobe = { .entry = JPROBE_ENTRY(kp_fault_in_jprobe) };
static struct jprobe healthy_jprobe = { .entry = JPROBE_ENTRY(on_jprobe) };
static struct jprobe *jprobes[] = { &healthy_jprobe, &faulty_jprobe };
static struct kprobe healthy = { .pre_handler = count_hit };

/* Not const: the function is called, not inlined or cloned. */
static int (*other)(unsigned long n) = kp_fault_other;

/*
 * What faults. A plain probe uses only the kprobe of its probe. By default the function is the
 * one for the way. It is called with the argument.
 */
static struct fault {
	const char *name;
	struct kretprobe probe;
	int (*function)(unsigned long arg);
	unsigned long arg;
	bool is_jprobe;			/* called before another one */
	bool is_second;			/* another probe comes first */
	kprobe_opcode_t **at;		/* the address to probe, if not the function's entry */
} faults[] = {
	{ "pre", { .kp.pre_handler = kp_fault_in_pre } },
	{ "second", { .kp.pre_handler = kp_fault_in_pre }, .is_second = true },
	{ "post", { .kp.post_handler = kp_fault_in_post } },
	{ "entry", { .entry_handler = kp_fault_in_entry } },
	{ "return", { .handler = kp_fault_in_return } },
	{ "jprobe", .is_jprobe = true },
	{ "code", { .kp.pre_handler = count_hit }, kp_fault_in_code, BAD },
	{ "wild", { .kp.pre_handler = count_hit }, kp_fault_in_code, WILD },
	{ "lost", { .handler = ignore_return }, kp_fault_lost },
#ifdef CONFIG_KPROBES_FAULT_HANDLER
	{ "declined", { .kp = { .pre_handler = kp_fault_in_pre, .fault_handler = on_fault } } },
	{ "declined_load", { .kp = { .pre_handler = count_hit, .fault_handler = on_fault } },
	  kp_fault_in_load, BAD, .at = &kp_fault_load_at },
#endif
#ifdef CONFIG_ARM64
	{ "undefined", { .kp.pre_handler = count_hit }, kp_fault_in_undefined,
	  .at = &kp_fault_undefined_at },
#endif
};

static struct fault *fault;
static bool is_return;
static struct kprobe first = { .pre_handler = count_hit };
static struct kprobe *kps[] = { NULL, &first };		/* the other one is faulty */
static struct dentry *file;

static ssize_t kp_fault_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	int (*function)(unsigned long arg) = READ_ONCE(fault->function);

	pr_info("called: %d\n", function(fault->arg));
	return count;
}

static int kp_fault_show(struct seq_file *m, void *unused)
{
	int i;

	hits = 0;
	healthy.nmissed = 0;
	for (i = 0; i < CALLS; i++)
		READ_ONCE(other)(i);
	seq_printf(m, "%d called, %u hit, %lu missed\n", i, hits, healthy.nmissed);

	return 0;
}
DEFINE_SHOW_STORE_ATTRIBUTE(kp_fault);

static bool way_is(const char *name)
{
	return !strcmp(way, name);
}

static int register_faulty(void)
{
	if (!fault->function)
		fault->function = way_is("ftrace") ? kp_fault_traced : kp_fault_plain;
	kps[0] = fault->is_jprobe ? &faulty_jprobe.kp : &fault->probe.kp;
	kps[0]->addr = fault->at ? *fault->at : (kprobe_opcode_t *)fault->function;
	first.addr = kps[0]->addr;
	healthy_jprobe.kp.addr = kps[0]->addr;
	is_return = fault->probe.entry_handler || fault->probe.handler;
	if (fault->is_jprobe)
		return register_jprobes(jprobes, ARRAY_SIZE(jprobes));
	return batch_register(kps, 1 + fault->is_second, is_return);
}

static void unregister_faulty(void)
{
	if (fault->is_jprobe)
		unregister_jprobes(jprobes, ARRAY_SIZE(jprobes));
	else
		batch_unregister(kps, 1 + fault->is_second, is_return);
}

/*
 * Return whether the probe is reached as the parameter says, perhaps after a moment. None of
 * these functions itself begins like a jump.
 */
static bool way_is_taken(void)
{
	int i;

	if (!way_is("jump"))
		return way_is("ftrace") == kprobe_ftrace(kps[0]);

	for (i = 0; i < 500 && !begins_jump(kps[0]->addr); i++)
		msleep(20);

	return i < 500;
}

static int __init kp_fault_init(void)
{
	int err;

	for (fault = faults; strcmp(fault->name, which); ) {
		if (++fault == faults + ARRAY_SIZE(faults))
			return -EINVAL;
	}
	healthy.addr = (kprobe_opcode_t *)other;
	err = register_kprobe(&healthy);
	if (err)
		return err;
	err = register_faulty();
	if (!err && !way_is_taken()) {
		unregister_faulty();
		err = -ETIME;
	}
	if (err) {
		unregister_kprobe(&healthy);
		return err;
	}
	/*
	 * A task that dies in a write keeps the file open until its process has been cleaned up.
	 * debugfs must not wait for it: it leaves nothing else behind.
	 */
	file = debugfs_create_file_unsafe("kp_fault", 0600, NULL, NULL, &kp_fault_fops);

	return 0;
}

static void __exit kp_fault_exit(void)
{
	debugfs_remove(file);
	unregister_faulty();
	unregister_kprobe(&healthy);
}

module_init(kp_fault_init)
module_exit(kp_fault_exit)
MODULE_DESCRIPTION("A handler, or probed code, that faults");
MODULE_LICENSE("GPL");
