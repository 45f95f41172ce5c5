# SPDX-License-Identifier: GPL-2.0-only
"""What probes cost, ours and the kernel's own, from one module in two kernels.

The emulator counts: one CPU, one instruction a nanosecond, so a figure is the same each
time.  How often other CPUs are called is counted with two CPUs, without that clock.
"""
from . import configs, guesttest, plot, rivals, ui

# Besides the oldest one there are so many. The kernel's own take hours for the last.
MANY = {"theirs": [9, 99, 999, 9_999], "ours": [9, 99, 999, 9_999, 49_999]}
CALLS = 100             # probes of a batch, to count how often other CPUs are called
LIMIT = 2400            # seconds

# What, the name of the figure, the ratio that ours is to have.
ROWS = [
    ("breakpoint, pre_handler", "hit-b"),
    ("breakpoint, pre_handler and post_handler", "hit-k"),
    ("emulated call", "hit-call"),
    ("emulated jmp", "hit-jmp"),
    ("emulated jcc", "hit-jcc"),
    ("emulated ret", "hit-ret"),
    ("emulated ret, with a post_handler", "hit-ret-k"),
    ("jump", "hit-o"),
    ("ftrace site", "hit-f"),
    ("ftrace site, with a post_handler", "hit-fk"),
    ("return probe by breakpoint", "hit-r"),
    ("return probe by ftrace site", "hit-rf"),
    ("return probe by jump", "hit-ro"),
    ("return probe by breakpoint, with an entry_handler", "hit-re"),
    ("return probe by ftrace site, with an entry_handler", "hit-rfe"),
    ("return probe by jump, with an entry_handler", "hit-roe"),
    ("64 probes at one address, breakpoint", "hit-64-b"),
    ("64 with a post_handler at one address", "hit-64-k"),
    ("64 probes at one address, jump", "hit-64-o"),
    ("breakpoint, the oldest of 10", "oldest-10"),
    ("breakpoint, the oldest of 10,000", "oldest-10000"),
    ("breakpoint, the oldest of 50,000", "oldest-50000"),
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
    ("knob on and wait until all are jumps, each", "knob-jumped-10000"),
    ("register a batch of 10,000 return probes, each", "returns-10000"),
    ("unregister it, each", "returns-unregister-10000"),
    ("unregister one, while 1,000 are armed", "leave-999"),
    ("unregister one, while 10,000 are armed", "leave-9999"),
    ("unregister one, while 50,000 are armed", "leave-49999"),
    ("register a batch of 1,000 on ftrace sites, each", "sites"),
    ("unregister it, each", "sites-unregister"),
    ("calls of other CPUs to register 100", "ipis-register"),
    ("calls of other CPUs to unregister 100", "ipis-unregister"),
    ("stops of the machine to register 100", "stops-register"),
    ("stops of the machine to unregister 100", "stops-unregister"),
    ("10,000 probes, registered and all jumps, ms", "jumped-9999-ms"),
    ("10,000 probes unregistered again, ms", "unregister-9999-ms"),
    ("memory for one of 10,000, bytes", "bytes-9999"),
    ("memory for one of 500 return probes, bytes", "bytes-return"),
]


def figures(lines):
    """Name -> value of the lines "bench NAME VALUE"; those that failed are left out."""
    words = [line.split() for line in lines if line.startswith("bench ")]
    return {word[1]: int(word[2]) for word in words if len(word) == 3}


def job(config, name, made, modules, order, **machine):
    outcome = guesttest.boot(config, made, modules, f"{order.split()[0][5:]}-{name}", [order],
                             LIMIT, args=guesttest.QUIET, **machine)
    lines, status = outcome.script(order.split()[0])
    if status != 0 or outcome.complaints:
        raise ui.Failure(f"{name}: see {outcome.log}\n  " + "\n  ".join(outcome.complaints[:10]))
    return figures(lines)


def measure(config, name, made):
    modules = made.kernel()
    found = job(config, name, made, modules, f"jobs/bench {' '.join(map(str, MANY[name]))}",
                cpus=1, threads="single", count=True)
    rounds = job(config, name, made, modules, f"jobs/rounds {CALLS}", threads="single")
    return found | {key: value for key, value in rounds.items()
                    if key.startswith(("ipis-", "stops-"))}


def ratio(ours, theirs):
    return f"{ours / theirs:6.3f}" if ours is not None and theirs else "     -"


def table(found):
    ui.say(f"{'':50} {'theirs':>11} {'ours':>11} {'ratio':>6}")
    for text, key in ROWS:
        theirs, ours = found["theirs"].get(key), found["ours"].get(key)
        if theirs is not None or ours is not None:
            show = ["-" if value is None else f"{value:,}" for value in (theirs, ours)]
            ui.say(f"{text:50} {show[0]:>11} {show[1]:>11} {ratio(ours, theirs)}")


def run(arch, drawing=None):
    wanted = [config for config in configs.BENCH if arch in (config.arch.name, config.label)]
    for config in wanted:
        found = {name: measure(config, name, made) for name, made in rivals.builds(config)}
        ui.say(f"\n{config.label}, instructions unless said otherwise")
        table(found)
        if drawing and config is wanted[0]:
            plot.draw(drawing, found)
    return 0
