#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Probes of all kinds change in 200 functions that all CPUs call, and in a module that is
# loaded and unloaded, while jumps and all probes are switched on and off and CPUs go
# offline and online. Arguments: seconds, and a seed.
#
# Failures C1, C2, C4 to C6, C8, C15 to C17, X9, M1, M2, M11: here they appear as a wrong
# number of hits, a late handler, a wrong result, a warning of the kernel or a guest that
# hangs.
. "$(dirname "$0")/racing.sh"

CPU3=/sys/devices/system/cpu/cpu3/online
HOTPLUG=50		# jiffies between two CPUs
if [ $ARCH = riscv64 ]; then
	# There the firmware waits for all CPUs to obey a fence, also for one that has just left.
	skip "CPUs leave: the firmware hangs when they do"
	HOTPLUG=0
elif [ ! -e $CPU3 ]; then
	skip "CPUs leave: they cannot in this kernel"
	HOTPLUG=0
fi

begin "dense=0 onoff_interval=$HOTPLUG" "$@"

read_files()
{
	cat $KPROBES/list $KPROBES/points >/dev/null
	a_while 500
}

load_prey()
{
	modprobe kp_victim calls=3 || echo "kp_victim does not load" >>$TMP/prey_bad
	a_while 100
	# The module is in use while a probe is being registered in it.
	soon rmmod kp_victim || echo "kp_victim does not go" >>$TMP/prey_bad
	a_while 200
	echo >>$TMP/preys
}

# Half of the functions have an ftrace site.
switch_tracer()
{
	tracer function
	# A slow machine may do only one round, and may not have it on in time.
	if running; then
		echo >>$TMP/switches
		a_while 500
		until [ -s $TMP/traced ] ||
			head -n 100 $TRACE/trace | grep "kp_.* <-" >$TMP/traced ||
			! running; do
			a_while 500
		done
	fi
	tracer nop
	a_while 1000
}

for name in preys prey_bad traced switches; do : >$TMP/$name; done
for what in switch_knob switch_all switch_tracer read_files load_prey; do
	case $what in
	switch_knob)
		[ -e $KNOB ] || { skip "jumps: not in this kernel"; continue; }
		;;
	switch_tracer)
		# Only on RISC-V do a probe and ftrace write to the same address.
		[ $ARCH = riscv64 ] || continue
		echo '*:mod:kprobes_torture' >$TRACE/set_ftrace_filter ||
			{ skip "a tracer comes and goes: this kernel has none"; continue; }
		;;
	esac
	while_running $what &
done
wait
[ ! -e $TRACE/set_ftrace_filter ] || : >$TRACE/set_ftrace_filter

end
came_and_went()	{ [ -s "$1" ] && [ ! -s "$2" ]; }	# FILE FILE-OF-FAILURES

say "modules $(wc -l <$TMP/preys) tracers $(wc -l <$TMP/switches)"
check "the module came and went" came_and_went $TMP/preys $TMP/prey_bad
# A slow machine may be over before the only round has traced anything.
[ "$(wc -l <$TMP/switches)" -lt 2 ] || check "functions were traced" [ -s $TMP/traced ]
came_back()	# all CPUs that should come and leave did, some of each
{
	grep -qE ' onoff: ([1-9][0-9]*)/\1:([1-9][0-9]*)/\2 ' $TMP/told
}
[ $HOTPLUG = 0 ] || check "CPUs left and came back" came_back
head -n 10 $TMP/prey_bad | tell "out: "
