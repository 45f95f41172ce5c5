# SPDX-License-Identifier: GPL-2.0-only
# Functions for the selftests of kprobes: . "$(dirname "$0")/lib.sh"
#
# Each call of ok(), not_ok(), skip() and check() is one test. What check() runs is silent unless it
# fails. The end of the script ends the report, see finish().

HERE=${HERE:-$(dirname "$(realpath "$0")")}
. "$HERE/../kselftest/ktap_helpers.sh"

TRACE=/sys/kernel/tracing
KPROBES=/sys/kernel/debug/kprobes
KNOB=/proc/sys/debug/kprobes-optimization	# exists if there are jumps
REASONS=/proc/dynamic_debug/control		# exists if the kernel can log reasons for refusals
ARCH=$(uname -m | sed 's/^i.86/x86/; s/^x86_64/x86/')	# x86 for both widths
PROBER=/sys/module/kp_prober/parameters
EVENTS=$TRACE/kprobe_events
TEXT=/sys/kernel/debug/kp_text			# the kernel's text, as the module kp_text tells it
TMP=$(mktemp -d) || exit 1
# For programs of this directory, which "make O=DIR" builds elsewhere, and of root.
PATH=$PATH:$HERE${OUTPUT:+:$OUTPUT}:/sbin:/usr/sbin

exec 3>&1		# the report, also where output is silent
unset _STDBUF_O		# of kselftest: echo would not tell why a write failed

# The helpers print words: no asterisk in the name of a test is a pattern of files.
report()	{ set -f; "$@" >&3; set +f; }		# COMMAND...
say()		{ printf '# %s\n' "$*" >&3; }		# TEXT
ok()		{ report ktap_test_pass "$*"; }		# NAME
not_ok()	{ report ktap_test_fail "$*"; }		# NAME [# REASON]
skip()		{ report ktap_test_skip "$*"; }		# NAME: REASON
skip_all()	{ report ktap_skip_all "$*"; exit "$KSFT_SKIP"; }	# REASON: ends the script
not()		{ ! "$@"; }				# COMMAND...
put()		{ ${ECHO:-echo} "$1" >"$2"; }			# TEXT FILE
tell()		{ sed "s|^|# $1|" >&3; }		# [PREFIX] <lines

finish()	# at the exit: only then is the number of tests known
{
	local status=$?
	rm -rf "$TMP"
	case $status in
	0)
		report ktap_set_plan $((KTAP_TESTNO - 1))
		report ktap_finished
		;;
	"$KSFT_SKIP")
		exit "$KSFT_SKIP"
		;;
	esac
	report ktap_exit_fail_msg "the script ends with status $status"
}
trap finish EXIT

need()		{ [ -e "$1" ] || skip_all "no $1: $2"; }	# FILE OPTION

# These scripts run on kernels with their own kprobes as well, which lack some of what is tested.
is_new()	{ [ -e $KPROBES/points ]; }
need_new()	{ is_new || skip_all "$1: only other kprobes have this"; }	# WHAT

# Some of it crashes those kernels. Only with KPROBES_MAY_CRASH=1 is it tried there.
CRASHES="with their own kprobes kernels may crash, or ftrace may fail"
is_safe()	{ is_new || [ "$KPROBES_MAY_CRASH" ]; }
need_safe()	{ is_safe || skip_all "$1: $CRASHES"; }	# WHAT

# Sets POST to "post", or to nothing if there must be no such probe beside others.
choose_post()
{
	POST=post
	is_safe || { POST= && skip "post_handlers beside other probes: $CRASHES"; }
}

has_module()	{ grep -qs "/$1\.ko" "/lib/modules/$(uname -r)/modules.dep"; }	# NAME

# NAME [PARAMETER...]: loads it, or ends the script.
need_module()
{
	has_module "$1" || skip_all "no module $1: its option is in the file config"
	modprobe "$@" || exit 1
}

[ "$(id -u)" = 0 ] || skip_all "only root can do this"
need $KPROBES "CONFIG_KPROBES, CONFIG_DEBUG_FS, and debugfs must be mounted"
need $TRACE/README "CONFIG_FTRACE, and tracefs must be mounted"

check()		# NAME COMMAND...: ok if the command succeeds
{
	local name="$1"
	shift
	if "$@" >$TMP/out 2>&1; then
		ok "$name"
	else
		not_ok "$name"
		say "failed: $*"
		tell <$TMP/out
	fi
}

# NAME COMMAND...: of a file or rule that only these kprobes have
check_new()	{ if is_new; then check "$@"; else skip "$1: only other kprobes have this"; fi; }

fails_with()	# TEXT COMMAND...
{
	local text="$1" ECHO=/bin/echo		# tells the error, unlike that of some shells
	shift
	! "$@" 2>$TMP/error && grep -q "$text" $TMP/error
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

# MODULE: does a jump from it reach no detour? arm64 may load modules that far away.
is_far()	{ grep -qs " $1:.* out of reach" $KPROBES/points; }

# Is each point what it is going to be? Opening the file prepares the jumps of all that may have
# one.
settled()	{ ! grep -qsE ' optimizing |not tried yet' $KPROBES/points; }

# WORD: the number that follows it in the output of a module
number()	{ sed -n "s/.*\<$1 \([0-9]*\).*/\1/p" $TMP/told; }

# With kp_prober.
load_victim()	{ need_module kp_prober; need_module kp_victim; }

prober()	{ ${ECHO:-echo} "$*" 2>$TMP/error >$PROBER/command; }	# COMMAND...: to kp_prober
del_probes()	{ local name; for name; do prober del "$name"; done; }	# NAME...
hits_of()	{ sed -n "s/^$1 \([0-9]*\) .*/\1/p" $PROBER/state; }	# PROBE of kp_prober
# FILE REGEX: there are lines, and all match
only_lines()	{ [ -s "$1" ] && ! grep -Ev "$2" "$1"; }
no_probes()	{ [ -z "$(cat $KPROBES/list)" ]; }
knob()		{ [ ! -e $KNOB ] || echo "$1" >$KNOB; }	# 0 or 1; 0 waits until no jump is left

# +p or -p: whether the log has the reasons for refusals
reasons()
{
	[ ! -e $REASONS ] || echo "file kernel/kprobes* $1; file arch/*probes/* $1" >$REASONS
}

tracer()	{ echo "$1" >$TRACE/current_tracer; }	# NAME
has_fprobes()	{ grep -q ' f\[:' $TRACE/README; }	# are there fprobe events?

drop_events()	# [GROUP]: switches the events off, removes them, and clears the trace
{
	echo 0 >$TRACE/events/${1:-kp}/enable
	: >$EVENTS
	: >$TRACE/trace
}

# ADDRESS N: their sum. Some shells cannot calculate with the numbers of the kernel's half.
plus()		{ printf '%s%08x' "${1%????????}" $((0x${1#"${1%????????}"} + $2)); }

# NAME: its address
symbol()	{ awk -v s="$1" '$3 == s { print "0x" $1; exit }' /proc/kallsyms; }

load_text()	{ need_module kp_text start="$(symbol _stext)" end="$(symbol _etext)"; }
same_text()	{ cat $TEXT >$TMP/after && cmp -s $TMP/before $TMP/after; }

check_text()	# [soon]: against $TMP/before, at last
{
	check "text is what it was" "$@" same_text
	diff -u $TMP/before $TMP/after | grep '^+[0-9a-f]' | tell "differs: "
	rmmod kp_text
}
