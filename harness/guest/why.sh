# SPDX-License-Identifier: GPL-2.0-only
# With dynamic debug the kernel logs why it refuses a probe.
. /kp/lib

[ -e $REASONS ] || skip_all "reasons # no dynamic debug"
insmod /lib/kp/kp_prober.ko || exit 1

refusal()	# COMMAND: what the kernel says, when it refuses
{
	echo "mark $1" >/dev/kmsg
	prober "$1" && return 1
	dmesg | sed -n "/mark $1\$/,\$p" | grep "kprobes: "
}

says()		# COMMAND REASON
{
	refusal "$1" >/tmp/refusal
	cat /tmp/refusal
	grep -q "kprobes: $2" /tmp/refusal
}

reasons +p
check "reason: blacklisted" says "add x get_kprobe" "get_kprobe+0x.*: must not be probed"
check "reason: not text" says "add x jiffies" "jiffies.*: not kernel text"
check "reason: no symbol" says "add x no_such_function" "no_such_function: no such symbol"
# Every kernel has ambiguous symbols. Some are of freed text, and some no probe may be on.
names_two()	# NAME: does the kernel say so, and can the last of them be probed?
{
	says "add x $1" "$1: more than one function has this name" || return 1
	place=$(sed -n 's/.*one is at \(_stext+0x[0-9a-f]*\)$/\1/p' /tmp/refusal | tail -n 1)
	prober add namesake "$place"
}
for twice in $(awk '$2 == "t" && NF == 3 { print $3 }' /proc/kallsyms | sort | uniq -d | head -n 20); do
	names_two $twice && break
done
check "reason: two functions of that name" test -n "$place"
check "the one that it tells is probed" grep -q " $twice+0x" $KPROBES/list
prober del namesake
check "reason: return within a function" says "add x vfs_read+64 ret" "vfs_read+0x40/.*: no entry of a function"
# Functions jump to this code. Not every compiler makes such.
COLD=$(awk '$2 == "t" && NF == 3 && $3 ~ /\.cold$/ { print $3; exit }' /proc/kallsyms)
if [ -n "$COLD" ]; then
	check "reason: return from code that is jumped to" says "add x $COLD ret" \
		"$COLD.*: no entry of a function"
fi
if [ $ARCH = x86 ]; then
	check "reason: returns elsewhere" says "add x __switch_to ret" "__switch_to+0x.*: no entry of a function"
	check "reason: within an instruction" says "add x vfs_read+3" "vfs_read+0x3/.*: inside an"
fi
reasons -p
check "no reason unless it is asked for" not says "add y get_kprobe" ""
rmmod kp_prober
