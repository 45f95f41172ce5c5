#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Modules with jprobes. Without jprobes the kernel must have no trace of them.
. "$(dirname "$0")/lib.sh"

need_new "an interface of jprobes"

if ! has_module jprobe_example; then
	check "no function of jprobes is in this kernel" not grep -i jprobe /proc/kallsyms
	check "a module with a jprobe is told so" fails_with "not supported" \
		modprobe kp_jdofork
	exit 0
fi

# Others also write to the log, so each part looks for lines that only it can cause.
logged()	{ dmesg | grep -q "$1"; }

check "jprobe_example loads" modprobe jprobe_example
echo text >$TMP/jprobe_file
/bin/cat $TMP/jprobe_file >$TMP/jprobe_copy
check "its handler has the arguments" logged \
	"jprobe_example: do_sys_openat2: cat\[[0-9]*\] opens $TMP/jprobe_file from -100 with flags "
check "the function has them as well" cmp $TMP/jprobe_file $TMP/jprobe_copy
cat $KPROBES/list >$TMP/list
tell "  " <$TMP/list
check "list tells a jprobe" [ "$(grep -c '  j  do_sys_openat2+' $TMP/list)" = 1 ]
check "jprobe_example unloads" rmmod jprobe_example
check "the list is empty" no_probes

check "an old module loads" modprobe kp_jdofork
/bin/true
check "its handler has the arguments" logged "kp_jdofork: clone_flags=0x[0-9a-f]*, exit_signal=17, "
check "processes go on to be made" [ "$(/bin/echo made)" = made ]
check "an old module unloads" rmmod kp_jdofork
before=$(dmesg | grep -c 'opens $TMP/jprobe_file ')
/bin/cat $TMP/jprobe_file >/dev/null
check "nothing is logged any more" [ "$(dmesg | grep -c 'opens $TMP/jprobe_file ')" = "$before" ]
