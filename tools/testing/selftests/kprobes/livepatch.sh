#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A live patch and probes on one function: probes with a post_handler and the patch exclude
# each other; all other probes go with the patch.
. "$(dirname "$0")/lib.sh"

PATCH=livepatch-sample
STATE=/sys/kernel/livepatch/livepatch_sample
FUNCTION=cmdline_proc_show
SITE=$TRACE/enabled_functions

has_module $PATCH || skip_all "livepatch: this kernel has no sample"
. "$(dirname "$0")/shared.sh"

steady()	{ [ "$(cat $STATE/transition)" = 0 ]; }
patch_gone()	{ [ ! -e $STATE ]; }
patch()		{ modprobe $PATCH && soon steady; }
unpatch()	{ echo 0 >$STATE/enabled && soon patch_gone && soon rmmod livepatch_sample; }

original=$(cat /proc/cmdline)

shows()		# TEXT
{
	local i
	for i in 1 2 3 4; do
		[ "$(cat /proc/cmdline)" = "$1" ] || return 1
	done
}

patched()	{ counted 4 shows "this has been live patched"; }
unpatched()	{ counted 4 shows "$original"; }

# Probes first, and the patch leaves first.
check "patch alone comes" patch
check "patch alone works" patched
check "patch alone leaves" unpatch
check "patch alone has left" unpatched
prober add pre $FUNCTION
prober add ret $FUNCTION ret
check "probes alone" unpatched
check "patch comes to probes" patch
check "patch works with probes" patched
check "patch leaves probes" unpatch
check "probes stay" unpatched

# The patch first, and the probes leave first.
del_probes pre ret
check "patch comes again" patch
check "probe comes to the patch" prober add pre $FUNCTION
check "return probe comes to the patch" prober add ret $FUNCTION ret
check "probes work with the patch" patched
prober del ret
check "probe works without the return probe" patched

if ! is_safe; then
	skip "post_handlers beside a patch: $CRASHES"
	prober del pre
	check "patch leaves" unpatch
	check "function works at the end" unpatched
	leave_shared
	exit 0
fi

# Failure C1: a refusal by ftrace must be returned to the caller, and leave nothing behind.
check "post_handler is refused beside a probe" \
	fails_with "resource busy" prober add post $FUNCTION post
check "probe goes on after the refusal" patched
prober del pre
check "post_handler is refused alone" \
	fails_with "resource busy" prober add post $FUNCTION post
check "nothing of it is listed" unprobed $FUNCTION
check "patch works after the refusal" patched
check "patch leaves after the refusal" unpatch
check "the site is nobody's" not grep $FUNCTION $SITE

# A post_handler first.
check "post_handler comes" prober add post $FUNCTION post
check "post_handler alone works" unpatched
check "patch is refused" fails_with "resource busy" modprobe $PATCH
check "post_handler goes on after the refusal" unpatched
check "post_handler is disabled" prober disable post
check "patch comes to what is disabled" patch
check "enabling is refused" fails_with "resource busy" prober enable post
check "it is listed as disabled" sh -c "cat $KPROBES/list | grep $FUNCTION | grep -F [DISABLED]"
check "patch goes on" shows "this has been live patched"
check "patch leaves" unpatch
check "enabling is granted" prober enable post
check "post_handler works again" unpatched

# The patch is loaded while all probes are off: then not all can be on again.
prober add pre_other kp_shared_traced
echo 0 >$KPROBES/enabled
check "patch comes while all are off" patch
check "switching on fails" not put 1 $KPROBES/enabled
check "patch goes on with one off" shows "this has been live patched"
check "patch leaves one off" unpatch
echo 0 >$KPROBES/enabled
check "switching on succeeds without it" put 1 $KPROBES/enabled
prober del pre_other
check "post_handler works after all" unpatched
prober del post
check "nothing is listed" unprobed $FUNCTION
check "the site is nobody's at the end" not grep $FUNCTION $SITE
check "function works at the end" unpatched
leave_shared
