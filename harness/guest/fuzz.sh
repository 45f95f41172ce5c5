# SPDX-License-Identifier: GPL-2.0-only
# Random lines, right and wrong, for kprobe_events. They must leave nothing behind, in the
# text of the kernel or elsewhere. Arguments: seconds, and a seed.
. /kp/lib

SECONDS_="${1:-10}" SEED="${2:-1}"
[ -e $EVENTS ] || skip_all "events # not in this kernel"
count()		{ sed -n "s/.*$1 \([0-9]*\).*/\1/p" /tmp/fuzz; }

load_text
# A first run, so that text that the kernel itself changes at first use has changed.
fuzz_events 1 0 >/dev/null
cat $TEXT >/tmp/before
check "the fuzzer comes to its end, seed $SEED" sh -c "fuzz_events $SECONDS_ $SEED >/tmp/fuzz"
tell "  " </tmp/fuzz
check "some lines are taken" [ "$(count taken)" -gt 10 ]
check "most are not" [ "$(count written)" -gt "$(($(count taken) * 2))" ]
check "some events are hit" [ "$(count hits)" -gt 0 ]
check "no event is left" [ -z "$(cat $EVENTS)" ]
check "no probe is left" no_probes
check_text
: >$TRACE/trace
: >$TRACE/error_log
