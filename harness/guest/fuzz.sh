# SPDX-License-Identifier: GPL-2.0-only
# Random lines, right and wrong, for kprobe_events. They must leave nothing behind, in the
# text of the kernel or elsewhere. Arguments: seconds, and a seed.
. /kp/lib

SECONDS_="${1:-10}" SEED="${2:-1}"
EVENTS=$TRACE/kprobe_events
[ -e $EVENTS ] || { skip "events # not in this kernel"; exit; }
count()		{ sed -n "s/.*$1 \([0-9]*\).*/\1/p" /tmp/fuzz; }

insmod /lib/kp/kp_text.ko start="$(symbol _stext)" end="$(symbol _etext)" || exit 1
# A first run, so that text that the kernel itself changes at first use has changed.
fuzz_events 1 0 >/dev/null
cat /sys/kernel/debug/kp_text >/tmp/before
check "the fuzzer comes to its end, seed $SEED" sh -c "fuzz_events $SECONDS_ $SEED >/tmp/fuzz"
tell "  " </tmp/fuzz
check "some lines are taken" [ "$(count taken)" -gt 10 ]
check "most are not" [ "$(count written)" -gt "$(($(count taken) * 2))" ]
check "some events are hit" [ "$(count hits)" -gt 0 ]
check "no event is left" [ -z "$(cat $EVENTS)" ]
check "no probe is left" [ -z "$(cat $KPROBES/list)" ]
cat /sys/kernel/debug/kp_text >/tmp/after
check "text is what it was" cmp -s /tmp/before /tmp/after
: >$TRACE/trace
: >$TRACE/error_log
rmmod kp_text
