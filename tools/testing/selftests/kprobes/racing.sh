# SPDX-License-Identifier: GPL-2.0-only
# Functions for scripts with kprobes_torture, which changes probes while all CPUs hit them:
# . "$(dirname "$0")/racing.sh"
. "$(dirname "$0")/lib.sh"

need_new "the file points"
TORTURE=/sys/module/kprobes_torture/parameters

begin()		# PARAMETERS [SECONDS [SEED]]
{
	SEED=${3:-1}
	LAST=$SEED
	for name in looked_at knob_bad all_bad; do : >$TMP/$name; done
	dmesg -c >/dev/null
	say "seed $SEED"
	need_module kprobes_torture $1 seed="$SEED" stutter=1 shuffle_interval=1
	END=$(($(now) + ${2:-20}))
}

now()		{ cut -d. -f1 /proc/uptime; }	# in seconds
running()	{ [ "$(now)" -lt $END ]; }

# BELOW: the next random number, in NEXT. Not every shell has $RANDOM.
random()
{
	LAST=$(((LAST * 1103515245 + 12345) % 2147483648))
	NEXT=$((LAST / 65536 % $1))
}

a_while()	# MILLISECONDS, at most
{
	random $1
	sleep $((NEXT / 1000)).$(printf %03d $((NEXT % 1000)))
}

all()		# 0 or 1: switches all probes off or on, and announces that to the module
{
	echo moving >$TORTURE/enabled
	echo "$1" >$KPROBES/enabled
	echo "$1" >$TORTURE/enabled
}

# Some changes come during a grace period, and others later: if all came that fast there
# might never be a jump.
jump_or_not()	# ROUND
{
	[ -e $KNOB ] && [ $(($1 % 2)) -eq 0 ] || return
	while running && ! grep -qE ' kprobes_torture:.* (optimized |out of reach)' \
			$KPROBES/points; do
		sleep 0.1
	done
	! is_far kprobes_torture || : >$TMP/far
}

ours()		{ grep ' kprobes_torture:' $KPROBES/points | tee -a $TMP/looked_at; }

# Check the effect of each write at once.
switch_knob()	# ROUND
{
	echo 0 >$KNOB
	ours | grep -E ' (optimizing|optimized) ' >>$TMP/knob_bad
	a_while 200
	echo 1 >$KNOB
	jump_or_not $1
	a_while 1500
}

switch_all()	# ROUND
{
	all 0
	ours | grep -vE ' (disarmed|gone) ' >>$TMP/all_bad
	a_while 200
	all 1
	jump_or_not $1
	a_while 1500
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
	# The module is in use while a probe is being registered in it.
	check "probes are removed" soon rmmod kprobes_torture
	dmesg | sed -n 's/.*kprobes-torture://p' >$TMP/all
	tell "kprobes-torture:" <$TMP/all
	grep '^ result ' $TMP/all | tail -n 1 >$TMP/told
	for what in result lost late missed error text; do
		check "nothing is wrong: $what" [ "$(number $what)" = 0 ]
	done
	check "it ends with success" grep -q '^--- End of test: SUCCESS: 0 errors, ' $TMP/all
	check "functions were called" [ "$(number calls)" -gt 1000 ]
	check "hits were checked" [ "$(number checks)" -gt 500 ]
	check "functions returned to handlers" [ "$(number returns)" -gt 50 ]
	check "bad batches were refused" [ "$(number refused)" -gt 0 ]
	check "breakpoints were hit" [ "$(number traps)" -gt 100 ]
	if [ -e $TMP/far ]; then
		skip "jumps were taken: the module is out of reach"
	elif [ -e $KNOB ]; then
		check "jumps were taken" [ "$(number jumps)" -gt 100 ]
	fi
	[ ! -e $KNOB ] || check "no jump is left when they are forbidden" [ ! -s $TMP/knob_bad ]
	check "no probe is armed when all are off" [ ! -s $TMP/all_bad ]
	check "there were probes to look at" [ "$(wc -l <$TMP/looked_at)" -gt 20 ]
	cat $TMP/knob_bad $TMP/all_bad | head -n 10 | tell "out: "
	check "no probe is left" not grep . $KPROBES/list $KPROBES/points
}
