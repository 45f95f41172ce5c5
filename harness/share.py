# SPDX-License-Identifier: GPL-2.0-only
"""Measures the share of the kernel's instructions that can be probed, and without a trap.

That is, by a jump or on an ftrace site.  A jump has no breakpoint of its own that others could run
into; told apart are the instructions that have none because others come into its region, so that
it would need one.  This is done for our kprobes and the kernel's own.
In each of the two kernels the same number of instructions, or of whole functions, is chosen
with the same seed.
"""
import functools
import itertools
import random
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field

from . import guesttest, ui
from .build import rivals

ROUND = 500             # probes at a time
DISTANCE = 32           # bytes between two probes, so that none is in another's region
SYMBOL = re.compile(r"[0-9a-f]{16} <(.+)>:$")
INSN = re.compile(r"(f[0-9a-f]{15}):\t(.*)$")
# Kinds of instructions by architecture, named as by its disassembler, similar ones together.
KINDS = {
    "x86_64": "call ret jcc jmp test cmp pop push mov lea other".split(),
    "arm64": "bl blr br ret b b.cond cbz cbnz tbz tbnz adr ldr ldp str stp mov other".split(),
    "riscv": "jal jalr ret j jr branch auipc lui li mv addi load store other".split(),
}
# The names of a kind, if not only its own; on x86 all may have a suffix.
NAMES = {
    "x86_64": {"jcc": "j(?!mp)"},
    "arm64": {"b.cond": r"b\..*", "adr": "adrp?", "mov": "movk?"},
    "riscv": {"branch": "b(eq|ne|lt|ge|gt|le)[uz]?", "load": "l[bhwd]u?", "store": "s[bhwd]u?"},
}
PREFIXES = ("notrack", "lock", "rep", "repz", "repnz", "bnd", "cs", "ds", "es", "ss", "gs", "fs", "data16")


# Why a jump was given up: what others execute would trap, or be torn.
GIVEN_UP = ("jump into the region", "indirect jump")


@dataclass
class Share:
    """The results of one kernel, by kind of the first instruction."""
    tried: Counter = field(default_factory=Counter)
    accepted: Counter = field(default_factory=Counter)
    trapless: Counter = field(default_factory=Counter)
    given_up: Counter = field(default_factory=Counter)
    reasons: Counter = field(default_factory=Counter)


def kind(text, arch):
    name = next((w for w in text.split() if w not in PREFIXES and not w.startswith("rex")), "")
    suffix = ".*" if arch == "x86_64" else ""
    return next((k for k in KINDS[arch] if re.fullmatch(NAMES[arch].get(k, k) + suffix, name)), "other")


def functions(vmlinux, cross):
    """Yields the instructions of each function, as (address, text)."""
    argv = [f"{cross}objdump", "-d", "-j", ".text", "--no-show-raw-insn", str(vmlinux)]
    insns = []
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as proc:
        for line in proc.stdout:
            insn = INSN.match(line.rstrip())
            if insn:
                insns.append((int(insn[1], 16), insn[2]))
            elif SYMBOL.match(line.rstrip()):
                yield insns
                insns = []
    if proc.returncode:
        raise ui.Failure(f"{' '.join(argv)}: exit status {proc.returncode}")
    yield insns


def is_entry(text):
    return text.startswith(("endbr", "bti")) or "<__fentry__>" in text


def is_filling(text):
    return text.startswith(("int3", "nop", "cs nop", "data16", "xchg   %ax,%ax", "udf"))


def within(insns):
    """The instructions of a function but its first one, ftrace's, and the padding at the end."""
    while insns and is_filling(insns[-1][1]):
        insns.pop()
    behind = itertools.dropwhile(lambda insn: is_entry(insn[1]) or insn[1].strip() == "nop", insns[1:])
    return list(behind)


def entry(insns):
    """The first instruction, where a probe on the function goes, in a list; of padding there is none."""
    if all(is_filling(text) for _, text in insns):
        return []
    return [insn for insn in insns[:2] if not insn[1].startswith("endbr")][:1]


def draw(vmlinux, count, seed, arch, choose=within):
    """@count of the instructions that @choose takes from functions, with room between them,
    as address -> kind."""
    every = [insn for function in functions(vmlinux, arch.cross) for insn in choose(function)]
    random.Random(seed).shuffle(every)
    drawn, taken = {}, set()
    for address, text in every:
        place = address // DISTANCE
        if len(drawn) == count or taken & {place - 1, place, place + 1}:
            continue
        taken.add(place)
        drawn[address] = kind(text, arch.name)
    return drawn


def draw_functions(vmlinux, count, seed, arch):
    """All instructions of @count functions, as address -> kind, in ascending order."""
    every = [insns for function in functions(vmlinux, arch.cross) if (insns := within(function))]
    drawn = random.Random(seed).sample(every, min(count, len(every)))
    return {address: kind(text, arch.name) for insns in sorted(drawn) for address, text in insns}


def count(drawn, lines):
    """Reads the output of jobs/share."""
    share = Share(tried=Counter(drawn.values()))
    for line in lines:
        word = line.split(maxsplit=3)
        address = int(word[1], 16) if line.startswith(("at ", "why ")) else None
        if address not in drawn:
            continue
        if word[0] == "why":
            reason = word[3].strip() if len(word) > 3 else "-"
            reason = re.sub(r" at [+-].*", "", re.sub(r"^\+\d+ of .*", "by the jump before it", reason))
            share.reasons[f"{word[2]}, {reason}"] += 1
            share.given_up[drawn[address]] += reason in GIVEN_UP
            continue
        share.accepted[drawn[address]] += 1
        share.trapless[drawn[address]] += word[2] != "trap"
    return share


# What is drawn, by the name of its option: how, how many, and how it is called.
WHAT = {
    "spread": (draw, 5000, "instructions"),
    "entries": (functools.partial(draw, choose=entry), 5000, "function entries"),
    "dense": (draw_functions, 500, "functions, a probe at every instruction"),
}


def measure(name, made, number, seed, post, what):
    made.kernel()
    how, _, called = WHAT[what]
    with ui.Step(f"draw {number} {called}") as step:
        step.tick()
        drawn = how(made.folder / "vmlinux", number, seed, made.config.arch)
    at_once = len(drawn) if what == "dense" else ROUND
    addresses = made.folder / "kp-addresses"
    addresses.write_text("".join(f"{address:x}\n" for address in drawn))
    line = f"jobs/share {at_once} count={at_once} post={int(post)}"
    lines = guesttest.told(made, f"share-{name}", line, 3600, ["nokaslr"],
                           extra=[("kp/addresses", addresses)])
    return count(drawn, lines)


def percent(part, whole):
    return f"{100 * part / whole:5.1f}%" if whole else "     -"


def row(label, share, kinds):
    tried, accepted, trapless, given_up = (
        sum(c[k] for k in kinds) for c in (share.tried, share.accepted, share.trapless, share.given_up))
    rest = accepted - trapless - given_up
    return (f"{label:8} {tried:6} {accepted:9} {percent(accepted, tried)} "
            f"{trapless:7} {percent(trapless, accepted)} {given_up:8} {percent(given_up, accepted)} "
            f"{rest:7} {percent(rest, accepted)}")


def table(shares, every):
    for name, share in shares.items():
        ui.say(f"\n{name}:")
        ui.say(f"{'first':8} {'tried':>6} {'accepted':>9} {'share':>6} {'no trap':>7} {'share':>6} "
               f"{'given up':>8} {'share':>6} {'trap':>7} {'share':>6}")
        for label in every:
            if share.tried[label]:
                ui.say(row(label, share, [label]))
        ui.say(row("all", share, every))
        if share.reasons:
            ui.say("states and reasons:")
        for reason, number in share.reasons.most_common():
            ui.say(f"  {number:6} {reason}")


def run(config, number, seed, post, what):
    number = number or WHAT[what][1]
    shares = {name: measure(name, made, number, seed, post, what) for name, made in rivals(config)}
    ui.say(f"\n{config.label}, {number} random {WHAT[what][2]}, seed {seed}{', with a post_handler' if post else ''}")
    table({"the kernel's own": shares["theirs"], "ours": shares["ours"]}, KINDS[config.arch.name])
    return 0
