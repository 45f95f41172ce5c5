#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The machine sleeps and wakes, and returns from its image on a disk, with probes on the entries of
# all functions, then return probes, then probes on each instruction of what it runs on the way, by
# breakpoint and by jump: all must be hit after that as before, and the text be the same when they
# are gone. Argument: a disk for the image, whose contents are lost; without it the machine only
# sleeps. Only by name: a machine with other drivers than a guest's may not come back.
. "$(dirname "$0")/lib.sh"

need_new "the file points"
need /sys/power/state "CONFIG_SUSPEND"
. $HERE/sweep_lib.sh
DISK=$1
ALARM=/sys/class/rtc/rtc0/wakealarm
# Seconds until it is woken: all hits on the way to sleep take their time.
WAKE=20

works()		{ workload 1 1 && workload 0 2; }

# To RAM, where the firmware can, which only an alarm of its clock ends.
to_ram()
{
	grep -q deep /sys/power/mem_sleep && echo deep >/sys/power/mem_sleep || return
	echo 0 >$ALARM && echo +$WAKE >$ALARM && echo mem >/sys/power/state
}

sleeps()	# HOW...
{
	local before=$(nr_sleeps)
	"$@" && [ "$(nr_sleeps)" = $((before + 1)) ]
}

# The image is written, and read again by the same kernel, which becomes what it was.
to_disk()	{ echo test_resume >/sys/power/disk && echo disk >/sys/power/state; }

hit()		{ more tell && said hits && hits_are 1000; }

# All but the number of missed hits.
states()	{ points | awk '{ $5 = ""; print }'; }
unchanged()	{ states >$TMP/states_after; diff $TMP/states $TMP/states_after; }

all_ways()	# NAME
{
	states >$TMP/states
	check "$1: the guest works" works
	check "$1: it sleeps with idle CPUs" sleeps to_idle $WAKE
	if grep -q deep /sys/power/mem_sleep && [ -e $ALARM ]; then
		check "$1: it sleeps with its state in RAM" sleeps to_ram
	else
		skip "$1: it sleeps with its state in RAM: not by this firmware"
	fi
	[ ! "$DISK" ] || check "$1: it returns from a disk" to_disk
	hit
	check "$1: the guest works after that" works
	check "$1: probes are hit after that" hit
	check "$1: probes are what they were" unchanged
}

if [ "$DISK" ] && ! grep -q disk /sys/power/state; then
	skip "it returns from a disk: no CONFIG_HIBERNATION"
	DISK=
fi
if [ "$DISK" ]; then
	mkswap "$DISK" && swapon "$DISK" || exit 1
	cat "/sys/class/block/${DISK##*/}/dev" >/sys/power/resume
fi >/dev/null
load_text
cat $TEXT >$TMP/before
knob 0
load what=entry
all 1
all_ways "entries"
more ret
all_ways "returns"
rmmod kp_sweep
sweep_of 'suspend|resume|hibernat|swsusp|restore|processor_state|cpuhp|cpu_(up|down|die)|syscore'
all_ways "on the way"
if [ -e $KNOB ]; then
	knob 1
	check "probes become jumps" soon settled
	say "jumps $(cat $SWEEP/jumps)"
	all_ways "on the way, jumps"
fi
rmmod kp_sweep
check_text
check "no probe is left" no_probes
