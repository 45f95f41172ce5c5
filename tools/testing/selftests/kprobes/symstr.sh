#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The symbol text of an address in events must be complete, and nothing must be written
# behind it: the kernel crashed by a write in the next page.
. "$(dirname "$0")/lib.sh"
need_safe "symbol text of an address"

need $EVENTS CONFIG_KPROBE_EVENTS
WHOLE=') a="\(0x[0-9a-f]*\)" b="\1"$'

echo 'r:kp/shown vfs_read a=$retval:symstr b=$retval:symstr' >$EVENTS
: >$TRACE/trace
echo 1 >$TRACE/events/kp/enable
dd if=/dev/zero of=/dev/null bs=1 count=10000 2>/dev/null
echo 0 >$TRACE/events/kp/enable
cat $TRACE/trace >$TMP/trace
check "there are events on several pages" [ "$(grep -c "$WHOLE" $TMP/trace)" -gt 1000 ]
check "each is whole" [ "$(grep -cv "^#\|$WHOLE" $TMP/trace)" -eq 0 ]
drop_events
