// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes in the module kp_victim, which a script loads and unloads meanwhile. The one on its
 * init function exists before that runs, until its text has been freed.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>

#include "../common.h"
#include "torture.h"

#define VICTIM	"kp_victim"

static const struct target_function prey_function = { .name = VICTIM };
static struct target prey = { .function = &prey_function };

/* Change a probe that belongs to one disturber. */
void disturb_prey(struct probe *probe, struct torture_random_state *rnd)
{
	static const char * const symbols[] = {
		VICTIM ":kp_victim_traced", VICTIM ":kp_victim_plain", "kp_victim_at_init",
	};
	int err;

	if (atomic_read(&probe->state) == IN) {
		change_begin(&probe->version);
		unregister_kprobe(&probe->rp.kp);
		probe_went(probe);
		return;
	}
	probe->target = &prey;
	probe->symbol = symbols[pick(rnd, ARRAY_SIZE(symbols))];
	probe->kind = one_in(rnd, 2) ? POST : PLAIN;
	probe_fill(probe, true);
	err = register_kprobe(&probe->rp.kp);
	if (err && err != -ENOENT)
		complain(BAD_ERROR, "%s: %d", probe->symbol, err);
	if (err) {
		probe_was_refused(probe);
	} else {
		probe_came(probe);
		count(PREY);
	}
}

/* --- its init function --- */

static struct version init_all;
static struct kprobe init_probe;

static void prey_is_coming(void)
{
	int err;

	hits = 0;
	init_all = read_version(&all);
	init_probe = (struct kprobe){
		.symbol_name = "kp_victim_at_init", .pre_handler = count_hit,
	};
	err = register_kprobe(&init_probe);
	if (err)
		complain(BAD_ERROR, "%s: %d", init_probe.symbol_name, err);
}

static void prey_has_come(void)
{
	if (!kprobe_gone(&init_probe))
		complain(BAD_ERROR, "a probe in text that was freed is not gone");
	if (hits != init_all.on && !has_changed(&all, &init_all))
		complain(BAD_COUNT, "in __init: %u hits, not %d", hits, init_all.on);
	unregister_kprobe(&init_probe);
}

static int prey_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;

	if (strcmp(mod->name, VICTIM))
		return NOTIFY_DONE;
	if (event == MODULE_STATE_COMING)
		prey_is_coming();
	else if (event == MODULE_STATE_LIVE)
		prey_has_come();
	else if (event == MODULE_STATE_GOING)
		unregister_kprobe(&init_probe);
	return NOTIFY_DONE;
}

struct notifier_block prey_nb = { .notifier_call = prey_event };
