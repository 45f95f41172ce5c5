// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is done before any other task runs: find the spots of each function, and count the hits
 * of each probe with each input while nothing changes. Also the comparison of text at the end.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>

#include "torture.h"

/* A module can get the length of a symbol only from its printed form. */
static unsigned int function_length(target_fn fn)
{
	char text[KSYM_SYMBOL_LEN], *slash;
	unsigned int len;

	sprint_symbol(text, (unsigned long)fn);
	slash = strrchr(text, '/');
	return slash && sscanf(slash, "/%x", &len) == 1 ? len : 0;
}

static struct probe *add_probe(struct target *target, void *addr, enum kind kind,
			       struct torture_random_state *rnd)
{
	struct probe *probe = &target->probes[target->nr_probes++];

	probe->target = target;
	probe->addr = addr;
	probe->kind = kind;
	/* In an emulator that takes long. Among dense probes it would leave time for few hits. */
	probe->linger = !dense && one_in(rnd, 4) ? pick(rnd, 4) : 0;
	probe->skip = pick(rnd, 2 * NR_INPUTS);
	nr_probes++;
	return probe;
}

/* Add two probes at @addr, if it can be probed; the first one remains registered for now. */
static bool add_spot(struct target *target, void *addr, struct torture_random_state *rnd)
{
	struct probe *last = target->nr_probes ? &probes[nr_probes - 1] : NULL;
	struct probe *probe;

	/* Where the entry is a landing pad, the spot is behind it. */
	if (target->nr_probes == 2 * max_spots() ||
	    (last && addr <= last->addr))
		return false;
	probe = add_probe(target, addr, PLAIN, rnd);
	probe_fill(probe, false);
	if (register_kprobe(&probe->rp.kp)) {
		probe_was_refused(probe);
		memset(probe, 0, sizeof(*probe));
		target->nr_probes--;
		nr_probes--;
		return false;
	}
	probe_came(probe);
	probe->addr = probe->rp.kp.addr;
	add_probe(target, probe->addr, POST, rnd);
	return true;
}

/* Add probes that come and go among others of the same address. */
static void add_more(struct target *target, struct torture_random_state *rnd)
{
	void *addr = target->probes[pick(rnd, target->nr_probes)].addr;
	unsigned int i;

	for (i = 0; i < NR_MORE; i++)
		add_probe(target, addr, PLAIN, rnd);
}

/* Find the entry, and all spots or a few adjacent ones from a random offset on. */
static void find_spots(struct target *target, struct torture_random_state *rnd)
{
	u8 *text = (u8 *)target->function->fn;
	unsigned int i;
	bool has_entry;

	target->probes = &probes[nr_probes];
	target->len = min(function_length(target->function->fn), MAX_TEXT);
	memcpy(target->text, text, target->len);
	/* The entry has no spot if it is a static call. */
	has_entry = add_spot(target, text, rnd);
	for (i = dense ? 1 : pick(rnd, max(target->len / 2, 1U)); i < target->len; i++)
		add_spot(target, text + i, rnd);
	if (!dense && target->nr_probes)
		add_more(target, rnd);
	for (i = 0; has_entry && i < NR_RETURNS; i++)
		add_probe(target, text, RETURN, rnd);
}

/* --- counting --- */

static void count_call(struct target *target, unsigned long n, enum kind kind, bool flipped)
{
	unsigned int i;

	call_target(&callers[0], target, n);
	for (i = 0; i < target->nr_probes; i++) {
		struct probe *probe = &target->probes[i];
		struct tally seen = tally_since(&callers[0], target, i);

		if (probe->kind != kind)
			continue;
		if (flipped && seen.hits != probe->wanted[n].hits)
			target->varies = true;
		probe->wanted[n] = seen;
	}
}

static void count_all(enum kind kind, bool flipped)
{
	struct target *target;
	unsigned long n;

	targets_flip(flipped, flipped);
	for (target = targets; target < targets + nr_targets; target++) {
		for (n = 0; n < NR_INPUTS; n++)
			count_call(target, n, kind, flipped);
	}
	targets_flip(false, false);
}

static struct kprobe *kps[ALL_PROBES];

static unsigned int list_probes(enum kind kind, enum state state)
{
	unsigned int i, nr = 0;

	for (i = 0; i < nr_probes; i++) {
		if (probes[i].kind == kind && atomic_read(&probes[i].state) == state)
			kps[nr++] = &probes[i].rp.kp;
	}
	return nr;
}

/* In one batch: on some architectures each single change stops the machine, which is slow. */
static int count_kind(enum kind kind)
{
	unsigned int nr;
	int err;

	/* Those that tell whether an address can be probed are still registered. */
	if (kind == PLAIN)
		unregister_batch(kps, list_probes(kind, IN), false);
	nr = list_probes(kind, OUT);
	err = register_batch(kps, nr, false, NULL);
	if (err)
		return err;
	count_all(kind, false);
	count_all(kind, true);
	unregister_batch(kps, nr, false);
	return 0;
}

/* Tell from the hits at its entry how often the handlers of a return probe must run. */
static void expect_returns(struct probe *probe)
{
	unsigned int entries;
	unsigned long n;

	for (n = 0; n < NR_INPUTS; n++) {
		entries = probe->target->probes[0].wanted[n].hits;
		probe->wanted[n].hits = entries;
		/* A recursive function calls itself with n - 1, and so on. */
		probe->wanted[n].posts = entries - (probe->skip <= n && probe->skip + entries > n);
	}
}

static int count_alone(void)
{
	unsigned int i;
	int err;

	WRITE_ONCE(callers[0].task, current);
	err = count_kind(PLAIN) ?: count_kind(POST);
	WRITE_ONCE(callers[0].task, NULL);
	/* Only hits while probes change are reported. */
	atomic_long_set(&counts[JUMPS], 0);
	atomic_long_set(&counts[TRAPS], 0);
	for (i = 0; i < nr_probes; i++) {
		if (probes[i].kind == RETURN)
			expect_returns(&probes[i]);
	}
	return err;
}

int prepare_targets(void)
{
	const struct target_function *functions = dense ? dense_functions : many_functions;
	struct torture_random_state rnd;
	unsigned long n;
	unsigned int i;

	random_begin(&rnd, seed);
	for (i = 0; i < nr_targets; i++) {
		struct target *target = &targets[i];

		target->function = &functions[i];
		for (n = 0; n < NR_INPUTS; n++)
			target->results[n] = target->function->fn(n, callers[0].mem);
		find_spots(target, &rnd);
	}
	return count_alone();
}

/* --- the end --- */

static void check_text(const struct target *target)
{
	const u8 *now = (u8 *)target->function->fn;
	unsigned int i;

	for (i = 0; i < target->len; i++) {
		if (now[i] != target->text[i])
			complain(BAD_TEXT, "%s+%#x is %02x, not %02x", target->function->name, i,
				 now[i], target->text[i]);
	}
}

void check_texts(void)
{
	unsigned int i;

	for (i = 0; i < nr_targets; i++)
		check_text(&targets[i]);
}
