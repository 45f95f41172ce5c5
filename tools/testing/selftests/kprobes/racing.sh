# SPDX-License-Identifier: GPL-2.0-only
# Functions for scripts with kp_torture, which changes probes while all CPUs hit them: . /kp/racing
. /kp/lib

MODULE=/sys/module/kp_torture/parameters

begin()		# PARAMETER [SECONDS [SEED]]
{
	SEED=${3:-1}
	RANDOM=$SEED
	dmesg -c >/dev/null
	insmod /lib/kp/kp_torture.ko "$1" seconds="${2:-20}" seed="$SEED" && return
	dmesg | grep kp_torture | tell "out: "
	not_ok "probes are tried # seed $SEED"
	exit 1
}

running()	{ [ "$(cat $MODULE/running)" -gt 0 ]; }
a_while()	{ usleep $((RANDOM % $1 * 1000)); }

all()		# 0 or 1: switches all probes off or on, and announces that to the module
{
	echo moving >$MODULE/enabled
	echo "$1" >$KPROBES/enabled
	echo "$1" >$MODULE/enabled
}

# Some changes come during a grace period, and others later: if all came that fast there
# might never be a jump.
jump_or_not()	# ROUND
{
	[ -e $KNOB ] && [ $(($1 % 2)) -eq 0 ] || return
	while running && ! grep -q ' kp_torture:.* optimized ' $KPROBES/points; do usleep 100000; done
}

while_running()	# COMMAND, which gets the number of the round
{
	local round=0
	while running; do
		"$1" $round
		round=$((round + 1))
	done
}

end()
{
	local what
	check "probes are removed" rmmod kp_torture
	dmesg | sed -n "s/.*kp_torture: //p" >/tmp/told
	say "seed $SEED"
	tell "kp_torture: " </tmp/told
	for what in result lost late missed error text; do
		check "nothing is wrong: $what" [ "$(number "bad $what")" = 0 ]
	done
	check "functions were called" [ "$(number calls)" -gt 1000 ]
	check "hits were checked" [ "$(number checks)" -gt 500 ]
	check "functions returned to handlers" [ "$(number returns)" -gt 50 ]
	check "bad batches were refused" [ "$(number refused)" -gt 0 ]
	check "breakpoints were hit" [ "$(number traps)" -gt 100 ]
	if [ -e $KNOB ]; then
		check "jumps were taken" [ "$(number jumps)" -gt 100 ]
	fi
	check "no probe is left" not grep . $KPROBES/list $KPROBES/points
}
