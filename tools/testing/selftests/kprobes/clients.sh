# SPDX-License-Identifier: GPL-2.0-only
# Perf events and BPF programs on probes. See harness/programs/clients.c.
. /kp/shared

clients >/tmp/clients
status=$?
tell </tmp/clients
check "clients run to their end" [ $status = 0 ]
check "no probe is left" unprobed kp_shared
check "text is what it was" same
leave_shared
