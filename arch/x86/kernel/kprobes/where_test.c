// SPDX-License-Identifier: GPL-2.0-only
/*
 * The meaning of an address or a fault when a breakpoint, a copy or a detour replaces an
 * instruction: for samples and fixups; and which traps belong to a program.
 */
#include <linux/anon_inodes.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/objtool.h>
#include <linux/perf_event.h>
#include <linux/uaccess.h>
#include <asm/alternative.h>
#include <asm/asm.h>
#include <asm/insn.h>
#include <asm/segment.h>

#include "copy.h"
#include "detour.h"
#include "opt_test.h"
#include "../../../../lib/test_kprobes/handlers.h"

/* Removed after the test, so it cannot be on the test's stack. */
static struct kprobe kp;

/* Probe @addr, by a jump where there can be one. */
static void add_counted(struct kunit *test, void *addr)
{
	kp = (struct kprobe){ .addr = addr, .pre_handler = count_hit };
	add_kprobe(test, &kp);
	wait_for_kprobe_optimizer();
}

/* -- the functions -- */

DEFINE_EMPTY_TARGET(leaf, notrace)

/* Long enough for a jump. */
DEFINE_TARGET(long, adding, (long n), n + 0x12345678, notrace)

/* -- samples -- */

/* A sample in a detour counts for the instruction there, also for a call that has pushed. */
static void where_sampled(struct kunit *test)
{
	struct pt_regs regs = { .cs = __KERNEL_CS };
	unsigned long named, addr;
	unsigned int pos;

	add_counted(test, adding);
	if (*kp.addr != JMP32_INSN_OPCODE)
		kunit_skip(test, "no jump");

	addr = (unsigned long)kp.addr;
	for (pos = 0; pos < DETOUR_SIZE - sizeof(long); pos++) {
		regs.ip = jump_target(kp.addr) + pos;
		named = perf_arch_instruction_pointer(&regs);
		KUNIT_EXPECT_GE(test, named, addr);
		KUNIT_EXPECT_LE(test, named, addr + JMP32_INSN_SIZE + MAX_INSN_SIZE);
	}
	/* The ip of a program is reported as it is. */
	regs.cs = __USER_CS;
	KUNIT_EXPECT_EQ(test, perf_arch_instruction_pointer(&regs), regs.ip);
}

static void expect_same_stack(struct kunit *test, unsigned long a, unsigned long b,
			      unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		KUNIT_EXPECT_EQ(test, arch_kprobe_original_sp(a + i, 0),
				arch_kprobe_original_sp(b + i, 0));
}

/* The post way has the same frame on the stack as the same code at the start of the detour. */
static void where_in_post_way(struct kunit *test)
{
	unsigned long slot, post, copy, call, addr;
	struct kprobe *p;

	add_counted(test, adding);
	if (*kp.addr != JMP32_INSN_OPCODE)
		kunit_skip(test, "no jump");

	p = get_kprobe(kp.addr);
	addr = (unsigned long)kp.addr;
	slot = (unsigned long)optinsn_of(p)->insn;
	post = slot + optinsn_of(p)->post;
	copy = post + DETOUR_UNFRAME;
	call = copy + p->ainsn.size;
	KUNIT_ASSERT_GT(test, post, slot);
	expect_same_stack(test, post, slot + DETOUR_RETURN, DETOUR_UNFRAME);
	expect_same_stack(test, copy, slot + DETOUR_COPIES, call - copy);
	expect_same_stack(test, call, slot + sizeof(long), DETOUR_COPIES - sizeof(long));
	KUNIT_EXPECT_EQ(test, arch_kprobe_original_ip(post), addr);
	KUNIT_EXPECT_EQ(test, arch_kprobe_original_ip(call - 1), addr);
	KUNIT_EXPECT_EQ(test, arch_kprobe_original_ip(call), addr + p->ainsn.size);
	KUNIT_EXPECT_EQ(test, arch_kprobe_original_ip(slot + DETOUR_POST_RETURN),
			addr + p->ainsn.size);
	KUNIT_EXPECT_EQ(test, kprobe_detour_entered_for(slot + DETOUR_RETURN), addr);
	KUNIT_EXPECT_EQ(test, kprobe_detour_entered_for(post), addr);
	KUNIT_EXPECT_EQ(test, kprobe_detour_entered_for(slot + DETOUR_POST_RETURN), 0);
}

/* -- fixups -- */

/* Reads an unmapped address, at an instruction that can be probed. */
noinline notrace int where_read(const void __user *from)
{
	int value = 0, err = 0;

	__uaccess_begin();
	asm volatile(ANNOTATE_NOENDBR "\n\t"
		     ".globl where_read_at\n"
		     "where_read_at:\n"
		     "1:	movl	%[from], %[value]\n"
		     "2:\n"
		     _ASM_EXTABLE_TYPE_REG(1b, 2b, EX_TYPE_EFAULT_REG, %[err])
		     : [err] "+r" (err), [value] "=r" (value)
		     : [from] "m" (*(const int __user *)from));
	__uaccess_end();

	return err;
}

static struct kprobe read_probe;

static bool asked, there;

/* The page is requested until the probe is there, and never arrives. */
static vm_fault_t no_page(struct vm_fault *vmf)
{
	unsigned int i;

	WRITE_ONCE(asked, true);
	for (i = 0; i < 5000 && !READ_ONCE(there); i++)
		usleep_range(1000, 2000);

	return VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct no_page_ops = { .fault = no_page };

static int map_no_page(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_ops = &no_page_ops;

	return 0;
}

static const struct file_operations no_page_fops = { .mmap = map_no_page };

static int add_read_probe(void *unused)
{
	int ret;

	while (!READ_ONCE(asked) && !kthread_should_stop())
		usleep_range(1000, 2000);
	ret = register_kprobe(&read_probe);
	WRITE_ONCE(there, true);
	while (!kthread_should_stop())
		usleep_range(1000, 2000);

	return ret;
}

static const void __user *map_nothing(struct kunit *test)
{
	struct file *file = anon_inode_getfile("kprobes_test", &no_page_fops, NULL, O_RDWR);
	unsigned long addr;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	addr = kunit_vm_mmap(test, file, 0, PAGE_SIZE, PROT_READ, MAP_PRIVATE, 0);
	fput(file);
	KUNIT_ASSERT_FALSE(test, !addr || IS_ERR_VALUE(addr));

	return (const void __user *)addr;
}

static void init_read_probe(void)
{
	read_probe = (struct kprobe){
		.addr = where_read_at,
		.pre_handler = count_hit,
		.post_handler = count_post,
	};
	hits = 0;
	posts = 0;
	asked = false;
	there = false;
}

/* A task that sleeps in a fault when the breakpoint is written has not hit it. */
static void where_armed_in_fault(struct kunit *test)
{
	const void __user *nothing = map_nothing(test);
	struct task_struct *task;

	init_read_probe();
	task = kthread_run(add_read_probe, NULL, "kprobes_test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_EQ(test, where_read(nothing), -EFAULT);
	KUNIT_EXPECT_TRUE(test, asked);
	KUNIT_EXPECT_EQ(test, kthread_stop(task), 0);
	KUNIT_EXPECT_EQ(test, hits, 0);
	KUNIT_EXPECT_EQ(test, posts, 0);

	/* With the fixup the instruction is over for a hit. */
	KUNIT_EXPECT_EQ(test, where_read(nothing), -EFAULT);
	KUNIT_EXPECT_EQ(test, hits, 1);
	KUNIT_EXPECT_EQ(test, posts, 1);
	unregister_kprobe(&read_probe);
}

/* The same without user space. The fixup leads to the end of the region of a jump. */
static noinline notrace int where_load(const int *from)
{
	int value = 0, err = 0;

	asm volatile(ANNOTATE_NOENDBR "\n\t"
		     ".globl where_load_at\n"
		     "where_load_at:\n"
		     "1:	movl	%[from], %[value]\n"
		     "	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00\n"
		     "2:\n"
		     _ASM_EXTABLE_TYPE_REG(1b, 2b, EX_TYPE_EFAULT_REG, %[err])
		     : [err] "+r" (err), [value] "=r" (value)
		     : [from] "m" (*from));

	return err ?: value;
}

static unsigned long behind_ip;
static bool behind_preemptible;

static void note_behind(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	posts++;
	behind_ip = regs->ip;
	behind_preemptible = preemptible();
}

/* No hit is left over, whether or not the instruction has faulted. */
static void expect_load(struct kunit *test, const int *from, int result, unsigned int len)
{
	unsigned int preempted = preempt_count();

	hits = 0;
	posts = 0;
	behind_ip = 0;
	KUNIT_EXPECT_EQ(test, where_load(from), result);
	KUNIT_EXPECT_EQ(test, preempt_count(), preempted);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	KUNIT_EXPECT_EQ(test, hits, 1);
	KUNIT_EXPECT_EQ(test, posts, 1);
	KUNIT_EXPECT_EQ(test, behind_ip, (unsigned long)kp.addr + len);
	KUNIT_EXPECT_FALSE(test, behind_preemptible && IS_ENABLED(CONFIG_PREEMPT_COUNT));
	scoped_guard(preempt)
		KUNIT_EXPECT_NULL(test, kprobe_running());
}

/* A fault in the copy of a detour for a post_handler. */
static void where_faulted_in_detour(struct kunit *test)
{
	static const int there = 77;

	kp = (struct kprobe){
		.addr = where_load_at,
		.pre_handler = count_hit,
		.post_handler = note_behind,
	};
	add_kprobe(test, &kp);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, *kp.addr, JMP32_INSN_OPCODE);
	expect_load(test, &there, there, 2);
	expect_load(test, (const int *)-sizeof(long), -EFAULT, 2 + 5);
	expect_load(test, &there, there, 2);
	KUNIT_EXPECT_EQ(test, kp.nmissed, 0);
}

static void expect_left(struct kunit *test, unsigned int pos, bool any, long ip, long sp)
{
	unsigned long slot = (unsigned long)optinsn_of(get_kprobe(kp.addr))->insn;
	struct pt_regs regs = { .ip = slot + pos, .sp = 0x1000 };

	KUNIT_EXPECT_FALSE(test, kprobe_detour_leave_copy(&regs, any));
	KUNIT_EXPECT_EQ_MSG(test, regs.ip, ip ?: slot + pos, "at %u", pos);
	KUNIT_EXPECT_EQ_MSG(test, regs.sp, 0x1000 + sp, "at %u", pos);
}

/* A fault without a fixup leaves a copy only for fault handlers, whichever copy it is. */
static void where_left_detour(struct kunit *test)
{
	const struct arch_optimized_insn *optinsn;
	const struct rule *rule = opt_rules;
	unsigned long addr;

	skip_if_calls_have_no_jump(test);
	while (rule < opt_rules_end && strcmp(rule->name, "call_back_at_5"))
		rule++;
	KUNIT_ASSERT_PTR_NE(test, rule, (const struct rule *)opt_rules_end);
	add_counted(test, rule->start + rule->offset);
	optinsn = optinsn_of(get_kprobe(kp.addr));
	KUNIT_ASSERT_TRUE(test, detour_is_fenced(get_kprobe(kp.addr)));

	addr = (unsigned long)kp.addr;
	KUNIT_ASSERT_EQ(test, optinsn->calls, BIT(2));
	expect_left(test, optinsn->copy_at[0], false, 0, 0);
	expect_left(test, optinsn->copy_at[2], false, 0, 0);
	expect_left(test, optinsn->copy_at[0], true, addr, 0);
	expect_left(test, optinsn->copy_at[2], true, addr + 2, 0);
	/* The call has pushed its return address, but not loaded its target. */
	expect_left(test, optinsn->copy_at[2] + 5, false, 0, 0);
	expect_left(test, optinsn->copy_at[2] + 5, true, addr + 2, sizeof(long));
	expect_left(test, optinsn->copy_at[2] + 1, true, 0, 0);
	expect_left(test, optinsn->back, true, 0, 0);
	/* To its start a detour is left by a fault in the copy for a post_handler. */
	expect_left(test, offsetof(struct detour, code), false, 0, 0);
	expect_left(test, offsetof(struct detour, code), true, addr, 0);
	expect_left(test, offsetof(struct detour, code) + 1, true, 0, 0);
}

/* -- traps of programs -- */

static void where_trap_of_program(struct kunit *test)
{
	struct pt_regs regs = { .cs = __USER_CS, .flags = X86_EFLAGS_FIXED };
	int ret;

	add_counted(test, leaf);
	regs.ip = (unsigned long)kp.addr + 1;
	preempt_disable();
	ret = kprobe_int3_handler(&regs);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, hits, 0);
	KUNIT_EXPECT_EQ(test, regs.ip, (unsigned long)kp.addr + 1);
}

/* -- mitigations -- */

static void where_return_is_safe(struct kunit *test)
{
	struct kprobe *p;

	if (!cpu_wants_rethunk())
		kunit_skip(test, "returns are safe on this CPU");

	add_counted(test, inside(opt_return, OPT_RETURN_AT));
	p = get_kprobe(kp.addr);
	KUNIT_EXPECT_NOT_NULL(test, p->ainsn.emulate);
	KUNIT_EXPECT_NULL(test, p->ainsn.insn);
	opt_return();
	KUNIT_EXPECT_EQ(test, hits, 1);
}

/* The jump covers four no-operations and the return. */
static void where_copied_return_is_safe(struct kunit *test)
{
	const u8 *copy, *end;
	struct insn insn;

	if (!cpu_wants_rethunk())
		kunit_skip(test, "returns are safe on this CPU");

	add_counted(test, inside(opt_return, OPT_RETURN_AT - 4));
	KUNIT_ASSERT_EQ(test, *kp.addr, JMP32_INSN_OPCODE);
	copy = (u8 *)jump_target(kp.addr) + DETOUR_COPIES - sizeof(long);
	for (end = copy + 4; copy < end; copy += insn.length)
		KUNIT_ASSERT_EQ(test, insn_decode_kernel(&insn, copy), 0);
	KUNIT_ASSERT_EQ(test, insn_decode_kernel(&insn, copy), 0);
	KUNIT_EXPECT_EQ(test, insn.opcode.bytes[0], JMP32_INSN_OPCODE);
	opt_return();
	KUNIT_EXPECT_EQ(test, hits, 1);
}

#ifdef CONFIG_X86_64
/* QEMU has no FRED: the frames are checked here. In Bochs, which has it, all tests were run. */
static void where_fred_frame(struct kunit *test)
{
	u64 level;

	for (level = 0; level < 4; level++) {
		struct pt_regs regs = { .csx = fred_kernel_cs(0xffffffff81000040 | level) };

		KUNIT_EXPECT_EQ(test, (u64)regs.fred_cs.cs, __KERNEL_CS);
		KUNIT_EXPECT_EQ(test, (u64)regs.fred_cs.sl, level);
		KUNIT_EXPECT_EQ(test, regs.csx, __KERNEL_CS | level << 16);
	}
}

/* A landing pad inside a function. */
static noinline notrace void landing(void)
{
	asm volatile(".globl where_landed_at\n"
		     "where_landed_at: nop; endbr64");
}

/* At a symbol a probe would be placed after the ENDBR. */
#define landed_at	(where_landed_at + 1)

static int go_to_leaf(struct kprobe *kp, struct pt_regs *regs)
{
	regs->ip = (unsigned long)leaf;

	return 1;
}

/* The indirect branch that led to a probe on ENDBR is over, wherever the hit continues. */
static void expect_landed(struct kunit *test, kprobe_pre_handler_t pre_handler, unsigned long ip)
{
	struct pt_regs regs = {
		.ip = (unsigned long)landed_at + INT3_INSN_SIZE,
		.fred_cs = { .cs = __KERNEL_CS, .wfe = 1 },
	};

	kp = (struct kprobe){ .addr = landed_at, .pre_handler = pre_handler };
	add_kprobe(test, &kp);
	scoped_guard(preempt)
		KUNIT_EXPECT_EQ(test, kprobe_int3_handler(&regs), 1);
	KUNIT_EXPECT_EQ(test, (u64)regs.fred_cs.wfe, 0);
	KUNIT_EXPECT_EQ(test, regs.ip, ip);
	kunit_release_action(test, drop_kprobe, &kp);
}

static void where_landed(struct kunit *test)
{
	landing();
	expect_landed(test, count_hit, (unsigned long)landed_at + 4);
	expect_landed(test, go_to_leaf, (unsigned long)leaf);
}
#endif

static struct kunit_case where_test_cases[] = {
	KUNIT_CASE(where_sampled),
	KUNIT_CASE(where_in_post_way),
	KUNIT_CASE(where_armed_in_fault),
	KUNIT_CASE(where_faulted_in_detour),
	KUNIT_CASE(where_left_detour),
	KUNIT_CASE(where_trap_of_program),
	KUNIT_CASE(where_return_is_safe),
	KUNIT_CASE(where_copied_return_is_safe),
#ifdef CONFIG_X86_64
	KUNIT_CASE(where_fred_frame),
	KUNIT_CASE(where_landed),
#endif
	{}
};

static struct kunit_suite where_test_suite = {
	.name = "kprobes_x86_where",
	.test_cases = where_test_cases,
};

kunit_test_suite(where_test_suite);
