# SPDX-License-Identifier: GPL-2.0-only
"""Tests of parsing the figures of a benchmark, and of the table of the paper with ours."""
import unittest

from harness import bench

OURS = {"hit-b": 200, "hit-r": 300, "hit-kr": 330, "hit-o": 50, "hit-ro": 150}


class BenchTest(unittest.TestCase):
    def test_figures(self):
        lines = ["bench hit-b 200", "bench hit-r failed -2", "ok measured", "bench hit-o 50"]
        self.assertEqual(bench.figures(lines), {"hit-b": 200, "hit-o": 50})

    def test_paper(self):
        rows = bench.paper_table({"theirs": {}, "ours": OURS})
        self.assertEqual(rows[0].split(), ["k", "r", "kr", "r/k", "kr/k", "kr/r"])
        self.assertIn("x86_64, Opteron 246, usec", rows[3])
        self.assertEqual(rows[3].split()[-6:], ["0.49", "0.80", "0.82", "1.63", "1.67", "1.02"])
        # A way with a missing figure has no row.
        self.assertEqual(len(rows), 1 + len(bench.PAPER) + 1)
        self.assertEqual(rows[-1].split()[-6:], ["200", "300", "330", "1.50", "1.65", "1.10"])

    def test_every_figure_has_a_row(self):
        keys = [key for _, key in bench.ROWS]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertLessEqual({key for _, *row in bench.OURS for key in row}, set(keys))
