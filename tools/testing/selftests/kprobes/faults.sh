#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Without fault handlers the kernel must have no trace of them; with them, KUnit tests them.
. "$(dirname "$0")/lib.sh"

need_new "the option of fault handlers"

! grep -q ' kprobe_ask_fault_handlers$' /proc/kallsyms ||
	skip_all "no function of fault handlers: this kernel has them"

check "no function of fault handlers is in this kernel" \
	not grep -E ' (fault_(member|ask.*|is_of_handler)|arch_kprobe_(leave_detour|resume))$' \
		/proc/kallsyms
