# SPDX-License-Identifier: GPL-2.0-only
"""Compiles the modules that our documents show, since readers may copy them."""
import re
import tempfile
import textwrap
from pathlib import Path

from . import ui
from .paths import REPO

DOCUMENTS = ["README.md", "Documentation/trace/kprobes.rst"]


def modules_in(text):
    """The modules that a document shows completely."""
    found = re.findall(r'^ *#include (?:.*\n)*? *MODULE_LICENSE\(.*\n', text, re.M)
    return [textwrap.dedent(module) for module in found]


def build(made, results):
    """Compiles and links each module against the kernel @made."""
    with ui.Step(f"compile the examples for {made.label}") as step, tempfile.TemporaryDirectory() as scratch:
        for document in DOCUMENTS:
            for nr, text in enumerate(modules_in((REPO / document).read_text())):
                folder = Path(scratch, f"example-{Path(document).stem}-{nr}")
                folder.mkdir()
                (folder / f"{folder.name}.c").write_text(text)
                with results.attempt(f"{document} module {nr}"):
                    made.external([folder], step)
