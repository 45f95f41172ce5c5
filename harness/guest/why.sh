# SPDX-License-Identifier: GPL-2.0-only
# With dynamic debug the kernel says why it refuses a probe.
. /kp/lib

CONTROL=/proc/dynamic_debug/control
COMMAND=/sys/module/kp_prober/parameters/command
if [ ! -e $CONTROL ]; then
	skip "reasons # no dynamic debug"
	exit 0
fi
insmod /lib/kp/kp_prober.ko || exit 1

each()		# FLAGS
{
	for where in kernel/kprobes arch/x86/kernel/kprobes arch/arm64/kernel/probes \
		     arch/riscv/kernel/probes; do
		echo "file $where* $1" >$CONTROL
	done
}

reasons()	# COMMAND: what the kernel says, when it refuses
{
	echo "mark $1" >/dev/kmsg
	echo "$1" 2>/dev/null >$COMMAND && return 1
	dmesg | sed -n "/mark $1\$/,\$p" | grep "kprobes: "
}

says()		# COMMAND REASON
{
	reasons "$1" >/tmp/reasons
	cat /tmp/reasons
	grep -q "kprobes: $2" /tmp/reasons
}

each +p
check "reason: blacklisted" says "add x get_kprobe" "get_kprobe+0x.*: must not be probed"
check "reason: not text" says "add x jiffies" "jiffies.*: not kernel text"
check "reason: no symbol" says "add x no_such_function" "no_such_function: no such symbol"
check "reason: return within a function" says "add x vfs_read+64 ret" "vfs_read+0x40/.*: no entry of a function"
case "$(uname -m)" in
x86_64 | i?86)
	check "reason: returns elsewhere" says "add x __switch_to ret" "__switch_to+0x.*: no entry of a function"
	check "reason: within an instruction" says "add x vfs_read+3" "vfs_read+0x3/.*: inside an"
	;;
esac
each -p
says "add y get_kprobe" "" && not_ok "no reason unless it is asked for" || ok "no reason unless it is asked for"
rmmod kp_prober
