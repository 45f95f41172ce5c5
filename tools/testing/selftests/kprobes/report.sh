#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Tests kprobes on this machine, as root, and writes a report of one page. Installed, it is
# kprobes-tests:
#	kprobes-tests [--torture MINUTES] [--bench] [--report FILE]
# It runs the KUnit tests and all selftests with the sweep, and the torture test for one minute or
# as long as asked for. With --bench it also measures what probes cost. The report is printed
# as well; what the tests said is in a file beside it, FILE.log.
HERE=$(dirname "$(realpath "$0")")
SECONDS_OF_TORTURE=60
REPORT=/tmp/kprobes-tests.txt
BENCH=
COMPLAINT='^\[[^]]*\](\[[^]]*\])? ((watchdog: )?BUG\b|WARNING:|Oops|general protection fault'
COMPLAINT="$COMPLAINT|Unable to handle|(rcu: )?INFO: (task|rcu|lockdep)|UBSAN:)"

usage()	{ sed -n 's/^#	//p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
	case "$1" in
	--torture) SECONDS_OF_TORTURE=$(($2 * 60)) || usage; shift ;;
	--bench) BENCH=bench.sh ;;
	--report) REPORT=$2; shift ;;
	*) usage ;;
	esac
	shift || usage
done
[ "$(id -u)" = 0 ] || { echo "kprobes-tests: only root can do this" >&2; exit 2; }
: >"$REPORT" && : >"$REPORT.log" || exit 2

OUT=$(mktemp -d) || exit 2
trap 'rm -rf "$OUT"' EXIT

# NAME: counts the tests in the file of that name, and prints a line for it
count()
{
	local failed passed skipped
	skipped=$(grep -c '^ *ok .*# SKIP' "$OUT/$1")
	passed=$(($(grep -c '^ *ok ' "$OUT/$1") - skipped))
	failed=$(grep -cE '^ *not ok |^ *Bail out!' "$OUT/$1")
	# One that was not for this kernel has only a line that says why.
	grep '^1\.\.0 # SKIP' "$OUT/$1" && skipped=1
	if [ $((failed + passed + skipped)) = 0 ]; then
		failed=1
		echo "$1: it has no result" >>"$OUT/.failed"
	fi
	printf '%-24s %6d %6d %6d %6d\n' "$1" $passed $failed $skipped $(($(date +%s) - START)) |
		tee -a "$OUT/.counts"
	grep -E '^ *not ok |^ *Bail out!' "$OUT/$1" | sed "s/^ */$1: /" >>"$OUT/.failed"
	sed "s/^/$1: /" "$OUT/$1" >>"$REPORT.log"
	dmesg | grep -E "$COMPLAINT" | sed "s/^/$1: /" >>"$OUT/.complaints"
}

begin()		{ START=$(date +%s); dmesg -C; }

run()		# SCRIPT [ARGUMENT...]
{
	begin
	(cd "$HERE" && "./$@") >"$OUT/$1" 2>&1
	count "$1"
}

kunit()		# only the cases, not the suites that sum them up, from the log
{
	begin
	if modprobe test_kprobes 2>/dev/null && rmmod test_kprobes 2>/dev/null; then
		dmesg | sed -nE 's/^\[[^]]*\](\[[^]]*\])?( {5}(not )?ok )/\2/p' >"$OUT/KUnit"
	else
		echo "1..0 # SKIP test_kprobes is no module" >"$OUT/KUnit"
	fi
	count KUnit
}

option()	# of the kernel
{
	{ cat "/boot/config-$(uname -r)" || zcat /proc/config.gz; } 2>/dev/null |
		grep -E "^CONFIG_($1)=" | tr '\n' ' '
}

first()		# FILE REGEX: what follows the colon in the first line that matches
{
	sed -n "s/^$2[^:]*: *//p" "$1" | head -n 1
}

costs()		# medians, two in a line
{
	printf '\nmedians of cycles, between which eight of ten are, and of nanoseconds:\n'
	awk '/^# .* dropped$/ { table = 1; next }
	     table && NF == 10 && $6 != "-" {
		     printf "%-24s %9s %-21s %9s", $2, $3, "(" $4 "-" $5 ")", $6
		     printf n++ % 2 ? "\n" : "  "
	     }
	     END { print "" }' "$OUT/bench.sh"
}

page()
{
	local failed=$(awk '{ n += $3 } END { print n + 0 }' "$OUT/.counts")
	echo "kprobes-tests, $(date -u +%F)"
	echo
	echo "CPU      $(first /proc/cpuinfo 'model name') ($(nproc)), $(uname -m)"
	echo "machine  $(cat /sys/class/dmi/id/product_name 2>/dev/null || echo unknown)," \
	     "$(first /proc/meminfo MemTotal)," \
	     "clock $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
	echo "kernel   $(uname -rv)"
	echo "options  $(option 'PREEMPT[A-Z_]*|HZ|LOCKDEP|KASAN|OPTPROBES|KPROBES_[A-Z_]*')"
	echo "jumps    $(cat /proc/sys/debug/kprobes-optimization 2>/dev/null || echo none)"
	echo
	printf '%-24s %6s %6s %6s %6s\n' "" passed failed skipped seconds
	cat "$OUT/.counts"
	awk '{ p += $2; f += $3; s += $4; t += $5 }
	     END { printf "%-24s %6d %6d %6d %6d\n", "all", p, f, s, t }' "$OUT/.counts"
	for what in failed complaints; do
		[ -s "$OUT/.$what" ] || continue
		printf '\n%s, %d:\n' $what $(wc -l <"$OUT/.$what")
		head -n 15 "$OUT/.$what" | cut -c1-160
	done
	[ ! -s "$OUT/bench.sh" ] || costs
	echo
	if [ "$failed" -gt 0 ] || [ -s "$OUT/.complaints" ]; then
		echo "FAILURE"
	else
		echo "SUCCESS"
	fi
}

: >"$OUT/.failed"
: >"$OUT/.complaints"
kunit
for script in "$HERE"/*.sh; do
	name=${script##*/}
	[ -x "$script" ] || continue
	case $name in
	bench.sh|kexec.sh|report.sh|sleep.sh) ;;
	torture.sh) run $name $SECONDS_OF_TORTURE ;;
	*) run $name ;;
	esac
done
[ -z "$BENCH" ] || run $BENCH
page >"$REPORT"
cat "$REPORT"
echo "in $REPORT and $REPORT.log"
tail -n 1 "$REPORT" | grep -q SUCCESS
