# SPDX-License-Identifier: GPL-2.0-only
# For scripts that sweep with kp_sweep, included when nothing lets them skip any more: the console
# shows less from here on.

SWEEP=/sys/module/kp_sweep/parameters
SOON=3000	# The optimizer has thousands of probes.
START=$(symbol _stext)
END=$(symbol _etext)

# The reasons of refusals are not for the console, which is slow.
dmesg -n 7
echo N >/sys/module/printk/parameters/ignore_loglevel

sweep_all()	# PARAMETERS of kp_sweep...
{
	need_module kp_sweep start="$START" end="$END" seed="${SEED:-1}" "$@"
}

all()		{ echo "$1" >$KPROBES/enabled; }
more()		{ echo "$1" >$SWEEP/more; }

# One after the other, so they must not be armed yet.
load()		# WHAT MORE-PARAMETERS...
{
	all 0
	dmesg -c >/dev/null
	sweep_all "$@"
}

said()		# NAME: what kp_sweep has said since the last time, without what was refused
{
	dmesg -c >$TMP/log
	sed -n 's/.*kp_sweep: //p' $TMP/log | grep -v refused >$TMP/told
	tell "$1: " <$TMP/told
}

hits_are()	{ [ "$(number hits)" -gt "$1" ]; }	# MORE-THAN: what kp_sweep told

# All CPUs are idle, until the timer ends that. SECONDS
to_idle()	{ echo "$1" >$SWEEP/wake && echo freeze >/sys/power/state; }
nr_sleeps()	{ cat /sys/power/suspend_stats/success; }

# REGEX: every address of the functions whose names match. Some awks know integers of 31 bits only.
places()
{
	local step=4
	case $ARCH in x86) step=1 ;; riscv64) step=2 ;; esac
	sort /proc/kallsyms | awk -v regex="$1" -v step=$step '
		function low(address, i, n) {
			for (i = length(address) - 7; i <= length(address); i++)
				n = 16 * n + index("0123456789abcdef", substr(address, i, 1)) - 1
			return n
		}
		$3 == "_stext" { inside = 1 }
		inside && $2 ~ /^[tTwW]$/ {
			for (end = low($1); wanted && from < end; from += step)
				printf "%s%04x%04x\n", high, from / 65536, from % 65536
			from = end
			high = substr($1, 1, length($1) - 8)
			wanted = $3 ~ regex
		}
		$3 == "_etext" { exit }'
}

# REGEX: probes on each instruction of these functions that accepts one
sweep_of()
{
	local place
	places "$1" >$TMP/places
	load what=given count="$(wc -l <$TMP/places)"
	while read -r place; do echo "$place" >$SWEEP/add; done <$TMP/places 2>/dev/null
	all 1
	say "of $(wc -l <$TMP/places) places $(wc -l <$KPROBES/points) have probes"
}
