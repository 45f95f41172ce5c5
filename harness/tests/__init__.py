# SPDX-License-Identifier: GPL-2.0-only
"""What many of these tests need."""
import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock


class Case(unittest.TestCase):
    """A test with a folder of its own, whose changes of modules end with it."""

    def setUp(self):
        # The answers of the tool are the same while it tests another kernel.
        self.enter(mock.patch.dict(os.environ))
        os.environ.pop("KP_KERNEL", None)
        self.folder = Path(self.enter(tempfile.TemporaryDirectory()))

    def enter(self, context):
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value

    def swap(self, module, **values):
        for name, value in values.items():
            self.enter(mock.patch.object(module, name, value))

    def said(self):
        """What is printed from now on."""
        return self.enter(contextlib.redirect_stdout(io.StringIO()))

    def log(self, text):
        path = self.folder / "guest.log"
        path.write_text(text)
        return path
