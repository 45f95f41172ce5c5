// SPDX-License-Identifier: GPL-2.0-only
/*
 * register_kprobe() and the like for shell scripts: commands are written to the
 * parameter "command"; the write fails with the error that the function returned.
 *
 *	add NAME SYMBOL[+OFFSET]|ADDRESS [post|off|ret]
 *	addr NAME ADDRESS	(only whether there can be a probe: it is removed at once)
 *	del NAME
 *	enable NAME
 *	disable NAME
 *
 * The parameter "state" lists the name and the hits of each probe, and the number of
 * calls of its post_handler, or of returns of the probed function. Reads and writes of a
 * module's parameters exclude each other.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/kstrtox.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

struct probe {
	struct list_head list;
	char name[32];
	char symbol[64];
	bool is_return;
	struct kretprobe rp;	/* a plain probe uses only its kprobe */
	atomic_t before;
	atomic_t after;
};

static LIST_HEAD(probes);

static int on_pre(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_inc(&container_of(kp, struct probe, rp.kp)->before);
	return 0;
}

static void on_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	atomic_inc(&container_of(kp, struct probe, rp.kp)->after);
}

static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_inc(&container_of(get_kretprobe(ri), struct probe, rp)->before);
	return 0;
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	if (rp)
		atomic_inc(&container_of(rp, struct probe, rp)->after);
	return 0;
}

static struct probe *find_probe(const char *name)
{
	struct probe *p;

	list_for_each_entry(p, &probes, list)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

static int place_probe(struct probe *p, const char *where)
{
	unsigned long addr;

	if (!kstrtoul(where, 0, &addr)) {
		p->rp.kp.addr = (kprobe_opcode_t *)addr;
		return 0;
	}
	p->rp.kp.symbol_name = p->symbol;
	if (sscanf(where, "%63[^+]+%i", p->symbol, &p->rp.kp.offset) < 2 && strchr(where, '+'))
		return -ERANGE;
	return 0;
}

static int register_probe(struct probe *p)
{
	if (p->is_return) {
		p->rp.entry_handler = on_entry;
		p->rp.handler = on_return;
		return register_kretprobe(&p->rp);
	}
	p->rp.kp.pre_handler = on_pre;
	return register_kprobe(&p->rp.kp);
}

static int add_probe(const char *name, const char *where, const char *kind)
{
	struct probe *p __free(kfree) = kzalloc(sizeof(*p), GFP_KERNEL);
	int err;

	if (!p)
		return -ENOMEM;
	if (find_probe(name))
		return -EEXIST;
	err = place_probe(p, where);
	if (err)
		return err;
	strscpy(p->name, name, sizeof(p->name));
	p->is_return = !strcmp(kind, "ret");
	p->rp.kp.post_handler = strcmp(kind, "post") ? NULL : on_post;
	p->rp.kp.flags = strcmp(kind, "off") ? 0 : KPROBE_FLAG_DISABLED;
	err = register_probe(p);
	if (err)
		return err;
	list_add_tail(&no_free_ptr(p)->list, &probes);
	return 0;
}

static void del_probe(struct probe *p)
{
	if (p->is_return)
		unregister_kretprobe(&p->rp);
	else
		unregister_kprobe(&p->rp.kp);
	list_del(&p->list);
	kfree(p);
}

static int change_probe(const char *verb, const char *name)
{
	struct probe *p = find_probe(name);

	if (!p)
		return -ENOKEY;
	if (!strcmp(verb, "enable"))
		return enable_kprobe(&p->rp.kp);
	if (!strcmp(verb, "disable"))
		return disable_kprobe(&p->rp.kp);
	if (strcmp(verb, "del"))
		return -EBADRQC;
	del_probe(p);
	return 0;
}

static int command_set(const char *text, const struct kernel_param *param)
{
	char verb[16] = "", name[32] = "", where[64] = "", kind[16] = "";

	if (sscanf(text, "%15s %31s %63s %15s", verb, name, where, kind) < 2)
		return -EBADRQC;

	if (!strcmp(verb, "add"))
		return add_probe(name, where, kind);
	if (!strcmp(verb, "addr"))
		return add_probe(name, where, kind) ?: change_probe("del", name);
	return change_probe(verb, name);
}

module_param_call(command, command_set, NULL, NULL, 0200);

static int state_get(char *buf, const struct kernel_param *param)
{
	struct probe *p;
	int len = 0;

	list_for_each_entry(p, &probes, list)
		len += scnprintf(buf + len, PAGE_SIZE - len, "%s %d %d\n", p->name,
				 atomic_read(&p->before), atomic_read(&p->after));
	return len;
}

module_param_call(state, NULL, state_get, NULL, 0400);

/*
 * Register a probe in a module that is being loaded: before kprobes' own notifier has run,
 * and between that and the last one, also in another task than the one that loads it.
 */
static int too_early, by_loader, by_other;
module_param(too_early, int, 0444);
MODULE_PARM_DESC(too_early, "what register_kprobe() said before it had heard of kp_victim");
module_param(by_loader, int, 0444);
MODULE_PARM_DESC(by_loader, "what it said afterwards");
module_param(by_other, int, 0444);
MODULE_PARM_DESC(by_other, "what it said then in another task");

static int try_victim(void)
{
	struct kprobe kp = { .symbol_name = "kp_victim:kp_victim_plain" };
	int err = register_kprobe(&kp);

	if (!err)
		unregister_kprobe(&kp);
	return err;
}

static void try_other(struct work_struct *work)
{
	by_other = try_victim();
}

static DECLARE_WORK(other, try_other);

static bool victim_comes(unsigned long event, const struct module *mod)
{
	return event == MODULE_STATE_COMING && !strcmp(mod->name, "kp_victim");
}

static int try_first(struct notifier_block *nb, unsigned long event, void *data)
{
	if (victim_comes(event, data))
		too_early = try_victim();
	return NOTIFY_DONE;
}

/* So long a module is being loaded. */
static unsigned int coming_ms;
module_param(coming_ms, uint, 0644);
MODULE_PARM_DESC(coming_ms, "how long kp_victim is held up while other modules hear of it");

static int try_later(struct notifier_block *nb, unsigned long event, void *data)
{
	if (victim_comes(event, data)) {
		msleep(coming_ms);
		by_loader = try_victim();
		schedule_work(&other);
		flush_work(&other);
	}
	return NOTIFY_DONE;
}

static struct notifier_block first_nb = { .notifier_call = try_first, .priority = INT_MAX };
static struct notifier_block later_nb = { .notifier_call = try_later };

static int __init kp_prober_init(void)
{
	return register_module_notifier(&first_nb) ?: register_module_notifier(&later_nb);
}

static void __exit kp_prober_exit(void)
{
	struct probe *p, *next;

	unregister_module_notifier(&first_nb);
	unregister_module_notifier(&later_nb);
	list_for_each_entry_safe(p, next, &probes, list)
		del_probe(p);
}

module_init(kp_prober_init)
module_exit(kp_prober_exit)
MODULE_DESCRIPTION("Probes by command");
MODULE_LICENSE("GPL");
