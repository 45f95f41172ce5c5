#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The file "try": verdicts about places, without a probe.
. "$(dirname "$0")/lib.sh"

need_new "the file try"
TRY=$KPROBES/try
need_module kp_prober

verdict()	# PLACE REGEXP: is that what is read about it?
{
	put "$1" $TRY || return 1
	cat $TRY
	[ "$(grep -Ec "$2" $TRY)" = "$(sed -n '$=' $TRY)" ]
}

ADDR='([0-9a-f]{16}|[0-9a-f]{8})'
BYTES='([0-9a-f]{2})+'
recorded="$(head -n 1 $KPROBES/refused)"
# What was written last is kept, also for the next reader.
if [ -z "$(cat $TRY)" ]; then
	ok "nothing is read before a place is written"
else
	skip "nothing is read before a place is written: one was written since the kernel booted"
fi
check "refused: no symbol" verdict no_such_function \
	"^0+ - - refused, (-ENOENT|-2): no such symbol\$"
check "refused: not text" verdict jiffies+0 " jiffies.* refused, (-EINVAL|-22): not kernel text\$"
check "refused: blacklisted" verdict get_kprobe+0 \
	"^$ADDR get_kprobe\+0x[04] $BYTES refused, (-EINVAL|-22): must not be probed, "
check "refused, in each line of a function" verdict get_kprobe \
	"^$ADDR get_kprobe\+0x[0-9a-f]+ $BYTES refused, (-EINVAL|-22): must not be probed, "
[ $ARCH = x86 ] && check "refused: within an instruction" verdict vfs_read+3 \
	" vfs_read\+0x3 .* refused, (-EILSEQ|-84): inside an (instruction|ftrace site)\$"
check "the entry of a function" verdict vfs_read+0 \
	" (ftrace site|jump|breakpoint).*; return probe\$"
check "not the entry of a function" not verdict vfs_read+64 "; return probe"
[ $ARCH = aarch64 ] ||
	check "a function that returns elsewhere" not verdict __switch_to+0 "; return probe\$"
put vfs_read $TRY
cat $TRY >$TMP/try
tell "  " <$TMP/try
check "all instructions of a function" \
	only_lines $TMP/try "^$ADDR vfs_read\+0x[0-9a-f]+ $BYTES (moves by \+[0-9]+; )?[a-z]"
in_order()	# does each instruction begin where the one before it ends?
{
	local addr place bytes rest next=0
	while read addr place bytes rest; do
		[ $((${place#*+})) = $next ] || return 1
		next=$((next + ${#bytes} / 2))
	done <$TMP/try
	[ $next -gt 64 ]
}
check "they follow one another" in_order
check "nothing is registered" no_probes
check "nothing is recorded as refused" [ "$recorded" = "$(head -n 1 $KPROBES/refused)" ]

# Each place is probed as it was told; some at a time, which are too far apart to share jumps.
APART=16

same()		# NUMBER: for the places that have it, modulo $APART, does registering end so?
{
	local addr place bytes told is moved nr=0 bad=0
	while read addr place bytes told; do
		nr=$((nr + 1))
		[ $((nr % APART)) = $1 ] || continue
		if prober add p$nr $place; then
			echo "$nr $addr $told"
		elif [ "${told%%,*}" != refused ]; then
			echo "$place: refused, not $told" | tell
			bad=1
		fi
	done <$TMP/tried >$TMP/probed
	soon settled
	points >$TMP/points
	while read nr addr told; do
		prober del p$nr
		moved=${told#moves by +}
		[ "$moved" = "$told" ] || addr=$(printf %x $((0x$addr + ${moved%%;*})))
		is=$(sed -n "s/^$addr [^ ]* //p" $TMP/points)
		case "$told" in
		refused*)	false ;;
		*ftrace*)	[ "${is% ftrace site}" != "$is" ] ;;
		*jump\ of*)	[ "${is#optimized }" != "$is" ] ;;
		*no\ jump:*)	[ -n "$is" ] && [ "${is%${told#*no jump: }}" != "$is" ] ;;
		*)		false ;;
		esac || { echo "$addr: $told, but $is" | tell; bad=1; }
	done <$TMP/probed
	return $bad
}

all_same()
{
	local n bad=0
	for n in $(seq 0 $((APART - 1))); do
		same $n || bad=1
	done
	return $bad
}
sed 's/; return probe$//' $TMP/try >$TMP/tried
check "registering ends as it was told" all_same

prober add here vfs_read+0 || exit 1
check "a place that is probed" verdict vfs_read+0 "; probes here: 1\$"
prober del here
check "an address" verdict 0x$(awk '$3 == "vfs_read" { print $1 }' /proc/kallsyms) " vfs_read\+0x"
for bad in "" + vfs_read+ vfs_read+x 0 0x 0xg "$(printf %0900d 1)"; do
	check "no place: '$(echo "$bad" | cut -c 1-20)'" not put "$bad" $TRY
done
check "module:symbol" verdict kp_prober:no_such_function "refused, (-ENOENT|-2)"
rmmod kp_prober
