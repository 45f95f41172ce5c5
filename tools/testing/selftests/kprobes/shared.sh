# SPDX-License-Identifier: GPL-2.0-only
# Functions for scripts that share the functions of the module kp_shared between probes and
# others: . "$(dirname "$0")/shared.sh"
. "$(dirname "$0")/lib.sh"

SHARED=/sys/module/kp_shared/parameters

need_module kp_shared
need_module kp_prober

leave_shared()	{ rmmod kp_prober kp_shared; }

calls()		{ echo "$1" >$SHARED/call; }
result()	{ sed -n "s/^$1 //p" $SHARED/results; }
returns()	{ [ "$(result "$1")" = "$2" ]; }
unprobed()	{ ! cat $KPROBES/list | grep "$1"; }
text()		{ cat $SHARED/text; }
before=$(text)
same()		{ [ "$(text)" = "$before" ]; }

# The names of probes tell which handlers a hit calls: pre_* only the pre_handler, off_*
# none, all others the pre_handler and the post_handler or return handler.
counted()	# N COMMAND...: does the command hit each probe N times?
{
	local n="$1"
	shift
	cat $PROBER/state >$TMP/was
	"$@" || return 1
	cat $PROBER/state >$TMP/now
	awk -v n="$n" '
		NR == FNR { before[$1] = $2; after[$1] = $3; next }
		{
			hits = $1 ~ /^off/ ? 0 : n
			ends = $1 ~ /^(off|pre)/ ? 0 : n
			if ($2 - before[$1] != hits || $3 - after[$1] != ends) {
				print $1, $2 - before[$1], $3 - after[$1], "not", hits, ends
				bad = 1
			}
		}
		END { exit bad }' $TMP/was $TMP/now
}
