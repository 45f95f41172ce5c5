#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Uprobes that our files decode: a program with probes from its first instruction on must
# work as without.
. "$(dirname "$0")/lib.sh"

EVENTS=$TRACE/uprobe_events
[ $ARCH = aarch64 ] && [ -e $EVENTS ] || skip_all "uprobes: not ours, or not there"

# The ELF header has the entry. Debian links its busybox to the address 0x400000, and the start of
# the file is mapped there. Other shells go to any address.
START=$(($(od -A n -t u8 -j 24 -N 8 /bin/sh) % 0x400000))

for i in $(seq 0 11); do
	echo "p:kp/u$i /bin/sh:$((START + i * 4))" 2>/dev/null >>$EVENTS
done
check "all instructions are taken" [ "$(grep -c . $EVENTS)" -eq 12 ]
echo >$TRACE/trace
echo 1 >$TRACE/events/kp/enable
check "a program with probes runs" [ "$(/bin/sh -c 'echo $((6 * 7))')" = 42 ]
echo 0 >$TRACE/events/kp/enable
check "they are hit" [ "$(grep -c ' u[0-9]*: ' $TRACE/trace)" -eq 12 ]
echo >$EVENTS
check "no event is left" [ -z "$(cat $EVENTS)" ]
