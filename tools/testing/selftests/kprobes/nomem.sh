#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each allocation in registering, enabling and removing probes fails once. Failures C1, C5 and
# C6: an error must be returned to the caller, and leave nothing behind. (KUnit's
# optimize_no_memory is for preparing jumps, which mostly happens in a worker.)
. "$(dirname "$0")/lib.sh"

need_safe "failing allocations"
FAIL=/sys/kernel/debug/fail
LEAKS=/sys/kernel/debug/kmemleak

has_module kp_nomem && [ -e ${FAIL}slab ] || skip_all "allocations fail: not in this kernel"

# Allocations that may sleep fail only on request.
may_fail()	# Y or N, and the verbosity
{
	for what in ${FAIL}slab ${FAIL}_page_alloc; do
		echo "$1" >$what/ignore-gfp-wait
		echo "$2" >$what/verbose
	done
}

sites()		{ sort $TRACE/enabled_functions 2>/dev/null; }
# Pages are freed after a grace period.
slot_pages()	{ grep -cE ' kprobe_(opt)?insn_page' /proc/kallsyms; }
few_slot_pages()	{ [ "$(slot_pages)" -le "$1" ]; }

may_fail N 0
EXPEDITED=$(cat /sys/kernel/rcu_expedited)
echo 1 >/sys/kernel/rcu_expedited
[ ! -e $LEAKS ] || echo clear >$LEAKS
sites >$TMP/sites
pages=$(slot_pages)
dmesg -c >/dev/null
check "all is tried" modprobe kp_nomem
dmesg | sed -n 's/.*kp_nomem: //p' >$TMP/nomem
check "allocations failed" [ "$(sed -n 's/^failed \([0-9]*\) .*/\1/p' $TMP/nomem)" -gt 50 ]
check "every failure is clean" grep -q ' faults 0$' $TMP/nomem
tell "out: " <$TMP/nomem
rmmod kp_nomem
# One page of each kind may be kept for the next probe.
check "no page is left" soon few_slot_pages $((pages + 4))
check "no probe is left" not grep . $KPROBES/list $KPROBES/points
sites >$TMP/sites_after
check "ftrace has back all sites" cmp -s $TMP/sites $TMP/sites_after
diff $TMP/sites $TMP/sites_after | head -n 10 | tell "out: "
if [ -e $LEAKS ]; then
	# kmemleak does not report new objects, and does not find pointers in registers.
	sleep 6
	echo scan >$LEAKS
	echo scan >$LEAKS
	cat $LEAKS >$TMP/leaks
	check "nothing is leaked" not grep -qE 'kprobe|kp_|point|slot|return_pool|chunk' $TMP/leaks
	head -n 30 $TMP/leaks | tell "out: "
fi
echo "$EXPEDITED" >/sys/kernel/rcu_expedited
may_fail Y 2
