#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Wrong lines for kprobe_events, which must be refused with the right reason.
. "$(dirname "$0")/lib.sh"

need $EVENTS CONFIG_KPROBE_EVENTS
need_module kp_prober

event()		{ echo "$1" 2>/dev/null >>$EVENTS; }	# TEXT
# The reason that the log gives for the last failure.
why()		{ grep -E '^\[[0-9. ]+\]' $TRACE/error_log | tail -n 1; }

refused()	# TEXT [REASON, in the words of these kprobes]
{
	# One that is taken must not make the next tests fail.
	event "$1" && { : >$EVENTS; return 1; }
	{ [ -z "$2" ] || ! is_new || why | grep -q "$2"; } && no_probes
}

: >$EVENTS
: >$TRACE/error_log
check "no symbol of that name" refused "p:bad no_such_symbol_at_all"
check "empty event" refused "p:"
check "no place" refused "p:bad"
check "two places" refused "p:bad vfs_read vfs_write"
check "unknown type" refused "x:bad vfs_read"
check "bad name" refused "p:bad/na-me vfs_read"
check "bad offset" refused "p:bad vfs_read+x"
check "negative offset" refused "p:bad vfs_read-4"
check "offset far beyond" refused "p:bad vfs_read+0x40000000"
check "offset that overflows" refused "p:bad vfs_read+0xffffffffffffffff"
check "address 0" refused "p:bad 0x0"
check "blacklisted function" refused "p:bad kprobe_exceptions_notify"
check "what ftrace sites call" refused "p:bad ftrace_call"
check "kprobes itself" refused "p:bad get_kprobe"
check "return probe within a function" refused "r:bad vfs_read+5"
COLD=$(awk '$2 == "t" && NF == 3 && $3 ~ /\.cold$/ { print $3; exit }' /proc/kallsyms)
check "return probe on $COLD, which is jumped to" refused "r:bad ${COLD:-vfs_read+5}" \
	"function entry"
check "return probe, bad maxactive" refused "r5000000000:bad vfs_read"
check "unknown argument" refused "p:bad vfs_read %nosuchreg"
addr_refused()	{ ! prober addr x "$1" && no_probes; }	# ADDRESS

if [ $ARCH = x86 ]; then
	check "return probe of __switch_to" refused "r:bad __switch_to"
	check "address of the IDT" addr_refused "$(symbol idt_table)"
fi
# On x86 functions begin with a long instruction, the call of ftrace or a landing pad. On RISC-V
# the first instruction may have 2 bytes, but none has an odd address.
case $ARCH in x86) INSIDE="2 3" ;; aarch64) INSIDE="1 2 3 5" ;; riscv64) INSIDE=3 ;; esac
for i in $INSIDE; do
	check "within an instruction, +$i" refused "p:bad vfs_read+$i" \
		"inside an \(instruction\|ftrace site\)"
done
check "no event was made" [ -z "$(cat $EVENTS)" ]

check "address of data" addr_refused "$(symbol init_task)"
check "address past all" addr_refused 0xffffffffffffffff
check "address, not canonical" addr_refused 0x8000000000000000
check "address of user space" addr_refused 0x400000

prober_refused()	# SYMBOL ERROR
{
	fails_with "$2" prober add x "$1" && no_probes && return
	prober del x
	return 1
}

# The first symbol of that pattern that occurs several times.
several()	# PATTERN
{
	awk -v p="$1" '$2 ~ /[tT]/ && NF == 3 && $3 ~ p && seen[$3]++ { print $3; exit }' \
		/proc/kallsyms
}
# Failure C13
check "ambiguous symbol" prober_refused "$(several '^[a-z]_(start|next|stop|show)$')" \
	"Cannot assign"
check "address of a good function" prober addr x "$(symbol vfs_read)"

# Failure R1
READ=$(awk '$3 ~ /^(__(x64|ia32|arm64|riscv)_)?sys_read$/ { print $3; exit }' /proc/kallsyms)
sys_read_is_hit()
{
	prober add read "$READ" && read -r line </proc/version &&
		[ "$(hits_of read)" -gt 0 ] && prober del read
}
check "the system call read, $READ" sys_read_is_hit

# A wrong event must not prevent another one.
check "good event" event "p:good vfs_read"
check "bad one beside it" not event "p:bad no_such_symbol"
check "bad one on the same function" not event "r:bad vfs_read+1"
check "good event enables" put 1 $TRACE/events/kprobes/good/enable
cat /proc/version >/dev/null
check "good event is traced" grep -q "good: (vfs_read" $TRACE/trace
drop_events kprobes
check "nothing is left" no_probes
rmmod kp_prober
