# SPDX-License-Identifier: GPL-2.0-only
"""Measures how easy our code is to read, and prints a table.

A file may call files below it, never those above: the head of kernel/kprobes.c has the
order.  Functions are recognized by the kernel's style: a definition begins with a line that
starts with a name, and ends with a brace on its own line.
"""
import re
import statistics
from dataclasses import dataclass, field
from pathlib import Path

from . import ui
from .paths import HARNESS, REPO

CORE = REPO / "kernel/kprobes"
LAYERS = REPO / "kernel/kprobes.c"
PORTS = ("arch/x86/kernel/kprobes", "arch/arm64/kernel/probes", "arch/riscv/kernel/probes")
API = REPO / "include/linux/kprobes.h"
PREFIXES = ("kprobe", "kretprobe", "__kretprobe", "arch_", "register_k", "unregister_k", "enable_k",
            "disable_k", "get_k", "reset_", "dump_k", "wait_for_k", "opt_pre_handler", "get_insn_slot",
            "free_insn_slot", "get_optinsn", "free_optinsn", "is_k", "alloc_", "within_k", "free_optinsn_page",
            "jprobe", "register_j", "unregister_j", "arm_probe_decode_insn", "riscv_probe_decode_insn")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
DEFINITION = re.compile(r"^((?:[a-z_][\w]*[ *]+)+)(\w+)\(([^;{}]*)\)[^;{}()]*\n\{\n(.*?)^\}", re.M | re.S)
INLINE = re.compile(r"^static[^;{]*\)\s*\{", re.M)
CONDITION = re.compile(r"^#\s*(?:if|ifdef|ifndef)\b", re.M)


@dataclass
class Source:
    """One of our C files, without its comments."""
    path: Path
    code: str
    functions: dict = field(default_factory=dict)       # name -> lines, signature included
    external: set = field(default_factory=set)
    inlined: str = ""                                   # the text of the headers' inlines that it uses
    twice: list = field(default_factory=list)

    @property
    def name(self):
        return self.path.stem

    @property
    def lines(self):
        return sum(1 for line in self.code.splitlines() if line.strip())

    @property
    def conditions(self):
        return len(CONDITION.findall(self.code))


def source(path):
    result = Source(path, COMMENT.sub("", path.read_text()))
    for found in DEFINITION.finditer(result.code):
        kind, name = found[1], found[2]
        if name in result.functions:
            result.twice.append(name)
        if "static" not in kind.split():
            result.external.add(name)
        result.functions[name] = found[0].count("\n") + 1
    return result


def header(path):
    """The inlines of a header, name -> text; that of a stub is added to that of the function."""
    result = {}
    for found in DEFINITION.finditer(COMMENT.sub("", path.read_text())):
        result[found[2]] = result.get(found[2], "") + found[0]
    return result


def used(code, inlines):
    """The text of all inlines that some code uses, also by way of each other."""
    names, todo = set(), set(re.findall(r"\b\w+\b", code))
    while todo:
        new = (todo & inlines.keys()) - names
        names |= new
        todo = {name for n in new for name in re.findall(r"\b\w+\b", inlines[n])}
    return "\n".join(inlines[name] for name in sorted(names))


def sources(folder):
    inlines = {}
    for path in (REPO / folder).glob("*.h"):
        inlines.update(header(path))
    result = [source(path) for path in sorted((REPO / folder).glob("*.c")) if not path.stem.endswith("_test")]
    for s in result:
        s.inlined = used(s.code, inlines)
    return result


def layers():
    """Name of a file -> its layer, 0 at the top, from the drawing in kernel/kprobes.c."""
    text = LAYERS.read_text()
    drawn = re.search(r"Calls only go down this list[^:]*:\n \*\n((?: \*\t.*\n)+)", text)
    if not drawn:
        raise ui.Failure(f"{LAYERS.relative_to(REPO)} does not say what may call what")
    rows = [re.findall(r"\w+", row) for row in drawn[1].replace(" *\t", "").splitlines()]
    return {name: number for number, row in enumerate(rows) for name in row}


def calls(core):
    """Pairs of files where the first uses a function of the second, itself or by an inline of a header."""
    owner = {name: s.name for s in core for name in s.external}
    result = {}
    for user in core:
        for name in re.findall(r"\b(\w+)\b", user.code + user.inlined):
            if name not in user.functions and owner.get(name, user.name) != user.name:
                result.setdefault((user.name, owner[name]), set()).add(name)
    return result


def circle(pairs):
    """The largest set of files that all reach one another by calls."""
    reach = set(pairs)
    for via in {name for pair in pairs for name in pair}:
        reach |= {(a, d) for a, b in reach if b == via for c, d in reach if c == via}
    return max(({b for a, b in reach if a == name and (b, a) in reach} for name, _ in reach), key=len, default=set())


def upward(pairs, layer):
    """The calls that go up, as text."""
    return [f"{user} -> {used}: {' '.join(sorted(names))}" for (user, used), names in sorted(pairs.items())
            if layer.get(user, -1) > layer.get(used, 99)]


def unprefixed(files):
    return sorted(name for s in files for name in s.external if not name.startswith(PREFIXES))


def longest(files):
    return max((lines, f"{s.path.relative_to(REPO)} {name}") for s in files for name, lines in s.functions.items())


def code_lines(*patterns):
    """Number of files, and lines without comments and blanks, of all C files and headers but tests."""
    paths = {path for pattern in patterns for path in REPO.glob(pattern) if "_test" not in path.stem}
    return len(paths), sum(1 for path in paths for line in COMMENT.sub("", path.read_text()).splitlines() if line.strip())


def product():
    """Files, private headers and lines of code of each part."""
    parts = {"core": ["kernel/kprobes.c", "kernel/kprobes/*.[ch]"]}
    parts |= {folder.split("/")[1]: [f"{folder}/*.[ch]"] for folder in PORTS}
    parts["public headers"] = ["include/*/kprobes*.h", "arch/*/include/asm/kprobes.h"]
    for part, patterns in parts.items():
        number, lines = code_lines(*patterns)
        headers = sum(1 for p in patterns for path in REPO.glob(p) if path.suffix == ".h" and "_test" not in path.stem)
        yield f"files, headers and lines of code of {part}", f"{number}, {headers}, {lines}"


def longest_header(*folders):
    lines, path = max((len(p.read_text().splitlines()), p) for folder in folders for p in (REPO / folder).glob("*.h"))
    return f"{lines} ({path.relative_to(REPO)})"


def rows(core):
    ports = [s for folder in PORTS for s in sources(folder)]
    ours = core + ports
    lengths = [n for s in ours for n in s.functions.values()]
    python = list(HARNESS.rglob("*.py"))
    rest = [p for p in HARNESS.rglob("*") if p.is_file() and p.suffix != ".pyc"]
    pairs = calls(core)
    most = max(ours, key=lambda s: s.lines)
    yield from product()
    yield "files of the core in one circle of calls", len(circle(pairs))
    yield "files of a port in one circle of calls", max(len(circle(calls(sources(folder)))) for folder in PORTS)
    yield "lines of code in a file, max", f"{most.lines} ({most.path.relative_to(REPO)})"
    yield "lines in a function, median and max", f"{statistics.median(lengths):g}, {longest(ours)[0]} ({longest(ours)[1]})"
    yield "external functions of the core without prefix", len(unprefixed(core))
    yield "external functions of the ports without prefix", len(unprefixed(ports))
    yield "lines in a private header of the core, max", longest_header(CORE)
    yield "lines in a private header of a port, max", longest_header(*PORTS)
    yield "inlines in linux/kprobes.h", len(INLINE.findall(API.read_text()))
    yield "functions defined twice", sum(len(s.twice) for s in ours)
    yield "files with more than 3 #if", sum(1 for s in ours if s.conditions > 3)
    yield "files and lines of the harness", f"{len(rest)}, {sum(len(p.read_text().splitlines()) for p in rest)}"
    yield "of those in Python", sum(len(p.read_text().splitlines()) for p in python)


def show():
    """Prints the table, and each call that goes up; returns the exit status."""
    core = [source(LAYERS), *sources("kernel/kprobes")]
    for what, value in rows(core):
        ui.say(f"{what:50} {value}")
    up = upward(calls(core), layers())
    ui.say(f"\n{len(up)} pairs of files in which a call goes up:")
    for line in up:
        ui.say(f"  {line}")
    return 0
