#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Failure C7: the first process of a pid namespace exits while its children change probes.
# It waits for the children, and the optimizer's grace period may wait for it.
. "$(dirname "$0")/lib.sh"

load_victim
export PROBER

# A change fails if a child of an earlier round was killed between its two changes.
cat >$TMP/first_process <<'END'
for child in 1 2 3; do
	while :; do
		echo "del pidns$child" >$PROBER/command
		echo "add pidns$child kp_victim_plain" >$PROBER/command
	done 2>/dev/null &
done
sleep "$1"
END

namespaces()
{
	local i changed=
	for i in $(seq 20); do
		timeout -s KILL 60 unshare -pf sh $TMP/first_process \
			0.0$((20000 + i * 7919 % 60000)) || return
		! grep -q '^pidns' $PROBER/state || changed=1
	done
	[ $changed ]
}

check "namespaces end while their probes change" namespaces
check "a probe can be registered afterwards" prober add after kp_victim_plain
check "a call is followed" put 3 /sys/module/kp_victim/parameters/call
check "it is hit" grep -qx "after 3 0" $PROBER/state
rmmod kp_prober
check "no probe is left but the module's own" [ "$(cat $KPROBES/list | grep -vc GONE)" = 0 ]
rmmod kp_victim
