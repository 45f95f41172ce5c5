/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KP_TARGET_H
#define _KP_TARGET_H

#include <linux/compiler.h>

/* A function to probe, which returns @k more than its argument. The rest are its attributes. */
#define DEFINE_TARGET(name, type, k, ...)		\
static noinline __VA_ARGS__ int name(type n)		\
{							\
	barrier();					\
	return n + (k);					\
}

#endif /* _KP_TARGET_H */
