# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the list of patches, and of files that grow with the series."""
import unittest

from harness import series, ui

MAKEFILE = """\
# SPDX

entry-$(CONFIG_X86_64) := entry.o

obj-y += a.o b.o
obj-$(CONFIG_T) += test.o $(entry-y)
KASAN_SANITIZE_test.o := n

# What runs in a hit.
hit-side := a
"""
FILES = {"d/a.c", "d/b.c", "d/test.c", "d/entry.S", "e/c.c"}
KCONFIG = "# SPDX\n\nconfig A\n\tbool\n\nconfig B_TEST\n\tbool\n\n\thelp\n\nconfig C\n\tbool\n"


class SeriesTest(unittest.TestCase):
    def test_every_file_is_in_one_patch(self):
        self.assertEqual(series.problems(series.entries()), [])

    def test_a_file_in_no_patch_is_named(self):
        found = series.problems([e for e in series.entries() if "kernel/kprobes/oops.c" not in e.takes])
        self.assertEqual(found, [f"{name} is in no patch of harness/series"
                                 for name in ("kernel/kprobes/oops.c", "oops")])

    def test_makefile(self):
        tail = "# What runs in a hit.\nhit-side := a\n"
        self.assertEqual(series.grown_makefile(MAKEFILE, "d", FILES, set()), MAKEFILE)
        self.assertEqual(series.grown_makefile(MAKEFILE, "d", FILES, FILES), f"# SPDX\n\n{tail}")
        self.assertEqual(series.grown_makefile(MAKEFILE, "d", FILES, FILES - {"d/a.c", "d/b.c"}),
                         f"# SPDX\n\nobj-y += a.o b.o\n\n{tail}")

    def test_makefile_of_several_patches(self):
        with self.assertRaisesRegex(ui.Failure, "obj-y .. a.o b.o"):
            series.grown_makefile(MAKEFILE, "d", FILES, {"d/b.c"})

    def test_kconfig(self):
        self.assertEqual(series.without(KCONFIG, lambda name: name == "B_TEST"),
                         "# SPDX\n\nconfig A\n\tbool\n\nconfig C\n\tbool\n")

    def test_costs(self):
        self.assertRegex(series.letter(), r"(?m)^  a breakpoint's hit, with a pre_handler +\d+ +\d+ +0\.\d+$")
        self.assertLessEqual(max(map(len, series.letter().splitlines())), 75)
