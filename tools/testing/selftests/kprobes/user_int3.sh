#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A breakpoint of a program whose segment makes its offset equal the address of a probe. It
# must not be a hit, and the program must get its signal.
. "$(dirname "$0")/lib.sh"

uname -m | grep -q '^i.86$' || skip_all "breakpoints of programs: segments begin at 0"
load_victim

for kind in "" post ret; do
	check "a probe, $kind" prober add probe kp_victim_plain $kind
	address=0x$(sed -n 's/ .*kp_victim_plain.*//p' $KPROBES/list)
	check "$kind: the program gets its signal" random_traps segment "$address"
	check "$kind: the probe has no hit" grep -qx "probe 0 0" $PROBER/state
	check "$kind: the probed function is called" put 1 /sys/module/kp_victim/parameters/call
	check "$kind: this call is the only hit" grep -q "^probe 1 " $PROBER/state
	prober del probe
done
rmmod kp_prober kp_victim
