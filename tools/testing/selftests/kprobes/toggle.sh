#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# All CPUs call functions while probes at each of their instructions change, and while jumps,
# and all probes, are switched on and off. Arguments: seconds, and a seed.
. "$(dirname "$0")/racing.sh"

begin dense=1 "$@"

store()		# makes the kernel store to memory that the process has not touched yet
{
	dd if=/sys/kernel/debug/kprobes_torture of=/dev/null bs=512k count=1 2>/dev/null
	a_while 100
}

while_running switch_knob &
[ -e $KNOB ] || { kill $!; skip "jumps: not in this kernel"; }
while_running switch_all &
while_running store &
wait
ours | awk '{ $1 = $2 = $4 = $5 = ""; print }' | sort | uniq -c | tell "at the end: "

end
