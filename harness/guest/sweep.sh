# SPDX-License-Identifier: GPL-2.0-only
# A probe on every function entry, a return probe on each, and thousands of
# instructions, all armed at once while the guest works. The text is the same
# afterwards.
. /kp/lib

symbol()	{ awk -v s="$1" '$3 == s { print "0x" $1; exit }' /proc/kallsyms; }
START=$(symbol _stext)
END=$(symbol _etext)

# Under the checkers each hit costs a hundredfold, so there are fewer.
STEP=1 COUNT=5000
grep -qE ' (kasan_report|lock_acquire)$' /proc/kallsyms && STEP=10 COUNT=1000
[ $STEP = 10 ] && [ "$(uname -m)" = riscv64 ] && STEP=50

insmod /lib/kp/kp_text.ko start="$START" end="$END" || exit 1

work()
{
	local i
	for i in 1 2 3; do
		ls -lR /proc/self/ /sys/module >/dev/null 2>&1
		dd if=/dev/zero of=/tmp/work bs=4k count=100 2>/dev/null
		[ "$(cat /tmp/work | wc -c)" = 409600 ] || return 1
		[ "$(seq 1 1000 | sort -n | tail -n 1)" = 1000 ] || return 1
		(sleep 1 & kill $!; wait) 2>/dev/null
	done
}

sweep()		# NAME MODULE-PARAMETERS...
{
	local name="$1"
	shift
	dmesg -c >/dev/null
	check "$name: probes are armed" insmod /lib/kp/kp_sweep.ko start="$START" end="$END" step=$STEP count=$COUNT "$@"
	check "$name: the guest works" work
	check "$name: probes are removed" rmmod kp_sweep
	dmesg | sed -n 's/.*kp_sweep: //p' >/tmp/sweep
	tell "$name: " </tmp/sweep
	check "$name: they were hit" [ "$(sed -n 's/^hits //p' /tmp/sweep)" -gt 1000 ]
	check "$name: most were accepted" awk '/tried/ { t = $6; a = $8 } END { exit !(a > 0.8 * t) }' /tmp/sweep
}

cat /sys/kernel/debug/kp_text >/tmp/before
sweep "entries" what=entry mode=pre
sweep "entries, post" what=entry mode=post
sweep "returns" what=entry mode=ret
sweep "instructions" what=insn mode=pre
sweep "instructions, post" what=insn mode=post seed=2
cat /sys/kernel/debug/kp_text >/tmp/after
check "text is what it was" cmp -s /tmp/before /tmp/after
rmmod kp_text
