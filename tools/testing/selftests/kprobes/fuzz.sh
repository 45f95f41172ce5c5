#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Random lines, right and wrong, for kprobe_events, and random places for "try". They must leave
# nothing behind, in the text of the kernel or elsewhere. Arguments: seconds, and a seed.
. "$(dirname "$0")/lib.sh"

SECONDS_="${1:-10}" SEED="${2:-1}"
need $EVENTS CONFIG_KPROBE_EVENTS

load_text
# A first run, so that text that the kernel itself changes at first use has changed.
fuzz_events 1 0 >/dev/null
cat $TEXT >$TMP/before
check "the fuzzer comes to its end, seed $SEED" sh -c "fuzz_events $SECONDS_ $SEED >$TMP/told"
tell "  " <$TMP/told
check "some lines are taken" [ "$(number taken)" -gt 10 ]
check "most are not" [ "$(number written)" -gt "$(($(number taken) * 2))" ]
check "some events are hit" [ "$(number hits)" -gt 0 ]
check_new "some places are tried" [ "$(number verdicts)" -gt 0 ]
check "no event is left" [ -z "$(cat $EVENTS)" ]
check "no probe is left" no_probes
check_text
: >$TRACE/trace
: >$TRACE/error_log
