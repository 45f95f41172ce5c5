# SPDX-License-Identifier: GPL-2.0-only
# Modules with jprobes. Without jprobes the kernel must have no trace of them.
. /kp/lib

if [ ! -e /lib/kp/jprobe_example.ko ]; then
	check "no function of jprobes is in this kernel" not grep -i jprobe /proc/kallsyms
	check "a module with a jprobe is told so" fails_with "not supported" \
		insmod /lib/kp/kp_jdofork.ko
	exit 0
fi

# Others also write to the log, so each part looks for lines that only it can cause.
logged()	{ dmesg | grep -q "$1"; }

check "jprobe_example loads" insmod /lib/kp/jprobe_example.ko
echo text >/tmp/jprobe_file
/bin/cat /tmp/jprobe_file >/tmp/jprobe_copy
check "its handler has the arguments" logged \
	"jprobe_example: do_sys_openat2: cat\[[0-9]*\] opens /tmp/jprobe_file from -100 with flags "
check "the function has them as well" cmp /tmp/jprobe_file /tmp/jprobe_copy
cat $KPROBES/list >/tmp/list
tell "  " </tmp/list
check "list tells a jprobe" [ "$(grep -c '  j  do_sys_openat2+' /tmp/list)" = 1 ]
check "jprobe_example unloads" rmmod jprobe_example
check "the list is empty" no_probes

check "an old module loads" insmod /lib/kp/kp_jdofork.ko
/bin/busybox true
check "its handler has the arguments" logged "kp_jdofork: clone_flags=0x[0-9a-f]*, exit_signal=17, "
check "processes go on to be made" [ "$(/bin/busybox echo made)" = made ]
check "an old module unloads" rmmod kp_jdofork
before=$(dmesg | grep -c 'opens /tmp/jprobe_file ')
/bin/cat /tmp/jprobe_file >/dev/null
check "nothing is logged any more" [ "$(dmesg | grep -c 'opens /tmp/jprobe_file ')" = "$before" ]
