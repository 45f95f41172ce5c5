/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KP_TORTURE_TARGETS_H
#define _KP_TORTURE_TARGETS_H

#include <linux/types.h>

#include "../kp_toggle/target_function.h"

/* Let the functions take other paths, with the same results. */
void targets_flip(bool key, bool call);

#endif
