#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Probes in text that is freed: that of a module, and that of its init function.
# Failure C4: disabled probes, and probes on ftrace sites.
. "$(dirname "$0")/lib.sh"

need_safe "probes at the end of a module"
need $EVENTS CONFIG_KPROBE_EVENTS
VICTIM=/sys/module/kp_victim/parameters
need_module kp_prober

load()		{ modprobe kp_victim; }
call()		{ echo "$1" >$VICTIM/call; }
state()		{ sed -n "s/^$1 //p" $PROBER/state; }
listed()	{ cat $KPROBES/list | grep "$1" | grep -F "$2"; }
functions()	# PATTERN: the module's, in order: address and name of each
{
	awk -v p="$1" '$4 == "[kp_victim]" && $2 ~ /[tT]/ && $3 ~ p { print $1, $3 }' \
		/proc/kallsyms | sort
}
counts()	{ [ "$(cat $KPROBES/list | grep -cF "$1")" = "$2" ]; }

check "unknown symbol before the module is there" \
	fails_with "No such file" prober add early kp_victim_plain
check "victim loads" load
check "no probe before kprobes has heard of the module" [ "$(cat $PROBER/too_early)" = -2 ]
check "a probe by who loads it, before all have heard" [ "$(cat $PROBER/by_loader)" = 0 ]
check "none by another task until then" [ "$(cat $PROBER/by_other)" = -2 ]
check "probe in init text has fired" [ "$(cat $VICTIM/init_hits)" = 1 ]
check "probe in init text is gone" counts "[GONE]" 1
check "gone probe cannot be enabled" not put 1 $VICTIM/enable_init_probe
check "init text cannot be probed" fails_with "No such file" prober add init kp_victim_at_init
check "blacklist of the module is there" grep -q kp_victim_forbidden $KPROBES/blacklist
check "blacklisted function of the module" fails_with "Invalid arg" prober add bad \
	kp_victim_forbidden

# The first lookup of a name in a module sorts its names for the next ones.
probes_of()	{ cat $KPROBES/list | grep -c " $1+0x"; }
by_name()
{
	local name before
	for name in kp_victim_plain kp_victim_traced call_set kp_victim_plain; do
		before=$(probes_of $name)
		prober add named kp_victim:$name || return 1
		[ "$(probes_of $name)" = $((before + 1)) ] || return 1
		prober del named || return 1
	done
	fails_with "No such file" prober add none kp_victim:kp_victim_none &&
		fails_with "Invalid arg" prober add bad kp_victim:kp_victim_forbidden
}

check "probe, traced" prober add traced kp_victim_traced
check "probe, traced, post" prober add traced_post kp_victim:kp_victim_traced post
check "probe, plain" prober add plain kp_victim_plain post
check "probe, off" prober add off kp_victim_traced off
check "probe, plain, off" prober add plain_off kp_victim_plain off
check "return probe, traced" prober add traced_ret kp_victim_traced ret
check "return probe, plain" prober add plain_ret kp_victim_plain ret
check "functions work" call 5
for name in traced_post plain traced_ret plain_ret; do
	check "$name has fired" [ "$(state $name)" = "5 5" ]
done
check "traced has fired" [ "$(state traced)" = "5 0" ]
check "off has not" [ "$(state off)" = "0 0" ]
check "probes by name" by_name
check "list names the module" listed kp_victim_plain "  kp_victim "
check "victim functions are listed" [ "$(cat $KPROBES/list | grep -c ' kp_victim')" -ge 7 ]

check "victim unloads with probes in it" rmmod kp_victim
check "all of its probes are gone" counts "[GONE]" 7
check "blacklist of the module is gone" not grep -q kp_victim_forbidden $KPROBES/blacklist
check "gone probe of the module cannot be enabled" fails_with "Invalid arg" prober enable off
prober disable plain

# The module may be loaded at the same address again; its text must not be probed.
check "victim loads again" load
check "functions work again" call 7
check "probes that are gone do not fire" [ "$(state plain) $(state traced)" = "5 5 5 0" ]
check "new probe beside those that are gone" prober add new kp_victim_plain post
check "new probe, traced" prober add new_traced kp_victim_traced post
check "new probe on the last function" prober add last "$(functions '^[a-z]' | sed -n '$s/.* //p')"
# The symbols of a module are sorted at the second lookup.
each_function()
{
	local addr
	functions '^kp_victim' >$TMP/functions
	[ "$(wc -l <$TMP/functions)" -gt 2 ] || return 1
	for addr in $(sed -E '/ kp_victim_(forbidden|never)$/d; s/ .*//' $TMP/functions); do
		prober addr each "0x$addr" || return 1
	done
}
check "new probe at the start of each function" each_function
check "probes by name again" by_name
check "functions work with it" call 3
undecoded()	{ cat $KPROBES/points | grep "kp_victim.*decoded"; }
check_new "all of them can be decoded" [ -z "$(undecoded)" ]
check "new probe fires" [ "$(state new) $(state new_traced)" = "3 3 3 3" ]
for name in traced traced_post plain off plain_off traced_ret plain_ret; do
	check "$name is removed" prober del $name
done
check "functions work without them" call 1
check "new probe still fires" [ "$(state new) $(state new_traced)" = "4 4 4 4" ]
if [ "$(uname -m)" = x86_64 ]; then
	# Such a module works on a CPU without IBT, whatever the kernel has been built for.
	check "probe in front of a label in a table" prober add table kp_victim_table+13
	soon settled
	check_new "no jump covers the label" grep -q \
		"kp_victim_table+0xd armed .*indirect jump at +1" $KPROBES/points
	check "function works with it" call 2
	check "it has fired" [ "$(state table)" = "2 0" ]
	check "it is removed" prober del table
fi
# The search for jumps in the module must cover all of its text, and no more.
knob 0
check "probe on the last function is removed" prober del last
knob 1
check "new probe is removed" prober del new
check "new traced probe is removed" prober del new_traced
check "functions work at the end" call 1
check "victim unloads" rmmod kp_victim

# An event that is written while the module is loaded must not be lost.
event_on_coming()
{
	put 2000 $PROBER/coming_ms
	load & sleep 1
	put "p:kp/coming kp_victim:kp_victim_traced" $EVENTS
	wait $!
}
check "event on a module that is being loaded" event_on_coming
check "event is registered" listed kp_victim_traced "  kp_victim "
put 1 $TRACE/events/kp/coming/enable
check "functions work with the event" call 4
check "event has fired" [ "$(grep -c ' coming: ' $TRACE/trace)" = 4 ]
drop_events
check "victim unloads again" rmmod kp_victim
check "list is empty" no_probes
rmmod kp_prober
