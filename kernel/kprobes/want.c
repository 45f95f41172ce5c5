// SPDX-License-Identifier: GPL-2.0-only
/* Which text a point needs: its members, its detour and the global switches decide. */
#include <linux/kprobes.h>

#include "internal.h"

/* Debugfs "enabled" is 0. */
static bool all_off;

/* Jumps can be written, and the sysctl debug.kprobes-optimization allows them. */
static bool may_jump;

bool kprobe_points_all_off(void)
{
	return READ_ONCE(all_off);
}

/* The caller must reconcile all points. */
void kprobe_want_all_off(bool off)
{
	lockdep_assert_held(&kprobe_mutex);

	WRITE_ONCE(all_off, off);
}

/* The caller must reconcile all points. */
void kprobe_want_jumps(bool may)
{
	lockdep_assert_held(&kprobe_mutex);

	may_jump = may;
}

/* Only some of the kernel's own ports have a probe on the trampoline. */
int __weak arch_trampoline_kprobe(struct kprobe *p)
{
	return 0;
}

static bool point_ignores_all_off(struct kprobe_point *point)
{
	/* Some ports read the probed text here, so do not ask when that is gone. */
	return IS_ENABLED(CONFIG_KRETPROBES) && point->state != POINT_GONE &&
	       arch_trampoline_kprobe(&point->op.kp);
}

/* A jump planned before the first post_handler came leads to code that calls none. */
static bool point_misses_post(struct kprobe_point *point)
{
	return point_in_jump_state(point) ? !point->calls_post : !point_detour_calls_post(point);
}

/* Does the point need anything but the original text at its address? */
bool kprobe_point_wants_text(struct kprobe_point *point)
{
	return point->enabled && (!all_off || point_ignores_all_off(point));
}

/* Does the point need a jump, if it has a detour and no neighbour is in the way? */
bool kprobe_point_wants_jump(struct kprobe_point *point)
{
	return may_jump && kprobe_point_wants_text(point) &&
	       !(point->post && point_misses_post(point));
}
