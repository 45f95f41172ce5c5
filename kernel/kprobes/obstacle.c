// SPDX-License-Identifier: GPL-2.0-only
/* Why a probe has no detour, in words. */
#include <linux/array_size.h>
#include <linux/build_bug.h>
#include <linux/kprobes_port.h>
#include <linux/sprintf.h>

static const char * const obstacles[] = {
	[DETOUR_POSSIBLE]	= "-",
	[DETOUR_NO_FUNCTION]	= "not in a function",
	[DETOUR_UNDECODABLE]	= "function cannot be decoded",
	[DETOUR_TOO_SHORT]	= "too short",
	[DETOUR_NOT_RELOCATABLE] = "not relocatable",
	[DETOUR_RESERVED]	= "rewritten by others",
	[DETOUR_JUMP_INTO]	= "jump into the region",
	[DETOUR_INDIRECT_JUMP]	= "indirect jump",
	[DETOUR_RETURN_INTO]	= "call inside the region",
	[DETOUR_FAULT_INSIDE]	= "may sleep inside the region",
	[DETOUR_PREEMPTED]	= "preempted anywhere",
	[DETOUR_BACKWARDS]	= "direction flag set",
	[DETOUR_LANDING_PAD]	= "landing pad",
	[DETOUR_NO_REGISTER]	= "no register is free",
	[DETOUR_TOO_LONG]	= "copies too long",
	[DETOUR_OUT_OF_REACH]	= "out of reach",
	[DETOUR_NO_ROOM]	= "no memory in reach",
};

static_assert(ARRAY_SIZE(obstacles) == NR_DETOUR_OBSTACLES);

/**
 * kprobe_explain_obstacle() - describe an obstacle to a detour
 * @why: the obstacle
 * @at: its distance in bytes from the start of the jump, 0 if it has no particular place
 * @buf: buffer for the text
 * @size: bytes in @buf
 *
 * Context: Any.
 * Return: bytes written.
 */
int kprobe_explain_obstacle(enum detour_obstacle why, unsigned int at, char *buf, size_t size)
{
	if (!at)
		return scnprintf(buf, size, "%s", obstacles[why]);

	return scnprintf(buf, size, "%s at +%u", obstacles[why], at);
}
