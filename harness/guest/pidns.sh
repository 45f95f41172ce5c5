# SPDX-License-Identifier: GPL-2.0-only
# Failure C7: the first process of a pid namespace exits while its children change probes.
# It waits for the children, and the optimizer's grace period may wait for it.
. /kp/lib

load_victim
check "namespaces end while their probes change" pidns 20 60 $PROBER/command kp_victim_plain
check "a probe can be registered afterwards" prober add after kp_victim_plain
check "a call is followed" sh -c "echo 3 >/sys/module/kp_victim/parameters/call"
check "it is hit" grep -qx "after 3 0" $PROBER/state
rmmod kp_prober
check "no probe is left but the module's own" [ "$(cat $KPROBES/list | grep -vc GONE)" = 0 ]
rmmod kp_victim
