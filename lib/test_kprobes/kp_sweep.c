// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes everywhere in the kernel at once. Each is registered separately, to learn whether
 * it is accepted, while all probes are disabled by debugfs. The kernel log has the number
 * of tries and the refused ones. Enabling probes by debugfs arms them all.
 *
 *	what=entry	the entry of every function, or of every step-th
 *	what=insn	count instructions, random ones of random functions
 *	what=dense	every instruction of count random functions
 *	what=range	every instruction, or every step-th, of count functions from number
 *			first on; the parameter "total" has the number of all functions
 *	what=given	none at first, but one at each address that is written to the parameter
 *			"add", at most count. The write fails if the probe is refused. This
 *			works with any implementation of kprobes.
 *
 * Writing one of these to the parameter "more" changes all probes in one batch:
 *
 *	ret	adds a return probe to each
 *	post	adds a probe with a post_handler to each
 *	none	removes what ret or post has added
 *	next	moves all probes to the instructions behind theirs
 *	clear	removes all probes
 *	tell	prints the number of hits since the last time to the kernel log
 *
 * The parameter "jumps" has the number of probes that have a jump now. Writing N to "wake"
 * wakes a machine that sleeps N seconds later.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/string.h>
#include <linux/suspend.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

#include "common.h"
#include "functions.h"

static char *what = "entry";
module_param(what, charp, 0444);
static uint count = 5000;
module_param(count, uint, 0444);
static uint first;
module_param(first, uint, 0444);
static uint step = 1;
module_param(step, uint, 0444);
static ulong seed = 1;
module_param(seed, ulong, 0444);
static bool post;			/* they have a post_handler from the beginning */
module_param(post, bool, 0444);
module_param_named(total, nr_functions, uint, 0444);

struct swept {
	struct kprobe kp;
	struct kretprobe more;		/* for a post_handler only its kprobe is used */
	bool hit;
};

static struct swept *probes;
static struct kretprobe **more_probes;
static uint nr_tried, nr_probes, nr_more;
static const char *more = "none";
static DEFINE_PER_CPU(unsigned long, all_hits);

/* No probe is in this module, so its handlers may be anywhere. @member: of struct swept */
static void note_hit(const void *member)
{
	struct swept *probe = &probes[(member - (void *)probes) / sizeof(*probes)];

	this_cpu_inc(all_hits);
	if (!READ_ONCE(probe->hit))
		WRITE_ONCE(probe->hit, true);
}

static int on_pre(struct kprobe *kp, struct pt_regs *regs)
{
	note_hit(kp);
	return 0;
}

static void on_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	note_hit(kp);
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	if (rp)
		note_hit(rp);
	return 0;
}

static int try_address(unsigned long addr)
{
	struct kprobe *kp = &probes[nr_probes].kp;
	int err;

	*kp = (struct kprobe){
		.addr = (kprobe_opcode_t *)addr,
		.pre_handler = on_pre,
		.post_handler = post ? on_post : NULL,
	};
	err = register_kprobe(kp);
	if (!err)
		nr_probes++;
	return err;
}

static void count_try(int err, unsigned long addr)
{
	nr_tried++;
	if (err)
		pr_info("refused %d probe %pS\n", err, (void *)addr);
}

static void try_entries(void)
{
	uint i;

	for (i = seed % step; i < nr_functions; i += step)
		count_try(try_address(functions[i]), functions[i]);
}

/* Instructions vary in length: try addresses until one is the start of an instruction. */
static void try_from(unsigned long addr)
{
	int err = -EILSEQ;
	uint i;

	for (i = 0; i < 16 && err == -EILSEQ; i++)
		err = try_address(addr + i);
	count_try(err, addr + i - 1);
}

static void try_insns(void)
{
	struct rnd_state rnd;

	prandom_seed_state(&rnd, seed);
	while (nr_probes < count && nr_tried < 2 * count)
		try_from(functions[prandom_u32_state(&rnd) % nr_functions] +
			 prandom_u32_state(&rnd) % 200);
}

/* Room for this many instructions per function; most have fewer. */
#define DENSE_INSNS	300

/* RISC-V has compressed instructions. */
#define INSN_ALIGN	(IS_ENABLED(CONFIG_RISCV) ? 2 : sizeof(kprobe_opcode_t))

static void try_function(uint i)
{
	unsigned long addr, behind = i + 1 < nr_functions ? functions[i + 1] : end;
	int err;

	for (addr = functions[i]; addr < behind; addr += INSN_ALIGN) {
		if (nr_probes == count * DENSE_INSNS)
			return;
		if (addr / INSN_ALIGN % step != seed % step)
			continue;
		err = try_address(addr);
		if (err != -EILSEQ)
			count_try(err, addr);
	}
}

static void try_functions(void)
{
	struct rnd_state rnd;
	uint i, taken = 0;

	/* Go through all functions in order and pick each at most once. */
	prandom_seed_state(&rnd, seed);
	for (i = 0; i < nr_functions && taken < count; i++) {
		if (prandom_u32_state(&rnd) % (nr_functions - i) < count - taken) {
			try_function(i);
			taken++;
		}
	}
}

static void try_range(void)
{
	uint i;

	for (i = first; i < nr_functions && i - first < count; i++)
		try_function(i);
}

static bool is_return(const char *mode)
{
	return !strcmp(mode, "ret");
}

static int add_some(struct kretprobe **rps, uint nr, const char *mode)
{
	uint i;

	for (i = 0; i < nr; i++) {
		struct kprobe *kp = &container_of(rps[i], struct swept, more)->kp;

		*rps[i] = (struct kretprobe){ .kp.addr = kp->addr, .maxactive = 4 };
		if (is_return(mode))
			rps[i]->handler = on_return;
		else
			rps[i]->kp.post_handler = on_post;
	}
	return batch_register((struct kprobe **)rps, nr, is_return(mode));
}

/* Some functions cannot have return probes: split the batch until the others are in. */
static void add_most(uint from, uint nr, const char *mode)
{
	int err = add_some(more_probes + from, nr, mode);

	if (!err) {
		memmove(more_probes + nr_more, more_probes + from, nr * sizeof(*more_probes));
		nr_more += nr;
	} else if (nr == 1) {
		pr_info("refused %d %s %pS\n", err, mode, more_probes[from]->kp.addr);
	} else {
		add_most(from, nr / 2, mode);
		add_most(from + nr / 2, nr - nr / 2, mode);
	}
}

static void add_more(const char *mode)
{
	uint i;

	for (i = 0; i < nr_probes; i++)
		more_probes[i] = &probes[i].more;
	add_most(0, nr_probes, mode);
	more = mode;
}

static void remove_more(void)
{
	batch_unregister((struct kprobe **)more_probes, nr_more, is_return(more));
	nr_more = 0;
	more = "none";
}

static void remove_probes(void)
{
	struct kprobe **kps = (struct kprobe **)more_probes;
	uint i;

	remove_more();
	for (i = 0; i < nr_probes; i++)
		kps[i] = &probes[i].kp;
	unregister_kprobes(kps, nr_probes);
	nr_tried = 0;
	nr_probes = 0;
}

static void tell_tried(void)
{
	pr_info("tried %u accepted %u\n", nr_tried, nr_probes);
}

/* An entry with an ftrace site has no breakpoint; an instruction behind it does. */
static unsigned long behind(struct kprobe *kp)
{
#ifdef MCOUNT_INSN_SIZE
	if (kprobe_ftrace(kp))
		return (unsigned long)kp->addr + MCOUNT_INSN_SIZE;
#endif
	return (unsigned long)kp->addr + 1;
}

static void go_next(void)
{
	uint i, nr = nr_probes;

	for (i = 0; i < nr; i++)
		functions[i] = behind(&probes[i].kp);
	remove_probes();
	for (i = 0; i < nr; i++)
		try_from(functions[i]);
	tell_tried();
}

static void tell_hits(void)
{
	unsigned long all = 0;
	uint i, hit = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		all += per_cpu(all_hits, cpu);
		per_cpu(all_hits, cpu) = 0;
	}
	for (i = 0; i < nr_probes; i++) {
		hit += probes[i].hit;
		probes[i].hit = false;
	}
	pr_info("probes %u hit %u more %u hits %lu\n", nr_probes, hit, nr_more, all);
}

static int more_set(const char *text, const struct kernel_param *param)
{
	if (!nr_probes)
		return -EAGAIN;
	if (sysfs_streq(text, "ret"))
		add_more("ret");
	else if (sysfs_streq(text, "post"))
		add_more("post");
	else if (sysfs_streq(text, "none"))
		remove_more();
	else if (sysfs_streq(text, "next"))
		go_next();
	else if (sysfs_streq(text, "clear"))
		remove_probes();
	else if (sysfs_streq(text, "tell"))
		tell_hits();
	else
		return -EINVAL;
	return 0;
}

module_param_call(more, more_set, NULL, NULL, 0200);

static int add_set(const char *text, const struct kernel_param *param)
{
	unsigned long addr;
	int err = kstrtoul(text, 16, &addr);

	if (!err && nr_probes >= count)
		err = -ENOSPC;
	return err ?: try_address(addr);
}

module_param_call(add, add_set, NULL, NULL, 0200);

/*
 * Does not find a jump that begins before its probe. RISC-V code has many AUIPC: one that
 * equals the original instruction is no jump.
 */
static bool is_jump(const struct kprobe *kp)
{
	if (IS_ENABLED(CONFIG_RISCV) && *(u32 *)kp->addr == kp->opcode)
		return false;

	return begins_jump(kp->addr);
}

static int jumps_get(char *buf, const struct kernel_param *param)
{
	uint i, jumps = 0;

	for (i = 0; i < nr_probes; i++)
		jumps += is_jump(&probes[i].kp);
	return sysfs_emit(buf, "%u\n", jumps);
}

module_param_call(jumps, NULL, jumps_get, NULL, 0400);

static void wake_machine(struct timer_list *timer)
{
	pm_system_wakeup();
}

static DEFINE_TIMER(wake_timer, wake_machine);

static int wake_set(const char *text, const struct kernel_param *param)
{
	uint seconds;
	int err = kstrtouint(text, 0, &seconds);

	if (!err)
		mod_timer(&wake_timer, jiffies + seconds * HZ);
	return err;
}

module_param_call(wake, wake_set, NULL, NULL, 0200);

static void free_all(void)
{
	vfree(probes);
	vfree(more_probes);
	vfree(functions);
}

static int make_room(void)
{
	int err = strcmp(what, "given") ? find_functions() : 0;
	uint nr;

	if (err)
		return err;
	nr = max(nr_functions, count);
	if (!strcmp(what, "dense") || !strcmp(what, "range"))
		nr = count * DENSE_INSNS;
	probes = vcalloc(nr, sizeof(*probes));
	more_probes = vcalloc(nr, sizeof(*more_probes));
	return probes && more_probes ? 0 : -ENOMEM;
}

static int try_all(void)
{
	if (!strcmp(what, "entry"))
		try_entries();
	else if (!strcmp(what, "dense"))
		try_functions();
	else if (!strcmp(what, "range"))
		try_range();
	else if (!strcmp(what, "insn"))
		try_insns();
	tell_tried();
	return nr_probes == count * DENSE_INSNS ? -ENOSPC : 0;
}

static int __init kp_sweep_init(void)
{
	int err = make_room() ?: try_all();

	if (err) {
		remove_probes();
		free_all();
	}
	return err;
}

static void __exit kp_sweep_exit(void)
{
	timer_delete_sync(&wake_timer);
	remove_probes();
	free_all();
}

module_init(kp_sweep_init);
module_exit(kp_sweep_exit);
MODULE_DESCRIPTION("Probes all over the kernel at once");
MODULE_LICENSE("GPL");
