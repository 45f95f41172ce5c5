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
 * @kp: the user's probe, untouched until all that can fail has passed
 * @index: its place in the array that the caller has given
 * @addr: where it goes
 * @on_entry: @addr is the entry of a function
 * @on_ftrace: @addr is an ftrace site
 * @module: module that owns the text, held until the text is armed
 * @point: the point that @kp joins
 * @jumps: what @point had counted when @kp was postponed
 * @saved: what joining writes to @kp, as the caller handed it in
 */
struct probe_request {
	struct kprobe *kp;
	unsigned int index;
	unsigned long addr;
	bool on_entry;
	bool on_ftrace;
	struct module *module;
	struct kprobe_point *point;
	unsigned int jumps;
	struct {
		kprobe_opcode_t *addr;
		kprobe_opcode_t opcode;
		unsigned long nmissed;
		u32 flags;
	} saved;
};

#endif /* _KERNEL_KPROBES_REQUEST_H */
