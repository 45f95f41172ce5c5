#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The files of kprobes in debugfs: their format, which other tools parse, and the effect of
# writing "enabled".
. "$(dirname "$0")/lib.sh"

need_module kp_prober

fires()		# NAME: does a new process hit the probe?
{
	local was="$(hits_of "$1")"
	/bin/true
	[ "$(hits_of "$1")" -gt "$was" ]
}

ADDR='([0-9a-f]{16}|[0-9a-f]{8})'
TAB=$(printf '\t')

cat $KPROBES/blacklist >$TMP/blacklist
check "blacklist has the format that perf reads" \
	only_lines $TMP/blacklist "^0x$ADDR-0x$ADDR$TAB[^ ]+( \[[^ ]+\])?\$"
check "blacklist has get_kprobe" grep -q "${TAB}get_kprobe\$" $TMP/blacklist
check "blacklist ranges go forward" awk -F'[-\t]' '$1 > $2 { bad = 1 } END { exit bad }' \
	$TMP/blacklist
check "list is empty" no_probes
check "enabled reads 1" [ "$(cat $KPROBES/enabled)" = 1 ]

prober add entry kernel_clone
prober add return kernel_clone ret
choose_post
prober add post kernel_clone $POST
prober add off kernel_clone off
cat $KPROBES/list >$TMP/list
tell "  " <$TMP/list
TAGS='(\[GONE\])?(\[DISABLED\])?(\[OPTIMIZED\])?(\[FTRACE\])?'
check "list has its format" \
	only_lines $TMP/list "^$ADDR  [kr]  [^ ]+\+0x[0-9a-f]+  [^ ]* +$TAGS\$"
check "list has all probes" [ "$(grep -c kernel_clone $TMP/list)" = 4 ]
check "list tells a return probe" [ "$(grep -c '  r  kernel_clone' $TMP/list)" = 1 ]
check "list tells a disabled probe" [ "$(grep -cF '[DISABLED]' $TMP/list)" = 1 ]
if grep -q ' kprobe_ftrace_handler$' /proc/kallsyms; then
	check "list tells probes on ftrace" [ "$(grep -cF '[FTRACE]' $TMP/list)" = 4 ]
fi

check "probe fires" fires entry
check "return probe fires" fires return
check "disabled probe is silent" not fires off
check "enabled takes 0" put 0 $KPROBES/enabled
check "enabled reads 0" [ "$(cat $KPROBES/enabled)" = 0 ]
for name in entry return post off; do
	check "$name is silent while all are off" not fires $name
done

# Changes while all probes are off take effect when they are on again.
check "enabling works while all are off" prober enable off
check "disabling works while all are off" prober disable entry
check "registering works while all are off" prober add late kernel_clone $POST
check "unregistering works while all are off" prober del post
for name in off entry late; do
	check "$name stays silent while all are off" not fires $name
done
check "enabled takes 1" put 1 $KPROBES/enabled
check "return probe fires again" fires return
check "probe enabled meanwhile fires" fires off
check "probe disabled meanwhile is silent" not fires entry
check "probe registered meanwhile fires" fires late
for text in 0 1 n y 0 0 1 1; do
	echo $text >$KPROBES/enabled
done
check "probe fires after much switching" fires late
check "enabled refuses other text" not put maybe $KPROBES/enabled

# 0 or 1
sysctl_sets()	{ sysctl -w debug.kprobes-optimization=$1 && [ "$(cat $KNOB)" = $1 ]; }

if [ -e $KNOB ]; then
	check "sysctl forbids jumps" sysctl_sets 0
	check "sysctl allows jumps" sysctl_sets 1
fi

# Calls that a return probe misses for lack of an instance count as missed hits.
missed()	{ sed -n "s/.* kp_shared:$1+[^ ]* [^ ]* [^ ]* \([0-9]*\) .*/\1/p" $KPROBES/points; }

modprobe kp_shared
prober add deep kp_shared_deep ret
check_new "points tells no missed hit at first" [ "$(missed kp_shared_deep)" = 0 ]
check "a function calls itself deeply" put 100 /sys/module/kp_shared/parameters/deep
followed=$(hits_of deep)
check "not all of these calls are followed" [ "$followed" -lt 100 ]
check_new "points tells the calls that are not" \
	[ "$(missed kp_shared_deep)" = $((100 - followed)) ]
check_new "points tells why" \
	grep -q "kp_shared_deep.* (not followed: $((100 - followed)), instances: [1-9][0-9]*)\$" \
		$KPROBES/points
prober del deep
rmmod kp_shared

# What the handler of another probe hits is missed.
if [ -e $EVENTS ]; then
	prober add nested trace_event_buffer_commit
	echo p:kp/outer kernel_clone >$EVENTS
	echo 1 >$TRACE/events/kp/enable
	/bin/true
	check_new "points tells hits in handlers" \
		grep -q "buffer_commit+.* (missed: [1-9][0-9]* in other hits, 0 in hits here)\$" \
			$KPROBES/points
	drop_events
	prober del nested
fi

for name in entry return off late; do
	check "$name is removed" prober del $name
done
check "list is empty again" no_probes
rmmod kp_prober
