# SPDX-License-Identifier: GPL-2.0-only
"""Measures the costs of probes, ours and the kernel's own, by one module in two kernels.

The emulator counts instructions: with one CPU and one nanosecond per instruction a figure
is the same each time.  Calls of other CPUs are counted with two CPUs, without that clock.
"""
import re
import subprocess
from pathlib import Path

from . import guesttest, ui
from .build import rivals

# Numbers of probes besides the oldest one. The kernel's own take hours for the last number.
MANY = {"theirs": [9, 99, 999, 9_999], "ours": [9, 99, 999, 9_999, 49_999]}
# Figures to compare with where the kernel's own have no jumps.
INSTEAD = {"hit-o": "hit-b", "hit-ko": "hit-k", "hit-ro": "hit-r", "hit-roe": "hit-re",
           "hit-kro": "hit-kr", "hit-2-o": "hit-2-b", "hit-64-o": "hit-64-b"}
CALLS = 100             # probes of a batch, to count how often other CPUs are called
LIMIT = 7200            # seconds; the kernel's own kprobes of 7.3 need more for batches of 10,000
# The module was built outside of the kernel. The guest's first process has this in its environment.
MODULE = ["MODULE=/lib/kp/kprobes_benchmark.ko"]

# One probe on the entry of each of these may make all iterations of its loop slow.
LOOPS = ["strcmp", "strlen", "strrchr", "memcmp", "memchr", "strcpy"]

# Description, and name of the figure.
ROWS = [
    ("breakpoint, pre_handler", "hit-b"),
    ("breakpoint, pre_handler and post_handler", "hit-k"),
    ("emulated call", "hit-call"),
    ("emulated jmp", "hit-jmp"),
    ("emulated jcc", "hit-jcc"),
    ("emulated ret", "hit-ret"),
    ("emulated ret, with a post_handler", "hit-ret-k"),
    ("jump", "hit-o"),
    ("jump, pre_handler and post_handler", "hit-ko"),
    ("ftrace site", "hit-f"),
    ("ftrace site, with a post_handler", "hit-fk"),
    ("return probe by breakpoint", "hit-r"),
    ("return probe by ftrace site", "hit-rf"),
    ("return probe by jump", "hit-ro"),
    ("return probe by breakpoint, with an entry_handler", "hit-re"),
    ("return probe by ftrace site, with an entry_handler", "hit-rfe"),
    ("return probe by jump, with an entry_handler", "hit-roe"),
    ("probe and return probe by breakpoint", "hit-kr"),
    ("probe and return probe by ftrace site", "hit-krf"),
    ("probe and return probe by jump", "hit-kro"),
    ("2 probes at one address, breakpoint", "hit-2-b"),
    ("64 probes at one address, breakpoint", "hit-64-b"),
    ("64 with a post_handler at one address", "hit-64-k"),
    ("2 probes at one address, jump", "hit-2-o"),
    ("64 probes at one address, jump", "hit-64-o"),
    ("breakpoint, the oldest of 10", "oldest-10"),
    ("breakpoint, the oldest of 10,000", "oldest-10000"),
    ("breakpoint, the oldest of 50,000", "oldest-50000"),
    *((f"one probe adds to the loop in {name}, 4,095 times", f"loop-{name}") for name in LOOPS),
    ("register one in a module", "one-module"),
    ("register one in a module, by its name", "one-name"),
    ("register one in core text, near the entry", "one-core-near"),
    ("register one in core text, 3 KB behind it", "one-core-far"),
    ("register one on an ftrace site", "one-site"),
    ("register a batch of 10,000, each", "register-9999"),
    ("unregister it, all being jumps, each", "unregister-9999"),
    ("unregister a batch of 1,000 breakpoints, each", "unregister-1000"),
    ("register a batch of 10,000 in a function each, each", "each-register-10000"),
    ("register it and wait until all are jumps, each", "each-jumped-10000"),
    ("unregister it, all being jumps, each", "each-unregister-10000"),
    ("knob on, while 10,000 are armed, each", "knob-switched-10000"),
    ("knob on and wait until all are jumps, each", "knob-jumped-10000"),
    ("register a batch of 10,000 return probes, each", "returns-register-10000"),
    ("unregister it, each", "returns-unregister-10000"),
    ("disable and enable one, breakpoint", "toggle-b"),
    ("disable and enable one, jump", "toggle-o"),
    ("disable and enable one, ftrace site", "toggle-f"),
    ("unregister one, breakpoint", "leave-b"),
    ("unregister one, jump", "leave-o"),
    ("unregister one, ftrace site", "leave-f"),
    ("unregister one return probe, breakpoint", "leave-r"),
    ("unregister one return probe, jump", "leave-ro"),
    ("unregister 100 that are disabled, each", "disabled-unregister-100"),
    ("unregister one, while 1,000 are armed", "leave-999"),
    ("unregister one, while 10,000 are armed", "leave-9999"),
    ("unregister one, while 50,000 are armed", "leave-49999"),
    ("register a batch of 1,000 on ftrace sites, each", "sites-register-1000"),
    ("unregister it, each", "sites-unregister-1000"),
    ("functions of the kernel that can be probed", "attach-functions"),
    ("register a batch of them all, ms", "attach-ms"),
    ("unregister it, ms", "detach-ms"),
    ("the same for ftrace alone, ms", "attach-ftrace-ms"),
    ("and back, ms", "detach-ftrace-ms"),
    ("others meanwhile: longest wait to register", "wait-probe"),
    ("others meanwhile: longest wait to write text", "wait-text"),
    ("others meanwhile: longest wait of an interrupt, ns", "wait-interrupt"),
    ("calls of other CPUs to register 100", "ipis-register"),
    ("calls of other CPUs to unregister 100", "ipis-unregister"),
    ("stops of the machine to register 100", "stops-register"),
    ("stops of the machine to unregister 100", "stops-unregister"),
    ("10,000 probes, registered and all jumps, ms", "jumped-9999-ms"),
    ("10,000 probes unregistered again, ms", "unregister-9999-ms"),
    ("memory for one of 10,000, bytes", "bytes-9999"),
    ("memory for one of 500 return probes, bytes", "bytes-return"),
    ("memory left behind by one of 1,000 that came and went, bytes", "bytes-left"),
]

# "Probing the Guts of Kprobes", Linux Symposium 2006, and the kernel's document after it: a
# probe, a return probe, and both on one function, in microseconds.
PAPER = [
    ("i386, Pentium M, 2.6.16", .57, .92, .99),
    ("i386, Pentium M, boosted", .26, .45, .86),
    ("x86_64, Opteron 246", .49, .80, .82),
    ("ppc64, POWER5", .77, 1.26, 1.45),
]
OURS = [("breakpoint", "hit-b", "hit-r", "hit-kr"), ("ftrace site", "hit-f", "hit-rf", "hit-krf"),
        ("jump", "hit-o", "hit-ro", "hit-kro")]

# For gnuplot.
NAMES = [("theirs", "the kernel's own"), ("ours", "this one")]
PLOT = """\
set terminal svg size 800,330 font 'sans,12' background 'white'
set output '{path}'
set logscale x
set format x '10^{{%T}}'
set grid
set xlabel 'probes'
set key top left
set multiplot layout 1,2
set title 'a hit of the oldest, instructions'
set yrange [0:*]
plot {hits}
set title 'registering a batch, instructions each'
set logscale y
set format y '10^{{%T}}'
set yrange [*:*]
set key center right
plot {batches}
"""


def figures(lines):
    """Name -> value of the lines "bench NAME VALUE", without failed measurements."""
    words = [line.split() for line in lines if line.startswith("bench ")]
    return {word[1]: int(word[2]) for word in words if len(word) == 3}


def job(name, made, order, **machine):
    what = f"bench-{order.split()[0]}-{name}"
    return figures(guesttest.told(made, what, f"bench.sh {order}", LIMIT, MODULE, partly=True, quiet=LIMIT, **machine))


def measure(name, made):
    made.kernel()
    found = {}
    for order in (f"costs {' '.join(map(str, MANY[name]))}", "attach"):
        found |= job(name, made, order, cpus=1, threads="single", count=True)
    rounds = job(name, made, f"calls_for {CALLS}", threads="single")
    return found | {key: value for key, value in rounds.items() if key.startswith(("ipis-", "stops-"))}


def ratio(ours, theirs):
    return f"{ours / theirs:6.3f}" if ours is not None and theirs else "     -"


def table(found):
    ui.say(f"{'':50} {'theirs':>11} {'ours':>11} {'ratio':>6}")
    for text, key in ROWS:
        theirs, ours = found["theirs"].get(key), found["ours"].get(key)
        if theirs is None and ours is not None:
            theirs = found["theirs"].get(INSTEAD.get(key))
        if theirs is not None or ours is not None:
            show = ["-" if value is None else f"{value:,}" for value in (theirs, ours)]
            ui.say(f"{text:50} {show[0]:>11} {show[1]:>11} {ratio(ours, theirs)}")


def paper_row(text, k, r, kr):
    show = [f"{value:,}" if isinstance(value, int) else f"{value:.2f}" for value in (k, r, kr)]
    return (f"{text:40} {show[0]:>7} {show[1]:>7} {show[2]:>7} "
            f"{r / k:7.2f} {kr / k:7.2f} {kr / r:7.2f}")


def paper_table(found):
    """The cost that a probe on the entry adds to a return probe, then and now."""
    rows = [paper_row(f"{text}, usec", *costs) for text, *costs in PAPER]
    for name in ("theirs", "ours"):
        for way, *keys in OURS:
            costs = [found[name].get(key) for key in keys]
            if all(costs):
                rows.append(paper_row(f"{name}, {way}, instructions", *costs))
    return [f"{'':40} {'k':>7} {'r':>7} {'kr':>7} {'r/k':>7} {'kr/k':>7} {'kr/r':>7}", *rows]


def plotted(found, pattern):
    """What plots the figures whose names match, by the number of probes, and the data."""
    blocks, data = [], []
    for name, title in NAMES:
        rows = sorted((int(match[1]), value) for key, value in found[name].items()
                      if (match := re.fullmatch(pattern, key)))
        if rows:
            blocks.append(f"'-' with linespoints title \"{title}\"")
            data.append("".join(f"{x} {y}\n" for x, y in rows) + "e\n")
    return ", ".join(blocks) + "\n" + "".join(data)


def draw(path, found):
    # The rounds count the oldest probe as well.
    script = PLOT.format(path=path, hits=plotted(found, r"oldest-(\d+)"), batches=plotted(found, r"register-(\d*9)"))
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
    # The kernel demands a licence, and no white space at the end of lines.
    lines = [line.rstrip() for line in Path(path).read_text().splitlines()]
    lines.insert(1, "<!-- SPDX-License-Identifier: GPL-2.0-only -->")
    Path(path).write_text("\n".join(lines) + "\n")


def run(wanted, drawing=None):
    for config in wanted:
        found = {name: measure(name, made) for name, made in rivals(config)}
        ui.say(f"\n{config.label}, instructions unless said otherwise")
        table(found)
        ui.say("\nk = probe, r = return probe, kr = both on one function")
        for line in paper_table(found):
            ui.say(line)
        if drawing and config is wanted[0]:
            draw(drawing, found)
    return 0
