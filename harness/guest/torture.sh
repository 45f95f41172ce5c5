# SPDX-License-Identifier: GPL-2.0-only
# Probes of all kinds in 200 functions that all CPUs call, and in a module that
# comes and goes, while jumps and all probes are switched on and off and CPUs
# leave and come back. Arguments: seconds, and a seed.
#
# Failures C1, C2, C4 to C6, C8, C15 to C17, X9, M1, M2, M11: what they did shows
# up here as a wrong number of hits, a late handler, a wrong result, a complaint
# of the kernel or a guest that hangs.
. /kp/lib

SECONDS_LEFT=${1:-20} SEED=${2:-1}
RANDOM=$SEED
MODULE=/sys/module/kp_torture/parameters
KNOB=/proc/sys/debug/kprobes-optimization

dmesg -c >/dev/null
if ! insmod /lib/kp/kp_torture.ko seconds="$SECONDS_LEFT" seed="$SEED"; then
	dmesg | grep kp_torture | tell "out: "
	not_ok "probes are tried # seed $SEED"
	exit 1
fi

running()	{ [ "$(cat $MODULE/running)" -gt 0 ]; }
a_while()	{ usleep $((RANDOM % $1 * 1000)); }

switch_knob()
{
	echo 0 >$KNOB
	a_while 200
	echo 1 >$KNOB
	a_while 2000
}

switch_all()
{
	echo moving >$MODULE/enabled
	echo 0 >$KPROBES/enabled
	echo 0 >$MODULE/enabled
	a_while 100
	echo moving >$MODULE/enabled
	echo 1 >$KPROBES/enabled
	echo 1 >$MODULE/enabled
	a_while 2000
}

read_files()
{
	cat $KPROBES/list $KPROBES/points >/dev/null
	a_while 500
}

# While a probe is being registered there it is in use.
remove_prey()
{
	local i=0
	until rmmod kp_prey; do
		i=$((i + 1))
		[ $i -lt 100 ] || return 1
		a_while 20
	done
}

load_prey()
{
	insmod /lib/kp/kp_prey.ko || echo "kp_prey does not load" >>/tmp/prey_bad
	a_while 100
	remove_prey || echo "kp_prey does not go" >>/tmp/prey_bad
	a_while 200
	echo >>/tmp/preys
}

move_cpu()
{
	local cpu=/sys/devices/system/cpu/cpu$((1 + RANDOM % 3))/online
	echo 0 >$cpu || echo "$cpu stays" >>/tmp/cpu_bad
	a_while 300
	echo 1 >$cpu || echo "$cpu stays away" >>/tmp/cpu_bad
	a_while 1000
	echo >>/tmp/cpus
}

while_running()	# COMMAND
{
	while running; do "$1"; done
}

for name in preys prey_bad cpus cpu_bad; do : >/tmp/$name; done
jobs=
for what in switch_knob switch_all read_files load_prey move_cpu; do
	[ $what = switch_knob ] && [ ! -e $KNOB ] && skip "jumps # not in this kernel" && continue
	if [ $what = move_cpu ] && [ ! -e /sys/devices/system/cpu/cpu3/online ]; then
		skip "CPUs leave # they cannot in this kernel"
		continue
	fi
	while_running $what &
	jobs="$jobs $!"
done
wait $jobs

check "probes are removed" rmmod kp_torture
dmesg | sed -n 's/.*kp_torture: //p' >/tmp/torture
number()	{ sed -n "s/.*\<$1 \([0-9]*\).*/\1/p" /tmp/torture; }

say "seed $SEED"
tell "torture: " </tmp/torture
say "torture: modules $(wc -l </tmp/preys) CPUs $(wc -l </tmp/cpus)"
for what in result lost late missed error text; do
	check "nothing is wrong: $what" [ "$(number "bad $what")" = 0 ]
done
check "functions were called" [ "$(number calls)" -gt 1000 ]
check "hits were checked" [ "$(number checks)" -gt 500 ]
check "breakpoints were hit" [ "$(number traps)" -gt 100 ]
check "functions returned to handlers" [ "$(number returns)" -gt 50 ]
if [ -e $KNOB ]; then
	check "jumps were taken" [ "$(number jumps)" -gt 100 ]
fi
check "the module came and went" [ ! -s /tmp/prey_bad ]
check "CPUs left and came back" [ ! -s /tmp/cpu_bad ]
check "no probe is left" sh -c "[ -z \"\$(cat $KPROBES/list $KPROBES/points)\" ]"
cat /tmp/prey_bad /tmp/cpu_bad | head -n 10 | tell "out: "
