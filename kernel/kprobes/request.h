/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A probe on its way into a point.
 */
#ifndef _KERNEL_KPROBES_REQUEST_H
#define _KERNEL_KPROBES_REQUEST_H

#include <linux/kprobes.h>

struct kprobe_point;
struct module;

/**
 * struct probe_request - one probe on its way into a point
 * @kp: the user's probe, not written to before all checks have passed
 * @index: its index in the caller's array
 * @addr: the address to probe
 * @order: where it is sorted: @addr, or what is behind a landing pad there
 * @on_entry: @addr is the entry of a function
 * @on_ftrace: @addr is an ftrace site
 * @module: module that owns the text, held until the text is armed
 * @point: the point that @kp joins
 * @saved: the caller's values of the fields of @kp that joining writes
 */
struct probe_request {
	struct kprobe *kp;
	unsigned int index;
	unsigned long addr;
	unsigned long order;
	bool on_entry;
	bool on_ftrace;
	struct module *module;
	struct kprobe_point *point;
	struct {
		kprobe_opcode_t *addr;
		kprobe_opcode_t opcode;
		unsigned long nmissed;
		u32 flags;
	} saved;
};

int kprobe_requests_join(struct probe_request *reqs, unsigned int nr, struct list_head *work);
bool kprobe_requests_any_joined(struct probe_request *reqs, unsigned int nr);
void kprobe_requests_remove(struct probe_request *reqs, unsigned int nr, struct list_head *work);
void kprobe_requests_release_modules(struct probe_request *reqs, unsigned int nr);
void kprobe_requests_restore(struct probe_request *reqs, unsigned int nr);
bool kprobe_requests_may_miss_post(struct probe_request *reqs, unsigned int nr);

#endif /* _KERNEL_KPROBES_REQUEST_H */
