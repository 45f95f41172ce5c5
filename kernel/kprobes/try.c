// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debugfs "try": may a place be probed, and how would it be done? A user writes the place and reads
 * the verdict, which kprobe_try() finds as a registration would, at the time of reading.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/memory.h>
#include <linux/preempt.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "internal.h"

#define PLACE_MAX	(MODULE_NAME_LEN + KSYM_NAME_LEN + 32)

static DEFINE_MUTEX(try_mutex);

/* What was written last. */
static char try_place[PLACE_MAX];

/**
 * struct try_file - an open file
 * @place: what was written last when reading began; kprobe_try() is given its symbol
 * @kp: the probe that it stands for
 * @start: the function, if verdicts about all of its instructions are to be shown, or 0
 * @size: its bytes, 1 if there is only one verdict to be shown
 * @at: offset of the instruction that is shown next
 * @len: its bytes
 */
struct try_file {
	char place[PLACE_MAX];
	struct kprobe kp;
	unsigned long start;
	unsigned long size;
	unsigned long at;
	unsigned int len;
};

/**
 * arch_kprobe_insn_bytes() - read an instruction without the changes of probes
 * @buf: buffer of 16 bytes
 * @addr: the start of an instruction
 * @end: where its function ends
 *
 * An architecture that does not define this has no list of all instructions of a function in
 * debugfs "try".
 *
 * Context: Process context, text_mutex held.
 * Return: its length in bytes, 0 if it cannot be decoded.
 */
unsigned int __weak arch_kprobe_insn_bytes(u8 *buf, unsigned long addr, unsigned long end)
{
	return 0;
}

/* The bytes of the instruction at @addr if it is in a function, 0 if they are not known. */
static unsigned int insn_bytes(u8 *buf, unsigned long addr)
{
	unsigned long size, offset;

	if (!kallsyms_lookup_size_offset(addr, &size, &offset))
		return 0;

	/* The probe that a breakpoint belongs to is not freed meanwhile. */
	guard(mutex)(&text_mutex);
	guard(preempt)();

	return arch_kprobe_insn_bytes(buf, addr, addr - offset + size);
}

/* Parse @place, [MODULE:]SYMBOL[+OFFSET] or 0xADDR, which is cut after the symbol. */
static int place_parse(char *place, struct kprobe *kp)
{
	unsigned long addr;
	char *plus;
	int ret;

	*kp = (struct kprobe){};
	if (isdigit(place[0])) {
		ret = kstrtoul(place, 0, &addr);
		kp->addr = (kprobe_opcode_t *)addr;

		return ret ?: addr ? 0 : -EINVAL;
	}

	kp->symbol_name = place;
	plus = strchr(place, '+');
	if (plus) {
		*plus++ = '\0';
		ret = kstrtouint(plus, 0, &kp->offset);
		if (ret)
			return ret;
	}

	return place[0] ? 0 : -EINVAL;
}

static ssize_t try_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	char *text __free(kfree) = NULL, *place, parsed[PLACE_MAX];
	struct kprobe kp;
	int ret;

	if (count >= PLACE_MAX)
		return -E2BIG;
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	place = strim(text);
	strscpy(parsed, place);
	ret = place_parse(parsed, &kp);
	if (ret)
		return ret;

	guard(mutex)(&try_mutex);
	strscpy(try_place, place);

	return count;
}

/* Look up what was written last. A symbol without an offset stands for the whole function. */
static bool try_begin(struct try_file *try)
{
	bool whole;
	struct kprobe_verdict verdict;
	unsigned long offset;

	scoped_guard(mutex, &try_mutex)
		strscpy(try->place, try_place);
	whole = !strchr(try->place, '+') && !isdigit(try->place[0]);
	try->start = 0;
	try->size = 1;
	if (place_parse(try->place, &try->kp))
		return false;
	if (!whole)
		return true;

	kprobe_try(&try->kp, &verdict);
	if (verdict.addr && kallsyms_lookup_size_offset(verdict.addr, &try->size, &offset))
		try->start = verdict.addr - offset;

	return true;
}

static void *try_start(struct seq_file *m, loff_t *pos)
{
	struct try_file *try = m->private;

	if (!*pos && !try_begin(try))
		return NULL;
	try->at = *pos;

	return try->at < try->size ? try : NULL;
}

static void *try_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct try_file *try = m->private;

	/* What cannot be decoded ends the list. */
	*pos += try->start && try->len ? try->len : try->size;

	return try_start(m, pos);
}

static void try_stop(struct seq_file *m, void *v)
{
}

static void show_place(struct seq_file *m, unsigned long addr)
{
	bool show = kallsyms_show_value(m->file->f_cred);
	unsigned long size, offset;

	seq_printf(m, "%px ", show ? (void *)addr : NULL);
	if (kallsyms_lookup_size_offset(addr, &size, &offset))
		seq_printf(m, "%ps+%#lx", (void *)(addr - offset), offset);
	else
		seq_puts(m, "-");
}

static void show_jump(struct seq_file *m, const struct kprobe_verdict *verdict)
{
	unsigned long at = verdict->addr - verdict->lead, end = at + verdict->covered;
	unsigned int len;
	u8 bytes[16];

	seq_puts(m, "jump of ");
	for (; at < end; at += len) {
		len = insn_bytes(bytes, at) ?: end - at;
		seq_printf(m, "%u%s", len, at + len < end ? "+" : " bytes");
	}
	if (verdict->lead)
		seq_printf(m, " from -%u on", verdict->lead);
}

static void show_verdict(struct seq_file *m, const struct kprobe_verdict *verdict)
{
	if (verdict->err) {
		seq_printf(m, "refused, %pe: %s", ERR_PTR(verdict->err), verdict->why ?: "-");
		return;
	}

	if (verdict->on_ftrace) {
		seq_puts(m, "ftrace site");
	} else if (verdict->covered) {
		show_jump(m, verdict);
	} else {
		seq_printf(m, "breakpoint, %s, no jump: %s",
			   verdict->emulated ? "emulated" : "copied", verdict->why_no_jump);
	}
	if (verdict->return_probe)
		seq_puts(m, "; return probe");
	if (verdict->members)
		seq_printf(m, "; probes here: %u", verdict->members);
}

static int try_show(struct seq_file *m, void *v)
{
	struct try_file *try = m->private;
	struct kprobe_verdict verdict;
	unsigned long addr;
	u8 bytes[16];

	if (try->start)
		try->kp = (struct kprobe){ .addr = (kprobe_opcode_t *)(try->start + try->at) };
	kprobe_try(&try->kp, &verdict);
	addr = try->start ? try->start + try->at : verdict.addr;
	try->len = insn_bytes(bytes, addr);

	show_place(m, addr);
	seq_printf(m, " %*phN%s ", try->len, bytes, try->len ? "" : "-");
	if (!verdict.err && verdict.addr != addr)
		seq_printf(m, "moves by %+ld; ", (long)(verdict.addr - addr));
	show_verdict(m, &verdict);
	seq_putc(m, '\n');

	return 0;
}

static const struct seq_operations try_ops = {
	.start = try_start,
	.next = try_next,
	.stop = try_stop,
	.show = try_show,
};

static int try_open(struct inode *inode, struct file *file)
{
	return security_locked_down(LOCKDOWN_KPROBES) ?:
	       seq_open_private(file, &try_ops, sizeof(struct try_file));
}

const struct file_operations kprobe_try_fops = {
	.owner = THIS_MODULE,
	.open = try_open,
	.read = seq_read,
	.write = try_write,
	.llseek = seq_lseek,
	.release = seq_release_private,
};
