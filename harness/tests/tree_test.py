# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the overlay on a kernel of a few lines."""
import os
from unittest import mock

from harness import tree, ui
from harness.tests import Case

KERNEL = {
    "Makefile": "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\n",
    "MAINTAINERS": "KOBJECT\nS:\tMaintained\n\nKPROBES\nM:\tSomeone\nF:\tkernel/kprobes.c\n\nKS0108\n",
    "arch/Kconfig": "one\ntwo\nthree\n",
    "kernel/kprobes.c": "theirs\n",
    "kernel/fork.c": "fork\n",
    "arch/arm64/kernel/probes/uprobes.c": "uprobes\n",
    "arch/arm64/kernel/probes/kprobes.c": "theirs\n",
}
OURS = {
    "MAINTAINERS": "# a comment\nKPROBES\nF:\tours\n",
    "Kconfig.kprobes": "config KPROBES\n",
    "kernel/kprobes.c": "ours\n",
    "kernel/kprobes/point.c": "point\n",
    "base/6.12/include/linux/base.h": "6.12\n",
    "base/7.3/include/linux/base.h": "7.3\n",
    "base/7.3/patches/fork.patch": "--- a/kernel/fork.c\n+++ b/kernel/fork.c\n@@ -1 +1 @@\n-fork\n+spoon\n",
    "patches/arch.patch": "--- a/arch/Kconfig\n+++ b/arch/Kconfig\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
}


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def snapshot(folder):
    """The text and time of every file, also of those in .kp/."""
    return {str(p.relative_to(folder)): (p.read_text(), p.stat().st_mtime_ns)
            for p in folder.rglob("*") if p.is_file() and ".kp" not in p.parts}


class TreeTest(Case):
    def setUp(self):
        super().setUp()
        self.repo, self.kernel, self.tree = (self.folder / n for n in ("repo", "kernel", "tree"))
        write(self.kernel, KERNEL)
        write(self.repo, OURS)
        self.swap(tree, REPO=self.repo)
        self.enter(mock.patch.dict(os.environ, KP_KERNEL=str(self.kernel)))
        self.out = self.said()
        tree.makefile.cache_clear()

    def update(self):
        tree.update(self.tree)
        return snapshot(self.tree)

    def text(self, name):
        return (self.tree / name).read_text()

    def test_overlay(self):
        self.update()
        self.assertEqual(self.text("kernel/kprobes.c"), "ours\n")
        self.assertEqual(self.text("arch/Kconfig"), "one\n2\nthree\n")
        self.assertEqual(self.text("MAINTAINERS"),
                         "KOBJECT\nS:\tMaintained\n\nKPROBES\nM:\tSomeone\nF:\tours\n\nKS0108\n")
        self.assertEqual(self.text("arch/arm64/kernel/probes/uprobes.c"), "uprobes\n")
        self.assertFalse((self.tree / "arch/arm64/kernel/probes/kprobes.c").exists())

    def test_lock_is_taken_once(self):
        flock = mock.Mock()
        self.swap(tree, base=lambda: self.repo, LOCK=[])
        self.swap(tree.fcntl, flock=flock)
        tree.lock()
        tree.lock()
        self.assertEqual(flock.call_count, 1)
        tree.release()
        self.assertEqual(tree.LOCK, [])

    def test_second_run_touches_nothing(self):
        self.assertEqual(self.update(), self.update())

    def test_only_the_changed_file_is_written(self):
        before = self.update()
        write(self.repo, {"kernel/kprobes.c": "ours, better\n"})
        after = self.update()
        self.assertEqual({n for n in after if after[n] != before[n]}, {"kernel/kprobes.c"})

    def test_a_deleted_file_leaves(self):
        self.update()
        (self.repo / "kernel/kprobes/point.c").unlink()
        self.assertNotIn("kernel/kprobes/point.c", self.update())

    def test_a_deleted_replacement_does_not_bring_the_old_file_back(self):
        self.update()
        (self.repo / "kernel/kprobes.c").unlink()
        self.assertNotIn("kernel/kprobes.c", self.update())

    def test_a_changed_patch(self):
        self.update()
        patch = self.repo / "patches/arch.patch"
        patch.write_text(patch.read_text().replace("+2", "+II"))
        self.update()
        self.assertEqual(self.text("arch/Kconfig"), "one\nII\nthree\n")

    def test_a_deleted_patch(self):
        self.update()
        (self.repo / "patches/arch.patch").unlink()
        self.update()
        self.assertEqual(self.text("arch/Kconfig"), KERNEL["arch/Kconfig"])

    def edit(self, files):
        self.update()
        write(self.tree, files)

    def test_an_edited_file_is_named_and_kept(self):
        self.edit({"kernel/kprobes.c": "edited\n", "arch/Kconfig": "one\nzwei\nthree\n"})
        write(self.repo, {"kernel/kprobes/point.c": "changed\n"})
        with self.assertRaisesRegex(ui.Failure, "(?s)kp pull.*arch/Kconfig\n  kernel/kprobes.c$"):
            self.update()
        self.assertEqual(self.text("kernel/kprobes.c"), "edited\n")
        self.assertEqual(self.text("kernel/kprobes/point.c"), "point\n")

    def test_the_edit_of_a_file_that_leaves_is_kept(self):
        self.edit({"kernel/kprobes/point.c": "edited\n"})
        (self.repo / "kernel/kprobes/point.c").unlink()
        with self.assertRaisesRegex(ui.Failure, "point.c"):
            self.update()

    def test_pull_takes_edits(self):
        self.edit({"kernel/kprobes.c": "edited\n", "arch/Kconfig": "one\nzwei\nthree\n"})
        tree.pull(self.tree)
        self.assertEqual((self.repo / "kernel/kprobes.c").read_text(), "edited\n")
        self.assertEqual((self.repo / "patches/arch.patch").read_text(), OURS["patches/arch.patch"].replace("+2", "+zwei"))
        before = snapshot(self.tree)
        self.assertEqual(self.update(), before)

    def test_pull_leaves_what_changed_on_both_sides(self):
        self.edit({"kernel/kprobes.c": "edited\n"})
        write(self.repo, {"kernel/kprobes.c": "changed\n"})
        with self.assertRaisesRegex(ui.Failure, "by hand:\n  kernel/kprobes.c"):
            tree.pull(self.tree)
        self.assertEqual((self.repo / "kernel/kprobes.c").read_text(), "changed\n")
        write(self.tree, {"kernel/kprobes.c": "changed\n"})
        self.update()

    def test_an_interrupted_update_is_no_edit(self):
        self.update()
        write(self.repo, {"kernel/kprobes.c": "new\n"})
        with mock.patch.object(tree.Overlay, "put", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            self.update()
        write(self.repo, {"kernel/kprobes.c": "newer\n"})
        self.update()
        self.assertEqual(self.text("kernel/kprobes.c"), "newer\n")

    def test_a_patch_that_does_not_apply(self):
        before = self.update()
        patch = self.repo / "patches/arch.patch"
        patch.write_text(patch.read_text().replace("-two", "-zwei"))
        write(self.repo, {"base/6.12/patches/new.patch": "--- a/lib/new.c\n+++ b/lib/new.c\n@@ -1 +1 @@\n-new\n+old\n"})
        with self.assertRaisesRegex(ui.Failure, "(?s)patches/arch.patch does not apply to arch/Kconfig\n"
                                                ".*base/6.12/patches/new.patch does not apply to lib/new.c"):
            self.update()
        self.assertEqual(snapshot(self.tree), before)

    def test_a_patch_may_make_a_file(self):
        write(self.repo, {"patches/new.patch": "--- /dev/null\n+++ b/lib/new.c\n@@ -0,0 +1 @@\n+new\n"})
        self.update()
        self.assertEqual(self.text("lib/new.c"), "new\n")
        (self.repo / "patches/new.patch").unlink()
        self.assertNotIn("lib/new.c", self.update())

    def test_a_file_of_the_kernel_is_not_overlaid(self):
        write(self.repo, {"kernel/fork.c": "ours\n"})
        with self.assertRaisesRegex(ui.Failure, "kernel/fork.c is a file of the kernel's"):
            self.update()

    def test_another_folder_is_left_alone(self):
        write(self.tree, {"precious": "text"})
        with self.assertRaisesRegex(ui.Failure, "not empty"):
            self.update()

    def version(self, number):
        first, second, third = number.split(".")
        write(self.kernel, {"Makefile": f"VERSION = {first}\nPATCHLEVEL = {second}\nSUBLEVEL = {third}\n"})
        tree.makefile.cache_clear()

    def test_each_version_has_its_base(self):
        for number, base, fork in (("6.12.5", "6.12", "fork"), ("7.3.0", "7.3", "spoon")):
            self.version(number)
            tree.update(self.tree.with_name(number))
            self.assertEqual((self.tree.with_name(number) / "include/linux/base.h").read_text(), f"{base}\n")
            self.assertEqual((self.tree.with_name(number) / "kernel/fork.c").read_text(), f"{fork}\n")
        self.assertNotIn("has no folder", self.out.getvalue())

    def test_options_have_the_names_of_the_version(self):
        text = "CONFIG_OLD=y\nCONFIG_OLDER=y\nCONFIG_GONE=m\nCONFIG_SAME=m\nCONFIG_SAME=n\n"
        self.assertEqual(tree.renamed(text), text)
        write(self.repo, {"base/6.12/options": "# a comment\nCONFIG_OLD CONFIG_NEW\nCONFIG_GONE\n"
                                               "CONFIG_SAME CONFIG_SAME CONFIG_MORE\n"})
        self.assertEqual(tree.renamed(text), "CONFIG_NEW=y\nCONFIG_OLDER=y\nCONFIG_SAME=m\nCONFIG_MORE=m\nCONFIG_SAME=n\n")

    def test_another_version_takes_the_nearest_base(self):
        for number, base in (("6.6.1", "6.12"), ("6.13.0", "6.12"), ("6.19.2", "7.3"), ("7.2.13", "7.3"), ("7.9.0", "7.3")):
            self.version(number)
            self.assertEqual(tree.our_base().name, base)
        self.update()
        self.assertIn("Linux 7.9.0 has no folder in base/: trying that of 7.3", self.out.getvalue())

    def test_no_kernel(self):
        write(self.kernel, {"Makefile": "all:\n"})
        with self.assertRaisesRegex(ui.Failure, "is no Linux"):
            self.update()

    def test_a_tree_of_ours_is_no_kernel(self):
        self.update()
        with mock.patch.dict(os.environ, KP_KERNEL=str(self.tree)), \
                self.assertRaisesRegex(ui.Failure, "has these kprobes already"):
            tree.update(self.tree.with_name("other"))
