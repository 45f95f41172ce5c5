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

begin dense=0 "$@"

CPU3=/sys/devices/system/cpu/cpu3/online

switch_knob()
{
	echo 0 >$KNOB
	a_while 200
	echo 1 >$KNOB
	jump_or_not $1
	a_while 2000
}

switch_all()
{
	all 0
	a_while 100
	all 1
	jump_or_not $1
	a_while 2000
}

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

move_cpu()
{
	local cpu
	random 3
	cpu=/sys/devices/system/cpu/cpu$((1 + NEXT))/online
	echo 0 >$cpu || echo "$cpu stays" >>$TMP/cpu_bad
	a_while 300
	echo 1 >$cpu || echo "$cpu stays away" >>$TMP/cpu_bad
	a_while 1000
	echo >>$TMP/cpus
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

for name in preys prey_bad cpus cpu_bad traced switches; do : >$TMP/$name; done
for what in switch_knob switch_all switch_tracer read_files load_prey move_cpu; do
	case $what in
	switch_knob)
		[ -e $KNOB ] || { skip "jumps: not in this kernel"; continue; }
		;;
	switch_tracer)
		# Only on RISC-V do a probe and ftrace write to the same address.
		[ $ARCH = riscv64 ] || continue
		echo '*:mod:kp_torture' >$TRACE/set_ftrace_filter ||
			{ skip "a tracer comes and goes: this kernel has none"; continue; }
		;;
	move_cpu)
		# There the firmware waits for all CPUs to obey a fence, also for one that has
		# just left.
		[ $ARCH != riscv64 ] ||
			{ skip "CPUs leave: the firmware hangs when they do"; continue; }
		[ -e $CPU3 ] || { skip "CPUs leave: they cannot in this kernel"; continue; }
		;;
	esac
	while_running $what &
done
wait
[ ! -e $TRACE/set_ftrace_filter ] || : >$TRACE/set_ftrace_filter

end
came_and_went()	{ [ -s "$1" ] && [ ! -s "$2" ]; }	# FILE FILE-OF-FAILURES

say "modules $(wc -l <$TMP/preys) CPUs $(wc -l <$TMP/cpus) tracers $(wc -l <$TMP/switches)"
check "the module came and went" came_and_went $TMP/preys $TMP/prey_bad
[ ! -s $TMP/switches ] || check "functions were traced" [ -s $TMP/traced ]
[ ! -e $CPU3 ] || [ $ARCH = riscv64 ] ||
	check "CPUs left and came back" came_and_went $TMP/cpus $TMP/cpu_bad
cat $TMP/prey_bad $TMP/cpu_bad | head -n 10 | tell "out: "
