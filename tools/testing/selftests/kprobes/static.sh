#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Static keys and static calls that change in functions with probes on them.
. "$(dirname "$0")/shared.sh"

cat $SHARED/sites >$TMP/sites
for kind in key call; do
	sites=$(sed -n "s/^$kind //p" $TMP/sites)
	[ -n "$sites" ] || skip "$kind: what it rewrites: nothing, in this kernel"
	for site in $sites; do
		check "$kind: what it rewrites is refused" \
			fails_with "Invalid arg" prober addr x "$site"
		check "$kind: the middle of it is refused" \
			fails_with "Invalid arg" prober addr x "$(plus "$site" 1)"
	done
done

trampoline=$(symbol __SCT__kp_shared_callee)
[ -z "$trampoline" ] ||
	check "call: its trampoline is refused" fails_with "Invalid arg" prober addr x "$trampoline"

set_both()	{ state=$1 && echo "$1" >$SHARED/changed; }
results()	{ returns key $((300003 + state * 100)) && returns call $((400004 + state * 100)); }
called()	{ counted 5 calls 5 && results; }
called_often()	{ calls 50 && results; }
# COMMAND...: with both changed, and changed back
both_ways()	{ set_both $((1 - state)) && "$@" && set_both $((1 - state)) && "$@"; }
right()		{ both_ways called; }

# Probes at the entries and, one after the other, at all other possible addresses.
set_both 0
check "alone they are right" right
choose_post
kinds="pre $POST ret"
for on in 0 1; do
	set_both $on
	before=$(text)
	for function in kp_shared_key kp_shared_call; do
		for kind in $kinds; do
			prober add ${kind}_$function $function $kind
			check "$function: right with a $kind probe that came while it was $on" right
		done
	done
	for kind in $kinds; do
		del_probes ${kind}_kp_shared_key ${kind}_kp_shared_call
		check "right after a $kind probe left while it was $on" right
	done
	check "text is what it was while it was $on" same
done

# Probes within the functions: a branch may skip them, so only results are checked.
inside()
{
	local offset function made=0
	for function in kp_shared_key kp_shared_call; do
		for offset in $(seq 5 48); do
			prober add in_${function}_$offset $function+$offset && made=$((made + 1))
		done
	done
	echo "$made probes"
	[ $made -ge 4 ]
}

set_both 0
before=$(text)
check "probes on all else of the functions" inside
check "right with them" both_ways called_often
check_new "those that can get jumps have them" soon settled
check "right with them after a while" both_ways called_often
rmmod kp_prober
check "right without them" both_ways called_often
set_both 0
check "text is what it was without them" same
rmmod kp_shared
