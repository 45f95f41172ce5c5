#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# All CPUs call functions while probes at each of their instructions change, and while jumps,
# and all probes, are switched on and off. Arguments: seconds, and a seed.
. "$(dirname "$0")/racing.sh"

begin dense=1 "$@"

ours()		{ grep ' kprobes_torture:' $KPROBES/points | tee -a $TMP/looked_at; }

# Check the effect of each write at once.
switch_knob()
{
	echo 0 >$KNOB
	ours | grep -E ' (optimizing|optimized) ' >>$TMP/knob_bad
	a_while 200
	echo 1 >$KNOB
	jump_or_not $1
	a_while 1500
}

switch_all()
{
	all 0
	ours | grep -vE ' (disarmed|gone) ' >>$TMP/all_bad
	a_while 200
	all 1
	jump_or_not $1
	a_while 1500
}

store()		# makes the kernel store to memory that the process has not touched yet
{
	dd if=/sys/kernel/debug/kprobes_torture of=/dev/null bs=512k count=1 2>/dev/null
	a_while 100
}

: >$TMP/looked_at
: >$TMP/knob_bad
: >$TMP/all_bad
while_running switch_knob &
[ -e $KNOB ] || { kill $!; skip "jumps: not in this kernel"; }
while_running switch_all &
while_running store &
wait
ours | awk '{ $1 = $2 = $4 = $5 = ""; print }' | sort | uniq -c | tell "at the end: "

end
[ ! -e $KNOB ] || check "no jump is left when they are forbidden" [ ! -s $TMP/knob_bad ]
check "no probe is armed when all are off" [ ! -s $TMP/all_bad ]
check "there were probes to look at" [ "$(wc -l <$TMP/looked_at)" -gt 20 ]
cat $TMP/knob_bad $TMP/all_bad | head -n 10 | tell "out: "
