#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A probe on every function entry, a return probe on each, a probe on the instruction behind
# each entry, on thousands of random instructions, and on every instruction of hundreds of
# functions: all armed at once, by breakpoint, by jump, and with a post_handler, while the
# guest works and checks its results. The text must be the same afterwards. Arguments: a seed, and
# the number of these functions if it is not the usual one; or "returns" and a seed, for return
# probes only, which then stay; or "every", for every instruction of the kernel, some functions at a
# time.
#
# Failures C10, M7, M10, M11, X1, X8, R1, R9: a kernel with one of these crashes here, or takes for
# ever.
. "$(dirname "$0")/lib.sh"

need_new "the file points"
. $HERE/sweep_lib.sh
SEED=${1:-1}

# Under the checkers each hit costs a hundredfold, so there are fewer.
STEP=1 COUNT=5000 DENSE=500 ROUNDS=1
MODULE=$(find "/lib/modules/$(uname -r)" -name kp_victim.ko)
grep -qE ' (kasan_report|lock_acquire)$' /proc/kallsyms && STEP=10 COUNT=1000 DENSE=50
[ $STEP = 10 ] && [ $ARCH = riscv64 ] && STEP=50

# What the documentation says cannot be probed, as the kernel words it.
DOCUMENTED='must not be probed|rewritten by|inside an ftrace site|part of a type check'

work()
{
	local first status=0
	workload $ROUNDS "$SEED" $MODULE 2>$TMP/work1 & first=$!
	workload $ROUNDS $((SEED + 1)) 2>$TMP/work2 || status=1
	wait $first || status=1
	return $status
}

# A CPU that comes up runs some functions before it can take a breakpoint. Under the checkers
# torture.sh takes CPUs offline and online instead.
CPU=/sys/devices/system/cpu/cpu1/online
go_and_come()	{ echo 0 >$CPU && echo 1 >$CPU; }

works()		# NAME
{
	check "$1: the guest works" work
	cat $TMP/work1 $TMP/work2 | tell "out: "
	[ ! -e $CPU ] || [ $STEP != 1 ] || check "$1: a CPU goes and comes" go_and_come
}

# The functions that put CPUs to sleep, and those that run while RCU considers CPUs idle. The
# time must be enough for all hits on the way.
sleep_and_wake()	{ to_idle 30 && [ "$(nr_sleeps)" = 1 ]; }

# Only of the small kernels that are configured for this: a distribution's has more ways to sleep.
sleeps()	# NAME
{
	[ ! -e /sys/power/state ] || grep -q disk /sys/power/state ||
		check "$1: the machine sleeps and wakes" sleep_and_wake
}

# Where branches need landing pads, entries are such and keep their breakpoints.
landing_pads()
{
	[ $((2 * $(grep -c 'landing pad' $KPROBES/points))) -gt "$(wc -l <$KPROBES/points)" ]
}

optimized()
{
	local now
	soon settled || return
	now=$(cat $SWEEP/jumps)
	say "jumps $now"
	[ "$now" -gt $((COUNT / 100)) ] || landing_pads
}

# Each refusal follows its reason in the log.
refusals()	# <log: lines of: errno, kind of probe, function, reason
{
	awk 'BEGIN { why = "no reason given" }
		/kprobes: / { sub(/.*kprobes: /, ""); sub(/^[^ ]+: /, ""); why = $0 }
		/kp_sweep: refused/ {
			sub(/.*refused /, "")
			print $0, why
			why = "no reason given"
		}'
}

# <what refusals() printed
by_reason()	{ awk '{ $3 = ""; print }' | sort | uniq -c | sort -rn; }

told()		# NAME: what kp_sweep has said since the last time, and what was refused
{
	said "$1"
	refusals <$TMP/log >$TMP/refusals
	by_reason <$TMP/refusals | tell "$1: refused "
}

# Nine tenths of all, and nearly all that no documented rule excludes, if the kernel gives reasons.
accepted()
{
	[ $((10 * $(number accepted))) -gt $((9 * $(number tried))) ] || return
	[ -e $REASONS ] || return 0
	if [ "$(wc -l <$TMP/refusals)" -lt $(($(number tried) - $(number accepted))) ]; then
		say "not all reasons are in the log: boot with log_buf_len=4M to have them checked"
		return 0
	fi
	awk -v rules="$DOCUMENTED" -v tried="$(number tried)" -v accepted="$(number accepted)" '
		BEGIN { tried += 0 }
		$0 ~ rules { tried-- }
		END { exit !(accepted > 0 && accepted >= 0.99 * tried) }' $TMP/refusals
}

with_jumps()	# NAME
{
	knob 1
	check "$1: probes become jumps" optimized
	works "$1, jumps"
	knob 0
}

by_both()	# NAME: with breakpoints and then with jumps
{
	works "$1"
	[ ! -e $KNOB ] || with_jumps "$1"
}

hits()		# NAME [AT-LEAST]: since the last time
{
	more tell
	told "$1"
	check "$1: they were hit" hits_are "${2:-1000}"
}

# Arm all that kp_sweep has registered while probes were switched off. Later a second probe at
# each address has a post_handler, which makes ftrace call another ftrace_ops as well.
armed()		# NAME WORK: by_both or works
{
	check "$1: probes are armed" all 1
	"$2" "$1"
	hits "$1"
}

# On RISC-V neighbours prevent one another's jumps, and post_handlers by jump are not swept.
post_by_jump()	{ [ -e $KNOB ] && [ $ARCH != riscv64 ]; }

# With "jumps", repeat this after all probes that can have a jump have one.
armed_post()	# NAME [jumps]
{
	all 0
	more post
	check "$1, post: probes are armed" all 1
	works "$1, post"
	[ -z "$2" ] || ! post_by_jump || with_jumps "$1, post"
	hits "$1, post"
	all 0
	more none
}

# Every function, some at a time: one that the way to a handler calls would hang the machine.
in_turn()
{
	local i=0
	while [ $i -lt 10 ]; do
		load what=entry step=10 seed=$i && all 1 && workload 0 $i || return
		rmmod kp_sweep
		i=$((i + 1))
	done
}

uptime()	{ sed 's/ .*//' /proc/uptime; }

in_a_second()	# FILE: can it be read so fast, in one of three tries? Or in PATIENCE seconds.
{
	local i before
	for i in 1 2 3; do
		before=$(uptime)
		cat "$1" >$TMP/lines
		awk -v before="$before" -v after="$(uptime)" -v most="${PATIENCE:-1}" \
			'BEGIN { exit after - before > most }' && return
	done
	return 1
}

by_jump()	# NAME
{
	check "$1: probes become jumps" optimized
	works "$1"
	# The seed chooses the functions, and few may hardly be called.
	hits "$1" $((2 * DENSE))
}

range_by_jump()	# NAME
{
	# Nearly all of the last functions may be entry code.
	[ "$(number accepted)" -lt 100 ] || check "$1: probes become jumps" optimized
	works "$1"
}

# Elsewhere than on x86 only some of the instructions, which the seed chooses: with all of
# them the emulator leaves the guest no time for anything else.
every()
{
	local first=0 step=16 total=1
	[ $ARCH != x86 ] || step=1
	while [ $first -lt "$total" ]; do
		sweep_all what=range first=$first count=$DENSE step=$step
		total=$(cat $SWEEP/total)
		told "from $first"
		range_by_jump "from $first"
		if post_by_jump; then
			more post
			range_by_jump "from $first, post"
		fi
		more tell
		told "from $first"
		rmmod kp_sweep
		first=$((first + DENSE))
	done
}

reasons +p
case $SEED in
# The guest shuts down with these return probes. It is booted often: two pieces of work are
# enough, but not a module, which has its probes: ftrace would free a copy of its list of all
# functions, which takes a minute in one softirq with slab checks.
returns)
	SEED=$2 ROUNDS=0 MODULE=
	load what=entry
	more ret
	all 1
	works "returns"
	hits "returns"
	exit
	;;
every)
	SEED=${2:-1}
	knob 1
	every
	exit
	;;
esac

DENSE=${2:-$DENSE}
works "no probes"
# Dynamic debug changes the text, too.
reasons -p
load_text
cat $TEXT >$TMP/before
say "seed $SEED"
reasons +p
knob 0

load what=entry step=$STEP
told "entries"
check "entries: nearly all are accepted" accepted
for file in list points; do
	[ $STEP != 1 ] || check "entries: $file is printed in a second" in_a_second $KPROBES/$file
done
armed "entries" by_both
more ret
by_both "returns"
sleeps "returns"
hits "returns"
more none
armed_post "entries"
reasons -p
more next
told "behind entries"
# That many jumps would take minutes to prepare.
armed "behind entries" works
armed_post "behind entries"
rmmod kp_sweep
[ $STEP = 1 ] || check "entries, in turn: the guest works" in_turn

load what=insn count=$COUNT
told "instructions"
armed "instructions" by_both
armed_post "instructions" jumps
rmmod kp_sweep

# By jump only: with a breakpoint at every instruction a guest does nothing but handle hits. So
# the first probes have jumps already when the last are registered. On RISC-V neighbours
# prevent one another's jumps.
if post_by_jump; then
	all 1
	knob 1
	dmesg -c >/dev/null
	sweep_all what=dense count=$DENSE
	told "dense"
	by_jump "dense"
	more post
	by_jump "dense, post"
	rmmod kp_sweep
fi

all 1
knob 1
check_text
check "no probe is left" [ -z "$(cat $KPROBES/points)" ]
