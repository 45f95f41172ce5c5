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

# Each place is probed as it was told.
same()		# OFFSET VERDICT...: does registering vfs_read+OFFSET end so?
{
	local place="vfs_read+$1"
	shift
	if ! prober add x "$place"; then
		[ "$1" = refused, ] || { tell "$place: refused, not $*"; return 1; }
		return 0
	fi
	soon settled
	local told="$*" is="$(points | sed 's/^[^ ]* //')"
	prober del x
	case "$told" in
	refused*)	false ;;
	*ftrace*)	[ "${is% ftrace site}" != "$is" ] ;;
	*jump\ of*)	case "$is" in *" optimized "*) ;; *) false ;; esac ;;
	*no\ jump:*)	[ "${is%${told#*no jump: }}" != "$is" ] ;;
	*)		false ;;
	esac || { tell "vfs_read: $told, but $is"; return 1; }
}

all_same()
{
	local addr place bytes told bad=0
	while read addr place bytes told; do
		same ${place#*+} $told || bad=1
	done <"$1"
	return $bad
}
sed 's/; return probe$//' $TMP/try >$TMP/tried
check "registering ends as it was told" all_same $TMP/tried

prober add here vfs_read+0 || exit 1
check "a place that is probed" verdict vfs_read+0 "; probes here: 1\$"
prober del here
check "an address" verdict 0x$(awk '$3 == "vfs_read" { print $1 }' /proc/kallsyms) " vfs_read\+0x"
for bad in "" + vfs_read+ vfs_read+x 0 0x 0xg "$(printf %0900d 1)"; do
	check "no place: '$(echo "$bad" | cut -c 1-20)'" not put "$bad" $TRY
done
check "module:symbol" verdict kp_prober:no_such_function "refused, (-ENOENT|-2)"
rmmod kp_prober
