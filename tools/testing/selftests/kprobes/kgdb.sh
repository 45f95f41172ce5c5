#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Breakpoints of the kernel debugger, which use the same instruction as probes.
. "$(dirname "$0")/lib.sh"
need_safe "breakpoints beside probes"
has_module kp_kgdb || skip_all "debugger: this kernel has none"
. "$(dirname "$0")/shared.sh"
need_module kp_kgdb

KGDB=/sys/module/kp_kgdb/parameters
entry()		{ sed -n "s/$1 //p" $SHARED/results; }
type()		{ echo "$1" >$KGDB/type; }
screen()	{ cat $KGDB/screen; }
has()		{ screen | grep -F "$1"; }
# Start the debugger, type the command, and continue.
debug()		{ type "$1;go;" && echo >$KGDB/enter; }
set_break()	{ debug "bp $1" && has "BP #"; }
refused()	{ debug "bp $1" && ! has "BP #"; }
clear_break()	{ debug "bc *"; }

# Calling the functions must start the debugger, which then clears its breakpoints.
stops()		{ type "bc *;go;" && calls 1 && has "Breakpoint @" && right; }
right()		{ calls 3 && returns plain 200002 && returns traced 100001; }

for name in kprobe_exceptions_notify get_kprobe; do
	check "breakpoint on $name is refused" refused "$(symbol $name)"
done

accepted()	# ADDRESS FROM TO: the offsets there that can be probed now
{
	local offset
	for offset in $(seq $2 $3); do
		prober addr x "$(plus $1 $offset)" && echo $offset
	done
}

executed()	# FUNCTION <offsets: those of them where a probe is hit
{
	local offset
	while read -r offset; do
		prober add pre $1+$offset
		counted 1 calls 1 && echo $offset
		prober del pre
	done
}

for function in kp_shared_plain kp_shared_traced; do
	entry=$(entry $function)
	accepted $entry 0 12 >$TMP/accepted
	executed $function <$TMP/accepted | grep -x '[0-9]*' >$TMP/executed
	check "$function: has instructions" [ -s $TMP/executed ]
	for offset in $(cat $TMP/executed); do
		where=$function+$offset
		check "$where: breakpoint" set_break "$(plus $entry $offset)"
		accepted $entry 0 12 >$TMP/now
		check "$where: no probe there" not grep -x $offset $TMP/now
		# The instruction under the breakpoint may be longer than the breakpoint.
		grep -vxFf $TMP/accepted $TMP/now >$TMP/wrong
		check "$where: no probe within instructions behind it" [ ! -s $TMP/wrong ]
		check "$where: debugger comes up" stops
		check "$where: text is what it was" same
	done
done

# The address of the probe on a function, behind the landing pad if there is one.
probe_on()	{ cat $KPROBES/list | sed -n "s/^\([^ ]*\) .* $1+.*/0x\1/p"; }

# The debugger must not set a breakpoint at the address of a probe, armed or not.
for function in kp_shared_plain kp_shared_traced; do
	for kind in off post pre; do
		prober add $kind $function $kind
		probed=$(probe_on $function)
		check "$function, $kind: breakpoint is refused" refused "$probed"
		check "$function, $kind: probe goes on" counted 3 right
		prober del $kind
	done
	check "$function: breakpoint when the probe is gone" set_break "$probed"
	check "$function: breakpoint goes again" clear_break
done

inside_jump()
{
	soon grep -q 'kp_shared_plain.* optimized ' $KPROBES/points &&
		refused "$(plus "$(probe_on kp_shared_plain)" 4)"
}

prober add pre kp_shared_plain pre
check_new "kp_shared_plain: breakpoint in a jump is refused" inside_jump
prober del pre

# The breakpoint hides an instruction from the search for branches, also far behind the probe.
undecoded()
{
	set_break "$(plus $deep $1)" &&
		prober add pre kp_shared_deep+$2 &&
		soon grep 'kp_shared_deep.*function cannot be decoded' $KPROBES/points
}

if [ "$(uname -m)" = x86_64 ]; then
	deep=$(symbol kp_shared_deep)
	near=$(accepted $deep 9 24 | sed -n 1p) far=$(accepted $deep 28 43 | sed -n 1p)
	check_new "kp_shared_deep: no jump before a breakpoint" undecoded "$far" "$near"
	prober del pre
	check "kp_shared_deep: breakpoint goes again" clear_break
fi

check "text is what it was" same
rmmod kp_kgdb
leave_shared
