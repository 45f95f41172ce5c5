# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the parts of ./kp soak, and of their configurations."""
import unittest
from types import SimpleNamespace

from harness import configs, soak


def names(label):
    config = next(c for c in soak.guests() if c.label == label)
    return [name.split(",")[0] for name, _ in soak.jobs(SimpleNamespace(config=config), 1, 1)]


class SoakTest(unittest.TestCase):
    def test_a_port_has_kunit_only(self):
        for config in configs.BY_NAME:
            if config.parts == ("kunit",):
                self.assertEqual(names(config.label), ["kunit"])

    def test_debian_has_all_that_it_can(self):
        self.assertEqual(names("x86_64:debian"), ["kunit", "torture", "sweep", "every instruction", "fuzz", "traps"])

    def test_others_have_no_kunit(self):
        self.assertEqual(names("x86_64:none"), ["torture", "sweep", "every instruction", "kselftest",
                                                "the kernel's own kprobes", "fuzz", "traps"])
        self.assertNotIn("traps", names("arm64:none"))
