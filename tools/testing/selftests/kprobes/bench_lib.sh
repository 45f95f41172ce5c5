# SPDX-License-Identifier: GPL-2.0-only
# Functions for scripts that measure probes by the module kprobes_benchmark:
# . "$HERE/bench_lib.sh", after lib.sh
BENCHMARK=/sys/module/kprobes_benchmark/parameters
TABLE=/sys/kernel/debug/kprobes_benchmark/table

# Loads the module, of the file $MODULE if that is set, as for a kernel with other kprobes.
load_benchmark()
{
	local addresses="start=$(symbol _stext) end=$(symbol _etext)"
	addresses="$addresses text_mutex=$(symbol text_mutex)"
	if [ -n "$MODULE" ]; then
		insmod "$MODULE" $addresses || exit 1
	else
		need_module kprobes_benchmark $addresses
	fi
}

# COMMAND...: of the module, in turn
act()		{ local what; for what; do echo "$what" >$BENCHMARK/run; done; }
act_on_jumps()	{ [ ! -e $KNOB ] || act "$@"; }
# NAME VALUE: for the table, unless other memory that was freed makes it negative
figure()	{ [ "$2" -lt 0 ] || echo "$1 $2" >$BENCHMARK/figure; }

calls()	# function call interrupts of all CPUs
{
	awk '/Function call interrupts/ { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i }
	     END { print n + 0 }' /proc/interrupts
}

memory()	# that the kernel itself uses, in bytes
{
	awk '/^(SUnreclaim|VmallocUsed|Percpu):/ { n += $2 } END { print n * 1024 }' /proc/meminfo
}
