# SPDX-License-Identifier: GPL-2.0-only
"""Which lines and branches of our code the tests execute, as gcov counts them in the guests."""
import base64
import io
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

from . import guesttest, tree, ui
from .paths import CACHE, HARNESS, log_file

ANNOTATED = CACHE / "coverage"
# The parts of a test that execute our code in the guest's kernel, without those that measure.
PARTS = ("kunit", "scripts", "beside", "sweep", "toggle", "faults", "selftests")
CONFIGS = ("x86_64:none", "x86_64:preempt", "i386:preempt", "arm64:none", "riscv:none", "riscv:preempt")
TEST = re.compile(r"_test\.[ch]$|_snippets|^lib/|^samples/|^tools/")
# Functions with lines that no test executes, below the reason for that.
KNOWN = HARNESS / "coverage.txt"


def counting(config):
    """The same configuration in a kernel that counts."""
    return replace(config, name=f"{config.name}-coverage", slow=2 * config.slow, more=(*config.more, "coverage"),
                   own=config.own or f"{config.arch.name}-{config.name}",
                   parts=tuple(part for part in config.parts if part in PARTS))


def files_of(log, folder):
    """Unpacks what the guest of this log has counted; returns the files, seen from the build folder."""
    packed = base64.b64decode("".join(re.findall(r"kp: gcov (\S+)", Path(log).read_text(errors="replace"))))
    if not packed:
        return []
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        tar.extractall(folder)
    return list(folder.rglob("*.gcda"))


def executed(counter):
    """How many there are, and how many were executed."""
    return len(counter), sum(map(bool, counter.values()))


class Counts:
    """How often each line and branch was executed, by file and line."""

    def __init__(self):
        self.lines, self.branches = defaultdict(Counter), defaultdict(Counter)
        self.functions = {}
        self.ours = {name: path for name, path in tree.our_files().items() if not TEST.search(name)}

    def add(self, made, printed):
        """Adds what gcov has printed of one object."""
        for file in json.loads(printed)["files"]:
            name = file["file"].removeprefix(f"{made.source}/")
            if name not in self.ours:
                continue
            for line in file["lines"]:
                number = line["line_number"]
                self.functions[name, number] = line.get("function_name", "-")
                self.lines[name][number] += line["count"]
                for i, branch in enumerate(line["branches"]):
                    self.branches[name][number, i] += branch["count"]

    def add_log(self, made, log):
        with tempfile.TemporaryDirectory() as scratch:
            for data in files_of(log, Path(scratch)):
                there = str(data).split(f"{made.folder}/", 1)[-1]
                notes = (made.folder / there).with_suffix(".gcno")
                if not notes.exists():
                    continue
                shutil.copy(notes, data.with_suffix(".gcno"))
                told = subprocess.run([f"{made.config.arch.cross}gcov", "--json-format", "--stdout", "-b", str(data)],
                                      cwd=made.folder, capture_output=True, text=True, check=True)
                self.add(made, told.stdout)

    def missing(self, name):
        return sorted(n for n, count in self.lines[name].items() if not count)

    def unexplained(self, known):
        """The functions with lines that were not executed, but for those that are known."""
        return sorted({(name, self.functions[name, n]) for name in self.lines for n in self.missing(name)} - known)

    def annotate(self):
        """Writes each file with the count of each line before it."""
        for name, lines in self.lines.items():
            there = ANNOTATED / name
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_text("".join(
                f"{(lines[n] or '#####') if n in lines else '':>12} {text}\n"
                for n, text in enumerate(self.ours[name].read_text().splitlines(), 1)))

    def rows(self):
        """Yields name, lines, lines executed, branches, branches taken; the last row is of all."""
        total = [0] * 4
        for name in sorted(self.lines):
            row = [*executed(self.lines[name]), *executed(self.branches[name])]
            total = [a + b for a, b in zip(total, row)]
            yield name, *row
        yield "all", *total


def known():
    return {tuple(line.split()) for line in KNOWN.read_text().splitlines() if line.startswith(" ")}


def ranges(numbers):
    """3-5, 8 for 3, 4, 5 and 8."""
    groups = []
    for n in numbers:
        if groups and n == groups[-1][1] + 1:
            groups[-1][1] = n
        else:
            groups.append([n, n])
    return ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in groups)


def show(counts):
    ui.say(f"{'':44} lines            branches")
    for name, lines, run, branches, taken in counts.rows():
        ui.say(f"{name:44} {lines:5} {run / max(lines, 1):6.1%}     {branches:5} {taken / max(branches, 1):6.1%}")
    for name in sorted(counts.lines):
        if counts.missing(name):
            ui.say(f"not executed: {name}: {ranges(counts.missing(name))}")
    for name, function in counts.unexplained(known()):
        ui.say(f"not in {KNOWN.name}: {name} {function}")
    ui.say(f"each file with its counts: {ANNOTATED}")


def run(configs, ready, results):
    counts = Counts()
    for config in map(counting, configs):
        first = log_file(config.label)
        for log in first.parent.glob(f"{first.stem}-*.log"):
            log.unlink()
        made = ready(config)
        for part in config.parts:
            guesttest.PARTS[part](made, results)
        for log in first.parent.glob(f"{first.stem}-*.log"):
            counts.add_log(made, log)
    counts.annotate()
    show(counts)
    return results.finish()
