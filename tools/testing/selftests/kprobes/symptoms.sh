#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The commands of the section "When it does not work" of Documentation/trace/kprobes.rst, each with
# the symptom that it explains.
. "$(dirname "$0")/lib.sh"

# It is beside the script when this is installed.
DOCUMENT=$HERE/kprobes.rst
[ -e "$DOCUMENT" ] || DOCUMENT=$HERE/../../../../Documentation/trace/kprobes.rst

need $EVENTS CONFIG_KPROBE_EVENTS
need_new "the file try"
need $KNOB CONFIG_OPTPROBES

: >$EVENTS
: >$TRACE/error_log
need_module kp_shared
need_module kp_prober
echo "p:kprobes/refused get_kprobe" >$EVENTS 2>/dev/null
prober "add x get_kprobe" 2>/dev/null
echo "p:kprobes/reads vfs_read" >$EVENTS
echo "r1:kprobes/deep kp_shared_deep" >>$EVENTS
echo 1 >$TRACE/events/kprobes/enable
echo 100 >/sys/module/kp_shared/parameters/deep
knob 0

sed -n '/^4.1 When it does not work/,/^5\. /s/^      \([a-z].*\)/\1/p' "$DOCUMENT" >$TMP/commands
check "the section has its commands" [ "$(sed -n '$=' $TMP/commands)" -ge 15 ]
nr=0
has_ftrace()	{ [ -e /proc/sys/kernel/ftrace_enabled ]; }
while read -r command; do
	case "$command" in
	*_functions | *ftrace_enabled)	has_ftrace || continue ;;
	esac
	nr=$((nr + 1))
	PATH=$PATH:/sbin:/usr/sbin sh -c "$command" </dev/null >$TMP/said.$nr 2>&1
	status=$?
	# grep finds nothing in some.
	check "$command" [ $status -le $(case "$command" in grep*) echo 1 ;; *) echo 0 ;; esac) ]
	sed 's/^/    /' $TMP/said.$nr | head -n 3 | tell
	cat $TMP/said.$nr >>$TMP/all
done <$TMP/commands

prints()	{ grep -q -- "$1" $TMP/all; }	# REGEXP: does one of them?
check "the reason of a refusal" prints " k get_kprobe+0x0 .*must not be probed"
check "the reason of an event" prints "trace_kprobe: error: "
check "what can be probed" prints " vfs_read+0x[0-9a-f]* [0-9a-f]* .*; return probe"
check "what must not be probed" prints "^0x[0-9a-f]*-0x[0-9a-f]*"
check "the symbol" prints "^[0-9a-f]* T vfs_read\$"
has_ftrace && check "the sysctl of ftrace" prints "^kernel.ftrace_enabled = 1"
check "the probes" prints "  k  vfs_read+0x"
check "missed calls of an event" prints " deep  *[0-9]*  *[1-9][0-9]*\$"
check "and their cause" prints "kp_shared_deep+.* (not followed: [1-9]"
check "functions that are followed" prints "  r  kp_shared_deep+0x"
check "why there is no jump" prints "kp_shared_deep+.* \(ftrace site\|knob off\)"
check "the sysctl of jumps" prints "^debug.kprobes-optimization = 0"

knob 1
echo 0 >$TRACE/events/kprobes/enable
: >$EVENTS
: >$TRACE/trace
: >$TRACE/error_log
rmmod kp_shared kp_prober
check "no probe is left" no_probes
