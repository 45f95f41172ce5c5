// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes all over the kernel at once. Each address is first registered by
 * itself and disabled, to learn whether it is accepted; then all that are come
 * back armed, in one batch, and stay until the module goes.
 *
 *	what=entry	the entry of every function, or of every step-th
 *	what=insn	count instructions, random ones of random functions
 *	mode=pre|post|ret	which handlers
 *
 * The kernel log tells how many were tried, accepted and hit.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static char *what = "entry";
module_param(what, charp, 0444);
static char *mode = "pre";
module_param(mode, charp, 0444);
static uint count = 5000;
module_param(count, uint, 0444);
static uint step = 1;
module_param(step, uint, 0444);
static ulong seed = 1;
module_param(seed, ulong, 0444);
static ulong start, end;
module_param(start, ulong, 0444);
module_param(end, ulong, 0444);

/* Of which a plain probe uses the kprobe only. */
static struct kretprobe *probes;
static struct kretprobe **accepted;
static unsigned long *functions;
static uint nr_functions, nr_accepted;
static DEFINE_PER_CPU(unsigned long, hits);

static int on_pre(struct kprobe *kp, struct pt_regs *regs)
{
	this_cpu_inc(hits);
	return 0;
}

NOKPROBE_SYMBOL(on_pre);

static void on_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	this_cpu_inc(hits);
}

NOKPROBE_SYMBOL(on_post);

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	this_cpu_inc(hits);
	return 0;
}

NOKPROBE_SYMBOL(on_return);

static bool is_mode(const char *name)
{
	return !strcmp(mode, name);
}

static void init_probe(struct kretprobe *rp, unsigned long addr, u32 flags)
{
	memset(rp, 0, sizeof(*rp));
	rp->kp.addr = (kprobe_opcode_t *)addr;
	rp->kp.flags = flags;
	if (is_mode("ret")) {
		rp->handler = on_return;
		rp->maxactive = 4;
		return;
	}
	rp->kp.pre_handler = on_pre;
	if (is_mode("post"))
		rp->kp.post_handler = on_post;
}

static int try_address(unsigned long addr)
{
	struct kretprobe *rp = &probes[nr_accepted];
	int err;

	init_probe(rp, addr, KPROBE_FLAG_DISABLED);
	err = is_mode("ret") ? register_kretprobe(rp) : register_kprobe(&rp->kp);
	if (!err)
		accepted[nr_accepted++] = rp;
	return err;
}

static int add_function(void *data, const char *name, unsigned long addr)
{
	if (addr < start || addr >= end || !name[0] || strchr(name, '.'))
		return 0;
	if (!nr_functions || functions[nr_functions - 1] != addr)
		functions[nr_functions++] = addr;
	return nr_functions == count;
}

/* The symbol is not exported, but a probe can tell where it is. */
static int find_functions(void)
{
	int (*each)(int (*fn)(void *, const char *, unsigned long), void *data);
	struct kprobe kp = {
		.symbol_name = "kallsyms_on_each_symbol",
		.flags = KPROBE_FLAG_DISABLED,
	};
	int err = register_kprobe(&kp);

	if (err)
		return err;
	each = (void *)kp.addr;
	unregister_kprobe(&kp);
	each(add_function, NULL);
	return nr_functions ? 0 : -ENOENT;
}

static void count_error(int err, const char *where, unsigned long addr)
{
	if (err)
		pr_debug("%s %pS: %d\n", where, (void *)addr, err);
}

static void sweep_entries(uint *tried)
{
	uint i;

	for (i = 0; i < nr_functions; i += step, ++*tried)
		count_error(try_address(functions[i]), "entry", functions[i]);
}

/* Instructions are not all of one length: try until one is hit. */
static void sweep_insns(uint *tried, struct rnd_state *rnd)
{
	while (nr_accepted < count && *tried < 2 * count) {
		unsigned long addr = functions[prandom_u32_state(rnd) % nr_functions];
		int err = -EILSEQ;
		uint i;

		addr += prandom_u32_state(rnd) % 200;
		for (i = 0; i < 16 && err == -EILSEQ; i++)
			err = try_address(addr + i);
		++*tried;
		count_error(err, "insn", addr + i - 1);
	}
}

static void unregister_all(void)
{
	if (is_mode("ret"))
		unregister_kretprobes(accepted, nr_accepted);
	else
		unregister_kprobes((struct kprobe **)accepted, nr_accepted);
}

/* The same again, armed and all at once. */
static int register_all(void)
{
	uint i;

	for (i = 0; i < nr_accepted; i++)
		init_probe(accepted[i], (unsigned long)accepted[i]->kp.addr, 0);
	if (is_mode("ret"))
		return register_kretprobes(accepted, nr_accepted);
	return register_kprobes((struct kprobe **)accepted, nr_accepted);
}

static void free_all(void)
{
	vfree(probes);
	vfree(accepted);
	vfree(functions);
}

static int __init kp_sweep_init(void)
{
	struct rnd_state rnd;
	uint tried = 0;
	int err;

	if (!strcmp(what, "entry"))
		count = 100000;
	functions = vmalloc_array(100000, sizeof(*functions));
	probes = vcalloc(count, sizeof(*probes));
	accepted = vcalloc(count, sizeof(*accepted));
	if (!functions || !probes || !accepted) {
		free_all();
		return -ENOMEM;
	}
	err = find_functions();
	if (err)
		goto fail;
	prandom_seed_state(&rnd, seed);
	if (!strcmp(what, "entry"))
		sweep_entries(&tried);
	else
		sweep_insns(&tried, &rnd);
	pr_info("%s %s seed %lu: tried %u, accepted %u\n", what, mode, seed, tried, nr_accepted);
	unregister_all();
	err = register_all();
	if (err)
		goto fail;
	pr_info("armed\n");
	return 0;
fail:
	pr_err("failed: %d\n", err);
	free_all();
	return err;
}

static void __exit kp_sweep_exit(void)
{
	unsigned long all = 0;
	int cpu;

	unregister_all();
	for_each_possible_cpu(cpu)
		all += per_cpu(hits, cpu);
	pr_info("hits %lu\n", all);
	free_all();
}

module_init(kp_sweep_init);
module_exit(kp_sweep_exit);
MODULE_DESCRIPTION("Probes all over the kernel at once");
MODULE_LICENSE("GPL");
