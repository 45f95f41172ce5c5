# SPDX-License-Identifier: GPL-2.0-only
# perf's records of changes of the kernel's text, for decoders of hardware traces, must have
# each breakpoint and each jump in order, until the original is restored.
. /kp/lib

[ $ARCH = aarch64 ] || skip_all "perf follows the text # not tried on this architecture"
[ -e /proc/sys/kernel/perf_event_paranoid ] || skip_all "perf follows the text # this kernel has none"
load_victim

ADDRESS=$(symbol kp_victim_plain)
CALL=/sys/module/kp_victim/parameters/call

# The text becomes a breakpoint, a jump, a breakpoint, and the original again. The list shows
# [OPTIMIZED] from when a jump is queued, so the state in "points" is what to wait for.
cat >/tmp/probe_comes_and_goes <<EOF
. /kp/lib
prober add probe kp_victim_plain \$1 && knob 1 || exit
soon grep -q 'kp_victim_plain+0x0 optimized ' $KPROBES/points
echo 1 >$CALL && knob 0 && prober del probe
EOF

follows()	# KIND CHANGES
{
	text_events "$ADDRESS" "sh /tmp/probe_comes_and_goes $1" >/tmp/changes 2>&1 &&
		grep -qx "$2 changes" /tmp/changes
}

knob 0
for kind in "" post ret; do
	check "perf follows the text, $kind" follows "$kind" 4
	tell "out: " </tmp/changes
done
knob 1
rmmod kp_prober kp_victim
