#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Probes of all kinds and fprobes on one function, and a probe on a function that ftrace
# cannot trace: each must count exactly its hits while others come and go.
. "$(dirname "$0")/lib.sh"
grep -qw function_graph $TRACE/available_tracers ||
	skip_all "tracers on functions with probes of all kinds: this kernel has none"
. "$(dirname "$0")/shared.sh"

FPROBES=$TRACE/dynamic_events

fprobes_add()
{
	echo "f:kp/f_entry kp_shared_traced" >>$FPROBES &&
		echo "f:kp/f_exit kp_shared_traced%return" >>$FPROBES &&
		echo 1 >$TRACE/events/kp/enable
}

fprobes_del()
{
	[ -d $TRACE/events/kp ] || return
	echo 0 >$TRACE/events/kp/enable
	: >$FPROBES
}

seen()		# N PATTERN
{
	local n=$(grep -Ec "$2" $TMP/trace)
	[ $n = "$1" ] || ! echo "$n of $2, not $1"
}

exact()
{
	: >$TRACE/trace
	counted 5 calls 5 || return 1
	echo 0 >$TRACE/tracing_on
	cat $TRACE/trace >$TMP/trace
	echo 1 >$TRACE/tracing_on
	case "$(cat $TRACE/current_tracer)" in
	function)	seen 5 'kp_shared_traced <-' || return 1 ;;
	function_graph)	seen 5 'kp_shared_traced( \[kp_shared\])?\(\)( \{|;)' || return 1 ;;
	esac
	[ -d $TRACE/events/kp ] || return 0
	seen 5 ' f_entry: \(' && seen 5 ' f_exit: \('
}

change()	# add or del, KIND
{
	case "$2" in
	fprobes)	fprobes_$1 ;;
	plain)		prober $1 pre_plain kp_shared_plain ;;
	*)		prober $1 "$2" kp_shared_traced "${2%_*}" ;;
	esac
}

nobodys()	{ ! grep kp_shared $TRACE/enabled_functions && unprobed kp_shared; }

if has_fprobes; then
	check "fprobes come" fprobes_add
	fprobes_del
	fprobes=fprobes
else
	skip "fprobes beside probes: this kernel has none"
fi
choose_post
kinds="pre_1 ret_1 $fprobes plain ${POST:+post_1} pre_2 ret_2 ${POST:+post_2}"

echo 'kp_shared_*' >$TRACE/set_ftrace_filter
for name in function function_graph; do
	tracer $name
	for kind in $kinds; do
		change add $kind
		check "$name: $kind comes and all count" exact
	done
	tracer nop
	check "$name: leaves and all count" exact
	tracer $name
	check "$name: comes and all count" exact
	for kind in $kinds; do
		change del $kind
		check "$name: $kind leaves and all count" exact
	done
	tracer nop
	check "$name: nobody has the function" nobodys
done

# Failures M1 and C5: a probe with a post_handler, which cannot use the ftrace site,
# comes and goes in all orders.
for order in "post_1 pre_1" "pre_1 post_1" "post_1 pre_2 pre_1" "pre_2 pre_1 post_1"; do
	[ $POST ] || break
	change add pre_1
	change add post_1
	case "$order" in
	*pre_2*)	change add pre_2 ;;
	esac
	check "post_handler comes, $order are to leave" exact
	for kind in $order; do
		change del $kind
		check "$kind leaves, of $order" exact
	done
	check "nobody has the function when $order have left" nobodys
done
: >$TRACE/set_ftrace_filter
: >$TRACE/trace
check "text of the module is what it was" same
leave_shared
