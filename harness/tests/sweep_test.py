# SPDX-License-Identifier: GPL-2.0-only
"""Tests of grouping the refusals of the sweep."""
import unittest

from harness import guesttest

LINES = """\
entries: tried 3 accepted 1
refused -22 probe f+0x0/0x10 must not be probed, see debugfs kprobes/blacklist
refused -22 probe g+0x0/0x10 must not be probed, see debugfs kprobes/blacklist
refused -95 ret h+0x4/0x10 no reason given
refused -EINVAL ret i no entry of a function
entries: refused 2 -22 probe must not be probed
""".splitlines()


class SweepTest(unittest.TestCase):
    def test_by_reason(self):
        self.assertEqual(guesttest.by_reason(LINES), {
            ("probe", "EINVAL", "must not be probed, see debugfs kprobes/blacklist"): ["f", "g"],
            ("ret", "EOPNOTSUPP", "no reason given"): ["h"],
            ("ret", "EINVAL", "no entry of a function"): ["i"],
        })
