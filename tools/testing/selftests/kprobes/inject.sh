#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Error injection into functions with probes: by fail_function, whose probe returns in place
# of the function, and by a BPF program. Probes on the same function that came before such a
# probe must not be called.
. "$(dirname "$0")/lib.sh"
FAIL=/sys/kernel/debug/fail_function
need $FAIL/inject CONFIG_FAIL_FUNCTION
. "$(dirname "$0")/shared.sh"

echo 100 >$FAIL/probability
echo 1 >$FAIL/interval
echo 0 >$FAIL/space
echo 0 >$FAIL/verbose
echo N >$FAIL/task-filter

inject()	# FUNCTION ERROR [TIMES]
{
	echo "$1" >$FAIL/inject && printf '%#x' "-$2" >$FAIL/"$1"/retval &&
		echo "${3:--1}" >$FAIL/times
}

listed()	{ cat $KPROBES/list | grep "$1"; }
limit()		{ echo "$1" >$FAIL/times; }
stop()		{ echo "!$1" >$FAIL/inject; }
# FUNCTION RESULT: do three calls return RESULT, and the probes count them?
yields()	{ counted 3 calls 3 && returns "$1" "$2"; }

# The probe of fail_function has a post_handler.
choose_post
names="${POST:+traced} plain"
for name in $names; do
	function=kp_shared_$name
	calls 1
	right=$(result $name)
	check "$name: fails" inject $function 12
	check "$name: fails alone" yields $name -12
	check "$name: is listed" listed $function
	check "$name: stops to fail" stop $function

	prober add off_first $function
	prober add off_first_ret $function ret
	check "$name: fails with probes on it" inject $function 12
	check "$name: those that came first are not called" yields $name -12
	stop $function
	del_probes off_first off_first_ret
	check "$name: has stopped" yields $name $right

	# Nor must post_handlers be called, because the instruction is not executed.
	inject $function 12
	prober add pre $function
	prober add pre_post $function post
	prober add ret $function ret
	check "$name: probes that come later are called" yields $name -12
	limit 1
	calls 1
	check "$name: fails as often as it should" returns $name -12
	prober del pre_post
	check "$name: and no more often" yields $name $right
	limit -1
	check "$name: fails again" yields $name -12
	del_probes pre ret
	check "$name: fails when probes have left" yields $name -12
	stop $function
	check "$name: works when all have left" yields $name $right
	check "$name: none is listed" unprobed $function
done

overriding()	# FUNCTION ERROR: by a BPF program, until not_overriding
{
	: >$TMP/overridden
	clients override "$1" "-$2" >$TMP/overridden &
	program=$!
	soon grep -q overridden $TMP/overridden
}

not_overriding()	{ kill $program; wait $program; true; }

# A BPF program is possible where an event is.
overrides()	# FUNCTION
{
	[ -n "$(symbol bpf_override_return)" ] && echo "p:kp/override $1" >>$EVENTS &&
		: >$EVENTS
}

for name in $names; do
	function=kp_shared_$name
	calls 1
	right=$(result $name)
	prober add off_first $function
	if ! overrides $function; then
		skip "$name: BPF overrides: not in this kernel"
		prober del off_first
		continue
	fi
	check "$name: BPF program comes" overriding $function 110
	check "$name: BPF overrides" yields $name -110
	inject $function 12
	check "$name: fail_function, which came last, overrides" yields $name -12
	not_overriding
	check "$name: it still does" yields $name -12
	overriding $function 110
	check "$name: BPF, which came last, overrides" yields $name -110
	stop $function
	check "$name: BPF still does" yields $name -110
	not_overriding
	prober del off_first
	check "$name: then nobody does" yields $name $right
done
check "text is what it was" same
check "no probe is left" unprobed kp_shared
leave_shared
