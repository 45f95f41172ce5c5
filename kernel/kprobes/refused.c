// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why probes were refused. What refuses one notes the reason; the function of the interface that
 * returns the error records it, with what its caller had asked for. Debugfs "refused" shows the
 * last of these records.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>

#include "internal.h"

/**
 * struct refusal - one call that was refused
 * @time: when, in ns since the boot
 * @pid: the caller
 * @comm: its name
 * @kp: the probe, until its user has been told the reason
 * @kind: k, r or j as in "list", or - if it is not known
 * @asked: the symbol that the caller gave, or an empty string; a long one ends with dots
 * @offset: and the offset from there, in bytes
 * @asked_addr: or the address that it gave
 * @addr: address that was refused, if the place has been resolved
 * @err: the error
 * @which: which probe of an array was refused, counted from 1; 0 if this is not known
 * @of: length of that array
 * @why: the reason, or NULL
 */
struct refusal {
	u64 time;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	const struct kprobe *kp;
	char kind;
	char asked[64];
	unsigned int offset;
	const void *asked_addr;
	const void *addr;
	int err;
	unsigned int which;
	unsigned int of;
	const char *why;
};

#define NR_REFUSALS	256

/*
 * Protects all below, and is the innermost lock. Only process context takes it; raw, because
 * kprobe_module_hold() refuses with preemption disabled.
 */
static DEFINE_RAW_SPINLOCK(refused_lock);
static struct refusal refusals[NR_REFUSALS];
static unsigned long nr_refused;

/* The reason that was noted last, and the task that did so. */
static struct {
	const struct task_struct *task;
	const void *addr;
	const char *why;
	int err;
} noted;

/**
 * kprobe_refuse() - note why a probe is refused
 * @err: the error with which
 * @addr: address of the probe for the log, or NULL if the caller has logged it
 * @why: the reason, a constant string
 *
 * Context: Process context.
 * Return: @err.
 */
int kprobe_refuse(int err, const void *addr, const char *why)
{
	if (addr)
		pr_debug("%pS: %s\n", addr, why);

	guard(raw_spinlock)(&refused_lock);
	noted.task = current;
	noted.addr = addr;
	noted.why = why;
	noted.err = err;

	return err;
}

/* Set what this task has noted for @err, or NULL. It is not to be told again. */
static void take_noted(int err, const char **why, const void **addr)
{
	bool own = noted.task == current && noted.err == err;

	*why = own ? noted.why : NULL;
	*addr = own ? noted.addr : NULL;
	if (noted.task == current)
		noted.task = NULL;
}

/**
 * kprobe_refusal_noted() - the reason for an error that is not recorded
 * @err: the error
 *
 * Context: Process context.
 * Return: the reason, or NULL if no reason is known.
 */
const char *kprobe_refusal_noted(int err)
{
	const void *addr;
	const char *why;

	guard(raw_spinlock)(&refused_lock);
	take_noted(err, &why, &addr);

	return why;
}

/**
 * kprobe_record_refusal() - record an error that a function of the interface returns
 * @kp: the probe, or NULL
 * @kind: of which kind it is, see struct refusal
 * @err: the error
 * @which: which probe of an array @kp is, counted from 1; 0 if this is not known
 * @of: length of that array
 *
 * Context: Process context.
 */
void kprobe_record_refusal(const struct kprobe *kp, char kind, int err, unsigned int which,
			   unsigned int of)
{
	struct refusal *r;

	guard(raw_spinlock)(&refused_lock);
	r = &refusals[nr_refused++ % NR_REFUSALS];
	*r = (struct refusal){
		.time = ktime_get_boottime_ns(),
		.pid = task_pid_nr(current),
		.kp = kp,
		.kind = kind,
		.err = err,
		.which = which,
		.of = of,
	};
	strscpy(r->comm, current->comm);
	if (kp && kp->symbol_name) {
		if (strscpy(r->asked, kp->symbol_name) < 0)
			memcpy(&r->asked[sizeof(r->asked) - sizeof("...")], "...", sizeof("..."));
		r->offset = kp->offset;
	} else if (kp) {
		r->asked_addr = kp->addr;
	}
	take_noted(err, &r->why, &r->addr);
}

/**
 * kprobe_refuse_call() - note and record that a call is refused, whatever its probes
 * @err: the error with which
 * @kind: of which kind the probes are, see struct refusal
 * @why: the reason, a constant string
 *
 * Context: Process context.
 * Return: @err.
 */
int kprobe_refuse_call(int err, char kind, const char *why)
{
	kprobe_refuse(err, NULL, why);
	kprobe_record_refusal(NULL, kind, err, 0, 0);

	return err;
}

/* Copy the record with the number *@nr, or else the oldest after it, and set *@nr to its number. */
static bool refusal_get(struct refusal *r, unsigned long *nr)
{
	guard(raw_spinlock)(&refused_lock);
	if (nr_refused > NR_REFUSALS)
		*nr = max(*nr, nr_refused - NR_REFUSALS + 1);
	if (*nr > nr_refused)
		return false;
	*r = refusals[(*nr - 1) % NR_REFUSALS];

	return true;
}

/**
 * kprobe_refusal_text() - tell why a probe has been refused
 * @kp: the probe, the @kp of a return probe
 * @err: the error with which
 *
 * Each refusal is told once.
 *
 * Context: Process context.
 * Return: the address of a pointer to the reason, neither of which ever changes; NULL if no
 * reason is known.
 */
const char **kprobe_refusal_text(const struct kprobe *kp, int err)
{
	static const char *texts[128];
	unsigned long nr;
	unsigned int i;

	guard(raw_spinlock)(&refused_lock);
	for (nr = nr_refused; nr && nr + NR_REFUSALS > nr_refused; nr--) {
		struct refusal *r = &refusals[(nr - 1) % NR_REFUSALS];

		if (r->kp != kp)
			continue;
		r->kp = NULL;
		if (!r->why || r->err != err)
			return NULL;
		for (i = 0; i < ARRAY_SIZE(texts) && texts[i] && texts[i] != r->why; i++)
			;
		if (i == ARRAY_SIZE(texts))
			return NULL;
		texts[i] = r->why;

		return &texts[i];
	}

	return NULL;
}

static void show_place(struct seq_file *m, const struct refusal *r)
{
	bool show = kallsyms_show_value(m->file->f_cred);

	if (r->asked[0])
		seq_printf(m, "%s+%#x", r->asked, r->offset);
	else if (r->asked_addr)
		seq_printf(m, "%px", show ? r->asked_addr : NULL);
	else
		seq_puts(m, "-");
	if (r->addr && (show || kernel_text_address((unsigned long)r->addr)))
		seq_printf(m, " %pS", r->addr);
	else
		seq_puts(m, " -");
}

/* Print debugfs "refused". */
int kprobe_refused_show(struct seq_file *m, void *unused)
{
	int ret = security_locked_down(LOCKDOWN_KPROBES);
	unsigned long nr;
	struct refusal r;
	u64 sec;
	u32 nsec;

	if (ret)
		return ret;

	seq_printf(m, "refused since the boot: %lu\n", READ_ONCE(nr_refused));
	for (nr = 1; refusal_get(&r, &nr); nr++) {
		sec = r.time;
		nsec = do_div(sec, NSEC_PER_SEC);
		seq_printf(m, "%lu [%5llu.%06u] %s-%d %c ", nr, sec, nsec / 1000, r.comm, r.pid,
			   r.kind);
		show_place(m, &r);
		seq_printf(m, " %pe %u/%u %s\n", ERR_PTR(r.err), r.which, r.of, r.why ?: "-");
	}

	return 0;
}
