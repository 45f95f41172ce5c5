#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# perf's records of changes of the kernel's text, for decoders of hardware traces, must have
# each breakpoint and each jump in order, until the original is restored.
. "$(dirname "$0")/lib.sh"

[ $ARCH = aarch64 ] || skip_all "perf follows the text: not tried on this architecture"
need /proc/sys/kernel/perf_event_paranoid CONFIG_PERF_EVENTS
load_victim

ADDRESS=$(symbol kp_victim_plain)
CALL=/sys/module/kp_victim/parameters/call

# The text becomes a breakpoint, a jump, a breakpoint, and the original again. The list shows
# [OPTIMIZED] from when a jump is queued, so the state in "points" is what to wait for.
cat >$TMP/probe_comes_and_goes <<EOF
echo add probe kp_victim_plain \$1 >$PROBER/command && echo 1 >$KNOB || exit
for i in \$(seq 300); do
	grep -q 'kp_victim_plain+0x0 optimized ' $KPROBES/points && break
	sleep 0.1
done
echo 1 >$CALL && echo 0 >$KNOB && echo del probe >$PROBER/command
EOF

follows()	# KIND CHANGES
{
	text_events "$ADDRESS" "sh $TMP/probe_comes_and_goes $1" >$TMP/changes 2>&1 &&
		grep -qx "$2 changes" $TMP/changes
}

prober add near kp_victim_plain
soon settled
far=
is_far kp_victim && far=1
prober del near
if [ "$far" ]; then
	rmmod kp_prober kp_victim
	skip_all "perf follows the text: the module is out of reach"
fi

knob 0
for kind in "" post ret; do
	check "perf follows the text, $kind" follows "$kind" 4
	tell "out: " <$TMP/changes
done
knob 1
rmmod kp_prober kp_victim
