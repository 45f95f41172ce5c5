#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# With dynamic debug the kernel logs why it refuses a probe.
. "$(dirname "$0")/lib.sh"

need_new "the file refused"
load_victim

# The file "refused", which needs no dynamic debug. Its last line is the newest.
last()		{ tail -n 1 $KPROBES/refused; }
count()		{ sed -n '1s/.*: //p' $KPROBES/refused; }

records()	# COMMAND REGEXP: is it refused, and what does the newest record say?
{
	local before=$(count)
	prober "$1" && return 1
	last
	[ "$(count)" -gt "$before" ] && last | grep -q "$2"
}

# A kernel without CONFIG_SYMBOLIC_ERRNAME has numbers.
EINVAL='\(-EINVAL\|-22\)' ENOENT='\(-ENOENT\|-2\)' EILSEQ='\(-EILSEQ\|-84\)'
EOPNOTSUPP='\(-EOPNOTSUPP\|-95\)' EADDRNOTAVAIL='\(-EADDRNOTAVAIL\|-99\)' EBUSY='\(-EBUSY\|-16\)'
PLACE="vfs_read+0x[0-9a-f]*/[^ ]*"
check "refused: blacklisted" records "add x get_kprobe" \
	" k get_kprobe+0x0 get_kprobe+0x.* $EINVAL 1/1 must not be probed"
check "refused: not text" records "add x jiffies" " k jiffies+0x0 .* $EINVAL 1/1 not kernel text"
check "refused: no symbol" records "add x no_such_function" \
	" k no_such_function+0x0 - $ENOENT 1/1 no such symbol"
check "refused: return within a function" records "add x vfs_read+64 ret" \
	" r vfs_read+0x40 $PLACE $EINVAL 1/1 no entry of a function"
[ $ARCH = x86 ] && check "refused: within an instruction" records "add x vfs_read+3" \
	" k vfs_read+0x3 $PLACE $EILSEQ 1/1 inside an \(instruction\|ftrace site\)"
check "refused: an instruction" records "add x kp_victim_never" \
	" k kp_victim_never+0x0 kp_victim_never+0x0.* $EOPNOTSUPP 1/1 [a-z]"
# Every kernel has symbols of several functions.
TWICE=$(awk '$2 == "t" && NF == 3 { print $3 }' /proc/kallsyms | sort | uniq -d | head -n 20)
ambiguous()
{
	local name
	for name in $TWICE; do
		records "add x $name" \
			" - $EADDRNOTAVAIL 1/1 more than one function has this name" && return
		prober del x
	done
	return 1
}
check "refused: two functions of that name" ambiguous
# Where probes on functions are not of ftrace, its sysctl does not matter.
ENABLED=/proc/sys/kernel/ftrace_enabled
put vfs_read+0 $KPROBES/try
if grep -q "ftrace site" $KPROBES/try && [ -e $ENABLED ] && put 0 $ENABLED &&
	[ "$(cat $ENABLED)" = 0 ]; then
	check "refused: ftrace is off" records "add x vfs_read" \
		" k vfs_read+0x0 $PLACE $EBUSY 1/1 ftrace refuses it"
	put 1 $ENABLED
else
	skip "refused: ftrace is off: it calls no probes here, or cannot be turned off"
fi
check "refused: tells the task" sh -c \
	"tail -n 1 $KPROBES/refused | grep -q ' $(cat /proc/$$/comm)-$$ '"
check "refused: not for what is accepted" sh -c "
	before=\$(cat $KPROBES/refused)
	echo add fine vfs_read >$PROBER/command && echo del fine >$PROBER/command
	[ \"\$before\" = \"\$(cat $KPROBES/refused)\" ]"
many()
{
	local i before=$(count)
	for i in $(seq 300); do
		prober "add x no_such_function" && return 1
	done
	[ "$(count)" -eq $((before + 300)) ] && [ "$(sed 1d $KPROBES/refused | wc -l)" -eq 256 ] &&
		[ "$(last | sed 's/ .*//')" -eq "$(count)" ]
}
check "refused: the last 256, and the count of all" many
if [ ! -e $REASONS ]; then
	skip "reasons in the log: no dynamic debug"
	rmmod kp_victim kp_prober
	exit 0
fi

refusal()	# COMMAND: what the kernel says, when it refuses
{
	echo "mark $1" >/dev/kmsg
	prober "$1" && return 1
	# What this script prints may be in the log as well.
	dmesg | sed -n "/mark $1\$/,\$p" | sed 's/^\(\[[^]]*\]\)* //' | grep "^kprobes: "
}

says()		# COMMAND REASON
{
	refusal "$1" >$TMP/refusal
	cat $TMP/refusal
	grep -q "^kprobes: $2" $TMP/refusal
}

reasons +p
check "reason: blacklisted" says "add x get_kprobe" "get_kprobe+0x.*: must not be probed"
check "reason: not text" says "add x jiffies" "jiffies.*: not kernel text"
check "reason: no symbol" says "add x no_such_function" "no_such_function: no such symbol"
# Some of these are of freed text, and some no probe may be on.
names_two()	# NAME: does the kernel say so, and can the last of them be probed?
{
	says "add x $1" "$1: more than one function has this name" || return 1
	place=$(sed -n 's/.*one is at \(_stext+0x[0-9a-f]*\)$/\1/p' $TMP/refusal | tail -n 1)
	prober add namesake "$place"
}
for twice in $TWICE; do
	names_two $twice && break
done
check "reason: two functions of that name" test -n "$place"
check "the one that it tells is probed" grep -q " $twice+0x" $KPROBES/list
prober del namesake
check "reason: return within a function" says "add x vfs_read+64 ret" \
	"vfs_read+0x40/.*: no entry of a function"
# Functions jump to this code. Not every compiler makes such.
COLD=$(awk '$2 == "t" && NF == 3 && $3 ~ /\.cold$/ { print $3; exit }' /proc/kallsyms)
if [ -n "$COLD" ]; then
	check "reason: return from code that is jumped to" says "add x $COLD ret" \
		"$COLD.*: no entry of a function"
fi
if [ $ARCH = x86 ]; then
	check "reason: returns elsewhere" says "add x __switch_to ret" \
		"__switch_to+0x.*: no entry of a function"
	check "reason: within an instruction" says "add x vfs_read+3" "vfs_read+0x3/.*: inside an"
fi
reasons -p
check "no reason unless it is asked for" not says "add y get_kprobe" ""
rmmod kp_victim kp_prober
