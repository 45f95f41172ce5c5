# SPDX-License-Identifier: GPL-2.0-only
"""Tests that each known failure of kprobes is named by the test that would find it."""
import re
import unittest

from harness import tree
from harness.paths import HARNESS, REPO

LIST = REPO / "Documentation/trace/kprobes-internals.rst"
NAMED = re.compile(r"Failures? ((?:[CXARM]\d+|to|and|,|\s|[*#/])+)")
IS_TEST = re.compile(r"(_test|_snippets\w*|/insn_test)\.[chS]$|/test_kprobes[./]|/selftests/")


def named_in(text):
    """The failures named in a comment, whose lines may begin with a sign; "C4 to C6" is three."""
    found = set()
    for names in NAMED.findall(text):
        for letter, first, last in re.findall(r"([CXARM])(\d+)(?:\s+to\s+[CXARM](\d+))?", names):
            found |= {f"{letter}{n}" for n in range(int(first), int(last or first) + 1)}
    return found


def test_files():
    yield from (path for name, path in tree.our_files().items() if IS_TEST.search(name))
    yield from (path for path in (HARNESS / "guest").rglob("*") if path.is_file())


class FailuresTest(unittest.TestCase):
    def test_names(self):
        self.assertEqual(named_in("/* Failures C4 to C6, X1 and\n * M2: text */"),
                         {"C4", "C5", "C6", "X1", "M2"})

    def test_all_are_named(self):
        named = set().union(*(named_in(path.read_text(errors="replace")) for path in test_files()))
        wanted = set(re.findall(r"^([CXARM]\d+) {2,}\S", LIST.read_text(), re.M))
        self.assertEqual(wanted - named, set())
        self.assertEqual(named - wanted, set())
