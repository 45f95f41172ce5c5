# SPDX-License-Identifier: GPL-2.0-only
"""Runs the tests of the harness itself."""
import unittest

from . import ui
from .paths import HARNESS


def cases(suite):
    for test in suite:
        yield from cases(test) if isinstance(test, unittest.TestSuite) else [test]


def run(results):
    found = unittest.defaultTestLoader.discover(str(HARNESS / "tests"), "*_test.py",
                                                str(HARNESS.parent))
    with ui.Step("harness"):
        for test in cases(found):
            outcome = unittest.TestResult()
            test.run(outcome)
            why = "".join(f"{case}: {text}" for case, text in outcome.errors + outcome.failures)
            results.check(f"harness {test.id()}", outcome.wasSuccessful(), why)
