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
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../jump.h"

#define CALLS	5

static char *which = "pre";
module_param(which, charp, 0400);
MODULE_PARM_DESC(which,
		 "what faults: the pre, post, entry or return handler, or the first of two jprobes, or the second of two pre handlers, or one whose fault handler has declined; the code, also by a wild pointer, or a load whose fault handler has declined; or a return that is lost");

static char *way = "break";
module_param(way, charp, 0400);
MODULE_PARM_DESC(way, "how the probe is reached: break, jump or ftrace");

static int *bad_pointer = (int *)8;
/* On 64 bits a non-canonical address. */
static int *wild_pointer = (int *)(0xdeadUL << (BITS_PER_LONG - 16));

static noinline int kp_fault_traced(int n)
{
	barrier();
	return n + 1;
}

static noinline notrace int kp_fault_plain(int n)
{
	barrier();
	return n + 2;
}

static noinline notrace int kp_fault_other(int n)
{
	barrier();
	return n + 3;
}

static noinline notrace int kp_fault_in_code(int *pointer)
{
	return READ_ONCE(*pointer);
}

#if defined(CONFIG_X86)
#define LOAD	"movl (%1), %0; .byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#elif defined(CONFIG_ARM64)
#define LOAD	"ldr %w0, [%1]"
#else
#define LOAD	"lw %0, 0(%1); nop; nop"
#endif

/* Address of the load in the next function: the probe is on the faulting instruction itself. */
extern kprobe_opcode_t *kp_fault_load_at;

static noinline notrace int kp_fault_in_load(int *pointer)
{
	int n;

	asm volatile("1:	" LOAD "\n"
		     "	.pushsection .data, \"aw\"\n"
		     "	.balign	%c[size]\n"
		     "	.globl	kp_fault_load_at\n"
		     "kp_fault_load_at:\n"
		     "	.dc.a	1b\n"
		     "	.popsection"
		     : "=r" (n) : "r" (pointer), [size] "i" (sizeof(long)) : "memory");

	return n;
}

/* Enters the trampoline from another frame than the one whose return is diverted. */
static noinline notrace int kp_fault_lost(int n)
{
	void (*trampoline)(void) = __builtin_return_address(0);

	trampoline();
	barrier();
	return n + 4;
}

/* Not const: the functions are called, not inlined or cloned. */
static int (*traced)(int n) = kp_fault_traced;
static int (*plain)(int n) = kp_fault_plain;
static int (*other)(int n) = kp_fault_other;
static int (*lost)(int n) = kp_fault_lost;
static int (*code)(int *pointer) = kp_fault_in_code;
static int (*load)(int *pointer) = kp_fault_in_load;

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

static void kp_fault_in_jprobe(int n)
{
	READ_ONCE(*READ_ONCE(bad_pointer));
}

static void on_jprobe(int n)
{
}

static int on_lost(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

#ifdef CONFIG_KPROBES_FAULT_HANDLER
static int on_fault(struct kprobe *kp, struct pt_regs *regs, int trapnr)
{
	pr_info("kp_fault: asked about trap %#x in %pS, declined\n", trapnr,
		(void *)instruction_pointer(regs));
	return 0;
}
#endif

static int hits;

static int on_other(struct kprobe *kp, struct pt_regs *regs)
{
	hits++;
	return 0;
}

static struct kretprobe faulty;		/* a plain probe uses only its kprobe */
static struct jprobe faulty_jprobe = { .entry = JPROBE_ENTRY(kp_fault_in_jprobe) };
static struct jprobe healthy_jprobe = { .entry = JPROBE_ENTRY(on_jprobe) };
static struct jprobe *jprobes[] = { &faulty_jprobe, &healthy_jprobe };
static struct kprobe healthy = { .pre_handler = on_other };
static struct kprobe first = { .pre_handler = on_other };	/* at the address of the second */
static bool is_return;
static struct dentry *file;

static bool way_is(const char *name)
{
	return !strcmp(way, name);
}

static bool which_is(const char *name)
{
	return !strcmp(which, name);
}

static int call_probed(void)
{
	if (which_is("code"))
		return READ_ONCE(code)(READ_ONCE(bad_pointer));
	if (which_is("declined_load"))
		return READ_ONCE(load)(READ_ONCE(bad_pointer));
	if (which_is("wild"))
		return READ_ONCE(code)(READ_ONCE(wild_pointer));
	if (which_is("lost"))
		return READ_ONCE(lost)(1);
	return way_is("ftrace") ? READ_ONCE(traced)(1) : READ_ONCE(plain)(1);
}

static ssize_t kp_fault_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	pr_info("called: %d\n", call_probed());
	return count;
}

static ssize_t kp_fault_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	char text[64];
	int i, len;

	if (*pos)
		return 0;

	hits = 0;
	healthy.nmissed = 0;
	for (i = 0; i < CALLS; i++)
		READ_ONCE(other)(i);
	len = scnprintf(text, sizeof(text), "%d called, %d hit, %lu missed\n", i, hits,
			healthy.nmissed);

	return simple_read_from_buffer(buf, count, pos, text, len);
}

/*
 * A task that dies in a write keeps the file open until its process has been cleaned up.
 * debugfs must not wait for it: it leaves nothing else behind.
 */
static const struct file_operations kp_fault_fops = {
	.owner	= THIS_MODULE,
	.write	= kp_fault_write,
	.read	= kp_fault_read,
};

static struct kprobe *faulty_kprobe(void)
{
	return which_is("jprobe") ? &faulty_jprobe.kp : &faulty.kp;
}

static int register_faulty(void)
{
	struct kprobe *kp = faulty_kprobe();
	int err;

	kp->addr = dereference_symbol_descriptor(way_is("ftrace") ? traced : plain);
	if (which_is("code") || which_is("wild")) {
		kp->addr = dereference_symbol_descriptor(code);
		kp->pre_handler = on_other;
	} else if (which_is("lost")) {
		kp->addr = dereference_symbol_descriptor(lost);
		faulty.handler = on_lost;
#ifdef CONFIG_KPROBES_FAULT_HANDLER
	} else if (which_is("declined")) {
		kp->pre_handler = kp_fault_in_pre;
		kp->fault_handler = on_fault;
	} else if (which_is("declined_load")) {
		kp->addr = kp_fault_load_at;
		kp->pre_handler = on_other;
		kp->fault_handler = on_fault;
#endif
	} else if (which_is("pre") || which_is("second")) {
		kp->pre_handler = kp_fault_in_pre;
	} else if (which_is("post")) {
		kp->post_handler = kp_fault_in_post;
	} else if (which_is("jprobe")) {
		healthy_jprobe.kp.addr = kp->addr;
		return register_jprobes(jprobes, ARRAY_SIZE(jprobes));
	} else if (which_is("entry")) {
		faulty.entry_handler = kp_fault_in_entry;
	} else if (which_is("return")) {
		faulty.handler = kp_fault_in_return;
	} else {
		return -EINVAL;
	}
	is_return = faulty.entry_handler || faulty.handler;
	if (which_is("second")) {
		first.addr = kp->addr;
		err = register_kprobe(&first);
		if (err)
			return err;
	}

	err = is_return ? register_kretprobe(&faulty) : register_kprobe(kp);
	if (err && first.addr)
		unregister_kprobe(&first);

	return err;
}

static void unregister_faulty(void)
{
	if (is_return)
		unregister_kretprobe(&faulty);
	else if (which_is("jprobe"))
		unregister_jprobes(jprobes, ARRAY_SIZE(jprobes));
	else
		unregister_kprobe(&faulty.kp);
	if (first.addr)
		unregister_kprobe(&first);
}

/*
 * Return whether the probe is reached as the parameter says, perhaps after a moment. None of
 * these functions itself begins like a jump.
 */
static bool way_is_taken(void)
{
	int i;

	if (!way_is("jump"))
		return way_is("ftrace") == kprobe_ftrace(faulty_kprobe());

	for (i = 0; i < 500 && !begins_jump(faulty_kprobe()->addr); i++)
		msleep(20);

	return i < 500;
}

static int __init kp_fault_init(void)
{
	int err;

	healthy.addr = dereference_symbol_descriptor(other);
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
