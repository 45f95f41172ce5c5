#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# An unprivileged process causes random traps while probes come and go. Each trap must have
# the same result as without probes, and none must be a hit. Arguments: seconds, and a seed.
. "$(dirname "$0")/lib.sh"

SECONDS_="${1:-15}" SEED="${2:-1}"
[ $ARCH = x86 ] || skip_all "traps of programs: made on x86 only"
load_victim

# Functions that signals, debuggers and system calls run through.
BUSY="force_sig_fault get_signal send_signal_locked ptrace_stop ptrace_request ptrace_check_attach
	arch_ptrace do_sigaltstack restore_altstack copy_process wake_up_new_task do_exit
	handle_mm_fault do_user_addr_fault vma_alloc_folio schedule"
ADDRESS=$(symbol kp_victim_plain)

churn()		# adds probes of all kinds and removes many at once, until $TMP/over exists
{
	local kind name
	while [ ! -e $TMP/over ]; do
		for kind in "" post ret; do
			for name in $BUSY; do
				prober add $name-$kind $name $kind && echo $name >>$TMP/added
			done
			for name in $BUSY; do
				prober del $name-$kind
			done
		done
		echo round >>$TMP/rounds
	done
}

# Both runs of the program must have the same addresses.
RANDOMIZE=/proc/sys/kernel/randomize_va_space
randomize=$(cat $RANDOMIZE)
echo 0 >$RANDOMIZE
# The program gives up its rights, and writes there.
chmod a+rwx $TMP
check "traps without probes" random_traps learn "$SEED" "$ADDRESS" $TMP/outcomes
for kind in "" post ret; do
	check "a probe where no trap is, $kind" prober add "victim$kind" kp_victim_plain $kind
done
: >$TMP/rounds >$TMP/added
churn &
random_traps check "$SECONDS_" "$ADDRESS" $TMP/outcomes >$TMP/told
status=$?
: >$TMP/over
wait
tell "  " <$TMP/told
tell "out: " <$TMP/told
check "each comes out as without, seed $SEED" [ $status -eq 0 ]
check "more than 100 traps are made" [ "$(number traps)" -gt 100 ]
check "probes come and go meanwhile" [ "$(wc -l <$TMP/rounds)" -gt 0 ]
check "most functions are probed meanwhile" [ "$(sort -u $TMP/added | wc -l)" -gt 8 ]
check "no trap is a hit" [ "$(grep -cx "victim[a-z]* 0 0" $PROBER/state)" -eq 3 ]
check "the probed function is called" put 1 /sys/module/kp_victim/parameters/call
check "this call is the only hit" [ "$(grep -c "^victim[a-z]* 1 " $PROBER/state)" -eq 3 ]
del_probes victim victimpost victimret
rm -f $TMP/over
echo $randomize >$RANDOMIZE
rmmod kp_prober kp_victim
