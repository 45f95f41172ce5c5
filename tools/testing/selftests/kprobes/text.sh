#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each page of the kernel's text must be the same after hundreds of probes as before.
. "$(dirname "$0")/lib.sh"

need $EVENTS CONFIG_KPROBE_EVENTS
load_text

# Functions from all over the text. With KASAN, switching each on takes long.
COUNT=400
grep -q ' kasan_report$' /proc/kallsyms && COUNT=100
awk '$2 ~ /[tT]/ && NF == 3 { print $3 }' /proc/kallsyms | grep -E '^[a-z][a-z0-9_]*$' |
	sort -u | awk 'NR % 29 == 0' | head -n $COUNT >$TMP/symbols

make_events()	# prints how many the kernel accepted
{
	local n=0
	while read -r name; do
		n=$((n + 1))
		echo "p:kp/e$n $name" 2>/dev/null >>$EVENTS
		[ $((n % 4)) -ne 0 ] || echo "r:kp/r$n $name" 2>/dev/null >>$EVENTS
	done <$TMP/symbols
	grep -c . $EVENTS
}

# Once without a check, so that text that the kernel itself changes at first use has changed.
echo "p:kp/warm vfs_read" >$EVENTS
echo 1 >$TRACE/events/kp/enable
drop_events
cat $TEXT >$TMP/before
made=$(make_events)
check "many events are made" [ "$made" -ge $((COUNT / 2)) ]
check "probes stand in the list" [ "$(cat $KPROBES/list | grep -c .)" -ge "$made" ]
cat $TEXT >$TMP/disabled
check "text is untouched while they are off" cmp -s $TMP/before $TMP/disabled
check "they are switched on" put 1 $TRACE/events/kp/enable
cat $TEXT >$TMP/during
check "text differs while they are on" not cmp -s $TMP/before $TMP/during
for i in 1 2 3; do
	ls -lR /proc/self >/dev/null 2>&1
done
# Stop tracing first: reading the trace may be traced as well, and would never end.
echo 0 >$TRACE/tracing_on
check "they are hit" [ "$(grep -vc '^#' $TRACE/trace)" -gt 0 ]
check "they are switched off" put 0 $TRACE/events/kp/enable
: >$EVENTS
: >$TRACE/trace
echo 1 >$TRACE/tracing_on
check "list is empty" no_probes
check_text
