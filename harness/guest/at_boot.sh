# SPDX-License-Identifier: GPL-2.0-only
# Failure C9: events from the kernel's command line.
. /kp/lib

grep -q kprobe_event= /proc/cmdline && [ -e $EVENTS ] || skip_all "events: none were asked for"

check "all events are made" [ "$(grep -c 'kprobes/at_boot' $EVENTS)" = 4 ]
check "probes stand in the list" [ "$(cat $KPROBES/list | grep -c vfs_read)" = 2 ]
check "none is disabled" not grep -F '[DISABLED]' $KPROBES/list
echo >$TRACE/trace
read -r line </proc/version
/bin/true
# Stop tracing first, because reading the trace is traced, too.
echo 0 >$TRACE/tracing_on
for event in at_boot at_boot_return at_boot_fork; do
	check "$event is hit" grep -q " $event: " $TRACE/trace
done
# It runs after probes have left the text that is only there at boot.
check "init text is left in time" awk '$1 == "at_boot_end" { hits = $2 } END { exit hits != 0 }' \
	$TRACE/kprobe_profile
drop_events kprobes
echo 1 >$TRACE/tracing_on
check "no probe is left" no_probes
