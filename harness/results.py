# SPDX-License-Identifier: GPL-2.0-only
"""Counts tests."""
import contextlib
import traceback
from dataclasses import dataclass, field

from . import ui


@dataclass
class Results:
    names: list = field(default_factory=list)       # names of passed tests
    failures: list = field(default_factory=list)
    skipped: list = field(default_factory=list)

    @property
    def passed(self):
        return len(self.names)

    def ok(self, name):
        self.names.append(name)

    def fail(self, name, why=""):
        self.failures.append(name)
        ui.say(f"  not ok {name}" + (f"\n    {why}" if why else ""))

    def skip(self, name, why):
        self.skipped.append(f"{name}: {why}")

    def check(self, name, good, why=""):
        if good:
            self.ok(name)
        else:
            self.fail(name, why)

    @contextlib.contextmanager
    def attempt(self, name, counted=True):
        """A failure within is that of the test @name, which passes otherwise, if it is @counted."""
        try:
            yield
        except ui.Failure as failure:
            self.fail(name, str(failure))
        except Exception:
            self.fail(name, traceback.format_exc())
        else:
            if counted:
                self.ok(name)

    def finish(self):
        """Prints the verdict; returns the exit status."""
        if self.skipped:
            ui.say("skipped:")
        for line in self.skipped:
            ui.say(f"  {line}")
        if self.failures:
            ui.say("failed:")
        for name in self.failures:
            ui.say(f"  {name}")
        ui.say(f"{self.passed} passed, {len(self.failures)} failed")
        return 1 if self.failures or not self.passed else 0
