#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Loads the sample modules, makes system calls, and checks that the probes have seen them.
. "$(dirname "$0")/lib.sh"

need_new "the output of these samples"

symbol=kernel_clone

# The output of a module between two marks, because other commands of this shell fork, too.
mark()		{ echo "mark $1" >/dev/kmsg; }
between()	{ dmesg | sed -n "/mark $1 calls\$/,/mark $1 done\$/p" | grep -o "$1: .*"; }

sample()	# MODULE PARAMETERS...
{
	local name="$1"

	shift
	modprobe "$name" "$@" || { not_ok "$name loads"; return; }
	ok "$name loads"
	cat "$KPROBES/list" >$TMP/list
	mark "$name calls"
	for i in 1 2 3; do
		/bin/true
	done
	mark "$name done"
	between "$name" >$TMP/hits
	check "$name fires at each call" [ "$(grep -c "$name: $symbol: " $TMP/hits)" -ge 3 ]
	say "$KPROBES/list with $name:"
	tell "  " <$TMP/list
	say "what $name printed while the shell started three programs:"
	head -n 12 $TMP/hits | tell "  "
	check "$name is listed" grep -q " $symbol+" $TMP/list
	check "$name unloads" rmmod "$name"
	check "$name leaves the list" not grep -q " $symbol+" $KPROBES/list
}

# Shortly after booting the clock may still count ticks, and a call takes none. It stays so where a
# busy host keeps the guest from calibrating a better one.
CLOCK=/sys/devices/system/clocksource/clocksource0/current_clocksource
SOON=100 soon not grep -q jiffies $CLOCK

sample kprobe_example symbol="$symbol"
sample kretprobe_example func="$symbol" maxactive=20
if grep -q jiffies $CLOCK; then
	skip "kretprobe_example tells how long a call took: the clock counts ticks"
else
	check "kretprobe_example tells how long a call took" not grep -q ' after 0 ns' $TMP/hits
fi
check "these are their parameters" sh -c "! dmesg | grep 'unknown parameter'"

# kprobe_redirect must affect only programs of that name, and only while loaded.
echo text >$TMP/file
opens()	{ "$1" $TMP/file >/dev/null 2>&1; }

modprobe kprobe_redirect || { not_ok "kprobe_redirect loads"; exit 0; }
ok "kprobe_redirect loads"
check "kprobe_redirect keeps cat from opening a file" not /bin/cat $TMP/file
check "kprobe_redirect leaves others alone" opens /usr/bin/head
check "kprobe_redirect tells of it" sh -c "dmesg | grep -q 'kprobe_redirect: .*cat.* gets -13'"
check "kprobe_redirect unloads" rmmod kprobe_redirect
check "kprobe_redirect: cat opens files again" opens /bin/cat
modprobe kprobe_redirect comm=head value=-2
check "kprobe_redirect takes parameters" sh -c \
	"/bin/cat $TMP/file && /usr/bin/head $TMP/file 2>&1 | grep 'No such file'"
rmmod kprobe_redirect
