#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Another kernel starts from one with probes on each instruction of what runs on the way, in an
# orderly way or after a crash. That it starts is the test. Only by name. Arguments: the kernel, its
# initramfs, 1 for jumps or 0 for breakpoints, and "crash" for the latter, which needs crashkernel=
# on the command line.
. "$(dirname "$0")/lib.sh"

need_new "the file points"
need /sys/kernel/kexec_loaded "CONFIG_KEXEC_FILE"
. $HERE/sweep_lib.sh
KERNEL=$1 INITRAMFS=$2 CRASH=$4

check "the next kernel is loaded" load_kernel "$KERNEL" "$INITRAMFS" \
	"$(sed 's/crashkernel=[^ ]*//' /proc/cmdline)" ${CRASH:+crash}
knob "$3"
sweep_of 'kexec|crash|panic|nmi|shutdown|reboot|restart|apic|stop_(other|this)|machine_|kdump|sysrq'
check "each probe is what it will be" soon settled
say "jumps $(cat $SWEEP/jumps)"
# What has been said is still on its way.
sleep 2
[ "$CRASH" ] && echo c >/proc/sysrq-trigger
load_kernel start
