# SPDX-License-Identifier: GPL-2.0-only
# All CPUs call functions in which probes come, go and change, while jumps, and
# all probes, are switched on and off. Arguments: seconds, and a seed.
. /kp/lib

SECONDS_LEFT=${1:-20} SEED=${2:-1}
RANDOM=$SEED
MODULE=/sys/module/kp_toggle/parameters
KNOB=/proc/sys/debug/kprobes-optimization

dmesg -c >/dev/null
if ! insmod /lib/kp/kp_toggle.ko seconds="$SECONDS_LEFT" seed="$SEED"; then
	dmesg | grep kp_toggle | tell "out: "
	not_ok "probes are tried # seed $SEED"
	exit 1
fi

running()	{ [ "$(cat $MODULE/running)" -gt 0 ]; }
ours()		{ grep ' kp_toggle:' $KPROBES/points; }
a_while()	{ usleep $((RANDOM % $1 * 1000)); }

# Some of the changes come while a grace period is waited for, and others later:
# if all came that fast there might never be a jump.
jump_or_not()	# ROUND
{
	[ $(($1 % 2)) -eq 0 ] || return
	while running && ! ours | grep -q ' optimized '; do usleep 50000; done
}

# What each write promises is looked for right behind it.
switch_knob()
{
	echo 0 >$KNOB
	ours | grep -E ' (optimizing|optimized|unoptimizing) ' >>/tmp/knob_bad
	a_while 200
	echo 1 >$KNOB
	jump_or_not $1
	a_while 1500
}

switch_all()
{
	echo moving >$MODULE/enabled
	echo 0 >$KPROBES/enabled
	echo 0 >$MODULE/enabled
	ours | grep -vE ' (disarmed|gone) ' >>/tmp/all_bad
	a_while 200
	echo moving >$MODULE/enabled
	echo 1 >$KPROBES/enabled
	echo 1 >$MODULE/enabled
	[ ! -e $KNOB ] || jump_or_not $1
	a_while 1500
}

store()		# to memory that the process has not touched yet
{
	dd if=/sys/kernel/debug/kp_toggle of=/dev/null bs=512k count=1 2>/dev/null
	a_while 100
}

while_running()	# COMMAND, which gets the number of the round
{
	local round=0
	while running; do
		"$1" $round
		round=$((round + 1))
	done
}

: >/tmp/knob_bad
: >/tmp/all_bad
while_running switch_knob & knob=$!
[ -e $KNOB ] || { kill $knob; skip "jumps # not in this kernel"; }
while_running switch_all & all=$!
while_running store & store=$!
wait $knob $all $store
ours | awk '{ $1 = $2 = $4 = $5 = ""; print }' | sort | uniq -c | tell "at the end: "

check "probes are removed" rmmod kp_toggle
dmesg | sed -n 's/.*kp_toggle: //p' >/tmp/toggle
number()	{ sed -n "s/.*\<$1 \([0-9]*\).*/\1/p" /tmp/toggle; }

say "seed $SEED"
for what in result lost late missed text; do
	check "nothing is wrong: $what" [ "$(number "bad $what")" = 0 ]
done
check "functions were called" [ "$(number calls)" -gt 1000 ]
check "probes were checked" [ "$(number checks)" -gt 1000 ]
check "breakpoints were hit" [ "$(number traps)" -gt 100 ]
if [ -e $KNOB ]; then
	check "jumps were taken" [ "$(number jumps)" -gt 100 ]
fi
check "no jump is left when they are forbidden" [ ! -s /tmp/knob_bad ]
check "no probe is armed when all are off" [ ! -s /tmp/all_bad ]
check "no probe is left" sh -c "! grep kp_toggle $KPROBES/points"
cat /tmp/knob_bad /tmp/all_bad | head -n 10 | tell "out: "
