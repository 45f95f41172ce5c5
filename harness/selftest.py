# SPDX-License-Identifier: GPL-2.0-only
"""Runs the tests of the harness itself."""
import unittest

from . import ui
from .paths import HARNESS


class Counter(unittest.TestResult):
    def __init__(self, results):
        super().__init__()
        self.results = results

    def addSuccess(self, test):
        self.results.ok(f"harness {test.id()}")

    def addFailure(self, test, err):
        self.results.fail(f"harness {test.id()}", self._exc_info_to_string(err, test))

    addError = addFailure

    def addSubTest(self, test, subtest, err):
        if err:
            self.addFailure(subtest, err)


def run(results):
    with ui.Step("harness"):
        unittest.defaultTestLoader.discover(str(HARNESS / "tests"), "*_test.py",
                                            str(HARNESS.parent)).run(Counter(results))
