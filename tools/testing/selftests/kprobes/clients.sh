#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Perf events and BPF programs on probes. See clients.c.
. "$(dirname "$0")/shared.sh"

clients >$TMP/clients
status=$?
while read -r word name; do
	case "$word" in
	ok)	ok "$name" ;;
	not_ok)	not_ok "$name" ;;
	skip)	skip "$name" ;;
	*)	say "$word $name" ;;
	esac
done <$TMP/clients
check "clients run to their end" [ $status = 0 ]
check "no probe is left" unprobed kp_shared
check "text is what it was" same
leave_shared
