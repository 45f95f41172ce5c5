# SPDX-License-Identifier: GPL-2.0-only
# Functions for guest scripts: . /kp/lib
#
# A script reports by ok and not_ok; the harness counts each call as one test.
# The script's own output is shown only if it fails.

TRACE=/sys/kernel/tracing
KPROBES=/sys/kernel/debug/kprobes
KNOB=/proc/sys/debug/kprobes-optimization	# exists if there are jumps
REASONS=/proc/dynamic_debug/control		# exists if the kernel can log reasons for refusals
ARCH=$(uname -m | sed 's/^i.86/x86/; s/^x86_64/x86/')	# x86 for both widths
PROBER=/sys/module/kp_prober/parameters
EVENTS=$TRACE/kprobe_events
TEXT=/sys/kernel/debug/kp_text			# the kernel's text, as the module kp_text tells it

say()		{ printf '<6>kp: %s\n' "$*" >/dev/kmsg; }	# TEXT: one line to the host
ok()		{ say "ok $*"; }			# NAME
not_ok()	{ say "not ok $*"; }			# NAME [# REASON]
skip()		{ say "skip $*"; }			# NAME # REASON
skip_all()	{ skip "$@"; exit 0; }			# NAME # REASON: ends the script
not()		{ ! "$@"; }				# COMMAND...
put()		{ echo "$1" >"$2"; }			# TEXT FILE

tell()		# [PREFIX] <lines: standard input to the host, line by line
{
	while IFS= read -r line; do
		say "$1$line"
	done
}

check()		# NAME COMMAND...: ok if the command succeeds
{
	local name="$1"
	shift
	if "$@"; then ok "$name"; else not_ok "$name # $*"; fi
}

fails_with()	# TEXT COMMAND...
{
	local text="$1"
	shift
	! "$@" 2>/tmp/error && grep -q "$text" /tmp/error
}

soon()		# COMMAND...: does it succeed within half a minute, or $SOON tenths of a second?
{
	local i
	for i in $(seq ${SOON:-300}); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

# The lines of "points" up to the reason for no jump, without what has been missed and why.
points()	{ sed 's/ (missed: .*//; s/ (not followed: .*//' $KPROBES/points; }

# Is each point what it is going to be? Opening the file prepares the jumps of all that may have one.
settled()	{ ! grep -qE ' optimizing |not tried yet' $KPROBES/points; }

# WORD: the number that follows it in the output of a module
number()	{ sed -n "s/.*\<$1 \([0-9]*\).*/\1/p" /tmp/told; }

# With kp_prober, or ends the script.
load_victim()	{ insmod /lib/kp/kp_prober.ko && insmod /lib/kp/kp_victim.ko || exit 1; }

prober()	{ echo "$*" 2>/tmp/error >$PROBER/command; }	# COMMAND...: to kp_prober
del_probes()	{ local name; for name; do prober del "$name"; done; }	# NAME...
hits_of()	{ sed -n "s/^$1 \([0-9]*\) .*/\1/p" $PROBER/state; }	# PROBE of kp_prober
only_lines()	{ [ -s "$1" ] && ! grep -Ev "$2" "$1"; }	# FILE REGEX: there are lines, and all match
no_probes()	{ [ -z "$(cat $KPROBES/list)" ]; }
knob()		{ [ ! -e $KNOB ] || echo "$1" >$KNOB; }	# 0 or 1; 0 waits until no jump is left

# +p or -p: whether the log has the reasons for refusals
reasons()	{ [ ! -e $REASONS ] || echo "file kernel/kprobes* $1; file arch/*probes/* $1" >$REASONS; }

tracer()	{ echo "$1" >$TRACE/current_tracer; }	# NAME
has_fprobes()	{ grep -q ' f\[:' $TRACE/README; }	# are there fprobe events?

drop_events()	# [GROUP]: switches the events off, removes them, and clears the trace
{
	echo 0 >$TRACE/events/${1:-kp}/enable
	: >$EVENTS
	: >$TRACE/trace
}

# NAME: its address
symbol()	{ awk -v s="$1" '$3 == s { print "0x" $1; exit }' /proc/kallsyms; }

# Or ends the script.
load_text()	{ insmod /lib/kp/kp_text.ko start="$(symbol _stext)" end="$(symbol _etext)" || exit 1; }
same_text()	{ cat $TEXT >/tmp/after && cmp -s /tmp/before /tmp/after; }

check_text()	# [soon]: against /tmp/before, at last
{
	check "text is what it was" "$@" same_text
	diff /tmp/before /tmp/after | grep '^+[0-9a-f]' | tell "differs: "
	rmmod kp_text
}
