#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Probes and tracers on the same functions: they come and go in any order, and neither must
# replace the other.
. "$(dirname "$0")/lib.sh"

need $EVENTS CONFIG_KPROBE_EVENTS
FUNCTIONS="vfs_read vfs_write vfs_open vfs_statx ksys_read ksys_write do_sys_openat2"
BUFFER=$TRACE

grep -qw function_graph $TRACE/available_tracers ||
	skip_all "tracers on probed functions: this kernel has none"
load_text

add_probes()
{
	local f
	for f in $FUNCTIONS; do
		echo "p:kp/p_$f $f" >>$EVENTS
		echo "r:kp/r_$f $f" >>$EVENTS
	done
	echo 1 >$TRACE/events/kp/enable
}

work()
{
	: >$BUFFER/trace
	cat /proc/version >$TMP/version
	[ "$(cat $TMP/version)" = "$(cat /proc/version)" ] || return 1
	echo 0 >$BUFFER/tracing_on
	cat $BUFFER/trace >$TMP/trace
	echo 1 >$BUFFER/tracing_on
}

probed()
{
	work && grep -q "p_vfs_read: (vfs_read" $TMP/trace && grep -q "r_vfs_read: (" $TMP/trace
}

unprobed()	{ work && ! grep -q "vfs_read: (" $TMP/trace; }
traced()	{ work && grep -Eq "(vfs_read <-|vfs_read\(\))" $TMP/trace; }
untraced()	{ work && ! grep -Eq "(vfs_read <-|vfs_read\(\))" $TMP/trace; }

all_jumps()
{
	soon settled &&
		[ "$(grep -c " $SITES_ARE" $KPROBES/points)" = "$(echo $FUNCTIONS | wc -w)" ]
}

# NAME: jumps replace ftrace's call only where probes can be there and are not called by ftrace.
# From Linux 7 on ftrace rewrites it while CPUs run, and probes keep their breakpoints.
case $(uname -r) in
6.*)	SITES_ARE="optimized " ;;
*)	SITES_ARE="armed .*rewritten by others" ;;
esac
jumps()		{ [ $ARCH != riscv64 ] || [ ! -e $KNOB ] || check "$1" all_jumps; }

echo $FUNCTIONS | tr ' ' '\n' >$TRACE/set_ftrace_filter
for name in function function_graph; do
	tracer $name
	tracer nop
done
cat $TEXT >$TMP/before

for name in function function_graph; do
	add_probes
	jumps "$name: probes alone are jumps"
	check "$name: probes alone" probed
	tracer $name
	check "$name: comes to probes" traced
	check "$name: probes go on" probed
	jumps "$name: jumps stay"
	tracer nop
	check "$name: leaves" untraced
	check "$name: probes stay" probed
	jumps "$name: jumps stay without it"
	tracer $name
	drop_events
	check "$name: probes leave" unprobed
	check "$name: stays" traced
	add_probes
	check "$name: probes come to it" probed
	check "$name: goes on" traced
	jumps "$name: jumps come to it"
	check "$name: both with jumps, probes go on" probed
	check "$name: both with jumps, goes on" traced
	knob 0
	check "$name: jumps leave it, probes go on" probed
	check "$name: jumps leave it, goes on" traced
	knob 1
	jumps "$name: jumps come back"
	tracer nop
	check "$name: leaves jumps" untraced
	check "$name: leaves jumps, probes stay" probed
	drop_events
	check "$name: both have left" unprobed
	check "$name: and nothing is traced" untraced
done

# Trace all functions while the probes are there. They would fill the buffer that the probes
# write to, so the probes get a buffer of their own.
: >$TRACE/set_ftrace_filter
BUFFER=$TRACE/instances/probes
mkdir $BUFFER
add_probes
echo 1 >$BUFFER/events/kp/enable
for name in function function_graph; do
	tracer $name
	check "$name on all functions: probes go on" probed
	tracer nop
done
# These functions write text, so they are hit while the tracer comes and goes. They get jumps
# first, so that detours are written to as well.
for f in __set_fixmap vmalloc_to_page p4d_offset core_kernel_text; do
	! grep -qx "$f" $TRACE/available_filter_functions || echo "p:kp/p_$f $f" >>$EVENTS
done
echo 1 >$TRACE/events/kp/enable
for on in 1 0; do
	soon settled
	knob $on
	tracer function
	check "function on what writes it, jumps $on: probes go on" probed
	tracer nop
done
knob 1
echo 0 >$BUFFER/events/kp/enable
drop_events

# A tracer runs these for all that is traced. So nothing on the way from a breakpoint to its
# handler may be traced. All functions would take a minute.
for f in $FUNCTIONS '*brk*' '*break*' '*debug*' '*exception*' '*int3*' '*irqentry*' '*kprobe*' \
	'*nmi*' '*preempt*' '*rcu*' '*trap*' '*_v_*'; do
	echo "$f" >>$TRACE/set_ftrace_filter
done
modprobe kp_prober
knob 0
for name in function function_graph; do
	is_safe || { skip "probes on the tracer: $CRASHES"; break; }
	for f in function_trace_call trace_function ftrace_graph_func prepare_ftrace_return \
		function_graph_enter function_graph_enter_regs ftrace_return_to_handler \
		trace_graph_entry trace_graph_return; do
		prober add "$f" "$f"
	done
	tracer $name
	check "$name: comes to probes on the tracer" work
	tracer nop
	check "$name: they were hit" awk '$2 > 0 { hit = 1 } END { exit !hit }' $PROBER/state
	del_probes $(cut -d ' ' -f 1 $PROBER/state)
done
knob 1
rmmod kp_prober
: >$TRACE/set_ftrace_filter
rmdir $BUFFER
BUFFER=$TRACE

# The entry code of a breakpoint has an event. What this calls must not lead there again. One
# probe at a time: each hit is an event in turn, so the costs of several would multiply.
WATCHING=$TRACE/events/rcu/rcu_watching/enable
probe_what_events_call()
{
	local f nr=0
	awk 'NF == 3 && $2 ~ /[tT]/ &&
		($3 ~ /^(rb_|ring_buffer_[^ir]|trace_buffer|trace_clock)/ ||
		 $3 ~ /^(tracing_gen|trace_event_(buffer|ignore))/) { print $3 }' \
		/proc/kallsyms | sort -u >$TMP/called
	for f in $(cat $TMP/called); do
		prober add one "$f" || continue
		cat /proc/version >/dev/null
		[ "$(hits_of one)" -gt 0 ] && nr=$((nr + 1))
		prober del one
	done
	echo "$nr probes were hit"
	[ $nr -ge 5 ]
}

if ! is_safe; then
	skip "event of a breakpoint: $CRASHES"
elif [ -e $WATCHING ]; then
	modprobe kp_prober
	knob 0
	echo 1 >$WATCHING
	check "event of a breakpoint: what it calls is probed" probe_what_events_call
	echo 0 >$WATCHING
	knob 1
	rmmod kp_prober
else
	skip "event of a breakpoint: this kernel has none"
fi

# What ftrace must not call would be armed, and never hit.
ENABLED=/proc/sys/kernel/ftrace_enabled
if ! grep -q ' kprobe_ftrace_handler$' /proc/kallsyms; then
	skip "ftrace is off: it calls no probes here"
elif ! is_safe; then
	skip "ftrace is off: $CRASHES"
elif ! put 0 $ENABLED && dmesg | grep -q "no longer disables ftrace"; then
	skip "ftrace is off: Linux 7.3 cannot turn it off"
else
	echo 1 >$ENABLED
	echo "p:kp/p_vfs_read vfs_read" >>$EVENTS
	check "ftrace is off: without probes on its sites" put 0 $ENABLED
	check "ftrace is off: none can be armed" \
		fails_with busy put 1 $TRACE/events/kp/p_vfs_read/enable
	echo 1 >$ENABLED
	drop_events
	add_probes
	check "ftrace stays on while there are some" fails_with busy put 0 $ENABLED
	check "ftrace stays on, probes go on" probed
	drop_events
fi

# Users rely on it: at one address the event that was enabled last comes first, and last at the
# return.
in_order()	# in each task
{
	work && awk '
		match($0, / [pr][12]: \(/) { seen[$1] = seen[$1] substr($0, RSTART + 1, 2) }
		END {
			for (task in seen)
				if (seen[task] !~ /^(p2p1r1r2)+$/) {
					print task, seen[task]
					bad = 1
				}
			exit bad || !length(seen)
		}' $TMP/trace
}

for event in p1 p2 r1 r2; do
	echo "${event%?}:kp/$event vfs_read" >>$EVENTS
	echo 1 >$TRACE/events/kp/$event/enable
done
check "order of four events on a function" in_order
soon settled
check "order of four events on a function, where jumps can be there" in_order
drop_events

# An fprobe diverts returns as well, before or after a return probe does.
callers()
{
	work && grep -q "f_read: (.* <- vfs_read" $TMP/trace &&
		grep -q "r_read: (.* <- vfs_read" $TMP/trace &&
		! grep -q "trampoline\|kretprobe'd" $TMP/trace
}

if has_fprobes; then
	echo "f:kp/f_read vfs_read%return" >>$TRACE/dynamic_events
	echo "r:kp/r_read vfs_read" >>$TRACE/dynamic_events
	for order in "f_read r_read" "r_read f_read"; do
		for event in $order; do
			echo 1 >$TRACE/events/kp/$event/enable
		done
		check "$order: both see the caller" callers
		echo 0 >$TRACE/events/kp/enable
	done
	: >$TRACE/dynamic_events
else
	skip "an fprobe beside a return probe: this kernel has none"
fi
: >$TRACE/trace
check_text
