# SPDX-License-Identifier: GPL-2.0-only
"""Tests that the counts of several guests are added, and only those of the product."""
import json
from pathlib import Path
from unittest import mock

from harness import coverage
from harness.tests import Case

SLOT, TEST = "kernel/kprobes/slot.c", "kernel/kprobes/slot_test.c"


def printed(*files):
    """What gcov prints: of each file the counts of its lines, from 1, each with two branches."""
    return json.dumps({"files": [
        {"file": f"/tree/{name}", "lines": [
            {"line_number": n, "count": count, "function_name": "add", "branches": [{"count": count}, {"count": 0}]}
            for n, count in enumerate(counts, 1)]} for name, counts in files]})


class CoverageTest(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "slot.c").write_text("one\ntwo\nthree\n")
        self.swap(coverage.tree, our_files=lambda: {SLOT: self.folder / "slot.c", TEST: self.folder / "slot.c"})
        (self.folder / "known.txt").write_text("")
        self.swap(coverage, ANNOTATED=self.folder / "annotated", KNOWN=self.folder / "known.txt")
        self.made = mock.Mock(source=Path("/tree"))
        self.counts = coverage.Counts()
        self.counts.add(self.made, printed((SLOT, [2, 0, 0]), (TEST, [1]), ("kernel/fork.c", [1])))
        self.counts.add(self.made, printed((SLOT, [1, 1, 0])))

    def test_rows(self):
        self.assertEqual(list(self.counts.rows()), [(SLOT, 3, 2, 6, 2), ("all", 3, 2, 6, 2)])

    def test_missing(self):
        self.assertEqual(self.counts.missing(SLOT), [3])
        self.assertEqual(coverage.ranges([1, 3, 4, 5, 8, 9]), "1, 3-5, 8-9")

    def test_annotated(self):
        self.counts.annotate()
        text = (self.folder / "annotated" / SLOT).read_text()
        self.assertEqual([line.split() for line in text.splitlines()], [["3", "one"], ["1", "two"], ["#####", "three"]])

    def test_shown(self):
        said = self.said()
        coverage.show(self.counts)
        self.assertIn(f"not executed: {SLOT}: 3", said.getvalue())
        self.assertIn(f"not in known.txt: {SLOT} add", said.getvalue())

    def test_known(self):
        (self.folder / "known.txt").write_text(f"No memory:\n {SLOT} add\n")
        said = self.said()
        coverage.show(self.counts)
        self.assertNotIn("not in", said.getvalue())
