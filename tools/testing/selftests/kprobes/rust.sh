#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Functions in Rust: they have long names and no ftrace sites, and many end with a call that does
# not return. They run while the kernel's samples come and go.
. "$(dirname "$0")/lib.sh"

need_new "places that kernels with their own kprobes may refuse"
need $EVENTS CONFIG_KPROBE_EVENTS
has_module rust_print || skip_all "no module rust_print: its option is in the file config"
. $HERE/sweep_lib.sh

printed()	{ dmesg -c | sed -n 's/.*\] \(rust_[a-z]*: \)/\1/p'; }	# by the samples

works()		# do the samples print what they should?
{
	local module
	dmesg -c >/dev/null
	for module in rust_print rust_minimal; do
		modprobe $module && rmmod $module || return
	done
	printed >$TMP/printed
	grep -q 'Info message (level 6) with args' $TMP/printed || return
	[ ! -e $TMP/expected ] || diff -u $TMP/expected $TMP/printed
}

# REGEX [MODULE]: the functions whose names match, the one with the longest name last
functions()
{
	awk -v regex="$1" -v module="${2:+[$2]}" '
		$2 ~ /^[tT]$/ && $3 ~ regex && $4 == module { print length($3), $3 }
	' /proc/kallsyms | sort -n | sed 's/.* //'
}

event()		{ /bin/echo "$1" >>$EVENTS; }

# NAME: one of the two places is within its first or second instruction. What is told?
cut_name()
{
	event "p:kp/no $1+1" && event "p:kp/no $1+2" && return 1
	tail -n 1 $KPROBES/refused
	tail -n 1 $KPROBES/refused | grep -q " _R[^ ]*\.\.\.+0x[12] $1+0x[12]/"
}

# NAME [MODULE]: is it whole wherever it is shown? A probe on an entry may be behind a landing pad.
shown()
{
	grep -q "  $1+0x[04]  ${2:- }" $KPROBES/list &&
		grep -q " ${2:+$2:}$1+0x[04] " $KPROBES/points &&
		grep -q "^[pr].*:kp/.* ${2:+$2:}$1\(+0\)\?\$" $EVENTS
}
traced()	{ grep -q " $1: (\(.* <- \)\?$2\(+0x.*\)\?)" $TRACE/trace; }	# EVENT NAME

check "the samples work" works
cp $TMP/printed $TMP/expected
WRITE=$(functions '^_RNv.*4core3fmt5write$')
LONGEST=$(functions '^_R' | tail -n 1)
say "the longest name has ${#LONGEST} characters"
check "an event" event "p:kp/entry $WRITE"
check "an event on returns" event "r:kp/ret $WRITE"
check "an event on the longest name" event "p:kp/longest $LONGEST"
check "refused: the name is cut" cut_name "$LONGEST"
check "the name is shown" shown "$WRITE"
check "the longest name is shown" shown "$LONGEST"
echo 1 >$TRACE/events/kp/enable
check "the samples work with events" works
check "the event is hit" traced entry "$WRITE"
check "the event on returns is hit" traced ret "$WRITE"
drop_events

# The functions of a module, which it takes with it.
modprobe rust_print
INSIDE=$(functions '^_R' rust_print | tail -n 1)
check "an event in the module" event "p:kp/inside rust_print:$INSIDE"
check "the name in the module is shown" shown "$INSIDE" rust_print
put 1 $TRACE/events/kp/enable
check "the module goes with it" rmmod rust_print
check "the module comes back" modprobe rust_print
check "the event in the module is hit" traced inside "$INSIDE"
check "the module goes again" rmmod rust_print
drop_events

load_text
cat $TEXT >$TMP/before
sweep_of '^_R.*4core3fmt'
for jumps in 0 1; do
	knob $jumps
	check "knob $jumps: the probes are settled" soon settled
	points | awk '{ print $3, $3 == "optimized" ? "" : $6 " " $7 " " $8 }' |
		sed 's/ at [-+].*//' | sort | uniq -c | sort -rn | tell
	check "knob $jumps: the samples work" works
	more tell
	said "knob $jumps"
	check "knob $jumps: the probes are hit" hits_are 1000
done
rmmod kp_sweep
check_text
check "no probe is left" no_probes
