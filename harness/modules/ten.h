/* SPDX-License-Identifier: GPL-2.0-only */
/* Making many functions that differ by a number. */
#ifndef _KP_TEN_H
#define _KP_TEN_H

/* Expand @m with each number that is @n and one more digit, and with the other arguments. */
#define TEN(m, n, ...)								\
	m(n##0, ##__VA_ARGS__) m(n##1, ##__VA_ARGS__) m(n##2, ##__VA_ARGS__)	\
	m(n##3, ##__VA_ARGS__) m(n##4, ##__VA_ARGS__) m(n##5, ##__VA_ARGS__)	\
	m(n##6, ##__VA_ARGS__) m(n##7, ##__VA_ARGS__) m(n##8, ##__VA_ARGS__)	\
	m(n##9, ##__VA_ARGS__)

#endif /* _KP_TEN_H */
