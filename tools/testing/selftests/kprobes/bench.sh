#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Measures what probes cost, and prints the table of the module kprobes_benchmark. Arguments:
# costs and the numbers of probes of its last rounds, or attach, or calls and a number of probes;
# without them it does all. It needs no other kprobes than the kernel's: see bench_lib.sh.
. "$(dirname "$0")/lib.sh"
. "$HERE/bench_lib.sh"

# COMMAND...: of the module. In an emulator that counts instructions each time is like the first.
often()		{ local i; for i in $TIMES; do act "$@"; done; }
expedite()	{ echo "$1" >/sys/kernel/rcu_expedited; }	# 0 or 1

costs()		# NR...
{
	local nr before
	# This comes first, before other measurements leave free memory in caches, and without
	# jumps, for which a worker may or may not have prepared detours yet.
	knob 0
	before=$(memory)
	act "returns 500"
	figure bytes-return $((($(memory) - before) / 500))
	act unregister hits
	knob 1
	act_on_jumps jumps
	act loops one sites
	# Idle time must not be measured.
	expedite 1
	act_on_jumps "change 1"
	knob 0
	act "change 0" "disabled 100" unregister
	before=$(memory)
	act "each 1000" unregister
	expedite 0
	sleep 1
	figure bytes-left $((($(memory) - before) / 1000))

	often "register 1000" unregister "returns 10000" unregister

	knob 1
	act "each 10000"
	act_on_jumps jumped
	act unregister
	knob 0
	act_on_jumps "each 10000" since
	knob 1
	act_on_jumps switched jumped unregister

	act watch "each 10000"
	act_on_jumps wait
	act unregister watched
	knob 0

	act oldest
	for nr; do
		knob 1
		before=$(memory)
		act "register $nr"
		figure bytes-$nr $((($(memory) - before) / nr))
		act_on_jumps jumped
		knob 0
		act oldest
		# Finish all earlier work first, and do not measure idle time.
		sleep 1
		expedite 1
		act leave
		expedite 0
		knob 1
		act_on_jumps wait
		act unregister
		knob 0
	done
	act oldest
	knob 1
}

attach()	# probes to all functions of the kernel
{
	knob 0
	act attach
	knob 1
}

# NR: how often other CPUs are called when so many probes come and go at once
calls_for()
{
	local verb before
	knob 0
	for verb in register unregister; do
		act count
		before=$(calls)
		act "$verb $1"
		figure ipis-$verb $(($(calls) - before))
		act counted
	done
	knob 1
}

load_benchmark
TIMES="1 2 3 4 5"
! grep -q instructions $TABLE || TIMES=1
case "$1" in
costs|attach|calls_for) "$@" ;;
*) costs 9 999 9999; attach; calls_for 100 ;;
esac
tell <$TABLE
check "it measured" [ "$(wc -l <$TABLE)" -gt 1 ]
rmmod kprobes_benchmark
