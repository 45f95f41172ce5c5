# SPDX-License-Identifier: GPL-2.0-only
# Loads the sample modules, makes system calls and looks whether the probes saw them.
. /kp/lib

symbol="${1:-kernel_clone}"

# What a module said between two marks: everything else in this shell forks, too.
between() { dmesg | sed -n "/kp: mark $1 calls\$/,/kp: mark $1 done\$/p" | grep -o "$1: .*"; }

sample()	# MODULE
{
	if ! insmod "/lib/kp/$1.ko" symbol="$symbol"; then
		not_ok "$1 loads"
		return
	fi
	ok "$1 loads"
	cat "$KPROBES/list" >/tmp/list
	say "mark $1 calls"
	for i in 1 2 3; do
		/bin/busybox true
	done
	say "mark $1 done"
	between "$1" >/tmp/hits
	check "$1 fires at each call" [ "$(grep -c "$1: $symbol: " /tmp/hits)" -ge 3 ]
	say "$KPROBES/list with $1:"
	tell "  " </tmp/list
	say "what $1 printed while the shell started three programs:"
	head -n 12 /tmp/hits | tell "  "
	check "$1 is listed" grep -q " $symbol+" /tmp/list
	check "$1 unloads" rmmod "$1"
	check "$1 leaves the list" sh -c "! grep -q ' $symbol+' $KPROBES/list"
}

sample kprobe_example
sample kretprobe_example
